// The player: its slider, its speeds, and the space bar while the focus is on
// the stage.

import type { Page } from "./page";
import { busy, touched } from "./wire";

export function startPlayer(page: Page): void {
  page.root.addEventListener("input", (e) => {
    const control = e.target;
    if (control instanceof HTMLInputElement && control.hasAttribute("data-seek")) {
      control.setAttribute("aria-valuetext", `${control.value} seconds`);
      page.seek(control.value);
    } else if (control instanceof HTMLSelectElement && control.hasAttribute("data-speed")) {
      touched(control);
      page.command({ speed: control.value });
    }
  });

  // A patch does not move a select that a person has used.
  page.patched(() => {
    const speed = page.root.querySelector<HTMLSelectElement>("[data-speed]");
    if (speed && !busy(speed)) speed.value = String(page.view.speed);
  });

  document.getElementById("stage")?.addEventListener("keydown", (e) => {
    const at = e.target as HTMLElement;
    if (e.key !== " " || e.altKey || e.ctrlKey || e.metaKey || page.view.end === 0) return;
    if (at.closest("button, select, a, summary, [role=button], [role=checkbox], input:not([type=range])")) return;
    e.preventDefault();
    if (!e.repeat && !page.waits) page.command({ command: page.view.playing ? "pause" : "play" });
  });
}
