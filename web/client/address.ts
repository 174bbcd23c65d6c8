// The address bar always holds the view. What changes the settings or the
// viewer's own choices is a step of the history.

import type { View } from "./view";

const gesture = 1000; // ms: changes of one control closer than this are one step of the history
const throttle = 400; // ms between two updates while playing; browsers refuse more than about 200 in 30 s
const wayBack = 2000; // ms that the server may take to follow a step back

export class Address {
  private steady: string;
  private gestures = 0; // begun, and not yet seen to change the view
  private control = "";
  private begun = -Infinity;
  private last = 0;
  private shown = "";
  private late: string | null = null; // waits to be written
  private timer: number | undefined;
  private awaited: string | null = null; // settings that are on their way

  constructor(
    private path: string,
    private view: View,
    /** Makes the page show the view that the person went back to; returns the settings that are on their way. */
    open: (query: string) => string,
  ) {
    this.steady = view.steady;
    this.write(view.link(), false);
    addEventListener("popstate", () => {
      const query = location.search.slice(1);
      if (query === this.shown) return; // a step to a place within the page
      this.shown = query;
      clearTimeout(this.timer);
      this.late = null;
      this.awaited = open(query);
      this.steady = view.steadyWith(this.awaited);
      setTimeout(() => (this.awaited = null), wayBack);
    });
  }

  /** Notes that the person changes something: by a control, whose changes in a row are one step of the history, or by a button. */
  begin(control: string): void {
    const now = performance.now();
    if (now - this.begun > gesture) this.gestures = 1;
    else if (control === "" || control !== this.control) this.gestures = Math.min(this.gestures + 1, 2);
    this.control = control;
    this.begun = now;
  }

  show(): void {
    if (this.awaited !== null) {
      if (this.view.settings !== this.awaited) return; // frames from before the way back
      this.awaited = null;
    }
    const link = this.view.link();
    if (this.view.steady !== this.steady) {
      if (this.late !== null) this.write(this.late, false); // where the entry that is left stood last
      this.steady = this.view.steady;
      this.write(link, this.gestures > 0);
      this.gestures = Math.max(0, this.gestures - 1);
      return;
    }
    clearTimeout(this.timer);
    const wait = this.last + throttle - performance.now();
    if (wait <= 0) this.write(link, false);
    else {
      this.late = link;
      this.timer = setTimeout(() => this.write(link, false), wait);
    }
  }

  private write(link: string, push: boolean): void {
    clearTimeout(this.timer);
    this.late = null;
    this.last = performance.now();
    this.shown = link;
    const url = `${this.path}?${link}`;
    if (url === location.pathname + location.search) return;
    if (push) history.pushState(null, "", url);
    else history.replaceState(null, "", url);
  }
}
