package web

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drainlab/internal/course"
	"drainlab/web/answer"
)

// told is all that the course tells of a link: each of its addresses, and
// whatever the page and its parts lead to or load that is of the same lesson.
func (c *served) told(link course.Link) map[string]string {
	c.t.Helper()
	all := map[string]string{}
	add := func(path string) string {
		if body, ok := all[path]; ok {
			return body
		}
		resp, body := c.get(path)
		if resp.StatusCode >= 500 {
			c.t.Errorf("%s: %s", path, resp.Status)
		}
		all[path] = body
		return body
	}
	for _, below := range []string{"parts", "share", "handout", "handout/key", "card.png", "picture.svg", "picture.png", "about", "qr.svg"} {
		add(link.At(below))
	}
	var pages []string
	for _, embedded := range []bool{false, true} {
		for _, tab := range link.Lesson.Tabs() {
			at := link
			at.Embedded, at.Panel, at.PanelNamed = embedded, tab.ID, true
			pages = append(pages, add(at.Address()), add(at.At("parts")))
		}
	}
	add("/oembed?url=" + url.QueryEscape(c.url+link.Public()))
	// What the pages lead to, of the same question: ways to other runs, or to
	// the API, are a learner's own to go.
	for _, page := range pages {
		for _, m := range regexp.MustCompile(`(?:src|href)="(/[^"]*)"`).FindAllStringSubmatch(page, -1) {
			path := html.UnescapeString(m[1])
			if strings.Contains(path, "predict=required") {
				add(path)
			}
		}
	}
	return all
}

func TestNothingOfAQuestionTellsItsAnswer(t *testing.T) {
	c := startToys(t)
	const settings = "count=29&by=137" // comes to 3973, which no other text has
	for query, held := range map[string]bool{
		settings + "&predict=required":                        true,
		settings + "&predict=required&t=58":                   true,
		settings + "&predict=required&guess=3":                true,
		settings + "&predict=required&guess=3&t=30&panel=log": true,
		settings + "&predict=required&guess=3&t=57.9":         true,
		settings + "&predict=required&guess=3&t=58":           false,
		settings + "&t=58":                                    false,
		settings:                                              false,
	} {
		link := c.readLink("/lessons/counter?" + query)
		if link.Held() != held {
			t.Fatalf("%s is held: %t", query, link.Held())
		}
		var telling []string
		for path, body := range c.told(link) {
			if strings.Contains(body, "3973") {
				telling = append(telling, path)
			}
		}
		slices.Sort(telling)
		if held && len(telling) > 0 {
			t.Errorf("%s: the answer is at %q", query, telling)
		}
		if !held && !slices.ContainsFunc(telling, func(path string) bool { return strings.Contains(path, "card.png") }) {
			t.Errorf("%s: not even the card tells it: this test sees nothing", query)
		}
	}
}

// outcomes are what lesson 1's run comes to, in the words that its pages use.
func (c *served) outcomes(link course.Link) []string {
	c.t.Helper()
	var f runFigures
	c.ask("/api/v1/run", settingsOfRun(link, ""), &f)
	a := f.Account
	list := []string{fmt.Sprintf("%d killed", a.Killed), fmt.Sprintf("%d completed", a.Completed), fmt.Sprintf("%d admitted", a.Admitted), fmt.Sprintf("%d rejected", a.Rejected), fmt.Sprintf("%d complete", a.Completed),
		"gate says " + strings.ToUpper(f.Gate.Verdict) + ".", "is killed at", "exits at", "die unfinished"}
	key := link
	key.Predict = false
	if m := regexp.MustCompile(`Killed: ([0-9, and]+)\.`).FindStringSubmatch(words(c.page(key.At("handout/key")))); m != nil {
		list = append(list, m[1], strings.ReplaceAll(m[1], " and ", ", "), strings.ReplaceAll(strings.ReplaceAll(m[1], " and ", ","), ", ", ","))
	}
	return list
}

func TestNothingOfLesson1sQuestionTellsItsAnswer(t *testing.T) {
	c := startCourse(t)
	told := map[string]bool{} // outcomes that the same run tells once it is seen
	for _, settings := range []string{"", "duration=8&grace=10&replacement=1&"} {
		for _, query := range []string{"predict=required&t=60", "predict=required&p.dies=1,2&p.completed=9&t=45&panel=why"} {
			link := c.readLink("/lessons/drain?" + settings + query)
			if !link.Held() {
				t.Fatalf("%s%s is not held", settings, query)
			}
			outcomes := c.outcomes(link)
			for path, body := range c.told(link) {
				// Up to its instant a run that is predicted is seen, on the page alone.
				beside := slices.ContainsFunc([]string{"/handout", "/card", "/about", "/picture", "/share", "/qr", "/oembed"}, func(part string) bool { return strings.Contains(path, part) })
				if !link.Waits() && !beside {
					continue
				}
				text := words(body)
				for _, outcome := range outcomes {
					if strings.Contains(body, outcome) || strings.Contains(text, outcome) {
						t.Errorf("%s%s: %s tells %q", settings, query, path, outcome)
					}
				}
			}
		}
		whole := c.readLink("/lessons/drain?" + settings + "t=60&p.killed=9")
		outcomes := c.outcomes(whole)
		for _, path := range []string{whole.Address(), whole.At("handout/key"), whole.At("about")} {
			text := words(c.page(path))
			for _, outcome := range outcomes {
				if strings.Contains(text, outcome) {
					told[outcome] = true
				}
			}
		}
	}
	for _, want := range []string{"4 killed", "7 admitted", "6, 13, 14 and 15", "gate says FAIL.", "gate says PASS.", "die unfinished"} {
		if !told[want] {
			t.Errorf("%q is told nowhere: this test sees nothing of it", want)
		}
	}
}

// What is streamed of a view that waits stands at its beginning.
func TestAWaitingViewIsStreamedAtItsBeginning(t *testing.T) {
	c := startCourse(t)
	for _, query := range []string{"predict=required&t=60", "predict=required&grace=10&playing=0"} {
		resp, _ := c.openStream("/lessons/drain/stream?" + query)
		for _, ev := range until(t, readEvents(resp.Body), func(clock) bool { return true }) {
			if text := words(ev.data); regexp.MustCompile(`[1-9]\d* killed|is killed|was killed`).MatchString(text) {
				t.Errorf("%s: %s", query, text)
			}
		}
		resp.Body.Close()
	}
	resp, body := c.get("/lessons/drain/parts?predict=required&t=60", answer.ClientHeader, "true")
	if resp.StatusCode != 200 || !strings.Contains(body, `id="f-predict"`) {
		t.Errorf("the parts ask nothing: %s %.300s", resp.Status, words(body))
	}
}
