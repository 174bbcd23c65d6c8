package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drainlab/internal/setting"
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
			request, n, secs(firstArrival+Time(n-1)*r.Settings.Interval))
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

// RejectionCause is what kept a number of requests out, the same for all.
type RejectionCause struct {
	Reason Reason
	// Worker is the one whose State kept them out: the one that was picked; where
	// no worker was ready, the first initial worker still booting, else worker 1.
	// It is 0, and State and Since say nothing, where all slots were full.
	Worker int
	State  State
	Since  Time // when Worker came into State
	// ReplacementBooting: the replacement would have taken them, but was not ready.
	ReplacementBooting bool
	Requests           []int  // at least one, ascending
	At                 []Time // when each came
}

// cause is why one request was rejected, as all of its step but the admission
// had happened.
func (r *Run) cause(rej *Rejection) RejectionCause {
	c := RejectionCause{Reason: rej.Reason, Since: Never, Requests: []int{int(rej.Request)}, At: []Time{rej.At}}
	switch rej.Reason {
	case SlotsFull:
		return c
	case WorkerStarting, WorkerDraining:
		c.Worker = int(r.Trace[r.find(RequestRejected, 0, int(rej.Request))].Worker)
	case NoReadyWorker:
		// Only worker 1 is ever signalled or fails, so where another initial
		// worker is there and none is ready, the boots are not over.
		c.Worker = 1
		booting := slices.IndexFunc(r.Workers, func(w Worker) bool { return w.BootAt <= rej.At && w.at(rej.At).State == Starting })
		switch {
		case booting >= 0 && r.Workers[booting].Replacement: // the last in the list
			c.ReplacementBooting = true
		case booting >= 0:
			c.Worker = r.Workers[booting].ID
		}
	case NoReason:
	}
	w := r.Workers[c.Worker-1].at(rej.At)
	c.State, c.Since = w.State, w.Since()
	return c
}

// RejectionCauses returns why requests were rejected, the cause of most of them
// first, at a tie the one that came first.
func (r *Run) RejectionCauses() []RejectionCause {
	var causes []RejectionCause
	for i := range r.Rejections {
		c := r.cause(&r.Rejections[i])
		same := slices.IndexFunc(causes, func(o RejectionCause) bool {
			return o.Reason == c.Reason && o.Worker == c.Worker && o.State == c.State && o.ReplacementBooting == c.ReplacementBooting
		})
		if same < 0 {
			causes = append(causes, c)
			continue
		}
		causes[same].Requests = append(causes[same].Requests, c.Requests...)
		causes[same].At = append(causes[same].At, c.At...)
	}
	slices.SortStableFunc(causes, func(a, b RejectionCause) int { return cmp.Compare(len(b.Requests), len(a.Requests)) })
	return causes
}

// keptOut says of one request what kept it out.
func (r *Run) keptOut(c *RejectionCause) string {
	worker, since := fmt.Sprintf("worker %d", c.Worker), secs(c.Since)
	text := ""
	switch c.Reason {
	case SlotsFull:
		return "all slots were taken"
	case WorkerStarting:
		return "it was routed to " + worker + ", which was still booting"
	case WorkerDraining:
		return "it was routed to " + worker + ", which had been draining since " + since
	case NoReadyWorker, NoReason:
	}
	switch c.State {
	case Starting:
		return r.bootingWorkers(c) + " still booting"
	case Draining:
		text = worker + " had been draining since " + since
	case Exited:
		text = worker + " had exited at " + since
	case Killed:
		text = worker + " had been killed at " + since
	case Failed:
		text = worker + " had failed to initialize at " + since
	case Ready:
	}
	if c.ReplacementBooting {
		text += " and its replacement was still booting"
	}
	return text
}

// came says of all of them what kept them out: "met full slots between 13 s and 23 s".
func (r *Run) came(c *RejectionCause) string {
	worker, since := fmt.Sprintf("worker %d", c.Worker), secs(c.Since)
	were := form(len(c.Requests), "was", "were")
	text := ""
	switch c.Reason {
	case SlotsFull:
		return "met full slots " + when(c.At)
	case WorkerStarting:
		return fmt.Sprintf("%s routed to %s while it was booting, %s", were, worker, when(c.At))
	case WorkerDraining:
		return fmt.Sprintf("%s routed to %s while it was draining, %s", were, worker, when(c.At))
	case NoReadyWorker, NoReason:
	}
	switch c.State {
	case Starting:
		return fmt.Sprintf("came while %s booting, %s", r.bootingWorkers(c), when(c.At))
	case Draining:
		text = fmt.Sprintf("came while %s was draining, from %s on", worker, since)
	case Exited:
		text = fmt.Sprintf("came after %s exited at %s", worker, since)
	case Killed:
		text = fmt.Sprintf("came after %s was killed at %s", worker, since)
	case Failed:
		text = fmt.Sprintf("came after %s failed to initialize at %s", worker, since)
	case Ready:
	}
	if c.ReplacementBooting {
		text += ", before its replacement was ready"
	}
	return text
}

func (r *Run) bootingWorkers(c *RejectionCause) string {
	switch last := r.Settings.Workers; last - c.Worker {
	case 0:
		return fmt.Sprintf("worker %d was", c.Worker)
	case 1:
		return fmt.Sprintf("workers %d and %d were", c.Worker, last)
	default:
		return fmt.Sprintf("workers %d to %d were", c.Worker, last)
	}
}

// tellRejected tells the rejected share and, of each cause, how many it kept out.
func tellRejected(r *Run, a Account, causes []RejectionCause) string {
	parts := make([]string, len(causes))
	for i := range causes {
		parts[i] = fmt.Sprintf("%d %s", len(causes[i].Requests), r.came(&causes[i]))
	}
	return fmt.Sprintf("%d of %d requests were rejected (%s %%), more than the allowance of %d %%: %s.",
		a.Rejected, a.Arrivals, a.RejectedPercent(), r.Settings.Allowance, strings.Join(parts, "; "))
}

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

// Fix is the smallest change of one setting that turns the gate's FAIL into
// PASS, all others left as they are.
type Fix struct {
	Setting  string // the control's URL name
	Label    string // and its label on the page
	Found    bool   // false: no value of this setting passes
	From     Time   // the amount as set, in tenths as those of a [Control]
	To       Time   // the nearest amount that passes; From where none does
	Account  Account
	Sentence string
}

// Fixes returns for every setting its smallest change that passes the gate:
// those that were found first, the smallest share of the setting's range
// before larger ones and a toggle counting as its whole range; of these the
// allowance comes last, as it changes what is asked and not what happens. Then
// come the settings that no value helps, in the contract's order. Each fix was
// run. The answer is nil where the gate passes s. Panics like [Simulate].
func Fixes(s Settings) []Fix {
	r := Simulate(s)
	passes := func(s Settings) bool {
		r.Reset(s)
		return r.verdict() == Pass
	}
	if r.verdict() == Pass {
		return nil
	}
	fixes := make([]Fix, len(controls))
	for i := range controls {
		c := &controls[i]
		f := &fixes[i]
		f.Setting, f.Label, f.From = c.Name, c.Label, c.Amount(s)
		f.To, f.Found = c.Nearest(s, Never, passes)
		if !f.Found {
			f.To = f.From
			f.Sentence = c.Label + ": no value makes the gate pass."
			if c.Toggle {
				f.Sentence = fmt.Sprintf("%s: switching it %s does not make the gate pass.", c.Label, c.Say(setting.On-f.From))
			}
			continue
		}
		f.Account = r.Account() // of the run that passed, the last one
		what := "all requests complete"
		if n := f.Account.Rejected; n > 0 {
			what = fmt.Sprintf("%d of %d requests %s and %d %s rejected", f.Account.Completed, f.Account.Arrivals,
				form(f.Account.Completed, "completes", "complete"), n, form(n, "is", "are"))
		}
		f.Sentence = fmt.Sprintf("%s: %s instead of %s passes the gate; %s.", c.Label, c.Say(f.To), c.Say(f.From), what)
	}
	slices.SortStableFunc(fixes, func(a, b Fix) int {
		if a.Found != b.Found {
			if a.Found {
				return -1
			}
			return 1
		}
		if !a.Found {
			return 0
		}
		return cmp.Compare(a.size(), b.size())
	})
	return fixes
}

// size orders fixes: the share of the range in thousandths, a laxer gate after
// all of them.
func (f *Fix) size() int {
	const toggled = 1000
	c, _ := FindControl(f.Setting)
	switch {
	case f.Setting == "allowance":
		return toggled + 1
	case c.Toggle:
		return toggled
	}
	return int(max(f.To-f.From, f.From-f.To)) * toggled / int(c.Max-c.Min)
}

// Pairs returns changes of two settings that pass the gate where no change of
// one does, the nearest first, at most so many; see [setting.Table.Pairs].
// Settings that would make the run easier by leaving the lesson out are not
// among them, unless nothing else passes: first the traffic, then also when
// worker 1 is signalled, whether it boots at all, and what the gate allows.
func Pairs(s Settings, atMost int) []setting.Pair[Settings] {
	var r Run
	whole := func(string) Time { return Never }
	passes := func(next Settings) bool {
		r.Reset(next)
		return r.verdict() == Pass
	}
	for _, without := range [][]string{{"signal", "fail_init", "allowance", "interval", "duration"}, {"signal", "fail_init", "allowance"}} {
		honest := slices.DeleteFunc(slices.Clone(controls), func(c Control) bool { return slices.Contains(without, c.Name) })
		if pairs := honest.Pairs(s, whole, atMost, passes); len(pairs) > 0 {
			return pairs
		}
	}
	return controls.Pairs(s, whole, atMost, passes)
}
