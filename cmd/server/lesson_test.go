package main

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// lesson is a tab with lesson 1 in it.
type lesson struct{ *tab }

func openLesson(t *testing.T, url string, expected ...string) lesson {
	t.Helper()
	b := lesson{newTab(t, expected...)}
	b.open(url)
	b.connected()
	return b
}

// connected waits until the stream has brought a frame.
func (b lesson) connected() {
	b.t.Helper()
	b.wait(`document.querySelector("#lesson.started") && document.querySelector("#connection").textContent === "" && document.querySelector(".past").style.getPropertyValue("--t") !== ""`)
}

// counts are the account's figures as a person reads them.
func (b lesson) counts() string {
	b.t.Helper()
	return eval[string](b.tab, countsScript)
}

const countsScript = `["arrivals","admitted","completed","killed","running","rejected"].map(n => document.querySelector("#count-"+n).innerText).join("/")`

// expect waits until the account reads so: arrivals/admitted/completed/killed/running/rejected.
func (b lesson) expect(counts string) {
	b.t.Helper()
	b.wait(fmt.Sprintf("%s === %q", countsScript, counts))
}

// at waits until the player stands at t, in all panes alike.
func (b lesson) at(t string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`document.querySelector("#now").innerText === %q && document.querySelector("#lanes-summary").textContent.startsWith("At %s s")`, t, t))
}

// named is the element with this role and accessible name; there must be one.
func (b lesson) named(role, name string) string {
	b.t.Helper()
	script := fmt.Sprintf(`(() => {
		const roles = {button: "button", slider: "input[type=range]", spinbutton: "input[type=number]", switch: "[role=switch]", radio: "input[type=radio]"};
		const all = [...document.querySelectorAll(roles[%q])].filter(el => {
			if (el.checkVisibility && !el.checkVisibility() && el.type !== "radio") return false;
			const label = el.getAttribute("aria-label") ?? (el.labels?.length ? el.labels[0].innerText : [...el.childNodes].filter(n => n.nodeType === 3 || n.getAttribute("aria-hidden") !== "true").map(n => n.textContent).join(""));
			return label.trim() === %q;
		});
		if (all.length !== 1) throw new Error(all.length + " elements");
		return "#" + CSS.escape(all[0].id);
	})()`, role, name)
	return eval[string](b.tab, script)
}

func (b lesson) press(name string) {
	b.t.Helper()
	b.run(chromedp.Click(chromedp.CSS(b.named("button", name)), chromedp.NodeVisible))
}

// keys sends keys to the element, which gets the focus.
func (b lesson) keys(selector, keys string) {
	b.t.Helper()
	b.run(chromedp.Focus(chromedp.CSS(selector)), chromedp.KeyEvent(keys))
}

// middle is the place of a slider's thumb at a value, in the viewport.
func (b lesson) place(selector, value string) (x, y float64) {
	b.t.Helper()
	at := eval[[]float64](b.tab, fmt.Sprintf(`(() => {
		const el = document.querySelector(%q);
		el.scrollIntoView({block: "center", behavior: "instant"});
		const r = el.getBoundingClientRect(), thumb = 16;
		const share = (%s - el.min) / (el.max - el.min);
		return [r.left + thumb/2 + share * (r.width - thumb), r.top + r.height/2];
	})()`, selector, value))
	return at[0], at[1]
}

// query is the address bar's query.
func (b lesson) query() url.Values {
	b.t.Helper()
	q, err := url.ParseQuery(strings.TrimPrefix(eval[string](b.tab, "location.search"), "?"))
	if err != nil {
		b.t.Fatal(err)
	}
	return q
}

// The worked cases of docs/model.md, reached by the guided steps.
var workedCases = []struct{ step, counts, verdict, trace string }{
	{"The opening run", "20/7/3/4/0/13", "FAIL", "Worker 1 killed by the forced stop"},
	{"Grace 10 s", "20/7/4/3/0/13", "FAIL", "Request 6 committed 6 + 1 + 2 = 9"},
	{"Grace 20 s", "20/7/7/0/0/13", "FAIL", "Worker 1 exited: it owned nothing any more"},
	{"Grace 20 s, handler off", "20/8/7/1/0/12", "FAIL", "Request 16 killed in its tool stage; it commits nothing"},
	{"Handler on, one replacement", "20/10/10/0/0/10", "FAIL", "Request 20 admitted by worker 2, slot 3"},
	{"Reach the gate", "20/16/16/0/0/4", "PASS", "Worker 2 ready: it takes requests"},
}

func TestALearnerPlaysTheOpeningRunAndReachesTheGateByTheGuidedSteps(t *testing.T) {
	server := startServer(t)
	b := openLesson(t, server.url+"/lessons/drain")

	// It opens at 0, paused; the address bar holds settings, time and speed.
	b.at("0.0")
	b.expect("0/0/0/0/0/0")
	b.wait(`location.search.includes("grace=0")`)
	if q := b.query(); q.Get("t") != "0" || q.Get("speed") != "1" || q.Get("workers") != "1" {
		t.Errorf("the address bar holds %v", q)
	}
	// Space plays while the player has the focus.
	b.press("8×")
	b.wait(`document.querySelector("#speed-8").getAttribute("aria-pressed") === "true"`)
	b.keys(".lanes-scroll", " ")
	b.wait(`document.querySelector("#play").innerText.includes("Pause")`)
	// Panes agree on the time while it plays, and the playhead moves between frames.
	b.wait(`parseFloat(document.querySelector(".past").style.getPropertyValue("--t")) > 12`)
	if !eval[bool](b.tab, `(() => {
		const now = document.querySelector("#now").innerText;
		return document.querySelector("#lanes-summary").textContent.startsWith("At " + now + " s") && document.querySelector(".reasons").innerText.includes("At " + now + " s");
	})()`) {
		t.Error("the panes show different times")
	}
	b.at("60.0")
	b.expect("20/7/3/4/0/13")
	b.wait(`document.querySelector("#play").innerText.includes("Play")`)
	if got := b.text("#gate"); !strings.Contains(got, "FAIL") || !strings.Contains(got, "killed 4 > 0") || !strings.Contains(got, "rejected 65 % > 20 %") {
		t.Errorf("the gate says %q", got)
	}
	if got := b.text("#account .share"); got != "Rejected 65 % of 20 arrivals." {
		t.Errorf("the share reads %q", got)
	}
	// The sums outlive the worker; what was killed has none.
	if got := eval[string](b.tab, `[...document.querySelectorAll("#results tbody tr")].map(r => r.innerText.replace(/\s+/g, " ")).join("; ")`); got !=
		"5 5 + 1 + 2 8 29.0 s 1 (killed); 4 4 + 1 + 2 7 27.0 s 1 (killed); 3 3 + 1 + 2 6 25.0 s 1 (killed)" {
		t.Errorf("the results read %q", got)
	}
	if got := eval[string](b.tab, `[...document.querySelectorAll("#trace li[data-kind=invocation_killed]")].map(li => li.innerText.match(/Request (\d+)/)[1]).sort((a,b) => a-b).join(" ")`); got != "6 13 14 15" {
		t.Errorf("killed according to the trace: %q", got)
	}
	if got := eval[int](b.tab, `document.querySelectorAll("#trace li").length`); got != 40 {
		t.Errorf("the whole trace has 40 events, the page %d", got)
	}

	for i, c := range workedCases {
		// A step goes to 0, so that one can say what to expect; here to its end.
		b.press("Apply: " + c.step)
		b.at("0.0")
		b.keys("#time", kb.End)
		b.at("60.0")
		b.expect(c.counts)
		b.wait(fmt.Sprintf(`document.querySelector("#gate .pill").innerText.includes(%q)`, c.verdict))
		b.wait(fmt.Sprintf(`[...document.querySelectorAll("#trace li")].some(li => li.innerText.replace(/\s+/g, " ").includes(%q))`, c.trace))
		b.wait(fmt.Sprintf(`document.querySelectorAll(".step-shown").length === %d`, i+1))
	}
	if got := b.text("#gate-live"); got != "Fixture gate: PASS" {
		t.Errorf("a screen reader hears %q", got)
	}
	if got := b.text("#experiments-done"); got != "6 of 6 shown by your own runs." {
		t.Errorf("the steps say %q", got)
	}
}

func TestEveryControlWorksByMouseAndByKeyboard(t *testing.T) {
	server := startServer(t)
	b := openLesson(t, server.url+"/lessons/drain?t=60")
	b.expect("20/7/3/4/0/13")

	// Dragging the grace at 60 s turns killed into completed as one drags, and
	// the stream leaves the slider alone meanwhile.
	grace := b.named("slider", "Grace period")
	x0, y := b.place(grace, "0")
	x10, _ := b.place(grace, "10")
	x20, _ := b.place(grace, "20")
	b.run(chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, x0, y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	b.run(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x10, y, chromedp.ButtonLeft))
	b.expect("20/7/4/3/0/13")
	b.run(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x20, y, chromedp.ButtonLeft))
	b.expect("20/7/7/0/0/13")
	if got := eval[string](b.tab, fmt.Sprintf("document.querySelector(%q).value", grace)); got != "20" {
		t.Errorf("while dragged the slider stands at %s", got)
	}
	b.run(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, x20, y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	b.at("60.0")
	b.wait(`location.search.includes("grace=20&") && location.search.includes("t=60")`)

	// From the keyboard to 10, and the number field follows.
	b.keys(grace, strings.Repeat(kb.ArrowLeft, 20))
	b.expect("20/7/4/3/0/13")
	b.wait(`document.querySelector("#n-grace").value === "10"`)
	if got := eval[string](b.tab, fmt.Sprintf("document.querySelector(%q).getAttribute('aria-valuetext')", grace)); got != "10 seconds" {
		t.Errorf("the slider's value reads %q", got)
	}

	// A number typed, to the tenth; then one that is not allowed.
	field := b.named("spinbutton", "Grace period, exact value in seconds")
	b.type_(field, "0.9")
	b.expect("20/7/3/4/0/13")
	b.type_(field, "1")
	b.expect("20/7/4/3/0/13")
	b.wait(`location.search.includes("grace=1&")`)
	b.type_(field, "31")
	b.run(chromedp.KeyEvent(kb.Tab))
	b.wait(`document.querySelector("#note-grace").innerText === "Grace period: got 31; allowed: a plain decimal number from 0 to 30 s in steps of 0.1 s. The run keeps 1."`)
	b.wait(`document.querySelector("#n-grace").getAttribute("aria-invalid") === "true" && location.search.includes("grace=1&")`)
	b.type_(field, "2")
	b.wait(`document.querySelector("#note-grace").innerText === "" && document.querySelector("#n-grace").getAttribute("aria-invalid") === null`)
	b.wait(`location.search.includes("grace=2&")`)

	// Each toggle.
	b.press("Common baseline settings")
	b.expect("20/7/3/4/0/13")
	for _, c := range []struct{ toggle, setting, counts string }{
		{"Handle SIGTERM and stop admission", "handler=0", "20/7/3/4/0/13"},
		{"Boot one replacement at signal time", "replacement=1", "20/10/6/4/0/10"},
		{"Route only to ready workers", "ready_only=0", ""},
		{"Fail initialization of worker 1", "fail_init=1", ""},
	} {
		b.run(chromedp.Click(chromedp.CSS(b.named("switch", c.toggle)), chromedp.NodeVisible))
		b.wait(fmt.Sprintf(`location.search.includes(%q)`, c.setting))
		if c.counts != "" {
			b.expect(c.counts)
		}
	}
	b.wait(`document.querySelector("#lanes-summary").textContent.includes("worker 1 failed")`)
	b.press("Common baseline settings")
	b.expect("20/7/3/4/0/13")

	// Every slider of the contract, by keyboard to both of its ends.
	for _, s := range []struct{ label, name, low, high string }{
		{"Initial workers", "workers", "1", "4"}, {"Invocation slots per worker", "slots", "1", "8"}, {"Startup duration", "startup", "0", "20"},
		{"Request interval", "interval", "0.5", "10"}, {"Invocation duration", "duration", "1", "40"}, {"Signal worker 1 at", "signal", "0", "60"},
		{"Grace period", "grace", "0", "30"}, {"Fixture rejection allowance", "allowance", "0", "100"},
	} {
		b.keys(b.named("slider", s.label), kb.Home)
		b.wait(fmt.Sprintf(`new URLSearchParams(location.search).get(%q) === %q`, s.name, s.low))
		b.keys(b.named("slider", s.label), kb.End)
		b.wait(fmt.Sprintf(`new URLSearchParams(location.search).get(%q) === %q`, s.name, s.high))
	}
	b.press("Common baseline settings")
	b.expect("20/7/3/4/0/13")

	// The player: seek by keyboard, steps of a second at any speed, restart.
	slider := b.named("slider", "Simulation time")
	b.keys(slider, kb.Home)
	b.at("0.0")
	b.keys(slider, strings.Repeat(kb.ArrowRight, 3))
	b.at("0.3")
	b.press("4×")
	b.press("Step 1 second")
	b.at("1.3")
	b.press("Step 1 second")
	b.press("Step 1 second")
	b.at("3.3")
	b.press("Step back 1 second")
	b.at("2.3")
	b.keys(slider, kb.End)
	b.at("60.0")
	if got := eval[string](b.tab, `document.querySelector("#time").getAttribute("aria-valuetext")`); got != "60 seconds" {
		t.Errorf("the time slider's value reads %q", got)
	}
	b.press("Restart")
	b.at("0.0")
	b.expect("0/0/0/0/0/0")

	// Arrivals are one tab stop; arrows move along them and show the reason.
	b.keys(slider, kb.End)
	b.at("60.0")
	b.keys(".arrival", kb.ArrowRight+kb.ArrowRight+kb.ArrowRight+kb.ArrowRight+kb.ArrowRight+kb.ArrowRight)
	b.wait(`getComputedStyle(document.activeElement.querySelector(".tip")).visibility === "visible"`)
	if got := eval[string](b.tab, `document.activeElement.querySelector(".tip").textContent`); got != "Request 7 at 13.0 s: rejected, all slots of worker 1 are taken" {
		t.Errorf("the mark of request 7 says %q", got)
	}
	// The trace can be filtered by kind.
	b.run(chromedp.SetValue(chromedp.CSS("#kind"), "request_rejected"))
	if got := eval[int](b.tab, `[...document.querySelectorAll("#trace li")].filter(li => li.checkVisibility()).length`); got != 13 {
		t.Errorf("13 rejections, the filter shows %d", got)
	}

	// Back and Forward.
	b.press("Apply: Reach the gate")
	b.at("0.0")
	b.keys(slider, kb.End)
	b.expect("20/16/16/0/0/4")
	b.wait(`location.search.includes("duration=8&") && location.search.includes("t=60&")`)
	b.run(chromedp.Func(goBack))
	b.expect("20/7/3/4/0/13")
	b.wait(`location.search.includes("duration=20&") && document.querySelector("#n-duration").value === "20"`)
	b.run(chromedp.Func(goForward))
	b.expect("20/16/16/0/0/4")

	// A reload keeps the view, and so does the link in another browser.
	b.keys(slider, kb.Home+strings.Repeat(kb.PageUp, 2))
	b.wait(`document.querySelector("#now").innerText === "12.0" && location.search.includes("t=12&")`)
	before := b.text("#lanes-summary")
	b.run(chromedp.Reload())
	b.connected()
	if got := b.text("#lanes-summary"); got != before {
		t.Errorf("after the reload: %q, before: %q", got, before)
	}
	other := openLesson(t, eval[string](b.tab, "location.href"))
	if got := other.text("#lanes-summary"); got != before {
		t.Errorf("in another browser: %q, before: %q", got, before)
	}
	// The switch of colours.
	b.run(chromedp.Click(chromedp.CSS(".theme")), chromedp.Click(chromedp.CSS(".theme")))
	b.wait(`getComputedStyle(document.body).backgroundColor === "rgb(16, 19, 25)"`)
	b.run(chromedp.Reload())
	b.wait(`document.documentElement.dataset.theme === "dark" && document.querySelector(".theme").innerText.includes("Dark")`)
}

func TestTwoBrowsersSeeAndDriveOneSession(t *testing.T) {
	server := startServer(t)
	a := openLesson(t, server.url+"/lessons/drain?grace=10&t=35")
	a.press("Open together")
	a.wait(`location.pathname.startsWith("/sessions/")`)
	a.connected()
	a.at("35.0")

	// A late second viewer gets the whole picture at once.
	b := openLesson(t, eval[string](a.tab, "location.href"))
	b.at("35.0")
	if x, y := a.text("#lanes-summary"), b.text("#lanes-summary"); x != y {
		t.Errorf("one sees %q, the other %q", x, y)
	}
	// Each may choose a worker alone.
	b.run(chromedp.Click(chromedp.CSS(b.named("switch", "Boot one replacement at signal time")), chromedp.NodeVisible))
	a.wait(`document.querySelector("#c-replacement").checked && document.querySelector("#lanes-summary").textContent.includes("worker 2 ready")`)
	a.run(chromedp.Focus(chromedp.CSS("#w-1")), chromedp.KeyEvent(kb.ArrowRight))
	a.wait(`document.querySelector('.worker-panel[data-worker="2"]').checkVisibility() && !document.querySelector('.worker-panel[data-worker="1"]').checkVisibility()`)
	// Either drives; both see it, and the choice stays.
	b.keys(b.named("slider", "Simulation time"), kb.End)
	a.at("60.0")
	a.expect(b.counts())
	if !eval[bool](a.tab, `document.querySelector('.worker-panel[data-worker="2"]').checkVisibility()`) || eval[bool](b.tab, `document.querySelector('.worker-panel[data-worker="2"]').checkVisibility()`) {
		t.Error("a choice of worker did not stay with its viewer")
	}
	// What one holds in hand is not taken away by what the other does, and the
	// two agree in the end.
	grace := a.named("slider", "Grace period")
	x10, y := a.place(grace, "10")
	x15, _ := a.place(grace, "15")
	a.run(chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, x10, y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	a.run(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x15, y, chromedp.ButtonLeft))
	b.wait(`document.querySelector("#c-grace").value === "15"`)
	b.type_(b.named("spinbutton", "Grace period, exact value in seconds"), "20")
	a.wait(`document.querySelector("#lanes-summary").textContent.includes("worker 1 exited")`)
	if got := eval[string](a.tab, `document.querySelector("#c-grace").value`); got != "15" {
		t.Errorf("the slider in hand was moved to %s", got)
	}
	a.run(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, x15, y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	a.wait(`document.querySelector("#c-grace").value === "20" && document.querySelector("#n-grace").value === "20"`)

	// Playing in one plays in both.
	b.press("Restart")
	b.press("8×")
	b.press("Play")
	a.wait(`document.querySelector("#play").innerText.includes("Pause")`)
	a.at("60.0")
	b.at("60.0")
	// A copy of one's own is a view with a session of its own.
	a.run(chromedp.Click(chromedp.CSS("#own-copy")))
	a.wait(`location.pathname === "/lessons/drain" && location.search.includes("grace=20&")`)
	a.connected()
	a.press("Restart")
	a.at("0.0")
	b.at("60.0")
}

func TestThePageGoesOnWhenTheServerIsKilledAndRestarted(t *testing.T) {
	for _, kept := range []bool{true, false} {
		t.Run(fmt.Sprintf("store kept %v", kept), func(t *testing.T) {
			args := []string{}
			if kept {
				args = append(args, "-data", t.TempDir())
			}
			server := startServer(t, args...)
			b := openLesson(t, server.url+"/lessons/drain?grace=20&t=20", "ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE")
			b.press("Play")
			b.wait(`parseFloat(document.querySelector("#now").innerText) >= 21`)
			server.kill()
			b.wait(`document.querySelector("#connection").textContent !== ""`)
			startServer(t, append(args, "-addr", strings.TrimPrefix(server.url, "http://"))...)
			b.wait(`document.querySelector("#connection").textContent === ""`)
			// It plays on where it was, with its settings.
			b.wait(`document.querySelector("#play").innerText.includes("Pause") && parseFloat(document.querySelector("#now").innerText) >= 22`)
			b.press("8×")
			b.at("60.0")
			b.expect("20/7/7/0/0/13")
		})
	}
}

func TestAHiddenTabHasNoStreamAndComesBackUpToDate(t *testing.T) {
	server := startServer(t)
	a := openLesson(t, server.url+"/lessons/drain?grace=20&t=20")
	a.press("Open together")
	a.wait(`location.pathname.startsWith("/sessions/")`)
	a.connected()
	b := openLesson(t, eval[string](a.tab, "location.href"))
	// Another tab of the same window hides this one; its stream ends.
	front, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewWindow(false))
	defer cancel()
	if err := chromedp.Do(front, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}
	b.wait(`document.visibilityState === "hidden"`)
	server.waitFor("route=/sessions/{id}/stream")
	a.press("8×")
	a.press("Play")
	a.at("60.0")
	a.expect("20/7/7/0/0/13")
	if got := b.text("#now"); got != "20.0" {
		t.Errorf("the hidden tab was drawn to %s: it had a stream", got)
	}
	cancel()
	b.wait(`document.visibilityState === "visible"`)
	b.at("60.0")
	b.expect("20/7/7/0/0/13")
}

func TestTheLessonWorksWithoutScript(t *testing.T) {
	server := startServer(t)
	b := lesson{newTab(t)}
	call(b.tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.open(server.url + "/lessons/drain")
	b.at("0.0")
	if eval[bool](b.tab, `document.querySelector("#play").checkVisibility() || document.querySelector("#c-grace").checkVisibility()`) {
		t.Error("what needs script is shown without it")
	}
	submit := func(selector string) {
		t.Helper()
		b.run(chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
	}
	submit("#step")
	b.at("1.0")
	b.run(chromedp.SetValue(chromedp.CSS(`.time input[name="t"]`), "60"))
	submit(`.time button[form="f-seek"]`)
	b.at("60.0")
	b.expect("20/7/3/4/0/13")
	for _, c := range workedCases {
		id := map[string]string{"The opening run": "opening", "Grace 10 s": "grace-10", "Grace 20 s": "grace-20",
			"Grace 20 s, handler off": "handler-off", "Handler on, one replacement": "replacement", "Reach the gate": "gate"}[c.step]
		submit("#apply-" + id)
		b.at("0.0")
		b.run(chromedp.SetValue(chromedp.CSS(`.time input[name="t"]`), "60"))
		submit(`.time button[form="f-seek"]`)
		b.expect(c.counts)
	}
	// The settings' form, with a toggle switched off.
	submit("#c-replacement")
	b.run(chromedp.SetValue(chromedp.CSS("#n-grace"), "4.5"))
	submit(`#controls-panel button[value="apply"]`)
	b.wait(`location.search.includes("replacement=0") && location.search.includes("grace=4.5") && location.search.includes("t=60")`)
	submit("#baseline")
	b.expect("20/7/3/4/0/13")
	submit("#back")
	b.at("59.0")
	submit("#apply-replacement")
	b.at("0.0")
	submit("#w-2 + span")
	submit(`#inspector-panel button[value="worker"]`)
	b.wait(`location.search.includes("worker=2") && document.querySelector("#w-2").checked`)
	submit("#together")
	b.wait(`location.pathname.startsWith("/sessions/")`)
	submit("#restart")
	b.at("0.0")
}

// type_ replaces a field's text by typing.
func (b lesson) type_(selector, text string) {
	b.t.Helper()
	b.run(chromedp.Focus(chromedp.CSS(selector)))
	eval[bool](b.tab, fmt.Sprintf(`(document.querySelector(%q).select(), true)`, selector))
	b.run(chromedp.KeyEvent(text))
}

// choose takes an option of a select, as a person's choice of it does.
func (b lesson) choose(selector, value string) {
	b.t.Helper()
	eval[bool](b.tab, fmt.Sprintf(`(() => {
		const el = document.querySelector(%q);
		el.value = %q;
		el.dispatchEvent(new Event("change", {bubbles: true}));
		return true;
	})()`, selector, value))
}
