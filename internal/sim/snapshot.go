package sim

import (
	"fmt"
	"sort"
)

// Account counts what became of the requests that have arrived. At every
// instant Arrivals = Admitted + Rejected and Admitted = Completed + Killed +
// Running.
type Account struct {
	Arrivals, Admitted, Rejected, Completed, Killed, Running int
}

// RejectedHundredths is the rejected share in hundredths of a percent, rounded
// half up. A run has at most 79 arrivals, so a share above an allowance of
// whole percents never prints as equal to it.
func (a Account) RejectedHundredths() int {
	if a.Arrivals == 0 {
		return 0
	}
	return (2*a.Rejected*10_000 + a.Arrivals) / (2 * a.Arrivals)
}

// RejectedPercent prints the rejected share of the arrivals in percent with at
// most two decimals: "65", "8.86".
func (a Account) RejectedPercent() string {
	return string(appendHundredths(make([]byte, 0, 8), a.RejectedHundredths()))
}

// Verdict is the gate's answer.
type Verdict uint8

// The verdicts: Pending before the run's last step.
const (
	Pending Verdict = iota
	Pass
	Fail
)

var verdictNames = [...]string{"pending", "pass", "fail"}

func (v Verdict) String() string { return verdictNames[v] }

// Gate is the verdict on an account and, where it fails, every reason.
type Gate struct {
	Verdict Verdict
	Reasons []string
}

// Snapshot is a run as it stands at T: all of the step at T has happened,
// nothing after it is in here. An instant after T is [Never], an invocation
// that ends after T is running.
type Snapshot struct {
	T           Time
	Settings    Settings
	Account     Account
	Workers     []Worker // those that have booted
	Invocations []Invocation
	Rejections  []Rejection
	Trace       []Event
}

// At returns the run as it stands at t, 0 ≤ t ≤ [Horizon]. Rejections and
// Trace share the run's memory.
func (r *Run) At(t Time) Snapshot {
	s := Snapshot{T: t, Settings: r.Settings}
	s.Trace = r.Trace[:sort.Search(len(r.Trace), func(i int) bool { return r.Trace[i].At > t })]
	s.Rejections = r.Rejections[:sort.Search(len(r.Rejections), func(i int) bool { return r.Rejections[i].At > t })]
	s.Workers = make([]Worker, 0, len(r.Workers))
	for _, w := range r.Workers {
		if w.BootAt <= t {
			s.Workers = append(s.Workers, w.at(t))
		}
	}
	admitted := sort.Search(len(r.Invocations), func(i int) bool { return r.Invocations[i].AdmittedAt > t })
	s.Invocations = make([]Invocation, admitted)
	for i, inv := range r.Invocations[:admitted] {
		if inv.EndedAt > t {
			inv.EndedAt, inv.Outcome = Never, Running
		}
		s.Invocations[i] = inv
	}
	s.Account = account(s.Invocations, len(s.Rejections))
	return s
}

func (w Worker) at(t Time) Worker {
	for _, p := range []*Time{&w.ReadyAt, &w.FailedAt, &w.SignalAt, &w.DrainAt, &w.ExitAt} {
		if *p > t {
			*p = Never
		}
	}
	switch {
	case w.ExitAt != Never: // the final state stands
	case w.FailedAt != Never:
		w.State = Failed
	case w.DrainAt != Never:
		w.State = Draining
	case w.ReadyAt != Never:
		w.State = Ready
	default:
		w.State = Starting
	}
	return w
}

// Since is when the worker entered its present state.
func (w Worker) Since() Time {
	switch w.State {
	case Ready:
		return w.ReadyAt
	case Draining:
		return w.DrainAt
	case Exited, Killed:
		return w.ExitAt
	case Failed:
		return w.FailedAt
	case Starting:
	}
	return w.BootAt
}

// Account returns the account of the whole run, at [Horizon].
func (r *Run) Account() Account { return account(r.Invocations, len(r.Rejections)) }

func account(invocations []Invocation, rejected int) Account {
	a := Account{Rejected: rejected, Admitted: len(invocations), Arrivals: rejected + len(invocations)}
	for _, inv := range invocations {
		switch inv.Outcome {
		case Completed:
			a.Completed++
		case KilledInvocation:
			a.Killed++
		case Running:
			a.Running++
		}
	}
	return a
}

// Passes is the gate's rule on a whole run's account: nothing killed, nothing
// running, and rejected·100 ≤ allowance·arrivals.
func (a Account) Passes(allowance int) bool {
	return a.Killed == 0 && a.Running == 0 && a.Rejected*100 <= allowance*a.Arrivals
}

// Gate returns the verdict of the snapshot, [Pending] before [Horizon].
func (s Snapshot) Gate() Gate {
	if s.T < Horizon {
		return Gate{Verdict: Pending}
	}
	if s.Account.Passes(s.Settings.Allowance) {
		return Gate{Verdict: Pass}
	}
	return Gate{Verdict: Fail, Reasons: s.Objections()}
}

// Objections are what keeps the account, as it stands, from passing the gate.
func (s Snapshot) Objections() []string {
	var reasons []string
	a := s.Account
	if a.Killed > 0 {
		reasons = append(reasons, fmt.Sprintf("killed %d > 0", a.Killed))
	}
	if a.Running > 0 {
		reasons = append(reasons, fmt.Sprintf("running %d > 0", a.Running))
	}
	if a.Rejected*100 > s.Settings.Allowance*a.Arrivals {
		reasons = append(reasons, fmt.Sprintf("rejected %s %% > %d %%", a.RejectedPercent(), s.Settings.Allowance))
	}
	return reasons
}

// StageAt is the stage of an invocation that was admitted elapsed ago and has
// not ended.
func (s Settings) StageAt(elapsed Time) Stage {
	ends := StageEnds(s.Duration)
	switch {
	case elapsed >= ends[1]:
		return Tool
	case elapsed >= ends[0]:
		return ModelCall
	}
	return Prepare
}

// Deadline is the instant of worker 1's forced stop, should it still be there.
// It may lie beyond [Horizon].
func (s Settings) Deadline() Time { return s.Signal + s.Grace }

// NextEvent is the instant of the first event after t, or [Horizon] where
// nothing more happens.
func (r *Run) NextEvent(t Time) Time {
	i := sort.Search(len(r.Trace), func(i int) bool { return r.Trace[i].At > t })
	if i == len(r.Trace) {
		return Horizon
	}
	return r.Trace[i].At
}
