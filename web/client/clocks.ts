// Lesson 3's page: every change asks the server for what follows from it.

import { follow, isAllowed, isField, slide, tellInvalid, tellRefused, unmark } from "./fields";
import { keepFocus } from "./stream";
import { startSweep } from "./sweep";
import { applyFragments, letGo, release, touched } from "./wire";

const gesture = 1000; // ms: changes of one control closer than this are one step of the history

/** Trouble on the way to the server or in it: what asking again may mend. */
class Trouble extends Error {}

/** The server's answer to a view: its fragments, or why it does not take the view. */
async function ask(address: string): Promise<{ fragments: string } | { refusal: string }> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(address, { headers: { "Datastar-Request": "true" }, credentials: "omit" });
    text = await response.text();
  } catch {
    throw new Trouble("The server does not answer. Trying again…"); // or breaks off
  }
  if (response.status >= 500 || response.status === 429) throw new Trouble(`The server is in trouble (${response.status}). Trying again…`);
  if (!response.ok) {
    const ours = response.headers.get("Content-Type")?.startsWith("text/plain");
    return { refusal: ours ? text.trim() : `The server does not take this (${response.status})` };
  }
  if (!text.includes('id="clock-api"')) throw new Trouble("The server's answer is not whole. Trying again…"); // the last fragment
  return { fragments: text };
}

export function startClocks(root: HTMLElement): void {
  const path = root.dataset.lesson ?? "/";
  const embedded = root.hasAttribute("data-embed");
  const problem = document.getElementById("problem");
  let params = new URLSearchParams(document.getElementById("view")?.dataset.query); // as the person has set them
  let shown = params.toString(); // as the page shows them
  let due = false; // the page is to be drawn anew, whatever it shows
  let here = location.search; // of the history's entry
  let refused = ""; // what was not taken last and has no field to stand beside
  let running = false;
  let typing: number | undefined;
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
      for (let failures = 0; due || params.toString() !== shown; ) {
        const asked = params.toString();
        let answer;
        try {
          answer = await ask(`${path}?${asked}`);
        } catch (trouble) {
          if (!(trouble instanceof Trouble)) throw trouble;
          failures++;
          tell(trouble.message);
          await new Promise((done) => setTimeout(done, Math.min(500 * 2 ** failures, 8000)));
          continue;
        }
        failures = 0;
        if ("refusal" in answer) {
          if (params.toString() !== asked) continue; // it has been changed again
          refuse(answer.refusal);
          continue;
        }
        tell(refused);
        const now = new URLSearchParams(asked);
        for (const field of root.querySelectorAll<HTMLInputElement>("input[aria-invalid=true]")) {
          if (now.get(field.name) !== standing(field.name)) unmark(field); // it has been set elsewhere, by the map
        }
        const focused = document.activeElement;
        const home = focused?.closest<HTMLElement>("section");
        applyFragments(answer.fragments);
        keepFocus(focused, home);
        openExport(asked);
        shown = asked;
        due = false;
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

  /** Goes back to the settings that the page shows, and says why: beside the fields that were changed, else for all. */
  function refuse(sentence: string): void {
    const wanted = [...params].filter(([name, value]) => standing(name) !== value).map(([name]) => document.getElementById("n-" + name));
    const fields = wanted.filter((el) => el instanceof HTMLInputElement);
    if (lastControl !== "" && lastControl !== "sweep" && fields.length > 0 && fields.length === wanted.length) {
      for (const field of fields) tellRefused(field, sentence, standing(field.name));
      due = false;
    } else {
      refused = sentence;
      due = true; // the controls that were moved go back
    }
    tell(refused);
    params = new URLSearchParams(shown);
    write(false);
  }

  /** A platform that has just been chosen has its export open; a person's own choice among them stays otherwise. */
  function openExport(query: string): void {
    const platform = new URLSearchParams(query).get("platform") ?? "kubernetes";
    const own = document.getElementById("export-" + platform);
    if (!own || platform === (new URLSearchParams(shown).get("platform") ?? "kubernetes")) return;
    for (const details of root.querySelectorAll<HTMLDetailsElement>(".exports details")) details.open = details === own;
  }

  function write(push: boolean): void {
    const url = `${path}?${params}`;
    if (url === location.pathname + location.search) return;
    if (embedded) return; // the address is the host's to choose
    if (push) history.pushState(null, "", url);
    else history.replaceState(null, "", url);
    here = location.search;
  }

  /** Sets some of the view; changes in a row by one control are one step of the history. */
  function change(values: Record<string, string>, control: string): void {
    const before = params.toString();
    for (const [name, value] of Object.entries(values)) params.set(name, value);
    if (params.toString() === before) return;
    refused = "";
    const now = performance.now();
    write(control !== lastControl || now - lastAt > gesture);
    lastControl = control;
    lastAt = now;
    void run();
  }

  /** Shows another view; what was half typed or not taken gives way to it. */
  function open(query: string, push: boolean): void {
    clearTimeout(typing);
    letGo();
    params = new URLSearchParams(query);
    for (const field of root.querySelectorAll<HTMLInputElement>("input[data-allowed]")) {
      const own = field === document.activeElement;
      if (own) release(field);
      if (own || field.hasAttribute("aria-invalid")) field.value = params.get(field.name) ?? field.value;
      unmark(field);
    }
    refused = "";
    lastControl = "";
    if (push) write(true);
    due = true;
    void run();
  }

  addEventListener("popstate", () => {
    if (location.search === here) return; // a step to a place within the page
    here = location.search;
    open(here.slice(1), false);
  });

  const standing = (name: string): string => new URLSearchParams(shown).get(name) ?? "";
  const set = (field: HTMLInputElement): void => change({ [field.name]: field.value }, field.name);

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
    if (!isAllowed(field)) return;
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
    if (!(e.target instanceof HTMLFormElement) || (e.target.id !== "f-set" && e.target.id !== "f-sweep")) return;
    e.preventDefault();
    const field = document.activeElement; // Enter: what did not go with the rest may go now
    if (field instanceof HTMLInputElement && isField(field) && tellInvalid(field, standing(field.name))) typed(field);
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
