// One tab stop for all things of a kind; arrows move among them.

import type { Page } from "./page";

export function startRoving(page: Page): void {
  page.root.addEventListener("keydown", (e) => {
    const item = e.target as Element;
    const group = item.closest("[data-roving]");
    if (!group || item.hasAttribute("data-drag") || e.altKey || e.ctrlKey || e.metaKey) return;
    const items = [...group.querySelectorAll<HTMLElement | SVGElement>("[tabindex]")];
    const here = items.indexOf(item as HTMLElement);
    const to = { ArrowRight: here + 1, ArrowDown: here + 1, ArrowLeft: here - 1, ArrowUp: here - 1, Home: 0, End: items.length - 1 }[e.key];
    if (to === undefined || here < 0) return;
    e.preventDefault();
    items[Math.min(Math.max(to, 0), items.length - 1)].focus();
  });

  page.root.addEventListener("focusin", (e) => {
    const item = e.target as Element;
    const group = item.closest("[data-roving]");
    if (!group || item === group || !item.hasAttribute("tabindex")) return;
    for (const other of group.querySelectorAll("[tabindex='0']")) other.setAttribute("tabindex", "-1");
    item.setAttribute("tabindex", "0");
  });

  // Something of the group is always a stop, whatever a patch has put in or taken out.
  page.patched(() => {
    for (const group of page.root.querySelectorAll("[data-roving]")) {
      if (!group.querySelector("[tabindex='0']")) group.querySelector("[tabindex]")?.setAttribute("tabindex", "0");
    }
  });
}
