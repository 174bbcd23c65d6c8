// A part of the page that follows from an address: fetched anew when that changes.

import { refusal } from "./refusal";
import { homeOf, keepFocus } from "./stream";
import { applyFragments } from "./wire";

const pause = 120; // ms without a change before it is asked for

export interface FragmentHooks {
  /** The address now. */
  address(): string;
  /** The fragments have been put in place. */
  applied(response: Response): void;
  /** The server has refused the address, in these words. */
  refused(text: string): void;
}

export class Fragment {
  private running = false;
  private refused: string | null = null; // the address that is not asked for again
  private timer: number | undefined;

  constructor(
    private hooks: FragmentHooks,
    private shown = "", // the address that the page shows
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
      for (let failures = 0; this.due() && failures < 5; ) {
        try {
          if (await this.ask(this.hooks.address())) return;
        } catch {
          failures++;
          await new Promise((done) => setTimeout(done, 400 * 2 ** failures));
        }
      }
    } finally {
      this.running = false;
    }
  }

  private due(): boolean {
    const address = this.hooks.address();
    return address !== this.shown && address !== this.refused;
  }

  /** Asks for an address and applies the answer. Whether it was refused for good. */
  private async ask(address: string): Promise<boolean> {
    const response = await fetch(address, { headers: { "Datastar-Request": "true" }, credentials: "omit" });
    if (response.status >= 500 || response.status === 429) throw new Error(String(response.status));
    const text = response.ok ? await response.text() : await refusal(response);
    if (address !== this.hooks.address()) return false;
    this.refused = response.ok ? null : address;
    if (!response.ok) {
      this.hooks.refused(text);
      return true;
    }
    const focused = document.activeElement;
    const home = homeOf(focused);
    applyFragments(text);
    keepFocus(focused, home);
    this.shown = address;
    this.hooks.applied(response);
    return false;
  }
}
