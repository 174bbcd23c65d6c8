package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestALearnerPredictsAndIsToldWhereTheThinkingWentWrong(t *testing.T) {
	server := startServer(t)
	b := openLesson(t, server.url+"/lessons/drain?predict=required&t=60")

	// Nothing is seen, and nothing plays, before the prediction stands.
	b.at("0.0")
	b.wait(`document.querySelector("#play").disabled && document.querySelector("#time").disabled`)
	b.keys(".lanes-scroll", " ")
	if got := b.text("#explain"); strings.Contains(got, "killed") {
		t.Errorf("the answer is on the page: %q", got)
	}
	b.press2("#commit")
	b.wait(`document.querySelector("#predict-problem").innerText.startsWith("Say at least one")`)

	// By keyboard, and two marks on the strip by the mouse.
	b.type_("#say-completed", "4")
	b.type_("#say-killed", "3")
	b.keys("#p-dies-6", " ")
	for _, n := range []int{13, 17} {
		b.still()
		at := eval[[]float64](b.tab, fmt.Sprintf(`(() => { const el = document.querySelector(".strip-mark[data-request='%d'] .strip-hit"); el.scrollIntoView({block: "center", behavior: "instant"});
			const r = el.getBoundingClientRect(); return [r.left + r.width/2, r.top + r.height/2]; })()`, n))
		b.run(chromedp.MouseClickXY(at[0], at[1]))
	}
	b.wait(`document.querySelector("#p-dies-13").checked && document.querySelector("#p-dies-17").checked && document.querySelectorAll(".strip-marked").length === 3`)
	b.keys("#predict input[value=fail]", " ")
	b.press2("#commit")
	b.wait(`location.search.includes("p.completed=4&p.killed=3&p.dies=6,13,17&p.verdict=fail")`)
	b.wait(`document.querySelector("#predict").innerText.includes("requests 6, 13 and 17 die") && !document.querySelector("#play").disabled`)

	// Played to the end, it stands beside what happened.
	b.press("8×")
	b.press("Play")
	b.at("60.0")
	b.wait(`document.querySelector("#predict .pill")?.innerText.includes("Not as you said")`)
	if got := eval[string](b.tab, `[...document.querySelectorAll("#predict tbody tr")].map(r => r.innerText.replace(/\s+/g, " ")).join("; ")`); got !=
		"Complete 4 3 ✕ wrong; How many are killed 3 4 ✕ wrong; Which are killed 6, 13 and 17 6, 13, 14 and 15 ✕ wrong; The gate FAIL FAIL ✓ right" {
		t.Errorf("the judgement reads %q", got)
	}
	if got := eval[string](b.tab, `["hit", "missed", "spared"].map(k => k + ":" + [...document.querySelectorAll(".strip-" + k)].filter(m => m.dataset.request).map(m => m.dataset.request).join(",")).join(" ")`); got != "hit:6,13 missed:14,15 spared:17" {
		t.Errorf("the strip marks %q", got)
	}
	if got := b.text("#predict .reasons"); !strings.Contains(got, "14 and 15") || !strings.Contains(got, "30 s") {
		t.Errorf("it says %q", got)
	}
	// Each wrong mark with the events that decide it, which are the trace's.
	if got := eval[string](b.tab, `[...document.querySelectorAll("#predict .chains > li")].map(li => [...li.querySelectorAll("[data-event]")].map(e => document.querySelector("#event-" + e.dataset.event) ? e.innerText.replace(/\s+/g, " ") : "not in the trace").join(" | ")).join("; ")`); !strings.Contains(got, "27 s Request 14 admitted by worker 1, slot 2 | 30 s Worker 1 gets SIGTERM") || strings.Contains(got, "not in the trace") {
		t.Errorf("the chains read %q", got)
	}

	// The explanation, and its change that passes, tried from its button.
	b.wait(`document.querySelector("#explain-h").innerText === "Why it fails"`)
	if got := b.text("#explain"); !strings.Contains(got, "Request 13 was admitted at 25 s") || !strings.Contains(got, "No single change of one setting passes.") {
		t.Errorf("it explains %q", got)
	}
	b.press2("#explain a.fix")
	// Other settings are another run: the prediction is withdrawn, and the player waits for a new one at 0.
	b.wait(`!location.search.includes("p.") && document.querySelector("#play").disabled && document.querySelector("#f-predict") && document.querySelector("#now").innerText === "0.0"`)
	b.wait(`document.querySelector("#sweep").innerText.startsWith("Shown when") && document.querySelector("#story").innerText.startsWith("What to take from it is told")`)
	if got := eval[string](b.tab, "document.activeElement.tagName"); got == "BODY" {
		t.Error("the focus is lost")
	}

	// A link without the demand: the fix leads to PASS, and the margin is told.
	b.open(server.url + "/lessons/drain?duration=8&grace=5&replacement=1&t=60")
	b.connected()
	b.run(chromedp.Click(chromedp.CSS(`#explain a.fix[data-set="grace=7"]`)))
	b.wait(`document.querySelector("#gate .pill").innerText.includes("PASS") && document.querySelector("#explain-h").innerText === "Why it passes, and by how much"`)
	if got := b.text("#explain"); !strings.Contains(got, "7 s") {
		t.Errorf("the margin reads %q", got)
	}
	b.run(chromedp.Func(goBack))
	b.wait(`location.search.includes("grace=5&") && document.querySelector("#explain-h").innerText === "Why it fails"`)
	// All right: said so.
	b.open(server.url + "/lessons/drain?t=60&p.completed=3&p.killed=4&p.dies=6,13,14,15&p.verdict=fail")
	b.connected()
	b.wait(`document.querySelector("#predict .pill").innerText.includes("As you said")`)
	b.press2("#predict-again")
	b.at("0.0")
	b.wait(`!location.search.includes("p.") && document.querySelector("#f-predict")`)
}

// still waits until the page scrolls no more.
func (b lesson) still() {
	b.t.Helper()
	b.wait(`(window.stood = window.stoodAt === scrollY ? (window.stood ?? 0) + 1 : 0, window.stoodAt = scrollY, window.stood > 8)`)
}

// press2 activates a link by keyboard.
func (b lesson) press2(selector string) {
	b.t.Helper()
	b.keys(selector, kb.Enter)
}

func TestTwoRunsAreSeenSideBySide(t *testing.T) {
	server := startServer(t)
	b := openLesson(t, server.url+"/lessons/drain?t=20")
	b.press2("#pin")
	b.wait(`location.search.includes("&b.grace=0&") && document.querySelector("#lanes-a .plot")`)
	b.wait(`document.querySelector("#share-open").href.includes("&b.grace=0&")`)
	b.wait(`document.querySelector("#compare").innerText.includes("The two runs are the same")`)
	// The settings change run B; A stays.
	b.type_("#n-grace", "20"+kb.Tab)
	b.wait(`location.search.includes("&grace=0&") && location.search.includes("&b.grace=20&")`)
	b.wait(`document.querySelector("#parting")?.innerText.includes("the same up to 30 s")`)
	if got := b.text("#compare"); strings.Contains(got, "completed") && strings.Contains(got, "+4") {
		t.Errorf("what the runs come to is told before it is seen: %q", got)
	}
	// One playhead: at 40 s in both, and nothing after it is seen in either.
	b.keys("#time", kb.End)
	b.at("60.0")
	b.wait(`[...document.querySelectorAll("#compare table")].length === 2`)
	if got := eval[string](b.tab, `[...document.querySelectorAll("#compare table:nth-of-type(2) tbody tr")].map(r => r.innerText.replace(/\s+/g, " ").trim()).join("; ")`); got !=
		"admitted 7 7; completed 3 7 +4; killed 4 0 −4; running 0 0; rejected 13 13; arrived 20 20; gate FAIL FAIL" {
		t.Errorf("the accounts differ by %q", got)
	}
	if got := eval[string](b.tab, `["#lanes-a", "#lanes"].map(id => [...document.querySelectorAll(id + " .part-line text")].map(t => t.textContent).join()).join(" | ")`); got != "they part at 30 s | they part at 30 s" {
		t.Errorf("the parting is marked as %q", got)
	}
	aligned := `(() => { const [a, b] = ["#lanes-a .plot", "#lanes .plot"].map(s => document.querySelector(s).getBoundingClientRect()); return Math.abs(a.left - b.left) < 1 && Math.abs(a.width - b.width) < 1; })()`
	if !eval[bool](b.tab, aligned) {
		t.Error("the lanes are not on one axis")
	}
	heads := eval[[]string](b.tab, `[...document.querySelectorAll(".past")].map(p => p.style.getPropertyValue("--t"))`)
	if len(heads) != 2 || heads[0] != heads[1] {
		t.Errorf("the playheads stand at %v", heads)
	}
	// A link of it, opened elsewhere, shows the same.
	b.wait(`location.search.includes("&t=60")`)
	link := eval[string](b.tab, "location.href")
	other := openLesson(t, link)
	other.expect("20/7/7/0/0/13")
	other.wait(`document.querySelector("#parting").innerText.includes("the same up to 30 s")`)
	other.size(390, 900)
	if wide := eval[int](other.tab, "document.documentElement.scrollWidth"); wide > 390 {
		t.Errorf("on a phone the page is %d px wide", wide)
	}
	if !eval[bool](other.tab, `document.querySelector("#lanes-a").getBoundingClientRect().bottom <= document.querySelector("#lanes").getBoundingClientRect().top + 1`) {
		t.Error("on a phone the runs do not stand one above the other")
	}
	// Swapped, pinned anew, ended; back leads through them.
	b.press2("#swap")
	b.expect("20/7/3/4/0/13")
	b.wait(`location.search.includes("&grace=20&") && location.search.includes("&b.grace=0&")`)
	b.press2("#end-comparison")
	b.wait(`!location.search.includes("b.") && location.search.includes("&grace=0&") && !document.querySelector("#lanes-a .plot")`)
	b.run(chromedp.Func(goBack))
	b.wait(`location.search.includes("&b.grace=0&") && document.querySelector("#lanes-a .plot")`)
}

func TestWhatIsSharedComesBackAsItWas(t *testing.T) {
	server := startServer(t)
	b := openLesson(t, server.url+"/lessons/drain?grace=20&replacement=1&t=47")
	b.press2("#share-open")
	b.wait(`document.querySelector("#share-dialog").open && document.querySelector("#share-link").value.includes("model=1")`)
	if got := eval[string](b.tab, `document.querySelector("#share-link").value`); !strings.Contains(got, "t=0") || !strings.Contains(got, "grace=20&") {
		t.Errorf("without its time the link is %s", got)
	}
	b.keys("#share-predict", " ")
	b.wait(`document.querySelector("#share-link").value.includes("predict=required")`)
	b.keys("#share-predict", " ")
	for _, box := range []string{"#share-at", "#share-hide-text", "#share-hide-inspector"} {
		b.keys(box, " ")
	}
	b.wait(`document.querySelector("#share-link").value.includes("t=47&") && document.querySelector("#share-link").value.includes("hide=inspector,text")`)
	b.keys("#share-locks summary", kb.Enter)
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
	for _, part := range []string{`src="` + server.url + `/embed/lessons/drain?model=1&amp;`, ` title="`, ` height="`, ` loading="lazy"`, ` allow="fullscreen; clipboard-write"`} {
		if !strings.Contains(snippet, part) {
			t.Errorf("the frame's code lacks %q: %s", part, snippet)
		}
	}
	for _, file := range eval[[]string](b.tab, `[...document.querySelectorAll(".share-files a[download], .share-files a[href*=handout]")].map(a => a.href)`) {
		get(t, file)
	}
	b.run(chromedp.Click(chromedp.CSS("[data-close]")))
	b.wait(`!document.querySelector("#share-dialog").open`)

	// The link, opened by somebody else.
	o := openLesson(t, link)
	o.at("47.0")
	o.wait(`document.querySelector("#n-grace").disabled && document.querySelector("#c-handler").disabled && !document.querySelector("#n-workers").disabled`)
	if got := eval[string](o.tab, `["#inspector-panel", ".prose", "#trace-panel", "#baseline", "#sweep-panel"].map(s => document.querySelector(s) ? 1 : 0).join("")`); got != "00100" {
		t.Errorf("inspector, text, trace, baseline, map are there: %s", got)
	}
	// The locks stay while the stream draws.
	o.press("Step 1 second")
	o.at("48.0")
	if !eval[bool](o.tab, `document.querySelector("#c-grace").disabled`) {
		t.Error("a frame has unlocked a setting")
	}

	// On paper: the answers are on a sheet of their own.
	p := newTab(t)
	p.open(server.url + "/lessons/drain/handout?grace=10")
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	if got := eval[string](p, `getComputedStyle(document.querySelector(".answers")).breakBefore + " " + document.querySelector(".answers").innerText.includes("13, 14 and 15")`); got != "page true" {
		t.Errorf("the answers: %s", got)
	}

	// Without script the same by a page of its own.
	s := lesson{newTab(t)}
	call(s.tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	s.open(server.url + "/lessons/drain?predict=required&grace=10")
	s.type_("#say-killed", "3")
	s.press("Commit the prediction")
	s.wait(`location.search.includes("p.killed=3") && !document.querySelector("#step").disabled`)
	s.open(strings.Replace(eval[string](s.tab, "location.href"), "&t=0&", "&t=60&", 1))
	s.wait(`document.querySelector("#predict .pill").innerText.includes("As you said")`)
	s.run(chromedp.Click(chromedp.CSS("#share-open")))
	s.wait(`location.pathname === "/lessons/drain/share"`)
	s.run(chromedp.Click(chromedp.CSS("#share-hide-trace")))
	s.press("Update")
	s.wait(`document.querySelector("#share-link").value.includes("hide=trace")`)
	s.open(server.url + "/lessons/drain?t=60&b.grace=20")
	s.wait(`document.querySelector("#parting").innerText.includes("the same up to 30 s") && document.querySelector("#lanes .part-line") && document.querySelector("#lanes-a .part-line")`)
}
