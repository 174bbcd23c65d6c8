package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// lessonViews are the lessons in the views in which they are looked at, and
// lesson 1 with more in its picture than there will ever be.
var lessonViews = []string{
	"/lessons/drain?grace=20&replacement=1&t=47",
	"/lessons/drain?workers=4&slots=8&duration=40&interval=0.5&replacement=1&handler=0&signal=59.5&grace=30&b.workers=1&t=60",
	"/lessons/ledgers",
	"/lessons/clocks?platform=kubernetes&server_timeout=60&long=40&t=25",
}

// measures are the functions that look at a page. Each tells what is wrong.
const measures = `(() => {
	const tell = (el) => el.outerHTML.slice(0, 90);
	const shown = (el) => el.checkVisibility({opacityProperty: true, visibilityProperty: true}) && !el.closest(".sr");
	const stage = () => document.querySelector("[data-stage]:not([hidden])") ?? document.querySelector("#picture");

	// Whether the page is as large as the window, and no larger.
	window.overflow = (high) => {
		const {scrollWidth, scrollHeight} = document.documentElement, wrong = [];
		if (scrollWidth > innerWidth) wrong.push("the page is " + scrollWidth + " px wide");
		if (high && scrollHeight > innerHeight) wrong.push("the page is " + scrollHeight + " px high");
		return wrong;
	};
	// Whether picture, player and whatever else is named are seen as a whole,
	// the picture with all that is drawn in it, and none over another.
	window.seen = (...others) => {
		const wrong = [], play = document.querySelector("#play"), all = [stage(), ...others.map((s) => document.querySelector(s))];
		if (play.childElementCount > 0) all.push(play);
		const boxes = all.map((el) => el.getBoundingClientRect());
		boxes.forEach((r, i) => {
			if (r.width < 80 || r.height < 15) wrong.push(tell(all[i]) + " is " + r.width + " by " + r.height);
			if (r.left < 0 || r.top < 0 || r.right > innerWidth || r.bottom > innerHeight + 0.5) wrong.push(tell(all[i]) + " is out of sight: " + [r.left, r.top, r.right, r.bottom]);
			boxes.slice(i + 1).forEach((o, j) => {
				if (r.left < o.right - 1 && o.left < r.right - 1 && r.top < o.bottom - 1 && o.top < r.bottom - 1) wrong.push(tell(all[i]) + " is over " + tell(all[i + 1 + j]));
			});
		});
		for (const el of [document.querySelector("#stage"), document.querySelector("#picture")])
			if (el.scrollHeight > el.clientHeight + 1 || el.scrollWidth > el.clientWidth + 1) wrong.push("more in it than there is room: " + tell(el) + el.scrollWidth + "×" + el.scrollHeight + " in " + el.clientWidth + "×" + el.clientHeight);
		return wrong;
	};
	// What can be pressed has at least 24 px each way.
	window.small = () => [...document.querySelectorAll("button, select, input, textarea, a.button, a.chip, .tab-row a, .panel-links a, label.toggle, label.tick, summary")]
		.filter((el) => shown(el) && el.type !== "hidden" && !el.classList.contains("sr") && !el.classList.contains("skip"))
		.filter((el) => { const r = el.getBoundingClientRect(); return r.width < 23.9 || r.height < 23.9; }).map(tell);
	// No text is cut off.
	window.cut = () => [...document.querySelectorAll("button, select, h1, h2, h3, legend, label, dt, dd, .pill, .reasons, .figure, .stamp, .tab-row a, .chip, .outcome, #play p")]
		.filter((el) => shown(el) && !el.classList.contains("sr") && getComputedStyle(el).display !== "inline")
		.filter((el) => el.scrollWidth > el.clientWidth + 1).map(tell);
	// What can be pressed or dragged in the picture: at least 24 px, and no two on one place.
	window.hits = () => {
		const all = [...document.querySelectorAll("#picture [data-drag], #picture button, #picture a, #picture [role=button], #picture .arrival")].filter((el) => el.checkVisibility());
		const places = all.map((el) => el.querySelector(".clocks-hit, .hit") ?? el)
			.map((el, i) => getComputedStyle(el).pointerEvents === "none" ? document.querySelector("#picture .row-hit") : el);
		const wrong = [], boxes = new Map();
		for (const el of new Set(places)) boxes.set(el, el.getBoundingClientRect());
		for (const [el, r] of boxes) {
			if (r.width < 23.9 || r.height < 23.9) wrong.push(tell(el) + " is " + r.width + " by " + r.height);
			for (const [other, o] of boxes)
				if (el !== other && r.left < o.right - 0.5 && o.left < r.right - 0.5 && r.top < o.bottom - 0.5 && o.top < r.bottom - 0.5 && tell(el) < tell(other)) wrong.push(tell(el) + " is over " + tell(other));
		}
		return wrong;
	};
	return true;
})()`

// wrong has each thing that a measure finds reported, at that place.
func (b *tab) wrong(measure, format string, args ...any) {
	b.t.Helper()
	if found := eval[[]string](b, measure); len(found) > 0 {
		b.t.Errorf("%s: %s: %s", fmt.Sprintf(format, args...), strings.TrimSuffix(measure, "()"), strings.Join(found, "\n\t"))
	}
}

// tabs are the ids of the panel's tabs.
func (b lesson) tabs() []string {
	b.t.Helper()
	return eval[[]string](b.tab, `[...document.querySelectorAll("[data-tab-link]")].map(a => a.dataset.tabLink)`)
}

// turn opens a tab of the panel where the picture is not pressed for.
func (b lesson) turn(id string) {
	b.t.Helper()
	eval[bool](b.tab, fmt.Sprintf(`(document.querySelector("#tab-link-%s").click(), true)`, id))
	b.wait(fmt.Sprintf(`document.querySelector("#tab-%[1]s").checkVisibility() && document.querySelector("[data-stage='%[1]s']")?.childElementCount !== 0`, id))
}

// A lesson is one screen: wide, the page itself never scrolls; narrow, the
// picture and the player stay while the panel scrolls.
func TestALessonIsOneScreenWithAnyTabOpen(t *testing.T) {
	server := startServer(t)
	b := lesson{newTab(t)}
	for _, path := range lessonViews {
		b.size(1440, 900)
		b.open(server.url + path)
		b.connected()
		eval[bool](b.tab, measures)
		for _, panel := range b.tabs() {
			b.size(1440, 900)
			b.turn(panel)
			for _, size := range [][2]int64{{1440, 900}, {1440, 789}, {1280, 720}, {1024, 768}} {
				b.size(size[0], size[1])
				b.wrong(`overflow(true)`, "%s, %s at %d × %d", path, panel, size[0], size[1])
				b.wrong(fmt.Sprintf(`seen("#verdict", "#tab-%s")`, panel), "%s, %s at %d × %d", path, panel, size[0], size[1])
			}
			for _, size := range [][2]int64{{390, 844}, {360, 640}} {
				b.size(size[0], size[1])
				b.wrong(`overflow(false)`, "%s, %s at %d × %d", path, panel, size[0], size[1])
				eval[bool](b.tab, `(scrollTo({top: document.documentElement.scrollHeight, behavior: "instant"}), true)`)
				b.wrong(`seen("#verdict")`, "%s, %s at %d × %d, scrolled to its end", path, panel, size[0], size[1])
				// What has the focus is not under the picture.
				b.wrong(fmt.Sprintf(`[...document.querySelectorAll("#tab-%s :is(input, select, button)")].filter(el => el.checkVisibility() && el.type !== "hidden" && !el.disabled).slice(0, 12).flatMap(el => {
					document.activeElement.blur();
					scrollTo({top: document.documentElement.scrollHeight, behavior: "instant"});
					el.focus();
					const r = el.getBoundingClientRect(), under = document.querySelector("#stage").getBoundingClientRect().bottom;
					return r.top >= under - 1 && r.bottom <= innerHeight + 1 ? [] : [el.id + " at " + r.top + " to " + r.bottom + ", under " + under];
				})`, panel), "%s, %s at %d × %d, focused", path, panel, size[0], size[1])
				eval[bool](b.tab, `(scrollTo({top: 0, behavior: "instant"}), true)`)
			}
		}
	}
}

// The picture at every width: its lanes are high enough to be read, and what
// can be pressed in it is large enough and apart.
func TestThePictureIsMadeForFingers(t *testing.T) {
	server := startServer(t)
	b := lesson{newTab(t)}
	for _, path := range []string{"/lessons/drain?t=60", "/lessons/drain?grace=20&replacement=1&t=60", "/lessons/drain?signal=60&grace=0&t=60", "/lessons/drain?interval=1&t=60",
		"/lessons/clocks", "/lessons/clocks?platform=ec2-spot", "/lessons/clocks?platform=kubernetes&server_timeout=60&long=40"} {
		b.open(server.url + path)
		b.connected()
		eval[bool](b.tab, measures)
		for _, size := range [][2]int64{{1440, 900}, {1024, 768}, {768, 1024}, {390, 844}, {360, 640}, {320, 568}} {
			b.size(size[0], size[1])
			b.wrong(`hits()`, "%s at %d × %d", path, size[0], size[1])
			if path != "/lessons/drain?t=60" || size[0] < 360 {
				continue
			}
			b.wrong(`[...document.querySelectorAll("#lanes .row")].map(el => el.getBoundingClientRect()).filter(r => r.height < 18 || r.left < 0 || r.right > innerWidth).map(r => "a lane of " + r.width + " by " + r.height)`,
				"%s at %d × %d", path, size[0], size[1])
			if rows := eval[int](b.tab, `document.querySelectorAll("#lanes .row").length`); rows != 4 {
				t.Fatalf("%d lanes", rows)
			}
		}
	}
}

// A frame shows the lesson whole in the heights that the snippets name.
func TestFramesAreCompleteWithoutScrolling(t *testing.T) {
	server := startServer(t)
	b := lesson{newTab(t)}
	for _, path := range []string{"/embed/lessons/drain?t=60", "/embed/lessons/drain?predict=required", "/embed/lessons/drain?grace=20&replacement=1&workers=3&t=47", "/embed/lessons/ledgers",
		"/embed/lessons/clocks", "/embed/lessons/clocks?platform=kubernetes&server_timeout=60&long=40&t=25"} {
		for _, size := range [][2]int64{{640, 440}, {340, 520}} {
			b.size(size[0], size[1])
			b.open(server.url + path)
			b.connected()
			eval[bool](b.tab, measures)
			b.wrong(`overflow(true)`, "%s at %d × %d", path, size[0], size[1])
			b.wrong(`seen("#verdict", ".embed-foot a")`, "%s at %d × %d", path, size[0], size[1])
			b.wrong(`small()`, "%s at %d × %d", path, size[0], size[1])
			b.wrong(`cut()`, "%s at %d × %d", path, size[0], size[1])
			b.wrong(`hits()`, "%s at %d × %d", path, size[0], size[1])
			if got := b.text(".embed-foot a"); !strings.HasPrefix(got, "Open the lesson") {
				t.Errorf("%s: %q", path, got)
			}
		}
	}
}

// What comes while a page loads moves nothing of what is there.
func TestNothingMovesWhileAPageLoads(t *testing.T) {
	server := startServer(t)
	b := lesson{newTab(t)}
	for _, path := range append([]string{"/", "/teach", "/lessons/drain?panel=settings&t=60", "/lessons/drain?panel=compare&t=60&b.grace=20", "/lessons/clocks?panel=clocks",
		"/lessons/clocks?panel=owners", "/embed/lessons/drain", "/embed/lessons/clocks", "/embed/lessons/ledgers"}, lessonViews...) {
		for _, size := range [][2]int64{{1440, 900}, {390, 844}} {
			b.size(size[0], size[1])
			b.open(server.url + path)
			if strings.Contains(path, "/lessons/") {
				b.connected()
			}
			shifts, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]string](`new Promise(done => {
				const all = [];
				new PerformanceObserver(list => all.push(...list.getEntries())).observe({type: "layout-shift", buffered: true});
				requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(all.map(s =>
					s.value.toFixed(4) + ": " + s.sources.map(o => [o.previousRect, o.currentRect].map(r => [r.x, r.y, r.width, r.height].join(" ")).join(" → ") + " " + (o.node?.outerHTML ?? o.node?.textContent)?.slice(0, 80)).join(" | "))), 100)));
			})`, chromedp.EvalAwaitPromise))
			if err != nil {
				t.Fatal(err)
			}
			if len(shifts) > 0 {
				t.Errorf("%s at %d × %d moves: %s", path, size[0], size[1], strings.Join(shifts, "\n\t"))
			}
		}
	}
}

// Every page must fit every width, at the settings that need the most room,
// and what can be pressed must be large enough.
func TestEveryPageFitsEveryWidth(t *testing.T) {
	server := startServer(t)
	b := lesson{newTab(t)}
	for _, path := range []string{
		"/",
		"/lessons/drain?t=60",
		"/lessons/drain?workers=4&slots=8&duration=1&interval=0.5&replacement=1&t=60&panel=settings",
		"/lessons/drain?workers=4&slots=8&duration=40&interval=0.5&replacement=1&handler=0&ready_only=0&signal=59.5&grace=30&t=60&panel=why",
		"/lessons/drain?workers=4&slots=8&duration=1&interval=0.5&replacement=1&t=60&p.completed=4&p.dies=1,2,3,4,5,6,79&p.verdict=pass",
		"/lessons/drain?workers=4&slots=8&interval=0.5&handler=0&predict=required",
		"/lessons/drain?workers=4&slots=8&duration=40&interval=0.5&grace=30&b.workers=1&b.slots=1&t=60&panel=compare",
		"/lessons/drain?workers=4&slots=8&replacement=1&t=60&panel=inspect",
		"/lessons/drain?t=60&panel=sweep",
		"/lessons/drain/about",
		"/lessons/drain/share?t=30&lock=all",
		"/lessons/drain/handout?workers=4&slots=8&interval=0.5&replacement=1",
		"/lessons/drain/handout/key?workers=4&slots=8&interval=0.5&replacement=1",
		"/embed/lessons/drain?t=60",
		"/embed/lessons/drain?t=60&panel=settings",
		"/teach",
		"/teach?lesson=clocks&start=case-2&height=500&hide=text",
		"/embed/doctor",
		"/lessons/ledgers?panel=evidence",
		"/lessons/ledgers?panel=record",
		"/lessons/ledgers/about",
		"/lessons/ledgers/handout",
		"/embed/lessons/ledgers",
		"/lessons/clocks?platform=ec2-spot&panel=clocks",
		"/lessons/clocks?panel=budget&grace=3599.9&hook_in_grace=0&prestop=600&signal_delay=60&withdraw=60&propagation=300&gate=none&server_timeout=3600&interval=0.1&request=600&long=3600&long_age=3599.9&deadline=3600&cooperative=0",
		"/lessons/clocks?panel=owners",
		"/lessons/clocks?panel=map",
		"/lessons/clocks/about",
		"/lessons/clocks/handout",
		"/embed/lessons/clocks?panel=clocks",
		"/nowhere",
	} {
		var expected []string
		if path == "/nowhere" {
			expected = append(expected, "404 (Not Found)")
		}
		b.mu.Lock()
		b.expected = expected
		b.mu.Unlock()
		b.open(server.url + path)
		if strings.Contains(path, "/lessons/") && eval[bool](b.tab, `document.querySelector("#lesson") !== null`) {
			b.connected()
		}
		eval[bool](b.tab, measures)
		for _, width := range []int64{320, 390, 768, 1024, 1440, 2560} {
			b.size(width, 900)
			for _, measure := range []string{`overflow(false)`, `small()`, `cut()`} {
				b.wrong(measure, "%s at %d px", path, width)
			}
		}
	}
}

func TestReducedMotionMovesInSteps(t *testing.T) {
	server := startServer(t)
	b := lesson{newTab(t)}
	b.media(&emulation.MediaFeature{Name: "prefers-reduced-motion", Value: "reduce"})
	b.open(server.url + "/lessons/drain")
	b.connected()
	// Every place that the playhead takes is one of a frame.
	eval[bool](b.tab, `(() => {
		window.between = [];
		window.places = new Set();
		new MutationObserver(() => {
			const t = document.querySelector("#picture .past").style.getPropertyValue("--t");
			const drawn = document.querySelector("#lanes p.sr").textContent.match(/At ([\d.]+) s/)[1];
			places.add(t);
			if (Math.abs(t - drawn) >= 0.11) between.push(t + " between frames, at " + drawn);
		}).observe(document.querySelector("#picture"), {subtree: true, attributes: true, attributeFilter: ["style"]});
		return true;
	})()`)
	b.choose("#speed", "4")
	b.press("Play")
	b.wait(`parseFloat(document.querySelector("#now").innerText) >= 12`)
	b.press("Pause")
	if got := eval[[]string](b.tab, "between"); len(got) > 0 {
		t.Errorf("the playhead moved: %v", got[:1])
	}
	if eval[int](b.tab, "places.size") < 3 {
		t.Error("nobody saw the playhead move")
	}
}

var pdfPage = regexp.MustCompile(`/Type\s*/Page\b[^s]`)

// What a page prints is the run as it stands, without its controls; a handout
// is one sheet with room to write in.
func TestItPrintsAsItStands(t *testing.T) {
	server := startServer(t)
	b := openLesson(t, server.url+"/lessons/drain?grace=10&t=60&panel=settings")
	b.size(718, 1000) // A4 without its margins
	call(b.tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	for selector, shown := range map[string]bool{".lane-plot": true, "#strip": true, "#n-grace": true, "#c-grace": false, "#transport": false, ".top": false, ".tabs": false, ".panel-links": false} {
		if got := eval[bool](b.tab, fmt.Sprintf("document.querySelector(%q).checkVisibility()", selector)); got != shown {
			t.Errorf("in print %s is shown: %v", selector, got)
		}
	}
	b.wrong(`[...document.querySelectorAll("#tab-settings .slider")].filter(s => {
		const [label, field] = ["label", ".field"].map(part => s.querySelector(part).getBoundingClientRect());
		return label.right > field.left + 1 && label.top < field.bottom && field.top < label.bottom;
	}).map(s => s.innerText)`, "fields over labels")
	if got := b.text("#strip"); !strings.Contains(strings.Join(strings.Fields(got), " "), "4 kept 3 lost 0 running") {
		t.Errorf("the print says %q", got)
	}
	pdf, err := chromedp.Run(b.ctx, chromedp.PrintToPDF())
	if err != nil || len(pdf) < 10_000 {
		t.Errorf("the print: %v, %d bytes", err, len(pdf))
	}

	for _, path := range []string{"/lessons/drain/handout?grace=10&replacement=1", "/lessons/drain/handout?workers=4&slots=8&interval=0.5&replacement=1",
		"/lessons/drain/handout/key?grace=10&replacement=1", "/lessons/clocks/handout?platform=kubernetes&long=40",
		"/lessons/clocks/handout/key?platform=kubernetes&long=40", "/lessons/ledgers/handout", "/lessons/ledgers/handout/key"} {
		b.open(server.url + path)
		b.wait(`[...document.images].every(i => i.complete && i.naturalWidth > 0)`)
		if eval[bool](b.tab, `[...document.querySelectorAll(".top, .sheet-ways")].some(el => el.checkVisibility())`) {
			t.Errorf("%s prints its controls", path)
		}
		if qr := eval[float64](b.tab, `document.querySelector(".sheet .qr").getBoundingClientRect().width`); qr < 90 {
			t.Errorf("%s: a code %v px wide is hard to scan", path, qr)
		}
		if !strings.Contains(path, "/key") {
			b.wrong(`[...document.querySelectorAll(".sheet .blank")].map(el => el.getBoundingClientRect()).filter(r => r.height < 28 || r.width < 300).map(r => r.width + " by " + r.height)`, "%s: rows to write in", path)
			if !eval[bool](b.tab, `document.querySelectorAll(".sheet .blank").length > 2 && document.querySelector(".sheet-name").innerText.includes("Name")`) {
				t.Errorf("%s has no room to answer", path)
			}
		}
		pdf, err := chromedp.Run(b.ctx, chromedp.PrintToPDF())
		if err != nil {
			t.Fatal(err)
		}
		if pages := len(pdfPage.FindAll(pdf, -1)); pages != 1 {
			t.Errorf("%s is %d sheets", path, pages)
		}
	}
}
