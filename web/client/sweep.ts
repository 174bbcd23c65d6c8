// The map of verdicts: a click or the arrow keys go to a pair of amounts.

import type { Page } from "./page";

export function startSweep(page: Page): void {
  const { root } = page;
  const sweep = (): HTMLElement | null => document.getElementById("sweep");
  // Where the person is going while the server's answer is under way.
  let ahead: { x: number; y: number } | null = null;
  let forgetAhead: number | undefined;

  function go(x: number, y: number): void {
    const el = sweep();
    if (!el) return;
    const xs = (el.dataset.xs ?? "").split(" ");
    const ys = (el.dataset.ys ?? "").split(" ");
    x = Math.min(Math.max(x, 0), xs.length - 1);
    y = Math.min(Math.max(y, 0), ys.length - 1);
    ahead = { x, y };
    clearTimeout(forgetAhead);
    forgetAhead = window.setTimeout(() => (ahead = null), 700);
    const rows = ys.length;
    for (const mark of el.querySelectorAll(".cell-here, .cell-here-halo")) {
      mark.setAttribute("x", String(x));
      mark.setAttribute("y", String(rows - 1 - y));
    }
    page.set({ [el.dataset.x ?? ""]: xs[x], [el.dataset.y ?? ""]: ys[y] }, "sweep");
  }

  root.addEventListener("click", (e) => {
    if (!(e.target instanceof Element) || !(e instanceof MouseEvent)) return;
    const map = e.target.closest("#sweep-map");
    const cells = map?.querySelector(".sweep-cells");
    const el = sweep();
    if (!cells || !el) return;
    const box = cells.getBoundingClientRect();
    const columns = (el.dataset.xs ?? "").split(" ").length;
    const rows = (el.dataset.ys ?? "").split(" ").length;
    const x = Math.floor(((e.clientX - box.left) / box.width) * columns);
    const y = Math.floor(((box.bottom - e.clientY) / box.height) * rows);
    if (x >= 0 && x < columns && y >= 0 && y < rows) go(x, y);
  });

  root.addEventListener("keydown", (e) => {
    const el = sweep();
    if (!(e.target instanceof Element) || e.target.id !== "sweep-map" || !el || e.altKey || e.ctrlKey || e.metaKey) return;
    const here = ahead ?? { x: Number(el.dataset.hereX), y: Number(el.dataset.hereY) };
    const rows = (el.dataset.ys ?? "").split(" ").length;
    const columns = (el.dataset.xs ?? "").split(" ").length;
    const to: Record<string, [number, number]> = {
      ArrowLeft: [here.x - 1, here.y],
      ArrowRight: [here.x + 1, here.y],
      ArrowUp: [here.x, here.y + 1],
      ArrowDown: [here.x, here.y - 1],
      Home: [0, here.y],
      End: [columns - 1, here.y],
      PageUp: [here.x, Math.min(here.y + 10, rows - 1)],
      PageDown: [here.x, Math.max(here.y - 10, 0)],
    };
    const target = to[e.key];
    if (!target) return;
    e.preventDefault();
    go(target[0], target[1]);
  });

  root.addEventListener("change", (e) => {
    const select = e.target;
    if (!(select instanceof HTMLSelectElement) || !select.closest("#f-sweep")) return;
    const of = (name: string): string => (document.getElementById("sweep-" + name) as HTMLSelectElement).value;
    let [x, y] = [of("x"), of("y")];
    const el = sweep();
    if (x === y) {
      // The axis that was not touched takes what the other one had.
      if (select.id === "sweep-x") y = el?.dataset.x ?? y;
      else x = el?.dataset.y ?? x;
    }
    page.own({ x, y }, "axes");
  });
}
