// The address bar always holds the view: settings, time, speed, worker, and
// whatever else makes it.

export interface View {
  query: string; // the settings of the run that plays
  pinned: string; // those of run A of a comparison, or empty
  t: number;
  speed: number;
  worker: string;
  prediction: string; // "&p.killed=4…", or empty
  axes: string; // of the map of verdicts, "&x=…&y=…"; empty for the usual ones
  extra: string; // what an author's link asks of the page
}

export function seconds(t: number): string {
  return String(Math.round(t * 10) / 10);
}

export function viewQuery(v: View): string {
  const other = v.query
    .split("&")
    .map((part) => `&b.${part}`)
    .join("");
  const settings = v.pinned === "" ? v.query : v.pinned + other;
  const worker = v.worker === "1" ? "" : `&worker=${v.worker}`;
  return `${settings}&t=${seconds(v.t)}&speed=${v.speed}${worker}${v.prediction}${v.axes}${v.extra}`;
}

const beside = ["t", "speed", "worker", "model", "x", "y", "predict", "hide", "lock"];

/** Some of a query's parameters, as a part of a query. */
function some(query: string, which: (name: string) => boolean): string {
  return query
    .split("&")
    .filter((part) => which(part.split("=", 1)[0]))
    .map((part) => "&" + part)
    .join("");
}

/** The view that a canonical query says. */
export function parseView(query: string): View {
  const all = new URLSearchParams(query);
  const settings = some(query, (name) => !beside.includes(name) && !/^[pb]\./.test(name)).slice(1);
  const other = some(query, (name) => name.startsWith("b.")).replaceAll("&b.", "&").slice(1);
  return {
    query: other === "" ? settings : other,
    pinned: other === "" ? "" : settings,
    t: Number(all.get("t") ?? "0"),
    speed: Number(all.get("speed") ?? "1"),
    worker: all.get("worker") ?? "1",
    prediction: some(query, (name) => name.startsWith("p.")),
    axes: some(query, (name) => name === "x" || name === "y"),
    extra: some(query, (name) => ["predict", "hide", "lock"].includes(name)),
  };
}

const gesture = 1000; // ms: changes of one control closer than this are one step of the history
const throttle = 400; // ms between two updates while playing; browsers refuse more than about 200 in 30 s

export class Address {
  private query: string; // everything but time and speed, that a step of the history is made of
  private gestures = 0; // begun, and not yet seen to change the settings
  private control = "";
  private begun = -Infinity;
  private last = 0;
  private shown = "";
  private late: View | null = null; // waits to be written
  private timer: number | undefined;
  private awaited: string | null = null;

  /** open makes the session show the view that the person went back to. */
  constructor(private path: string, first: View, open: (query: string) => void) {
    this.query = steady(first);
    this.write(first, false);
    addEventListener("popstate", () => {
      const query = location.search.slice(1);
      if (query === this.shown) return; // a step to a place within the page
      this.shown = query;
      clearTimeout(this.timer);
      const view = parseView(query);
      this.awaited = view.query;
      setTimeout(() => (this.awaited = null), 2000);
      this.query = steady(view);
      open(query);
    });
  }

  /** Notes that the person changes settings: by a control, whose changes in a row are one step of the history, or by a button. */
  begin(control: string): void {
    const now = performance.now();
    if (now - this.begun > gesture) this.gestures = 1;
    else if (control === "" || control !== this.control) this.gestures = Math.min(this.gestures + 1, 2);
    this.control = control;
    this.begun = now;
  }

  show(v: View): void {
    if (this.awaited !== null) {
      if (v.query !== this.awaited) return; // frames from before the way back
      this.awaited = null;
    }
    if (steady(v) !== this.query) {
      if (this.late) this.write(this.late, false); // where the entry that is left stood last
      this.query = steady(v);
      this.write(v, this.gestures > 0);
      this.gestures = Math.max(0, this.gestures - 1);
      return;
    }
    const now = performance.now();
    clearTimeout(this.timer);
    const wait = this.last + throttle - now;
    if (wait <= 0) this.write(v, false);
    else {
      const late = { ...v };
      this.late = late;
      this.timer = setTimeout(() => this.write(late, false), wait);
    }
  }

  private write(v: View, push: boolean): void {
    clearTimeout(this.timer);
    this.late = null;
    this.last = performance.now();
    this.shown = viewQuery(v);
    const url = `${this.path}?${this.shown}`;
    if (url === location.pathname + location.search) return;
    if (push) history.pushState(null, "", url);
    else history.replaceState(null, "", url);
  }
}

/** What of a view is a step of the history when it changes. */
function steady(v: View): string {
  return v.query + v.pinned + v.prediction;
}
