package sim

import (
	"fmt"
	"slices"
)

// Fate is what has become of a request by the end of a run, at [Horizon].
type Fate uint8

// The fates of a request; NoArrival is that of a number beyond the last one.
const (
	NoArrival Fate = iota
	FateRejected
	FateCompleted
	FateKilled
	FateRunning
)

var fateNames = [...]string{"no_arrival", "rejected", "completed", "killed", "running"}

func (f Fate) String() string { return fateNames[f] }

// Ending is what became of one request, and what in the trace decided it.
type Ending struct {
	Request   int
	Fate      Fate
	Worker    int  // that admitted it, 0 where none did
	ArrivedAt Time // Never for NoArrival
	DueAt     Time // admission + duration, may lie beyond Horizon; Never where it was not admitted
	EndedAt   Time // of a completion or a kill, else Never
	Left      Time // work left when it was killed or the run ended, else 0
	// Chain is the Seq of the events that decide it, the fewest, in their order:
	// those of the request, and those of the workers that made the difference.
	Chain    []int32
	Sentence string
}

// Why returns what became of the request of that number by the end of the run.
// Any number is taken; one that does not arrive has no chain.
func (r *Run) Why(request int) Ending {
	e := Ending{Request: request, ArrivedAt: Never, DueAt: Never, EndedAt: Never}
	if i, ok := slices.BinarySearchFunc(r.Invocations, request, func(inv Invocation, n int) int { return int(inv.Request) - n }); ok {
		r.whyAdmitted(&e, &r.Invocations[i])
	} else if i, ok := slices.BinarySearchFunc(r.Rejections, request, func(rej Rejection, n int) int { return int(rej.Request) - n }); ok {
		r.whyRejected(&e, &r.Rejections[i])
	} else {
		n := r.Settings.arrivals()
		e.Sentence = fmt.Sprintf("Request %d does not arrive: the last one is request %d, at %s.",
			request, n, secs(FirstArrival+Time(n-1)*r.Settings.Interval))
	}
	slices.Sort(e.Chain)
	return e
}

func (r *Run) whyAdmitted(e *Ending, inv *Invocation) {
	*e = r.ending(inv)
	e.link(r, RequestAdmitted, 0)
	switch e.Fate {
	case FateCompleted:
		e.link(r, InvocationCompleted, 0)
		if e.Worker == 1 { // it was ready once, so it took the signal
			e.link(r, WorkerSignaled, 1)
		}
		e.Sentence = fmt.Sprintf("Request %d was admitted at %s and completed at %s, %s.",
			e.Request, secs(e.ArrivedAt), secs(e.EndedAt), r.inTime(e))
		return
	case FateKilled:
		e.link(r, WorkerSignaled, 1)
		e.link(r, InvocationKilled, 0)
	case FateRunning, FateRejected, NoArrival:
	}
	e.Sentence = r.tellAlike([]Ending{*e})
}

// ending is that of an admitted request, without chain and sentence.
func (r *Run) ending(inv *Invocation) Ending {
	e := Ending{Request: int(inv.Request), Fate: inv.fate(), Worker: int(inv.Worker),
		ArrivedAt: inv.AdmittedAt, DueAt: inv.AdmittedAt + r.Settings.Duration, EndedAt: inv.EndedAt}
	switch inv.Outcome {
	case Completed:
	case KilledInvocation:
		e.Left = e.DueAt - e.EndedAt
	case Running:
		e.Left = e.DueAt - Horizon
	}
	return e
}

func (i *Invocation) fate() Fate {
	switch i.Outcome {
	case Completed:
		return FateCompleted
	case KilledInvocation:
		return FateKilled
	case Running:
	}
	return FateRunning
}

// inTime says why the forced stop did not meet a completed invocation.
func (r *Run) inTime(e *Ending) string {
	s := &r.Settings
	switch {
	case e.Worker != 1:
		return fmt.Sprintf("on worker %d: SIGTERM concerns worker 1 alone", e.Worker)
	case e.EndedAt == s.Signal:
		return "in the step in which SIGTERM came, where completions come first"
	case e.EndedAt < s.Signal:
		return "before SIGTERM came at " + secs(s.Signal)
	case e.EndedAt == s.Deadline():
		return "exactly at the deadline, where a completion wins over the forced stop"
	}
	return fmt.Sprintf("%s before the deadline at %s", secs(s.Deadline()-e.EndedAt), secs(s.Deadline()))
}

// afterSignal reports of a killed invocation whether the signal had come when
// worker 1 admitted it: the handler is off.
func (r *Run) afterSignal(e *Ending) bool { return e.ArrivedAt >= r.Settings.Signal }

// tellAlike tells of killed or of running invocations, one or more of them,
// whose chains have the same form.
func (r *Run) tellAlike(endings []Ending) string {
	s := &r.Settings
	n := len(endings)
	requests := make([]int, n)
	var admitted, due, left []Time
	for i := range endings {
		e := &endings[i]
		requests[i] = e.Request
		admitted, due, left = append(admitted, e.ArrivedAt), append(due, e.DueAt), append(left, e.Left)
	}
	who := fmt.Sprintf("%s %s admitted %s", theRequests(requests), form(n, "was", "were"), when(admitted))
	them := form(n, "it", "they")
	stop := fmt.Sprintf("the grace of %s ended at %s: killed with %s of work left.", secs(s.Grace), secs(s.Deadline()), span(left))
	switch {
	case endings[0].Fate == FateRunning:
		return fmt.Sprintf("%s and %s until %s: still running when the run ended at %s, with %s of work left.",
			capital(who), form(n, "needs", "need"), span(due), secs(Horizon), span(left))
	case r.afterSignal(&endings[0]):
		signal := "after SIGTERM at " + secs(s.Signal)
		if n == 1 && admitted[0] == s.Signal {
			signal = "right after SIGTERM"
		}
		return fmt.Sprintf("%s, %s, because the handler is off; %s needed until %s and %s", capital(who), signal, them, span(due), stop)
	}
	return fmt.Sprintf("%s, so %s needed until %s; SIGTERM came at %s and %s", capital(who), them, span(due), secs(s.Signal), stop)
}

// link adds the first event of that kind, of the worker or, where that is 0,
// of the request.
func (e *Ending) link(r *Run, kind Kind, worker int) {
	e.Chain = append(e.Chain, r.find(kind, worker, e.Request))
}

func (r *Run) find(kind Kind, worker, request int) int32 {
	for i := range r.Trace {
		ev := &r.Trace[i]
		if ev.Kind == kind && (worker == 0 && int(ev.Request) == request || worker != 0 && int(ev.Worker) == worker) {
			return ev.Seq
		}
	}
	panic("sim: a run without an event that it must have")
}

func (r *Run) whyRejected(e *Ending, rej *Rejection) {
	e.Fate, e.ArrivedAt = FateRejected, rej.At
	c := r.cause(rej)
	if c.Worker != 0 {
		e.link(r, entered(c.State), c.Worker)
	}
	if c.ReplacementBooting {
		e.link(r, WorkerStarted, r.Settings.Workers+1)
	}
	e.link(r, RequestRejected, 0)
	e.Sentence = fmt.Sprintf("Request %d was rejected at %s: %s.", e.Request, secs(rej.At), r.keptOut(&c))
}

// entered is the kind of the event with which a worker comes into the state.
func entered(s State) Kind {
	switch s {
	case Starting:
		return WorkerStarted
	case Ready:
		return WorkerReady
	case Draining:
		return WorkerDrained
	case Exited:
		return WorkerExited
	case Killed:
		return WorkerKilled
	case Failed:
		return WorkerFailed
	}
	panic("sim: a worker of no state")
}
