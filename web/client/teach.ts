// The instructors' page: links, snippets and preview follow the form.

import { homeOf, keepFocus } from "./stream";
import { applyFragments } from "./wire";

const typing = 400; // ms without a key before a number is meant

export function startTeach(root: HTMLElement): void {
  const path = root.dataset.teach ?? "/teach";
  const form = (): HTMLFormElement => document.getElementById("f-teach") as HTMLFormElement;
  let shown = wanted(); // what the page shows, as its form's query
  let running = false;
  let timer: number | undefined;

  /** The form as a query, without the fields that are left empty. */
  function wanted(): string {
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(form())) if (value !== "") query.append(name, String(value));
    return query.toString();
  }

  function tell(text: string): void {
    const problem = document.getElementById("teach-problem");
    if (problem && problem.textContent !== text) problem.textContent = text;
  }

  /** Takes out what was said of another lesson than that one: its fields are the person's own, and would stay. */
  function dropOther(lesson: string | null): void {
    const part = form().querySelector<HTMLElement>("[data-of]");
    if (part && part.dataset.of !== lesson) part.remove();
  }

  /** Whether the form can be sent; says so where it cannot. */
  function valid(): boolean {
    const wrong = [...form().elements].find((el) => el instanceof HTMLInputElement && !el.validity.valid);
    if (!(wrong instanceof HTMLInputElement)) return true;
    tell(`${wrong.labels?.[0]?.textContent ?? wrong.name}: ${wrong.validationMessage}`);
    return false;
  }

  // One request at a time; what has been set by then goes with the next.
  async function run(): Promise<void> {
    if (running) return;
    running = true;
    try {
      for (let failures = 0; wanted() !== shown && valid(); ) {
        const asked = wanted();
        let response: Response;
        let text: string;
        try {
          response = await fetch(`${path}?${asked}`, { headers: { "Datastar-Request": "true" }, credentials: "omit" });
          text = await response.text();
        } catch {
          failures++;
          tell("The server does not answer. Trying again…");
          await new Promise((done) => setTimeout(done, Math.min(500 * 2 ** failures, 8000)));
          continue;
        }
        failures = 0;
        if (wanted() !== asked) continue; // it has been changed again
        if (!response.ok) {
          tell(text.trim());
          shown = asked;
          return;
        }
        const focused = document.activeElement;
        const home = homeOf(focused);
        const said = new URLSearchParams(asked);
        dropOther(said.get("lesson"));
        if (said.get("start") !== said.get("was-start")) document.getElementById("teach-t")?.remove(); // another run: the server says where it opens
        applyFragments(text);
        keepFocus(focused, home);
        // The fields are the person's own, but another lesson has others.
        shown = wanted();
        history.replaceState(null, "", `${path}?${shown}`);
      }
      if (wanted() === shown) tell(""); // what was wrong has been taken back
    } finally {
      running = false;
    }
  }

  root.addEventListener("input", (e) => {
    const field = e.target;
    if (!(field instanceof Element) || !field.closest("#f-teach")) return;
    clearTimeout(timer);
    timer = window.setTimeout(() => void run(), field instanceof HTMLInputElement && field.type === "number" ? typing : 0);
  });

  root.addEventListener("change", (e) => {
    if (!(e.target instanceof Element) || !e.target.closest("#f-teach")) return;
    clearTimeout(timer);
    void run();
  });

  root.addEventListener("submit", (e) => {
    if (e.target !== form()) return;
    e.preventDefault();
    void run();
  });
}
