// Package sim is the lifecycle model of lesson 1: what becomes of the requests
// that arrive in 60 s at a small fleet whose worker 1 gets SIGTERM.
//
// A run is data: [Simulate] computes all 60 s at once, [Run.At] looks at them
// at any instant. The package knows no clock, goroutine, browser or store,
// and imports the standard library only. Its contract is docs/model.md.
package sim

// State is a worker's place in its lifecycle.
type State uint8

// The states of a worker: starting → ready → draining → exited, or → killed at
// a forced stop, or starting → failed.
const (
	Starting State = iota
	Ready
	Draining
	Exited
	Killed
	Failed
)

var stateNames = [...]string{"starting", "ready", "draining", "exited", "killed", "failed"}

func (s State) String() string { return stateNames[s] }

// Gone reports whether a worker in this state is no longer there.
func (s State) Gone() bool { return s >= Exited }

// Worker is one worker process with the instants of its life; an instant that
// did not come is [Never].
type Worker struct {
	ID          int // from 1
	Replacement bool
	BootAt      Time
	ReadyAt     Time
	FailedAt    Time
	SignalAt    Time // Never where the worker did not take the signal
	DrainAt     Time // Never with the handler off
	ExitAt      Time // of a voluntary exit or a forced stop
	State       State
}

// Outcome is what became of an invocation.
type Outcome uint8

// The outcomes of an invocation.
const (
	Running Outcome = iota
	Completed
	KilledInvocation
)

var outcomeNames = [...]string{"running", "completed", "killed"}

func (o Outcome) String() string { return outcomeNames[o] }

// Stage is one of the three equal parts of an invocation.
type Stage uint8

// The stages of an invocation; NoStage where none concerns.
const (
	NoStage Stage = iota
	Prepare
	ModelCall
	Tool
)

var stageNames = [...]string{"", "prepare", "model", "tool"}

func (s Stage) String() string { return stageNames[s] }

// Reason says why a request was rejected.
type Reason uint8

// The reasons of a rejection; NoReason where none concerns.
const (
	NoReason Reason = iota
	NoReadyWorker
	WorkerStarting
	WorkerDraining
	SlotsFull
)

var reasonNames = [...]string{"", "no_ready_worker", "worker_starting", "worker_draining", "slots_full"}

func (r Reason) String() string { return reasonNames[r] }

// Invocation is one admitted request. It owns one slot of one worker from
// AdmittedAt until EndedAt.
type Invocation struct {
	AdmittedAt Time
	EndedAt    Time  // Never while running
	Request    int16 // from 1
	Worker     uint8 // from 1
	Slot       uint8 // from 1
	Outcome    Outcome
}

// Sum is what a completed invocation commits: its request's three numbers, added.
func (i Invocation) Sum() int {
	n := Numbers(int(i.Request))
	return n[0] + n[1] + n[2]
}

// Numbers are the three numbers that request n carries.
func Numbers(n int) [3]int { return [3]int{n, 1, 2} }

// Rejection is one request turned away at arrival.
type Rejection struct {
	At      Time
	Request int16
	Reason  Reason
}

// Kind names what an [Event] tells.
type Kind uint8

// The kinds of events, in the trace's words.
const (
	WorkerStarted Kind = iota
	WorkerReady
	WorkerFailed
	WorkerSignaled
	WorkerDrained
	WorkerExited
	WorkerKilled
	RequestAdmitted
	RequestRejected
	InvocationStage
	InvocationCompleted
	InvocationKilled
)

var kindNames = [...]string{
	"worker_starting", "worker_ready", "worker_failed", "worker_signaled", "worker_draining", "worker_exited", "worker_killed",
	"request_admitted", "request_rejected", "invocation_stage", "invocation_completed", "invocation_killed",
}

func (k Kind) String() string { return kindNames[k] }

// Kinds lists all kinds of events.
func Kinds() []Kind {
	kinds := make([]Kind, len(kindNames))
	for i := range kinds {
		kinds[i] = Kind(i)
	}
	return kinds
}

// Event is one decision of the run, a fact that has happened. Seq is its place
// in the trace, from 0; the other fields are zero where they do not concern it.
type Event struct {
	Seq     int32
	At      Time
	Request int16
	Sum     int16
	Kind    Kind
	Worker  uint8
	Slot    uint8
	Stage   Stage
	Reason  Reason
}

// Run is the whole of one simulation, immutable once computed (but for
// [Run.Reset]). Invocations and Rejections are in order of arrival.
type Run struct {
	Settings    Settings
	Workers     []Worker
	Invocations []Invocation
	Rejections  []Rejection
	Trace       []Event
}

// Requests arrive from FirstArrival on, one every interval, none after
// LastArrival.
const (
	FirstArrival = 1 * Second
	LastArrival  = 40 * Second
)

const (
	maxWorkers = 5 // four and the replacement
	maxSlots   = 8
)

// arrivals counts the requests of a whole run.
func (s Settings) arrivals() int { return int((LastArrival-FirstArrival)/s.Interval) + 1 }

// StageEnds returns how long after admission the three stages of an
// invocation of this duration end: stage k ends at the first tenth at which
// 3·elapsed ≥ k·duration.
func StageEnds(duration Time) [3]Time {
	return [3]Time{(duration + 2) / 3, (2*duration + 2) / 3, duration}
}
