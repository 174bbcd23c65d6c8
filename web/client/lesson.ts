// Lesson 1's page: stream in, commands out, address bar, keys.

import { Address, parseView, viewQuery, type View } from "./address";
import { Commands } from "./commands";
import { startEmbed } from "./embed";
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
  const view: View = parseView(root.dataset.query ?? "");
  const embedded = root.hasAttribute("data-embed");
  let playing = false;

  const playhead = new Playhead(root);
  const connection = document.getElementById("connection");
  const problem = document.getElementById("problem");
  // In a host's frame the address is the host's to choose; a shared session's says which one it is.
  const address = shared || embedded
    ? null
    : new Address(path, view, (query) => {
        const back = parseView(query);
        choose(back.worker);
        view.axes = back.axes;
        view.pinned = back.pinned;
        view.prediction = back.prediction;
        analysis.refresh();
        commands.send("button", new URLSearchParams({ command: "open", query }));
      });

  const stream = new Stream({
    url() {
      const query = `${viewQuery({ ...view, t: playhead.now(), worker: "1", pinned: "", prediction: "", axes: "", extra: "" })}&playing=${playing ? 1 : 0}`;
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
      const ended = clock.t >= 60;
      if (changed) settled(clock.query);
      playing = clock.playing;
      view.query = clock.query;
      if (changed) swapping = false;
      if (changed && expected !== view.query) drop();
      if (changed || ended !== seen) {
        seen = ended;
        analysis.refresh();
      }
      view.t = Math.floor(clock.t * 10 + 1e-6) / 10;
      view.speed = clock.speed;
      playhead.set(clock);
      address?.show(view);
      links();
    },
    patched() {
      playhead.draw();
      keepWorker();
      lock();
      part();
    },
    connection(failures) {
      if (connection) connection.textContent = failures === null ? "" : failures === 0 ? "This server is going away. Another one takes over…" : failures > 1 ? "The connection is lost. Trying again…" : "Connecting again…";
    },
  });

  // What is said of the run as a whole. What it comes to is told once it is seen to its end.
  let seen = view.t >= 60;
  let expected = view.query; // settings of which the prediction is
  const analysis = new Fragment(
    () => `${path}/analysis?${viewQuery({ ...view, t: seen ? 60 : 0, speed: 1, worker: "1" })}`,
    () => {
      const said = document.getElementById("predict")?.dataset.prediction;
      if (said !== undefined && view.prediction !== "") {
        view.prediction = said === "" ? "" : "&" + said;
        address?.show(view);
      }
      root.classList.toggle("comparing", view.pinned !== "");
      links();
      playhead.draw();
      lock();
      part();
    },
    (text) => {
      const note = document.getElementById("predict-problem");
      if (note) note.textContent = text;
      view.prediction = "";
      address?.show(view);
      links();
      lock();
      document.getElementById("commit")?.focus();
    },
  );
  startSweep(root, {
    move(values) {
      address?.begin("sweep");
      withdraw();
      commands.send("set", new URLSearchParams({ command: "set", ...values }));
    },
    axes(x, y) {
      view.axes = `&x=${x}&y=${y}`;
      address?.show(view);
      links();
      analysis.refresh();
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

  /** A prediction is of one run: with other settings it is withdrawn. */
  function drop(): void {
    expected = view.query;
    view.prediction = "";
  }

  /** Where a prediction is required, other settings are a run that nobody has predicted: it begins at 0, before any of it is seen. */
  function withdraw(): void {
    if (!awaited || view.prediction === "") return;
    commands.send("button", new URLSearchParams({ command: "pause" }));
    commands.send("seek", new URLSearchParams({ t: "0" }));
    drop();
    lock();
  }

  const awaited = root.hasAttribute("data-await-prediction") || view.extra.includes("predict=required");
  const locked = (root.dataset.lock ?? "").split(",").filter((name) => name !== "");

  /** Whether the player is locked until a prediction is committed. */
  function waits(): boolean {
    return awaited && view.prediction === "";
  }

  function lock(): void {
    for (const name of locked) {
      for (const id of ["n-", "c-"]) {
        const control = document.getElementById(id + name);
        if (control instanceof HTMLInputElement) control.disabled = true;
      }
    }
    if (!awaited) return;
    const note = document.getElementById("locked-note");
    if (note) note.hidden = !waits();
    for (const el of document.querySelectorAll<HTMLInputElement | HTMLButtonElement>("#transport button, #transport input")) el.disabled = waits();
  }

  /** Draws into the lanes of run B where it parts from run A. */
  function part(): void {
    const from = document.getElementById("lanes-a");
    const plot = document.querySelector<SVGSVGElement>("#lanes .plot");
    plot?.querySelector(".part-line")?.remove();
    const line = from?.querySelector(".part-line");
    const grid = plot?.querySelector(".grid line");
    if (!plot || !line || !grid) return;
    const copy = line.cloneNode(true) as SVGGElement;
    const bottom = Number(grid.getAttribute("y2"));
    copy.querySelector("line")?.setAttribute("y2", String(bottom + 3));
    plot.append(copy);
  }

  /** Links that carry the view or its settings. */
  function links(): void {
    for (const a of root.querySelectorAll<HTMLAnchorElement>("[data-api-link]")) {
      const csv = a.href.includes("format=csv") ? "&format=csv" : "";
      a.href = `/api/v1/run?${view.query}${csv}`;
    }
    for (const a of root.querySelectorAll<HTMLAnchorElement>("[data-share]")) a.href = `${path}/share?${viewQuery(view)}`;
    for (const a of root.querySelectorAll<HTMLAnchorElement>("[data-own-copy]")) a.href = `${path}?${viewQuery(view)}`;
  }

  // The inspector's worker is this viewer's own choice.
  function radios(): HTMLInputElement[] {
    return [...root.querySelectorAll<HTMLInputElement>("input[type=radio][name=worker]")];
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
    withdraw();
    commands.send("set", new URLSearchParams({ command: "set", [field.name]: value }));
  }

  root.addEventListener("input", (e) => {
    const control = e.target;
    if (!(control instanceof HTMLInputElement) || control.form?.id === "f-predict") return;
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
    if (!(field instanceof HTMLInputElement) || field.type !== "number" || field.name === "t" || field.form?.id === "f-predict") return;
    clearTimeout(typing);
    if (tellInvalid(field, standing(field.name))) typed(field);
  });

  function commit(form: HTMLFormElement): void {
    const data = new FormData(form);
    let said = "";
    for (const name of ["p.completed", "p.killed"]) {
      const n = String(data.get(name) ?? "");
      if (n !== "") said += `&${name}=${Number(n)}`;
    }
    const dies = data.getAll("p.dies").map(String);
    if (dies.length > 0) said += `&p.dies=${(dies.length > 1 ? dies.filter((n) => n !== "none") : dies).join(",")}`;
    const verdict = data.get("p.verdict");
    if (verdict !== null) said += `&p.verdict=${String(verdict)}`;
    const note = document.getElementById("predict-problem");
    if (said === "") {
      if (note) note.textContent = "Say at least one of these: how many complete, how many are killed, which die, what the gate says.";
      return;
    }
    if (note) note.textContent = "";
    expected = view.query;
    predict(said);
    document.getElementById("play")?.focus();
  }

  function predict(said: string): void {
    address?.begin("");
    view.prediction = said;
    address?.show(view);
    links();
    lock();
    analysis.refresh();
  }

  let swapping = false; // the settings of run A are on their way

  /** Compares with another run, or stops it. */
  function pin(how: string): void {
    address?.begin("");
    const current = view.query;
    if (how === "swap") {
      if (swapping) return;
      swapping = true;
      withdraw();
      commands.send("set", new URLSearchParams(`command=set&${view.pinned}`));
      view.pinned = current;
      return; // the rest follows when the settings have changed
    }
    view.pinned = how === "pin" ? current : "";
    address?.show(view);
    links();
    analysis.refresh();
  }

  root.addEventListener("click", (e) => {
    if (!(e.target instanceof Element) || !(e instanceof MouseEvent) || e.ctrlKey || e.metaKey || e.shiftKey || e.button !== 0) return;
    const mark = e.target.closest<SVGElement>(".strip-mark");
    const box = mark && document.getElementById("p-dies-" + mark.dataset.request);
    if (box instanceof HTMLInputElement) {
      box.click();
      return;
    }
    const link = e.target.closest<HTMLAnchorElement>("a[data-set], a[data-pin], a[data-prediction-link]");
    if (!link) return;
    e.preventDefault();
    if (link.dataset.set !== undefined) {
      address?.begin("");
      withdraw();
      commands.send("set", new URLSearchParams(`command=set&${link.dataset.set}`));
    } else if (link.dataset.pin !== undefined) {
      pin(link.dataset.pin);
    } else {
      predict("");
      if (seen) commands.send("button", new URLSearchParams({ command: "restart" }));
    }
  });

  // The marks on the strip and the boxes are the same.
  root.addEventListener("change", (e) => {
    const box = e.target;
    if (!(box instanceof HTMLInputElement) || box.name !== "p.dies") return;
    if (box.checked) {
      for (const other of root.querySelectorAll<HTMLInputElement>("input[name='p.dies']")) {
        if ((other.value === "none") !== (box.value === "none")) other.checked = false;
      }
    }
    for (const mark of root.querySelectorAll<SVGElement>(".strip-mark")) {
      const of = document.getElementById("p-dies-" + mark.dataset.request);
      const marked = of instanceof HTMLInputElement && of.checked;
      mark.classList.toggle("strip-marked", marked);
      mark.classList.toggle("strip-open", !marked);
      mark.querySelector("use")?.setAttribute("href", marked ? "#s-killed" : "#s-open");
    }
  });

  /** Does what a form's button is for. Whether there is nothing left for the browser to do. */
  function act(form: HTMLFormElement, button: HTMLElement | null): boolean {
    if (form.id === "f-predict") {
      commit(form);
      return true;
    }
    if (form.id === "f-sweep") return true;
    if (form.id === "f-together" && session !== "") {
      location.assign(`/sessions/${session}`);
      return true;
    }
    if (!form.hasAttribute("data-live")) return false;
    letGo();
    if (form.id === "f-play" && button instanceof HTMLButtonElement) {
      if (button.name === "experiment" || button.value === "baseline") {
        address?.begin("");
        withdraw();
      }
      commands.send("button", new URLSearchParams({ [button.name]: button.value }));
    }
    return true;
  }

  root.addEventListener("submit", (e) => {
    if (act(e.target as HTMLFormElement, e.submitter)) e.preventDefault();
  });

  // A frame in a sandbox may submit no form, and tells nobody that one was to be.
  if (embedded) {
    root.addEventListener("click", (e) => {
      const button = e.target instanceof Element ? e.target.closest("button") : null;
      if (!button?.form || button.type !== "submit" || button.disabled || !button.form.reportValidity()) return;
      if (act(button.form, button)) e.preventDefault();
    });
  }

  document.getElementById("player")?.addEventListener("keydown", (e) => {
    const target = e.target as HTMLElement;
    if (e.key === " " && !e.altKey && !e.ctrlKey && !e.metaKey && !target.closest("button, select, a, input[type=number]")) {
      e.preventDefault();
      if (!e.repeat && !waits()) commands.send("button", new URLSearchParams({ command: playing ? "pause" : "play" }));
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

  // What stands on one axis scrolls together.
  document.getElementById("player")?.addEventListener(
    "scroll",
    (e) => {
      if (!(e.target instanceof HTMLElement)) return;
      for (const other of document.querySelectorAll("#player .lanes-scroll")) {
        if (other !== e.target && other.scrollLeft !== e.target.scrollLeft) other.scrollLeft = e.target.scrollLeft;
      }
    },
    { capture: true, passive: true },
  );

  // Where the plot is too narrow for tips in it, they stand below.
  const tipLine = document.getElementById("tip-line");
  for (const kind of ["focusin", "pointerover"]) {
    root.addEventListener(kind, (e) => {
      const tip = (e.target as Element).closest(".arrival")?.getAttribute("aria-label");
      if (tip && tipLine) tipLine.textContent = tip;
    });
  }

  if (embedded) {
    startEmbed(root, {
      away() {
        if (playing) commands.send("button", new URLSearchParams({ command: "pause" }));
        stream.close();
      },
      back: () => stream.open(),
    });
  }

  links();
  lock();
  root.classList.add("started");
  playhead.set({ t: view.t, speed: view.speed, playing: false, until: view.t });
  if (!embedded) stream.open(); // a frame's opens once it is on screen
}
