package sim

import (
	"slices"
)

// Explanation is why the gate passes or fails a whole run.
type Explanation struct {
	Verdict Verdict // Pass or Fail
	// Endings are those of the killed invocations, then of those that are still
	// running, each in order of admission. There are none where the gate passes.
	Endings []Ending
	// Groups tell all Endings: each by itself where few are alike, else together.
	Groups []Group
	// Causes of the rejections, see [Run.RejectionCauses], whatever the verdict.
	Causes []RejectionCause
	// Rejected tells the causes where the rejected share is over the allowance,
	// else "".
	Rejected string
	Margin   *Margin // nil where the gate fails
}

// Group is one sentence about some requests.
type Group struct {
	Requests []int
	Sentence string
}

// mostByThemselves is how many endings of one form are told one by one.
const mostByThemselves = 4

// Explain returns why the gate passes or fails the run at [Horizon]. Where it
// passes, that takes a run with every shorter grace, up to 300 of them.
func (r *Run) Explain() Explanation {
	a := r.Account()
	e := Explanation{Verdict: r.verdict(), Causes: r.RejectionCauses()}
	if e.Verdict == Pass {
		m := graceMargin(r.Settings)
		e.Margin = &m
		return e
	}
	// Those of one form: killed and admitted before the signal, killed and
	// admitted after it, running.
	var forms [3][]Ending
	for i := range r.Invocations {
		inv := &r.Invocations[i]
		if inv.Outcome == Completed {
			continue
		}
		w := r.Why(int(inv.Request))
		f := 0
		switch {
		case w.Fate == FateRunning:
			f = 2
		case r.afterSignal(&w):
			f = 1
		}
		forms[f] = append(forms[f], w)
	}
	for _, alike := range forms { // admitted before the signal is admitted before those after it
		e.Endings = append(e.Endings, alike...)
		width := 1
		if len(alike) > mostByThemselves {
			width = len(alike)
		}
		for some := range slices.Chunk(alike, width) {
			g := Group{Sentence: r.tellAlike(some)}
			for i := range some {
				g.Requests = append(g.Requests, some[i].Request)
			}
			e.Groups = append(e.Groups, g)
		}
	}
	if a.Rejected*100 > r.Settings.Allowance*a.Arrivals {
		e.Rejected = tellRejected(r, a, e.Causes)
	}
	return e
}

// verdict is the gate's on the whole run.
func (r *Run) verdict() Verdict {
	if r.Account().Passes(r.Settings.Allowance) {
		return Pass
	}
	return Fail
}

// Sentences returns the explanation as text: what was lost, then what was
// turned away; where the gate passes, the margin.
func (e Explanation) Sentences() []string {
	var text []string
	for _, g := range e.Groups {
		text = append(text, g.Sentence)
	}
	if e.Rejected != "" {
		text = append(text, e.Rejected)
	}
	if e.Margin != nil {
		text = append(text, e.Margin.Sentence)
	}
	return text
}
