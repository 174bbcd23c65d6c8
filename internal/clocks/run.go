package clocks

import "iter"

// Outcome is what became of a request.
type Outcome uint8

// The outcomes of a request. Rejected ones met the closed gate before any
// work, refused ones found no listener.
const (
	Completed Outcome = iota
	Deadline
	Cancelled
	Killed
	Rejected
	Refused
)

var outcomeNames = [...]string{"completed", "deadline", "cancelled", "killed", "rejected", "refused"}

func (o Outcome) String() string { return outcomeNames[o] }

// WorkOutcome is what became of the backend work of a request.
type WorkOutcome uint8

// The outcomes of work.
const (
	WorkCompleted WorkOutcome = iota
	ConfirmedStopped
	Unknown
	NotStarted
)

var workNames = [...]string{"completed", "confirmed_stopped", "unknown", "not_started"}

func (w WorkOutcome) String() string { return workNames[w] }

// CleanupState is how far the cleanup came.
type CleanupState uint8

// The cleanup did all that it needs, was cut by its budget or by the kill, or
// was not begun when the kill came.
const (
	CleanupComplete CleanupState = iota
	CleanupCut
	CleanupNotBegun
)

var cleanupNames = [...]string{"complete", "cut", "not_begun"}

func (c CleanupState) String() string { return cleanupNames[c] }

// Instants are the moments that the clocks set; one that never comes is
// [Never].
type Instants struct {
	Gate           Time // the admission gate closes
	Term           Time // the signal has reached the application
	ListenerClosed Time
	RouterStop     Time // from here on no router sends a new request
	Drained        Time // no admitted request is left
	Exit           Time // the cleanup has ended, and with it the process
	Kill           Time // the outer deadline, whether or not anything is left to kill
}

// Account counts the requests.
type Account struct {
	Arrivals, Admitted                     int
	Completed, Deadline, Cancelled, Killed int
	Rejected, Refused                      int
}

// Work counts the backend work.
type Work struct{ Completed, ConfirmedStopped, Unknown, NotStarted int }

// Budget is the planning rule. Without a signal that is handled there is no
// plan: Term, Need and Slack are [Never].
type Budget struct {
	Term      Time // hook and delivery of the signal
	Remaining Time // the drain: the longest work left at the signal, at most the server's timeout
	Cleanup   Time // what it needs, at most its budget
	Margin    Time
	Need      Time // their sum
	Slack     Time // of the outer deadline; negative: an overrun
}

// Run is the whole of one termination.
type Run struct {
	Settings Settings
	Instants Instants
	Account  Account
	Work     Work
	Exited   bool // the process ended by its own exit, not by the kill
	End      Time // when it ended
	Cleanup  CleanupState
	Budget   Budget

	// Request j arrives at j·interval. first is the first that still runs at 0,
	// stop the first that no router sends; those below admitted are admitted,
	// the rest below rejected are rejected, the rest below stop are refused.
	first, admitted, rejected, stop Time
	listening                       Time // until then the process takes connections
	gate                            Time // until then it admits
	cutAt                           Time // what still runs then is ended …
	cut                             Outcome
}

// Request is one request and what became of it.
type Request struct {
	Arrival     Time
	Duration    Time
	Long        bool
	Outcome     Outcome
	EndedAt     Time // for the rejected and the refused their arrival
	Work        WorkOutcome
	WorkEndedAt Time // Never where that is unknown or nothing was started
}

// endless is later than anything that comes.
const endless = 1 << 30

// Simulate computes the termination of s. All requests but the long one are
// alike, so that whole rows of them share a fate: they are counted, not walked
// through. It panics where s is not valid: settings come through the parsers
// of this package.
func Simulate(s Settings) *Run {
	if err := s.Validate(); err != nil {
		panic("clocks: " + err.Error())
	}
	r := new(Run)
	r.compute(&s)
	return r
}

// compute is [Simulate] in r's memory; s is valid.
func (r *Run) compute(s *Settings) {
	r.Settings = *s
	kill := s.Grace
	if !s.HookInGrace {
		kill += s.Prestop
	}
	term := Time(endless)
	if s.SignalHandled {
		term = s.Prestop + s.SignalDelay
	}
	gate := Time(endless)
	switch s.Gate {
	case GateAtPrestop:
		gate = 0
	case GateAtTerm:
		gate = term
	case GateNever:
	}
	router := s.Withdraw + s.Propagation

	r.listening, r.gate = min(term, kill), gate
	r.first = floorDiv(-s.Request, s.Interval) + 1
	r.stop = ceilDiv(router, s.Interval)
	r.admitted = min(r.stop, ceilDiv(min(gate, r.listening), s.Interval))
	r.rejected = max(r.admitted, min(r.stop, ceilDiv(r.listening, s.Interval)))

	// When the admitted would have ended by themselves, the latest; and how long
	// the latest of them would work after the signal.
	drainBy := Time(endless)
	if s.SignalHandled && s.ServerTimeout != None {
		drainBy = term + s.ServerTimeout
	}
	// Neither asks whether there are any: where none was admitted, last is the one
	// before the first and over by 0, as is a long one that takes no time, and no
	// signal comes before 0.
	last := (r.admitted - 1) * s.Interval
	latestEnd, latestFinish := last+s.lasts(s.Request), last+s.Request
	if r.admits(-s.LongAge) {
		latestEnd = max(latestEnd, s.lasts(s.Long)-s.LongAge)
		latestFinish = max(latestFinish, s.Long-s.LongAge)
	}
	drained := max(term, min(latestEnd, drainBy))
	cleanup := s.Cleanup
	if s.CleanupBudget != None {
		cleanup = min(cleanup, s.CleanupBudget)
	}
	exit := drained + cleanup

	r.Exited = exit <= kill
	r.End = min(exit, kill)
	switch {
	case r.Exited && s.Cleanup == cleanup:
		r.Cleanup = CleanupComplete
	case r.Exited, drained < kill:
		r.Cleanup = CleanupCut
	default:
		r.Cleanup = CleanupNotBegun
	}

	comes := func(t Time, at Time) Time { // by at, or never
		if t > at {
			return Never
		}
		return t
	}
	r.Instants = Instants{Gate: comes(gate, kill), Term: comes(term, kill), ListenerClosed: comes(term, kill), RouterStop: router,
		Drained: comes(drained, kill), Exit: comes(exit, kill), Kill: kill}

	r.Budget = Budget{Term: Never, Remaining: 0, Cleanup: cleanup, Margin: s.Margin, Need: Never, Slack: Never}
	if s.SignalHandled {
		b := &r.Budget
		b.Term = term
		b.Remaining = max(0, latestFinish-term)
		if s.ServerTimeout != None {
			b.Remaining = min(b.Remaining, s.ServerTimeout)
		}
		b.Need = b.Term + b.Remaining + b.Cleanup + b.Margin
		b.Slack = kill - b.Need
	}

	r.cutAt, r.cut = drainBy, Cancelled
	if kill < drainBy {
		r.cutAt, r.cut = kill, Killed
	}
	r.count()
}

// lasts is how long a request of this duration holds on if nothing ends it but
// its deadline.
func (s *Settings) lasts(duration Time) Time {
	if s.Deadline > 0 {
		return min(duration, s.Deadline)
	}
	return duration
}

// admits reports whether a request that arrives then is admitted.
func (r *Run) admits(arrival Time) bool { return arrival < 0 || arrival < min(r.gate, r.listening) }

// count fills the account and the work.
func (r *Run) count() {
	s := &r.Settings
	a, w := &r.Account, &r.Work
	// Of the admitted ones, those below own end by themselves, the rest are cut.
	own := between(r.first, floorDiv(r.cutAt-s.lasts(s.Request), s.Interval)+1, r.admitted)
	finished := between(r.first, floorDiv(r.End-s.Request, s.Interval)+1, r.admitted) // by the process's end, if not stopped
	*a = Account{Arrivals: int(r.stop - r.first), Admitted: int(r.admitted - r.first),
		Rejected: int(r.rejected - r.admitted), Refused: int(r.stop - r.rejected)}
	*w = Work{NotStarted: a.Rejected + a.Refused}

	alone, cut := int(own-r.first), int(r.admitted-own)
	switch {
	case s.lasts(s.Request) == s.Request:
		a.Completed += alone
		w.Completed += alone
	case s.Cooperative:
		a.Deadline += alone
		stopped := int(between(r.first, floorDiv(r.End-s.Deadline-s.StopCheck, s.Interval)+1, own) - r.first)
		w.ConfirmedStopped += stopped
		w.Unknown += alone - stopped
	default:
		a.Deadline += alone
		done := int(min(own, finished) - r.first)
		w.Completed += done
		w.Unknown += alone - done
	}
	switch {
	case r.cut == Killed:
		a.Killed += cut
		w.Unknown += cut
	case !s.Cooperative:
		a.Cancelled += cut
		done := int(max(own, finished) - own)
		w.Completed += done
		w.Unknown += cut - done
	case r.cutAt+s.StopCheck <= r.End:
		a.Cancelled += cut
		w.ConfirmedStopped += cut
	default:
		a.Cancelled += cut
		w.Unknown += cut
	}

	if s.Long > 0 {
		r.tally(r.fate(-s.LongAge, s.Long, true))
	}
}

// between is v, at least low and at most high.
func between(low, v, high Time) Time { return max(low, min(v, high)) }

func (r *Run) tally(q Request) {
	a, w := &r.Account, &r.Work
	a.Arrivals++
	if q.Outcome < Rejected {
		a.Admitted++
	}
	*[...]*int{&a.Completed, &a.Deadline, &a.Cancelled, &a.Killed, &a.Rejected, &a.Refused}[q.Outcome]++
	*[...]*int{&w.Completed, &w.ConfirmedStopped, &w.Unknown, &w.NotStarted}[q.Work]++
}

// fate is what becomes of one request.
func (r *Run) fate(arrival, duration Time, long bool) Request {
	s := &r.Settings
	q := Request{Arrival: arrival, Duration: duration, Long: long, EndedAt: arrival, Work: NotStarted, WorkEndedAt: Never}
	if !r.admits(arrival) {
		q.Outcome = Rejected
		if arrival >= r.listening {
			q.Outcome = Refused
		}
		return q
	}
	finish := arrival + duration
	q.EndedAt = arrival + s.lasts(duration)
	switch {
	case q.EndedAt > r.cutAt:
		q.Outcome, q.EndedAt = r.cut, r.cutAt
	case q.EndedAt < finish:
		q.Outcome = Deadline
	}
	switch {
	case q.Outcome == Completed:
		q.Work, q.WorkEndedAt = WorkCompleted, finish
	case q.Outcome == Killed:
		q.Work = Unknown
	case s.Cooperative && q.EndedAt+s.StopCheck <= r.End:
		q.Work, q.WorkEndedAt = ConfirmedStopped, q.EndedAt+s.StopCheck
	case !s.Cooperative && finish <= r.End:
		q.Work, q.WorkEndedAt = WorkCompleted, finish
	default:
		q.Work = Unknown
	}
	return q
}

// Requests yields all requests in order of arrival, the long one before
// another that arrives with it.
func (r *Run) Requests() iter.Seq[Request] {
	return func(yield func(Request) bool) {
		s := &r.Settings
		long := s.Long > 0
		for j := r.first; j < r.stop; j++ {
			at := j * s.Interval
			if long && -s.LongAge <= at {
				long = false
				if !yield(r.fate(-s.LongAge, s.Long, true)) {
					return
				}
			}
			if !yield(r.fate(at, s.Request, false)) {
				return
			}
		}
		if long {
			yield(r.fate(-s.LongAge, s.Long, true))
		}
	}
}

// Gap is the transition gap: how long after 0 new requests got no service from
// this process though routers still sent them.
func (r *Run) Gap() Time {
	return max(0, r.Instants.RouterStop-max(0, min(r.gate, r.listening)))
}

// Passes reports whether nothing admitted was lost, nobody met a closed
// listener, all work is accounted for, and the process cleaned up and left by
// itself. Rejections are reported beside it.
func (r *Run) Passes() bool {
	a := &r.Account
	return a.Deadline+a.Cancelled+a.Killed+a.Refused+r.Work.Unknown == 0 && r.Cleanup == CleanupComplete && r.Exited
}

// Loss is one thing that keeps a run from passing.
type Loss uint8

// The losses, the gravest first.
const (
	LostKilled Loss = iota
	LostCancelled
	LostDeadline
	LostRefused
	LostUnknown
	LostCleanup
	LostExit
	NoLoss
)

var lossNames = [...]string{"killed", "cancelled", "deadline", "refused", "unknown", "cleanup", "kill", "none"}

func (l Loss) String() string { return lossNames[l] }

// Losses lists what keeps the run from passing, the gravest first.
func (r *Run) Losses() []Loss {
	var list []Loss
	for l := range NoLoss {
		if r.has(l) {
			list = append(list, l)
		}
	}
	return list
}

// Gravest is the first of the losses, or [NoLoss].
func (r *Run) Gravest() Loss {
	for l := range NoLoss {
		if r.has(l) {
			return l
		}
	}
	return NoLoss
}

func (r *Run) has(l Loss) bool {
	switch l {
	case LostKilled:
		return r.Account.Killed > 0
	case LostCancelled:
		return r.Account.Cancelled > 0
	case LostDeadline:
		return r.Account.Deadline > 0
	case LostRefused:
		return r.Account.Refused > 0
	case LostUnknown:
		return r.Work.Unknown > 0
	case LostCleanup:
		return r.Cleanup != CleanupComplete
	case LostExit:
		return !r.Exited
	case NoLoss:
	}
	return false
}

func floorDiv(a, b Time) Time {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func ceilDiv(a, b Time) Time { return -floorDiv(-a, b) }
