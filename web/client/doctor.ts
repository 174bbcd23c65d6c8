// The embed doctor: what the host of this frame lets a lesson do.

type State = "good" | "bad" | "plain";

const host = window.parent;
const framed = host !== window;
const answerWithin = 900; // ms that a host has for each of the height messages
const restsFor = 250; // ms without a change after which a frame's height stands
const eventWithin = 8000; // ms until a stream that brings nothing is given up

/** Writes one check's outcome: a mark, and a sentence that needs no mark. */
function say(check: string, state: State, text: string): void {
  const row = document.getElementById("check-" + check);
  const mark = row?.querySelector(".check-mark");
  const says = row?.querySelector(".check-says");
  if (!row || !mark || !says) return;
  row.dataset.state = state;
  mark.textContent = { good: "✓", bad: "✕", plain: "•" }[state];
  says.textContent = text;
}

export function startDoctor(root: HTMLElement): void {
  const lesson = root.dataset.doctor ?? ""; // the path of one that streams
  sayFrame();
  sayStorage();
  saySize();
  addEventListener("resize", saySize);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const colours = (): void => say("colours", "plain", `The reader's system prefers ${dark.matches ? "dark" : "light"}; lessons follow it.`);
  dark.addEventListener("change", colours);
  colours();
  void sayClipboard();
  sayFullscreen();
  void Promise.all([fetches(lesson), streams(lesson), heights(root)]).then(([fetched, streamed, answered]) => conclude(fetched && streamed, answered));
}

function sayFrame(): void {
  say("frame", framed ? "good" : "plain", framed ? "This page is in a frame." : "Not in a frame: this page stands alone.");
  if (self.origin === "null") say("origin", "plain", "Sandboxed: the host took the page's origin away (null). Lessons work without one.");
  else say("origin", "good", `Not sandboxed: the page keeps its origin, ${self.origin}.`);
}

function sayStorage(): void {
  try {
    localStorage.setItem("doctor", "1");
    localStorage.removeItem("doctor");
    say("storage", "good", "Works. Lessons need none; a chosen theme is remembered.");
  } catch {
    say("storage", "plain", "Refused. Lessons need none, and use no cookies.");
  }
}

function saySize(): void {
  say("size", "plain", `${innerWidth} × ${innerHeight} px.`);
}

/** Asks plainly, and as a lesson does: with a header for which a browser asks the server's leave. */
async function fetches(lesson: string): Promise<boolean> {
  try {
    for (const headers of [new Headers(), new Headers({ "Datastar-Request": "true" })]) {
      const response = await fetch(`${lesson}/parts`, { headers, credentials: "omit" });
      if (!response.ok) throw new Error(`the server answered ${response.status}`);
      await response.text();
    }
    say("fetch", "good", "The server answers this frame.");
    return true;
  } catch (e) {
    say("fetch", "bad", `The server cannot be asked from this frame (${e instanceof Error ? e.message : e}). Controls would do nothing.`);
    return false;
  }
}

function streams(lesson: string): Promise<boolean> {
  return new Promise((done) => {
    const source = new EventSource(`${lesson}/stream`);
    const begun = performance.now();
    const end = (good: boolean, text: string): void => {
      source.close();
      clearTimeout(timer);
      say("stream", good ? "good" : "bad", text);
      done(good);
    };
    const timer = setTimeout(() => end(false, `No event came within ${eventWithin / 1000} s: something on the way holds the stream back.`), eventWithin);
    for (const kind of ["datastar-patch-elements", "datastar-patch-signals"]) {
      source.addEventListener(kind, () => end(true, `Works: the first event came after ${Math.round(performance.now() - begun)} ms.`));
    }
    source.addEventListener("error", () => end(false, "The stream was refused or broke. Nothing would play."));
  });
}

interface Policy {
  allowsFeature(name: string): boolean;
}

/** What can be known of the clipboard without a prompt. */
async function sayClipboard(): Promise<void> {
  const instead = "Lessons select the text instead, for the keyboard to copy.";
  const policy = (document as Document & { featurePolicy?: Policy }).featurePolicy;
  if (!navigator.clipboard) return say("clipboard", "plain", `Not there: the page does not come over https. ${instead}`);
  if (policy && !policy.allowsFeature("clipboard-write")) return say("clipboard", "plain", `The host does not allow it. ${instead}`);
  let state = "prompt";
  try {
    state = (await navigator.permissions.query({ name: "clipboard-write" as PermissionName })).state;
  } catch {
    // A browser that does not know the permission asks, or decides by the click.
  }
  if (state === "granted") say("clipboard", "good", "Allowed.");
  else if (state === "denied") say("clipboard", "plain", `Refused. ${instead}`);
  else say("clipboard", "plain", "Not known before a click: try it below.");
}

function sayFullscreen(): void {
  const button = document.getElementById("try-fullscreen");
  if (document.fullscreenEnabled) say("fullscreen", "good", "Allowed.");
  else say("fullscreen", "plain", "Not allowed here. A lesson opens in a tab of its own instead.");
  if (button) button.hidden = !document.fullscreenEnabled;
  const told = (text: string): void => {
    const line = document.getElementById("tried");
    if (line) line.textContent = text;
  };
  button?.addEventListener("click", () => {
    document.documentElement.requestFullscreen().then(
      () => told("Fullscreen works. Escape leaves it."),
      () => {
        say("fullscreen", "plain", "Refused. A lesson opens in a tab of its own instead.");
        told("Fullscreen was refused.");
      },
    );
  });
  document.getElementById("try-copy")?.addEventListener("click", () => void tryCopy(told));
}

async function tryCopy(told: (text: string) => void): Promise<void> {
  const field = document.getElementById("try-text") as HTMLInputElement;
  try {
    await navigator.clipboard.writeText(field.value);
    say("clipboard", "good", "Works.");
    told("Copied.");
  } catch {
    say("clipboard", "plain", "Refused. Lessons select the text instead, for the keyboard to copy.");
    document.getElementById("try-area")?.removeAttribute("hidden");
    field.focus();
    field.select();
    told("Copying was refused. The text is selected: copy it with the keyboard.");
  }
}

/** A height that the host was asked for, in one of the ways that hosts know. */
interface Asking {
  name: string;
  post(height: number): void;
  bounds: [number, number];
}

const tell = (message: unknown): void => host.postMessage(message, "*"); // a height is no secret

/** Tries each kind of height message by itself. The names of those that were answered; null outside a frame. */
async function heights(root: HTMLElement): Promise<string[] | null> {
  if (!framed) {
    say("height", "plain", "Nobody to ask outside a frame.");
    return null;
  }
  const all: [number, number] = [1, Infinity];
  const askings: Asking[] = [
    { name: "lti.frameResize", bounds: all, post: (height) => tell({ subject: "lti.frameResize", height }) },
    { name: "drainlab:height", bounds: all, post: (height) => tell({ type: "drainlab:height", height }) },
    {
      name: "H5P",
      bounds: all,
      post(height) {
        tell({ context: "h5p", action: "hello" });
        tell({ context: "h5p", action: "prepareResize", scrollHeight: height, clientHeight: innerHeight });
        tell({ context: "h5p", action: "resize", scrollHeight: height, clientHeight: innerHeight });
      },
    },
  ];
  // WordPress names its frame by a secret in the fragment: #?secret=…
  const secret = new URLSearchParams(location.hash.replace(/^#\??/, "")).get("secret");
  if (secret !== null) {
    askings.push({ name: "WordPress", bounds: [200, 1000], post: (value) => tell({ message: "height", value, secret }) });
  }

  let replied = false;
  addEventListener("message", (e) => {
    if (e.source === host && isReply(e.data)) replied = true;
  });
  const answered: Asking[] = [];
  say("height", "plain", "Asking…");
  for (const asking of askings) {
    await settled();
    const before = innerHeight;
    const within = (height: number): number => Math.min(Math.max(height, asking.bounds[0]), asking.bounds[1]);
    // Another height than now, or an answer could not be seen.
    let height = within(contentHeight(root));
    if (Math.abs(height - before) < 20) height = within(height + 40);
    if (Math.abs(height - before) < 20) height = within(height - 80);
    replied = false;
    asking.post(height);
    for (let waited = 0; waited < answerWithin && !replied && Math.abs(innerHeight - before) < 3; waited += 30) {
      await new Promise((done) => setTimeout(done, 30));
    }
    if (replied || Math.abs(innerHeight - before) >= 3) answered.push(asking);
  }
  const names = answered.map((a) => a.name);
  if (answered.length === 0) {
    say("height", "plain", "No answer: the frame keeps the height that the host gives it.");
    return names;
  }
  say("height", "good", `Answered (${names.join(", ")}): the host makes the frame as high as the lesson.`);
  let told = 0;
  new ResizeObserver(() => {
    const now = contentHeight(root);
    if (now === told) return;
    told = now;
    for (const asking of answered) asking.post(Math.min(Math.max(now, asking.bounds[0]), asking.bounds[1]));
  }).observe(root);
  return names;
}

/** Waits until the frame's height rests: a host may be late with the one it starts with, or with its answer to what was asked before. */
async function settled(): Promise<void> {
  let height = innerHeight;
  for (let rested = 0, waited = 0; rested < restsFor && waited < 3000; rested += 50, waited += 50) {
    await new Promise((done) => setTimeout(done, 50));
    if (innerHeight !== height) rested = 0;
    height = innerHeight;
  }
}

/** Whether a message of the host answers a height message; many hosts send others too. */
function isReply(data: unknown): boolean {
  if (typeof data === "string") {
    try {
      data = JSON.parse(data);
    } catch {
      return false;
    }
  }
  if (typeof data !== "object" || data === null) return false;
  const { context, subject } = data as { context?: unknown; subject?: unknown };
  return context === "h5p" || subject === "lti.frameResize.response";
}

/** How high the page is, whatever the height of its frame. */
function contentHeight(root: HTMLElement): number {
  return Math.ceil(root.getBoundingClientRect().bottom + scrollY);
}

function conclude(plays: boolean, answered: string[] | null): void {
  let head: string;
  let text: string;
  if (answered === null) {
    head = "This page is not in a frame.";
    text = plays ? "Lessons work in this browser. Paste the doctor's snippet into your host and open it there." : "And lessons do not play here: see the lines below.";
  } else if (!plays) {
    head = "A lesson would not play here.";
    text = "Use the link, or the Markdown card that leads to the lesson.";
  } else if (answered.length > 0) {
    head = "This host sizes the frame: use the plain snippet.";
    text = "The height in it is only where the frame starts.";
  } else {
    head = "This host does not size the frame: use the snippet with a height.";
    text = `Choose the height on the page for instructors: height="${innerHeight}" is this frame's. What does not fit scrolls in the frame.`;
  }
  const verdict = document.getElementById("doctor-verdict");
  if (!verdict) return;
  const strong = document.createElement("b");
  strong.textContent = `${!plays ? "✕" : answered === null ? "•" : "✓"} ${head}`;
  const [first, second] = [document.createElement("p"), document.createElement("p")];
  first.append(strong);
  second.textContent = text;
  verdict.replaceChildren(first, second);
}
