package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// axeSource is axe-core, from npm: it checks a page by the rules of WCAG that a
// program can check.
func axeSource(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile("../../node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatal("axe-core is not installed; make test does it: ", err)
	}
	return string(source)
}

// axe checks the page as it is, in both themes. The dark one differs in
// colours alone, and only what is about colours is asked again.
func (b *tab) axe(source, place string) {
	b.t.Helper()
	if !eval[bool](b, `"axe" in window`) {
		eval[bool](b, source+"; true")
	}
	for theme, options := range map[string]string{"light": `{iframes: false}`, "dark": `{iframes: false, runOnly: {type: "rule", values: ["color-contrast", "link-in-text-block"]}}`} {
		b.media(&emulation.MediaFeature{Name: "prefers-color-scheme", Value: theme}, &emulation.MediaFeature{Name: "prefers-reduced-motion", Value: "reduce"})
		violations, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]string](`axe.run(`+options+`).then(r => r.violations.map(v => v.id + ": " + v.help + " — " +
			v.nodes.map(n => n.target.join(" ") + " " + (n.any[0]?.message ?? "")).slice(0, 5).join(" | ")))`, chromedp.EvalAwaitPromise))
		if err != nil {
			b.t.Fatal(err)
		}
		for _, v := range violations {
			b.t.Errorf("%s, %s: %s", place, theme, v)
		}
	}
}

func TestAxeFindsNoViolationOnAnyTabOfAnyLesson(t *testing.T) {
	axe := axeSource(t)
	server := startServer(t)
	b := lesson{newTab(t)}
	for _, path := range []string{
		"/lessons/drain?grace=10&replacement=1&b.grace=20&t=60",
		"/lessons/ledgers",
		"/lessons/clocks?platform=docker&long=40&grace=12",
	} {
		b.open(server.url + path)
		b.connected()
		for _, panel := range b.tabs() {
			b.turn(panel)
			b.axe(axe, path+", "+panel)
		}
	}
	// Where the page is narrow its parts are others.
	b.size(390, 844)
	for _, path := range []string{"/lessons/drain?t=60", "/lessons/ledgers", "/lessons/clocks?panel=clocks"} {
		b.open(server.url + path)
		b.connected()
		b.axe(axe, path+" at 390 px")
	}
}

func TestAxeFindsNoViolationOnAnyPage(t *testing.T) {
	axe := axeSource(t)
	server := startServer(t)
	b := lesson{newTab(t, "404 (Not Found)")}
	for _, path := range []string{
		"/",
		"/lessons/drain?fail_init=1&workers=3&t=30",
		"/lessons/drain?t=60&p.completed=4&p.dies=6,13&p.verdict=pass",
		"/lessons/drain?predict=required&lock=grace,handler",
		"/lessons/drain?duration=8&grace=10&replacement=1&t=60&panel=why",
		"/lessons/drain/about", "/lessons/ledgers/about", "/lessons/clocks/about",
		"/lessons/drain/share?t=30&hide=text&lock=grace", "/lessons/clocks/share",
		"/lessons/drain/handout", "/lessons/drain/handout/key", "/lessons/ledgers/handout", "/lessons/clocks/handout/key",
		"/embed/lessons/drain?t=60", "/embed/lessons/ledgers", "/embed/lessons/clocks?panel=clocks",
		"/teach?lock=grace&hide=text", "/teach?lesson=clocks&start=hook&height=500",
		"/embed/doctor",
		"/nowhere",
	} {
		b.open(server.url + path)
		if eval[bool](b.tab, `document.querySelector("#lesson") !== null`) {
			b.connected()
		}
		if path == "/embed/doctor" {
			b.wait(`!document.querySelector("#doctor-verdict").innerText.includes("Looking")`)
		}
		b.axe(axe, path)
	}
}

// Where the system's few colours take the place of the page's, what is chosen
// can still be told from what is not.
func TestForcedColoursKeepWhatIsChosen(t *testing.T) {
	server := startServer(t)
	b := lesson{newTab(t)}
	b.media(&emulation.MediaFeature{Name: "forced-colors", Value: "active"})
	b.open(server.url + "/lessons/drain?t=60&grace=10&replacement=1")
	b.connected()
	if !eval[bool](b.tab, `matchMedia("(forced-colors: active)").matches`) {
		t.Fatal("the browser forces no colours")
	}
	// look is what a person can tell an element by, where its ground is given.
	eval[bool](b.tab, `(window.look = (el) => { const s = getComputedStyle(el); return [s.borderBottomColor, s.borderTopColor, s.borderTopWidth, s.outlineStyle, s.outlineColor].join(" "); }, true)`)
	differs := func(what, chosen, other string) {
		t.Helper()
		if got := eval[[]string](b.tab, fmt.Sprintf(`[%q, %q].map(s => look(document.querySelector(s)))`, chosen, other)); got[0] == got[1] {
			t.Errorf("%s looks like the others: %s", what, got[0])
		}
	}
	differs("the current lesson", ".nav-row a[aria-current]", ".nav-row a:not([aria-current])")
	differs("the open tab", "[data-tab-link][aria-selected=true]", "[data-tab-link][aria-selected=false]")
	b.turn("compare")
	differs("the open tab of the laboratory", "#tab-link-compare", "#tab-link-sweep")
	b.turn("inspect")
	differs("the chosen worker", "#w-1 + span", "#w-2 + span")
	if got := eval[int](b.tab, `new Set([...document.querySelectorAll("#strip .bar-part")].map(el => getComputedStyle(el).fill)).size`); got < 3 {
		t.Errorf("the strip's parts have %d colours", got)
	}
	// Narrow, the lessons are in a menu.
	b.size(390, 844)
	eval[bool](b.tab, `(document.querySelector(".nav-menu").open = true)`)
	differs("the current lesson in the menu", ".menu-box a[aria-current]", ".menu-box a:not([aria-current])")
	// Without script the tabs are links.
	call(b.tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.size(1440, 900)
	b.open(server.url + "/lessons/clocks?panel=budget")
	eval[bool](b.tab, `(window.look = (el) => { const s = getComputedStyle(el); return [s.borderBottomColor, s.outlineColor].join(" "); }, true)`)
	differs("the open tab without script", "#tab-link-budget", "#tab-link-guide")
}

// The arrivals are one stop of the Tab key, not one each: from the first thing
// in the picture to Play, and from the panel back to it, it is not far.
func TestItIsNotFarFromThePictureToPlay(t *testing.T) {
	server := startServer(t)
	b := openLesson(t, server.url+"/lessons/drain?t=60")
	presses := func(key string) int {
		t.Helper()
		for n := 1; n <= 12; n++ {
			b.run(chromedp.KeyEvent(key))
			if eval[string](b.tab, "document.activeElement.id") == "play-button" {
				return n
			}
		}
		return 99
	}
	eval[bool](b.tab, `([...document.querySelectorAll("#picture [tabindex='0'], #picture a, #picture button")].find(el => el.checkVisibility()).focus(), document.activeElement.closest("#picture") !== null)`)
	if n := presses(kb.Tab); n > 6 {
		t.Errorf("%d presses of Tab from the picture to Play", n)
	}
	b.run(chromedp.Focus(chromedp.CSS("#tab-link-guide")))
	n := 0
	for ; n < 12 && eval[string](b.tab, "document.activeElement.id") != "play-button"; n++ {
		b.run(chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(chromedp.ModifierShift)))
	}
	if n > 6 {
		t.Errorf("%d presses of Shift and Tab from the panel to Play", n)
	}
	// At the end of the run a screen reader is told what a sighted person sees.
	if got := eval[string](b.tab, `document.querySelector("#lanes p.sr").textContent`); !strings.Contains(got, "Lost, killed at 30.0 s: requests 6, 13, 14 and 15.") {
		t.Errorf("the picture says %q", got)
	}
}
