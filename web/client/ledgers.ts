// Lesson 2's page: sliders beside their fields, and the stream of a run.

import { follow, slide } from "./fields";
import { Stream } from "./stream";

export function startLedgers(root: HTMLElement): void {
  root.addEventListener("input", (e) => {
    const control = e.target;
    if (!(control instanceof HTMLInputElement)) return;
    if (control.dataset.field) slide(control);
    else if (control.type === "number" && control.validity.valid) follow(control);
  });

  const run = root.dataset.run;
  if (run === undefined) return;
  const connection = document.getElementById("connection");
  const stream = new Stream({
    url: () => `/lessons/ledgers/runs/${run}/stream`,
    signals(signals) {
      if (signals.lost === true) {
        stream.close();
        const status = document.getElementById("run-status");
        if (status) status.textContent = "This run ended with its server. Start another one.";
        return;
      }
      if (signals.finished !== true) return;
      stream.close();
      // The page of a finished run has its step's check too.
      location.reload();
    },
    patched() {
      if (connection) connection.textContent = "";
    },
    connection(failures) {
      if (connection) connection.textContent = failures === null ? "" : "Connecting again…";
    },
  });
  stream.open();
}
