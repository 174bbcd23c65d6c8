package drill

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"drainlab/internal/ledger"
)

// Event is an event of the server's record, or one that the drill saw itself.
type Event struct {
	// Seen is what the drill saw: "client_started", "client_ended",
	// "drain_called", "signal_sent", "exited". Empty for the server's own.
	Seen string `json:"seen,omitempty"`
	ledger.Event
}

// Client is what one client got.
type Client struct {
	Class  string `json:"class"`
	Status int    `json:"status"` // 0: no response
	Body   string `json:"body"`   // "complete", "truncated", "none"
}

// Exit is how the process ended.
type Exit struct {
	Code   int     `json:"code"`             // negative: the number of the signal that ended it
	Signal string  `json:"signal,omitempty"` // its name
	After  float64 `json:"after"`            // seconds after the first signal
	// Killed says that it did not end within the limit and was killed.
	Killed bool `json:"killed,omitempty"`
	// Orphans are members of its process group that outlived it; they were
	// killed.
	Orphans bool `json:"orphans,omitempty"`
}

// Result is what a run has shown.
type Result struct {
	Report         ledger.Report
	Clients        []Client // short, stream, block, late
	ReadyAfter     int      // status of the readiness probe after the drain was called
	LiveAfter      int
	HeartbeatAfter time.Duration // after the waiter's cancellation; 0: none was seen
	Exit           Exit
	Events         []Event
	Skipped        []error // lines of the record that could not be read
}

// result folds what the server has recorded, and adds what was seen from
// outside.
func (r *run) result() (Result, error) {
	f, err := os.Open(r.record)
	if err != nil {
		return Result{}, fmt.Errorf("reading the run's record: %w", err)
	}
	defer f.Close()
	events, skipped, err := ledger.Read(f)
	if err != nil && !errors.Is(err, ledger.ErrEmpty) {
		return Result{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	res := Result{Report: ledger.Fold(events, true), ReadyAfter: r.ready, LiveAfter: r.live, Events: r.events, Skipped: skipped}
	for _, class := range []string{"short", "stream", "block", "late"} {
		res.Clients = append(res.Clients, r.clients[class])
	}
	for _, w := range res.Report.WorkEntries {
		if gap, ok := w.HeartbeatAfterCancel(); ok {
			res.HeartbeatAfter = gap
		}
	}
	res.Exit = r.exit()
	return res, nil
}

// exit says how the process ended. The run is locked.
func (r *run) exit() Exit {
	e := Exit{Code: r.state.ExitCode(), After: time.Since(r.signaled).Seconds(), Killed: r.killed, Orphans: r.orphans}
	if status, ok := r.state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.Code, e.Signal = -int(status.Signal()), signalName(status.Signal())
	}
	for _, event := range r.events {
		if event.Seen == "exited" {
			e.After = (time.Duration(event.At) - r.signaled.Sub(r.start)).Seconds()
		}
	}
	return e
}
