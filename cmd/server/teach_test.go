package main

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestAnInstructorBuildsALinkByKeyboardAndTakesItAlong(t *testing.T) {
	server := startServer(t)
	b := lesson{newTab(t)}
	b.open(server.url + "/teach")
	b.wait(`document.querySelector("#teach-link").value.endsWith("/lessons/drain?model=1")`)
	steps := eval[int](b.tab, "history.length")

	// To lesson 3 and back: the form changes under the focus, which stays.
	b.keys("#teach-lesson-drain", kb.ArrowRight+kb.ArrowRight)
	b.wait(`document.querySelector(".teach-of").dataset.of === "clocks" && !document.querySelector("#teach-predict")`)
	b.keys("#teach-start", "Kub")
	b.wait(`document.querySelector("#teach-link").value.includes("/lessons/clocks?model=1&platform=kubernetes") && location.search.includes("start=kubernetes")`)
	// A run that ends sooner is opened no later than at its end.
	b.choose("#teach-start", "hook")
	b.wait(`document.querySelector("#teach-t").value === document.querySelector("#teach-t").max && document.querySelector("#teach-t").max < 10 && document.querySelector("#teach-problem").innerText === ""`)
	b.keys("#teach-lesson-clocks", kb.ArrowLeft+kb.ArrowLeft)
	b.wait(`document.querySelector("#teach-predict") && document.activeElement.id === "teach-lesson-drain"`)

	b.keys("#teach-start", kb.ArrowDown+kb.ArrowDown)
	b.replace("#teach-t", "45")
	b.keys("#teach-hide-results", " ")
	b.keys("#teach-locks summary", kb.Enter)
	b.keys("#teach-lock-grace", " ")
	b.keys("#teach-height", "640")
	b.wait(`document.querySelector("#teach-snippet").value.includes('height="640"')`)
	link := eval[string](b.tab, `document.querySelector("#teach-link").value`)
	for _, part := range []string{server.url + "/lessons/drain?model=1&grace=20&", "t=45&", "hide=results", "lock=grace"} {
		if !strings.Contains(link, part) {
			t.Errorf("the link is %s, without %s", link, part)
		}
	}
	if got := eval[string](b.tab, "document.activeElement.id"); got != "teach-height" {
		t.Errorf("the focus went to %q", got)
	}
	if !eval[bool](b.tab, `document.querySelector("#teach-locks").open`) {
		t.Error("the list of locks was closed under the person's hands")
	}

	// The preview is that lesson, as a host has it.
	b.wait(`(() => {
		const frame = document.querySelector("iframe.teach-preview"), doc = frame.contentDocument;
		return frame.height === "640" && doc.querySelector("#now").innerText === "45.0" && doc.querySelector("#lesson").dataset.hide === "results"
			&& doc.querySelector("#handle-grace").getAttribute("aria-valuenow") === "20" && doc.querySelector("#handle-grace").getAttribute("aria-disabled") === "true";
	})()`)
	if frame := eval[string](b.tab, `document.querySelector("iframe.teach-preview").src`); frame != strings.Replace(link, "/lessons/", "/embed/lessons/", 1) {
		t.Errorf("the preview shows %s", frame)
	}
	if got := eval[int](b.tab, "history.length"); got != steps {
		t.Errorf("building made %d steps of history", got-steps)
	}

	// On a slow line nothing is taken back that was set meanwhile.
	eval[bool](b.tab, `(() => {
		const direct = window.fetch;
		window.fetch = async (...args) => { await new Promise(done => setTimeout(done, 250)); return direct(...args); };
		return true;
	})()`)
	b.replace("#teach-t", "44")
	b.keys("#teach-hide-trace", " ")
	b.wait(`document.querySelector("#teach-link").value.includes("&t=44&")`)
	b.keys("#teach-lock-handler", " ")
	b.replace("#teach-t", "45")
	b.wait(`["t=45&", "hide=trace,results", "lock=grace,handler"].every(part => document.querySelector("#teach-link").value.includes(part))`)
	b.keys("#teach-lock-handler", " ")
	b.keys("#teach-hide-trace", " ")
	b.wait(fmt.Sprintf(`document.querySelector("#teach-link").value === %q && !document.querySelector("#teach-lock-handler").checked`, link))

	// A number that is not allowed is told, and the results stay.
	b.replace("#teach-height", "64")
	b.wait(`document.querySelector("#teach-problem").innerText.startsWith("Height of the frame: ")`)
	b.replace("#teach-height", "640")
	b.wait(`document.querySelector("#teach-problem").innerText === ""`)

	// Copying: by the clipboard, and where that fails by selected text.
	eval[bool](b.tab, `Object.defineProperty(navigator, "clipboard", {configurable: true, value: {writeText: async (text) => { window.copied = text; }}}), true`)
	b.press("Copy for reveal.js: Code of a slide")
	b.wait(`document.querySelector("#copy-note").innerText === "Copied." && window.copied === document.querySelector("#snippet-reveal").value`)
	eval[bool](b.tab, `navigator.clipboard.writeText = async () => { throw new DOMException("no", "NotAllowedError"); }, true`)
	b.keys(b.named("button", "Copy the link"), kb.Enter)
	b.wait(`document.activeElement.id === "teach-link" && document.querySelector("#copy-note").innerText.includes("selected")`)
	if got := eval[string](b.tab, `(() => { const f = document.activeElement; return f.value.slice(f.selectionStart, f.selectionEnd); })()`); got != link {
		t.Errorf("selected is %q", got)
	}

	// The address bar has the form: a reload shows the same.
	b.run(chromedp.Reload())
	b.wait(fmt.Sprintf(`document.querySelector("#teach-link").value === %q && document.querySelector("#teach-hide-results").checked && document.querySelector("#teach-height").value === "640"`, link))
	// A required prediction opens at the beginning.
	b.keys("#teach-predict", " ")
	b.wait(`document.querySelector("#teach-link").value.includes("predict=required") && !document.querySelector("#teach-link").value.includes("&t=")`)
	link = eval[string](b.tab, `document.querySelector("#teach-link").value`)
	b.open(link)
	b.connected()
	b.wait(`document.querySelector("#predict") && document.querySelector("#play-button").disabled`)
}

func TestTheLinkBuilderWorksWithoutScript(t *testing.T) {
	server := startServer(t)
	b := lesson{newTab(t)}
	call(b.tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.open(server.url + "/teach")
	if eval[bool](b.tab, `[...document.querySelectorAll("[data-copy]")].some(el => el.checkVisibility())`) {
		t.Error("buttons that do nothing are shown")
	}
	b.choose("#teach-start", "replacement")
	b.keys("#teach-hide-text", " ")
	b.press("Build")
	b.wait(`location.search.includes("start=replacement") && document.querySelector("#teach-link").value.includes("replacement=1&") && document.querySelector("#teach-link").value.includes("hide=text") && document.querySelector("#teach-hide-text").checked`)
	b.keys("#teach-lesson-drain", kb.ArrowRight+kb.ArrowRight)
	b.press("Build")
	b.wait(`document.querySelector("#teach-start").value === "opening" && document.querySelector("#teach-start [value=hook]")`)
	b.choose("#teach-start", "hook")
	b.press("Build")
	b.wait(`location.search.includes("start=hook") && document.querySelector("#teach-link").value.includes("/lessons/clocks?model=1&")`)
	// Addresses of earlier versions build the same.
	link := eval[string](b.tab, `document.querySelector("#teach-link").value`)
	b.open(server.url + "/teach?lesson=3&from=case-2")
	b.wait(fmt.Sprintf(`document.querySelector("#teach-link").value === %q && document.querySelector("#teach-start").value === "hook"`, link))

	b.open(server.url + "/embed/doctor")
	b.wait(`document.body.innerText.includes("Scripts are off in this host.") && !document.body.innerText.includes("Looking")`)
}

// hostSite is a site that is not the course's: pages with one frame, which do
// with its messages what their path names.
func hostSite(t *testing.T) string {
	t.Helper()
	answers := map[string]string{
		"/none": ``,
		"/lti":  `if (d?.subject === "lti.frameResize") frame.height = d.height;`,
		"/wordpress": `if (d?.message === "height" && d.secret === "s3cret") frame.height = Math.min(Math.max(d.value, 200), 1000);
			if (d?.message === "height" && !(d.value >= 200 && d.value <= 1000)) throw new Error("out of WordPress's bounds: " + d.value);`,
		"/own": `if (d?.type === "drainlab:height") frame.height = d.height;`,
		"/h5p": `if (d?.context !== "h5p") return;
			if (d.action === "hello") e.source.postMessage({context: "h5p", action: "hello"}, "*");
			if (d.action === "resize") frame.height = d.scrollHeight;`,
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		sandbox := ""
		if q.Has("sandbox") {
			sandbox = fmt.Sprintf(` sandbox="%s"`, html.EscapeString(q.Get("sandbox")))
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!DOCTYPE html><html lang="en"><title>A host</title><link rel="icon" href="data:,"><h1>A host</h1>
			<iframe id="frame" title="Drainlab" src="%s" width="%s" height="300"%s></iframe>
			<script>addEventListener("message", (e) => { const d = e.data, frame = document.getElementById("frame"); %s });</script>`,
			html.EscapeString(q.Get("src")), html.EscapeString(q.Get("width")), sandbox, answers[r.URL.Path])
	}))
	t.Cleanup(site.Close)
	return strings.Replace(site.URL, "127.0.0.1", "localhost", 1) // which is another site, too
}

// frameOf attaches to the one frame of another site in the tab.
func frameOf(b *tab, address string) *tab {
	b.t.Helper()
	bare, _, _ := strings.Cut(address, "#")
	deadline := time.Now().Add(stepLimit)
	for {
		all, err := chromedp.Targets(b.ctx)
		if err != nil {
			b.t.Fatal(err)
		}
		for _, info := range all {
			if info.Type != "iframe" || !strings.HasPrefix(info.URL, bare) || info.BrowserContextID != chromedp.FromContext(b.ctx).BrowserContextID {
				continue
			}
			f := &tab{t: b.t, expected: b.expected}
			ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithTargetID(info.TargetID), chromedp.WithListener(b.listen), chromedp.WithDetachOnCancel())
			f.ctx = ctx
			b.t.Cleanup(cancel)
			// It lives as long as the context of its first action.
			if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("true")); err != nil {
				b.t.Fatal(err)
			}
			return f
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("there is no frame with %s", address)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestTheDoctorFindsOutWhatAHostDoes(t *testing.T) {
	server := startServer(t)
	site := hostSite(t)
	for _, host := range []struct {
		name, path, fragment string
		sandbox              *string
		verdict              string
		says                 map[string]string // how the checks' lines begin
	}{
		{name: "a sandbox that allows scripts", path: "/none", sandbox: new("allow-scripts"),
			verdict: "✓ This host does not size the frame: use the snippet with a height.",
			says: map[string]string{"frame": "This page is in a frame.", "origin": "Sandboxed", "storage": "Refused.", "stream": "Works: the first event came after ",
				"fetch": "The server answers", "height": "No answer", "fullscreen": "Not allowed", "clipboard": "The host does not allow it.", "size": "640 × 300 px."}},
		{name: "a host that does nothing", path: "/none",
			verdict: "✓ This host does not size the frame: use the snippet with a height.",
			says:    map[string]string{"frame": "This page is in a frame.", "origin": "Not sandboxed: the page keeps its origin, " + server.url, "stream": "Works", "height": "No answer"}},
		{name: "a host that answers lti.frameResize", path: "/lti",
			verdict: "✓ This host sizes the frame: use the plain snippet.",
			says:    map[string]string{"height": "Answered (lti.frameResize):", "stream": "Works"}},
		{name: "WordPress", path: "/wordpress", fragment: "#?secret=s3cret", sandbox: new("allow-scripts"),
			verdict: "✓ This host sizes the frame: use the plain snippet.",
			says:    map[string]string{"height": "Answered (WordPress):", "origin": "Sandboxed", "storage": "Refused.", "stream": "Works"}},
		{name: "a host that knows the course's own message", path: "/own", verdict: "✓ This host sizes the frame: use the plain snippet.",
			says: map[string]string{"height": "Answered (drainlab:height):"}},
		{name: "an H5P host", path: "/h5p", verdict: "✓ This host sizes the frame: use the plain snippet.",
			says: map[string]string{"height": "Answered (H5P):"}},
	} {
		t.Run(host.name, func(t *testing.T) {
			b := newTab(t)
			query := url.Values{"src": {server.url + "/embed/doctor" + host.fragment}, "width": {"640"}}
			if host.sandbox != nil {
				query.Set("sandbox", *host.sandbox)
			}
			b.open(site + host.path + "?" + query.Encode())
			f := lesson{frameOf(b, server.url+"/embed/doctor")}
			f.wait(`!document.querySelector("#doctor-verdict").innerText.includes("Looking")`)
			if got := f.text("#doctor-verdict b"); got != host.verdict {
				t.Errorf("it concludes %q", got)
			}
			for check, want := range host.says {
				if got := f.text("#check-" + check + " .check-says"); !strings.HasPrefix(got, want) {
					t.Errorf("%s: %q", check, got)
				}
			}
			if eval[bool](f.tab, `[...document.querySelectorAll(".doctor-list li")].some(li => li.dataset.state === "waiting" || li.querySelector(".check-mark").innerText === "…")`) {
				t.Error("a check has not ended")
			}
			if offered := eval[bool](f.tab, `document.querySelector("#try-fullscreen").checkVisibility()`); offered != eval[bool](f.tab, "document.fullscreenEnabled") {
				t.Errorf("fullscreen is offered: %v", offered)
			}
			// It took no focus from the host.
			if !eval[bool](b, `document.activeElement === document.body`) {
				t.Error("the focus went into the frame")
			}
			if strings.HasPrefix(host.says["height"], "Answered") {
				f.wait(`Math.abs(innerHeight - Math.ceil(document.querySelector("main").getBoundingClientRect().bottom + scrollY)) <= 1`)
				return
			}
			if bottom := eval[float64](f.tab, `document.querySelector("#doctor-verdict").getBoundingClientRect().bottom`); bottom > 300 {
				t.Errorf("the conclusion ends at %v px of 300", bottom)
			}
		})
	}

	// Where copying is refused, the text is there, selected.
	b := newTab(t, "Permissions policy violation", "clipboard")
	b.open(site + "/none?" + url.Values{"src": {server.url + "/embed/doctor"}, "width": {"320"}, "sandbox": {"allow-scripts"}}.Encode())
	f := lesson{frameOf(b, server.url+"/embed/doctor")}
	f.wait(`!document.querySelector("#doctor-verdict").innerText.includes("Looking")`)
	eval[bool](f.tab, `document.querySelector("#try-copy").click(), true`)
	f.wait(`document.querySelector("#tried").innerText.startsWith("Copying was refused.") && document.activeElement.id === "try-text" && document.activeElement.selectionEnd > 0`)
	if wide := eval[int](f.tab, "document.documentElement.scrollWidth"); wide > 320 {
		t.Errorf("in a frame of 320 px the doctor is %d px wide", wide)
	}
	if bottom := eval[float64](f.tab, `document.querySelector("#doctor-verdict").getBoundingClientRect().bottom + scrollY`); bottom > 300 {
		t.Errorf("in a frame of 320 px the conclusion ends at %v px of 300", bottom)
	}

	// Without scripts it says so.
	b = newTab(t, "Blocked script execution")
	b.open(site + "/none?" + url.Values{"src": {server.url + "/embed/doctor"}, "width": {"640"}, "sandbox": {""}}.Encode())
	f = lesson{frameOf(b, server.url+"/embed/doctor")}
	f.wait(`document.body.innerText.includes("Scripts are off in this host.") && !document.body.innerText.includes("Looking")`)
}
