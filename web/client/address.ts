// The address bar always holds the view: settings, time, speed, worker.

export interface View {
  query: string; // the settings
  t: number;
  speed: number;
  worker: string;
  axes: string; // of the map of verdicts, "&x=…&y=…"; empty for the usual ones
}

export function seconds(t: number): string {
  return String(Math.round(t * 10) / 10);
}

export function viewQuery(v: View): string {
  const worker = v.worker === "1" ? "" : `&worker=${v.worker}`;
  return `${v.query}&t=${seconds(v.t)}&speed=${v.speed}${worker}${v.axes}`;
}

const gesture = 1000; // ms: changes of one control closer than this are one step of the history
const throttle = 400; // ms between two updates while playing; browsers refuse more than about 200 in 30 s

export class Address {
  private query: string;
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
    this.query = first.query;
    this.write(first, false);
    addEventListener("popstate", () => {
      const query = location.search.slice(1);
      if (query === this.shown) return; // a step to a place within the page
      this.shown = query;
      clearTimeout(this.timer);
      this.awaited = query;
      setTimeout(() => (this.awaited = null), 2000);
      this.query = settingsOf(query);
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
      if (v.query !== settingsOf(this.awaited)) return; // frames from before the way back
      this.awaited = null;
    }
    if (v.query !== this.query) {
      if (this.late) this.write(this.late, false); // where the entry that is left stood last
      this.query = v.query;
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

/** The map's axes in a view's query. */
export function axesOf(query: string): string {
  const all = new URLSearchParams(query);
  return ["x", "y"].map((name) => (all.has(name) ? `&${name}=${all.get(name)}` : "")).join("");
}

/** The settings' part of a view's query. */
export function settingsOf(query: string): string {
  const end = query.indexOf("&t=");
  return end < 0 ? query : query.slice(0, end);
}
