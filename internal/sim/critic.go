package sim

import (
	"fmt"
	"slices"
)

// critic finds the mistake in a prediction and says it.
type critic struct {
	run     *Run
	account Account
	// The endings of the admitted requests by what there is to know of them:
	// killed and admitted before the signal, killed and admitted after it,
	// completed by worker 1, completed by another one, running.
	before, after, own, others, running []Ending
}

func (k *critic) add(e Ending) {
	list := &k.running
	switch e.Fate {
	case FateKilled:
		list = &k.before
		if k.run.afterSignal(&e) {
			list = &k.after
		}
	case FateCompleted:
		list = &k.own
		if e.Worker != 1 {
			list = &k.others
		}
	case NoArrival, FateRejected, FateRunning:
	}
	*list = append(*list, e)
}

func (k *critic) criticize(p Prediction, j *Judgement) (Mistake, string) {
	switch {
	case !p.Said():
		return NothingSaid, "You have predicted nothing."
	case j.Dies.Said && !j.Dies.Right:
		return k.onMarks(j.Dies.Marks)
	case j.Completed.Said && !j.Completed.Right || j.Killed.Said && !j.Killed.Right:
		return k.onCounts(*j)
	case j.Verdict.Said != Pending && !j.Verdict.Right:
		return k.onVerdict(j)
	}
	return NoMistake, "All that you predicted is right."
}

// onMarks sorts the wrong marks by the mistake that each one shows.
func (k *critic) onMarks(marks []Mark) (Mistake, string) {
	var shown [mistakes][]Ending
	most := NothingSaid
	for i := range marks {
		m := &marks[i]
		if m.Right {
			continue
		}
		mistake := k.mistake(&m.Ending)
		shown[mistake] = append(shown[mistake], m.Ending)
	}
	for mistake := range shown {
		if len(shown[mistake]) > len(shown[most]) {
			most = Mistake(mistake)
		}
	}
	endings := shown[most]
	requests := requestsOf(endings)
	who, n := theRequests(requests), len(requests)
	switch most {
	case AfterSignal, GraceTooShort:
		return most, fmt.Sprintf("You expected %s to survive, but %s.", who, k.died(most, endings, form(n, "it", "they"), form(n, "it", "them")))
	case EarlyEnough:
		return most, fmt.Sprintf("You expected %s to die, but %s admitted early enough to complete by %s, and the deadline was at %s.",
			who, form(n, "it was", "they were"), secs(endings[n-1].EndedAt), secs(k.run.Settings.Deadline()))
	case OtherWorker:
		return most, fmt.Sprintf("You expected %s to die, but %s on worker %s: SIGTERM concerns worker 1 alone.",
			who, form(n, "it ran", "they ran"), k.workersOf(endings))
	case RejectedNotKilled:
		return most, fmt.Sprintf("You counted %s as killed, but %s rejected at arrival: a rejected request has no invocation to kill.",
			who, form(n, "it was", "they were"))
	case StillRunning:
		return most, fmt.Sprintf("You expected %s to die, but no forced stop met %s: %s still running when the run ended at %s.",
			who, form(n, "it", "them"), form(n, "it was", "they were"), secs(Horizon))
	case NeverArrives:
		return most, fmt.Sprintf("You marked %s, but only %d requests arrive.", who, k.account.Arrivals)
	case NothingSaid, NoMistake, MoreThanAdmitted, CountsAndMarks, GateRule:
	}
	panic("sim: wrong marks that show no mistake")
}

// mistake is what a wrong mark on a request, or the lack of one, shows.
func (k *critic) mistake(e *Ending) Mistake {
	switch e.Fate {
	case NoArrival:
		return NeverArrives
	case FateRejected:
		return RejectedNotKilled
	case FateRunning:
		return StillRunning
	case FateCompleted:
		if e.Worker != 1 {
			return OtherWorker
		}
		return EarlyEnough
	case FateKilled:
		if k.run.afterSignal(e) {
			return AfterSignal
		}
	}
	return GraceTooShort
}

// died says why invocations died that were not expected to; they and them
// name these.
func (k *critic) died(m Mistake, endings []Ending, they, them string) string {
	s := &k.run.Settings
	var left []Time // at the signal
	for i := range endings {
		left = append(left, endings[i].DueAt-s.Signal)
	}
	if m == AfterSignal {
		for i := range left {
			left[i] -= s.Grace
		}
		return fmt.Sprintf("with the handler off, worker 1 admitted %s after SIGTERM at %s, and the deadline at %s came %s too early",
			them, secs(s.Signal), secs(s.Deadline()), span(left))
	}
	text := fmt.Sprintf("%s had %s of work left when SIGTERM came at %s", they, span(left), secs(s.Signal))
	if s.Grace == 0 {
		return text + ", and the grace of 0 s left no time"
	}
	return fmt.Sprintf("%s, and the grace was %s", text, secs(s.Grace))
}

func (k *critic) workersOf(endings []Ending) string {
	var workers []int
	for i := range endings {
		if w := endings[i].Worker; !slices.Contains(workers, w) {
			workers = append(workers, w)
		}
	}
	slices.Sort(workers)
	return RequestNumbers(workers)
}

func requestsOf(endings []Ending) []int {
	requests := make([]int, len(endings))
	for i := range endings {
		requests[i] = endings[i].Request
	}
	return requests
}

// onCounts finds the mistake that the counts show, where the marks do not: they
// are right, and then they say a count too, or there are none.
func (k *critic) onCounts(j Judgement) (Mistake, string) {
	if j.Dies.Said && !j.Killed.Said {
		j.Killed = Say(j.Killed.Truth).judge(j.Killed.Truth)
	}
	completed, killed := &j.Completed, &j.Killed
	moreCompleted, moreKilled := completed.excess(), killed.excess()
	switch {
	case moreKilled != 0 && len(j.Dies.Marks) > 0:
		return CountsAndMarks, fmt.Sprintf("You marked exactly the requests that are killed, %d of them, but said that %d %s.",
			killed.Truth, killed.N, form(killed.N, "is", "are"))
	case moreKilled != 0 && j.Dies.Said:
		return CountsAndMarks, fmt.Sprintf("You said that no request dies, which is right, but also that %d %s killed.", killed.N, form(killed.N, "is", "are"))
	case completed.said()+killed.said() > k.account.Admitted:
		if moreKilled > moreCompleted && k.account.Rejected > 0 {
			return k.onKilled(RejectedNotKilled, killed)
		}
		return MoreThanAdmitted, k.moreThanAdmitted(&j)
	case moreKilled < 0:
		if killed.N >= len(k.before) { // and fewer than were killed: some were after the signal
			return k.onKilled(AfterSignal, killed)
		}
		return k.onKilled(GraceTooShort, killed)
	case moreKilled > 0:
		return k.onKilled(k.takenForKilled(moreKilled, completed), killed)
	case moreCompleted < 0:
		return EarlyEnough, fmt.Sprintf("%s: so many were admitted early enough.", completed.against("completed"))
	// More were said to complete, and there were as many invocations.
	case killed.Said || len(k.before)+len(k.after) == 0:
		return StillRunning, k.because(StillRunning, completed.against("completed"))
	case len(k.before) == 0 || len(k.after) >= moreCompleted:
		return AfterSignal, k.because(AfterSignal, completed.against("completed"))
	}
	return GraceTooShort, k.because(GraceTooShort, completed.against("completed"))
}

// takenForKilled is what was taken for killed, where there were as many
// invocations as that.
func (k *critic) takenForKilled(more int, completed *GuessJudgement) Mistake {
	switch {
	case !completed.Said && more == k.account.Rejected:
		return RejectedNotKilled
	case completed.Said && completed.excess() >= 0, !completed.Said && more == len(k.running), len(k.own)+len(k.others) == 0:
		return StillRunning
	case len(k.own) == 0:
		return OtherWorker
	}
	return EarlyEnough
}

func (k *critic) onKilled(m Mistake, killed *GuessJudgement) (Mistake, string) {
	return m, k.because(m, killed.against("killed"))
}

// because adds to a count that was wrong what accounts for it.
func (k *critic) because(m Mistake, wrong string) string {
	why := ""
	switch m {
	case AfterSignal:
		who := theRequests(requestsOf(k.after))
		why = k.died(m, k.after, who, who)
	case GraceTooShort:
		who := theRequests(requestsOf(k.before))
		why = k.died(m, k.before, who, who)
	case EarlyEnough:
		why = fmt.Sprintf("worker 1 completed %d of its invocations, and the deadline was at %s", len(k.own), secs(k.run.Settings.Deadline()))
	case OtherWorker:
		why = fmt.Sprintf("SIGTERM concerns worker 1 alone, and %d completed on other workers", len(k.others))
	case StillRunning:
		why = fmt.Sprintf("%s %s still running when the run ended at %s", theRequests(requestsOf(k.running)), form(len(k.running), "was", "were"), secs(Horizon))
	case RejectedNotKilled:
		n := k.account.Rejected
		why = fmt.Sprintf("the %d rejected %s no invocation to kill", n, form(n, "request has", "requests have"))
	case NothingSaid, NoMistake, NeverArrives, MoreThanAdmitted, CountsAndMarks, GateRule:
		panic("sim: a mistake that no count shows")
	}
	return wrong + ": " + why + "."
}

func (k *critic) moreThanAdmitted(j *Judgement) string {
	var said []string
	if j.Completed.Said {
		said = append(said, fmt.Sprintf("%d completed", j.Completed.N))
	}
	if j.Killed.Said {
		said = append(said, fmt.Sprintf("%d killed", j.Killed.N))
	}
	a := &k.account
	if a.Rejected == 0 {
		return fmt.Sprintf("You expected %s, but only %d requests arrive.", listed(said), a.Arrivals)
	}
	cause := k.run.RejectionCauses()[0]
	return fmt.Sprintf("You expected %s, but only %d of %d requests were admitted: of the %d rejected, %d %s.",
		listed(said), a.Admitted, a.Arrivals, a.Rejected, len(cause.Requests), k.run.came(&cause))
}

// excess is by how many more were said than there were, 0 where nothing was said.
func (g *GuessJudgement) excess() int {
	if !g.Said {
		return 0
	}
	return g.N - g.Truth
}

func (g *GuessJudgement) said() int {
	if g.Said {
		return g.N
	}
	return 0
}

// against sets what was said against the truth: "You expected 2 killed, but 4 were".
func (g *GuessJudgement) against(what string) string {
	truth := "none was"
	if g.Truth > 0 {
		truth = fmt.Sprintf("%d %s", g.Truth, form(g.Truth, "was", "were"))
	}
	return fmt.Sprintf("You expected %d %s, but %s", g.N, what, truth)
}

// onVerdict says what the gate looks at, where only its verdict was not
// foreseen.
func (k *critic) onVerdict(j *Judgement) (Mistake, string) {
	a := &k.account
	allowance := k.run.Settings.Allowance
	if j.Verdict.Truth == Pass {
		return GateRule, fmt.Sprintf("You expected FAIL, but the gate passes: none was killed, none is running, and %s %% rejected is within the allowance of %d %%.",
			a.RejectedPercent(), allowance)
	}
	var faults []string
	if a.Killed > 0 {
		faults = append(faults, fmt.Sprintf("%d %s killed", a.Killed, form(a.Killed, "was", "were")))
	}
	if a.Running > 0 {
		faults = append(faults, fmt.Sprintf("%d %s still running at %s", a.Running, form(a.Running, "was", "were"), secs(Horizon)))
	}
	if a.Rejected*100 > allowance*a.Arrivals {
		faults = append(faults, fmt.Sprintf("%s %% rejected is more than the allowance of %d %%", a.RejectedPercent(), allowance))
	}
	return GateRule, fmt.Sprintf("You expected PASS, but the gate fails: %s.", listed(faults))
}
