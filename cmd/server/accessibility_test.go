package main

import (
	"os"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// axe-core, from npm, checks every page by the rules of WCAG that a program
// can check.
func TestAxeFindsNoViolationOnAnyPage(t *testing.T) {
	axe, err := os.ReadFile("../../node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatal("axe-core is not installed; make test does it: ", err)
	}
	server := startServer(t)
	b := lesson{newTab(t, "404 (Not Found)")}
	for _, page := range []struct {
		path   string
		lesson bool
	}{
		{"/", false},
		{"/lessons/drain?grace=20&replacement=1&t=47", true},
		{"/lessons/drain?t=60", true},
		{"/lessons/drain?fail_init=1&workers=3&t=30", true},
		{"/lessons/drain?t=60&p.completed=4&p.dies=6,13&p.verdict=pass", true},
		{"/lessons/drain?predict=required&lock=grace,handler", true},
		{"/lessons/drain?grace=0&b.grace=20&t=60", true},
		{"/lessons/drain?duration=8&grace=10&replacement=1&t=60", true},
		{"/lessons/drain/share?t=30&hide=text&lock=grace", false},
		{"/lessons/drain/handout", false},
		{"/embed/lessons/drain?t=60", true},
		{"/embed/lessons/clocks", false},
		{"/embed/lessons/ledgers", false},
		{"/teach", false},
		{"/embed/doctor", false},
		{"/lessons/ledgers", false},
		{"/lessons/clocks", false},
		{"/lessons/clocks?platform=docker&long=40&grace=12", false},
		{"/nowhere", false},
	} {
		for _, theme := range []string{"light", "dark"} {
			b.media(&emulation.MediaFeature{Name: "prefers-color-scheme", Value: theme})
			b.open(server.url + page.path)
			if page.lesson {
				b.connected()
			}
			eval[bool](b.tab, string(axe)+";true")
			violations, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]string](`axe.run().then(r => r.violations.map(v => v.id + ": " + v.help + " — " +
				v.nodes.map(n => n.target.join(" ") + " " + (n.any[0]?.message ?? "")).slice(0, 5).join(" | ")))`, chromedp.EvalAwaitPromise))
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range violations {
				t.Errorf("%s, %s: %s", page.path, theme, v)
			}
		}
	}
}
