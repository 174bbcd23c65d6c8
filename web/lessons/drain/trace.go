package drain

import (
	"fmt"
	"slices"

	"drainlab/internal/sim"
)

// traceEvent is one event as a sentence: whom it concerns, a word that names
// the decision, and the rest.
type traceEvent struct {
	seq       int32
	at        string
	kind      sim.Kind
	who, word string
	tone      string
	rest      string
}

// buildTrace tells every event up to now, newest first.
func buildTrace(snap sim.Snapshot) []traceEvent {
	events := make([]traceEvent, 0, len(snap.Trace))
	for _, ev := range slices.Backward(snap.Trace) {
		e := sentence(snap.Settings, ev)
		e.at = ev.At.Fixed()
		events = append(events, e)
	}
	return events
}

// sentence tells an event, with its instant in the shortest form.
func sentence(s sim.Settings, ev sim.Event) traceEvent {
	e := decision(s, ev)
	e.seq, e.at, e.kind = ev.Seq, ev.At.String(), ev.Kind
	return e
}

// decision is what an event decides, and for whom.
func decision(s sim.Settings, ev sim.Event) traceEvent {
	worker := fmt.Sprintf("worker %d", ev.Worker)
	ofWorker := func(word, tone, rest string) traceEvent {
		return traceEvent{who: fmt.Sprintf("Worker %d", ev.Worker), word: word, tone: tone, rest: rest}
	}
	ofRequest := func(word, tone, rest string) traceEvent {
		return traceEvent{who: fmt.Sprintf("Request %d", ev.Request), word: word, tone: tone, rest: rest}
	}
	switch ev.Kind {
	case sim.WorkerStarted:
		return ofWorker("boots", "plain", fmt.Sprintf(", for %s s", s.Startup))
	case sim.WorkerReady:
		return ofWorker("ready", "work", ": it takes requests")
	case sim.WorkerFailed:
		return ofWorker("failed", "lost", ": its initialization did not succeed")
	case sim.WorkerSignaled:
		return ofWorker("gets SIGTERM", "warn", fmt.Sprintf("; forced stop at %s s if it is still there", s.Deadline()))
	case sim.WorkerDrained:
		return ofWorker("draining", "warn", ": it withdraws readiness and admits nothing more")
	case sim.WorkerExited:
		return ofWorker("exited", "kept", ": it owned nothing any more")
	case sim.WorkerKilled:
		return ofWorker("killed", "lost", " by the forced stop")
	case sim.RequestAdmitted:
		return ofRequest("admitted", "plain", fmt.Sprintf(" by %s, slot %d", worker, ev.Slot))
	case sim.RequestRejected:
		return ofRequest("rejected", "away", ": "+reasonText(ev.Reason, worker))
	case sim.InvocationStage:
		return ofRequest("begins", "work", fmt.Sprintf(" its %s stage", ev.Stage))
	case sim.InvocationCompleted:
		n := sim.Numbers(int(ev.Request))
		return ofRequest("committed", "kept", fmt.Sprintf(" %d + %d + %d = %d", n[0], n[1], n[2], ev.Sum))
	case sim.InvocationKilled:
		return ofRequest("killed", "lost", fmt.Sprintf(" in its %s stage; it commits nothing", ev.Stage))
	}
	return ofWorker(ev.Kind.String(), "plain", "")
}

func reasonText(r sim.Reason, worker string) string {
	switch r {
	case sim.NoReadyWorker:
		return "no worker is ready"
	case sim.WorkerStarting:
		return worker + " is still starting"
	case sim.WorkerDraining:
		return worker + " is draining"
	case sim.SlotsFull:
		return "all slots of " + worker + " are taken"
	case sim.NoReason:
	}
	return ""
}

// kindNames are what the trace's filter calls the kinds of events.
var kindNames = map[sim.Kind]string{
	sim.WorkerStarted: "boots", sim.WorkerReady: "readiness", sim.WorkerFailed: "failed boots", sim.WorkerSignaled: "signals",
	sim.WorkerDrained: "draining", sim.WorkerExited: "exits", sim.WorkerKilled: "killed workers", sim.RequestAdmitted: "admissions",
	sim.RequestRejected: "rejections", sim.InvocationStage: "stages", sim.InvocationCompleted: "commits", sim.InvocationKilled: "killed invocations",
}
