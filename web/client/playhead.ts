// Moves the playhead between frames, by one custom property.

import { busy } from "./wire";

export interface Clock {
  t: number; // seconds
  speed: number;
  playing: boolean;
  until: number; // nothing happens before; the playhead waits there for the next frame
}

export class Playhead {
  private clock: Clock = { t: 0, speed: 1, playing: false, until: 0 };
  private at = 0; // performance.now at clock.t
  private looping = false;
  private still = matchMedia("(prefers-reduced-motion: reduce)");

  constructor(private root: HTMLElement) {
    this.still.addEventListener("change", () => this.draw());
  }

  /** The simulation time now, no further than what is known. */
  now(): number {
    const { t, speed, playing, until } = this.clock;
    if (!playing || this.still.matches) return t;
    return Math.max(t, Math.min(t + ((performance.now() - this.at) / 1000) * speed, until));
  }

  set(clock: Clock): void {
    const before = this.now();
    const smooth = this.clock.playing && clock.playing && Math.abs(before - clock.t) < 0.3 * Math.max(1, clock.speed);
    // A frame that comes a little late or early must not make the playhead jump:
    // it makes up half of what it lags, and waits where it is ahead.
    const t = clock.t > before ? before + (clock.t - before) / 2 : before;
    this.clock = smooth && !this.still.matches ? { ...clock, t } : clock;
    this.at = performance.now();
    this.draw();
    if (clock.playing && !this.looping) {
      this.looping = true;
      requestAnimationFrame(() => this.loop());
    }
  }

  private loop(): void {
    this.draw();
    this.looping = this.clock.playing && !this.still.matches;
    if (this.looping) requestAnimationFrame(() => this.loop());
  }

  /** Puts playhead and time slider where they belong, as after a patch. */
  draw(): void {
    const t = this.now();
    // On the two elements that it moves: a property that all inherit would have
    // the browser look at all of them.
    for (const el of this.root.querySelectorAll<SVGElement>(".past, .playhead-line")) el.style.setProperty("--t", t.toFixed(3));
    const slider = document.getElementById("time");
    if (slider instanceof HTMLInputElement && !busy(slider)) slider.value = t.toFixed(1);
  }
}
