// The event stream: opened while the page is seen, opened again when it breaks.

import { patchElements, readSignals } from "./wire";

const firstWait = 400; // ms, doubled with every failure in a row
const longestWait = 8000;
const hiddenFor = 5000; // a page hidden this long needs no stream

/** Where the focus goes when what had it is gone: the tab or the section that it was in. */
export function homeOf(focused: Element | null): HTMLElement | null {
  return focused?.closest<HTMLElement>("[data-tab], section") ?? null;
}

/** Gives focus back that a patch took: to the element, or where that is gone to its home. */
export function keepFocus(focused: Element | null, home: HTMLElement | null): void {
  if (!focused || focused === document.body || document.activeElement === focused) return;
  if (focused.isConnected && (focused instanceof HTMLElement || focused instanceof SVGElement)) {
    focused.focus({ preventScroll: true });
  } else if (home?.isConnected && document.activeElement === document.body) {
    if (!home.hasAttribute("tabindex")) home.tabIndex = -1;
    home.focus({ preventScroll: true });
  }
}

export interface Hooks {
  /** The stream's address now: a session's, or a view's that shall become one. */
  url(): string;
  signals(signals: Record<string, unknown>): void;
  /** Fragments have been put in place. */
  patched(): void;
  /** null: connected. Otherwise how many attempts have failed; 0 where the server has said goodbye. */
  connection(failures: number | null): void;
}

export class Stream {
  private source: EventSource | null = null;
  private failures = 0;
  private timer: number | undefined;

  constructor(private hooks: Hooks) {
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") this.open();
      else this.later(() => this.close(), hiddenFor);
    });
    addEventListener("pagehide", () => this.close());
    addEventListener("pageshow", (e) => {
      if (e.persisted) this.open();
    });
    addEventListener("online", () => this.reopen());
  }

  open(): void {
    clearTimeout(this.timer);
    if (this.source || document.visibilityState === "hidden") return;
    const source = new EventSource(this.hooks.url());
    this.source = source;
    source.addEventListener("datastar-patch-elements", (e) => {
      const focused = document.activeElement;
      const home = homeOf(focused);
      patchElements((e as MessageEvent<string>).data);
      keepFocus(focused, home);
      this.hooks.patched();
    });
    source.addEventListener("datastar-patch-signals", (e) => {
      const signals = readSignals((e as MessageEvent<string>).data);
      if (signals.reconnect === true) {
        // The server goes away; everybody else comes back too, so not at once.
        this.close();
        this.hooks.connection(0);
        this.later(() => this.open(), 200 + Math.random() * 800);
        return;
      }
      if (this.failures > 0 || "session" in signals || "finished" in signals || "lost" in signals) {
        this.failures = 0;
        this.hooks.connection(null);
      }
      this.hooks.signals(signals);
    });
    source.addEventListener("error", () => {
      if (this.source !== source) return;
      // The address may have to change, so the browser's own retry won't do.
      this.close();
      this.failures++;
      this.hooks.connection(this.failures);
      const wait = Math.min(firstWait * 2 ** (this.failures - 1), longestWait);
      this.later(() => this.open(), wait * (0.75 + Math.random() / 2));
    });
  }

  close(): void {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
  }

  reopen(): void {
    this.close();
    this.open();
  }

  private later(what: () => void, wait: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(what, wait);
  }
}
