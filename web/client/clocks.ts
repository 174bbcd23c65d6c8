// Lesson 3's page: every change asks the server for what follows from it.

import { follow, isField, slide, tellInvalid } from "./fields";
import { keepFocus } from "./stream";
import { startSweep } from "./sweep";
import { applyFragments, letGo, touched } from "./wire";

const gesture = 1000; // ms: changes of one control closer than this are one step of the history

export function startClocks(root: HTMLElement): void {
  const path = root.dataset.lesson ?? "/";
  const problem = document.getElementById("problem");
  let params = new URLSearchParams(document.getElementById("view")?.dataset.query); // as the person has set them
  let shown = params.toString(); // as the page shows them
  let running = false;
  let lastControl = "";
  let lastAt = -Infinity;

  function tell(text: string): void {
    if (problem && problem.textContent !== text) problem.textContent = text;
  }

  // One request at a time; what has been set by then goes with the next.
  async function run(): Promise<void> {
    if (running) return;
    running = true;
    try {
      for (let failures = 0; params.toString() !== shown; ) {
        const asked = params.toString();
        let response: Response;
        try {
          response = await fetch(`${path}?${asked}`, { headers: { "Datastar-Request": "true" }, credentials: "omit" });
        } catch {
          failures++;
          tell("The server does not answer. Trying again…");
          await new Promise((done) => setTimeout(done, Math.min(500 * 2 ** failures, 8000)));
          continue;
        }
        failures = 0;
        const text = await response.text();
        if (!response.ok) {
          if (params.toString() !== asked) continue; // it has been changed again
          tell(text.trim());
          params = new URLSearchParams(shown);
          write(false);
          return;
        }
        tell("");
        const focused = document.activeElement;
        const home = focused?.closest<HTMLElement>("section");
        applyFragments(text);
        keepFocus(focused, home);
        shown = asked;
        if (params.toString() === asked) {
          // The server's own order of the settings.
          params = new URLSearchParams(document.getElementById("view")?.dataset.query);
          shown = params.toString();
          write(false);
        }
      }
    } finally {
      running = false;
    }
  }

  function write(push: boolean): void {
    const url = `${path}?${params}`;
    if (url === location.pathname + location.search) return;
    if (push) history.pushState(null, "", url);
    else history.replaceState(null, "", url);
  }

  /** Sets some of the view; changes in a row by one control are one step of the history. */
  function change(values: Record<string, string>, control: string): void {
    const before = params.toString();
    for (const [name, value] of Object.entries(values)) params.set(name, value);
    if (params.toString() === before) return;
    const now = performance.now();
    write(control !== lastControl || now - lastAt > gesture);
    lastControl = control;
    lastAt = now;
    void run();
  }

  function open(query: string, push: boolean): void {
    letGo();
    params = new URLSearchParams(query);
    lastControl = "";
    if (push) write(true);
    if (params.toString() === "") shown = "-"; // the opening settings have a query of their own
    void run();
  }

  addEventListener("popstate", () => {
    if (location.search.slice(1) !== shown) open(location.search.slice(1), false);
  });

  const standing = (name: string): string => new URLSearchParams(shown).get(name) ?? "";
  const set = (field: HTMLInputElement): void => change({ [field.name]: field.value }, field.name);
  let typing: number | undefined;

  root.addEventListener("input", (e) => {
    const control = e.target;
    if (!(control instanceof HTMLInputElement)) return;
    touched(control);
    if (control.dataset.field) {
      const field = slide(control);
      if (field) {
        tellInvalid(field, standing(field.name));
        set(field);
      }
    } else if (isField(control)) {
      clearTimeout(typing);
      if (control.getAttribute("aria-invalid") === "true") tellInvalid(control, standing(control.name));
      typing = setTimeout(() => typed(control), 400);
    } else if (control.type === "checkbox") {
      change({ [control.name]: control.checked ? "1" : "0" }, control.name);
    } else if (control.type === "radio") {
      set(control);
    }
  });

  function typed(field: HTMLInputElement): void {
    if (!field.validity.valid) return;
    follow(field);
    set(field);
  }

  root.addEventListener("change", (e) => {
    const field = e.target;
    if (!(field instanceof HTMLInputElement) || !isField(field)) return;
    clearTimeout(typing);
    if (tellInvalid(field, standing(field.name))) typed(field);
  });

  root.addEventListener("submit", (e) => {
    if (e.target instanceof HTMLFormElement && (e.target.id === "f-set" || e.target.id === "f-sweep")) e.preventDefault();
  });

  root.addEventListener("click", (e) => {
    const link = e.target instanceof Element ? e.target.closest<HTMLAnchorElement>("a[data-view]") : null;
    if (!link || e.ctrlKey || e.metaKey || e.shiftKey || e.button !== 0) return;
    e.preventDefault();
    open(new URL(link.href).search.slice(1), true);
  });

  // While the picture is out of sight, a strip at the bottom says the verdict.
  const picture = document.getElementById("picture-panel");
  if (picture) {
    new IntersectionObserver((seen) => {
      const inSight = seen[seen.length - 1].isIntersecting;
      root.classList.toggle("picture-seen", inSight);
    }).observe(picture);
  }

  startSweep(root, {
    move: (values) => change(values, "sweep"),
    axes: (x, y) => change({ x, y }, "axes"),
  });
}
