// Package ledger keeps two accounts of a shutdown that must never be added
// together: what became of the requests, and what became of the work that they
// started. It folds a record of events into both, and says by a policy whether
// a release may go on.
//
// It is pure: it reads and writes bytes that it is given, and knows no server,
// process, signal or clock.
package ledger

import (
	"errors"
	"fmt"
	"time"
)

// RequestCount and WorkCount count different things. They are types of their
// own so that the compiler refuses to add one to the other.
type (
	RequestCount int
	WorkCount    int
)

// RequestOutcome is what became of an admitted request.
type RequestOutcome uint8

// The outcomes of an admitted request. Outstanding is one that had none when
// the record ended.
const (
	Outstanding RequestOutcome = iota
	Completed
	Failed
	Cancelled
)

var requestOutcomeNames = [...]string{"outstanding", "completed", "failed", "cancelled"}

func (o RequestOutcome) String() string { return requestOutcomeNames[o] }

// WorkOutcome is what became of a piece of work.
type WorkOutcome uint8

// The outcomes of work. Unknown is work that was seen to start, and of which
// nobody can say any more whether it stopped, finished or had its effect.
const (
	NotStarted WorkOutcome = iota
	Running
	ConfirmedStopped
	WorkCompleted
	Unknown
)

var workOutcomeNames = [...]string{"not_started", "running", "confirmed_stopped", "completed", "unknown"}

func (o WorkOutcome) String() string { return workOutcomeNames[o] }

// Requests is the request ledger. Rejected and NeverAdmitted stand apart: such
// requests were never admitted.
type Requests struct {
	Admitted    RequestCount `json:"admitted"`
	Completed   RequestCount `json:"completed"`
	Failed      RequestCount `json:"failed"`
	Cancelled   RequestCount `json:"cancelled"`
	Outstanding RequestCount `json:"outstanding"`
	// Rejected were turned away at the gate before any work.
	Rejected RequestCount `json:"rejected"`
	// NeverAdmitted are connections that the kernel accepted and the
	// application never saw a request of.
	NeverAdmitted RequestCount `json:"never_admitted"`
}

// mostCount bounds what a ledger counts, far below where sums would wrap.
const mostCount = 1e12

// Check returns an error where the ledger does not balance: admitted must be
// completed + failed + cancelled + outstanding, and every count is from 0 to 10¹².
func (r Requests) Check() error {
	for _, n := range []RequestCount{r.Admitted, r.Completed, r.Failed, r.Cancelled, r.Outstanding, r.Rejected, r.NeverAdmitted} {
		if n < 0 || n > mostCount {
			return fmt.Errorf("request ledger: a count of %d", n)
		}
	}
	if sum := r.Completed + r.Failed + r.Cancelled + r.Outstanding; sum != r.Admitted {
		return fmt.Errorf("request ledger: admitted %d is not completed %d + failed %d + cancelled %d + outstanding %d",
			r.Admitted, r.Completed, r.Failed, r.Cancelled, r.Outstanding)
	}
	return nil
}

// Add counts one admitted request with its outcome.
func (r *Requests) Add(o RequestOutcome) {
	r.Admitted++
	switch o {
	case Outstanding:
		r.Outstanding++
	case Completed:
		r.Completed++
	case Failed:
		r.Failed++
	case Cancelled:
		r.Cancelled++
	}
}

// Work is the ledger of backend work.
type Work struct {
	NotStarted       WorkCount `json:"not_started"`
	Running          WorkCount `json:"running"`
	ConfirmedStopped WorkCount `json:"confirmed_stopped"`
	Completed        WorkCount `json:"completed"`
	Unknown          WorkCount `json:"unknown"`
}

// Unaccounted is the work of which the record does not say how it ended.
func (w Work) Unaccounted() WorkCount { return w.Running + w.Unknown }

func (w *Work) add(o WorkOutcome) {
	switch o {
	case NotStarted:
		w.NotStarted++
	case Running:
		w.Running++
	case ConfirmedStopped:
		w.ConfirmedStopped++
	case WorkCompleted:
		w.Completed++
	case Unknown:
		w.Unknown++
	}
}

// Policy is the limits that a release must keep, set before it is looked at.
type Policy struct {
	// IncompleteStreams is how many streams may end without their terminal
	// marker.
	IncompleteStreams RequestCount
	// OutstandingAge is how old the oldest request without an outcome may be.
	OutstandingAge time.Duration
	// UnaccountedWork is how many pieces of work may be running or unknown.
	UnaccountedWork WorkCount
}

// Decision is what a policy says of a report.
type Decision struct {
	Promote bool
	Reasons []string // why not, each with the figure and its limit
}

// Decide promotes a release or freezes it. A record that is contradictory or
// lost a part of its evidence freezes it always: what is not known is not fine.
func (p Policy) Decide(r Report) Decision {
	var d Decision
	freeze := func(format string, args ...any) { d.Reasons = append(d.Reasons, fmt.Sprintf(format, args...)) }
	if r.IncompleteStreams > p.IncompleteStreams {
		freeze("incomplete streams: %d, allowed %d", r.IncompleteStreams, p.IncompleteStreams)
	}
	if r.OldestOutstanding > p.OutstandingAge {
		freeze("the oldest outstanding request is %v old, allowed %v", r.OldestOutstanding, p.OutstandingAge)
	}
	if n := r.Work.Unaccounted(); n > p.UnaccountedWork {
		freeze("unaccounted work: %d, allowed %d", n, p.UnaccountedWork)
	}
	if r.EvidenceLost {
		freeze("evidence was lost")
	}
	for _, problem := range r.Problems {
		freeze("the record contradicts itself: %s", problem)
	}
	d.Promote = len(d.Reasons) == 0
	return d
}

// ErrEmpty is returned for a record without a single event.
var ErrEmpty = errors.New("the record holds no event")
