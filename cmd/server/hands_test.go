package main

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// What hands do on a page that is drawn anew all the time.
func TestTheLastActionWinsAndNothingIsTakenOutOfOnesHands(t *testing.T) {
	server := startServer(t)
	b := openLesson(t, server.url+"/lessons/drain?t=60")

	// A value typed and typed back, without leaving the field.
	field := b.named("spinbutton", "Grace period, exact value in seconds")
	b.type_(field, "10")
	b.expect("20/7/4/3/0/13")
	b.type_(field, "0")
	b.expect("20/7/3/4/0/13")
	b.wait(`location.search.includes("grace=0&")`)

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
	b.wait(`location.search.includes("grace=0&") && document.querySelector("#n-grace").value === "0" && document.querySelector("#c-grace").value === "0"`)
	b.keys("#time", kb.Home+strings.Repeat(kb.ArrowRight, 5))
	b.press("Restart")
	b.at("0.0")
	b.wait(`location.search.includes("t=0&")`)
	b.run(chromedp.Reload())
	b.connected()

	// The skip link moves the focus and leaves the player alone.
	b.press("4×")
	b.press("Play")
	b.keys(".skip", kb.Enter)
	b.wait(`location.hash === "#main"`)
	b.wait(`parseFloat(document.querySelector("#now").innerText) >= 6`)
	b.wait(`document.querySelector("#play").innerText.includes("Pause")`)
	b.press("Pause")

	// The focus stays on a mark while signal and deadline come into the picture,
	// and space goes on working there.
	b.open(server.url + "/lessons/drain?t=28&grace=20")
	b.connected()
	b.keys("#arrival-3", " ")
	b.wait(`parseFloat(document.querySelector("#now").innerText) >= 31 && document.querySelector("#lanes-signal")`)
	if got := eval[string](b.tab, "document.activeElement.id"); got != "arrival-3" {
		t.Errorf("the focus went to %q", got)
	}
	b.run(chromedp.KeyEvent(" "))
	b.wait(`document.querySelector("#play").innerText.includes("Play")`)
	// Where the focused mark itself goes, the focus stays in the player.
	b.press("Restart")
	b.keys("#time", kb.End)
	b.at("60.0")
	b.keys("#arrival-20", "")
	eval[bool](b.tab, `(document.querySelector("#restart").dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true})), true)`)
	b.at("0.0")
	if got := eval[string](b.tab, "document.activeElement.id"); got != "player" {
		t.Errorf("the focus went to %q", got)
	}

	// Back brings the chosen worker back too.
	b.open(server.url + "/lessons/drain?t=60&replacement=1&worker=2")
	b.connected()
	b.press("Common baseline settings")
	b.wait(`location.search.includes("replacement=0") && document.querySelector("#w-1").checked`)
	b.run(chromedp.Func(goBack))
	b.wait(`location.search.includes("replacement=1") && location.search.includes("worker=2") && document.querySelector("#w-2").checked`)
}
