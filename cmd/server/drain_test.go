package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// drainPage is a tab with lesson 1 in it.
type drainPage struct{ lesson }

func openDrain(t *testing.T, url string, expected ...string) drainPage {
	t.Helper()
	return drainPage{openLesson(t, url, expected...)}
}

// accountScript reads the strip: arrivals/admitted/completed/killed/running/rejected.
const accountScript = `(() => {
	const strip = document.querySelector("#strip").innerText;
	const n = id => document.querySelector("#count-" + id).innerText;
	return [strip.match(/of (\d+) arrivals?,/i)?.[1] ?? "0", strip.match(/accepted work: (\d+) admitted/i)[1], n("completed"), n("killed"), n("running"), n("rejected")].join("/");
})()`

// expect waits until the strip's figures read so: arrivals/admitted/completed/killed/running/rejected.
func (b drainPage) expect(account string) {
	b.t.Helper()
	b.wait(fmt.Sprintf("%s === %q", accountScript, account))
}

// account is the strip's figures as a person reads them.
func (b drainPage) account() string {
	b.t.Helper()
	return eval[string](b.tab, accountScript)
}

// at waits until the player stands at t, and the picture with it.
func (b drainPage) at(t string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`document.querySelector("#now").innerText === %q && document.querySelector("#lanes .sr").textContent.startsWith("At %s s")`, t, t))
}

// summary is what the picture says to those who do not see it.
func (b drainPage) summary() string {
	b.t.Helper()
	return eval[string](b.tab, `document.querySelector("#lanes .sr").textContent`)
}

// graceField is what the field for the grace is called.
const graceField = "Grace period, exact value in seconds"

// workedCases are those of docs/model.md, reached by the guided steps.
var workedCases = []struct{ id, step, account, verdict, trace string }{
	{"opening", "The opening run", "20/7/3/4/0/13", "FAIL", "Worker 1 killed by the forced stop"},
	{"grace-10", "Grace 10 s", "20/7/4/3/0/13", "FAIL", "Request 6 committed 6 + 1 + 2 = 9"},
	{"grace-20", "Grace 20 s", "20/7/7/0/0/13", "FAIL", "Worker 1 exited: it owned nothing any more"},
	{"handler-off", "Grace 20 s, handler off", "20/8/7/1/0/12", "FAIL", "Request 16 killed in its tool stage; it commits nothing"},
	{"replacement", "Handler on, one replacement", "20/10/10/0/0/10", "FAIL", "Request 20 admitted by worker 2, slot 3"},
	{"gate", "Reach the gate", "20/16/16/0/0/4", "PASS", "Worker 2 ready: it takes requests"},
}

func TestALearnerPlaysTheOpeningRunAndReachesTheGateByTheGuidedSteps(t *testing.T) {
	server := startServer(t)
	b := openDrain(t, server.url+"/lessons/drain")

	// It opens at 0, paused; the address bar holds what is not at its opening value: nothing.
	b.at("0.0")
	b.expect("0/0/0/0/0/0")
	b.wait(`location.search === "?model=1"`)
	b.choose("#speed", "8")
	b.addressed("speed", "8")
	// Space plays while the stage has the focus.
	b.keys("#time", " ")
	b.wait(`document.querySelector("#play-button").innerText.includes("Pause")`)
	// What is shown agrees on the time while it plays, and the playhead moves between frames.
	b.wait(`parseFloat(document.querySelector(".past").style.getPropertyValue("--t")) > 12`)
	if !eval[bool](b.tab, `document.querySelector("#lanes .sr").textContent.startsWith("At " + document.querySelector("#now").innerText + " s")`) {
		t.Error("picture and player show different times")
	}
	b.at("60.0")
	b.expect("20/7/3/4/0/13")
	b.wait(`document.querySelector("#play-button").innerText.includes("Play")`)
	strip := b.text("#strip")
	for _, part := range []string{"FAIL", "killed 4 > 0", "rejected 65 % > 20 %", "of 20 arrivals, 65 %"} {
		if !strings.Contains(strip, part) {
			t.Errorf("the strip lacks %q: %q", part, strip)
		}
	}
	// The sums outlive the worker; what was killed has none.
	b.tabOpen("sums")
	if got := eval[string](b.tab, `[...document.querySelectorAll("#results tbody tr")].map(r => r.innerText.replace(/\s+/g, " ").trim()).join("; ")`); got !=
		"5 5 + 1 + 2 8 29.0 s 1 (killed); 4 4 + 1 + 2 7 27.0 s 1 (killed); 3 3 + 1 + 2 6 25.0 s 1 (killed)" {
		t.Errorf("the results read %q", got)
	}
	b.tabOpen("trace")
	if got := eval[string](b.tab, `[...document.querySelectorAll("#trace li[data-kind=invocation_killed]")].map(li => li.innerText.match(/Request (\d+)/)[1]).sort((a,b) => a-b).join(" ")`); got != "6 13 14 15" {
		t.Errorf("killed according to the trace: %q", got)
	}
	if got := eval[int](b.tab, `document.querySelectorAll("#trace li").length`); got != 40 {
		t.Errorf("the whole trace has 40 events, the page %d", got)
	}

	for i, c := range workedCases {
		// A step goes to 0, so that one can say what to expect; here to its end.
		b.tabOpen("guide")
		b.press("Apply: " + c.step)
		b.at("0.0")
		b.keys("#time", kb.End)
		b.at("60.0")
		b.expect(c.account)
		b.wait(fmt.Sprintf(`document.querySelector("#strip .stamp").innerText.includes(%q)`, c.verdict))
		b.wait(fmt.Sprintf(`document.querySelector("#experiments-done").innerText.startsWith("%d of 6")`, i+1))
		b.tabOpen("trace")
		b.wait(fmt.Sprintf(`[...document.querySelectorAll("#trace li")].some(li => li.innerText.replace(/\s+/g, " ").includes(%q))`, c.trace))
	}
	if got := eval[string](b.tab, `document.querySelector("#strip [role=status]").textContent`); got != "Fixture gate: PASS" {
		t.Errorf("a screen reader hears %q", got)
	}
	b.tabOpen("guide")
	if got := b.text("#experiments-done"); got != "6 of 6 shown by your own runs." {
		t.Errorf("the steps say %q", got)
	}
}

func TestEveryControlWorksByMouseAndByKeyboard(t *testing.T) {
	server := startServer(t)
	b := openDrain(t, server.url+"/lessons/drain?t=60&panel=settings")
	b.expect("20/7/3/4/0/13")

	// Dragging the grace at 60 s turns killed into completed as one drags, and
	// the stream leaves the slider alone meanwhile.
	grace := b.named("slider", "Grace period")
	x0, y := b.thumb(grace, "0")
	x10, _ := b.thumb(grace, "10")
	x20, _ := b.thumb(grace, "20")
	b.mouse(input.DispatchMouseEventTypeMousePressed, x0, y)
	b.mouse(input.DispatchMouseEventTypeMouseMoved, x10, y)
	b.expect("20/7/4/3/0/13")
	b.mouse(input.DispatchMouseEventTypeMouseMoved, x20, y)
	b.expect("20/7/7/0/0/13")
	if got := eval[string](b.tab, fmt.Sprintf("document.querySelector(%q).value", grace)); got != "20" {
		t.Errorf("while dragged the slider stands at %s", got)
	}
	b.mouse(input.DispatchMouseEventTypeMouseReleased, x20, y)
	b.at("60.0")
	b.addressed("grace", "20")
	b.addressed("t", "60")

	// From the keyboard to 10, and the number field follows.
	b.keys(grace, strings.Repeat(kb.ArrowLeft, 20))
	b.expect("20/7/4/3/0/13")
	b.wait(`document.querySelector("#n-grace").value === "10"`)
	if got := eval[string](b.tab, fmt.Sprintf("document.querySelector(%q).getAttribute('aria-valuetext')", grace)); got != "10 seconds" {
		t.Errorf("the slider's value reads %q", got)
	}

	// A number typed, to the tenth; then one that is not allowed, told beside it.
	field := b.named("spinbutton", graceField)
	b.replace(field, "0.9")
	b.expect("20/7/3/4/0/13")
	b.replace(field, "1")
	b.expect("20/7/4/3/0/13")
	b.addressed("grace", "1")
	b.replace(field, "31"+kb.Tab)
	b.wait(`document.querySelector("#note-grace").innerText === "Grace period: got 31; allowed: a plain decimal number from 0 to 30 s in steps of 0.1 s. The run keeps 1."`)
	b.wait(`document.querySelector("#n-grace").getAttribute("aria-invalid") === "true" && document.querySelector("#n-grace").getAttribute("aria-describedby") === "note-grace"`)
	b.addressed("grace", "1")
	b.replace(field, "2")
	b.wait(`document.querySelector("#note-grace").innerText === "" && document.querySelector("#n-grace").getAttribute("aria-invalid") === null`)
	b.addressed("grace", "2")

	// Each toggle, by mouse and by the space key.
	b.press("Common baseline settings")
	b.expect("20/7/3/4/0/13")
	for _, c := range []struct{ toggle, setting, value, account string }{
		{"Handle SIGTERM and stop admission", "handler", "0", "20/7/3/4/0/13"},
		{"Boot one replacement at signal time", "replacement", "1", "20/10/6/4/0/10"},
		{"Route only to ready workers", "ready_only", "0", ""},
		{"Fail initialization of worker 1", "fail_init", "1", ""},
	} {
		toggle := b.named("switch", c.toggle)
		b.click(toggle)
		b.addressed(c.setting, c.value)
		if c.account != "" {
			b.expect(c.account)
		}
		b.keys(toggle, " ")
		b.addressed(c.setting, "")
		b.run(chromedp.KeyEvent(" "))
		b.addressed(c.setting, c.value)
	}
	b.wait(`document.querySelector("#lanes .sr").textContent.includes("worker 1 failed")`)
	b.press("Common baseline settings")
	b.expect("20/7/3/4/0/13")
	b.wait(`location.search === "?model=1&t=60&panel=settings"`)

	// Every slider, by keyboard to both of its ends; what opens there is not in the address.
	for _, s := range []struct{ label, name, low, high string }{
		{"Initial workers", "workers", "", "4"}, {"Invocation slots per worker", "slots", "1", "8"}, {"Startup duration", "startup", "0", "20"},
		{"Request interval", "interval", "0.5", "10"}, {"Invocation duration", "duration", "1", "40"}, {"Signal worker 1 at", "signal", "0", "60"},
		{"Grace period", "grace", "", "30"}, {"Fixture rejection allowance", "allowance", "0", "100"},
	} {
		slider := b.named("slider", s.label)
		b.keys(slider, kb.End)
		b.addressed(s.name, s.high)
		b.keys(slider, kb.Home)
		b.addressed(s.name, s.low)
	}
	b.press("Common baseline settings")
	b.expect("20/7/3/4/0/13")

	// The player: seek by keyboard, steps of a second at any speed, restart.
	slider := b.named("slider", "Simulation time")
	b.keys(slider, kb.Home)
	b.at("0.0")
	b.keys(slider, strings.Repeat(kb.ArrowRight, 3))
	b.at("0.3")
	b.choose("#speed", "4")
	b.addressed("speed", "4")
	b.press("Step 1 s")
	b.at("1.3")
	b.press("Step 1 s")
	b.press("Step 1 s")
	b.at("3.3")
	b.press("Step back 1 s")
	b.at("2.3")
	b.keys(slider, kb.End)
	b.at("60.0")
	if got := eval[string](b.tab, `document.querySelector("#time").getAttribute("aria-valuetext")`); got != "60 seconds" {
		t.Errorf("the time slider's value reads %q", got)
	}
	x30, y := b.thumb(slider, "30")
	b.run(chromedp.MouseClickXY(x30, y))
	b.wait(`Math.abs(parseFloat(document.querySelector("#now").innerText) - 30) < 1`)
	b.press("Restart")
	b.at("0.0")
	b.expect("0/0/0/0/0/0")
	b.press("Play")
	b.wait(`document.querySelector("#play-button").innerText.includes("Pause")`)
	b.press("Pause")
	b.wait(`document.querySelector("#play-button").innerText.includes("Play")`)

	// Arrivals are one tab stop; arrows move along them and show the reason.
	b.keys(slider, kb.End)
	b.at("60.0")
	if got := eval[int](b.tab, `document.querySelectorAll(".arrival[tabindex='0']").length`); got != 1 {
		t.Errorf("the arrivals are %d tab stops", got)
	}
	b.keys("#arrival-1", strings.Repeat(kb.ArrowRight, 6))
	b.wait(`getComputedStyle(document.activeElement.querySelector(".tip")).visibility === "visible"`)
	if got := eval[string](b.tab, `document.activeElement.querySelector(".tip").textContent`); got != "Request 7 at 13.0 s: turned away, all slots of worker 1 are taken" {
		t.Errorf("the mark of request 7 says %q", got)
	}
	if got := eval[string](b.tab, `document.activeElement.getAttribute("aria-label")`); got != "Request 7 at 13.0 s: turned away, all slots of worker 1 are taken" {
		t.Errorf("the mark of request 7 is called %q", got)
	}
	// The trace can be filtered by kind.
	b.tabOpen("trace")
	b.choose("#kind", "request_rejected")
	if got := eval[int](b.tab, `[...document.querySelectorAll("#trace li")].filter(li => li.checkVisibility()).length`); got != 13 {
		t.Errorf("13 rejections, the filter shows %d", got)
	}
	b.choose("#kind", "worker_failed")
	b.wait(`[...document.querySelectorAll("#trace li")].every(li => !li.checkVisibility()) && document.querySelector("#trace .none").checkVisibility()`)
	// A filter stays while frames and the viewer's own parts are drawn.
	b.press("Step back 1 s")
	b.at("59.0")
	b.wait(`document.querySelector("#explain").textContent.includes("The gate decides at 60 s")`)
	if eval[bool](b.tab, `document.querySelector("#trace li").checkVisibility()`) {
		t.Error("what was drawn has taken the filter away")
	}

	// The worker to be inspected, by mouse and by keys: a choice of this viewer, in the address.
	b.tabOpen("settings")
	b.click(b.named("switch", "Boot one replacement at signal time"))
	b.tabOpen("inspect")
	b.wait(`document.querySelectorAll("#choose-worker input").length === 2`)
	shown := func(worker string) {
		t.Helper()
		b.wait(fmt.Sprintf(`[...document.querySelectorAll(".worker-panel")].filter(p => p.checkVisibility()).map(p => p.dataset.worker).join() === %q`, worker))
	}
	shown("1")
	b.click("label:has(#w-2)")
	b.addressed("worker", "2")
	shown("2")
	if got := b.text("#inspector"); !strings.Contains(got, "none: the signal is for worker 1") {
		t.Errorf("worker 2's panel reads %q", got)
	}
	b.keys("#w-2", kb.ArrowLeft)
	shown("1")
	// The switch of colours.
	b.click(".theme")
	b.click(".theme")
	b.wait(`document.documentElement.dataset.theme === "dark"`)
	dark := eval[string](b.tab, `getComputedStyle(document.body).backgroundColor`)
	b.run(chromedp.Reload())
	b.wait(`document.documentElement.dataset.theme === "dark" && document.querySelector(".theme").textContent.includes("Dark")`)
	if again := eval[string](b.tab, `getComputedStyle(document.body).backgroundColor`); again != dark {
		t.Errorf("dark is %s, after the reload %s", dark, again)
	}
}

func TestTheHistoryStepsBackAndForth(t *testing.T) {
	server := startServer(t)
	b := openDrain(t, server.url+"/lessons/drain?t=60")
	b.press("Apply: Reach the gate")
	b.at("0.0")
	b.keys("#time", kb.End)
	b.expect("20/16/16/0/0/4")
	b.addressed("duration", "8")
	b.addressed("t", "60")
	b.run(chromedp.Func(goBack))
	b.expect("20/7/3/4/0/13")
	b.addressed("duration", "")
	b.wait(`document.querySelector("#n-duration").value === "20"`)
	b.run(chromedp.Func(goForward))
	b.expect("20/16/16/0/0/4")
	b.addressed("duration", "8")

	// A reload keeps the view, with its tab, and so does the link in another browser.
	b.tabOpen("inspect")
	b.addressed("panel", "inspect")
	b.keys("#time", kb.Home+strings.Repeat(kb.PageUp, 2))
	b.at("12.0")
	b.addressed("t", "12")
	before := b.summary()
	b.run(chromedp.Reload())
	b.connected()
	b.at("12.0")
	if got := b.summary(); got != before {
		t.Errorf("after the reload: %q, before: %q", got, before)
	}
	other := openDrain(t, eval[string](b.tab, "location.href"))
	if got := other.summary(); got != before {
		t.Errorf("in another browser: %q, before: %q", got, before)
	}
	for _, o := range []drainPage{b, other} {
		if !eval[bool](o.tab, `document.querySelector("#tab-inspect").checkVisibility() && !document.querySelector("#tab-guide").checkVisibility()`) {
			t.Error("another tab is open than before")
		}
	}

	// Back brings the chosen worker back too.
	b.open(server.url + "/lessons/drain?t=60&replacement=1&worker=2&panel=settings")
	b.connected()
	b.press("Common baseline settings")
	b.addressed("replacement", "")
	b.wait(`document.querySelector("#w-1").checked`)
	b.run(chromedp.Func(goBack))
	b.addressed("replacement", "1")
	b.addressed("worker", "2")
	b.wait(`document.querySelector("#w-2")?.checked`)
}

// What stops worker 1 is moved in the picture itself.
func TestSignalAndDeadlineAreDraggedInThePicture(t *testing.T) {
	server := startServer(t)
	b := openDrain(t, server.url+"/lessons/drain?panel=settings")
	signal, deadline := b.named("slider", "SIGTERM to worker 1"), b.named("slider", "Deadline, the end of the grace period")
	// They are settings, not the future: they stand there from 0 s on.
	b.at("0.0")
	state := func(handle string) string {
		t.Helper()
		return eval[string](b.tab, fmt.Sprintf(`["min", "max", "now", "text"].map(n => document.querySelector(%q).getAttribute("aria-value" + n)).join()`, handle))
	}
	if s, d := state(signal), state(deadline); s != "0,60,30,30 seconds" || d != "0,30,0,grace 0 seconds: the deadline is at 30 seconds" {
		t.Errorf("signal and deadline stand at %s and %s", s, d)
	}
	b.keys("#time", kb.End)
	b.expect("20/7/3/4/0/13")

	// By mouse: a second is a sixtieth of the picture.
	second := eval[float64](b.tab, `document.querySelector(".lane-handles").getBoundingClientRect().width / 60`)
	drag := func(handle string, by ...float64) {
		t.Helper()
		x, y := b.middle(handle + " > svg:not(.knob) rect")
		b.mouse(input.DispatchMouseEventTypeMousePressed, x, y)
		for _, d := range by {
			b.mouse(input.DispatchMouseEventTypeMouseMoved, x+d*second, y)
		}
	}
	released := func() { b.t.Helper(); b.mouse(input.DispatchMouseEventTypeMouseReleased, 5, 5) }
	drag(deadline, 4, 10)
	b.expect("20/7/4/3/0/13")
	b.wait(`document.querySelector("#n-grace").value === "10" && document.querySelector("#c-grace").value === "10"`)
	x, y := b.middle(deadline + " > svg:not(.knob) rect")
	b.mouse(input.DispatchMouseEventTypeMouseMoved, x+10*second, y)
	b.expect("20/7/7/0/0/13")
	released()
	b.addressed("grace", "20")
	if got := state(deadline); got != "0,30,20,grace 20 seconds: the deadline is at 50 seconds" {
		t.Errorf("the dragged deadline stands at %s", got)
	}
	// What moves when it has been let go moves nothing.
	b.mouse(input.DispatchMouseEventTypeMouseMoved, x, y)
	// One drag is one step of the history.
	b.run(chromedp.Func(goBack))
	b.expect("20/7/3/4/0/13")
	b.wait(`document.querySelector("#handle-grace").getAttribute("aria-valuenow") === "0"`)
	b.run(chromedp.Func(goForward))
	b.expect("20/7/7/0/0/13")

	// The signal takes the deadline along: the grace is kept.
	drag(signal, -5, -10)
	b.addressed("signal", "20")
	b.wait(`document.querySelector("#n-signal").value === "20"`)
	released()
	b.wait(`document.querySelector("#handle-grace").getAttribute("aria-valuetext") === "grace 20 seconds: the deadline is at 40 seconds"`)
	b.addressed("grace", "20")

	// By keys, as the control does; the focus stays while frames come.
	b.keys(signal, kb.ArrowRight)
	b.addressed("signal", "20.5")
	b.run(chromedp.KeyEvent(kb.ArrowLeft + kb.ArrowLeft))
	b.addressed("signal", "19.5")
	b.run(chromedp.KeyEvent(kb.PageUp))
	b.addressed("signal", "24.5")
	b.run(chromedp.KeyEvent(kb.PageDown + kb.ArrowUp + kb.ArrowDown))
	b.addressed("signal", "19.5")
	b.run(chromedp.KeyEvent(kb.End))
	b.addressed("signal", "60")
	b.run(chromedp.KeyEvent(kb.Home))
	b.addressed("signal", "0")
	b.wait(`document.activeElement.id === "handle-signal" && document.querySelector("#n-signal").value === "0" && document.querySelector("#c-signal").value === "0"`)
	b.keys(deadline, kb.Home)
	b.addressed("grace", "")
	b.run(chromedp.KeyEvent(kb.ArrowRight))
	b.addressed("grace", "0.5")
	// Keys faster than frames come: none of them is lost.
	b.run(chromedp.KeyEvent(strings.Repeat(kb.ArrowRight, 20)))
	b.addressed("grace", "10.5")
	b.run(chromedp.KeyEvent(kb.End))
	b.addressed("grace", "30")
	// Space plays from there, too.
	b.press("Restart")
	b.at("0.0")
	b.keys(deadline, " ")
	b.wait(`document.querySelector("#play-button").innerText.includes("Pause") && parseFloat(document.querySelector("#now").innerText) > 0`)

	// What a link locks is not moved in the picture either.
	b.open(server.url + "/lessons/drain?t=60&lock=grace")
	b.connected()
	b.wait(`document.querySelector("#handle-grace").getAttribute("aria-disabled") === "true"`)
	b.keys(deadline, kb.End)
	drag(deadline, 10)
	released()
	b.keys(signal, kb.ArrowRight)
	b.addressed("signal", "30.5")
	b.addressed("grace", "")
}

func TestTwoBrowsersSeeAndDriveOneSession(t *testing.T) {
	server := startServer(t)
	a := openDrain(t, server.url+"/lessons/drain?grace=10&t=35&panel=settings")
	a.press("Open together")
	a.wait(`location.pathname.startsWith("/sessions/")`)
	a.connected()
	a.at("35.0")

	// A late second viewer gets the whole picture at once.
	b := openDrain(t, eval[string](a.tab, "location.href"))
	b.at("35.0")
	if x, y := a.summary(), b.summary(); x != y {
		t.Errorf("one sees %q, the other %q", x, y)
	}
	// Each may choose a worker and a tab alone.
	b.tabOpen("settings")
	b.click(b.named("switch", "Boot one replacement at signal time"))
	a.wait(`document.querySelector("#c-replacement").checked && document.querySelector("#lanes .sr").textContent.includes("worker 2 ready")`)
	a.tabOpen("inspect")
	a.wait(`document.querySelector("#w-2")`)
	a.keys("#w-1", kb.ArrowRight)
	a.wait(`document.querySelector('.worker-panel[data-worker="2"]').checkVisibility() && !document.querySelector('.worker-panel[data-worker="1"]').checkVisibility()`)
	// Either drives; both see it, and the choices stay.
	b.keys(b.named("slider", "Simulation time"), kb.End)
	a.at("60.0")
	b.at("60.0")
	a.expect(b.account())
	b.tabOpen("inspect")
	if !eval[bool](a.tab, `document.querySelector('.worker-panel[data-worker="2"]').checkVisibility()`) || eval[bool](b.tab, `document.querySelector('.worker-panel[data-worker="2"]').checkVisibility()`) {
		t.Error("a choice of worker did not stay with its viewer")
	}
	// What one holds in hand is not taken away by what the other does, and the
	// two agree in the end.
	a.tabOpen("settings")
	b.tabOpen("settings")
	grace := a.named("slider", "Grace period")
	x10, y := a.thumb(grace, "10")
	x15, _ := a.thumb(grace, "15")
	a.mouse(input.DispatchMouseEventTypeMousePressed, x10, y)
	a.mouse(input.DispatchMouseEventTypeMouseMoved, x15, y)
	b.wait(`document.querySelector("#c-grace").value === "15" && document.querySelector("#handle-grace").getAttribute("aria-valuenow") === "15"`)
	b.replace(b.named("spinbutton", graceField), "20")
	a.wait(`document.querySelector("#lanes .sr").textContent.includes("worker 1 exited")`)
	if got := eval[string](a.tab, `document.querySelector("#c-grace").value`); got != "15" {
		t.Errorf("the slider in hand was moved to %s", got)
	}
	a.mouse(input.DispatchMouseEventTypeMouseReleased, x15, y)
	a.wait(`document.querySelector("#c-grace").value === "20" && document.querySelector("#n-grace").value === "20"`)

	// Playing in one plays in both.
	b.press("Restart")
	b.choose("#speed", "8")
	a.wait(`document.querySelector("#speed").value === "8"`)
	b.press("Play")
	a.wait(`document.querySelector("#play-button").innerText.includes("Pause")`)
	a.at("60.0")
	b.at("60.0")
	// A copy of one's own is a view with a session of its own.
	a.click("#own-copy")
	a.wait(`location.pathname === "/lessons/drain" && new URLSearchParams(location.search).get("grace") === "20"`)
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
			b := openDrain(t, server.url+"/lessons/drain?grace=20&t=20", "ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE")
			b.press("Play")
			b.wait(`parseFloat(document.querySelector("#now").innerText) >= 21`)
			server.kill()
			b.wait(`document.querySelector("#connection").textContent !== ""`)
			startServer(t, append(args, "-addr", strings.TrimPrefix(server.url, "http://"))...)
			b.wait(`document.querySelector("#connection").textContent === ""`)
			// It plays on where it was, with its settings.
			b.wait(`document.querySelector("#play-button").innerText.includes("Pause") && parseFloat(document.querySelector("#now").innerText) >= 22`)
			b.choose("#speed", "8")
			b.at("60.0")
			b.expect("20/7/7/0/0/13")
		})
	}
}

func TestAHiddenTabHasNoStreamAndComesBackUpToDate(t *testing.T) {
	server := startServer(t)
	a := openDrain(t, server.url+"/lessons/drain?grace=20&t=20")
	a.press("Open together")
	a.wait(`location.pathname.startsWith("/sessions/")`)
	a.connected()
	b := openDrain(t, eval[string](a.tab, "location.href"))
	b.at("20.0")
	// Another tab of the same window hides this one; its stream ends.
	front, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewWindow(false))
	defer cancel()
	if err := chromedp.Do(front, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}
	b.wait(`document.visibilityState === "hidden"`)
	server.waitFor("route=/sessions/{id}/stream")
	a.choose("#speed", "8")
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
	b := drainPage{lesson{newTab(t)}}
	call(b.tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.open(server.url + "/lessons/drain")
	b.at("0.0")
	if eval[bool](b.tab, `document.querySelector("#play-button").checkVisibility()`) {
		t.Error("what needs script is shown without it")
	}
	// Every tab is a link, and shows what is in it alone.
	for tab, inside := range map[string]string{"settings": "#n-grace", "inspect": "#inspector", "sums": "#results", "trace": "#trace", "why": "#explain", "compare": "#compare", "sweep": "#sweep-axes", "guide": "#experiments"} {
		b.click("#tab-link-" + tab)
		b.wait(fmt.Sprintf(`document.querySelector(%q).checkVisibility() && [...document.querySelectorAll("[data-tab]")].filter(t => t.checkVisibility()).length === 1`, inside))
		b.wait(fmt.Sprintf(`document.querySelector("#picture").checkVisibility() === %v`, tab != "compare" && tab != "sweep"))
	}
	// The player.
	toEnd := func() {
		t.Helper()
		b.run(chromedp.SetValue(chromedp.CSS(`.time-field input[name="t"]`), "60"))
		b.click(`.time-field button[form="f-seek"]`)
		b.at("60.0")
	}
	b.open(server.url + "/lessons/drain")
	b.click("#step")
	b.at("1.0")
	toEnd()
	b.expect("20/7/3/4/0/13")
	for _, c := range workedCases {
		b.click("#apply-" + c.id)
		b.at("0.0")
		toEnd()
		b.expect(c.account)
	}
	b.run(chromedp.SetValue(chromedp.CSS("#speed"), "4"))
	b.click(`button[form="f-speed"]`)
	b.addressed("speed", "4")
	// The settings' form, with a toggle switched off.
	b.click("#tab-link-settings")
	b.wait(`document.querySelector("#n-grace").checkVisibility()`)
	b.click("#c-replacement")
	b.run(chromedp.SetValue(chromedp.CSS("#n-grace"), "4.5"))
	if got := eval[int](b.tab, `[...document.querySelectorAll("#tab-settings button[value=apply]")].filter(el => el.checkVisibility()).length`); got != 1 {
		t.Errorf("the settings have %d buttons to apply them", got)
	}
	b.click(`#controls button[value="apply"]`)
	b.addressed("grace", "4.5")
	b.addressed("replacement", "")
	b.addressed("t", "60")
	b.addressed("panel", "settings")
	b.click("#baseline")
	b.expect("20/7/3/4/0/13")
	b.click("#back")
	b.at("59.0")
	b.click("#tab-link-guide")
	b.click("#apply-replacement")
	b.at("0.0")
	// The viewer's own choices.
	b.click("#tab-link-inspect")
	b.click("label:has(#w-2)")
	b.click(`#choose-worker button`)
	b.addressed("worker", "2")
	b.wait(`document.querySelector("#w-2").checked && document.querySelector('.worker-panel[data-worker="2"]').checkVisibility()`)
	b.click("#tab-link-sweep")
	b.wait(`document.querySelector("#sweep-map").checkVisibility()`)
	b.run(chromedp.SetValue(chromedp.CSS("#sweep-x"), "startup"))
	b.click("#sweep-show")
	b.addressed("x", "startup")
	b.addressed("panel", "sweep")
	b.addressed("worker", "2")
	// A run that others see too.
	b.click("#together")
	b.wait(`location.pathname.startsWith("/sessions/")`)
	b.click("#step")
	b.at("1.0")
	b.click("#restart")
	b.at("0.0")
}
