package ledgers

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"drainlab/internal/drill"
	"drainlab/internal/fixture"
	"drainlab/web/answer"
)

// The bounds of the fixture's runs on one server.
const (
	runsAtOnce    = 2
	runsWaiting   = 20
	runsPerClient = 2 // waiting or running
	runsKept      = 200
	runLimit      = 15 * time.Second
)

// runQueue makes runs, a few at once, and keeps the last ones.
type runQueue struct {
	driller Driller
	log     *slog.Logger
	ctx     context.Context // ends with the server

	// draining is closed when the server goes away: nothing is begun any more.
	// Nil where nobody says so.
	draining <-chan struct{}

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
	errTooManyRuns = &answer.Error{Status: http.StatusTooManyRequests, Sentence: "As many runs wait as the server takes. Try again in a few seconds."}
	errYourRuns    = &answer.Error{Status: http.StatusTooManyRequests, Sentence: fmt.Sprintf("Your address has %d runs waiting or under way, as many as it may. Wait for one to end.", runsPerClient)}
	errNoRun       = &answer.Error{Status: http.StatusNotFound, Sentence: "There is no such run: the server keeps the last ones only, or it never was."}
	errNoMoreRuns  = &answer.Error{Status: http.StatusServiceUnavailable, Sentence: "The server is going away. Connect again, and another one will answer."}
)

const runIDBytes = 16

func newRunID() string {
	var b [runIDBytes]byte
	rand.Read(b[:]) // does not fail
	return hex.EncodeToString(b[:])
}

// isRunID reports whether text has the form of a run's id.
func isRunID(text string) bool {
	b, err := hex.DecodeString(text)
	return err == nil && len(b) == runIDBytes && hex.EncodeToString(b) == text
}

// add queues a run for a client's address.
func (q *runQueue) add(s fixture.Settings, client string) (fixtureRun, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.leaving() {
		return fixtureRun{}, errNoMoreRuns
	}
	own := 0
	for _, r := range q.order {
		if r.client == client && !r.ended() {
			own++
		}
	}
	switch {
	case own >= runsPerClient:
		return fixtureRun{}, errYourRuns
	case len(q.waiting) >= runsWaiting:
		return fixtureRun{}, errTooManyRuns
	}
	r := &fixtureRun{ID: newRunID(), Settings: s, client: client, State: runQueued, changed: make(chan struct{})}
	q.runs[r.ID] = r
	q.order = append(q.order, r)
	q.waiting = append(q.waiting, r)
	q.next()
	q.forget()
	return *r, nil
}

// endWith makes the queue begin nothing any more once draining is closed.
func (q *runQueue) endWith(draining <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.draining = draining
}

// leaving reports whether nothing may begin any more. The queue is locked.
func (q *runQueue) leaving() bool {
	select {
	case <-q.draining:
		return true
	default:
		return q.closed
	}
}

// next starts what may start and tells the rest their places. The queue is
// locked.
func (q *runQueue) next() {
	for q.active < runsAtOnce && len(q.waiting) > 0 && !q.leaving() {
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
		i := slices.IndexFunc(q.order, func(r *fixtureRun) bool { return r.ended() })
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
		if r.ended() && r.Result != nil && r.Settings == s {
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
