// The page's live forms: what a button of theirs is for goes to the session as
// a command.

import type { Page } from "./page";
import { letGo } from "./wire";

export function startForms(page: Page): void {
  page.root.addEventListener("submit", (e) => {
    if (act(page, e.target as HTMLFormElement, e.submitter)) e.preventDefault();
  });

  // A frame in a sandbox may submit no form, and tells nobody that one was to be.
  if (!page.embedded) return;
  page.root.addEventListener("click", (e) => {
    const button = e.target instanceof Element ? e.target.closest("button") : null;
    if (!button?.form || button.type !== "submit" || button.disabled || !button.form.reportValidity()) return;
    if (act(page, button.form, button)) e.preventDefault();
  });
}

/** Does what a form's button is for. Whether there is nothing left for the browser to do. */
function act(page: Page, form: HTMLFormElement, button: HTMLElement | null): boolean {
  if (form.id === "f-sweep") return true; // it follows its fields
  if (form.id === "f-together" && page.sessionID !== "") {
    location.assign(`/sessions/${page.sessionID}`);
    return true;
  }
  if (!form.hasAttribute("data-live")) return false;
  if (!page.streamed && !form.hasAttribute("data-sets") && form.id !== "f-own") return false; // there is no session to command
  letGo();
  if (form.id === "f-play" && button instanceof HTMLButtonElement) page.command({ [button.name]: button.value });
  return true;
}
