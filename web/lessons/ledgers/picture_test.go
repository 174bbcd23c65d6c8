package ledgers

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"drainlab/internal/drill"
	"drainlab/internal/fixture"
	"drainlab/internal/ledger"
)

func TestThePicturesTextSaysAllThatIsDrawn(t *testing.T) {
	l := lesson(t)
	run := l.recorded.run
	p := buildPicture(run, run.report())
	const want = "Over 1.41 s: gate closes at 0.20 s; SIGTERM at 0.21 s; graceful timeout at 1.21 s; " +
		"short: admitted at 0.00 s, completed at 0.20 s, the caller got 200; " +
		"stream: admitted at 0.00 s, cancelled at 1.21 s, the caller got 200, but no end marker; " +
		"block: admitted at 0.00 s, cancelled at 1.21 s, the caller got 500; " +
		"late: turned away at the gate at 0.20 s, the caller got 503; " +
		"block’s work: seen to start at 0.00 s, unknown, alive 0.20 s after the cancel; " +
		"process: running until 0.20 s, quiescing until 0.21 s, draining until 1.21 s, recording until 1.41 s, exit −15 by SIGTERM."
	if p.Summary != want {
		t.Errorf("it says\n%s\nwant\n%s", p.Summary, want)
	}
	for _, r := range p.Rows {
		word := strings.TrimLeft(r.Outcome, "✓✕■?… ")
		if !strings.Contains(p.Summary, word) || !strings.Contains(p.Summary, r.Detail) {
			t.Errorf("row %s draws %q %q, which the text does not say", r.Name, r.Outcome, r.Detail)
		}
	}
	for _, m := range p.Marks {
		for _, label := range strings.Split(m.Label, ", ") {
			if !strings.Contains(p.Summary, label) {
				t.Errorf("the mark %q is not in the text", label)
			}
		}
	}
	if len(p.Rows) != 6 || len(p.Marks) != 3 || p.Lines() != 2 {
		t.Errorf("%d rows, %d marks on %d lines", len(p.Rows), len(p.Marks), p.Lines())
	}
}

// eventsAt makes a record of events at these tenths of a second.
func eventsAt(kinds map[float64]ledger.Event) []drill.Event {
	var list []drill.Event
	for at, e := range kinds {
		e.At = ledger.Seconds(at * float64(time.Second))
		list = append(list, drill.Event{Event: e})
	}
	return list
}

func TestWhatBecameOfARequestAndOfItsWorkIsToldApart(t *testing.T) {
	for name, tc := range map[string]struct {
		events  map[float64]ledger.Event
		ended   bool
		request string
		work    string
	}{
		"the waiter is cancelled, the work goes on": {map[float64]ledger.Event{0: {Kind: ledger.RequestAdmitted, Request: "1"}, 0.1: {Kind: ledger.WorkStarted, Work: "w", Request: "1"},
			1: {Kind: ledger.RequestCancelled, Request: "1"}, 2: {Kind: ledger.WorkHeartbeat, Work: "w"}}, false, "✕ cancelled", "… running"},
		"… and the process is gone": {map[float64]ledger.Event{0: {Kind: ledger.RequestAdmitted, Request: "1"}, 0.1: {Kind: ledger.WorkStarted, Work: "w", Request: "1"},
			1: {Kind: ledger.RequestCancelled, Request: "1"}, 2: {Kind: ledger.WorkHeartbeat, Work: "w"}}, true, "✕ cancelled", "? unknown"},
		"… and acknowledges the stop": {map[float64]ledger.Event{0: {Kind: ledger.RequestAdmitted, Request: "1"}, 0.1: {Kind: ledger.WorkStarted, Work: "w", Request: "1"},
			1: {Kind: ledger.RequestCancelled, Request: "1"}, 2: {Kind: ledger.StopAcknowledged, Work: "w"}}, true, "✕ cancelled", "■ confirmed stopped"},
		"both complete": {map[float64]ledger.Event{0: {Kind: ledger.RequestAdmitted, Request: "1"}, 0.1: {Kind: ledger.WorkStarted, Work: "w", Request: "1"},
			1: {Kind: ledger.RequestCompleted, Request: "1"}, 0.9: {Kind: ledger.WorkFinished, Work: "w"}}, true, "✓ completed", "✓ completed"},
		"neither has ended": {map[float64]ledger.Event{0: {Kind: ledger.RequestAdmitted, Request: "1"}, 0.1: {Kind: ledger.WorkRegistered, Work: "w", Request: "1"}}, false,
			"… outstanding", "… not started"},
	} {
		run := fixtureRun{State: runRunning, Events: eventsAt(tc.events)}
		if tc.ended {
			run.State = runFinished
		}
		p := buildPicture(run, run.report())
		for _, w := range run.report().WorkEntries {
			if b := p.Rows[1].Bars; w.Ended() && scaleOf(run, run.record()).share(w.EndedAt)-float64(b[0].X+b[0].W) > 1e-9 {
				t.Errorf("%s: the work's bar does not end with it: %+v", name, b)
			} else if w.Ended() && w.EndedAt < ledger.Seconds(time.Second) && b[0].X+b[0].W > 0.9 {
				t.Errorf("%s: the work's bar goes on: %+v", name, b)
			}
		}
		if len(p.Rows) != 2 || p.Rows[0].Outcome != tc.request || p.Rows[1].Outcome != tc.work {
			t.Errorf("%s: %+v", name, p.Rows)
		}
	}
}

func TestThePictureOfARunUnderWayDoesNotShrinkAsItGrows(t *testing.T) {
	l := lesson(t)
	whole := l.recorded.run
	var spans []time.Duration
	for n := 1; n <= len(whole.Events); n++ {
		run := fixtureRun{State: runRunning, Settings: fixture.Reference(), Events: whole.Events[:n]}
		if events := run.record(); len(events) > 0 {
			spans = append(spans, scaleOf(run, events).span)
		}
	}
	for i, s := range spans[1:] {
		if d := (s - spans[i]).Seconds() / s.Seconds(); d > 0.02 || d < -0.02 {
			t.Errorf("after event %d the axis goes from %v to %v", i+1, spans[i], s)
		}
	}
}

func TestAnAxisHasAtMostEightTicksInStepsThatPeopleCountIn(t *testing.T) {
	for span, want := range map[time.Duration]string{
		time.Millisecond: "0 s", 500 * time.Millisecond: "0 0.1 0.2 0.3 0.4 0.5 s", 1470 * time.Millisecond: "0 0.2 0.4 0.6 0.8 1 1.2 1.4 s",
		4 * time.Second: "0 1 2 3 4 s", 10 * time.Second: "0 2 4 6 8 10 s", 630_000_000 * time.Second: "0 100000000 200000000 300000000 400000000 500000000 600000000 s",
	} {
		var labels []string
		for _, tick := range (scale{span: span}).ticks() {
			labels = append(labels, tick.Label)
		}
		if got := strings.Join(labels, " "); got != want {
			t.Errorf("%v: %s, want %s", span, got, want)
		}
	}
}

func TestLabelsOfMarksStandInLinesWhereTheyWouldMeet(t *testing.T) {
	at := func(shares ...float64) []mark {
		var list []mark
		for _, s := range shares {
			list = append(list, mark{X: place(s), Label: "ten  chars", Right: s > 0.55})
		}
		layLabels(list)
		return list
	}
	for name, tc := range map[string]struct {
		marks []mark
		lines []int
	}{
		"far apart":         {at(0, 0.3, 0.9), []int{0, 0, 0}},
		"two that meet":     {at(0.1, 0.2, 0.5), []int{0, 1, 0}},
		"one from the left": {at(0.4, 0.6), []int{0, 1}},
		"more than fit":     {at(0.1, 0.12, 0.14, 0.16), []int{0, 1, 2, -1}},
	} {
		for i, m := range tc.marks {
			line := m.Line
			if m.Label == "" {
				line = -1
			}
			if line != tc.lines[i] {
				t.Errorf("%s: label %d is on line %d, want %d", name, i, line, tc.lines[i])
			}
		}
	}
}

// FuzzPicture draws whatever can be read: every place is within the picture.
func FuzzPicture(f *testing.F) {
	f.Add(`{"at":1,"kind":"request_admitted","request":"1"}`, true)
	f.Add(`{"at":-9,"kind":"work_started","work":"1"}`+"\n"+`{"at":9,"kind":"state_changed","state":"DRAINING"}`+"\n"+`{"at":10,"kind":"signal_received"}`, false)
	f.Fuzz(func(t *testing.T, record string, ended bool) {
		events, _, err := ledger.Read(strings.NewReader(record))
		if err != nil {
			return
		}
		run := fixtureRun{State: runRunning, Settings: fixture.Reference()}
		if ended {
			run.State = runFinished
		}
		for _, e := range events {
			run.Events = append(run.Events, drill.Event{Event: e})
		}
		report := run.report()
		p := buildPicture(run, report)
		within := func(p place) float64 {
			v, err := strconv.ParseFloat(strings.TrimSuffix(p.String(), "%"), 64)
			if err != nil || v < 0 || v > 100 || p < 0 || p > 1 {
				t.Fatalf("a place at %v", p)
			}
			return v
		}
		for _, r := range p.Rows {
			for _, b := range r.Bars {
				if end := within(b.X) + within(b.W); end > 100.011 {
					t.Fatalf("row %s ends at %v %%", r.Name, end)
				}
			}
			for _, x := range append(r.Beats, r.Rings...) {
				within(x)
			}
		}
		for _, m := range p.Marks {
			within(m.X)
		}
		if len(p.Rows) > mostRows+1 || len(p.Ticks) > 9 {
			t.Fatalf("%d rows, %d ticks", len(p.Rows), len(p.Ticks))
		}
		buildStrip(run, report)
		buildEvidence(run, report)
		buildRecord(run)
	})
}
