// Menus of the page's head: they close when something else is done.

export function startMenus(): void {
  const menus = (): NodeListOf<HTMLDetailsElement> => document.querySelectorAll<HTMLDetailsElement>("details[data-menu][open]");
  document.addEventListener("pointerdown", (e) => {
    for (const menu of menus()) if (!menu.contains(e.target as Node)) menu.open = false;
  });
  document.addEventListener("keydown", (e) => {
    if (e.key !== "Escape") return;
    for (const menu of menus()) {
      menu.open = false;
      menu.querySelector("summary")?.focus();
    }
  });
}
