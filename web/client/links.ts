// Links of the shell that carry the view along with its changes.

import type { Page } from "./page";

export function startLinks(page: Page): void {
  function carry(): void {
    const link = page.view.link();
    for (const a of document.querySelectorAll<HTMLAnchorElement>("a[data-carry]")) a.href = `${new URL(a.href).pathname}?${link}`;
    for (const tab of page.root.querySelectorAll<HTMLAnchorElement>("a[data-tab-link]")) tab.href = `${page.path}?${page.view.link(tab.dataset.tabLink)}`;
  }
  // The time moves on without a change: links are made when they are about to be used.
  for (const kind of ["pointerdown", "focusin", "click"]) document.addEventListener(kind, carry, { capture: true, passive: true });
  page.changed(carry);
}
