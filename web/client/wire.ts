// The Datastar 1.x wire: two kinds of server-sent events, applied to the page.

import { Idiomorph } from "idiomorph";

/** The fields of one event: a line's key is what stands before its first space; lines of one key belong together. */
export function fields(data: string): Map<string, string> {
  const all = new Map<string, string>();
  for (const line of data.split("\n")) {
    const space = line.indexOf(" ");
    const key = space < 0 ? line : line.slice(0, space);
    const value = space < 0 ? "" : line.slice(space + 1);
    const before = all.get(key);
    all.set(key, before === undefined ? value : before + "\n" + value);
  }
  return all;
}

// When each control was last moved by the person, in performance.now's milliseconds.
let lastInput = new WeakMap<Element, number>();
const settle = 700;
let released: Element | null = null;

/** Notes that the person has gone on to something else: the stream may set every control at once. */
export function letGo(): void {
  lastInput = new WeakMap();
}

/** Lets the stream set a field that has the focus, until the person changes it again. */
export function release(field: Element): void {
  released = field;
}

/** Notes that the person has just changed a control. */
export function touched(control: Element): void {
  if (control === released) released = null;
  lastInput.set(control, performance.now());
}

/** Whether the person is at this control, so that the stream must leave it alone. */
export function busy(control: Element): boolean {
  if (control.matches(":active")) return true;
  if (control instanceof HTMLInputElement && (control.type === "number" || control.type === "text") && document.activeElement === control && control !== released) return true;
  return performance.now() - (lastInput.get(control) ?? -Infinity) < settle;
}

// Fragments in which something was left alone: they are applied again later.
const owed = new Map<string, Element>();
let owedTimer: number | undefined;
let skipped = false;

function payOwed(): void {
  owedTimer = undefined;
  for (const [id, due] of [...owed]) {
    const now = document.getElementById(id);
    owed.delete(id);
    if (now) morph(now, due, "outerHTML");
  }
}

const guards = {
  beforeNodeMorphed(old: Node): boolean {
    return !(old instanceof Element && old.hasAttribute("data-ignore-morph"));
  },
  beforeAttributeUpdated(name: string, el: Element): boolean {
    switch (name) {
      case "aria-valuenow":
        if (el.hasAttribute("data-drag") && busy(el)) {
          skipped = true; // an older frame must not take back what the next key goes on from
          return false;
        }
        return true;
      case "value":
      case "checked":
      case "aria-valuetext":
        if (el.hasAttribute("data-own") || el.getAttribute("aria-invalid") === "true") return false;
        if (el instanceof HTMLInputElement && busy(el)) {
          skipped = true;
          return false;
        }
        return true;
      case "selected":
        return el.closest("select[data-own]") === null;
      case "style":
      case "aria-invalid":
      case "aria-describedby":
        return false; // the client's own
      case "open":
        return !(el instanceof HTMLDetailsElement);
      case "tabindex":
        return el.closest("[data-roving]") === null;
    }
    return true;
  },
};

function morph(target: Element, content: Element | string, morphStyle: "outerHTML" | "innerHTML"): void {
  skipped = false;
  const copy = content instanceof Element ? content.cloneNode(true) : content;
  Idiomorph.morph(target, content, { morphStyle, callbacks: guards });
  if (!(copy instanceof Element) || copy.id === "") return;
  if (!skipped) {
    owed.delete(copy.id);
    return;
  }
  owed.set(copy.id, copy);
  owedTimer ??= window.setTimeout(payOwed, settle + 50);
}

function parse(html: string, namespace: string): Element[] {
  const template = document.createElement("template");
  if (namespace === "svg" || namespace === "mathml") {
    const outer = namespace === "svg" ? "svg" : "math";
    template.innerHTML = `<${outer}>${html}</${outer}>`;
    return [...(template.content.firstElementChild?.children ?? [])];
  }
  template.innerHTML = html;
  return [...template.content.children];
}

/** Applies a datastar-patch-elements event. */
export function patchElements(data: string): void {
  const f = fields(data);
  const mode = f.get("mode") ?? "outer";
  const selector = f.get("selector");
  const elements = parse(f.get("elements") ?? "", f.get("namespace") ?? "html");
  if (selector !== undefined) {
    for (const target of document.querySelectorAll(selector)) place(target, elements, mode);
    return;
  }
  for (const el of elements) {
    const target = el.id === "" ? null : document.getElementById(el.id);
    if (target) place(target, [el], mode);
  }
}

/** Puts the elements of an answer in place of those that have their ids. */
export function applyFragments(html: string): void {
  for (const el of parse(html, "html")) {
    const target = el.id === "" ? null : document.getElementById(el.id);
    if (target) place(target, [el], "outer");
  }
}

function place(target: Element, elements: Element[], mode: string): void {
  const fresh = elements.map((el) => el.cloneNode(true) as Element);
  switch (mode) {
    case "outer":
      if (fresh.length === 1) morph(target, fresh[0], "outerHTML");
      else target.replaceWith(...fresh);
      break;
    case "inner":
      morph(target, fresh.map((el) => el.outerHTML).join(""), "innerHTML");
      break;
    case "replace":
      target.replaceWith(...fresh);
      break;
    case "prepend":
      target.prepend(...fresh);
      break;
    case "append":
      target.append(...fresh);
      break;
    case "before":
      target.before(...fresh);
      break;
    case "after":
      target.after(...fresh);
      break;
    case "remove":
      target.remove();
      break;
  }
}

/** The signals of a datastar-patch-signals event. */
export function readSignals(data: string): Record<string, unknown> {
  return JSON.parse(fields(data).get("signals") ?? "{}") as Record<string, unknown>;
}
