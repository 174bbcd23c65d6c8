// A lesson in a host's frame: says how high it is, and rests while nobody sees it.

export interface FrameHooks {
  /** The frame has gone out of sight. */
  away(): void;
  /** It is seen, for the first time or again. */
  back(): void;
}

import type { Page } from "./page";

const host = window.parent;

function post(message: unknown): void {
  if (host !== window) host.postMessage(message, "*"); // a height is no secret
}

/** A lesson's page in a host's frame. */
export function startFrame(page: Page): void {
  if (page.embedded) startEmbed(page.root, { away: () => page.rest(), back: () => page.wake() });
}

export function startEmbed(root: HTMLElement, hooks: FrameHooks): void {
  const content = document.querySelector<HTMLElement>("[data-embed-content]") ?? root;
  // WordPress names its frame by a secret in the fragment: #?secret=…
  const secret = new URLSearchParams(location.hash.replace(/^#\??/, "")).get("secret");
  let told = 0;
  let h5p = false; // the host speaks H5P's protocol

  function height(): number {
    return Math.ceil(content.getBoundingClientRect().bottom + scrollY);
  }

  function tell(): void {
    const now = height();
    if (now <= 0 || now === told) return; // nothing is laid out while the frame is hidden
    told = now;
    post({ subject: "lti.frameResize", height: now });
    post({ type: "drainlab:height", height: now });
    if (secret !== null) post({ message: "height", value: Math.min(Math.max(now, 200), 1000), secret });
    if (h5p) post({ context: "h5p", action: "prepareResize", scrollHeight: now, clientHeight: innerHeight });
  }

  let queued = false;
  const later = (): void => {
    if (queued) return;
    queued = true;
    requestAnimationFrame(() => {
      queued = false;
      tell();
    });
  };
  new ResizeObserver(later).observe(content);

  addEventListener("message", (e) => {
    if (e.source !== host || typeof e.data !== "object" || e.data === null) return;
    const { context, action } = e.data as { context?: unknown; action?: unknown };
    if (context !== "h5p") return;
    const size = { scrollHeight: height(), clientHeight: innerHeight };
    if (action === "ready") post({ context: "h5p", action: "hello" });
    else if (action === "hello") {
      h5p = true;
      post({ context: "h5p", action: "hello" });
      post({ context: "h5p", action: "prepareResize", ...size });
    } else if (action === "resizePrepared" || action === "resize") post({ context: "h5p", action: "resize", ...size });
  });

  // What is not a lesson in a frame may not be framed: it opens beside it.
  document.addEventListener(
    "click",
    (e) => {
      const link = e.target instanceof Element ? e.target.closest<HTMLAnchorElement>("a[href]") : null;
      if (!link || (link.origin === location.origin && link.pathname.startsWith("/embed/"))) return;
      link.target = "_blank";
      link.rel = "noopener noreferrer";
    },
    { capture: true },
  );

  leaveKeys();

  let seen = false;
  new IntersectionObserver((entries) => {
    const now = entries[entries.length - 1].isIntersecting;
    if (now === seen) return;
    seen = now;
    root.dataset.away = String(!now);
    if (now) hooks.back();
    else hooks.away();
  }).observe(content);
}

const controls = "a[href], button, input, select, textarea, summary, label, [tabindex]:not([tabindex='-1'], [role='region'], [role='tabpanel'])";

/** Keys are of the page that has the focus. The host, which may turn its slides by them, gets it back when something beside the controls is pressed, and by Escape. */
function leaveKeys(): void {
  if (host === window) return;
  document.addEventListener("click", (e) => {
    const pressed = e.target instanceof Element && e.target.closest(controls) !== null;
    if (!pressed && getSelection()?.isCollapsed !== false) host.focus();
  });
  document.addEventListener("keydown", (e) => {
    if (e.key === "Escape" && !e.defaultPrevented) host.focus();
  });
}
