package sim

import (
	"slices"
)

// Judgement is a prediction beside what a run has come to at [Horizon].
type Judgement struct {
	Completed GuessJudgement
	Killed    GuessJudgement
	Dies      DiesJudgement
	Verdict   VerdictJudgement
	Mistake   Mistake
	Sentence  string // one, on Mistake
}

// GuessJudgement judges one count. Right is false where nothing was said.
type GuessJudgement struct {
	Guess
	Truth int
	Right bool
}

// DiesJudgement judges the marked requests. Right is false where nothing was said.
type DiesJudgement struct {
	Said  bool
	Truth []int // the requests that were killed, ascending
	Right bool  // exactly these were marked
	// Marks are the requests that were marked or killed, ascending; none where
	// nothing was said.
	Marks []Mark
}

// Mark is one request that was marked, or that should have been. Its Ending
// says what became of it and why.
type Mark struct {
	Marked bool
	Right  bool // marked and killed
	Ending
}

// VerdictJudgement judges the verdict. Right is false where nothing was said.
type VerdictJudgement struct {
	Said  Verdict // Pending where it was not said
	Truth Verdict // Pass or Fail
	Right bool
}

// Right reports whether something was said and all of it is right.
func (j Judgement) Right() bool { return j.Mistake == NoMistake }

// Mistake is where the thinking behind a prediction went wrong, as far as the
// data shows it.
type Mistake uint8

// The mistakes. Of several, the one that most requests show is told, at a tie
// the first in this order.
const (
	NothingSaid       Mistake = iota
	NoMistake                 // all that was said is right
	AfterSignal               // with the handler off, work admitted after the signal dies too
	GraceTooShort             // work admitted before the signal needed more than the grace
	EarlyEnough               // what was admitted early enough completes by the deadline
	OtherWorker               // the signal and the forced stop concern worker 1 alone
	RejectedNotKilled         // what was rejected has nothing to be killed
	StillRunning              // what runs at the end is neither completed nor killed
	NeverArrives              // no request of that number arrives
	MoreThanAdmitted          // more invocations than the workers had room for
	CountsAndMarks            // the right requests marked, another count of them said
	GateRule                  // only the verdict is wrong
	mistakes          = iota  // how many there are
)

var mistakeNames = [mistakes]string{
	"nothing_said", "none", "after_signal", "grace_too_short", "early_enough", "other_worker", "rejected_not_killed",
	"still_running", "never_arrives", "more_than_admitted", "counts_and_marks", "gate_rule",
}

func (m Mistake) String() string { return mistakeNames[m] }

// Judge holds the prediction against the whole run. Any prediction is taken;
// marks of requests that do not arrive are wrong.
func (p Prediction) Judge(r *Run) Judgement {
	a := r.Account()
	j := Judgement{
		Completed: p.Completed.judge(a.Completed),
		Killed:    p.Killed.judge(a.Killed),
		Verdict:   VerdictJudgement{Said: p.Verdict, Truth: r.verdict()},
	}
	j.Verdict.Right = p.Verdict == j.Verdict.Truth
	k := &critic{run: r, account: a}
	for i := range r.Invocations {
		k.add(r.ending(&r.Invocations[i]))
	}
	j.Dies = p.judgeDies(r, k)
	j.Mistake, j.Sentence = k.criticize(p, &j)
	return j
}

func (g Guess) judge(truth int) GuessJudgement {
	return GuessJudgement{Guess: g, Truth: truth, Right: g.Said && g.N == truth}
}

func (p Prediction) judgeDies(r *Run, k *critic) DiesJudgement {
	d := DiesJudgement{Said: p.Dies != nil, Truth: []int{}}
	for _, e := range k.before {
		d.Truth = append(d.Truth, e.Request)
	}
	for _, e := range k.after { // admitted later than those
		d.Truth = append(d.Truth, e.Request)
	}
	if !d.Said {
		return d
	}
	marks := p.marks()
	d.Right = slices.Equal(marks, d.Truth)
	all := slices.Concat(marks, d.Truth)
	slices.Sort(all)
	for _, n := range slices.Compact(all) {
		m := Mark{Marked: slices.Contains(marks, n), Ending: r.Why(n)}
		m.Right = m.Marked && m.Fate == FateKilled
		d.Marks = append(d.Marks, m)
	}
	return d
}
