package sim

import "math/bits"

// Simulate computes the run of s. It panics where s is not valid: settings
// come through the parsers of this package, which refuse such ones.
func Simulate(s Settings) *Run {
	r := new(Run)
	r.Reset(s)
	return r
}

// Reset computes the run of s anew in r's memory. A sweep that reuses one Run
// allocates nothing once its slices have grown. Whatever was taken from the
// run before is overwritten. Panics like [Simulate].
func (r *Run) Reset(s Settings) {
	if err := s.Validate(); err != nil {
		panic("sim: " + err.Error())
	}
	r.Settings = s
	n := s.arrivals()
	if cap(r.Trace) < 4*n+16 { // four events a request, and those of the workers
		r.Trace = make([]Event, 0, 4*n+16)
		r.Invocations = make([]Invocation, 0, n)
		r.Rejections = make([]Rejection, 0, n)
		if r.Workers == nil {
			r.Workers = make([]Worker, 0, maxWorkers)
		}
	}
	r.Workers = r.Workers[:0]
	r.Invocations = r.Invocations[:0]
	r.Rejections = r.Rejections[:0]
	r.Trace = r.Trace[:0]
	e := engine{settings: s, workers: r.Workers, invocations: r.Invocations, rejections: r.Rejections, trace: r.Trace, request: 1}
	e.run()
	r.Workers, r.Invocations, r.Rejections, r.Trace = e.workers, e.invocations, e.rejections, e.trace
}

// beyond is later than any step.
const beyond = Horizon + 1

// key orders what is to happen: by time, and within a step by the phases of
// the contract. Below the time stands an invocation's place in phase 1, worker
// then slot, or one of the two marks after it; the lowest bits tell the
// cursors apart. One minimum then finds what comes next.
type key int32

const (
	keyBits    = 8
	cursorBits = 2
	fixedMark  = 1<<keyBits - 2 // phases 2 and 3
	arriveMark = 1<<keyBits - 1 // phase 4
)

func keyAt(t Time, low int) key { return key(t)<<keyBits | key(low) }

func (k key) time() Time { return Time(k >> keyBits) }

// engine jumps from one thing that happens to the next. All invocations last
// equally long and at most one is admitted in a step, so each of the three
// instants of an invocation (two stage changes and the completion) comes in
// order of admission: three cursors into the list of invocations take the
// place of a queue of events.
type engine struct {
	settings    Settings
	workers     []Worker
	invocations []Invocation
	rejections  []Rejection
	trace       []Event
	owners      [maxWorkers]owner
	request     int16 // the next to arrive
}

// owner is what the router looks at: a worker's state and its slots.
type owner struct {
	slots [maxSlots]uint8 // the invocation in each slot, an index
	used  uint8           // one bit a slot
	owned uint8           // how many bits are set
	state State
}

func (e *engine) run() {
	s := &e.settings
	for range s.Workers {
		e.boot(0, false)
	}
	ends := StageEnds(s.Duration)
	// The cursors stand at the invocations that next begin their model stage,
	// begin their tool stage, complete. All of the loop's state is in local
	// variables: what comes next hangs on what came before, and a detour
	// through memory would be most of the time that a run takes.
	model, tool, done := 0, 0, 0
	modelAt, toolAt, doneAt := keyAt(beyond, 0), keyAt(beyond, 1), keyAt(beyond, 2)
	fixedAt := keyAt(0, fixedMark)
	arriveAt := keyAt(FirstArrival, arriveMark)
	// When worker 1, draining, came to own nothing: it exits once phases 1 and
	// 2 of that step are over.
	leaving := Never
	for {
		next := min(modelAt, toolAt, doneAt, fixedAt, arriveAt)
		now := next.time()
		if leaving != Never && (now > leaving || next == arriveAt) {
			e.leave(leaving, Exited, WorkerExited)
			leaving = Never
		}
		if now > Horizon {
			return
		}
		switch next {
		case modelAt:
			e.beginStage(now, &e.invocations[model], ModelCall)
			model, modelAt = e.look(model+1, ends[0], 0)
		case toolAt:
			e.beginStage(now, &e.invocations[tool], Tool)
			tool, toolAt = e.look(tool+1, ends[1], 1)
		case doneAt:
			e.complete(now, &e.invocations[done])
			done, doneAt = e.look(done+1, ends[2], 2)
			if w := &e.owners[0]; w.state == Draining && w.used == 0 {
				leaving = now
			}
		case fixedAt:
			e.fixedInstant(now)
			leaving = Never
			fixedAt = keyAt(s.nextFixed(now), fixedMark)
			if now == s.Deadline() { // some may have been killed
				model, modelAt = e.look(model, ends[0], 0)
				tool, toolAt = e.look(tool, ends[1], 1)
				done, doneAt = e.look(done, ends[2], 2)
			}
		default:
			arriveAt = keyAt(s.nextArrival(now), arriveMark)
			if !e.arrive(now) {
				continue
			}
			// Where a cursor was through with all, the new one is its next.
			n := len(e.invocations) - 1
			inv := &e.invocations[n]
			if model == n {
				modelAt = inv.key(ends[0], 0)
			}
			if tool == n {
				toolAt = inv.key(ends[1], 1)
			}
			if done == n {
				doneAt = inv.key(ends[2], 2)
			}
		}
	}
}

// look finds, from the invocation at cursor on, the first that was not killed,
// and when it has come to this much of its duration.
func (e *engine) look(cursor int, after Time, mark int) (int, key) {
	for cursor < len(e.invocations) {
		if inv := &e.invocations[cursor]; inv.Outcome != KilledInvocation {
			return cursor, inv.key(after, mark)
		}
		cursor++
	}
	return cursor, keyAt(beyond, mark)
}

// key is that of the instant at which the invocation has lasted so long.
func (i *Invocation) key(after Time, mark int) key {
	return keyAt(i.AdmittedAt+after, (int(i.Worker)*maxSlots+int(i.Slot))<<cursorBits|mark)
}

// nextFixed is the first instant after t that is known from the start: the end
// of the boots, the signal, the end of the replacement's boot, the deadline.
func (s *Settings) nextFixed(t Time) Time {
	next := Time(beyond)
	for _, at := range [...]Time{s.Startup, s.Signal, s.Signal + s.Startup, s.Deadline()} {
		if at > t && at < next {
			next = at
		}
	}
	return next
}

func (s *Settings) nextArrival(t Time) Time {
	if next := t + s.Interval; next <= LastArrival {
		return next
	}
	return beyond
}

// fixedInstant is phases 2 and 3 of a step at such an instant.
func (e *engine) fixedInstant(now Time) {
	e.readiness(now)
	if w := &e.owners[0]; w.state == Draining && w.used == 0 {
		e.leave(now, Exited, WorkerExited)
	}
	if now == e.settings.Deadline() {
		e.forcedStop(now)
	}
}

// emit adds an event to the trace, to be filled in where it lies: a copy
// would cost as much as the rest of the engine.
func (e *engine) emit(at Time, kind Kind, worker uint8) *Event {
	n := len(e.trace)
	e.trace = e.trace[:n+1]
	ev := &e.trace[n]
	ev.Seq, ev.At, ev.Kind, ev.Worker = int32(n), at, kind, worker
	ev.Request, ev.Sum, ev.Slot, ev.Stage, ev.Reason = 0, 0, 0, NoStage, NoReason
	return ev
}

// boot starts the next worker.
func (e *engine) boot(now Time, replacement bool) {
	id := len(e.workers) + 1
	e.workers = append(e.workers, Worker{ID: id, Replacement: replacement, BootAt: now,
		ReadyAt: Never, FailedAt: Never, SignalAt: Never, DrainAt: Never, ExitAt: Never})
	e.emit(now, WorkerStarted, uint8(id))
}

func (e *engine) beginStage(now Time, inv *Invocation, stage Stage) {
	ev := e.emit(now, InvocationStage, inv.Worker)
	ev.Request, ev.Slot, ev.Stage = inv.Request, inv.Slot, stage
}

func (e *engine) complete(now Time, inv *Invocation) {
	inv.EndedAt = now
	inv.Outcome = Completed
	w := &e.owners[inv.Worker-1]
	w.used &^= 1 << (inv.Slot - 1)
	w.owned--
	ev := e.emit(now, InvocationCompleted, inv.Worker)
	ev.Request, ev.Slot, ev.Sum = inv.Request, inv.Slot, int16(inv.Sum())
}

// readiness is phase 2: boots that end now by worker number, then the signal,
// then the replacement's boot.
func (e *engine) readiness(now Time) {
	s := &e.settings
	for i := range e.workers {
		if e.owners[i].state == Starting && e.workers[i].BootAt+s.Startup == now {
			e.bootEnds(i, now)
		}
	}
	if now != s.Signal {
		return
	}
	if w := &e.workers[0]; e.owners[0].state != Failed {
		w.SignalAt = now
		e.emit(now, WorkerSignaled, 1)
		if s.Handler {
			w.DrainAt = now
			w.State = Draining
			e.owners[0].state = Draining
			e.emit(now, WorkerDrained, 1)
		}
	}
	if s.Replacement {
		e.boot(now, true)
		if s.Startup == 0 {
			e.bootEnds(len(e.workers)-1, now)
		}
	}
}

func (e *engine) bootEnds(i int, now Time) {
	w := &e.workers[i]
	kind := WorkerReady
	if i == 0 && e.settings.FailInit {
		w.FailedAt, w.State, kind = now, Failed, WorkerFailed
	} else {
		w.ReadyAt, w.State = now, Ready
	}
	e.owners[i].state = w.State
	e.emit(now, kind, uint8(w.ID))
}

// forcedStop kills a worker 1 that is still there, and what it owns.
func (e *engine) forcedStop(now Time) {
	w := &e.owners[0]
	if w.state.Gone() {
		return
	}
	for slot := range maxSlots {
		if w.used&(1<<slot) == 0 {
			continue
		}
		inv := &e.invocations[w.slots[slot]]
		inv.EndedAt = now
		inv.Outcome = KilledInvocation
		ev := e.emit(now, InvocationKilled, 1)
		ev.Request, ev.Slot, ev.Stage = inv.Request, inv.Slot, e.settings.StageAt(now-inv.AdmittedAt)
	}
	e.leave(now, Killed, WorkerKilled)
}

func (e *engine) leave(now Time, state State, kind Kind) {
	e.workers[0].ExitAt = now
	e.workers[0].State = state
	e.owners[0].state = state
	e.emit(now, kind, 1)
}

// arrive routes the request of this instant: the candidate with the fewest
// owned invocations, the lowest number at a tie. It reports whether the
// request was admitted.
func (e *engine) arrive(now Time) bool {
	s := &e.settings
	picked, fewest := -1, uint8(maxSlots+1)
	for i := range e.workers {
		w := &e.owners[i]
		if w.owned < fewest && (w.state == Ready || !s.ReadyOnly && !w.state.Gone()) {
			picked, fewest = i, w.owned
		}
	}
	request := e.request
	e.request++
	reason := NoReadyWorker
	if picked >= 0 {
		switch w := &e.owners[picked]; {
		case w.state == Starting:
			reason = WorkerStarting
		case w.state == Draining:
			reason = WorkerDraining
		case int(fewest) >= s.Slots:
			reason = SlotsFull
		default:
			e.admit(now, w, uint8(picked+1), request)
			return true
		}
	}
	e.rejections = append(e.rejections, Rejection{At: now, Request: request, Reason: reason})
	ev := e.emit(now, RequestRejected, uint8(picked+1))
	ev.Request, ev.Reason = request, reason
	return false
}

func (e *engine) admit(now Time, w *owner, worker uint8, request int16) {
	slot := bits.TrailingZeros8(^w.used)
	w.used |= 1 << slot
	w.owned++
	n := len(e.invocations)
	w.slots[slot] = uint8(n)
	e.invocations = e.invocations[:n+1]
	inv := &e.invocations[n]
	inv.AdmittedAt, inv.EndedAt, inv.Request, inv.Worker, inv.Slot, inv.Outcome = now, Never, request, worker, uint8(slot+1), Running
	ev := e.emit(now, RequestAdmitted, worker)
	ev.Request, ev.Slot = request, uint8(slot+1)
}
