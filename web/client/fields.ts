// Sliders beside their number fields: each follows the other, and a field says
// what it does not allow.

import { touched } from "./wire";

/** What a slider stands at: a value, or one of the stops of a long range. */
function standsAt(slider: HTMLInputElement): string {
  return slider.dataset.stops?.split(" ")[Number(slider.value)] ?? slider.value;
}

/** Takes a slider's value over into its field. */
export function slide(slider: HTMLInputElement): HTMLInputElement | null {
  const field = document.getElementById(slider.dataset.field ?? "");
  if (!(field instanceof HTMLInputElement)) return null;
  const value = standsAt(slider);
  field.value = value;
  touched(field);
  slider.setAttribute("aria-valuetext", value === "none" ? value : `${value} ${slider.dataset.unitName ?? ""}`.trim());
  return field;
}

/** Moves a field's slider to the field's value, or to the stop that is nearest to it. */
export function follow(field: HTMLInputElement): void {
  const slider = document.getElementById("c-" + field.name);
  if (!(slider instanceof HTMLInputElement)) return;
  touched(slider);
  const stops = slider.dataset.stops?.split(" ");
  if (!stops) {
    slider.value = field.value;
    return;
  }
  const off = (stop: string): number => (stop === field.value ? 0 : stop === "none" || field.value === "none" ? Infinity : Math.abs(Number(stop) - Number(field.value)));
  slider.value = String(stops.reduce((best, stop, i) => (off(stop) < off(stops[best]) ? i : best), 0));
}

/** Whether the input is a field for an exact value. */
export function isField(input: HTMLInputElement): boolean {
  return (input.type === "number" || input.type === "text") && input.dataset.allowed !== undefined;
}

/** Says beside a field what it does not allow; the run keeps what it had. Whether the field is fine. */
export function tellInvalid(field: HTMLInputElement, standing: string): boolean {
  const note = document.getElementById("note-" + field.name);
  const fine = field.validity.valid;
  field.removeAttribute("aria-invalid");
  if (note) note.textContent = "";
  if (fine || !note) return fine;
  const got = field.validity.badInput || field.value === "" ? "no number" : field.value;
  note.textContent = `${field.dataset.label}: got ${got}; allowed: ${field.dataset.allowed}. The run keeps ${standing}.`;
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", note.id);
  return false;
}
