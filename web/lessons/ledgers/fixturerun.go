package ledgers

import (
	"context"
	"time"

	"drainlab/internal/drill"
	"drainlab/internal/fixture"
	"drainlab/internal/ledger"
)

// Driller makes one run of the fixture: it tells each event as soon as it is
// known, one at a time, and returns what the run has shown. The error is that
// no run came about.
type Driller interface {
	Drill(ctx context.Context, s fixture.Settings, observe func(drill.Event)) (drill.Result, error)
}

// runState is where a run stands.
type runState string

const (
	runQueued   runState = "queued"
	runRunning  runState = "running"
	runFinished runState = "finished"
)

// fixtureRun is one run of the fixture, waiting, under way or over. What
// changes is under the queue's lock; changed is closed at each change.
type fixtureRun struct {
	ID       string
	Settings fixture.Settings
	client   string

	State    runState
	Place    int // in the queue, from 1
	Events   []drill.Event
	Result   *drill.Result
	Problem  string // why no run came about
	Finished time.Time
	changed  chan struct{}
}

func (r *fixtureRun) touch() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// ended reports whether no more is to come.
func (r fixtureRun) ended() bool { return r.State == runFinished }

// record are the events of the server's own record, without what the drill saw
// from outside.
func (r fixtureRun) record() []ledger.Event {
	var list []ledger.Event
	for _, e := range r.Events {
		if e.Seen == "" {
			list = append(list, e.Event)
		}
	}
	return list
}

// report folds the run's record, as far as it has come, into the two ledgers.
func (r fixtureRun) report() ledger.Report {
	if r.Result != nil {
		return r.Result.Report
	}
	return ledger.Fold(r.record(), r.ended())
}

// client is what the client of that class got; its Class is empty where there
// was none.
func client(r *drill.Result, class string) drill.Client {
	if r != nil {
		for _, c := range r.Clients {
			if c.Class == class {
				return c
			}
		}
	}
	return drill.Client{}
}
