// Commands to the session: one request in flight in each lane.

/** What happens to commands that wait: settings join, the newest time wins, the player's buttons queue. */
type Lane = "set" | "seek" | "play";

const longestQueue = 30;

export class Commands {
  private waiting: Record<Lane, URLSearchParams[]> = { set: [], seek: [], play: [] };
  private running: Record<Lane, boolean> = { set: false, seek: false, play: false };

  constructor(
    /** The session's address, once there is one. */
    private address: () => Promise<string>,
    /** Makes a lost session again. */
    private remake: () => void,
    /** Tells what was refused; empty once something was taken. */
    private problem: (text: string) => void,
  ) {}

  send(lane: Lane, params: URLSearchParams): void {
    const queue = this.waiting[lane];
    if (lane === "set" && queue.length > 0) {
      for (const [name, value] of params) queue[0].set(name, value);
    } else if (lane === "seek") {
      queue[0] = params;
    } else if (queue.length < longestQueue) {
      queue.push(params);
    }
    void this.run(lane);
  }

  private async run(lane: Lane): Promise<void> {
    if (this.running[lane]) return;
    this.running[lane] = true;
    try {
      for (let next = this.waiting[lane].shift(); next; next = this.waiting[lane].shift()) await this.post(next);
    } finally {
      this.running[lane] = false;
    }
  }

  private async post(params: URLSearchParams): Promise<void> {
    for (let attempt = 0; attempt < 5; attempt++) {
      if (attempt > 0) await new Promise((done) => setTimeout(done, 300 * 2 ** attempt));
      let response: Response;
      try {
        response = await fetch(await this.address(), {
          method: "POST",
          body: params,
          headers: { "Datastar-Request": "true" },
          credentials: "omit",
        });
      } catch {
        continue; // no connection: the stream's notice says so
      }
      if (response.ok) {
        this.problem("");
        return;
      }
      if (response.status === 404) {
        this.remake();
        continue;
      }
      if (response.status < 500) {
        this.problem((await response.text()).trim());
        return;
      }
    }
    this.problem("The server did not take the last change. Try it again.");
  }
}
