// Lesson 2: a run of the fixture is started, and followed while it goes on.

import { register } from "../../client/page";
import { Stream } from "../../client/stream";

interface Begun {
  run: string;
  query: string;
}

register("ledgers", (page) => {
  let shown = page.view.own.get("run") ?? ""; // the link's run
  let followed = ""; // the run that the stream is of
  let ended = false; // … of which no more is to come
  let stream: Stream | null = null;

  function follow(run: string): void {
    followed = run;
    ended = false;
    stream ??= new Stream({
      url: () => `/lessons/ledgers/runs/${followed}/stream`,
      signals(signals) {
        if (signals.finished !== true && signals.lost !== true) return;
        stream?.close();
        const status = document.getElementById("run-status");
        if (signals.lost === true && !ended && status) status.textContent = "This run ended with its server. Start another one.";
        ended = true;
      },
      patched: () => page.fetched(),
      connection(failures) {
        const note = document.getElementById("connection");
        if (note) note.textContent = failures === null ? "" : "Connecting again…";
      },
    });
    stream.reopen();
  }

  /** Starts the run that a button is for: of the settings, or of a step. */
  async function start(button: HTMLButtonElement): Promise<void> {
    const form = button.form;
    if (!form?.reportValidity()) return;
    const fields = new URLSearchParams();
    for (const [name, value] of new FormData(form, button)) if (typeof value === "string") fields.append(name, value);
    fields.set("view", page.view.link());
    let response: Response;
    try {
      response = await fetch(button.getAttribute("formaction")!, { method: "POST", body: fields, headers: { "Datastar-Request": "true" } });
    } catch {
      page.tell("The run was not started: there is no connection. Try it again.");
      return;
    }
    if (!response.ok) {
      page.tell((await response.text()).trim());
      return;
    }
    page.tell("");
    const begun = (await response.json()) as Begun;
    const query = new URLSearchParams(begun.query);
    query.set("panel", page.view.panel);
    shown = begun.run;
    page.open(query.toString());
    follow(begun.run);
  }

  page.root.addEventListener("click", (e) => {
    const button = e.target instanceof Element ? e.target.closest<HTMLButtonElement>("button[data-start]") : null;
    if (!button) return;
    e.preventDefault();
    void start(button);
  });

  // A run that was under way when the page was made.
  const waiting = document.querySelector<HTMLElement>("#run-status[data-run]");
  if (waiting?.dataset.run) follow(waiting.dataset.run);

  // A step back in the history leads to another run.
  page.changed(() => {
    const run = page.view.own.get("run") ?? "";
    if (run === shown) return;
    shown = run;
    if (run === "") location.reload();
    else follow(run);
  });
});
