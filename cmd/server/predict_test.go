package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// enter activates a link or a button by keyboard.
func (b drainPage) enter(selector string) {
	b.t.Helper()
	b.keys(selector, kb.Enter)
}

// still waits until the page scrolls no more and the element stays where it is.
func (b drainPage) still(selector string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`(() => {
		const r = document.querySelector(%q).getBoundingClientRect(), at = r.left + "," + r.top;
		window.stood = window.stoodAt === at ? (window.stood ?? 0) + 1 : 0;
		window.stoodAt = at;
		return window.stood > 8;
	})()`, selector))
}

// dotsScript lists the marks below the lanes by what became of them, as "kind:n,n".
const dotsScript = `["marked", "hit", "missed", "spared"].map(k => k + ":" + [...document.querySelectorAll("#predict-row .dot-" + k)].map(d => d.getAttribute("aria-label").match(/^Request (\d+)/)[1]).join()).join(" ")`

// answers are what a page holds that tells of the run beyond its question, one
// or more in each tab, as patterns of its HTML.
var answers = []string{`class="stage-tool" x="`, `class="bar-n is-lost`, `stamp stamp-fail`, `<td>\d+ \+ 1 \+ 2</td>`, `request 6 killed at|by the forced stop`,
	`data-kind="invocation_killed"`, `data-kind="worker_ready"`, `class="cell cell-killed"`, `Try it`}

// tells opens one tab after the other and returns those of answers that the
// page holds then.
func (b drainPage) tells() []string {
	b.t.Helper()
	found := map[string]bool{}
	for _, tab := range []string{"settings", "inspect", "sums", "trace", "why", "compare", "sweep"} {
		b.tabOpen(tab)
		if tab == "sweep" { // what is fetched has come
			b.wait(`!document.querySelector("#sweep").innerText.includes("being drawn")`)
		}
		for _, a := range answers {
			if eval[bool](b.tab, fmt.Sprintf(`new RegExp(%q).test(document.documentElement.outerHTML)`, a)) {
				found[a] = true
			}
		}
	}
	return slices.Collect(maps.Keys(found))
}

func TestALearnerPredictsAndIsToldWhereTheThinkingWentWrong(t *testing.T) {
	server := startServer(t)
	b := openDrain(t, server.url+"/lessons/drain?predict=required&t=60")

	// Nothing is seen, and nothing plays, before the prediction stands: not in
	// any tab, and nowhere else in the page.
	b.at("0.0")
	b.wait(`document.querySelector("#play-button").disabled && document.querySelector("#time").disabled && document.querySelector("#speed").disabled && document.querySelector("#locked-note").checkVisibility()`)
	b.keys("#handle-grace", " ")
	if got := b.tells(); len(got) > 0 {
		t.Errorf("before the answer the page holds %q", got)
	}
	b.tabOpen("guide")
	b.at("0.0")
	b.enter("#commit")
	b.wait(`document.querySelector("#predict-problem").innerText.startsWith("Say at least one")`)

	// Marks in the picture are buttons with names: by mouse and by keyboard, and
	// one with the boxes of the form.
	if got := eval[string](b.tab, `["role", "aria-label", "aria-pressed", "tabindex"].map(n => document.querySelector("[data-mark='1']").getAttribute(n)).join("|")`); got != "button|Request 1, arrives at 1 s|false|0" {
		t.Errorf("the first mark is %s", got)
	}
	b.replace("#say-completed", "4")
	b.replace("#say-killed", "3")
	for _, n := range []int{13, 17, 18} {
		selector := fmt.Sprintf("[data-mark='%d'] .hit", n)
		b.still(selector)
		x, y := b.middle(selector)
		b.run(chromedp.MouseClickXY(x, y))
		b.wait(fmt.Sprintf(`document.querySelector("#p-dies-%d").checked && document.querySelector("[data-mark='%d']").getAttribute("aria-pressed") === "true"`, n, n))
	}
	b.keys("#p-dies-18", " ")
	b.wait(`document.querySelector("[data-mark='18']").getAttribute("aria-pressed") === "false"`)
	b.keys("[data-mark='1']", strings.Repeat(kb.ArrowRight, 5)+" ")
	b.wait(`document.activeElement.dataset.mark === "6" && document.querySelector("#p-dies-6").checked`)
	b.wait(dotsScript + ` === "marked:6,13,17 hit: missed: spared:"`)
	b.keys("#predict input[value=fail]", " ")
	b.enter("#commit")
	b.wait(`location.search.includes("p.completed=4&p.killed=3&p.dies=6,13,17&p.verdict=fail")`)
	b.wait(`document.querySelector("#predict").innerText.includes("requests 6, 13 and 17 die") && !document.querySelector("#play-button").disabled && !document.querySelector("#locked-note").checkVisibility()`)

	// Played to the end, it stands beside what happened.
	b.choose("#speed", "8")
	b.press("Play")
	b.at("60.0")
	b.wait(`document.querySelector("#predict .pill")?.innerText.includes("Not as you said")`)
	if got := eval[string](b.tab, `[...document.querySelectorAll("#predict tbody tr")].map(r => r.innerText.replace(/\s+/g, " ").trim()).join("; ")`); got !=
		"Complete 4 3 ✕ wrong; How many are killed 3 4 ✕ wrong; Which are killed 6, 13 and 17 6, 13, 14 and 15 ✕ wrong; The gate FAIL FAIL ✓ right" {
		t.Errorf("the judgement reads %q", got)
	}
	if got := eval[string](b.tab, dotsScript); got != "marked: hit:6,13 missed:14,15 spared:17" {
		t.Errorf("the picture marks %q", got)
	}
	if got := eval[string](b.tab, `[6, 14, 17].map(n => [...document.querySelectorAll("#predict-row .dot")].find(d => d.getAttribute("aria-label").startsWith("Request " + n + ",")).getAttribute("aria-label")).join("; ")`); got !=
		"Request 6, arrives at 11 s: you say that it dies, and it does; Request 14, arrives at 27 s: it dies, and you did not say so; Request 17, arrives at 33 s: you say that it dies, and it does not" {
		t.Errorf("the marks are called %q", got)
	}
	if got := b.text("#predict .reasons"); !strings.Contains(got, "14 and 15") || !strings.Contains(got, "30 s") {
		t.Errorf("it says %q", got)
	}
	// Each wrong mark with the events that decide it, which are the trace's.
	if got := eval[string](b.tab, `[...document.querySelectorAll("#predict .chains > li")].map(li => [...li.querySelectorAll("[data-event]")].map(e => document.querySelector("#event-" + e.dataset.event) ? e.innerText.replace(/\s+/g, " ") : "not in the trace").join(" | ")).join("; ")`); !strings.Contains(got, "27 s Request 14 admitted by worker 1, slot 2 | 30 s Worker 1 gets SIGTERM") || strings.Contains(got, "not in the trace") {
		t.Errorf("the chains read %q", got)
	}

	// What was searched for at the beginning is there now.
	if got := b.tells(); len(got) != len(answers) {
		t.Errorf("of the run's answers the page now holds only %q", got)
	}

	// The explanation, and its change that passes, tried from its button.
	b.tabOpen("why")
	b.wait(`document.querySelector("#explain-h").innerText === "Why it fails"`)
	if got := b.text("#explain"); !strings.Contains(got, "Request 13 was admitted at 25 s") || !strings.Contains(got, "No single change of one setting passes.") {
		t.Errorf("it explains %q", got)
	}
	b.enter("#explain a.fix")
	// Other settings are another run: the prediction is withdrawn, and the player waits for a new one at 0.
	b.wait(`!location.search.includes("p.") && document.querySelector("#play-button").disabled && document.querySelector("#f-predict") && document.querySelector("#now").innerText === "0.0"`)
	b.wait(`!document.querySelector("#explain").innerText.includes("fails")`)
	for tab, held := range map[string]string{"sweep": "#sweep", "compare": "#compare"} {
		b.tabOpen(tab)
		b.wait(fmt.Sprintf(`document.querySelector(%q).innerText.includes("Shown when you have predicted this run")`, held))
	}
	if got := eval[string](b.tab, "document.activeElement.tagName"); got == "BODY" {
		t.Error("the focus is lost")
	}

	// A link without the demand: the fix leads to PASS, and the margin is told.
	b.open(server.url + "/lessons/drain?duration=8&grace=5&replacement=1&t=60&panel=why")
	b.connected()
	b.run(chromedp.Click(chromedp.CSS(`#explain a.fix[data-set="grace=7"]`)))
	b.wait(`document.querySelector("#strip .stamp").innerText.includes("PASS") && document.querySelector("#explain-h").innerText === "Why it passes, and by how much"`)
	if got := b.text("#explain"); !strings.Contains(got, "7 s") {
		t.Errorf("the margin reads %q", got)
	}
	b.run(chromedp.Func(goBack))
	b.addressed("grace", "5")
	b.wait(`document.querySelector("#explain-h").innerText === "Why it fails"`)
	// All right: said so. Predicted again, it begins at 0.
	b.open(server.url + "/lessons/drain?t=60&p.completed=3&p.killed=4&p.dies=6,13,14,15&p.verdict=fail")
	b.connected()
	b.wait(`document.querySelector("#predict .pill").innerText.includes("As you said")`)
	b.enter("#predict-again")
	b.at("0.0")
	b.wait(`!location.search.includes("p.") && document.querySelector("#f-predict") && document.querySelectorAll("[data-mark]").length === 20`)
}

func TestTwoRunsAreSeenSideBySide(t *testing.T) {
	server := startServer(t)
	b := openDrain(t, server.url+"/lessons/drain?t=20&panel=compare")
	b.enter("#pin")
	b.addressed("a.grace", "0")
	b.wait(`document.querySelectorAll("#compare-runs .lanes").length === 2 && document.querySelector("#compare").innerText.includes("The two runs are the same")`)
	b.wait(`document.querySelector("#share-open").href.includes("&a.grace=0")`)
	// The settings change run B; A stays. They part at 30 s, of which nothing is told yet.
	b.tabOpen("settings")
	b.replace("#n-grace", "20"+kb.Tab)
	b.addressed("grace", "20")
	b.addressed("a.grace", "0")
	b.tabOpen("compare")
	facts := `document.querySelector("#compare-facts").innerText.replace(/\s+/g, " ")`
	b.wait(facts + `.includes("Up to 20 s the two runs have the same trace.")`)
	if got := eval[string](b.tab, `document.querySelector("#compare").innerHTML + document.querySelector("#compare-stage").innerHTML`); strings.Contains(got, "30 s they part") || strings.Contains(got, "+4") || strings.Contains(got, `is-lost`) || strings.Contains(got, "killed at") {
		t.Errorf("what the runs come to is told before it is seen: %q", got)
	}
	// They follow the time, while it plays too.
	b.keys("#time", strings.Repeat(kb.PageUp, 2))
	b.wait(facts + `.includes("At 30 s they part.")`)
	if got := eval[string](b.tab, facts); strings.Contains(got, "FAIL") {
		t.Errorf("the gate is told at 32 s: %q", got)
	}
	b.choose("#speed", "8")
	b.press("Play")
	b.at("60.0")
	b.wait(facts + `.includes("FAIL")`)
	if got := eval[string](b.tab, `[...document.querySelectorAll("#compare table:last-of-type tbody tr")].map(r => r.innerText.replace(/\s+/g, " ").trim()).join("; ")`); got !=
		"admitted 7 7; completed: kept 3 7 +4; killed: lost 4 0 −4; running 0 0; rejected: turned away 13 13; arrived 20 20; gate FAIL FAIL" {
		t.Errorf("the accounts differ by %q", got)
	}
	if got := eval[string](b.tab, facts); !strings.Contains(got, "the same up to 30 s") || !strings.Contains(got, "run B") {
		t.Errorf("at the end it says %q", got)
	}
	// One above the other on one scale, with one playhead.
	if !eval[bool](b.tab, `(() => { const [a, b] = [...document.querySelectorAll("#compare-runs .lane-plot")].map(el => el.getBoundingClientRect()); return Math.abs(a.left - b.left) < 1 && Math.abs(a.width - b.width) < 1 && a.bottom <= b.top; })()`) {
		t.Error("the lanes are not on one axis, one above the other")
	}
	heads := eval[[]float64](b.tab, `[...document.querySelectorAll("#compare-runs .playhead-line")].map(p => p.getBoundingClientRect().left)`)
	if len(heads) != 2 || heads[0] != heads[1] {
		t.Errorf("the playheads stand at %v", heads)
	}
	// A link of it, opened elsewhere, shows the same.
	b.addressed("t", "60")
	other := openDrain(t, eval[string](b.tab, "location.href"))
	other.expect("20/7/7/0/0/13")
	other.wait(`document.querySelector("#parting").innerText.includes("the same up to 30 s")`)
	other.size(390, 844)
	other.wait(`document.documentElement.scrollWidth <= 390 && document.querySelectorAll("#compare-runs .lanes").length === 2`)
	other.size(1440, 1000)
	// An older link, in which run B had the prefix, is the same run again.
	other.open(server.url + "/lessons/drain?t=60&b.grace=20&panel=compare")
	other.connected()
	other.expect("20/7/7/0/0/13")
	other.addressed("a.grace", "0")
	other.wait(`document.querySelector("#parting").innerText.includes("the same up to 30 s")`)
	// Swapped, ended; back leads through them.
	b.enter("#swap")
	b.expect("20/7/3/4/0/13")
	b.addressed("a.grace", "20")
	b.addressed("grace", "")
	b.enter("#end-comparison")
	b.wait(`!location.search.includes("a.") && !document.querySelector("#compare-runs") && document.querySelector("#pin")`)
	b.run(chromedp.Func(goBack))
	b.addressed("a.grace", "20")
	b.wait(`document.querySelectorAll("#compare-runs .lanes").length === 2`)
}

// The map of verdicts leads to its cells.
func TestTheMapLeadsToItsCells(t *testing.T) {
	server := startServer(t)
	b := openDrain(t, server.url+"/lessons/drain?duration=8&replacement=1&t=60&panel=sweep")
	b.wait(`document.querySelector("#sweep-map") && !document.querySelector("#picture").checkVisibility()`)
	b.wait(`document.querySelector("#strip .stamp").innerText.includes("FAIL")`)
	here := `document.querySelector("#sweep-here").innerText`
	before := eval[string](b.tab, here)
	// By mouse: into a cell, grace from left to right, duration from below.
	cell := eval[[]float64](b.tab, `(() => {
		const el = document.querySelector("#sweep"), xs = el.dataset.xs.split(" "), ys = el.dataset.ys.split(" ");
		const box = el.querySelector(".sweep-cells").getBoundingClientRect();
		return [box.left + (xs.indexOf("10") + 0.5) * box.width / xs.length, box.bottom - (ys.indexOf("8") + 0.5) * box.height / ys.length];
	})()`)
	b.run(chromedp.MouseClickXY(cell[0], cell[1]))
	b.addressed("grace", "10")
	b.addressed("duration", "8")
	b.wait(`document.querySelector("#strip .stamp").innerText.includes("PASS")`)
	b.wait(here + ` !== ` + fmt.Sprintf("%q", before) + ` && ` + here + `.includes("PASS")`)
	// By keys, faster than the answers come.
	b.keys("#sweep-map", strings.Repeat(kb.ArrowLeft, 3))
	b.addressed("grace", "8.5")
	b.run(chromedp.KeyEvent(kb.ArrowUp))
	b.addressed("duration", "8.5")
	b.run(chromedp.KeyEvent(kb.Home))
	b.addressed("grace", "")
	b.wait(`document.querySelector("#strip .stamp").innerText.includes("FAIL") && document.activeElement.id === "sweep-map"`)
	b.run(chromedp.KeyEvent(kb.End + kb.ArrowDown))
	b.addressed("grace", "30")
	b.addressed("duration", "8")
	b.wait(`document.querySelector("#sweep").dataset.hereX === String(document.querySelector("#sweep").dataset.xs.split(" ").indexOf("30"))`)
	// What the map shows is what the cell's run comes to.
	b.wait(here + `.includes("PASS") && document.querySelector("#strip .stamp").innerText.includes("PASS")`)
	// Other axes are the viewer's own choice; the one that both would have changes sides.
	b.choose("#sweep-x", "duration")
	b.addressed("x", "duration")
	b.addressed("y", "grace")
	b.wait(`document.querySelector("#sweep").dataset.x === "duration" && document.querySelector("#sweep").dataset.y === "grace" && document.querySelector("#sweep-y").value === "grace"`)
	b.run(chromedp.Func(goBack))
	b.addressed("x", "")
	b.wait(`document.querySelector("#sweep").dataset.x === "grace"`)
}

func TestWhatIsSharedComesBackAsItWas(t *testing.T) {
	server := startServer(t)
	b := openDrain(t, server.url+"/lessons/drain?grace=20&replacement=1&t=47")
	b.enter("#share-open")
	b.wait(`document.querySelector("#share-dialog").open && document.querySelector("#share-link").value.includes("model=1")`)
	if got := eval[string](b.tab, `document.querySelector("#share-link").value`); got != server.url+"/lessons/drain?model=1&grace=20&replacement=1" {
		t.Errorf("without its time the link is %s", got)
	}
	b.keys("#share-predict", " ")
	b.wait(`document.querySelector("#share-link").value.includes("predict=required")`)
	b.keys("#share-predict", " ")
	for _, box := range []string{"#share-at", "#share-hide-text", "#share-hide-inspector"} {
		b.keys(box, " ")
	}
	b.wait(`document.querySelector("#share-link").value.includes("t=47&") && document.querySelector("#share-link").value.includes("hide=inspector,text")`)
	b.enter("#share-locks summary")
	b.keys("#share-lock-grace", " ")
	b.keys("#share-lock-handler", " ")
	b.wait(`document.querySelector("#share-link").value.includes("lock=grace,handler")`)
	b.wait(`document.querySelector(".qr").complete && document.querySelector(".qr").naturalWidth > 0`)
	link := eval[string](b.tab, `document.querySelector("#share-link").value`)
	// Where the browser lets nobody copy, the text is selected and that is said.
	eval[bool](b.tab, `(navigator.clipboard.writeText = () => Promise.reject(new Error("no")), true)`)
	b.run(chromedp.Click(chromedp.CSS(`[data-copy="share-snippet"]`)))
	b.wait(`document.querySelector("#copy-note").innerText.includes("selected") && document.activeElement.id === "share-snippet" && document.activeElement.selectionStart === 0 && document.activeElement.selectionEnd === document.activeElement.value.length`)
	snippet := eval[string](b.tab, `document.querySelector("#share-snippet").value`)
	for _, part := range []string{`src="` + server.url + `/embed/lessons/drain?model=1&amp;`, ` title="`, ` height="440"`, ` loading="lazy"`, ` allow="fullscreen; clipboard-write"`} {
		if !strings.Contains(snippet, part) {
			t.Errorf("the frame's code lacks %q: %s", part, snippet)
		}
	}
	files := eval[[]string](b.tab, `[...document.querySelectorAll(".share-files a[download], .share-files a[href*=handout]")].map(a => a.href)`)
	if len(files) < 5 {
		t.Errorf("it offers %v", files)
	}
	for _, file := range files {
		response, err := http.Get(file)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("%s answers %s", file, response.Status)
		}
	}
	b.run(chromedp.Click(chromedp.CSS("[data-close]")))
	b.wait(`!document.querySelector("#share-dialog").open`)

	// The link, opened by somebody else.
	o := openDrain(t, link)
	o.at("47.0")
	o.tabOpen("settings")
	o.wait(`document.querySelector("#n-grace").disabled && document.querySelector("#c-handler").disabled && document.querySelector("#handle-grace").getAttribute("aria-disabled") === "true" && !document.querySelector("#n-workers").disabled`)
	if got := eval[string](o.tab, `["#tab-link-inspect", "#inspector", ".lede", "#trace", "#sweep-map", "#pin"].map(s => document.querySelector(s) ? 1 : 0).join("")`); got != "000100" {
		t.Errorf("the inspector's tab, the inspector, text, trace, map and comparison are there: %s", got)
	}
	// The locks stay while the stream draws.
	o.press("Step 1 s")
	o.at("48.0")
	if !eval[bool](o.tab, `document.querySelector("#c-grace").disabled`) {
		t.Error("a frame has unlocked a setting")
	}

	// Without script the same by a page of its own.
	s := drainPage{lesson{newTab(t)}}
	call(s.tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	s.open(server.url + "/lessons/drain?predict=required&grace=10")
	if !eval[bool](s.tab, `document.querySelector("#step").disabled`) {
		t.Error("the player is not locked")
	}
	s.replace("#say-killed", "3")
	s.press("Commit the prediction")
	s.wait(`location.search.includes("p.killed=3") && !document.querySelector("#step").disabled`)
	s.open(eval[string](s.tab, "location.href") + "&t=60")
	s.wait(`document.querySelector("#predict .pill").innerText.includes("As you said")`)
	s.click("#share-open")
	s.wait(`location.pathname === "/lessons/drain/share"`)
	s.click("#share-hide-trace")
	s.press("Update")
	s.wait(`document.querySelector("#share-link").value.includes("hide=trace")`)
	s.open(server.url + "/lessons/drain?t=60&b.grace=20&panel=compare")
	s.wait(`document.querySelector("#parting").innerText.includes("the same up to 30 s") && document.querySelectorAll("#compare-runs .lanes").length === 2`)
}
