// A lesson's page: the view in one place, the stream in, commands out. What
// attaches to it is in files of its own, and knows the page; the page knows no
// lesson. A lesson's own part registers itself by the lesson's id.

import { Address } from "./address";
import { Commands } from "./commands";
import { Playhead, type Clock } from "./playhead";
import { Stream } from "./stream";
import { View } from "./view";

type Start = (page: Page) => void;

const lessons = new Map<string, Start>();

/** Has start called on the lesson's page. */
export function register(lesson: string, start: Start): void {
  lessons.set(lesson, start);
}

export class Page {
  readonly path: string;
  readonly embedded: boolean;
  readonly view: View;
  readonly playhead: Playhead;
  /** Whether a prediction must be made before the run is seen. */
  readonly predicts: boolean;
  private session: string;
  /** Whether the lesson has sessions: its settings are then the session's to say. */
  readonly streamed: boolean;
  private readonly stream: Stream;
  private readonly commands: Commands;
  private readonly address: Address | null;
  private announced: (() => void)[] = [];
  private readonly locked: string[]; // settings that the link locks
  private expected: string; // settings of which the prediction is
  private seenToEnd: boolean;
  private onChanged: (() => void)[] = [];
  private onPatched: (() => void)[] = [];
  private onRefused: ((text: string, values: URLSearchParams) => boolean)[] = [];

  constructor(readonly root: HTMLElement) {
    const data = root.dataset;
    this.path = data.path ?? "/";
    this.session = data.session ?? "";
    this.locked = (data.lock ?? "").split(",").filter((name) => name !== "");
    this.embedded = root.hasAttribute("data-embed");
    this.predicts = root.hasAttribute("data-predict");
    this.streamed = root.hasAttribute("data-sessions");
    const first = root.querySelector<HTMLElement>("[data-tab-link]")?.dataset.tabLink ?? "";
    this.view = new View(data.query ?? "", new URLSearchParams(data.settings), Number(data.end ?? "0"), root.hasAttribute("data-opens-at-end"), first, data.model ?? "1");
    if (data.panel) this.view.panel = data.panel;
    this.expected = this.view.settings;
    this.seenToEnd = this.atEnd();
    root.style.setProperty("--end", String(this.view.end));
    this.playhead = new Playhead(root);
    // In a host's frame the address is the host's to choose; a shared session's says which one it is.
    this.address = this.session !== "" || this.embedded ? null : new Address(this.path, this.view, (query) => this.goBack(query));
    this.commands = new Commands(
      async () => {
        if (this.session === "") await new Promise<void>((done) => this.announced.push(done));
        return `/sessions/${this.session}`;
      },
      () => this.stream.reopen(),
      (text, params) => this.refuse(text, params),
    );
    this.stream = new Stream({
      url: () => {
        const view = `${this.view.run(this.now())}&playing=${this.view.playing ? 1 : 0}`;
        if (this.session === "") return `${this.path}/stream?${view}`;
        return `/sessions/${this.session}/stream?lesson=${root.dataset.lesson ?? ""}&${view}`; // should it be lost, it is made again
      },
      signals: (signals) => this.hear(signals),
      patched: () => this.afterPatch(),
      connection: (failures) => this.connection(failures),
    });
  }

  /** Calls fn when settings, own choices, the open tab or the end of the run have changed. */
  changed(fn: () => void): void {
    this.onChanged.push(fn);
  }

  /** Calls fn when parts of the page have been put in place. */
  patched(fn: () => void): void {
    this.onPatched.push(fn);
  }

  /** Calls fn when settings were refused; it returns whether it has told so. */
  refused(fn: (text: string, values: URLSearchParams) => boolean): void {
    this.onRefused.push(fn);
  }

  /** The simulation time now, in seconds. */
  now(): number {
    return this.playhead.now();
  }

  /** Whether the run has been seen to its end. */
  get seen(): boolean {
    return this.seenToEnd;
  }

  /** Whether the player is locked until a prediction is made. */
  get waits(): boolean {
    return this.predicts && !this.view.answered;
  }

  /** The shared session's id, or that of the view's own once there is one. */
  get sessionID(): string {
    return this.session;
  }

  /** Changes settings. Changes in a row by one control are one step of the history. */
  set(values: Record<string, string>, control = ""): void {
    if (this.locked.some((name) => values[name] !== undefined && values[name] !== this.view.setting(name))) return this.keepLocked();
    this.address?.begin(control);
    this.withdraw();
    if (this.streamed) {
      this.commands.send("set", new URLSearchParams({ command: "set", ...values }));
      return;
    }
    const now = new URLSearchParams(this.view.settings);
    for (const [name, value] of Object.entries(values)) now.set(name, value);
    for (const [name, value] of [...now]) if (value === this.view.openings.get(name)) now.delete(name);
    this.view.settings = now.toString();
    this.tell("");
    this.settled();
  }

  /** Changes the viewer's own choices; an empty one goes. */
  own(values: Record<string, string>, control = ""): void {
    this.address?.begin(control);
    this.view.choose(values);
    if (Object.keys(values).some((name) => name.startsWith("p."))) this.expected = this.view.settings;
    this.settled();
  }

  /** Drops the own choices whose names begin so. */
  drop(prefix: string): void {
    this.address?.begin("");
    this.view.drop(prefix);
    this.settled();
  }

  /** Goes to another view of the lesson. */
  open(query: string): void {
    if (this.locked.length > 0) return this.keepLocked();
    this.address?.begin("");
    this.withdraw();
    this.follow(query);
    this.settled();
  }

  /** Sends a command of the player or of the guide. */
  command(params: Record<string, string>): void {
    if (params.step !== undefined || params.experiment !== undefined || params.command === "baseline") {
      if (this.locked.length > 0) return this.keepLocked();
      this.address?.begin("");
      this.withdraw();
      for (const fn of this.onChanged) fn(); // what was refused before is not meant for the next run, even where that is the same
    }
    this.commands.send("button", new URLSearchParams(params));
  }

  /** Says why a change that would touch what the link locks is not made. */
  private keepLocked(): void {
    this.tell("This link keeps its settings: some of what that would change is locked.");
    for (const fn of this.onPatched) fn();
  }

  seek(t: string): void {
    this.commands.send("seek", new URLSearchParams({ t }));
  }

  /** Opens a tab of the panel. */
  turn(panel: string): void {
    this.view.panel = panel;
    this.settled();
  }

  /** The canonical text of the settings, as an answer of the server has it. */
  canonical(settings: string): void {
    if (settings === this.view.settings) return;
    this.view.settings = settings;
    this.address?.show();
  }

  /** Goes back to choices that the server took with these settings, and says why it did not take the present ones. */
  takeBack(own: URLSearchParams, settings: string, text: string): void {
    const { view } = this;
    if (this.streamed && settings !== view.settings) return this.tell(text); // the session has gone on
    const wrong = new URLSearchParams(view.own);
    for (const [name, value] of own) if (wrong.get(name) === value) wrong.delete(name);
    const before = new URLSearchParams(settings);
    if (!this.streamed) {
      for (const name of view.openings.keys()) if (view.setting(name) !== (before.get(name) ?? view.openings.get(name))) wrong.set(name, view.setting(name));
      view.settings = settings;
    }
    view.own = new URLSearchParams(own);
    this.settled();
    for (const fn of this.onPatched) fn();
    this.refuse(text, wrong);
  }

  /** Tells of trouble; nothing is told by an empty text. */
  tell(text: string): void {
    const problem = document.getElementById("problem");
    if (problem && problem.textContent !== text) problem.textContent = text;
  }

  start(): void {
    lessons.get(this.root.dataset.lesson ?? "")?.(this);
    for (const fn of this.onPatched) fn();
    this.root.classList.add("started");
    const { t, speed } = this.view;
    this.playhead.set({ t, speed, playing: false, until: t });
    if (!this.embedded) this.wake(); // a frame's once it is on screen
  }

  /** Opens the stream. */
  wake(): void {
    if (this.streamed) this.stream.open();
  }

  /** Pauses, and closes the stream. */
  rest(): void {
    if (this.view.playing) this.command({ command: "pause" });
    this.stream.close();
  }

  private hear(signals: Record<string, unknown>): void {
    if (typeof signals.session === "string") {
      this.session = signals.session;
      for (const done of this.announced) done();
      this.announced = [];
    }
    if (typeof signals.t !== "number") return;
    const clock = signals as unknown as Clock & { query: string; end: number };
    const { view } = this;
    const changed = clock.query !== view.settings;
    if (clock.end !== view.end) {
      view.end = clock.end;
      this.root.style.setProperty("--end", String(view.end));
    }
    view.settings = clock.query;
    view.t = Math.floor(clock.t * 10 + 1e-6) / 10;
    view.speed = clock.speed;
    view.playing = clock.playing;
    if (changed && this.expected !== view.settings) this.forget();
    const ended = this.atEnd();
    const turned = ended !== this.seenToEnd;
    this.seenToEnd = ended;
    this.playhead.set(clock);
    this.address?.show();
    if (changed || turned) for (const fn of this.onChanged) fn();
  }

  private afterPatch(): void {
    this.playhead.draw();
    for (const fn of this.onPatched) fn();
  }

  /** What the view's own change leads to. */
  private settled(): void {
    this.address?.show();
    for (const fn of this.onChanged) fn();
  }

  /** Parts that were fetched have been put in place. */
  fetched(): void {
    this.afterPatch();
  }

  private goBack(query: string): string {
    const settings = this.follow(query);
    for (const fn of this.onChanged) fn();
    return settings;
  }

  /** Takes over another view. A session has to follow: the stream says when it has. Returns the settings that are on their way. */
  private follow(query: string): string {
    const { view } = this;
    const { settings, t, speed } = view;
    view.read(query);
    const coming = view.settings;
    this.expected = coming;
    if (this.streamed) {
      Object.assign(view, { settings, t, speed });
      this.commands.send("button", new URLSearchParams({ command: "open", query }));
    }
    return coming;
  }

  private atEnd(): boolean {
    return this.view.t >= this.view.end;
  }

  /** A prediction is of one run: with other settings it is gone. */
  private forget(): void {
    this.expected = this.view.settings;
    this.view.drop("p.");
  }

  /** Where a prediction is required, other settings are a run that nobody has predicted: it begins at 0, before any of it is seen. */
  private withdraw(): void {
    if (!this.predicts || !this.view.answered) return;
    this.commands.send("button", new URLSearchParams({ command: "pause" }));
    this.seek("0");
    this.forget();
    for (const fn of this.onPatched) fn();
  }

  private refuse(text: string, params: URLSearchParams): void {
    if (text === "") return this.tell("");
    const values = new URLSearchParams(params);
    values.delete("command");
    const told = this.onRefused.map((fn) => fn(text, values));
    if (!told.includes(true)) this.tell(text);
  }

  private connection(failures: number | null): void {
    const note = document.getElementById("connection");
    if (!note) return;
    if (failures === null) note.textContent = "";
    else if (failures === 0) note.textContent = "This server is going away. Another one takes over…";
    else note.textContent = failures > 1 ? "The connection is lost. Trying again…" : "Connecting again…";
  }
}
