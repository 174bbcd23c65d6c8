package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// RequestEntry is one admitted request and what became of it.
type RequestEntry struct {
	ID         string
	Class      string
	Stream     bool
	AdmittedAt Seconds
	Outcome    RequestOutcome
	EndedAt    Seconds // zero while outstanding
}

// WorkEntry is one piece of work and what became of it.
type WorkEntry struct {
	ID        string
	Request   string
	Class     string
	Started   bool // whether its start was seen, at StartedAt
	StartedAt Seconds
	Outcome   WorkOutcome
	EndedAt   Seconds // when it finished or acknowledged the stop, if it did
	// WaiterCancelled says that whoever waited for it stopped to, at
	// WaiterCancelledAt.
	WaiterCancelled   bool
	WaiterCancelledAt Seconds
	Heartbeats        []Seconds
}

// Ended reports whether the work is known to have ended, at EndedAt.
func (w WorkEntry) Ended() bool { return w.Outcome == WorkCompleted || w.Outcome == ConfirmedStopped }

// HeartbeatAfterCancel is how long after its waiter was cancelled the work
// gave its first sign of life; false where it gave none.
func (w WorkEntry) HeartbeatAfterCancel() (time.Duration, bool) {
	if !w.WaiterCancelled {
		return 0, false
	}
	for _, beat := range w.Heartbeats {
		if beat > w.WaiterCancelledAt {
			return time.Duration(beat - w.WaiterCancelledAt), true
		}
	}
	return 0, false
}

// Report is a record folded into the two ledgers.
type Report struct {
	Requests Requests
	Work     Work

	RequestEntries []RequestEntry // in order of admission
	WorkEntries    []WorkEntry    // in order of their first event

	// IncompleteStreams are streams that ended otherwise than completed, or
	// not at all.
	IncompleteStreams RequestCount
	// OldestOutstanding is the age of the oldest request without an outcome at
	// the record's last event.
	OldestOutstanding time.Duration
	// CleanupRan counts cleanups; UnfinishedAtCleanup is the work that was
	// started and not ended when the process came to clean up: when it entered
	// RECORDING or, of one that has no such state, at its last cleanup.
	CleanupRan          int
	UnfinishedAtCleanup WorkCount
	EvidenceLost        bool
	Ended               bool // the process is gone
	// Problems are contradictions, such as a request with two outcomes.
	Problems []string
}

// Fold makes a report of events in any order: it puts them in order itself, by
// time and, where that is equal, by sequence number. ended says that the
// process is known to be gone, whether or not the record tells; work that was
// started and has no end is then unknown.
func Fold(events []Event, ended bool) Report {
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Seq, b.Seq))
	})
	f := folder{requests: map[string]int{}, work: map[string]int{}, report: Report{Ended: ended}}
	for _, e := range events {
		f.take(e)
	}
	if len(events) > 0 {
		f.close(events[len(events)-1].At)
	}
	return f.report
}

// folder is a fold under way. The maps hold places in the report's entries.
type folder struct {
	report    Report
	requests  map[string]int
	work      map[string]int
	recording bool // the state has been entered
}

func (f *folder) problem(format string, args ...any) {
	f.report.Problems = append(f.report.Problems, fmt.Sprintf(format, args...))
}

func (f *folder) take(e Event) {
	r := &f.report
	switch e.Kind {
	case RequestAdmitted:
		if _, twice := f.requests[e.Request]; twice {
			f.problem("request %.40q was admitted twice", e.Request)
			return
		}
		f.requests[e.Request] = len(r.RequestEntries)
		r.RequestEntries = append(r.RequestEntries, RequestEntry{ID: e.Request, Class: e.Class, Stream: e.Stream, AdmittedAt: e.At})
	case RequestRejected:
		r.Requests.Rejected++
	case ConnectionUnseen:
		r.Requests.NeverAdmitted++
	case RequestsBefore:
		f.before(e)
	case RequestCompleted:
		f.end(e, Completed)
	case RequestFailed:
		f.end(e, Failed)
	case RequestCancelled:
		f.end(e, Cancelled)
	case WorkRegistered, WorkStarted, WorkHeartbeat, WorkFinished, StopRequested, StopAcknowledged, WaiterCancelled:
		f.takeWork(e)
	case CleanupRan:
		if !f.recording {
			r.UnfinishedAtCleanup = f.unfinished()
		}
		r.CleanupRan++
	case EvidenceLost:
		r.EvidenceLost = true
	case ProcessEnded:
		r.Ended = true
	case StateChanged:
		if e.State == "RECORDING" && !f.recording {
			f.recording = true
			r.UnfinishedAtCleanup = f.unfinished()
		}
	case SignalReceived:
	}
}

func (f *folder) unfinished() WorkCount {
	var n WorkCount
	for _, w := range f.report.WorkEntries {
		if w.Outcome == Running {
			n++
		}
	}
	return n
}

func (f *folder) before(e Event) {
	if e.Counts == nil {
		f.problem("the counts of the requests before the drain are missing")
		return
	}
	if err := e.Counts.Check(); err != nil {
		f.problem("before the drain: %v", err)
		return
	}
	r := &f.report.Requests
	r.Admitted += e.Counts.Admitted
	r.Completed += e.Counts.Completed
	r.Failed += e.Counts.Failed
	r.Cancelled += e.Counts.Cancelled
	r.Outstanding += e.Counts.Outstanding
	r.Rejected += e.Counts.Rejected
	r.NeverAdmitted += e.Counts.NeverAdmitted
}

func (f *folder) end(e Event, outcome RequestOutcome) {
	i, known := f.requests[e.Request]
	if !known {
		f.problem("request %.40q is %v and was never admitted", e.Request, outcome)
		return
	}
	entry := &f.report.RequestEntries[i]
	if entry.Outcome != Outstanding {
		f.problem("request %.40q is %v and %v", e.Request, entry.Outcome, outcome)
		return
	}
	entry.Outcome, entry.EndedAt = outcome, e.At
}

func (f *folder) takeWork(e Event) {
	i, known := f.work[e.Work]
	if !known {
		i = len(f.report.WorkEntries)
		f.work[e.Work] = i
		f.report.WorkEntries = append(f.report.WorkEntries, WorkEntry{ID: e.Work})
	}
	w := &f.report.WorkEntries[i]
	w.Request, w.Class = cmp.Or(w.Request, e.Request), cmp.Or(w.Class, e.Class)
	if e.Kind == WaiterCancelled {
		if !w.WaiterCancelled {
			w.WaiterCancelled, w.WaiterCancelledAt = true, e.At
		}
		return
	}
	if e.Kind == WorkRegistered || e.Kind == StopRequested {
		return
	}
	if w.Outcome == WorkCompleted || w.Outcome == ConfirmedStopped {
		f.problem("work %.40q is %v, and then %s", e.Work, w.Outcome, e.Kind)
		return
	}
	switch {
	case e.Kind == WorkStarted:
		w.Outcome, w.Started, w.StartedAt = Running, true, e.At
	case e.Kind == WorkHeartbeat: // a sign of life, whether or not the start was seen
		w.Outcome = Running
		w.Heartbeats = append(w.Heartbeats, e.At)
	case e.Kind == WorkFinished:
		w.Outcome, w.EndedAt = WorkCompleted, e.At
	case e.Kind == StopAcknowledged:
		w.Outcome, w.EndedAt = ConfirmedStopped, e.At
	}
}

func (f *folder) close(last Seconds) {
	r := &f.report
	for _, e := range r.RequestEntries {
		r.Requests.Add(e.Outcome)
		if e.Stream && e.Outcome != Completed {
			r.IncompleteStreams++
		}
		if e.Outcome == Outstanding {
			r.OldestOutstanding = max(r.OldestOutstanding, time.Duration(last-e.AdmittedAt))
		}
	}
	for i := range r.WorkEntries {
		w := &r.WorkEntries[i]
		if w.Outcome == Running && r.Ended {
			w.Outcome = Unknown
		}
		r.Work.add(w.Outcome)
	}
}
