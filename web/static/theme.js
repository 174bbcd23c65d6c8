// Runs before the first paint, so that a chosen theme does not flash.
try {
  const theme = localStorage.getItem("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage is refused in some frames; the system's colours then stand.
}
// Parts that need the client are shown where there is one.
if (document.querySelector("script[type=module]")) document.documentElement.classList.add("live");
