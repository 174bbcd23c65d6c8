// The settings' controls: sliders beside their number fields, each follows the
// other, and a field says what it does not allow.

import type { Page } from "./page";
import { release, touched } from "./wire";

const typing = 400; // ms without a key before a number is meant: "3" may be on the way to "30"

export function startFields(page: Page): void {
  let timer: number | undefined;

  function send(control: HTMLInputElement): void {
    page.set({ [control.name]: control.type === "checkbox" ? (control.checked ? "1" : "0") : control.value }, control.name);
  }

  function typed(field: HTMLInputElement): void {
    if (!isAllowed(field)) return;
    follow(field);
    send(field);
  }

  page.root.addEventListener("input", (e) => {
    const control = e.target;
    if (!(control instanceof HTMLInputElement)) return;
    touched(control);
    if (control.dataset.field) {
      const field = slide(control);
      if (!field) return;
      tellInvalid(field, page.view.setting(field.name));
      send(field);
    } else if (isField(control)) {
      clearTimeout(timer);
      if (control.getAttribute("aria-invalid") === "true") tellInvalid(control, page.view.setting(control.name));
      timer = window.setTimeout(() => typed(control), typing);
    } else if (control.hasAttribute("data-setting") && (control.type === "checkbox" || control.type === "radio")) {
      send(control);
    }
  });

  page.root.addEventListener("change", (e) => {
    const field = e.target;
    if (!(field instanceof HTMLInputElement) || !isField(field)) return;
    clearTimeout(timer);
    if (tellInvalid(field, page.view.setting(field.name))) typed(field);
  });

  page.root.addEventListener("submit", (e) => {
    const field = document.activeElement; // Enter: what did not go with the rest may go now
    if (!(e.target as HTMLFormElement).hasAttribute("data-sets") || !(field instanceof HTMLInputElement) || !isField(field)) return;
    clearTimeout(timer);
    if (tellInvalid(field, page.view.setting(field.name))) typed(field);
  });

  // Once the settings have changed, fields show them in place of what was refused.
  page.changed(() => {
    for (const field of page.root.querySelectorAll<HTMLInputElement>("[aria-invalid=true]")) {
      if (field === document.activeElement) continue;
      field.value = page.view.setting(field.name);
      unmark(field);
    }
  });

  page.refused((text, values) => refuse(page, text, values));
}

/** Says beside the field that was changed why the server did not take it; other controls go back. Whether it is told. */
function refuse(page: Page, text: string, values: URLSearchParams): boolean {
  let told = false;
  for (const [name] of values) {
    for (const control of page.root.querySelectorAll<HTMLInputElement>(`input[data-setting][name="${CSS.escape(name)}"]`)) {
      const standing = page.view.setting(name);
      // Beside a field in a tab that is not open nobody would read it.
      if (isField(control) && control.checkVisibility() && control.value === values.get(name) && (control === document.activeElement || values.size === 1)) {
        tellRefused(control, text, standing);
        told = true;
      } else if (control.type === "checkbox") control.checked = standing === "1";
      else if (control.type === "radio") control.checked = standing === control.value;
      else if (isField(control)) {
        release(control);
        control.value = standing;
        follow(control);
      }
    }
  }
  return told && values.size === 1;
}

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
  const slider = document.querySelector<HTMLInputElement>(`input[data-field="${CSS.escape(field.id)}"]`);
  if (!slider) return;
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

function note(field: HTMLInputElement): Element | null {
  return field.closest("[data-control]")?.querySelector(".field-note") ?? null;
}

function mark(field: HTMLInputElement, text: string): void {
  const beside = note(field);
  if (!beside) return;
  beside.textContent = text;
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", beside.id);
}

/** Takes back what was said beside a field. */
export function unmark(field: HTMLInputElement): void {
  field.removeAttribute("aria-invalid");
  field.setCustomValidity("");
  const beside = note(field);
  if (beside && beside.textContent !== "") beside.textContent = "";
}
