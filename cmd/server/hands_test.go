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

// What hands do on a page that is drawn anew all the time.
func TestTheLastActionWinsAndNothingIsTakenOutOfOnesHands(t *testing.T) {
	server := startServer(t)
	b := openDrain(t, server.url+"/lessons/drain?t=60&panel=settings")

	// A value typed and typed back, without leaving the field.
	field := b.named("spinbutton", graceField)
	b.replace(field, "10")
	b.expect("20/7/4/3/0/13")
	b.replace(field, "0")
	b.expect("20/7/3/4/0/13")
	b.addressed("grace", "")

	// A button after a slider on a slow line: the button was last.
	eval[bool](b.tab, `(() => {
		const direct = window.fetch;
		window.posted = [];
		window.fetch = async (...args) => {
			posted.push(String(args[1]?.body));
			await new Promise(done => setTimeout(done, 150));
			return direct(...args);
		};
		return true;
	})()`)
	grace := b.named("slider", "Grace period")
	b.keys(grace, strings.Repeat(kb.ArrowRight, 8))
	b.press("Common baseline settings")
	b.wait(`posted.findIndex(p => p.includes("grace=4")) >= 0 && posted.findIndex(p => p.includes("grace=4")) < posted.findIndex(p => p.includes("baseline"))`)
	b.addressed("grace", "")
	b.wait(`document.querySelector("#n-grace").value === "0" && document.querySelector("#c-grace").value === "0"`)
	b.keys("#time", kb.Home+strings.Repeat(kb.ArrowRight, 5))
	b.press("Restart")
	b.at("0.0")
	b.addressed("t", "")
	b.run(chromedp.Reload())
	b.connected()

	// The skip link moves the focus and leaves the player alone.
	b.choose("#speed", "4")
	b.press("Play")
	b.keys(".skip", kb.Enter)
	b.wait(`location.hash === "#main"`)
	b.wait(`parseFloat(document.querySelector("#now").innerText) >= 6`)
	b.wait(`document.querySelector("#play-button").innerText.includes("Pause")`)
	// A speed that was chosen stays chosen while it plays.
	if got := eval[string](b.tab, `document.querySelector("#speed").value`); got != "4" {
		t.Errorf("the speed stands at %s", got)
	}
	b.press("Pause")

	// The focus stays on a mark while signal and deadline come into the picture,
	// and space goes on working there.
	b.open(server.url + "/lessons/drain?t=28&grace=20")
	b.connected()
	b.keys("#arrival-3", " ")
	b.wait(`parseFloat(document.querySelector("#now").innerText) >= 31`)
	if got := eval[string](b.tab, "document.activeElement.id"); got != "arrival-3" {
		t.Errorf("the focus went to %q", got)
	}
	b.run(chromedp.KeyEvent(" "))
	b.wait(`document.querySelector("#play-button").innerText.includes("Play")`)
	// Where the focused mark itself goes, the focus stays on the stage.
	b.press("Restart")
	b.keys("#time", kb.End)
	b.at("60.0")
	b.keys("#arrival-20", "")
	eval[bool](b.tab, `(document.querySelector("#restart").dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true})), true)`)
	b.at("0.0")
	if got := eval[string](b.tab, "document.activeElement.id"); got != "stage" {
		t.Errorf("the focus went to %q", got)
	}
	// Tabs that are turned while it plays keep what one does in them.
	b.press("Play")
	b.tabOpen("settings")
	b.replace(field, "1")
	b.wait(`parseFloat(document.querySelector("#now").innerText) >= 2`)
	b.tabOpen("trace")
	b.tabOpen("settings")
	b.wait(`document.querySelector("#n-grace").value === "1"`)
	b.addressed("grace", "1")
}

// On a phone the handles are dragged by a finger, which scrolls nothing
// meanwhile, and a press beside a mark that is too narrow means the nearest.
func TestAFingerMovesTheHandlesAndMeetsTheMarks(t *testing.T) {
	server := startServer(t)
	b := openDrain(t, server.url+"/lessons/drain?t=60")
	b.size(390, 844)
	call(b.tab, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true})
	b.run(chromedp.Reload())
	b.connected()
	account := func(keptAndLost string) {
		t.Helper()
		b.wait(fmt.Sprintf(`document.querySelector("#count-completed").innerText + "/" + document.querySelector("#count-killed").innerText === %q`, keptAndLost))
	}
	account("3/4")
	touch := func(kind input.DispatchTouchEventType, x, y float64) {
		t.Helper()
		points := []*input.TouchPoint{{X: x, Y: y}}
		if kind == input.DispatchTouchEventTypeTouchEnd {
			points = []*input.TouchPoint{}
		}
		call(b.tab, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points})
	}
	second := eval[float64](b.tab, `document.querySelector(".lane-handles").getBoundingClientRect().width / 60`)
	b.still("#handle-grace .knob circle")
	x, y := b.middle("#handle-grace .knob circle")
	touch(input.DispatchTouchEventTypeTouchStart, x, y)
	for i := 1.0; i <= 10; i++ { // a finger goes a little down, too
		touch(input.DispatchTouchEventTypeTouchMove, x+2*i*second, y+3*i)
	}
	account("7/0")
	touch(input.DispatchTouchEventTypeTouchEnd, 0, 0)
	b.addressed("grace", "20")
	if got := eval[float64](b.tab, "scrollY"); got != 0 {
		t.Errorf("the page was scrolled by %v px", got)
	}

	// 40 requests, of 5 px each: what is pressed means the nearest.
	b.open(server.url + "/lessons/drain?interval=1&t=60")
	b.connected()
	b.wait(`document.querySelectorAll(".arrival").length > 35`)
	sign := func(item string) (x, y float64) {
		t.Helper()
		b.still(item + " .sign-at")
		return b.middle(item + " .sign-at")
	}
	for _, n := range []int{9, 30} {
		item := fmt.Sprintf("#arrival-%d", n)
		x, y := sign(item)
		touch(input.DispatchTouchEventTypeTouchStart, x+1, y)
		touch(input.DispatchTouchEventTypeTouchEnd, 0, 0)
		b.wait(fmt.Sprintf(`document.activeElement.id === "arrival-%d" && document.querySelector("#tip-line").checkVisibility() && document.querySelector("#tip-line").innerText.startsWith("Request %d at ")`, n, n))
	}
	call(b.tab, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{})
	b.size(1440, 1000)
	b.open(server.url + "/lessons/drain?interval=0.5")
	b.connected()
	for _, n := range []int{9, 60} {
		x, y := sign(fmt.Sprintf("[data-mark='%d']", n))
		b.run(chromedp.MouseClickXY(x+2, y))
		b.wait(fmt.Sprintf(`document.querySelector("#p-dies-%d").checked`, n))
	}
	if got := eval[string](b.tab, dotsScript); got != "marked:9,60 hit: missed: spared:" {
		t.Errorf("the picture marks %q", got)
	}
}
