package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The page must fit every width, at the settings that need the most room, and
// what can be pressed must be large enough.
func TestThePageFitsEveryWidth(t *testing.T) {
	server := startServer(t)
	b := lesson{newTab(t)}
	for _, path := range []string{
		"/",
		"/lessons/drain?t=60",
		"/lessons/drain?workers=4&slots=8&duration=1&interval=0.5&replacement=1&t=60",
		"/lessons/drain?workers=4&slots=8&duration=40&interval=0.5&replacement=1&handler=0&ready_only=0&signal=59.5&grace=30&t=60",
		"/lessons/drain?workers=4&slots=8&duration=1&interval=0.5&replacement=1&t=60&p.completed=4&p.dies=1,2,3,4,5,6,79&p.verdict=pass",
		"/lessons/drain?workers=4&slots=8&interval=0.5&handler=0&predict=required",
		"/lessons/drain?workers=4&slots=8&duration=40&interval=0.5&grace=30&b.workers=1&b.slots=1&t=60",
		"/lessons/drain/share?t=30&lock=all",
		"/lessons/drain/handout?workers=4&slots=8&interval=0.5&replacement=1",
		"/embed/lessons/drain?t=60",
		"/teach",
		"/embed/doctor",
		"/lessons/ledgers",
		"/lessons/clocks?platform=ec2-spot",
		"/lessons/clocks?grace=3599.9&hook_in_grace=0&prestop=600&signal_delay=60&withdraw=60&propagation=300&gate=none&server_timeout=3600&interval=0.1&request=600&long=3600&long_age=3599.9&deadline=3600&cooperative=0",
		"/nowhere",
	} {
		expected := []string{}
		if path == "/nowhere" {
			expected = append(expected, "404 (Not Found)")
		}
		b.mu.Lock()
		b.expected = expected
		b.mu.Unlock()
		b.open(server.url + path)
		for _, width := range []int64{320, 390, 768, 1024, 1440, 2560} {
			b.size(width, 900)
			if wide := eval[int](b.tab, "document.documentElement.scrollWidth"); wide > int(width) {
				t.Errorf("%s at %d px is %d px wide", path, width, wide)
			}
			small := eval[[]string](b.tab, `[...document.querySelectorAll("button, select, input, a.button, a.chip, label.toggle, summary")]
				.filter(el => el.checkVisibility() && !el.closest(".sr") && !el.classList.contains("sr") && getComputedStyle(el).opacity !== "0" && el.type !== "hidden")
				.filter(el => { const r = el.getBoundingClientRect(); return r.width < 24 || r.height < 24; })
				.map(el => el.outerHTML.slice(0, 80))`)
			if len(small) > 0 {
				t.Errorf("%s at %d px: smaller than 24 px: %v", path, width, small)
			}
			cut := eval[[]string](b.tab, `[...document.querySelectorAll("button, h1, h2, h3, legend, label, dt, dd, .pill, .reasons")]
				.filter(el => el.checkVisibility() && !el.classList.contains("sr") && !el.closest(".lanes-scroll"))
				.filter(el => el.scrollWidth > el.clientWidth + 1 && getComputedStyle(el).display !== "inline")
				.map(el => el.outerHTML.slice(0, 80))`)
			if len(cut) > 0 {
				t.Errorf("%s at %d px: text is cut: %v", path, width, cut)
			}
		}
	}
}

func TestWorkerNamesStayWhileTheLanesScroll(t *testing.T) {
	server := startServer(t)
	b := openLesson(t, server.url+"/lessons/drain?t=60")
	b.size(390, 800)
	before := eval[float64](b.tab, `document.querySelector(".lane-names").getBoundingClientRect().left`)
	// By keyboard: the lanes can be focused and scrolled.
	b.keys(".lanes-scroll", strings.Repeat(kb.ArrowRight, 8))
	b.wait(`document.querySelector(".lanes-scroll").scrollLeft > 100`)
	if after := eval[float64](b.tab, `document.querySelector(".lane-names").getBoundingClientRect().left`); after != before {
		t.Errorf("the names moved from %v to %v", before, after)
	}
	// While playing, the playhead stays in sight, once the person lets it.
	b.press("Restart")
	b.at("0.0")
	b.press("8×")
	b.press("Play")
	b.at("60.0")
	b.wait(`document.querySelector(".lanes-scroll").scrollLeft > 200`)
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
		new MutationObserver(() => {
			const t = document.querySelector(".past").style.getPropertyValue("--t");
			const drawn = document.querySelector("#lanes-summary").textContent.match(/At ([\d.]+) s/)[1];
			if (Math.abs(t - drawn) >= 0.11) window.between.push(t + " between frames, at " + drawn);
		}).observe(document.querySelector("#lanes"), {subtree: true, attributes: true, attributeFilter: ["style"]});
		return true;
	})()`)
	b.press("4×")
	b.press("Play")
	b.wait(`parseFloat(document.querySelector("#now").innerText) >= 12`)
	b.press("Pause")
	if got := eval[[]string](b.tab, "window.between"); len(got) > 0 {
		t.Errorf("the playhead moved: %v", got[:1])
	}
}

// What the page prints is the run as it stands, without its controls.
func TestItPrintsAsItStands(t *testing.T) {
	server := startServer(t)
	b := openLesson(t, server.url+"/lessons/drain?grace=10&t=60")
	call(b.tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	for selector, shown := range map[string]bool{".plot": true, "#gate": true, "#results": true, "#n-grace": true, "#transport": false, ".top": false, "#apply-opening": false} {
		if got := eval[bool](b.tab, fmt.Sprintf("document.querySelector(%q).checkVisibility()", selector)); got != shown {
			t.Errorf("in print %s is shown: %v", selector, got)
		}
	}
	b.expect("20/7/4/3/0/13")
	pdf, err := chromedp.Run(b.ctx, chromedp.PrintToPDF())
	if err != nil || len(pdf) < 10_000 {
		t.Errorf("the print: %v, %d bytes", err, len(pdf))
	}
}
