package web

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"drainlab/internal/course"
)

// Questions and answers are documents of their own: who gets the one has
// nothing of the other.
func TestQuestionsAndAnswersAreApart(t *testing.T) {
	c := startCourse(t)
	for _, tc := range []struct {
		lesson, query string
		answers       []string // of the key; none of them is on the questions' sheet
	}{
		{"drain", "", []string{"7 admitted, 3 completed, 4 killed", "Killed: 6, 13, 14 and 15", "The gate says FAIL"}},
		{"drain", "grace=10&t=60&p.killed=3", []string{"7 admitted, 4 completed, 3 killed", "Killed: 13, 14 and 15", "The gate says FAIL"}},
		{"drain", "duration=8&grace=10&replacement=1", []string{"16 completed, 0 killed", "The gate says PASS"}},
		{"toy", "limit=7", []string{"the count is 7 of 7"}},
	} {
		link := c.readLink("/lessons/" + tc.lesson + "?" + tc.query)
		asked, key := c.page(link.At("handout")), c.page(link.At("handout/key"))
		for _, says := range tc.answers {
			if !strings.Contains(words(key), says) {
				t.Errorf("%s?%s: the answers lack %q: %s", tc.lesson, tc.query, says, words(key))
			}
			if strings.Contains(words(asked), says) || strings.Contains(asked, says) {
				t.Errorf("%s?%s: the questions say %q", tc.lesson, tc.query, says)
			}
		}
		if strings.Contains(asked, "Answers:") || !strings.Contains(asked, "<span>Name</span>") || !strings.Contains(asked, `class="questions"`) {
			t.Errorf("%s?%s: the questions' sheet is %s", tc.lesson, tc.query, words(asked))
		}
		if strings.Contains(key, "<span>Name</span>") {
			t.Errorf("%s?%s: the answers ask for a name", tc.lesson, tc.query)
		}
	}
}

func TestASheetHasTheRunsSettingsAndTheWayToIt(t *testing.T) {
	c := startCourse(t)
	for _, l := range c.server.lessons.All() {
		link := course.OpenLink(l)
		link.T = link.View.Run().End()
		for _, below := range []string{"handout", "handout/key"} {
			page := c.page(link.At(below))
			asks := course.OpenLink(l)
			asks.T = 0 // wherever the lesson opens: a sheet's link does not answer
			public := asks.Public()
			if !strings.Contains(page, html.EscapeString(c.url+public)) {
				t.Errorf("%s: the link on paper is not %s", link.At(below), public)
			}
			if code, err := drawQR(c.url + public); err != nil || c.page(attribute(t, page, `<img class="qr" src="([^"]*)"`)) != string(code) {
				t.Errorf("%s: the QR code is another link's, %v", link.At(below), err)
			}
			if !strings.Contains(page, `href="`+html.EscapeString(link.Address())+`" id="to-lesson"`) {
				t.Errorf("%s: no way back to %s", link.At(below), link.Address())
			}
			facts := words(page)
			for _, info := range l.Settings() {
				if !strings.Contains(facts, info.Label) {
					t.Errorf("%s lacks the setting %s", link.At(below), info.Label)
				}
			}
			for _, m := range regexp.MustCompile(`<img [^>]*src="([^"]*)"`).FindAllStringSubmatch(page, -1) {
				c.page(html.UnescapeString(m[1]))
			}
			if other := attribute(t, page, `<a href="([^"]*)" id="other-sheet">`); c.page(other) == page {
				t.Errorf("%s leads to itself", link.At(below))
			}
		}
	}
	facts := words(c.page("/lessons/toy/handout?limit=7&every=2"))
	if !strings.Contains(facts, "Counts up to 7") || !strings.Contains(facts, "One count takes 2 s") {
		t.Errorf("the settings are %s", facts)
	}
}

// Of a lesson without a sheet of its own the questions have the picture before
// anything has happened, whatever the link opens at; the answers the whole run.
func TestTheSheetOfALessonWithoutOneOfItsOwn(t *testing.T) {
	late := painted{}
	late.OpensAtEnd = true
	c := start(t, Site{}, late)
	for query, end := range map[string]string{"": "60 of 60", "count=9&t=4": "18 of 18"} {
		for below, want := range map[string]string{"handout": "svg at 0 of" + strings.Split(end, "of")[1], "handout/key": "svg at " + end} {
			page := c.page("/lessons/counter/" + below + "?" + query)
			if got := c.page(attribute(t, page, `<img class="sheet-picture" src="([^"]*)"`)); got != want {
				t.Errorf("%s?%s: the picture is the %s, want %s", below, query, got, want)
			}
		}
	}
}

func TestALinkThatAsksFirstHasNoAnswersYet(t *testing.T) {
	c := startCourse(t)
	for query, status := range map[string]int{"predict=required": 403, "predict=required&t=60": 403, "predict=required&p.killed=4": 403, "predict=required&p.killed=4&t=59.9": 403,
		"predict=required&p.killed=4&t=60": 200, "p.killed=4": 200, "": 200} {
		resp, body := c.get("/lessons/drain/handout/key?" + query)
		if resp.StatusCode != status || status != http.StatusOK && strings.Contains(words(body), "completed") {
			t.Errorf("?%s: %s %.300s", query, resp.Status, words(body))
		}
		asked := c.page("/lessons/drain/handout?" + query)
		if leads := strings.Contains(asked, `id="other-sheet"`); leads == strings.Contains(query, "predict") {
			t.Errorf("?%s: the questions lead to the answers: %t", query, leads)
		}
	}
}
