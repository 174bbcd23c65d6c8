package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Prediction is what a person expects of a run before it is seen. Each part
// can be left unsaid; the zero Prediction says nothing.
type Prediction struct {
	Completed Guess
	Killed    Guess
	// Dies are the requests expected to be killed, ascending, each once. Nil says
	// nothing, an empty list that none is killed.
	Dies    []int
	Verdict Verdict // Pending says nothing
}

// Guess is a count that was said, or not.
type Guess struct {
	Said bool
	N    int
}

// Say returns the guess n.
func Say(n int) Guess { return Guess{Said: true, N: n} }

// noneDies is how a URL says that no request is killed.
const noneDies = "none"

// The names of a prediction's parts in a URL all begin with predictionPrefix,
// which no setting's name does.
const (
	predictionPrefix = "p."
	nameCompleted    = predictionPrefix + "completed"
	nameKilled       = predictionPrefix + "killed"
	nameDies         = predictionPrefix + "dies"
	nameVerdict      = predictionPrefix + "verdict"
)

// ParsePrediction reads a prediction of a run of s, which must be valid, from a
// query's or a form's values. It reads the names that begin with "p.", all
// others are not its own: p.completed and p.killed are whole numbers from 0 to
// the requests that arrive; p.dies is "none" or numbers of requests that
// arrive, each once, in any order, with commas between or in several values as
// checkboxes send them; p.verdict is "pass" or "fail". What is left out is not
// said, nor what is empty, as a form sends a field that was not filled in.
// Anything else is a *[SettingError], of several the first in this order,
// unknown names last.
func ParsePrediction(s Settings, values map[string][]string) (Prediction, error) {
	var p Prediction
	arrivals := s.arrivals()
	single := func(name, label, allowed string, take func(string) bool) error {
		given := values[name]
		switch {
		case len(given) > 1:
			return &SettingError{Setting: name, Label: label, Got: strings.Join(given, ", "), Allowed: "one value"}
		case len(given) == 1 && given[0] != "" && !take(given[0]):
			return &SettingError{Setting: name, Label: label, Got: given[0], Allowed: allowed}
		}
		return nil
	}
	for _, part := range []struct {
		name, label string
		guess       *Guess
	}{{nameCompleted, "Predicted completed", &p.Completed}, {nameKilled, "Predicted killed", &p.Killed}} {
		allowed := fmt.Sprintf("a whole number from 0 to %d, the requests that arrive", arrivals)
		if err := single(part.name, part.label, allowed, func(text string) (ok bool) {
			*part.guess, ok = parseGuess(text, arrivals)
			return ok
		}); err != nil {
			return Prediction{}, err
		}
	}
	if slices.ContainsFunc(values[nameDies], func(list string) bool { return list != "" }) {
		var ok bool
		if p.Dies, ok = parseDies(values[nameDies], arrivals); !ok {
			return Prediction{}, &SettingError{Setting: nameDies, Label: "Requests predicted to die", Got: strings.Join(values[nameDies], ","),
				Allowed: fmt.Sprintf("numbers of requests that arrive, from 1 to %d, each once, with commas between, or %s", arrivals, noneDies)}
		}
	}
	if err := single(nameVerdict, "Predicted verdict", "pass or fail", func(text string) bool {
		switch text {
		case Pass.String():
			p.Verdict = Pass
		case Fail.String():
			p.Verdict = Fail
		}
		return p.Verdict != Pending
	}); err != nil {
		return Prediction{}, err
	}
	if err := unknownPart(values); err != nil {
		return Prediction{}, err
	}
	return p, nil
}

func parseGuess(text string, most int) (Guess, bool) {
	v, err := ParseTime(text)
	if err != nil || v%whole != 0 || int(v/whole) > most {
		return Guess{}, false
	}
	return Say(int(v / whole)), true
}

func parseDies(given []string, most int) ([]int, bool) {
	dies := []int{}
	if len(given) == 1 && given[0] == noneDies {
		return dies, true
	}
	for _, list := range given {
		if list == "" { // says nothing, as everywhere
			continue
		}
		for text := range strings.SplitSeq(list, ",") {
			g, ok := parseGuess(text, most)
			if !ok || g.N == 0 || slices.Contains(dies, g.N) {
				return nil, false // the list is never longer than the requests
			}
			dies = append(dies, g.N)
		}
	}
	slices.Sort(dies)
	return dies, true
}

func unknownPart(values map[string][]string) error {
	var unknown []string
	for name := range values {
		switch name {
		case nameCompleted, nameKilled, nameDies, nameVerdict:
		default:
			if strings.HasPrefix(name, predictionPrefix) {
				unknown = append(unknown, name)
			}
		}
	}
	if unknown == nil {
		return nil
	}
	name := slices.Min(unknown)
	return &SettingError{Setting: name, Got: strings.Join(values[name], ", "),
		Allowed: "no part of a prediction; there are " + strings.Join([]string{nameCompleted, nameKilled, nameDies, nameVerdict}, ", ")}
}

// AppendQuery appends what is said as a URL query, in the order
// "p.completed=3&p.killed=4&p.dies=6,13,14,15&p.verdict=fail", and nothing
// where nothing is said. Equal predictions give equal bytes, and
// [ParsePrediction] reads them back.
func (p Prediction) AppendQuery(b []byte) []byte {
	start := len(b)
	part := func(name, text string) {
		if len(b) > start {
			b = append(b, '&')
		}
		b = append(append(append(b, name...), '='), text...)
	}
	if p.Completed.Said {
		part(nameCompleted, strconv.Itoa(p.Completed.N))
	}
	if p.Killed.Said {
		part(nameKilled, strconv.Itoa(p.Killed.N))
	}
	if p.Dies != nil {
		list := noneDies
		for i, n := range p.marks() {
			if i == 0 {
				list = strconv.Itoa(n)
				continue
			}
			list += "," + strconv.Itoa(n)
		}
		part(nameDies, list)
	}
	if p.Verdict != Pending {
		part(nameVerdict, p.Verdict.String())
	}
	return b
}

// marks are Dies in the form that they should have.
func (p Prediction) marks() []int {
	dies := slices.Clone(p.Dies)
	slices.Sort(dies)
	return slices.Compact(dies)
}

// Said reports whether any part of the prediction is said.
func (p Prediction) Said() bool {
	return p.Completed.Said || p.Killed.Said || p.Dies != nil || p.Verdict != Pending
}

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
	return requestNumbers(workers)
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
		if len(k.after) > 0 && killed.N >= len(k.before) {
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
