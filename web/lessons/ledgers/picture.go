package ledgers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"drainlab/internal/ledger"
)

// What is drawn of a large record; its ledgers count all.
const (
	mostRows  = 60
	workRows  = 20 // that requests leave to work
	mostMarks = 8
	mostBeats = 200
)

// timeline is requests, their work and the process on one axis. Places are
// percentages, so that it fits whatever box it gets.
type timeline struct {
	// Summary says all that is drawn.
	Summary string
	Ticks   []tick
	Marks   []mark
	Rows    []row
	Left    int // rows that are not drawn
	Live    bool
}

// Lines is how many lines the labels of the marks take.
func (t timeline) Lines() int {
	n := 0
	for _, m := range t.Marks {
		if m.Label != "" {
			n = max(n, m.Line+1)
		}
	}
	return n
}

type tick struct {
	X             place
	Label, Anchor string
	Minor         bool // its label may be left out
}

// row is one request's, one piece of work's or the process's.
type row struct {
	Name, Kind string
	Part       string // of the picture: "request", "work", "process"
	Class      string // in the style: what became of it
	Bars       []piece
	Beats      []place // signs of life
	Rings      []place // what was turned away
	Outcome    string  // what became of it, with a sign
	Detail     string  // what is known beside that
	told       string  // all of it, in words
}

type span struct{ X, W place }

// piece is one piece of a row.
type piece struct {
	span
	Class string
	Label string // where there is room for one
	Short bool   // there is little
}

// buildPicture draws the run: first the requests, then the work that they
// started, so that one sees a waiter's bar end and its work's go on, then the
// process.
func buildPicture(run fixtureRun, report ledger.Report) timeline {
	events := run.record()
	if len(events) == 0 {
		return timeline{Summary: "Nothing has happened yet.", Live: !run.ended()}
	}
	sc := scaleOf(run, events)
	d := drawing{run: run, scale: sc, now: lastOf(events)}
	p := timeline{Ticks: sc.ticks(), Marks: d.marks(events), Live: !run.ended()}

	requests := d.requests(report.RequestEntries)
	if away, ok := d.turnedAway(events); ok {
		requests = append(requests, away)
	}
	var work []row
	for _, w := range report.WorkEntries {
		work = append(work, d.work(w))
	}
	room := mostRows - min(len(work), workRows)
	shown := min(len(requests), room)
	worked := min(len(work), mostRows-shown)
	p.Left = len(requests) - shown + len(work) - worked
	p.Rows = append(slices.Clone(requests[:shown]), work[:worked]...)
	if process, ok := d.process(events); ok {
		p.Rows = append(p.Rows, process)
	}
	p.Summary = summary(p, sc, d.now)
	return p
}

func lastOf(events []ledger.Event) ledger.Seconds {
	last := events[0].At
	for _, e := range events {
		last = max(last, e.At)
	}
	return last
}

// summary says in words all that is drawn.
func summary(p timeline, sc scale, until ledger.Seconds) string {
	var parts []string
	for _, m := range p.Marks {
		parts = append(parts, m.told)
	}
	for _, r := range p.Rows {
		parts = append(parts, r.told)
	}
	if p.Left > 0 {
		parts = append(parts, fmt.Sprintf("and %d rows more, which are not drawn", p.Left))
	}
	return fmt.Sprintf("Over %.2f s: %s.", time.Duration(until-sc.from).Seconds(), strings.Join(parts, "; "))
}
