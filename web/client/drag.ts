// What is dragged in a picture: a slider along the time, by pointer and by
// keys. Its other way is the setting's control.

import { follow } from "./fields";
import type { Page } from "./page";
import { touched } from "./wire";

interface Slider {
  el: Element;
  name: string;
  min: number;
  max: number;
  step: number;
  base: number; // what its place is ahead of its value
}

function sliderOf(target: EventTarget | null): Slider | null {
  const el = target instanceof Element ? target.closest("[data-drag]") : null;
  if (!el || el.getAttribute("aria-disabled") === "true") return null;
  const number = (name: string, otherwise: number): number => Number(el.getAttribute(name) ?? otherwise);
  return {
    el,
    name: el.getAttribute("data-drag") ?? "",
    min: number("aria-valuemin", 0),
    max: number("aria-valuemax", 100),
    step: number("data-step", 1),
    base: number("data-drag-base", 0),
  };
}

/** What turns a pointer's place into seconds. */
function scaleOf(el: Element): (x: number) => number {
  const scale = el.closest("[data-scale]");
  if (!scale) return () => 0;
  const box = scale.getBoundingClientRect();
  const from = Number(scale.getAttribute("data-from") ?? 0);
  const to = Number(scale.getAttribute("data-to") ?? 0);
  return (x) => from + ((x - box.left) / box.width) * (to - from);
}

export function startDrag(page: Page): void {
  // The scale is that of the beginning: a picture that fits itself to the value would run away from the pointer.
  let pulled: { slider: Slider; seconds: (x: number) => number; offset: number; value: number; pointer: number } | null = null;

  /** Sets a slider's value, and its control's with it. */
  function move(slider: Slider, to: number): number {
    const tenths = Math.round(Math.min(Math.max(Math.round(to / slider.step) * slider.step, slider.min), slider.max) * 10);
    const value = tenths / 10;
    if (value === Number(slider.el.getAttribute("aria-valuenow"))) return value;
    slider.el.setAttribute("aria-valuenow", String(value));
    touched(slider.el);
    for (const field of page.root.querySelectorAll<HTMLInputElement>(`input[name="${CSS.escape(slider.name)}"][data-allowed]`)) {
      field.value = String(value);
      touched(field);
      follow(field);
    }
    page.set({ [slider.name]: String(value) }, slider.name);
    return value;
  }

  page.root.addEventListener("pointerdown", (e) => {
    const slider = e.button === 0 ? sliderOf(e.target) : null;
    if (!slider) return;
    e.preventDefault(); // no text is selected, and nothing scrolls
    (slider.el as HTMLElement | SVGElement).focus({ preventScroll: true });
    const value = Number(slider.el.getAttribute("aria-valuenow"));
    const seconds = scaleOf(slider.el);
    pulled = { slider, seconds, offset: seconds(e.clientX) - value - slider.base, value, pointer: e.pointerId };
    page.root.classList.add("dragging");
  });

  // On the window: a patch may put another element in the place of the one that is dragged.
  addEventListener("pointermove", (e) => {
    if (!pulled || e.pointerId !== pulled.pointer) return;
    const now = pulled.slider.el.isConnected ? pulled.slider : sliderOf(page.root.querySelector(`[data-drag="${CSS.escape(pulled.slider.name)}"]`));
    if (!now) return;
    pulled.slider = now;
    pulled.value = move(now, pulled.seconds(e.clientX) - pulled.offset - now.base);
  });
  for (const end of ["pointerup", "pointercancel", "blur"]) {
    addEventListener(end, () => {
      pulled = null;
      page.root.classList.remove("dragging");
    });
  }

  // What was not taken goes back to what the run has.
  page.refused((_, values) => {
    for (const [name] of values) {
      for (const el of page.root.querySelectorAll(`[data-drag="${CSS.escape(name)}"]`)) el.setAttribute("aria-valuenow", page.view.setting(name));
    }
    return false;
  });

  page.root.addEventListener("keydown", (e) => {
    const slider = sliderOf(e.target);
    if (!slider || e.altKey || e.ctrlKey || e.metaKey) return;
    const now = Number(slider.el.getAttribute("aria-valuenow"));
    const to = {
      ArrowRight: now + slider.step,
      ArrowUp: now + slider.step,
      ArrowLeft: now - slider.step,
      ArrowDown: now - slider.step,
      PageUp: now + 10 * slider.step,
      PageDown: now - 10 * slider.step,
      Home: slider.min,
      End: slider.max,
    }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    move(slider, to);
  });
}
