// What each viewer chooses alone: kept in the link, not in the session. The
// viewer's own parts of the page follow from it, and are fetched anew.

import { Fragment } from "./fragment";
import type { Page } from "./page";

type Field = HTMLInputElement | HTMLSelectElement;

export function startOwn(page: Page): void {
  let good = new URLSearchParams(page.view.own); // the last choices that the server took
  let goodSettings = page.view.settings;
  const address = (): string => `${page.path}/parts?${page.view.parts(page.seen && !page.waits)}`;
  const parts = new Fragment(
    {
      address,
      applied(response) {
        good = new URLSearchParams(page.view.own);
        // Of a lesson without sessions nothing else says how the server writes the settings.
        const settings = response.headers.get("Lesson-Settings");
        if (settings !== null) page.canonical(settings);
        goodSettings = page.view.settings;
        page.tell("");
        page.fetched();
      },
      refused: (text) => page.takeBack(good, goodSettings, text),
    },
    address(), // the page comes with them
  );
  page.changed(() => parts.refresh());
  page.patched(() => stand(page));

  page.root.addEventListener("input", (e) => {
    const field = e.target;
    if (isOwn(field)) page.own(read(page, field), field.name);
  });

  page.root.addEventListener("click", (e) => {
    const link = plainClick(e)?.closest<HTMLAnchorElement>("a[data-own], a[data-own-drop], a[data-set], a[data-view]");
    if (!link) return;
    e.preventDefault();
    const { own, ownDrop, set, view } = link.dataset;
    if (view !== undefined) return page.open(new URL(link.href).search.slice(1));
    if (ownDrop !== undefined) page.drop(ownDrop);
    if (own !== undefined) page.own(Object.fromEntries(new URLSearchParams(own)));
    if (set !== undefined) page.set(Object.fromEntries(new URLSearchParams(set)));
  });
}

/** What a plain click of the first button was on; others are the browser's. */
export function plainClick(e: Event): Element | null {
  if (!(e.target instanceof Element) || !(e instanceof MouseEvent)) return null;
  return e.ctrlKey || e.metaKey || e.shiftKey || e.altKey || e.button !== 0 ? null : e.target;
}

function isOwn(field: EventTarget | null): field is Field {
  return (field instanceof HTMLInputElement || field instanceof HTMLSelectElement) && field.form?.id === "f-own" && field.type !== "hidden";
}

function group(page: Page, name: string): Field[] {
  return [...page.root.querySelectorAll<Field>(`[name="${CSS.escape(name)}"]`)].filter(isOwn);
}

/** What a field says; boxes of one name say it together. */
function read(page: Page, field: Field): Record<string, string> {
  if (!(field instanceof HTMLInputElement) || field.type !== "checkbox") return { [field.name]: field.value };
  const chosen = group(page, field.name).filter((box) => (box as HTMLInputElement).checked);
  return { [field.name]: chosen.map((box) => box.value).join(",") };
}

/** Puts the fields of own choices where those stand; a choice that is not offered leaves the first. */
function stand(page: Page): void {
  const { own } = page.view;
  const radios = new Set<string>();
  for (const field of page.root.querySelectorAll<Field>("input[form='f-own'], select[form='f-own']")) {
    const value = own.get(field.name);
    if (field instanceof HTMLSelectElement) {
      if (value !== null && field !== document.activeElement) field.value = value;
    } else if (field.type === "checkbox") {
      field.checked = (value ?? "").split(",").includes(field.value);
    } else if (field.type === "radio") {
      radios.add(field.name);
    } else if (field.type !== "hidden" && field !== document.activeElement) {
      field.value = value ?? field.defaultValue;
    }
  }
  for (const name of radios) {
    const all = group(page, name) as HTMLInputElement[];
    const chosen = all.find((radio) => radio.value === own.get(name)) ?? all.find((radio) => radio.defaultChecked) ?? all[0];
    if (chosen) chosen.checked = true;
  }
}
