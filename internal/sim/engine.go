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
	e := engine{Run: r, stages: StageEnds(s.Duration), nextArrival: firstArrival, request: 1}
	e.run()
}

// beyond is later than any step.
const beyond = Horizon + 1

// engine jumps from one step in which something happens to the next. All
// invocations last equally long and at most one is admitted in a step, so
// each of the three instants of an invocation (two stage changes and the
// completion) comes in order of admission: three cursors into the list of
// invocations take the place of a queue of events.
type engine struct {
	*Run
	owners      [maxWorkers]owner
	stages      [3]Time
	cursor      [3]int  // the next invocation to reach stages[k]
	due         [3]Time // when it does
	nextArrival Time
	request     int16
	deadline    Time // of worker 1's forced stop
}

// owner is what the router looks at: a worker's state and its slots.
type owner struct {
	slots [maxSlots]uint8 // the invocation in each slot, an index
	used  uint8           // one bit a slot
	state State
}

func (e *engine) run() {
	s := &e.Settings
	e.due = [3]Time{beyond, beyond, beyond}
	e.deadline = s.Signal + s.Grace
	for range s.Workers {
		e.boot(0, false)
	}
	// What happens at instants known from the start: boots, signal, forced stop.
	fixed := [4]Time{s.Startup, s.Signal, s.Signal + s.Startup, e.deadline}
	nextFixed := Time(0)
	for {
		now := min(e.nextArrival, nextFixed, e.due[0], e.due[1], e.due[2])
		if now > Horizon {
			break
		}
		if now == e.due[0] || now == e.due[1] || now == e.due[2] {
			e.progress(now)
		}
		if now == nextFixed {
			e.readiness(now)
		}
		if w := &e.owners[0]; w.state == Draining && w.used == 0 {
			e.leave(now, Exited, WorkerExited)
		}
		if now == e.deadline {
			e.forcedStop(now)
		}
		if now == e.nextArrival {
			e.arrive(now)
		}
		if now == nextFixed {
			nextFixed = beyond
			for _, t := range fixed {
				if t > now && t < nextFixed {
					nextFixed = t
				}
			}
		}
	}
}

func (e *engine) emit(ev Event) {
	ev.Seq = int32(len(e.Trace))
	e.Trace = append(e.Trace, ev)
}

// boot starts the next worker.
func (e *engine) boot(now Time, replacement bool) {
	id := len(e.Workers) + 1
	e.Workers = append(e.Workers, Worker{ID: id, Replacement: replacement, BootAt: now,
		ReadyAt: Never, FailedAt: Never, SignalAt: Never, DrainAt: Never, ExitAt: Never})
	e.emit(Event{At: now, Kind: WorkerStarted, Worker: uint8(id)})
}

// progress is phase 1 of a step: stage changes and completions of this
// instant by worker, then slot. At most three invocations are concerned, one
// for each cursor.
func (e *engine) progress(now Time) {
	var todo [3]int // cursors, in the order of their invocations' slots
	n := 0
	for k := range todo {
		if e.due[k] != now {
			continue
		}
		i := n
		for ; i > 0 && e.place(todo[i-1]) > e.place(k); i-- {
			todo[i] = todo[i-1]
		}
		todo[i] = k
		n++
	}
	for _, k := range todo[:n] {
		inv := &e.Invocations[e.cursor[k]]
		ev := Event{At: now, Kind: InvocationStage, Worker: inv.Worker, Request: inv.Request, Slot: inv.Slot, Stage: Stage(k + 2)}
		if k == 2 {
			inv.EndedAt = now
			inv.Outcome = Completed
			e.owners[inv.Worker-1].used &^= 1 << (inv.Slot - 1)
			ev.Kind, ev.Stage, ev.Sum = InvocationCompleted, NoStage, int16(inv.Sum())
		}
		e.emit(ev)
		e.cursor[k]++
		e.look(k)
	}
}

func (e *engine) place(k int) int {
	inv := &e.Invocations[e.cursor[k]]
	return int(inv.Worker)*maxSlots + int(inv.Slot)
}

// look finds out when cursor k is due next, past invocations that were killed.
func (e *engine) look(k int) {
	for e.cursor[k] < len(e.Invocations) {
		if inv := &e.Invocations[e.cursor[k]]; inv.Outcome != KilledInvocation {
			e.due[k] = inv.AdmittedAt + e.stages[k]
			return
		}
		e.cursor[k]++
	}
	e.due[k] = beyond
}

// readiness is phase 2: boots that end now by worker number, then the signal,
// then the replacement's boot.
func (e *engine) readiness(now Time) {
	s := &e.Settings
	for i := range e.Workers {
		if e.owners[i].state == Starting && e.Workers[i].BootAt+s.Startup == now {
			e.bootEnds(i, now)
		}
	}
	if now != s.Signal {
		return
	}
	if w := &e.Workers[0]; e.owners[0].state != Failed {
		w.SignalAt = now
		e.emit(Event{At: now, Kind: WorkerSignaled, Worker: 1})
		if s.Handler {
			w.DrainAt = now
			w.State = Draining
			e.owners[0].state = Draining
			e.emit(Event{At: now, Kind: WorkerDrained, Worker: 1})
		}
	}
	if s.Replacement {
		e.boot(now, true)
		if s.Startup == 0 {
			e.bootEnds(len(e.Workers)-1, now)
		}
	}
}

func (e *engine) bootEnds(i int, now Time) {
	w := &e.Workers[i]
	kind := WorkerReady
	if i == 0 && e.Settings.FailInit {
		w.FailedAt, w.State, kind = now, Failed, WorkerFailed
	} else {
		w.ReadyAt, w.State = now, Ready
	}
	e.owners[i].state = w.State
	e.emit(Event{At: now, Kind: kind, Worker: uint8(w.ID)})
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
		inv := &e.Invocations[w.slots[slot]]
		inv.EndedAt = now
		inv.Outcome = KilledInvocation
		e.emit(Event{At: now, Kind: InvocationKilled, Worker: 1, Request: inv.Request, Slot: inv.Slot,
			Stage: e.Settings.StageAt(now - inv.AdmittedAt)})
	}
	w.used = 0
	e.leave(now, Killed, WorkerKilled)
	for k := range e.cursor {
		e.look(k)
	}
}

func (e *engine) leave(now Time, state State, kind Kind) {
	e.Workers[0].ExitAt = now
	e.Workers[0].State = state
	e.owners[0].state = state
	e.emit(Event{At: now, Kind: kind, Worker: 1})
}

// arrive routes the request of this instant: the candidate with the fewest
// owned invocations, the lowest number at a tie.
func (e *engine) arrive(now Time) {
	s := &e.Settings
	picked, fewest := -1, maxSlots+1
	for i := range e.Workers {
		w := &e.owners[i]
		if w.state != Ready && (s.ReadyOnly || w.state.Gone()) {
			continue
		}
		if n := bits.OnesCount8(w.used); n < fewest {
			picked, fewest = i, n
		}
	}
	request := e.request
	e.request++
	e.nextArrival = now + s.Interval
	if e.nextArrival > lastArrival {
		e.nextArrival = beyond
	}
	reason := NoReadyWorker
	if picked >= 0 {
		switch w := &e.owners[picked]; {
		case w.state == Starting:
			reason = WorkerStarting
		case w.state == Draining:
			reason = WorkerDraining
		case fewest >= s.Slots:
			reason = SlotsFull
		default:
			e.admit(now, w, uint8(picked+1), request)
			return
		}
	}
	e.Rejections = append(e.Rejections, Rejection{At: now, Request: request, Reason: reason})
	e.emit(Event{At: now, Kind: RequestRejected, Request: request, Worker: uint8(picked + 1), Reason: reason})
}

func (e *engine) admit(now Time, w *owner, worker uint8, request int16) {
	slot := bits.TrailingZeros8(^w.used)
	w.used |= 1 << slot
	w.slots[slot] = uint8(len(e.Invocations))
	e.Invocations = append(e.Invocations, Invocation{AdmittedAt: now, EndedAt: Never, Request: request, Worker: worker, Slot: uint8(slot + 1)})
	e.emit(Event{At: now, Kind: RequestAdmitted, Worker: worker, Request: request, Slot: uint8(slot + 1)})
	for k := range e.due {
		if e.due[k] == beyond {
			e.look(k)
		}
	}
}
