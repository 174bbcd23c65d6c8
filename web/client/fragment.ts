// A part of the page that follows from an address: fetched anew when that changes.

import { keepFocus } from "./stream";
import { applyFragments } from "./wire";

const pause = 120; // ms without a change before it is asked for

export class Fragment {
  private shown = "";
  private running = false;
  private timer: number | undefined;

  constructor(
    private address: () => string,
    /** The fragments have been put in place. */
    private applied: () => void,
    /** The server has refused the address, in these words. */
    private refused: (text: string) => void,
  ) {}

  refresh(): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.run(), pause);
  }

  /** One request at a time; an answer that is no longer asked for is followed by the next. */
  private async run(): Promise<void> {
    if (this.running) return;
    this.running = true;
    try {
      for (let failures = 0; this.address() !== this.shown && failures < 5; ) {
        const asked = this.address();
        try {
          const response = await fetch(asked, { headers: { "Datastar-Request": "true" }, credentials: "omit" });
          const text = await response.text();
          if (response.status >= 400 && response.status < 500) {
            this.refused(text.trim());
            return;
          }
          if (!response.ok) throw new Error(String(response.status));
          if (asked === this.address()) {
            const focused = document.activeElement;
            const home = focused?.closest<HTMLElement>("section");
            applyFragments(text);
            keepFocus(focused, home);
            this.shown = asked;
            this.applied();
          }
        } catch {
          failures++;
          await new Promise((done) => setTimeout(done, 400 * 2 ** failures));
        }
      }
    } finally {
      this.running = false;
    }
  }
}
