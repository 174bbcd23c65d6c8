// Package drill starts a real server process, gives it work and signals, and
// gathers what can be seen from outside and what the process says itself into
// the two ledgers.
//
// A verdict never comes from the exit code: servers exist that exit 0 with work
// lost, and by a signal with everything served.
package drill

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Run carries out the plan. The error is that a run could not be made; what
// went wrong in a run is its result. When ctx ends, the process group is
// killed.
func Run(ctx context.Context, p Plan) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, p.Limit)
	defer cancel()
	dir, err := os.MkdirTemp("", "drainlab-run-")
	if err != nil {
		return Result{}, fmt.Errorf("making the run's folder: %w", err)
	}
	defer os.RemoveAll(dir)
	r := &run{Plan: p, start: time.Now(), record: filepath.Join(dir, "record.jsonl"), clients: map[string]Client{}}
	if err := os.WriteFile(r.record, nil, 0o600); err != nil {
		return Result{}, fmt.Errorf("making the run's record: %w", err)
	}
	if err := r.launch(ctx); err != nil {
		return Result{}, err
	}
	follow, stop := context.WithCancel(context.Background())
	var following sync.WaitGroup
	following.Go(func() { r.follow(follow) })
	err = r.carryOut(ctx)
	if err != nil {
		r.killGroup()
	}
	<-r.gone
	stop()
	following.Wait()
	if err != nil {
		return Result{}, err
	}
	return r.result()
}

// run is a run under way.
type run struct {
	Plan
	start  time.Time
	record string
	base   string // URL
	pid    int

	gone    chan struct{} // closed when the process has ended
	state   *os.ProcessState
	started chan struct{} // closed when work was seen to start

	mu       sync.Mutex
	events   []Event
	worked   bool
	clients  map[string]Client
	signaled time.Time
	ready    int
	live     int
	killed   bool
	orphans  bool
}

// carryOut gives the server its requests, drains it and signals it.
func (r *run) carryOut(ctx context.Context) error {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	if err := r.untilReady(ctx, client); err != nil {
		return err
	}
	var clients sync.WaitGroup
	defer clients.Wait() // after their context has ended, whatever went wrong
	ctx, end := context.WithCancel(ctx)
	defer end()
	leave, leaves := context.WithCancel(ctx)
	defer leaves()
	shortDone := make(chan struct{})
	clients.Go(func() {
		r.ask(ctx, client, "short", "/short")
		close(shortDone)
	})
	clients.Go(func() { r.ask(leave, client, "stream", "/stream") })
	clients.Go(func() { r.ask(ctx, client, "block", "/block") })
	if err := r.untilUnderWay(ctx, shortDone); err != nil {
		return err
	}
	if r.ClientLeaves {
		leaves()
	}
	if err := r.drain(ctx, client); err != nil {
		return err
	}
	r.ask(ctx, client, "late", "/short")
	r.ready, r.live = r.probe(ctx, client, "/readyz"), r.probe(ctx, client, "/livez")
	r.signal()
	if r.SecondSignal > 0 {
		second := time.AfterFunc(r.SecondSignal, r.signal)
		defer second.Stop()
	}
	r.untilGone(ctx)
	clients.Wait()
	r.endOrphans()
	return nil
}
