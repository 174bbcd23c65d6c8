package ledgers

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"drainlab/internal/drill"
	"drainlab/internal/ledger"
	"drainlab/internal/picture"
	"drainlab/internal/picture/picturetest"
)

// set is what a figure says, text by text.
func set(f *picture.Figure) string {
	var texts []string
	for _, s := range f.Shapes {
		if t, ok := s.Form.(picture.Text); ok {
			texts = append(texts, t.Content)
		}
	}
	return strings.Join(texts, "|")
}

// largeRun has more requests than there is room for, in words that are too long.
func largeRun() fixtureRun {
	run := fixtureRun{State: runFinished}
	for i := range 300 {
		id := fmt.Sprint(i)
		at := ledger.Seconds(i) * 1e7
		run.Events = append(run.Events,
			drill.Event{Event: ledger.Event{At: at, Kind: ledger.RequestAdmitted, Request: id, Class: strings.Repeat("a long class ", 5)}},
			drill.Event{Event: ledger.Event{At: at + 1e9, Kind: ledger.RequestRejected}},
			drill.Event{Event: ledger.Event{At: at, Kind: ledger.WorkStarted, Request: id, Work: id}},
			drill.Event{Event: ledger.Event{At: at, Kind: ledger.StateChanged, State: "DRAINING"}})
	}
	return run
}

func TestTheImagesSayBothLedgersAndStayTidy(t *testing.T) {
	l := lesson(t)
	for name, s := range map[string]shown{
		"the recorded run": {lesson: l, run: l.recorded.run},
		"a large record":   {lesson: l, run: largeRun(), source: brought, note: strings.Repeat("a note ", 60)},
		"a single event":   {lesson: l, run: fixtureRun{State: runFinished, Events: []drill.Event{{Event: ledger.Event{Kind: ledger.CleanupRan}}}}, source: brought},
	} {
		m := s.images(s.run.report())
		for _, layout := range []func(*picture.Typesetter) *picture.Figure{m.cardFigure, m.sheet} {
			f, typesetter, err := picture.LayOut(layout)
			if err != nil {
				t.Fatal(err)
			}
			picturetest.Tidy(t, name, f, typesetter)
			if len(f.Shapes) > 4000 {
				t.Errorf("%s: %d shapes", name, len(f.Shapes))
			}
		}
	}
	s := shown{lesson: l, run: l.recorded.run}
	f, _, err := picture.LayOut(s.images(s.run.report()).cardFigure)
	if err != nil {
		t.Fatal(err)
	}
	text := set(f)
	for _, want := range []string{"Two ledgers", "Requests: 3 admitted = 1 completed + 2 cancelled; 1 turned away at the gate", "Their work: 1 unknown",
		"A recorded run of the reference settings, of 30 November 2026.", "200, but no end marker", "exit −15", "gate closes, SIGTERM", "graceful timeout"} {
		if !strings.Contains(text, want) {
			t.Errorf("the card lacks %q: %s", want, text)
		}
	}
	// What was kept, lost or turned away is not told by its colour alone.
	for part, want := range map[string]int{"kept": 1, "lost": 2, "away": 1} {
		if got := picturetest.Count(f, part); got != want {
			t.Errorf("%d marks of what was %s, want %d", got, part, want)
		}
	}
}

func TestAFiguresFilesAreEqualForEqualRuns(t *testing.T) {
	l := lesson(t)
	figure := opened(t, l, "stop_token=1").show().Figure(0)
	again := opened(t, l, "run="+someRun).show().Figure(0)
	if figure.Key != again.Key {
		t.Errorf("the recorded run is %q and %q", figure.Key, again.Key)
	}
	for name, draw := range map[string][2]func(*bytes.Buffer) error{
		"card": {func(b *bytes.Buffer) error { return figure.Card(b) }, func(b *bytes.Buffer) error { return again.Card(b) }},
		"png":  {func(b *bytes.Buffer) error { return figure.PNG(b) }, func(b *bytes.Buffer) error { return again.PNG(b) }},
		"svg":  {func(b *bytes.Buffer) error { return figure.SVG(b) }, func(b *bytes.Buffer) error { return again.SVG(b) }},
	} {
		var one, other bytes.Buffer
		if err := draw[0](&one); err != nil {
			t.Fatal(err)
		}
		if err := draw[1](&other); err != nil {
			t.Fatal(err)
		}
		if one.Len() == 0 || !bytes.Equal(one.Bytes(), other.Bytes()) {
			t.Errorf("%s: %d and %d bytes that differ", name, one.Len(), other.Len())
		}
	}
}
