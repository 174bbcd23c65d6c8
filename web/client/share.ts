// The share dialog: the server fills it, and fills it anew with every option.

import { applyFragments } from "./wire";

export function startShare(): void {
  const dialog = document.getElementById("share-dialog");
  document.addEventListener("click", (e) => {
    if (!(e.target instanceof Element) || !(e instanceof MouseEvent) || e.ctrlKey || e.metaKey || e.shiftKey || e.button !== 0) return;
    const open = e.target.closest<HTMLAnchorElement>("a[data-share]");
    if (open && dialog instanceof HTMLDialogElement) {
      e.preventDefault();
      void fill(open.href, () => dialog.showModal());
    } else if (e.target.closest("[data-close]") && dialog instanceof HTMLDialogElement) {
      dialog.close();
    }
    const copy = e.target.closest<HTMLElement>("[data-copy]");
    if (copy) void copyText(copy.dataset.copy ?? "");
  });
  document.addEventListener("change", (e) => {
    const form = e.target instanceof Element ? e.target.closest<HTMLFormElement>("#f-share") : null;
    if (form) void fill(`${form.action}?${new URLSearchParams(new FormData(form) as never)}`, () => undefined);
  });
  document.addEventListener("submit", (e) => {
    if (e.target instanceof HTMLFormElement && e.target.id === "f-share" && dialog?.contains(e.target)) e.preventDefault();
  });
}

let last = 0;

async function fill(address: string, then: () => void): Promise<void> {
  const mine = ++last;
  try {
    const response = await fetch(address, { headers: { "Datastar-Request": "true" }, credentials: "omit" });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    if (mine !== last) return; // a later option is under way
    const focused = document.activeElement?.id ?? "";
    applyFragments(text);
    then();
    if (focused !== "") document.getElementById(focused)?.focus();
  } catch {
    location.assign(address); // the page says what is wrong
  }
}

/** Copies a field's text; where that fails, as in some frames, says so and leaves it selected. */
export async function copyText(id: string): Promise<void> {
  const field = document.getElementById(id);
  const note = document.getElementById("copy-note");
  if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)) return;
  let text = "Copied.";
  try {
    await navigator.clipboard.writeText(field.value);
  } catch {
    field.focus();
    field.select();
    text = "The browser does not let this page copy. The text is selected: copy it with the keyboard.";
  }
  if (note) note.textContent = text;
}
