package sim_test

import (
	"errors"
	"fmt"

	"drainlab/internal/sim"
)

// checker replays a run's trace and refuses the first event that docs/model.md
// does not allow. It is no third model: it never decides what happens next, it
// knows only what may happen and what must have happened by the end of a step.
type checker struct {
	s       sim.Settings
	workers []sim.Worker
	slots   [6][9]int16 // request that owns the slot of the worker, 0 for none; both from 1

	invocations []sim.Invocation
	rejections  []sim.Rejection
	completed   int
	killed      int
	lastKill    sim.Time // of an invocation
}

// checkRun returns the first breach of an invariant in the run, nil where all hold.
func checkRun(r *sim.Run) error {
	c := &checker{s: r.Settings, lastKill: sim.Never}
	var last sim.Event
	var lastRank [3]int
	for i, e := range r.Trace {
		rank := c.rank(e)
		switch {
		case int(e.Seq) != i:
			return fmt.Errorf("event %d has seq %d", i, e.Seq)
		case e.At < last.At || e.At > sim.Horizon:
			return fmt.Errorf("event %d: time %v after %v", i, e.At, last.At)
		case i > 0 && e.At == last.At && !less(lastRank, rank):
			return fmt.Errorf("out of order within its step: %s\nafter %s", show(e), show(last))
		}
		if e.At > last.At {
			if err := c.endStepsUntil(last.At, e.At); err != nil {
				return err
			}
		}
		if err := c.apply(e); err != nil {
			return fmt.Errorf("%s: %w", show(e), err)
		}
		last, lastRank = e, rank
	}
	if err := c.endStepsUntil(last.At, sim.Horizon+1); err != nil {
		return err
	}
	if err := c.finish(); err != nil {
		return err
	}
	if err := sameList("worker", r.Workers, c.workers); err != nil {
		return fmt.Errorf("the run against its trace: %w", err)
	}
	if err := sameList("invocation", r.Invocations, c.invocations); err != nil {
		return fmt.Errorf("the run against its trace: %w", err)
	}
	if err := sameList("rejection", r.Rejections, c.rejections); err != nil {
		return fmt.Errorf("the run against its trace: %w", err)
	}
	return nil
}

// rank is the place of an event in its step: what must come first in the order
// of phases, then worker and slot. No two events of one step share a rank.
func (c *checker) rank(e sim.Event) [3]int {
	phase := -1
	switch e.Kind {
	case sim.WorkerStarted:
		phase = 0 // initial workers at t = 0
		if int(e.Worker) > c.s.Workers {
			phase = 5
		}
	case sim.InvocationStage, sim.InvocationCompleted:
		phase = 1
	case sim.WorkerReady, sim.WorkerFailed:
		phase = 2
		if int(e.Worker) > c.s.Workers && c.s.Startup == 0 {
			phase = 6 // a replacement that is ready at once
		}
	case sim.WorkerSignaled:
		phase = 3
	case sim.WorkerDrained:
		phase = 4
	case sim.WorkerExited:
		phase = 7
	case sim.InvocationKilled:
		phase = 8
	case sim.WorkerKilled:
		phase = 9
	case sim.RequestAdmitted, sim.RequestRejected:
		return [3]int{10, 0, 0} // one request a step
	}
	return [3]int{phase, int(e.Worker), int(e.Slot)}
}

func less(a, b [3]int) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

func (c *checker) apply(e sim.Event) error {
	if err := checkFields(e); err != nil {
		return err
	}
	switch e.Kind {
	case sim.WorkerStarted:
		return c.workerStarted(e)
	case sim.RequestAdmitted, sim.RequestRejected:
		return c.requestArrived(e)
	}
	if e.Worker < 1 || int(e.Worker) > len(c.workers) {
		return errors.New("no such worker")
	}
	w := &c.workers[e.Worker-1]
	if w.State.Gone() {
		return fmt.Errorf("worker is %v", w.State)
	}
	switch e.Kind {
	case sim.WorkerReady, sim.WorkerFailed:
		return c.bootEnded(w, e)
	case sim.WorkerSignaled, sim.WorkerDrained, sim.WorkerExited, sim.WorkerKilled:
		return c.terminating(w, e)
	case sim.InvocationStage, sim.InvocationCompleted, sim.InvocationKilled:
		return c.invocationMoved(e)
	}
	return fmt.Errorf("unknown kind %d", e.Kind)
}

// checkFields holds an event to the fields that concern its kind.
func checkFields(e sim.Event) error {
	var slot, stage, reason, sum, request bool
	worker := true
	switch e.Kind {
	case sim.RequestAdmitted:
		request, slot = true, true
	case sim.RequestRejected:
		request, reason = true, true
		worker = e.Reason != sim.NoReadyWorker
	case sim.InvocationStage, sim.InvocationKilled:
		request, slot, stage = true, true, true
	case sim.InvocationCompleted:
		request, slot, sum = true, true, true
	}
	if (e.Worker != 0) != worker || (e.Request != 0) != request || (e.Slot != 0) != slot ||
		(e.Stage != sim.NoStage) != stage || (e.Reason != sim.NoReason) != reason || (e.Sum != 0) != sum {
		return errors.New("a field too many or too few for the kind")
	}
	return nil
}

func (c *checker) workerStarted(e sim.Event) error {
	if int(e.Worker) != len(c.workers)+1 {
		return fmt.Errorf("%d workers have booted before", len(c.workers))
	}
	replacement := int(e.Worker) > c.s.Workers
	switch {
	case !replacement && e.At != 0:
		return errors.New("initial workers boot at 0")
	case replacement && (!c.s.Replacement || int(e.Worker) != c.s.Workers+1 || e.At != c.s.Signal):
		return errors.New("one replacement boots at the signal, where it is wanted")
	}
	c.workers = append(c.workers, sim.Worker{
		ID: int(e.Worker), Replacement: replacement, BootAt: e.At, State: sim.Starting,
		ReadyAt: sim.Never, FailedAt: sim.Never, SignalAt: sim.Never, DrainAt: sim.Never, ExitAt: sim.Never,
	})
	return nil
}

func (c *checker) bootEnded(w *sim.Worker, e sim.Event) error {
	fails := w.ID == 1 && c.s.FailInit
	switch {
	case w.State != sim.Starting:
		return fmt.Errorf("worker is %v", w.State)
	case e.At != w.BootAt+c.s.Startup:
		return fmt.Errorf("booted at %v", w.BootAt)
	case fails != (e.Kind == sim.WorkerFailed):
		return fmt.Errorf("fail_init is %v", c.s.FailInit)
	}
	if fails {
		w.State, w.FailedAt = sim.Failed, e.At
	} else {
		w.State, w.ReadyAt = sim.Ready, e.At
	}
	return nil
}

func (c *checker) terminating(w *sim.Worker, e sim.Event) error {
	if w.ID != 1 {
		return errors.New("the signal concerns worker 1 alone")
	}
	switch e.Kind {
	case sim.WorkerSignaled:
		if e.At != c.s.Signal || w.SignalAt != sim.Never {
			return errors.New("not the one signal")
		}
		w.SignalAt = e.At
	case sim.WorkerDrained:
		if !c.s.Handler || w.SignalAt != e.At {
			return errors.New("draining begins at the signal, where the handler is on")
		}
		w.State, w.DrainAt = sim.Draining, e.At
	case sim.WorkerExited:
		if w.State != sim.Draining || c.owned(w.ID) > 0 {
			return fmt.Errorf("%v and owns %d", w.State, c.owned(w.ID))
		}
		w.State, w.ExitAt = sim.Exited, e.At
	case sim.WorkerKilled:
		if e.At != c.s.Signal+c.s.Grace || c.owned(w.ID) > 0 {
			return fmt.Errorf("the forced stop at %v, owns %d", c.s.Signal+c.s.Grace, c.owned(w.ID))
		}
		if w.State == sim.Draining && c.lastKill != e.At {
			return errors.New("it owned nothing and should have exited before the forced stop")
		}
		w.State, w.ExitAt = sim.Killed, e.At
	}
	return nil
}

func (c *checker) invocationMoved(e sim.Event) error {
	if c.slots[e.Worker][e.Slot] != e.Request {
		return fmt.Errorf("the slot is owned by request %d", c.slots[e.Worker][e.Slot])
	}
	inv := c.invocation(e.Request)
	if inv == nil || inv.Outcome != sim.Running || inv.Worker != e.Worker || inv.Slot != e.Slot {
		return errors.New("no such running invocation")
	}
	elapsed, duration := e.At-inv.AdmittedAt, c.s.Duration
	switch e.Kind {
	case sim.InvocationStage:
		k := sim.Time(1) // stages that have ended
		if e.Stage == sim.Tool {
			k = 2
		}
		// The stage begins at the first tenth with 3·elapsed ≥ k·duration.
		if e.Stage == sim.Prepare || 3*elapsed < k*duration || 3*(elapsed-1) >= k*duration {
			return fmt.Errorf("%v elapsed of %v", elapsed, duration)
		}
		return nil
	case sim.InvocationCompleted:
		if elapsed != duration || int(e.Sum) != int(e.Request)+3 {
			return fmt.Errorf("%v elapsed of %v", elapsed, duration)
		}
		inv.Outcome = sim.Completed
		c.completed++
	case sim.InvocationKilled:
		if e.Worker != 1 || e.At != c.s.Signal+c.s.Grace || elapsed >= duration {
			return fmt.Errorf("%v elapsed of %v, the forced stop is at %v", elapsed, duration, c.s.Signal+c.s.Grace)
		}
		if want := stageOf(elapsed, duration); e.Stage != want || c.s.StageAt(elapsed) != want {
			return fmt.Errorf("stage %v expected, StageAt says %v", want, c.s.StageAt(elapsed))
		}
		inv.Outcome = sim.KilledInvocation
		c.killed++
		c.lastKill = e.At
	}
	inv.EndedAt = e.At
	c.slots[e.Worker][e.Slot] = 0
	return nil
}

// stageOf is docs/model.md's "What arrives": stage k+1 begins once
// 3·elapsed ≥ k·duration.
func stageOf(elapsed, duration sim.Time) sim.Stage {
	switch {
	case 3*elapsed >= 2*duration:
		return sim.Tool
	case 3*elapsed >= duration:
		return sim.ModelCall
	}
	return sim.Prepare
}

func (c *checker) requestArrived(e sim.Event) error {
	arrived := len(c.invocations) + len(c.rejections)
	if due := 10 + sim.Time(arrived)*c.s.Interval; int(e.Request) != arrived+1 || e.At != due || e.At > 400 {
		return fmt.Errorf("request %d is due at %v", arrived+1, due)
	}
	if e.Worker == 0 {
		for _, w := range c.workers {
			if c.candidate(w) {
				return fmt.Errorf("worker %d is a candidate", w.ID)
			}
		}
		c.rejections = append(c.rejections, sim.Rejection{Request: e.Request, At: e.At, Reason: e.Reason})
		return nil
	}
	if int(e.Worker) > len(c.workers) {
		return errors.New("no such worker")
	}
	picked := c.workers[e.Worker-1]
	if !c.candidate(picked) {
		return fmt.Errorf("the worker is no candidate: %v", picked.State)
	}
	for _, w := range c.workers {
		if !c.candidate(w) || w.ID == picked.ID {
			continue
		}
		if mine, other := c.owned(picked.ID), c.owned(w.ID); other < mine || other == mine && w.ID < picked.ID {
			return fmt.Errorf("owns %d, worker %d owns %d", mine, w.ID, other)
		}
	}
	full := c.owned(picked.ID) == c.s.Slots
	if e.Kind == sim.RequestAdmitted {
		// Draining counts only where the handler is on; with it off a signalled
		// worker stays ready and goes on admitting.
		if picked.State != sim.Ready || full {
			return fmt.Errorf("a %v worker admits, owning %d of %d", picked.State, c.owned(picked.ID), c.s.Slots)
		}
		for slot := 1; slot <= int(e.Slot); slot++ {
			if owner := c.slots[e.Worker][slot]; (owner == 0) != (slot == int(e.Slot)) {
				return fmt.Errorf("slot %d is owned by request %d", slot, owner)
			}
		}
		c.slots[e.Worker][e.Slot] = e.Request
		c.invocations = append(c.invocations, sim.Invocation{
			Request: e.Request, Worker: e.Worker, Slot: e.Slot, AdmittedAt: e.At, EndedAt: sim.Never, Outcome: sim.Running,
		})
		return nil
	}
	var grounds bool
	switch e.Reason {
	case sim.WorkerStarting:
		grounds = picked.State == sim.Starting
	case sim.WorkerDraining:
		grounds = picked.State == sim.Draining
	case sim.SlotsFull:
		grounds = picked.State == sim.Ready && full
	}
	if !grounds {
		return fmt.Errorf("no grounds: the worker is %v and owns %d of %d", picked.State, c.owned(picked.ID), c.s.Slots)
	}
	c.rejections = append(c.rejections, sim.Rejection{Request: e.Request, At: e.At, Reason: e.Reason})
	return nil
}

func (c *checker) candidate(w sim.Worker) bool {
	return w.State == sim.Ready || !c.s.ReadyOnly && !w.State.Gone()
}

func (c *checker) owned(worker int) int {
	owned := 0
	for slot := 1; slot <= c.s.Slots; slot++ {
		if c.slots[worker][slot] != 0 {
			owned++
		}
	}
	return owned
}

// invocation finds an admitted request; those that matter are the latest.
func (c *checker) invocation(request int16) *sim.Invocation {
	for i := len(c.invocations) - 1; i >= 0; i-- {
		if c.invocations[i].Request == request {
			return &c.invocations[i]
		}
	}
	return nil
}

// balance is the account at an instant: what is admitted and has no end owns
// exactly one slot.
func (c *checker) balance() error {
	running := 0
	for i := range c.workers {
		running += c.owned(c.workers[i].ID)
	}
	if admitted := len(c.invocations); admitted != c.completed+c.killed+running {
		return fmt.Errorf("admitted %d ≠ completed %d + killed %d + running %d", admitted, c.completed, c.killed, running)
	}
	return nil
}

// endStepsUntil tells what must have happened by the end of the step at last
// and of those after it, up to the step of the next event.
func (c *checker) endStepsUntil(last, next sim.Time) error {
	if err := c.balance(); err != nil {
		return fmt.Errorf("after %v: %w", last, err)
	}
	if due := 10 + sim.Time(len(c.invocations)+len(c.rejections))*c.s.Interval; due <= 400 && due < next {
		return fmt.Errorf("a request was due at %v, the next event is at %v", due, next)
	}
	for i := range c.invocations {
		inv := &c.invocations[i]
		if inv.Outcome == sim.Running && inv.AdmittedAt+c.s.Duration < next {
			return fmt.Errorf("request %d outlives its duration: %+v", inv.Request, *inv)
		}
	}
	for i := range c.workers {
		w := &c.workers[i]
		switch {
		case w.State == sim.Starting && w.BootAt+c.s.Startup < next:
			return fmt.Errorf("worker %d is starting after %v, the next event is at %v", w.ID, last, next)
		case w.State == sim.Draining && c.owned(w.ID) == 0:
			return fmt.Errorf("worker %d is draining after %v and owns nothing", w.ID, last)
		case w.State.Gone() && c.owned(w.ID) > 0:
			return fmt.Errorf("worker %d is %v after %v and owns %d slots", w.ID, w.State, last, c.owned(w.ID))
		}
	}
	w1 := &c.workers[0]
	there := !w1.State.Gone()
	if there && c.s.Signal < next && w1.SignalAt != c.s.Signal {
		return fmt.Errorf("worker 1 took no signal at %v", c.s.Signal)
	}
	if w1.SignalAt != sim.Never && c.s.Handler && w1.DrainAt != w1.SignalAt {
		return fmt.Errorf("worker 1 took the signal at %v and is not draining", w1.SignalAt)
	}
	if there && c.s.Signal+c.s.Grace < next {
		return fmt.Errorf("worker 1 is %v past its forced stop at %v", w1.State, c.s.Signal+c.s.Grace)
	}
	if c.s.Replacement && c.s.Signal < next && len(c.workers) != c.s.Workers+1 {
		return errors.New("no replacement has booted")
	}
	return nil
}

func (c *checker) finish() error {
	if len(c.workers) < c.s.Workers {
		return fmt.Errorf("%d workers of %d have booted", len(c.workers), c.s.Workers)
	}
	for _, inv := range c.invocations {
		if inv.Outcome == sim.Completed && inv.Sum() != int(inv.Request)+3 {
			return fmt.Errorf("request %d commits %d", inv.Request, inv.Sum())
		}
	}
	return nil
}

// checkInstants looks at the run at every tenth: the account there is what the
// events until then count up to, it balances, and NextEvent is the first event
// still to come.
func checkInstants(r *sim.Run) error {
	var want sim.Account
	next := 0
	for t := sim.Time(0); t <= sim.Horizon; t++ {
		for ; next < len(r.Trace) && r.Trace[next].At <= t; next++ {
			switch r.Trace[next].Kind {
			case sim.RequestAdmitted:
				want.Arrivals++
				want.Admitted++
				want.Running++
			case sim.RequestRejected:
				want.Arrivals++
				want.Rejected++
			case sim.InvocationCompleted:
				want.Completed++
				want.Running--
			case sim.InvocationKilled:
				want.Killed++
				want.Running--
			}
		}
		coming := sim.Horizon
		if next < len(r.Trace) {
			coming = r.Trace[next].At
		}
		if got := r.NextEvent(t); got != coming {
			return fmt.Errorf("NextEvent(%v) = %v, want %v", t, got, coming)
		}
		got := r.At(t).Account
		if got != want {
			return fmt.Errorf("account at %v: got %+v, want %+v", t, got, want)
		}
		if got.Arrivals != got.Admitted+got.Rejected || got.Admitted != got.Completed+got.Killed+got.Running {
			return fmt.Errorf("account at %v does not balance: %+v", t, got)
		}
	}
	if got := r.Account(); got != want {
		return fmt.Errorf("account of the run: got %+v, want %+v", got, want)
	}
	return nil
}
