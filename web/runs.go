package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"drainlab/internal/drill"
	"drainlab/internal/fixture"
	"drainlab/internal/ledger"
	"drainlab/internal/session"
)

// Driller makes one run of the fixture.
type Driller interface {
	Drill(ctx context.Context, s fixture.Settings, observe func(drill.Event)) (drill.Result, error)
}

// The bounds of the fixture's runs on one server.
const (
	runsAtOnce    = 2
	runsWaiting   = 20
	runsPerClient = 2 // waiting or running
	runsKept      = 200
	runLimit      = 15 * time.Second
	drawnAtOnce   = 4 // records that are brought
)

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

// runQueue makes runs, a few at once, and keeps the last ones.
type runQueue struct {
	driller Driller
	log     *slog.Logger
	ctx     context.Context // ends with the server

	mu      sync.Mutex
	runs    map[string]*fixtureRun
	order   []*fixtureRun // as they came
	waiting []*fixtureRun
	active  int
	closed  bool
	done    sync.WaitGroup
}

func newRunQueue(ctx context.Context, d Driller, log *slog.Logger) *runQueue {
	return &runQueue{driller: d, log: log, ctx: ctx, runs: map[string]*fixtureRun{}}
}

var (
	errTooManyRuns    = &requestError{status: http.StatusTooManyRequests, sentence: "As many runs wait as the server takes. Try again in a few seconds."}
	errYourRuns       = &requestError{status: http.StatusTooManyRequests, sentence: fmt.Sprintf("Your address has %d runs waiting or under way, as many as it may. Wait for one to end.", runsPerClient)}
	errTooManyRecords = &requestError{status: http.StatusTooManyRequests, sentence: "The server draws as many records as it can. Try again in a few seconds."}
	errNoRun          = &requestError{status: http.StatusNotFound, sentence: "There is no such run: the server keeps the last ones only, or it never was."}
)

// add queues a run for a client's address.
func (q *runQueue) add(s fixture.Settings, client string) (*fixtureRun, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return nil, session.ErrDraining
	}
	own := 0
	for _, r := range q.order {
		if r.client == client && r.State != runFinished {
			own++
		}
	}
	switch {
	case own >= runsPerClient:
		return nil, errYourRuns
	case len(q.waiting) >= runsWaiting:
		return nil, errTooManyRuns
	}
	r := &fixtureRun{ID: string(session.NewID()), Settings: s, client: client, State: runQueued, changed: make(chan struct{})}
	q.runs[r.ID] = r
	q.order = append(q.order, r)
	q.waiting = append(q.waiting, r)
	q.next()
	q.forget()
	return r, nil
}

// next starts what may start and tells the rest their places. The queue is
// locked.
func (q *runQueue) next() {
	for q.active < runsAtOnce && len(q.waiting) > 0 && !q.closed {
		r := q.waiting[0]
		q.waiting = q.waiting[1:]
		q.active++
		r.State, r.Place = runRunning, 0
		r.touch()
		q.done.Go(func() { q.make(r) })
	}
	for i, r := range q.waiting {
		if r.Place != i+1 {
			r.Place = i + 1
			r.touch()
		}
	}
}

func (r *fixtureRun) touch() {
	close(r.changed)
	r.changed = make(chan struct{})
}

func (q *runQueue) make(r *fixtureRun) {
	ctx, cancel := context.WithTimeout(q.ctx, runLimit)
	defer cancel()
	result, err := q.driller.Drill(ctx, r.Settings, func(e drill.Event) {
		q.mu.Lock()
		defer q.mu.Unlock()
		r.Events = append(r.Events, e)
		r.touch()
	})
	q.mu.Lock()
	defer q.mu.Unlock()
	r.State, r.Finished = runFinished, time.Now()
	if err != nil {
		q.log.Error("a run of the fixture failed", "error", err)
		r.Problem = "The run could not be made. It is in the server's log."
	} else {
		r.Result, r.Events = &result, result.Events
	}
	r.touch()
	q.active--
	q.next()
}

// forget drops the oldest finished runs over the number that is kept.
func (q *runQueue) forget() {
	for over := len(q.order) - runsKept; over > 0; over-- {
		i := slices.IndexFunc(q.order, func(r *fixtureRun) bool { return r.State == runFinished })
		if i < 0 {
			return
		}
		delete(q.runs, q.order[i].ID)
		q.order = slices.Delete(q.order, i, i+1)
	}
}

// look returns a copy of the run as it stands, and what is closed when it
// changes.
func (q *runQueue) look(id string) (fixtureRun, <-chan struct{}, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.runs[id]
	if r == nil {
		return fixtureRun{}, nil, errNoRun
	}
	now := *r
	now.Events = slices.Clone(r.Events)
	return now, r.changed, nil
}

// latest returns the last finished run of these settings.
func (q *runQueue) latest(s fixture.Settings) (fixtureRun, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range slices.Backward(q.order) {
		if r.State == runFinished && r.Result != nil && r.Settings == s {
			return *r, true
		}
	}
	return fixtureRun{}, false
}

// close starts nothing more. Runs under way end with the queue's context.
func (q *runQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, r := range q.waiting {
		r.State, r.Problem, r.Finished = runFinished, "The server went away before the run began.", time.Now()
		r.touch()
	}
	q.waiting = nil
}

// wait waits until no run is under way, or ctx ends.
func (q *runQueue) wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		q.done.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return errors.New("runs of the fixture were still under way")
	}
}

// runJSON is a run as the API tells it.
type runJSON struct {
	ID                  string           `json:"id"`
	State               runState         `json:"state"`
	Place               int              `json:"place,omitempty"`
	Problem             string           `json:"problem,omitempty"`
	Settings            fixture.Settings `json:"settings"`
	Requests            ledger.Requests  `json:"requests"`
	Work                ledger.Work      `json:"work"`
	CleanupRan          int              `json:"cleanup_ran"`
	UnfinishedAtCleanup ledger.WorkCount `json:"unfinished_at_cleanup"`
	EvidenceLost        bool             `json:"evidence_lost"`
	Clients             []drill.Client   `json:"clients"`
	ReadyAfter          int              `json:"readiness_after_drain"`
	LiveAfter           int              `json:"liveness_after_drain"`
	HeartbeatAfter      *ledger.Seconds  `json:"heartbeat_after_cancel"`
	Exit                *drill.Exit      `json:"exit"`
	Events              []drill.Event    `json:"events"`
}

// own are the events of the server's own record.
func own(events []drill.Event) []ledger.Event {
	var list []ledger.Event
	for _, e := range events {
		if e.Seen == "" {
			list = append(list, e.Event)
		}
	}
	return list
}

func (r fixtureRun) json() runJSON {
	report := ledger.Fold(own(r.Events), r.State == runFinished)
	v := runJSON{ID: r.ID, State: r.State, Place: r.Place, Problem: r.Problem, Settings: r.Settings, Clients: []drill.Client{}, Events: append([]drill.Event{}, r.Events...)}
	if r.Result != nil {
		report = r.Result.Report
		v.Clients, v.ReadyAfter, v.LiveAfter, v.Exit = r.Result.Clients, r.Result.ReadyAfter, r.Result.LiveAfter, &r.Result.Exit
		if gap := ledger.Seconds(r.Result.HeartbeatAfter); gap > 0 {
			v.HeartbeatAfter = &gap
		}
	}
	v.Requests, v.Work, v.CleanupRan, v.UnfinishedAtCleanup, v.EvidenceLost =
		report.Requests, report.Work, report.CleanupRan, report.UnfinishedAtCleanup, report.EvidenceLost
	return v
}
