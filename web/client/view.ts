// What the page shows, in one place: settings, the viewer's own choices, where
// the player stands, the open tab, and what an author's link asks of the page.

// What the machinery reads of a link; all else is settings or a viewer's own.
const machinery = ["model", "t", "speed", "panel", "predict", "hide", "lock"];

/** Parameters as a person reads them: commas and colons stay. */
export function write(params: URLSearchParams): string {
  return params.toString().replaceAll("%2C", ",").replaceAll("%3A", ":").replaceAll("%2F", "/");
}

export function seconds(t: number): string {
  return String(Math.round(t * 10) / 10);
}

function join(...parts: string[]): string {
  return parts.filter((part) => part !== "").join("&");
}

/** Some of a query's parameters, as they stand there. */
function some(query: string, which: (name: string) => boolean): string {
  return query
    .split("&")
    .filter((part) => part !== "" && which(decodeURIComponent(part.split("=", 1)[0])))
    .join("&");
}

export class View {
  settings = ""; // those that are not at their opening value, as the server writes them
  own = new URLSearchParams(); // this viewer's choices, in a shared session too
  t = 0;
  speed = 1;
  playing = false;
  panel = "";
  extra = ""; // predict, hide, lock

  constructor(
    query: string,
    /** Every setting's opening value. */
    readonly openings: URLSearchParams,
    /** The run's last instant, 0 for none; other settings may have another one. */
    public end: number,
    /** Whether a link that names no instant shows the run at its end. */
    private opensAtEnd: boolean,
    /** The tab that is open where a link names none. */
    private firstPanel: string,
    private model: string,
  ) {
    this.read(query);
  }

  /** Takes over what a link says. */
  read(query: string): void {
    const all = new URLSearchParams(query);
    this.settings = some(query, (name) => this.openings.has(name));
    this.own = new URLSearchParams(some(query, (name) => !this.openings.has(name) && !machinery.includes(name)));
    this.t = Number(all.get("t") ?? this.opensAt);
    this.speed = Number(all.get("speed") ?? "1");
    this.panel = all.get("panel") ?? this.firstPanel;
    this.extra = some(query, (name) => ["predict", "hide", "lock"].includes(name));
  }

  /** Where a link stands that names no instant. */
  private get opensAt(): number {
    return this.opensAtEnd ? this.end : 0;
  }

  /** What a setting stands at. */
  setting(name: string): string {
    return new URLSearchParams(this.settings).get(name) ?? this.openings.get(name) ?? "";
  }

  /** All settings and own choices by their names. */
  get values(): URLSearchParams {
    const all = new URLSearchParams(this.openings);
    for (const from of [new URLSearchParams(this.settings), this.own]) for (const [name, value] of from) all.set(name, value);
    return all;
  }

  /** Own choices, after some are changed; an empty one goes. */
  choose(values: Record<string, string>): void {
    for (const [name, value] of Object.entries(values)) {
      if (value === "") this.own.delete(name);
      else this.own.set(name, value);
    }
  }

  /** Drops the own choices whose names begin so. */
  drop(prefix: string): void {
    for (const name of [...this.own.keys()]) if (name.startsWith(prefix)) this.own.delete(name);
  }

  /** Whether the viewer has predicted the run: predictions are the own choices p.… */
  get answered(): boolean {
    return [...this.own.keys()].some((name) => name.startsWith("p."));
  }

  /** What makes a step of the history when it changes. */
  get steady(): string {
    return this.steadyWith(this.settings);
  }

  /** The same with other settings, which are on their way. */
  steadyWith(settings: string): string {
    return join(settings, write(this.own));
  }

  /** The link to this view, with its model; with another tab where one is named. */
  link(panel = this.panel): string {
    return join(
      `model=${this.model}`,
      this.steady,
      this.t === this.opensAt ? "" : `t=${seconds(this.t)}`,
      this.speed === 1 ? "" : `speed=${this.speed}`,
      panel === this.firstPanel ? "" : `panel=${panel}`,
      this.extra,
    );
  }

  /** What a session is made of: the run and its clock, without what each viewer chooses alone. */
  run(t: number): string {
    return join(this.settings, `t=${seconds(t)}`, `speed=${this.speed}`);
  }

  /** What the viewer's own parts follow from. They tell of the run as a whole once it is seen to its end. */
  parts(seen: boolean): string {
    return join(this.steady, this.end > 0 ? `t=${seen ? seconds(this.end) : 0}` : "", this.panel === "" ? "" : `panel=${this.panel}`, this.extra);
  }
}
