package web

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"drainlab/internal/session"
	"drainlab/internal/setting"
	"drainlab/internal/sim"
	"drainlab/web/templates"
)

// buildFrame fills the views of all fragments for one frame.
func buildFrame(f session.Frame, worker int) templates.Frame {
	snap := f.Run.At(f.T)
	return templates.Frame{
		Lanes:       buildLanes(f.Run, snap, f.Until),
		Inspector:   buildInspector(snap, worker),
		Account:     buildAccount(snap),
		Gate:        buildGate(snap),
		Results:     buildResults(snap),
		Trace:       buildTrace(snap),
		Controls:    buildControls(f.State.Settings),
		Transport:   buildTransport(f),
		Experiments: buildExperiments(f),
	}
}

func buildInspector(snap sim.Snapshot, chosen int) templates.Inspector {
	in := templates.Inspector{Chosen: chosen}
	for id := 1; id <= snap.Settings.WorkersEver(); id++ {
		in.Workers = append(in.Workers, inspectWorker(snap, id))
	}
	return in
}

func inspectWorker(snap sim.Snapshot, id int) templates.InspectedWorker {
	s := snap.Settings
	v := templates.InspectedWorker{ID: id, Title: "Worker " + strconv.Itoa(id)}
	if id > s.Workers {
		v.Title += " (replacement)"
	}
	if id > len(snap.Workers) {
		v.Waiting = fmt.Sprintf("It boots at the signal, at %s s.", s.Signal.Fixed())
		return v
	}
	w := snap.Workers[id-1]
	v.Booted = true
	v.State = w.State.String()
	v.Since = w.Since().Fixed()
	owned := 0
	for _, inv := range snap.Invocations {
		if int(inv.Worker) != id {
			continue
		}
		if inv.Outcome == sim.Running {
			owned++
			v.Owned = append(v.Owned, ownedInvocation(snap, inv))
			continue
		}
		v.Ended = append(v.Ended, templates.EndedInvocation{Request: int(inv.Request), Outcome: inv.Outcome.String(),
			At: inv.EndedAt.Fixed(), Killed: inv.Outcome == sim.KilledInvocation})
	}
	slices.SortFunc(v.Owned, func(a, b templates.OwnedInvocation) int { return a.Slot - b.Slot })
	slices.Reverse(v.Ended)
	v.Facts = []templates.Fact{
		{Name: "Readiness", Value: readiness(w)},
		{Name: "Signal", Value: signalFact(snap, w)},
		{Name: "Forced stop", Value: deadlineFact(snap, w)},
		{Name: "Slots", Value: fmt.Sprintf("owns %d of %d", owned, s.Slots)},
	}
	return v
}

func ownedInvocation(snap sim.Snapshot, inv sim.Invocation) templates.OwnedInvocation {
	elapsed := snap.T - inv.AdmittedAt
	return templates.OwnedInvocation{
		Slot: int(inv.Slot), Request: int(inv.Request), Stage: snap.Settings.StageAt(elapsed).String(),
		Percent: int(100 * elapsed / snap.Settings.Duration), Admitted: inv.AdmittedAt.Fixed(),
		Ends: (inv.AdmittedAt + snap.Settings.Duration).Fixed(),
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

func buildAccount(snap sim.Snapshot) templates.Account {
	a := snap.Account
	v := templates.Account{Account: a, Percent: a.RejectedPercent()}
	at := 0
	for _, part := range []struct {
		kind  string
		count int
	}{{"completed", a.Completed}, {"running", a.Running}, {"killed", a.Killed}, {"rejected", a.Rejected}} {
		if part.count == 0 {
			continue
		}
		v.Segments = append(v.Segments, templates.Segment{
			Span: templates.Span{X: percent(at, a.Arrivals), W: percent(part.count, a.Arrivals)}, Kind: part.kind, Count: part.count})
		at += part.count
	}
	return v
}

func buildGate(snap sim.Snapshot) templates.Gate {
	g := snap.Gate()
	v := templates.Gate{Verdict: g.Verdict.String(), Reasons: g.Reasons, Allowance: snap.Settings.Allowance, T: snap.T.Fixed()}
	switch g.Verdict {
	case sim.Pending: // work that goes on stands against nothing yet
		now := snap
		now.Account.Running = 0
		v.Reasons = now.Objections()
	case sim.Pass:
		v.Announce = "Fixture gate: PASS"
	case sim.Fail:
		v.Announce = "Fixture gate: FAIL"
	}
	return v
}

func buildResults(snap sim.Snapshot) templates.Results {
	var v templates.Results
	for _, inv := range slices.Backward(snap.Invocations) {
		if inv.Outcome != sim.Completed {
			continue
		}
		n := sim.Numbers(int(inv.Request))
		row := templates.Result{Request: int(inv.Request), Terms: fmt.Sprintf("%d + %d + %d", n[0], n[1], n[2]),
			Sum: inv.Sum(), At: inv.EndedAt.Fixed(), Worker: int(inv.Worker)}
		if w := snap.Workers[inv.Worker-1]; w.State.Gone() {
			row.WorkerGone = w.State.String()
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

func buildTrace(snap sim.Snapshot) templates.Trace {
	v := templates.Trace{Events: make([]templates.TraceEvent, 0, len(snap.Trace))}
	for _, ev := range slices.Backward(snap.Trace) {
		e := sentence(snap.Settings, ev)
		e.Seq, e.At, e.Kind = ev.Seq, ev.At.Fixed(), ev.Kind
		v.Events = append(v.Events, e)
	}
	return v
}

// sentence tells an event: whom it concerns, a word that names the decision,
// and the rest.
func sentence(s sim.Settings, ev sim.Event) templates.TraceEvent {
	worker := fmt.Sprintf("worker %d", ev.Worker)
	ofWorker := func(word, tone, rest string) templates.TraceEvent {
		return templates.TraceEvent{Who: fmt.Sprintf("Worker %d", ev.Worker), Word: word, Tone: tone, Rest: rest}
	}
	ofRequest := func(word, tone, rest string) templates.TraceEvent {
		return templates.TraceEvent{Who: fmt.Sprintf("Request %d", ev.Request), Word: word, Tone: tone, Rest: rest}
	}
	switch ev.Kind {
	case sim.WorkerStarted:
		return ofWorker("boots", "plain", fmt.Sprintf(", for %s s", s.Startup))
	case sim.WorkerReady:
		return ofWorker("ready", "work", ": it takes requests")
	case sim.WorkerFailed:
		return ofWorker("failed", "bad", ": its initialization did not succeed")
	case sim.WorkerSignaled:
		return ofWorker("gets SIGTERM", "warn", fmt.Sprintf("; forced stop at %s s if it is still there", s.Deadline()))
	case sim.WorkerDrained:
		return ofWorker("draining", "warn", ": it withdraws readiness and admits nothing more")
	case sim.WorkerExited:
		return ofWorker("exited", "good", ": it owned nothing any more")
	case sim.WorkerKilled:
		return ofWorker("killed", "bad", " by the forced stop")
	case sim.RequestAdmitted:
		return ofRequest("admitted", "plain", fmt.Sprintf(" by %s, slot %d", worker, ev.Slot))
	case sim.RequestRejected:
		return ofRequest("rejected", "reject", ": "+reasonText(ev.Reason, worker))
	case sim.InvocationStage:
		return ofRequest("begins", "work", fmt.Sprintf(" its %s stage", ev.Stage))
	case sim.InvocationCompleted:
		n := sim.Numbers(int(ev.Request))
		return ofRequest("committed", "good", fmt.Sprintf(" %d + %d + %d = %d", n[0], n[1], n[2], ev.Sum))
	case sim.InvocationKilled:
		return ofRequest("killed", "bad", fmt.Sprintf(" in its %s stage; it commits nothing", ev.Stage))
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

var controlGroups = [...]struct {
	name  string
	names []string
}{
	{"Shutdown", []string{"signal", "grace", "handler", "replacement"}},
	{"Fleet", []string{"workers", "slots", "startup", "ready_only", "fail_init"}},
	{"Traffic", []string{"interval", "duration"}},
	{"Gate", []string{"allowance"}},
}

func buildControls(s sim.Settings) templates.Controls {
	var v templates.Controls
	for _, g := range controlGroups {
		group := templates.ControlGroup{Name: g.name}
		for _, name := range g.names {
			c, _ := sim.FindControl(name)
			group.Controls = append(group.Controls, buildControl(c, s))
		}
		v.Groups = append(v.Groups, group)
	}
	return v
}

func buildControl[S any](c setting.Control[S], s S) templates.Control {
	v := templates.Control{Name: c.Name, Label: c.Label, Unit: c.Unit, Toggle: c.Toggle, Value: c.Text(s),
		Min: c.Min.String(), Max: c.Max.String(), Step: c.Step.String(), FieldStep: c.Grain.String()}
	if c.OrZero {
		v.Min = "0"
	}
	v.Allowed = c.Allowed()
	v.On = c.Toggle && v.Value == "1"
	v.Text = v.Value
	switch c.Unit {
	case "s":
		v.UnitName = "seconds"
		v.Text += " seconds"
	case "%":
		v.UnitName = "percent"
		v.Text += " percent"
	}
	return v
}

func buildTransport(f session.Frame) templates.Transport {
	v := templates.Transport{T: f.T.Fixed(), Exact: f.T.String(), Spoken: f.T.String() + " seconds",
		Playing: f.Playing, AtEnd: f.T == sim.Horizon, AtStart: f.T == 0, Max: sim.Horizon.String()}
	for _, s := range session.Speeds() {
		v.Speeds = append(v.Speeds, templates.SpeedChoice{Value: s.String(), Name: s.String() + "×", Now: s == f.State.Clock.Speed})
	}
	return v
}

// percent is part/whole with at most three decimals: "12.5%".
func percent(part, whole int) string {
	if whole == 0 {
		return "0%"
	}
	v := (part*100_000*2 + whole) / (2 * whole)
	b := strconv.AppendInt(make([]byte, 0, 8), int64(v/1000), 10)
	if rest := v % 1000; rest != 0 {
		b = append(b, '.', byte('0'+rest/100), byte('0'+rest/10%10), byte('0'+rest%10))
		b = bytes.TrimRight(b, "0")
	}
	return string(append(b, '%'))
}
