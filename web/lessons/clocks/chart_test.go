package clocks

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	model "drainlab/internal/clocks"
	"drainlab/internal/course"
	"drainlab/internal/setting"
)

// wholeOf is the chart of a run at its end.
func wholeOf(r *Run) chart { return newChart(r, course.Frame{T: r.End(), Until: r.End()}) }

// rowOf is the chart's row of that name.
func (v chart) rowOf(t testing.TB, name string) chartRow {
	t.Helper()
	for _, row := range v.Rows {
		if row.Name == name {
			return row
		}
	}
	t.Fatalf("the chart has no row %q", name)
	return chartRow{}
}

// percentOf reads a place.
func percentOf(t testing.TB, place string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(strings.TrimSuffix(place, "%"), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// checkGateRow compares the chart's row of the gate with what becomes of new
// requests.
func checkGateRow(t *testing.T, s model.Settings) {
	t.Helper()
	run := newView(s, nil, openX, openY).run()
	drawn := map[string]bool{}
	row := wholeOf(run).rowOf(t, "Admission gate")
	for _, b := range row.Bars {
		drawn[b.Kind] = true
	}
	closed, gone := turnedAway(run.Run)
	if !drawn["open"] || drawn["closed"] != (closed < gone) || drawn["gone"] != (gone < run.Run.End) {
		t.Fatalf("%s: the gate's row is drawn with %v", s.AppendQuery(nil), drawn)
	}
	words := map[string]string{"open": "admits", "closed": "rejects", "gone": "no listener"}
	for _, w := range row.Words {
		if !drawn[w.Kind] || w.Text != words[w.Kind] || w.Room == "" {
			t.Fatalf("%s: the gate's row says %+v", s.AppendQuery(nil), w)
		}
	}
}

func TestThePictureMarksTheFirstAndTheLastOfEachKind(t *testing.T) {
	for _, c := range []struct {
		query, note string
		at          map[string][2]setting.Time // first and last mark
	}{
		{"prestop=12&propagation=12.1&interval=0.1&long=0", "21 of the 121 arrivals that were not admitted are marked, the first and the last of each kind among them. ",
			map[string][2]setting.Time{"rejected": {0, 119}, "refused": {120, 120}}},
		{"prestop=7&propagation=20&interval=0.1&long=0", "40 of the 200 arrivals", map[string][2]setting.Time{"rejected": {0, 69}, "refused": {70, 199}}},
		{"prestop=2&propagation=4&long=0&interval=1", "", map[string][2]setting.Time{"rejected": {0, 10}, "refused": {20, 30}}},
	} {
		run := viewOf(t, c.query).run()
		v := wholeOf(run)
		axis := newAxis(run, sampleRequests(admittedRequests(run.Run)))
		marks, total := map[string][]string{}, 0
		for _, m := range v.rowOf(t, "Routing").Marks {
			marks[m.Kind] = append(marks[m.Kind], m.X)
			total++
		}
		for kind, at := range c.at {
			if x := marks[kind]; len(x) == 0 || x[0] != axis.x(at[0]) || x[len(x)-1] != axis.x(at[1]) {
				t.Errorf("%s: of the %s there are marks at %v, want them from %s to %s", c.query, kind, x, axis.x(at[0]), axis.x(at[1]))
			}
		}
		if all := run.Account.Rejected + run.Account.Refused; (total == all) != (c.note == "") || !strings.HasPrefix(v.Note, c.note) || c.note == "" && strings.Contains(v.Note, "marked") ||
			c.note != "" && !strings.HasPrefix(v.Note, fmt.Sprintf("%d of the %d arrivals", total, all)) {
			t.Errorf("%s: %d of %d are marked, the note is %q", c.query, total, all, v.Note)
		}
	}
}

// What the note counts is what is drawn.
func TestTheNoteOfThePictureCountsWhatIsDrawn(t *testing.T) {
	r := seeded(t)
	drawn := regexp.MustCompile(`(\d+) of the (\d+) admitted requests that run within the picture are drawn`)
	over := regexp.MustCompile(`(\d+) admitted requests? (?:was|were) over before the picture begins\.$`)
	seen := map[bool]int{}
	for range 1500 {
		s := anyTermination(r)
		run := newView(s, nil, openX, openY).run()
		v := wholeOf(run)
		bars := 0
		for _, row := range v.Rows {
			for _, b := range row.Bars {
				if b.Kind == "request" || b.Kind == "request-lost" {
					bars++
				}
			}
		}
		within, before := run.Account.Admitted, 0
		if found := over.FindStringSubmatch(v.Note); found != nil {
			fmt.Sscan(found[1], &before)
			within -= before
		}
		shown, of := within, within
		if found := drawn.FindStringSubmatch(v.Note); found != nil {
			fmt.Sscan(found[1], &shown)
			fmt.Sscan(found[2], &of)
		}
		// Requests of no length, which a deadline or the kill ends as they come, have no bar.
		if bars > shown || shown-bars > 2 || of != within {
			t.Fatalf("%s: %d are drawn of %d; %q", s.AppendQuery(nil), bars, run.Account.Admitted, v.Note)
		}
		seen[before > 0]++
	}
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("the draw is no test: %v", seen)
	}
}

func TestAHandleStandsWhereItsClockEnds(t *testing.T) {
	r := seeded(t)
	for range 500 {
		s := anyTermination(r)
		run := newView(s, nil, openX, openY).run()
		v := wholeOf(run)
		axis := newAxis(run, sampleRequests(admittedRequests(run.Run)))
		for _, row := range v.Rows {
			h := row.Handle
			if h == nil {
				continue
			}
			c, ok := model.FindControl(h.Name)
			amount := c.Amount(s)
			base, err := setting.ParseTime(strings.TrimPrefix(h.Base, "-"))
			if strings.HasPrefix(h.Base, "-") {
				base = -base
			}
			if !ok || err != nil || h.Now != amount.String() || h.X != axis.x(base+amount) || h.Text != spoken(&c, amount) || h.Max != c.Max.String() || h.Label == "" {
				t.Fatalf("%s: %s has the handle %+v", s.AppendQuery(nil), row.Name, *h)
			}
		}
		if v.rowOf(t, "Platform grace").Handle == nil || v.rowOf(t, "preStop hook").Handle == nil || v.rowOf(t, "Routing").Handle == nil {
			t.Fatalf("%s: a handle is missing", s.AppendQuery(nil))
		}
	}
}

// Up to t the picture draws what has happened; what is set stands from the
// beginning.
func TestThePictureDrawsNothingThatComesAfterItsInstant(t *testing.T) {
	r := seeded(t)
	for range 500 {
		run := newView(anyTermination(r), nil, openX, openY).run()
		if run.End() == 0 {
			continue
		}
		at := setting.Time(r.IntN(int(run.End())))
		v := newChart(run, course.Frame{T: at, Until: at})
		now := percentOf(t, v.Now) + 0.002
		for _, row := range v.Rows {
			for _, b := range row.Bars {
				if percentOf(t, b.X)+percentOf(t, b.W) > now {
					t.Fatalf("%s at %v: %s goes to %s + %s, beyond %s", run.Settings.AppendQuery(nil), at, row.Name, b.X, b.W, v.Now)
				}
			}
			for _, m := range row.Marks {
				if percentOf(t, m.X) > now {
					t.Fatalf("%s at %v: %s is marked at %s", run.Settings.AppendQuery(nil), at, row.Name, m.X)
				}
			}
		}
	}
}

func TestBeforeTheEndNoPartTellsHowTheRunEnds(t *testing.T) {
	r := seeded(t)
	verdict := regexp.MustCompile(`PASS|FAIL|Verdict: |to spare|too much|What would (fix|break) it`)
	ends := regexp.MustCompile(`exit at|process exits|The kill\.`)
	for range 100 {
		v := anyView(r)
		run := v.run()
		if run.End() == 0 {
			continue
		}
		at := setting.Time(r.IntN(int(run.End())))
		link := course.Link{Lesson: New(), View: v, T: at, Speed: course.Single, Panel: "guide"}
		for _, p := range append(run.Live(course.Frame{T: at, Until: at}), run.Own(link)...) {
			var html bytes.Buffer
			if err := p.Body.Render(context.Background(), &html); err != nil {
				t.Fatal(err)
			}
			if told := verdict.FindString(html.String()); told != "" {
				t.Fatalf("%s at %v: %s says %q: %s", v.Query(), at, p.ID, told, html.String())
			}
			if at < run.Run.End && ends.MatchString(html.String()) {
				t.Fatalf("%s at %v: %s tells the process's end: %s", v.Query(), at, p.ID, html.String())
			}
		}
		if told := run.told(at); verdict.MatchString(told) {
			t.Fatalf("%s at %v: %s", v.Query(), at, told)
		}
	}
}

func TestTheTextAlternativeSaysWhatIsSeen(t *testing.T) {
	run := viewOf(t, "server_timeout=10&long=25").run()
	for at, want := range map[setting.Time][]string{
		0:   {"Termination at 0 s of 16 s", "The grace of 30 s ends at 30 s, the signal comes at 5 s", "Requests: 8 waiting, 1 rejected", "Their work: 8 going on"},
		60:  {"5 s: The signal has reached the application", "Requests: 7 completed, 1 waiting, 4 rejected", "Their work: 7 completed, 1 going on"},
		152: {"15 s: The long request: cancelled by the server's timeout", "Requests: 7 completed, 1 cancelled, 4 rejected", "Their work: 7 completed, 1 going on"},
		160: {"15.5 s: Its work: confirmed stopped", "Their work: 7 completed, 1 confirmed stopped", "Verdict: FAIL"},
	} {
		told := run.told(at)
		for _, part := range want {
			if !strings.Contains(told, part) {
				t.Errorf("at %v it does not say %q: %s", at, part, told)
			}
		}
	}
}

// spoken is a clock's amount as a screen reader says it.
func spoken(c *model.Control, amount setting.Time) string {
	if amount == setting.None {
		return c.TextOf(amount)
	}
	return c.TextOf(amount) + " seconds"
}
