// Lesson 1's own: a prediction is marked and committed, what is too close
// together to press is found by the nearest, and two runs that are compared
// follow the time.

import { seconds } from "../../client/view";
import { type Page, register } from "../../client/page";

register("drain", (page) => {
  startPrediction(page);
  startNearest(page);
  startComparison(page);
});

function startPrediction(page: Page): void {
  const box = (n: string): HTMLInputElement | null => document.getElementById(`p-dies-${n}`) as HTMLInputElement | null;

  page.root.addEventListener("submit", (e) => {
    const form = e.target as HTMLFormElement;
    if (form.id !== "f-predict") return;
    e.preventDefault();
    commit(page, form);
  });
  // A frame in a sandbox may submit no form, and tells nobody that one was to be.
  page.root.addEventListener("click", (e) => {
    const button = page.embedded && e.target instanceof Element ? e.target.closest<HTMLButtonElement>("#commit") : null;
    if (!button?.form?.reportValidity()) return;
    e.preventDefault();
    commit(page, button.form);
  });

  // The dots in the picture and the boxes are the same.
  const press = (dot: Element | null | undefined): boolean => {
    const of = dot && box(dot.getAttribute("data-mark") ?? "");
    of?.click();
    return of !== null && of !== undefined;
  };
  page.root.addEventListener("click", (e) => void press((e.target as Element).closest("[data-mark]")));
  page.root.addEventListener("keydown", (e) => {
    if ((e.key === "Enter" || e.key === " ") && press((e.target as Element).closest("[data-mark]"))) e.preventDefault();
  });
  page.root.addEventListener("change", (e) => {
    const changed = e.target;
    if (!(changed instanceof HTMLInputElement) || changed.name !== "p.dies") return;
    if (changed.checked) {
      for (const other of page.root.querySelectorAll<HTMLInputElement>("input[name='p.dies']")) {
        if ((other.value === "none") !== (changed.value === "none")) other.checked = false;
      }
    }
    mark();
  });
  function mark(): void {
    for (const dot of page.root.querySelectorAll("[data-mark]")) {
      const marked = box(dot.getAttribute("data-mark") ?? "")?.checked === true;
      dot.setAttribute("aria-pressed", String(marked));
      dot.classList.toggle("dot-marked", marked);
      dot.classList.toggle("dot-open", !marked);
      dot.querySelector("use")?.setAttribute("href", marked ? "#s-lost" : "#s-open");
    }
  }
  page.patched(mark);

  // Who predicts a run again sees it from its beginning.
  page.root.addEventListener("click", (e) => {
    if ((e.target as Element).closest("a[data-restart]") && page.seen) page.command({ command: "restart" });
  });
}

/** Takes the form's prediction into the link. */
function commit(page: Page, form: HTMLFormElement): void {
  const data = new FormData(form);
  const said: Record<string, string> = {};
  for (const name of ["p.completed", "p.killed"]) {
    const n = String(data.get(name) ?? "");
    if (n !== "") said[name] = String(Number(n));
  }
  const dies = data.getAll("p.dies").map(String);
  if (dies.length > 0) said["p.dies"] = (dies.length > 1 ? dies.filter((n) => n !== "none") : dies).join(",");
  const verdict = data.get("p.verdict");
  if (verdict !== null) said["p.verdict"] = String(verdict);
  const note = document.getElementById("predict-problem");
  const nothing = Object.keys(said).length === 0;
  if (note) note.textContent = nothing ? "Say at least one of these: which die, how many complete, how many are killed, what the gate says." : "";
  if (nothing) return;
  page.own(said);
  document.getElementById("play-button")?.focus();
}

/** In a row whose items have no room of their own, the nearest one is meant. */
function startNearest(page: Page): void {
  const itemAt = (e: PointerEvent | MouseEvent): Element | null => {
    const row = (e.target as Element).closest("[data-nearest]");
    if (!row || !(e.target as Element).classList.contains("row-hit")) return null;
    let best: Element | null = null;
    let least = 24; // pixels: farther off, none is meant
    for (const item of row.querySelectorAll(":scope > [tabindex]")) {
      const sign = item.querySelector(".sign-at")?.getBoundingClientRect();
      const apart = sign ? Math.abs(e.clientX - sign.x - sign.width / 2) : Infinity;
      if (apart < least) [best, least] = [item, apart];
    }
    return best;
  };
  page.root.addEventListener("click", (e) => {
    const item = itemAt(e);
    if (item instanceof SVGElement) {
      item.focus({ preventScroll: true });
      if (item.hasAttribute("data-mark")) item.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    }
  });
  // Where the picture is too narrow for tips in it, they stand below.
  for (const kind of ["focusin", "pointerover", "pointermove"]) {
    page.root.addEventListener(kind, (e) => {
      const item = (e.target as Element).closest(".arrival") ?? (e instanceof PointerEvent ? itemAt(e) : null);
      const line = document.getElementById("tip-line");
      if (line && item?.classList.contains("arrival")) line.textContent = item.getAttribute("aria-label");
    });
  }
}

const pause = 400; // ms between two looks at runs that play

/** Fetches the two runs as they stand now while their tab is open: what is not past is not in the page. */
function startComparison(page: Page): void {
  let shown = "";
  let asking = false;
  const address = (): string => {
    const { view } = page;
    return `${page.path}/compare?${[view.steady, `t=${seconds(page.now())}`, view.extra].filter((part) => part !== "").join("&")}`;
  };
  const wanted = (): boolean => page.view.panel === "compare" && [...page.view.own.keys()].some((name) => name.startsWith("a.") || name.startsWith("b."));
  async function look(): Promise<void> {
    const now = address();
    if (!wanted()) shown = "";
    if (asking || !wanted() || (now === shown && document.querySelector("#compare-runs .lanes"))) return;
    asking = true;
    try {
      const response = await fetch(now, { credentials: "omit" });
      if (response.ok && now.split("&t=")[0] === address().split("&t=")[0]) {
        place(await response.text());
        shown = now;
        page.playhead.draw();
      }
    } catch {
      // The next look tries again.
    } finally {
      asking = false;
    }
  }
  page.changed(() => void look());
  page.patched(() => void look());
  setInterval(() => void look(), pause);
}

/** Puts fragments in the place of those with their ids, which nothing else touches. */
function place(html: string): void {
  const template = document.createElement("template");
  template.innerHTML = html;
  for (const el of [...template.content.children]) document.getElementById(el.id)?.replaceWith(el);
}
