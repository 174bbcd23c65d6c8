// The button of a page that is made for paper.

export function startPrint(): void {
  document.querySelector("[data-print]")?.addEventListener("click", () => window.print());
}
