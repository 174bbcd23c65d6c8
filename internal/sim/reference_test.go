package sim_test

import (
	"fmt"
	"slices"

	"drainlab/internal/sim"
)

// reference is a second implementation of docs/model.md, kept naive on
// purpose: it visits every tenth of a second, looks at every slot of every
// worker there, and does what the page says in the page's order. It was
// written from the page without a look at the engine; where the two differ,
// one of them misreads the page.
type reference struct {
	settings    sim.Settings
	now         sim.Time
	workers     []*refWorker // in order of their numbers
	invocations []*refInvocation
	rejections  []sim.Rejection
	trace       []sim.Event
}

type refWorker struct {
	sim.Worker
	slots []*refInvocation // nil where the slot is free
}

type refInvocation struct {
	sim.Invocation
	stage sim.Stage
}

// tickByTick runs the whole of s.
func tickByTick(s sim.Settings) *reference { return tickByTickUntil(s, 600) }

// tickByTickUntil is the reference for a snapshot: the same loop, stopped
// after the step at last.
func tickByTickUntil(s sim.Settings, last sim.Time) *reference {
	r := &reference{settings: s}
	for r.now = 0; r.now <= last; r.now++ {
		if r.now == 0 {
			for range s.Workers {
				r.boot(false)
			}
		}
		r.advanceInvocations()
		r.changeReadiness()
		r.terminate()
		r.receive()
	}
	r.now = last
	return r
}

func (r *reference) tell(e sim.Event) {
	e.Seq, e.At = int32(len(r.trace)), r.now
	r.trace = append(r.trace, e)
}

func (r *reference) tellWorker(kind sim.Kind, w *refWorker) {
	r.tell(sim.Event{Kind: kind, Worker: uint8(w.ID)})
}

func (r *reference) tellInvocation(kind sim.Kind, inv *refInvocation, more sim.Event) {
	more.Kind, more.Worker, more.Slot, more.Request = kind, inv.Worker, inv.Slot, inv.Request
	r.tell(more)
}

func (r *reference) boot(replacement bool) *refWorker {
	w := &refWorker{
		Worker: sim.Worker{
			ID: len(r.workers) + 1, Replacement: replacement, BootAt: r.now, State: sim.Starting,
			ReadyAt: sim.Never, FailedAt: sim.Never, SignalAt: sim.Never, DrainAt: sim.Never, ExitAt: sim.Never,
		},
		slots: make([]*refInvocation, r.settings.Slots),
	}
	r.workers = append(r.workers, w)
	r.tellWorker(sim.WorkerStarted, w)
	return w
}

// advanceInvocations is phase 1: completions, and with them the stage changes.
func (r *reference) advanceInvocations() {
	duration := r.settings.Duration
	for _, w := range r.workers {
		for slot, inv := range w.slots {
			if inv == nil {
				continue
			}
			elapsed := r.now - inv.AdmittedAt
			switch {
			case elapsed == duration:
				inv.Outcome, inv.EndedAt = sim.Completed, r.now
				w.slots[slot] = nil
				r.tellInvocation(sim.InvocationCompleted, inv, sim.Event{Sum: inv.Request + 1 + 2})
			case inv.stage == sim.Prepare && 3*elapsed >= 1*duration:
				inv.stage = sim.ModelCall
				r.tellInvocation(sim.InvocationStage, inv, sim.Event{Stage: sim.ModelCall})
			case inv.stage == sim.ModelCall && 3*elapsed >= 2*duration:
				inv.stage = sim.Tool
				r.tellInvocation(sim.InvocationStage, inv, sim.Event{Stage: sim.Tool})
			}
		}
	}
}

// changeReadiness is phase 2: boots that end now, the signal, the
// replacement's boot.
func (r *reference) changeReadiness() {
	for _, w := range r.workers {
		r.endBoot(w)
	}
	if r.now != r.settings.Signal {
		return
	}
	if w := r.workers[0]; w.State != sim.Failed {
		w.SignalAt = r.now
		r.tellWorker(sim.WorkerSignaled, w)
		if r.settings.Handler {
			w.State, w.DrainAt = sim.Draining, r.now
			r.tellWorker(sim.WorkerDrained, w)
		}
	}
	if r.settings.Replacement {
		r.endBoot(r.boot(true)) // ready at once when startup is 0
	}
}

func (r *reference) endBoot(w *refWorker) {
	if w.State != sim.Starting || r.now != w.BootAt+r.settings.Startup {
		return
	}
	if w.ID == 1 && r.settings.FailInit {
		w.State, w.FailedAt = sim.Failed, r.now
		r.tellWorker(sim.WorkerFailed, w)
		return
	}
	w.State, w.ReadyAt = sim.Ready, r.now
	r.tellWorker(sim.WorkerReady, w)
}

// terminate is phase 3: a draining worker that owns nothing exits, then the
// forced stop of a worker 1 that is still there.
func (r *reference) terminate() {
	for _, w := range r.workers {
		if w.State == sim.Draining && w.owned() == 0 {
			w.State, w.ExitAt = sim.Exited, r.now
			r.tellWorker(sim.WorkerExited, w)
		}
	}
	w := r.workers[0]
	stillThere := w.State == sim.Starting || w.State == sim.Ready || w.State == sim.Draining
	if r.now != r.settings.Signal+r.settings.Grace || !stillThere {
		return
	}
	for slot, inv := range w.slots {
		if inv != nil {
			inv.Outcome, inv.EndedAt = sim.KilledInvocation, r.now
			w.slots[slot] = nil
			r.tellInvocation(sim.InvocationKilled, inv, sim.Event{Stage: inv.stage})
		}
	}
	w.State, w.ExitAt = sim.Killed, r.now
	r.tellWorker(sim.WorkerKilled, w)
}

// receive is phase 4: admission of the request that arrives now, if one does.
func (r *reference) receive() {
	if r.now < 10 || r.now > 400 || (r.now-10)%r.settings.Interval != 0 {
		return
	}
	request := int16((r.now-10)/r.settings.Interval) + 1

	picked := r.route()
	if picked == nil {
		r.reject(request, nil, sim.NoReadyWorker)
		return
	}
	if picked.State == sim.Starting {
		r.reject(request, picked, sim.WorkerStarting)
		return
	}
	if picked.State == sim.Draining {
		r.reject(request, picked, sim.WorkerDraining)
		return
	}
	for slot, inv := range picked.slots {
		if inv != nil {
			continue
		}
		admitted := &refInvocation{
			Invocation: sim.Invocation{
				Request: request, Worker: uint8(picked.ID), Slot: uint8(slot + 1),
				AdmittedAt: r.now, EndedAt: sim.Never, Outcome: sim.Running,
			},
			stage: sim.Prepare,
		}
		picked.slots[slot] = admitted
		r.invocations = append(r.invocations, admitted)
		r.tellInvocation(sim.RequestAdmitted, admitted, sim.Event{})
		return
	}
	r.reject(request, picked, sim.SlotsFull)
}

func (r *reference) route() *refWorker {
	var picked *refWorker
	for _, w := range r.workers {
		candidate := w.State == sim.Ready
		if !r.settings.ReadyOnly {
			candidate = w.State == sim.Starting || w.State == sim.Ready || w.State == sim.Draining
		}
		if candidate && (picked == nil || w.owned() < picked.owned()) {
			picked = w
		}
	}
	return picked
}

// reject names the picked worker in the trace where there is one.
func (r *reference) reject(request int16, picked *refWorker, reason sim.Reason) {
	r.rejections = append(r.rejections, sim.Rejection{Request: request, At: r.now, Reason: reason})
	e := sim.Event{Kind: sim.RequestRejected, Request: request, Reason: reason}
	if picked != nil {
		e.Worker = uint8(picked.ID)
	}
	r.tell(e)
}

func (w *refWorker) owned() int {
	owned := 0
	for _, inv := range w.slots {
		if inv != nil {
			owned++
		}
	}
	return owned
}

func (r *reference) account() sim.Account {
	a := sim.Account{Rejected: len(r.rejections)}
	for _, inv := range r.invocations {
		a.Admitted++
		switch inv.Outcome {
		case sim.Completed:
			a.Completed++
		case sim.KilledInvocation:
			a.Killed++
		case sim.Running:
			a.Running++
		}
	}
	a.Arrivals = a.Admitted + a.Rejected
	return a
}

func (r *reference) verdict() sim.Verdict {
	a := r.account()
	switch {
	case r.now < 600:
		return sim.Pending
	case a.Killed == 0 && a.Running == 0 && a.Rejected*100 <= r.settings.Allowance*a.Arrivals:
		return sim.Pass
	}
	return sim.Fail
}

func (r *reference) plainWorkers() []sim.Worker {
	workers := make([]sim.Worker, len(r.workers))
	for i, w := range r.workers {
		workers[i] = w.Worker
	}
	return workers
}

func (r *reference) plainInvocations() []sim.Invocation {
	invocations := make([]sim.Invocation, len(r.invocations))
	for i, inv := range r.invocations {
		invocations[i] = inv.Invocation
	}
	return invocations
}

// compare returns the first difference between the engine's records and the
// reference's, nil where there is none.
func (r *reference) compare(s sim.Settings, workers []sim.Worker, invocations []sim.Invocation, rejections []sim.Rejection, trace []sim.Event) error {
	if s != r.settings {
		return fmt.Errorf("settings: got %+v, want %+v", s, r.settings)
	}
	// The trace first: its first wrong event tells most about the cause.
	if err := sameList("event", trace, r.trace); err != nil {
		return err
	}
	if err := sameList("worker", workers, r.plainWorkers()); err != nil {
		return err
	}
	if err := sameList("invocation", invocations, r.plainInvocations()); err != nil {
		return err
	}
	return sameList("rejection", rejections, r.rejections)
}

func (r *reference) compareRun(got *sim.Run) error {
	return r.compare(got.Settings, got.Workers, got.Invocations, got.Rejections, got.Trace)
}

func (r *reference) compareSnapshot(got sim.Snapshot) error {
	if got.T != r.now {
		return fmt.Errorf("instant: got %v, want %v", got.T, r.now)
	}
	if err := r.compare(got.Settings, got.Workers, got.Invocations, got.Rejections, got.Trace); err != nil {
		return err
	}
	if want := r.account(); got.Account != want {
		return fmt.Errorf("account: got %+v, want %+v", got.Account, want)
	}
	if want := r.verdict(); got.Gate().Verdict != want {
		return fmt.Errorf("verdict: got %v, want %v", got.Gate().Verdict, want)
	}
	return nil
}

func sameList[T comparable](what string, got, want []T) error {
	if slices.Equal(got, want) {
		return nil
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Errorf("%s %d of the list:\n got %s\nwant %s", what, i, show(got[i]), show(want[i]))
		}
	}
	if len(got) > len(want) {
		return fmt.Errorf("%d %ss, want %d; the first too many is %s", len(got), what, len(want), show(got[len(want)]))
	}
	return fmt.Errorf("%d %ss, want %d; the first missing is %s", len(got), what, len(want), show(want[len(got)]))
}

// show prints a record without String methods in the way of the numbers.
func show(v any) string {
	if e, ok := v.(sim.Event); ok {
		return fmt.Sprintf("seq %d at %v %v worker=%d request=%d slot=%d stage=%v reason=%v sum=%d",
			e.Seq, e.At, e.Kind, e.Worker, e.Request, e.Slot, e.Stage, e.Reason, e.Sum)
	}
	return fmt.Sprintf("%+v", v)
}
