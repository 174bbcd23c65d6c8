// The panel's tabs: links without script, tabs with it. The open one is in the
// link; one that needs width takes the place of the picture.

import { plainClick } from "./own";
import type { Page } from "./page";

export function startTabs(page: Page): void {
  const list = page.root.querySelector<HTMLElement>("[data-tabs]");
  if (!list) return;
  const tabs = [...list.querySelectorAll<HTMLAnchorElement>("[data-tab-link]")];
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", "Lesson panel");
  for (const tab of tabs) {
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", `tab-${tab.dataset.tabLink}`);
    document.getElementById(`tab-${tab.dataset.tabLink}`)?.setAttribute("role", "tabpanel");
  }

  function show(): void {
    const { panel } = page.view;
    page.root.dataset.panel = panel;
    for (const tab of tabs) {
      const open = tab.dataset.tabLink === panel;
      tab.removeAttribute("aria-current");
      tab.setAttribute("aria-selected", String(open));
      tab.tabIndex = open ? 0 : -1;
      const body = document.getElementById(`tab-${tab.dataset.tabLink}`);
      if (body) body.hidden = !open;
    }
    let wide = false;
    for (const stage of page.root.querySelectorAll<HTMLElement>("[data-stage]")) {
      stage.hidden = stage.dataset.stage !== panel;
      wide ||= !stage.hidden;
    }
    const picture = document.getElementById("picture");
    if (picture) picture.hidden = wide;
  }

  function turn(tab: HTMLElement): void {
    const id = tab.dataset.tabLink ?? "";
    if (id === page.view.panel) return;
    page.turn(id);
  }

  list.addEventListener("keydown", (e) => {
    const here = tabs.indexOf(e.target as HTMLAnchorElement);
    if (here < 0 || e.altKey || e.ctrlKey || e.metaKey) return;
    if (e.key === " ") {
      e.preventDefault();
      return turn(tabs[here]);
    }
    const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: tabs.length - 1 }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    const next = tabs[(to + tabs.length) % tabs.length];
    next.focus();
    turn(next);
  });

  page.root.addEventListener("click", (e) => {
    const link = plainClick(e)?.closest<HTMLAnchorElement>("a[data-tab-link], a[data-open-tab]");
    if (!link) return;
    const tab = tabs.find((other) => other.dataset.tabLink === (link.dataset.tabLink ?? link.dataset.openTab));
    if (!tab) return;
    e.preventDefault();
    turn(tab);
    if (link !== tab) tab.focus(); // a way from elsewhere
  });

  page.changed(show);
  show();
}
