package sim

import (
	"fmt"
)

// Margin is how much less grace passes the gate, all else as it is. A longer
// grace can fail where a shorter one passes: with the handler off, worker 1
// goes on admitting until the deadline. So there are two bounds.
type Margin struct {
	Grace    Time // as set, passing
	Least    Time // the least that passes, 0 to Grace
	Fails    Time // the longest below Grace that fails; Never where all pass, even 0
	Request  int  // that is killed with Fails, a tenth before its end; 0 where all pass
	Sentence string
}

func graceMargin(s Settings) Margin {
	m := Margin{Grace: s.Grace, Least: Never, Fails: Never}
	var r Run
	for s.Grace = 0; s.Grace <= m.Grace; s.Grace++ {
		r.Reset(s)
		if r.verdict() == Fail {
			m.Fails = s.Grace
		} else if m.Least == Never {
			m.Least = s.Grace
		}
	}
	if m.Fails == Never {
		s.Grace = 0
		r.Reset(s)
		enough := "Even a grace of 0 s passes"
		if m.Grace == 0 {
			enough = "The grace of 0 s is enough"
		}
		m.Sentence = enough + ": " + r.nothingToDrain() + "."
		return m
	}
	s.Grace = m.Fails
	r.Reset(s)
	// With a tenth more it passes. A tenth is too short to admit a request and
	// complete it, so it can only have saved an invocation that had that much
	// work left; and no two end on the same tenth, as no two begin on one.
	m.Request = r.firstKilled()
	with := fmt.Sprintf("with %s, request %d would be killed with %s of work left", secs(m.Fails), m.Request, secs(tenth))
	switch {
	case m.Least == m.Grace:
		m.Sentence = fmt.Sprintf("No less grace than the %s set passes: %s.", secs(m.Grace), with)
	case m.Least > m.Fails:
		m.Sentence = fmt.Sprintf("A grace of %s still passes, %s less than the %s set; %s.",
			secs(m.Least), secs(m.Grace-m.Least), secs(m.Grace), with)
	default:
		m.Sentence = fmt.Sprintf("A grace of %s passes too, %s less than the %s set, but not every one between: %s.",
			secs(m.Least), secs(m.Grace-m.Least), secs(m.Grace), with)
	}
	return m
}

// nothingToDrain says why a run that passes with no grace needs none.
func (r *Run) nothingToDrain() string {
	if w := &r.Workers[0]; w.SignalAt == Never {
		return fmt.Sprintf("worker 1 failed to initialize at %s and never took SIGTERM", secs(w.FailedAt))
	}
	return "worker 1 owned nothing when SIGTERM came at " + secs(r.Settings.Signal)
}

// firstKilled is the request of the first invocation that was killed, 0 where
// none was.
func (r *Run) firstKilled() int {
	for i := range r.Invocations {
		if r.Invocations[i].Outcome == KilledInvocation {
			return int(r.Invocations[i].Request)
		}
	}
	return 0
}
