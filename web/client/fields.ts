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

/** Whether a field allows what it holds. Of a text field the browser does not know the range. */
export function isAllowed(field: HTMLInputElement): boolean {
  const { min, max } = field.dataset;
  if (max !== undefined) {
    const value = Number(field.value); // no number is in no range and out of none: the pattern judges it
    field.setCustomValidity(value < Number(min) || value > Number(max) ? `allowed: ${field.dataset.allowed}` : "");
  }
  return field.validity.valid;
}

/** Says beside a field what it does not allow; the run keeps what it had. Whether the field is fine. */
export function tellInvalid(field: HTMLInputElement, standing: string): boolean {
  unmark(field);
  if (isAllowed(field)) return true;
  const got = field.validity.badInput || field.value === "" ? "no number" : field.value;
  mark(field, `${field.dataset.label}: got ${got}; allowed: ${field.dataset.allowed}. The run keeps ${standing}.`);
  return false;
}

/** Says beside a field why the server did not take what it holds. */
export function tellRefused(field: HTMLInputElement, sentence: string, standing: string): void {
  const own = sentence.startsWith(`${field.dataset.label}: `); // else another setting does not go with it
  mark(field, `${own ? "" : `${field.dataset.label}: got ${field.value}, which does not go with the rest. `}${sentence}. The run keeps ${standing}.`);
}

function mark(field: HTMLInputElement, text: string): void {
  const note = document.getElementById("note-" + field.name);
  if (!note) return;
  note.textContent = text;
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", note.id);
}

/** Takes back what was said beside a field. */
export function unmark(field: HTMLInputElement): void {
  field.removeAttribute("aria-invalid");
  field.setCustomValidity("");
  const note = document.getElementById("note-" + field.name);
  if (note && note.textContent !== "") note.textContent = "";
}
