package clocks

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	model "drainlab/internal/clocks"
	"drainlab/internal/course"
	"drainlab/internal/setting"
)

func TestARunGoesFromEachInstantToTheNext(t *testing.T) {
	r := seeded(t)
	for range 500 {
		s := anyTermination(r)
		run := newView(s, nil, openX, openY).run()
		last := setting.Time(-1)
		for at, n := setting.Time(0), 0; ; n++ {
			if n > 0 && (at <= last || n > 40_000) {
				t.Fatalf("%s: after %v comes %v", s.AppendQuery(nil), last, at)
			}
			if at == run.End() {
				break
			}
			// Between two instants nothing that is counted changes.
			next := run.Next(at)
			if run.at(at) != run.at(next-1) {
				t.Fatalf("%s: something happens between %v and %v", s.AppendQuery(nil), at, next)
			}
			last, at = at, next
		}
		if run.Next(run.End()) != run.End() {
			t.Fatalf("%s goes on after its end", s.AppendQuery(nil))
		}
	}
}

func TestAtTheEndTheAccountIsTheRuns(t *testing.T) {
	r := seeded(t)
	for n := range 600 {
		s := anyTermination(r)
		if n >= 500 {
			s = randomClocks(r)
		}
		run := newView(s, nil, openX, openY).run()
		a, want, w := run.at(run.End()), run.Account, run.Work
		got := model.Account{Arrivals: a.arrived, Admitted: a.admitted, Completed: a.completed, Deadline: a.deadline, Cancelled: a.cancelled, Killed: a.killed, Rejected: a.rejected, Refused: a.refused}
		if got != want || a.open != 0 || a.work != (work{completed: w.Completed, stopped: w.ConfirmedStopped, unknown: w.Unknown}) {
			t.Fatalf("%s: %+v, want %+v and %+v", s.AppendQuery(nil), a, want, w)
		}
	}
}

func TestARunEndsWhenTheProcessIsGoneAndNoRouterSends(t *testing.T) {
	for query, want := range map[string]setting.Time{
		"": 160, "propagation=40": 400, "grace=3600": 160, "grace=0&propagation=0&long=0": 0, "signal_handled=0": 300, "server_timeout=5&stop_check=20": 110,
	} {
		if got := viewOf(t, query).run().End(); got != want {
			t.Errorf("%q ends at %v, want %v", query, got, want)
		}
	}
}

func TestPartsAreTheSameForEveryFrame(t *testing.T) {
	r := seeded(t)
	ids := func(parts []course.Part) (list []string) {
		for _, p := range parts {
			list = append(list, p.ID)
			var html bytes.Buffer
			if err := p.Body.Render(context.Background(), &html); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(html.String(), `id="`+p.ID+`"`) {
				t.Fatalf("part %s is %.200s", p.ID, &html)
			}
		}
		return list
	}
	opening := course.OpenLink(New())
	live, own := ids(opening.View.Run().Live(course.Frame{})), ids(opening.View.Run().Own(opening))
	all := slices.Concat(live, own)
	slices.Sort(all)
	if len(slices.Compact(slices.Clone(all))) != len(all) {
		t.Fatalf("two parts have one id: %v", all)
	}
	for range 60 {
		v := anyView(r)
		run := v.run()
		at := setting.Time(r.IntN(int(run.End()) + 1))
		link := course.Link{Lesson: New(), View: v, T: at}
		if got := ids(run.Live(course.Frame{T: at, Until: at, Playing: true})); !slices.Equal(got, live) {
			t.Fatalf("%v, want %v", got, live)
		}
		if got := ids(run.Own(link)); !slices.Equal(got, own) {
			t.Fatalf("%v, want %v", got, own)
		}
	}
}

func TestTheWorkedCasesAreShownByTheirOwnRunsAlone(t *testing.T) {
	for i, step := range New().Steps() {
		run := viewOf(t, step.Query).run()
		if got := run.Shown(run.End()); got != 1<<i {
			t.Errorf("%s shows %b", step.ID, got)
		}
		if got := run.Shown(run.End() - 1); got != 0 {
			t.Errorf("before its end %s shows %b", step.ID, got)
		}
	}
	if run := viewOf(t, "").run(); run.Shown(run.End()) != 0 {
		t.Error("the opening run shows a case")
	}
}

func TestACardSaysTheVerdictAndTheFiguresThatMakeIt(t *testing.T) {
	for query, want := range map[string][]string{
		"": {"PASS: nothing admitted is lost, and the process leaves by itself at 16 s", "Grace 30 s: the kill is at 30 s", "The plan needs 18 s: 12 s to spare",
			"Hook and delivery 5 s, drain 10 s, cleanup 1 s, margin 2 s", "8 requests admitted, 8 completed; 4 rejected"},
		"platform=kubernetes&server_timeout=60&long=40": {"FAIL: 1 request killed by the platform at 30 s", "Grace 30 s on Kubernetes: the kill is at 30 s", "The plan needs 38 s: an overrun of 8 s",
			"Hook and delivery 5 s, drain 30 s, cleanup 1 s, margin 2 s", "8 requests admitted, 7 completed; 4 rejected", "What became of the work of 1 request is unknown", "Cleanup not begun",
			"The process did not leave by itself"},
		"signal_handled=0&long=0": {"FAIL: cleanup not begun", "Grace 30 s: the kill is at 30 s", "The signal is not handled: there is no plan",
			"7 requests admitted, 7 completed; 4 rejected", "The process did not leave by itself"},
		"t=6": {"Which clock cuts the longest request, and whose is it?", "Grace 30 s: the kill is at 30 s", "At 6 s: 1 request waiting, 7 completed; 4 rejected"},
	} {
		link := linkOf(t, query)
		subtitle, lines := link.View.(View).run().cardText(link.T)
		if got := append([]string{subtitle}, lines...); !slices.Equal(got, want) {
			t.Errorf("%q says\n%s\nwant\n%s", query, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if err := link.View.Run().Figure(link.T).Card(io.Discard); err != nil {
			t.Error(err)
		}
	}
}

func TestEveryRunHasACard(t *testing.T) {
	for _, c := range model.Table() {
		for _, amount := range c.Stops() {
			s := model.Opening()
			c.Set(&s, amount)
			if s.Validate() != nil {
				continue
			}
			run := newView(s, nil, openX, openY).run()
			subtitle, lines := run.cardText(run.End())
			if verdict := strings.ToUpper(run.Verdict()); !strings.HasPrefix(subtitle, verdict+": ") || len(lines) < 3 {
				t.Errorf("%s %s: %q, %q", c.Name, c.TextOf(amount), subtitle, lines)
			}
		}
	}
}
