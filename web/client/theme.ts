// The switch between the system's colours, light and dark.

const order = ["system", "light", "dark"];

export function startTheme(): void {
  const button = document.querySelector<HTMLButtonElement>("[data-theme-switch]");
  const name = button?.querySelector("[data-theme-name]");
  if (!button || !name) return;
  const show = (theme: string): void => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    name.textContent = theme[0].toUpperCase() + theme.slice(1);
  };
  let theme = document.documentElement.dataset.theme ?? "system";
  show(theme);
  button.hidden = false;
  button.addEventListener("click", () => {
    theme = order[(order.indexOf(theme) + 1) % order.length];
    show(theme);
    try {
      if (theme === "system") localStorage.removeItem("theme");
      else localStorage.setItem("theme", theme);
    } catch {
      // Without storage the choice lasts as long as the page.
    }
  });
}
