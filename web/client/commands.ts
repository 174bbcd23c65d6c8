// Commands to the session: one at a time, in the order in which they were given.

import { refusal } from "./refusal";

/** How commands that wait at the end of the queue join: settings merge, the newest time wins, buttons follow each other. */
type Kind = "set" | "seek" | "button";

interface Waiting {
  kind: Kind;
  params: URLSearchParams;
}

const longestQueue = 500;

export class Commands {
  private queue: Waiting[] = [];
  private running = false;

  constructor(
    /** The session's address, once there is one. */
    private address: () => Promise<string>,
    /** Makes a lost session again. */
    private remake: () => void,
    /** Tells that a command was refused, and why; empty once one was taken. */
    private problem: (text: string, params: URLSearchParams) => void,
  ) {}

  send(kind: Kind, params: URLSearchParams): void {
    const last = this.queue.at(-1);
    if (last?.kind === kind && kind === "set") {
      for (const [name, value] of params) last.params.set(name, value);
    } else if (last?.kind === kind && kind === "seek") {
      last.params = params;
    } else if (this.queue.length < longestQueue) {
      this.queue.push({ kind, params });
    } else {
      this.problem("The server is slow to answer. The last change was not sent; try it again.", params);
    }
    void this.run();
  }

  private async run(): Promise<void> {
    if (this.running) return;
    this.running = true;
    try {
      for (let next = this.queue.shift(); next; next = this.queue.shift()) await this.post(next.params);
    } finally {
      this.running = false;
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
        this.problem("", params);
        return;
      }
      if (response.status === 404) {
        this.remake();
        continue;
      }
      if (response.status < 500) {
        this.problem(await refusal(response), params);
        return;
      }
    }
    this.problem("The server did not take the last change. Try it again.", params);
  }
}
