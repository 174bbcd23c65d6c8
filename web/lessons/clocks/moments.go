package clocks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	model "drainlab/internal/clocks"
	"drainlab/internal/setting"
)

// moment is something that happens in a termination, in words.
type moment struct {
	at         setting.Time
	order      order
	text, kind string // kind: plain, good, warn, bad, away, work
}

// order tells moments of one instant apart: what causes something stands
// before what follows from it.
type order uint8

const (
	termBegins order = iota
	hookEnds
	gateCloses
	signalComes
	routersStop
	longArrives
	timeoutEnds
	longEnds
	workEnds
	noneLeft
	processExits
	hookCut
	nothingDone
	killComes
)

// teller collects the moments of a run.
type teller struct {
	run  *model.Run
	list []moment
}

// momentsOf tells a termination in the order of its moments.
func momentsOf(run *model.Run) []moment {
	t := &teller{run: run}
	t.begins()
	t.closes()
	t.routersStop()
	t.long()
	t.drained()
	t.nothingDone()
	t.ends()
	slices.SortStableFunc(t.list, func(a, b moment) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order)) })
	return t.list
}

func (t *teller) add(at setting.Time, o order, kind, format string, args ...any) {
	if at != model.Never {
		t.list = append(t.list, moment{at, o, fmt.Sprintf(format, args...), kind})
	}
}

func (t *teller) begins() {
	t.add(0, termBegins, "plain", "Termination begins.")
	if hook := t.run.Settings.Prestop; hook > 0 && hook <= t.run.Instants.Kill {
		t.add(hook, hookEnds, "plain", "The preStop hook ends.")
	}
}

// closes tells when the gate and the listener close, and what that does to
// what arrives.
func (t *teller) closes() {
	i := t.run.Instants
	closed, gone := turnedAway(t.run)
	closing := "the listener closes"
	switch {
	case closed < gone && gone == i.Term:
		t.add(closed, gateCloses, "warn", "The admission gate closes: what arrives from here until the listener closes at %s s is rejected before any work.", gone)
	case closed < gone:
		t.add(closed, gateCloses, "warn", "The admission gate closes: what arrives from here until the kill at %s s is rejected before any work.", gone)
	case i.Gate == i.Term: // or neither comes
		closing = "admission gate and listener close"
	default:
		t.add(i.Gate, gateCloses, "warn", "The admission gate closes, and the kill comes at once: nothing is rejected.")
	}
	t.add(i.Term, signalComes, "warn", "The signal has reached the application; %s: what arrives from here on is refused.", closing)
}

func (t *teller) routersStop() {
	t.add(t.run.Instants.RouterStop, routersStop, "plain", "The last router stops sending new requests.")
}

// long tells what became of the long request.
func (t *teller) long() {
	q, ok := longRequest(t.run)
	if !ok {
		return
	}
	switch q.Outcome {
	case model.Rejected:
		t.add(q.Arrival, longArrives, "away", "The long request arrives and is rejected at the gate, before any work.")
		return
	case model.Refused:
		t.add(q.Arrival, longArrives, "bad", "The long request arrives and is refused: nothing listens here any more.")
		return
	case model.Completed, model.Deadline, model.Cancelled, model.Killed:
	}
	t.add(q.Arrival, longArrives, "plain", "The long request arrives; it would take %s s.", q.Duration)
	kind := "good"
	if q.Outcome != model.Completed {
		kind = "bad"
	}
	t.add(q.EndedAt, longEnds, kind, "The long request: %s.", outcomeText(q.Outcome))
	switch {
	case q.Work == model.Unknown && q.Outcome != model.Killed: // of the killed it is said with the kill
		t.add(t.run.End, workEnds, "bad", "What became of the long request's work is unknown.")
	case q.WorkEndedAt != q.EndedAt:
		t.add(q.WorkEndedAt, workEnds, "work", "Its work: %s.", workText(q.Work))
	}
}

// longRequest is the one long request, if there is one.
func longRequest(run *model.Run) (model.Request, bool) {
	for q := range run.Requests() {
		if q.Long {
			return q, true
		}
	}
	return model.Request{}, false
}

func (t *teller) drained() {
	a, i := t.run.Account, t.run.Instants
	switch {
	case i.Drained == model.Never:
	case a.Cancelled > 0:
		t.add(i.Drained, timeoutEnds, "bad", "The server's graceful timeout of %s s ends: %d cancelled.", t.run.Settings.ServerTimeout, a.Cancelled)
	case a.Admitted > 0:
		t.add(i.Drained, noneLeft, "good", "No admitted request is left.")
	}
}

// nothingDone says why a process that the kill ends had not begun to leave.
func (t *teller) nothingDone() {
	s, i := t.run.Settings, t.run.Instants
	switch {
	case s.Prestop > i.Kill:
		t.add(i.Kill, hookCut, "bad", "The kill cuts the preStop hook: no signal was sent, nothing was drained or cleaned up.")
	case !s.SignalHandled:
		t.add(i.Kill, nothingDone, "bad", "No signal was handled: nothing was drained or cleaned up.")
	case i.Term == model.Never:
		t.add(i.Kill, nothingDone, "bad", "The signal has not reached the application: nothing was drained or cleaned up.")
	}
}

func (t *teller) ends() {
	run := t.run
	s, i, a := run.Settings, run.Instants, run.Account
	switch {
	case run.Exited && run.Cleanup == model.CleanupComplete:
		t.add(i.Exit, processExits, "good", "The cleanup is complete; the process exits.")
		return
	case run.Exited:
		t.add(i.Exit, processExits, "bad", "The cleanup is cut by its budget, %s s short; the process exits.", s.Cleanup-s.CleanupBudget)
		return
	}
	text := "The kill. " + map[model.CleanupState]string{model.CleanupCut: "The cleanup is cut.", model.CleanupNotBegun: "The cleanup was not begun.", model.CleanupComplete: ""}[run.Cleanup]
	if n := a.Killed; n > 0 {
		text += fmt.Sprintf(" %s killed, and what became of the work is unknown.", count(n, "request is", "requests are"))
	}
	if a.Refused > 0 && i.Term == model.Never {
		text += " The process is gone: what arrives from here on is refused."
	}
	t.add(i.Kill, killComes, "bad", "%s", text)
}

// turnedAway says from when on the process admits nothing new, and from when on
// nothing listens at all: what comes between the two is rejected, what comes
// later is refused.
func turnedAway(run *model.Run) (closed, gone setting.Time) {
	i := run.Instants
	gone = i.Kill
	if i.Term != model.Never {
		gone = i.Term
	}
	closed = gone
	if i.Gate != model.Never {
		closed = min(closed, i.Gate)
	}
	return closed, gone
}

// gapText is the transition gap in words.
func gapText(run *model.Run) string {
	a := run.Account
	from, _ := turnedAway(run)
	to := run.Instants.RouterStop
	if to <= from {
		text := "Transition gap: none. While routers send new requests here, this process serves them."
		if a.Rejected+a.Refused > 0 {
			text += " The long request, which arrives at 0 s whatever they do, is turned away."
		}
		return text
	}
	var became []string
	if a.Rejected > 0 {
		became = append(became, fmt.Sprintf("%d rejected", a.Rejected))
	}
	if a.Refused > 0 {
		became = append(became, fmt.Sprintf("%d refused", a.Refused))
	}
	if len(became) == 0 {
		became = []string{"none arrives in that time"}
	}
	return fmt.Sprintf("Transition gap: %s s, from %s s to %s s. Routers still send new requests here then, and this process turns them away: %s.",
		to-from, from, to, strings.Join(became, ", "))
}

// lossTexts says what keeps a run from passing, and which clock did it.
func lossTexts(run *model.Run) []string {
	var list []string
	for _, l := range run.Losses() {
		list = append(list, lossText(run, l))
	}
	return list
}

func lossText(run *model.Run, l model.Loss) string {
	a, s := run.Account, run.Settings
	switch l {
	case model.LostKilled:
		return fmt.Sprintf("%s killed by the platform at %s s", count(a.Killed, "request", "requests"), run.End)
	case model.LostCancelled:
		return fmt.Sprintf("%s cancelled by the server's timeout at %s s", count(a.Cancelled, "request", "requests"), s.Prestop+s.SignalDelay+s.ServerTimeout)
	case model.LostDeadline:
		return fmt.Sprintf("%s failed at the caller's deadline", count(a.Deadline, "request", "requests"))
	case model.LostRefused:
		return fmt.Sprintf("%s refused: the listener was gone while routers still sent", count(a.Refused, "request", "requests"))
	case model.LostUnknown:
		return fmt.Sprintf("what became of the work of %s is unknown", count(run.Work.Unknown, "request", "requests"))
	case model.LostCleanup:
		switch {
		case run.Cleanup == model.CleanupNotBegun:
			return "cleanup not begun"
		case run.Exited:
			return "cleanup cut by its own budget"
		}
		return "cleanup cut by the kill"
	case model.LostExit:
		return "the process did not leave by itself"
	case model.NoLoss:
	}
	return ""
}
