package main

import (
	"context"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// host is a page of somebody else's that frames a lesson.
type host struct {
	name    string
	before  string // HTML before the frame
	after   string
	attrs   string // of the frame
	suffix  string // of the frame's address
	script  string // how the host answers the frame's messages
	height  int    // that the frame has at first
	sizes   bool   // the host makes the frame as high as its content
	limit   int    // that the host sets to it
	block   bool   // third-party cookies are blocked
	prepare func(b *tab)
}

// The host's own script: it notes every message and key, and its own input
// keeps the focus.
const hostScript = `
window.messages = [];
window.keys = [];
addEventListener("keydown", e => keys.push(e.key));
const frame = () => document.querySelector("iframe");
addEventListener("message", e => { if (e.source === frame().contentWindow) { messages.push(e.data); answer(e.data); } });
`

func (h host) page(src string) string {
	return fmt.Sprintf(`<!doctype html><html lang="en"><title>%s</title><body>
<p><label>The host's own <input id="own" autofocus></label></p>%s
<iframe src="%s" title="lesson" width="100%%" height="%d" %s></iframe>%s
<div id="below" style="height: 3000px">The host goes on.</div>
<script>%s
function answer(m) { %s }
</script></body></html>`, h.name, h.before, html.EscapeString(src+h.suffix), h.height, h.attrs, h.after, hostScript, h.script)
}

var hosts = []host{
	{name: "sandboxed to scripts alone", attrs: `sandbox="allow-scripts"`, height: 900,
		script: `if (m.type === "drainlab:height") frame().height = m.height;`, sizes: true},
	{name: "third-party cookies blocked", height: 900, block: true, script: `if (m.type === "drainlab:height") frame().height = m.height;`, sizes: true},
	{name: "in details that are opened later", before: "<details><summary id='open'>The lesson</summary>", after: "</details>", height: 900,
		script: `if (m.type === "drainlab:height") frame().height = m.height;`, sizes: true,
		prepare: func(b *tab) { b.run(chromedp.Click(chromedp.CSS("#open"))) }},
	{name: "a frame 300 px high", attrs: `sandbox="allow-scripts"`, height: 300, script: ""},
	{name: "a host that answers nothing", height: 900, script: ""},
	{name: "WordPress", attrs: `sandbox="allow-scripts" security="restricted"`, suffix: "#?secret=s3cret", height: 400, sizes: true, limit: 1000,
		script: `if (m.message === "height" && m.secret === "s3cret") frame().height = Math.min(1000, Math.max(200, m.value));`},
	{name: "H5P", height: 400, sizes: true, script: `if (m.context !== "h5p") return;
		const say = d => frame().contentWindow.postMessage({context: "h5p", ...d}, "*");
		if (m.action === "hello") { if (!window.greeted) { window.greeted = true; say({action: "hello"}); } }
		else if (m.action === "prepareResize") { frame().style.height = m.clientHeight + "px"; say({action: "resizePrepared"}); }
		else if (m.action === "resize") frame().style.height = m.scrollHeight + "px";`,
		prepare: func(b *tab) {
			eval[bool](b, `(frame().contentWindow.postMessage({context: "h5p", action: "ready"}, "*"), true)`)
		}},
	{name: "a learning platform", height: 400, sizes: true, script: `if (m.subject === "lti.frameResize") frame().style.height = m.height + "px";`},
}

// inFrame waits for the tab's frame of another site and returns it as a tab.
func inFrame(b *tab, address string) lesson {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, stepLimit)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		infos, err := chromedp.Targets(ctx)
		if err != nil {
			b.t.Fatal(err)
		}
		for _, info := range infos {
			if info.Type != "iframe" || !strings.HasPrefix(info.URL, address) {
				continue
			}
			f := &tab{t: b.t}
			var end func()
			f.ctx, end = chromedp.NewContext(b.ctx, chromedp.WithTargetID(target.ID(info.TargetID)))
			b.t.Cleanup(end)
			if _, err := chromedp.Run(f.ctx, chromedp.Evaluate[bool]("true")); err != nil {
				b.t.Fatal(err)
			}
			return lesson{f}
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			b.t.Fatalf("no frame of %s among %d targets", address, len(infos))
		}
	}
}

// Each host is of another site than the lesson, which streams, posts, sizes
// itself and leaves the host its focus, its place and its keys.
func TestTheLessonLivesInOtherPeoplesPages(t *testing.T) {
	server := startServer(t)
	var serving host
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, serving.page(server.url+"/embed/lessons/drain?panel=settings&hide=text,inspector"))
	}))
	defer site.Close()
	_, port, err := net.SplitHostPort(site.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hosts {
		t.Run(h.name, func(t *testing.T) {
			serving = h
			b := newTab(t, "sandbox", "favicon")
			if h.block {
				call(b, network.SetCookieControls, network.SetCookieControlsParams{EnableThirdPartyCookieRestriction: true})
			}
			b.open("http://localhost:" + port + "/")
			focusOwn := func() {
				eval[bool](b, `(document.querySelector("#own").focus({preventScroll: true}), true)`)
			}
			focusOwn()
			if h.prepare != nil && strings.Contains(h.before, "details") {
				b.wait(`document.readyState === "complete"`)
				h.prepare(b)
				focusOwn()
			}
			f := drainPage{inFrame(b, server.url+"/embed/lessons/drain")}
			f.connected()
			if h.prepare != nil && h.before == "" {
				h.prepare(b)
			}
			if got := eval[string](b, `document.activeElement.id + " " + scrollY`); got != "own 0" {
				t.Errorf("after loading, focus and place of the host: %s", got)
			}
			if h.sizes { // complete, and no higher
				b.wait(`Math.abs(frame().clientHeight - 440) <= 2`)
				f.wait(`document.documentElement.scrollHeight <= innerHeight`)
			}
			// It keeps nothing, and needs nothing kept.
			if got := eval[string](f.tab, `(() => { try { return document.cookie + localStorage.length; } catch { return "refused"; } })()`); got != "0" && got != "refused" {
				t.Errorf("it has stored %q", got)
			}
			// It plays, by its own button.
			eval[bool](f.tab, `(document.querySelector("#play-button").scrollIntoView({block: "nearest", behavior: "instant"}), true)`)
			place := eval[float64](b, "scrollY")
			f.choose("#speed", "8")
			f.click("#play-button")
			f.wait(`parseFloat(document.querySelector("#now").innerText) >= 6`)
			f.keys("#time", kb.End)
			f.at("60.0")
			f.expect("20/7/3/4/0/13")
			// Its controls post, and what follows is streamed.
			f.replace("#n-grace", "20"+kb.Tab)
			f.expect("20/7/7/0/0/13")
			if got := eval[float64](b, "scrollY"); got != place {
				t.Errorf("the host's page was scrolled from %v to %v", place, got)
			}
			// Keys that the lesson has no use for are the host's.
			f.run(chromedp.Focus(chromedp.CSS("#back")))
			if got := eval[string](f.tab, `["j", "Escape", "PageDown", "ArrowDown"].map(key => { const e = new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}); document.activeElement.dispatchEvent(e); return e.defaultPrevented; }).join()`); got != "false,false,false,false" {
				t.Errorf("keys kept from the host: %s", got)
			}
			if strings.Contains(h.name, "WordPress") {
				if got := eval[string](b, `JSON.stringify(messages.filter(m => m.message === "height").map(m => [m.secret, m.value >= 200 && m.value <= 1000]).pop())`); got != `["s3cret",true]` {
					t.Errorf("WordPress was told %s", got)
				}
			}
			// Out of sight it rests; in sight again it goes on.
			f.click("#restart")
			f.at("0.0")
			f.click("#play-button")
			f.wait(`document.querySelector("#play-button").innerText.includes("Pause")`)
			eval[bool](b, `(document.querySelector("#below").scrollIntoView({block: "end", behavior: "instant"}), true)`)
			f.wait(`document.querySelector("#lesson").dataset.away === "true"`)
			eval[bool](b, `(scrollTo({top: 0, behavior: "instant"}), true)`)
			f.wait(`document.querySelector("#lesson").dataset.away !== "true" && document.querySelector("#play-button").innerText.includes("Play")`)
			if got := eval[bool](f.tab, `parseFloat(document.querySelector("#now").innerText) < 60`); !got {
				t.Error("it went on to the end unseen")
			}
		})
	}
}

// A host goes on by keys, as slides do: it has them while none of the lesson's
// controls has the focus, and after Escape.
func TestAFrameLeavesItsHostTheKeys(t *testing.T) {
	server := startServer(t)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, host{name: "slides", attrs: `sandbox="allow-scripts"`, height: 440}.page(server.url+"/embed/lessons/drain?t=60"))
	}))
	defer site.Close()
	_, port, err := net.SplitHostPort(site.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b := newTab(t, "sandbox", "favicon")
	b.open("http://localhost:" + port + "/")
	f := drainPage{inFrame(b, server.url+"/embed/lessons/drain")}
	f.connected()
	click := func(selector string) {
		t.Helper()
		at := eval[[]float64](f.tab, fmt.Sprintf(`(() => { const r = document.querySelector(%q).getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; })()`, selector))
		in := eval[[]float64](b, `(() => { const r = frame().getBoundingClientRect(); return [r.left, r.top]; })()`)
		b.run(chromedp.MouseClickXY(in[0]+at[0], in[1]+at[1]))
	}
	// A control that was pressed has the keys.
	click("#step")
	f.wait(`document.activeElement.id === "step"`)
	if got := eval[string](b, "document.activeElement.tagName"); got != "IFRAME" {
		t.Errorf("with a control pressed the host's focus is on %s", got)
	}
	// What was pressed beside them has not.
	click(".embed-foot .quiet")
	b.wait(`document.activeElement.tagName !== "IFRAME" && document.hasFocus()`)
	b.run(chromedp.KeyEvent("j"), chromedp.KeyEvent(kb.Escape))
	b.wait(`keys.join() === "j,Escape"`)
	// Escape leaves the frame.
	click("#step")
	f.wait(`document.activeElement.id === "step" && document.hasFocus()`)
	f.run(chromedp.KeyEvent(kb.Escape))
	b.wait(`document.activeElement.tagName !== "IFRAME" && document.hasFocus()`)
	b.run(chromedp.KeyEvent("k"))
	b.wait(`keys.at(-1) === "k"`)
}

func TestOnlyFramesMayBeFramed(t *testing.T) {
	server := startServer(t)
	for path, want := range map[string]string{"/embed/lessons/drain": "frame-ancestors *", "/embed/lessons/clocks": "frame-ancestors *", "/embed/lessons/ledgers": "frame-ancestors *",
		"/lessons/drain": "frame-ancestors 'none'", "/": "frame-ancestors 'none'", "/teach": "frame-ancestors 'none'"} {
		_, header := get(t, server.url+path)
		if got := header.Get("Content-Security-Policy"); !strings.Contains(got+";", want+";") {
			t.Errorf("%s: %s", path, got)
		}
		if header.Get("X-Frame-Options") != "" || header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %v", path, header)
		}
	}
	other := startServer(t, "-frame-ancestors", "https://lms.example https://*.school.example")
	_, header := get(t, other.url+"/embed/lessons/drain")
	if got := header.Get("Content-Security-Policy"); !strings.HasSuffix(got, "frame-ancestors https://lms.example https://*.school.example") {
		t.Errorf("with hosts named: %s", got)
	}
}

// Whatever leads out of a frame opens beside it: without script too, for what is
// no frame may not be framed. What is downloaded leads nowhere.
func TestLinksOutOfAFrameOpenBesideIt(t *testing.T) {
	server := startServer(t)
	b := newTab(t, "400 (Bad Request)")
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	for path, panels := range map[string][]string{
		"/embed/lessons/drain?grace=10&replacement=1&t=60": {"guide", "settings", "inspect", "sums", "trace", "why", "compare", "sweep"},
		"/embed/lessons/ledgers?":                          {"guide", "settings", "evidence", "record"},
		"/embed/lessons/clocks?platform=docker&grace=12":   {"guide", "clocks", "budget", "trace", "owners", "map"},
		"/embed/lessons/drain?grace=99":                    {""},
		"/embed/doctor?":                                   {""},
	} {
		for _, panel := range panels {
			if panel != "" {
				panel = "&panel=" + panel
			}
			b.open(server.url + path + panel)
			b.wrong(`[...document.querySelectorAll("a[href]")].filter(a => !a.hasAttribute("download") && !a.getAttribute("href").startsWith("#")
				&& (a.origin !== location.origin || !a.pathname.startsWith("/embed/")) && a.target !== "_blank").map(a => a.outerHTML.slice(0, 120))`, "%s%s", path, panel)
			if panel != "" && !strings.HasPrefix(b.text(".embed-foot a"), "Open the lesson") {
				t.Errorf("%s%s has no way to the lesson", path, panel)
			}
		}
	}
}

// Lesson 3 computes, and lesson 2 shows its recorded run, in a sandbox too.
func TestTheOtherLessonsLiveInFramesToo(t *testing.T) {
	server := startServer(t)
	src := ""
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		h := host{name: "sandbox", attrs: `sandbox="allow-scripts"`, height: 700, script: `if (m.type === "drainlab:height") frame().height = m.height;`}
		fmt.Fprint(w, h.page(src))
	}))
	defer site.Close()
	_, port, err := net.SplitHostPort(site.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b := newTab(t, "sandbox", "favicon")
	src = server.url + "/embed/lessons/clocks?panel=clocks&hide=text,inspector&lock=cleanup"
	b.open("http://localhost:" + port + "/")
	f := inFrame(b, server.url+"/embed/lessons/clocks")
	f.connected()
	f.wait(`document.querySelector("#strip").innerText.includes("PASS") && document.querySelector("#n-cleanup").disabled && !document.querySelector("#tab-link-guide") && !document.querySelector("#tab-link-owners")`)
	f.replace("#n-grace", "15"+kb.Tab)
	f.wait(`document.querySelector("#strip").innerText.includes("FAIL")`)
	b.wait(`Math.abs(frame().clientHeight - 440) <= 2`)
	f.tabOpen("budget")
	f.run(chromedp.Click(chromedp.CSS("#tab-budget a[data-set]"), chromedp.NodeVisible))
	f.wait(`document.querySelector("#strip").innerText.includes("PASS")`)
	if got := eval[string](f.tab, "location.search"); got != "?panel=clocks&hide=text,inspector&lock=cleanup" {
		t.Errorf("a frame has written its address: %s", got)
	}
	src = server.url + "/embed/lessons/ledgers"
	b.open("http://localhost:" + port + "/")
	l := inFrame(b, server.url+"/embed/lessons/ledgers")
	l.connected()
	l.wait(`document.querySelector("#strip").innerText.includes("completed") && document.querySelector("#run-note").innerText.includes("recorded run") && ![...document.querySelectorAll("[data-start]")].some(el => el.checkVisibility())`)
	b.wait(`Math.abs(frame().clientHeight - 440) <= 2`)
}
