// What a learner cannot change: settings that the link locks, and the player
// until a prediction is made.

import type { Page } from "./page";

export function startLock(page: Page): void {
  const locked = (page.root.dataset.lock ?? "").split(",").filter((name) => name !== "");

  function lock(): void {
    for (const name of locked) {
      for (const control of page.root.querySelectorAll<HTMLInputElement>(`[data-setting][name="${CSS.escape(name)}"], [data-control="${CSS.escape(name)}"] input`)) {
        control.disabled = true;
      }
      for (const handle of page.root.querySelectorAll(`[data-drag="${CSS.escape(name)}"]`)) handle.setAttribute("aria-disabled", "true");
    }
    if (!page.predicts) return;
    page.root.toggleAttribute("data-wait", page.waits);
    const note = document.getElementById("locked-note");
    if (note) note.hidden = !page.waits;
    for (const el of page.root.querySelectorAll<HTMLInputElement | HTMLButtonElement | HTMLSelectElement>("#transport button, #transport input, #transport select")) {
      el.disabled = page.waits;
    }
  }

  page.patched(lock);
  page.changed(lock);
}
