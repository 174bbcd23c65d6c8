// Lesson 1's page: stream in, commands out, address bar, keys.

import { Address, axesOf, settingsOf, viewQuery, type View } from "./address";
import { Commands } from "./commands";
import { follow, slide, tellInvalid } from "./fields";
import { Fragment } from "./fragment";
import { Playhead } from "./playhead";
import { Stream } from "./stream";
import { startSweep } from "./sweep";
import { letGo, touched } from "./wire";

export function startLesson(root: HTMLElement): void {
  const path = root.dataset.lesson ?? "/";
  const shared = root.dataset.session !== "";
  let session = root.dataset.session ?? "";
  let announced: (() => void)[] = [];
  const first = new URLSearchParams(root.dataset.query);
  const view: View = {
    query: settingsOf(root.dataset.query ?? ""),
    t: Number(first.get("t")),
    speed: Number(first.get("speed")),
    worker: first.get("worker") ?? "1",
    axes: axesOf(root.dataset.query ?? ""),
  };
  let playing = false;

  const playhead = new Playhead(root);
  const connection = document.getElementById("connection");
  const problem = document.getElementById("problem");
  const address = shared
    ? null
    : new Address(path, view, (query) => {
        const params = new URLSearchParams(query);
        choose(params.get("worker") ?? "1");
        view.axes = axesOf(query);
        map.refresh();
        commands.send("button", new URLSearchParams({ command: "open", query }));
      });

  const stream = new Stream({
    url() {
      const query = `${viewQuery({ ...view, t: playhead.now(), worker: "1", axes: "" })}&playing=${playing ? 1 : 0}`;
      return session === "" ? `${path}/stream?${query}` : `/sessions/${session}/stream?${query}`;
    },
    signals(signals) {
      if (typeof signals.session === "string") {
        session = signals.session;
        for (const done of announced) done();
        announced = [];
      }
      if (typeof signals.t !== "number") return;
      const clock = signals as { t: number; speed: number; playing: boolean; until: number; query: string };
      const changed = clock.query !== view.query;
      if (changed) settled(clock.query);
      playing = clock.playing;
      view.query = clock.query;
      if (changed) map.refresh();
      view.t = Math.floor(clock.t * 10 + 1e-6) / 10;
      view.speed = clock.speed;
      playhead.set(clock);
      address?.show(view);
      links();
    },
    patched() {
      playhead.draw();
      keepWorker();
    },
    connection(failures) {
      if (connection) connection.textContent = failures === null ? "" : failures === 0 ? "This server is going away. Another one takes over…" : failures > 1 ? "The connection is lost. Trying again…" : "Connecting again…";
    },
  });

  const map = new Fragment(() => `${path}/sweep?${viewQuery({ ...view, t: 0, speed: 1, worker: "1" })}`);
  startSweep(root, {
    move(values) {
      address?.begin("sweep");
      commands.send("set", new URLSearchParams({ command: "set", ...values }));
    },
    axes(x, y) {
      view.axes = `&x=${x}&y=${y}`;
      address?.show(view);
      map.refresh();
    },
  });

  const commands = new Commands(
    async () => {
      if (session === "") await new Promise<void>((done) => announced.push(done));
      return `/sessions/${session}`;
    },
    () => stream.reopen(),
    (text) => {
      if (problem && problem.textContent !== text) problem.textContent = text;
    },
  );

  /** Links that carry the view or its settings. */
  function links(): void {
    for (const a of root.querySelectorAll<HTMLAnchorElement>("[data-api-link]")) {
      const csv = a.href.includes("format=csv") ? "&format=csv" : "";
      a.href = `/api/v1/run?${view.query}${csv}`;
    }
    for (const a of root.querySelectorAll<HTMLAnchorElement>("[data-own-copy]")) a.href = `${path}?${viewQuery(view)}`;
  }

  // The inspector's worker is this viewer's own choice.
  function radios(): HTMLInputElement[] {
    return [...root.querySelectorAll<HTMLInputElement>("input[name=worker]")];
  }
  let wanted = view.worker;
  function choose(worker: string): void {
    wanted = worker;
    keepWorker();
  }
  /** Shows the chosen worker, or the first while these settings do not have it. */
  function keepWorker(): void {
    const all = radios();
    const chosen = all.find((r) => r.value === wanted) ?? all[0];
    if (!chosen) return;
    view.worker = chosen.value;
    chosen.checked = true;
  }

  /** What the run has for a setting. A field's own default lags while the person is at it. */
  function standing(name: string): string {
    return new URLSearchParams(view.query).get(name) ?? "";
  }

  /** Once the settings have changed, fields show them in place of what was refused. */
  function settled(query: string): void {
    const now = new URLSearchParams(query);
    for (const field of root.querySelectorAll<HTMLInputElement>("[aria-invalid=true]")) {
      if (field === document.activeElement) continue;
      field.value = now.get(field.name) ?? field.defaultValue;
      tellInvalid(field, standing(field.name));
    }
  }

  let typing: number | undefined;
  function typed(field: HTMLInputElement): void {
    if (!field.validity.valid) return;
    follow(field);
    setting(field);
  }

  function setting(field: HTMLInputElement): void {
    const value = field.type === "checkbox" ? (field.checked ? "1" : "0") : field.value;
    address?.begin(field.name);
    commands.send("set", new URLSearchParams({ command: "set", [field.name]: value }));
  }

  root.addEventListener("input", (e) => {
    const control = e.target;
    if (!(control instanceof HTMLInputElement)) return;
    touched(control);
    if (control.hasAttribute("data-seek")) {
      control.setAttribute("aria-valuetext", `${control.value} seconds`);
      commands.send("seek", new URLSearchParams({ t: control.value }));
    } else if (control.dataset.field) {
      const field = slide(control);
      if (field) setting(field);
    } else if (control.type === "number" && control.name !== "t") {
      // A number half typed is not meant yet: "3" on the way to "30".
      clearTimeout(typing);
      if (control.getAttribute("aria-invalid") === "true") tellInvalid(control, standing(control.name));
      typing = setTimeout(() => typed(control), 400);
    } else if (control.type === "checkbox") {
      setting(control);
    } else if (control.name === "worker") {
      choose(control.value);
      address?.show(view);
    }
  });

  root.addEventListener("change", (e) => {
    const field = e.target;
    if (!(field instanceof HTMLInputElement) || field.type !== "number" || field.name === "t") return;
    clearTimeout(typing);
    if (tellInvalid(field, standing(field.name))) typed(field);
  });

  root.addEventListener("submit", (e) => {
    const form = e.target as HTMLFormElement;
    if (form.id === "f-together" && session !== "") {
      e.preventDefault();
      location.assign(`/sessions/${session}`);
      return;
    }
    if (!form.hasAttribute("data-live")) return;
    e.preventDefault();
    const button = e.submitter;
    letGo();
    if (form.id === "f-play" && button instanceof HTMLButtonElement) {
      if (button.name === "experiment" || button.value === "baseline") address?.begin("");
      commands.send("button", new URLSearchParams({ [button.name]: button.value }));
    }
  });

  document.getElementById("player")?.addEventListener("keydown", (e) => {
    const target = e.target as HTMLElement;
    if (e.key === " " && !e.altKey && !e.ctrlKey && !e.metaKey && !target.closest("button, select, a, input[type=number]")) {
      e.preventDefault();
      if (!e.repeat) commands.send("button", new URLSearchParams({ command: playing ? "pause" : "play" }));
    }
    rove(e, target);
  });

  // One tab stop for all arrivals; arrows move among them.
  function rove(e: KeyboardEvent, target: HTMLElement): void {
    const group = target.closest("[data-roving]");
    if (!group) return;
    const items = [...group.querySelectorAll<SVGElement>("[tabindex]")];
    const here = items.indexOf(target as unknown as SVGElement);
    const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: items.length - 1 }[e.key];
    if (to === undefined || here < 0) return;
    e.preventDefault();
    items[Math.min(Math.max(to, 0), items.length - 1)].focus();
  }
  root.addEventListener("focusin", (e) => {
    const item = e.target as Element;
    const group = item.closest("[data-roving]");
    if (!group || item === group) return;
    for (const other of group.querySelectorAll("[tabindex='0']")) other.setAttribute("tabindex", "-1");
    item.setAttribute("tabindex", "0");
  });

  // Where the plot is too narrow for tips in it, they stand below.
  const tipLine = document.getElementById("tip-line");
  for (const kind of ["focusin", "pointerover"]) {
    root.addEventListener(kind, (e) => {
      const tip = (e.target as Element).closest(".arrival")?.getAttribute("aria-label");
      if (tip && tipLine) tipLine.textContent = tip;
    });
  }

  links();
  root.classList.add("started");
  playhead.set({ t: view.t, speed: view.speed, playing: false, until: view.t });
  stream.open();
}
