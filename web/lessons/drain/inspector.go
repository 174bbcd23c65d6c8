package drain

import (
	"fmt"
	"slices"
	"strconv"

	"drainlab/internal/sim"
)

// inspected is the panel of every worker; which one is seen is chosen in the
// browser.
type inspected struct{ workers []inspectedWorker }

// inspectedWorker is all there is to say of one worker.
type inspectedWorker struct {
	id      int
	booted  bool
	title   string
	state   string
	since   string
	facts   []fact
	owned   []ownedInvocation
	ended   []endedInvocation
	waiting string // for a worker that has not booted: when it will
}

// fact is a name and what it is.
type fact struct{ name, value string }

// ownedInvocation occupies a slot now.
type ownedInvocation struct {
	slot, request int
	stage         string
	percent       int
	ends          string // if nothing stops it
}

// endedInvocation is one that the worker owned.
type endedInvocation struct {
	request int
	outcome string
	at      string
	lost    bool
}

func buildInspector(snap sim.Snapshot) inspected {
	var in inspected
	for id := 1; id <= snap.Settings.WorkersEver(); id++ {
		in.workers = append(in.workers, inspectWorker(snap, id))
	}
	return in
}

func inspectWorker(snap sim.Snapshot, id int) inspectedWorker {
	s := snap.Settings
	v := inspectedWorker{id: id, title: "Worker " + strconv.Itoa(id)}
	if id > s.Workers {
		v.title += " (replacement)"
	}
	if id > len(snap.Workers) {
		v.waiting = fmt.Sprintf("It boots at the signal, at %s s.", s.Signal.Fixed())
		return v
	}
	w := snap.Workers[id-1]
	v.booted = true
	v.state = w.State.String()
	v.since = w.Since().Fixed()
	owns := 0
	for _, inv := range snap.Invocations {
		if int(inv.Worker) != id {
			continue
		}
		if inv.Outcome == sim.Running {
			owns++
			v.owned = append(v.owned, owned(snap, inv))
			continue
		}
		v.ended = append(v.ended, endedInvocation{request: int(inv.Request), outcome: inv.Outcome.String(),
			at: inv.EndedAt.Fixed(), lost: inv.Outcome == sim.KilledInvocation})
	}
	slices.SortFunc(v.owned, func(a, b ownedInvocation) int { return a.slot - b.slot })
	slices.Reverse(v.ended)
	v.facts = []fact{
		{name: "Readiness", value: readiness(w)},
		{name: "Signal", value: signalFact(snap, w)},
		{name: "Forced stop", value: deadlineFact(snap, w)},
		{name: "Slots", value: fmt.Sprintf("owns %d of %d", owns, s.Slots)},
	}
	return v
}

func owned(snap sim.Snapshot, inv sim.Invocation) ownedInvocation {
	elapsed := snap.T - inv.AdmittedAt
	return ownedInvocation{
		slot: int(inv.Slot), request: int(inv.Request), stage: snap.Settings.StageAt(elapsed).String(),
		percent: int(100 * elapsed / snap.Settings.Duration),
		ends:    (inv.AdmittedAt + snap.Settings.Duration).Fixed(),
	}
}

func readiness(w sim.Worker) string {
	switch w.State {
	case sim.Starting:
		return "not yet: it is booting"
	case sim.Ready:
		return "ready since " + w.ReadyAt.Fixed() + " s"
	case sim.Draining:
		return "withdrawn at " + w.DrainAt.Fixed() + " s"
	case sim.Failed:
		return "never: its boot failed"
	case sim.Exited, sim.Killed:
		return "gone"
	}
	return ""
}

func signalFact(snap sim.Snapshot, w sim.Worker) string {
	s := snap.Settings
	switch {
	case w.ID != 1:
		return "none: the signal is for worker 1"
	case w.SignalAt != sim.Never && s.Handler:
		return "SIGTERM at " + w.SignalAt.Fixed() + " s, handled"
	case w.SignalAt != sim.Never:
		return "SIGTERM at " + w.SignalAt.Fixed() + " s, not handled: it goes on admitting"
	case w.State == sim.Failed && snap.T >= s.Signal:
		return "came after it had failed"
	}
	return "due at " + s.Signal.Fixed() + " s"
}

func deadlineFact(snap sim.Snapshot, w sim.Worker) string {
	d := snap.Settings.Deadline()
	switch {
	case w.ID != 1:
		return "none"
	case w.State == sim.Killed:
		return "came at " + w.ExitAt.Fixed() + " s"
	case w.State == sim.Failed:
		return "none: there is nothing to stop"
	case w.State.Gone():
		return "not needed"
	case w.SignalAt == sim.Never:
		return fmt.Sprintf("%s s after the signal", snap.Settings.Grace.Fixed())
	}
	return fmt.Sprintf("at %s s, in %s s", d.Fixed(), (d - snap.T).Fixed())
}
