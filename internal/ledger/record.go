package ledger

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"time"
)

// Kind names what an event tells, as the record writes it.
type Kind string

// The kinds of events. Those of work can come from any application; see
// docs/ledger.md.
const (
	StateChanged     Kind = "state_changed"
	SignalReceived   Kind = "signal_received"
	RequestAdmitted  Kind = "request_admitted"
	RequestRejected  Kind = "request_rejected"
	RequestCompleted Kind = "request_completed"
	RequestFailed    Kind = "request_failed"
	RequestCancelled Kind = "request_cancelled"
	ConnectionUnseen Kind = "connection_never_admitted"
	WorkRegistered   Kind = "work_registered"
	WorkStarted      Kind = "work_started"
	WorkHeartbeat    Kind = "work_heartbeat"
	WorkFinished     Kind = "work_finished"
	StopRequested    Kind = "stop_requested"
	StopAcknowledged Kind = "stop_acknowledged"
	WaiterCancelled  Kind = "waiter_cancelled"
	CleanupRan       Kind = "cleanup_ran"
	EvidenceLost     Kind = "evidence_lost"
	ProcessEnded     Kind = "process_ended"
	// RequestsBefore carries the counts of the requests that had ended before
	// the drain began, of a server that does not record each of them.
	RequestsBefore Kind = "requests_before_drain"
)

var kinds = map[Kind]bool{
	StateChanged: true, SignalReceived: true, RequestAdmitted: true, RequestRejected: true, RequestCompleted: true,
	RequestFailed: true, RequestCancelled: true, ConnectionUnseen: true, WorkRegistered: true, WorkStarted: true,
	WorkHeartbeat: true, WorkFinished: true, StopRequested: true, StopAcknowledged: true, WaiterCancelled: true,
	CleanupRan: true, EvidenceLost: true, ProcessEnded: true, RequestsBefore: true,
}

// Event is one fact of a record, one line of JSON.
type Event struct {
	Seq     uint64    `json:"seq,omitempty"` // its place among its writer's events, from 1; 0 where the writer does not count
	At      Seconds   `json:"at"`            // monotonic, since an instant that all events of a record share
	Kind    Kind      `json:"kind,omitempty"`
	Request string    `json:"request,omitempty"` // id of the request that it concerns
	Work    string    `json:"work,omitempty"`    // id of the work that it concerns
	Class   string    `json:"class,omitempty"`   // of the request or the work: a bounded set of words, never user data
	State   string    `json:"state,omitempty"`   // the state entered, of StateChanged
	Detail  string    `json:"detail,omitempty"`  // a bounded sentence for people
	Stream  bool      `json:"stream,omitempty"`  // of RequestAdmitted: its completion needs a terminal marker
	Counts  *Requests `json:"counts,omitempty"`  // of RequestsBefore
}

// Seconds is a span of time that JSON writes as a number of seconds.
type Seconds time.Duration

// MarshalJSON writes seconds with at most six decimals.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return json.Marshal(math.Round(time.Duration(s).Seconds()*1e6) / 1e6)
}

// UnmarshalJSON reads a number of seconds of less than ten years.
func (s *Seconds) UnmarshalJSON(data []byte) error {
	var f float64
	if err := json.Unmarshal(data, &f); err != nil {
		return fmt.Errorf("at: got %.40s; allowed: a number of seconds", data)
	}
	if math.Abs(f) > 10*365*24*3600 {
		return fmt.Errorf("at: got %.40s; allowed: less than ten years", data)
	}
	*s = Seconds(math.Round(f * 1e9))
	return nil
}

func (s Seconds) String() string { return time.Duration(s).String() }

// Append appends the event as one line with its line feed.
func (e Event) Append(b []byte) []byte {
	data, err := json.Marshal(e)
	if err != nil {
		panic("ledger: an event that JSON cannot write: " + err.Error()) // its fields are numbers and strings
	}
	return append(append(b, data...), '\n')
}

// ParseEvent reads one line.
func ParseEvent(data []byte) (Event, error) {
	var e Event
	if err := json.Unmarshal(data, &e); err != nil {
		return Event{}, fmt.Errorf("not an event: %w", err)
	}
	if !kinds[e.Kind] {
		return Event{}, fmt.Errorf("not an event: unknown kind %.40q", e.Kind)
	}
	return e, nil
}

// Recorder hands out sequence numbers and times and keeps events in memory,
// so that recording never waits for a store. It may be used by many goroutines
// at once.
type Recorder struct {
	mu     sync.Mutex
	start  time.Time
	now    func() time.Time
	tee    func(Event)
	events []Event
}

// NewRecorder returns a recorder whose times count from now on. Its clock is
// an argument so that it can be a test's.
func NewRecorder(now func() time.Time) *Recorder {
	return &Recorder{start: now(), now: now}
}

// NewSharedRecorder returns a recorder whose times count from start, an
// instant that other processes count from too, and that hands each event to
// tee, in order and before Record returns. tee must not record.
func NewSharedRecorder(start time.Time, tee func(Event)) *Recorder {
	// The wall clock says once how long ago start was; from then on time is
	// monotonic.
	now := time.Now()
	return &Recorder{start: now.Add(-now.Round(0).Sub(start.Round(0))), now: time.Now, tee: tee}
}

// Record notes an event; Seq and At are set here.
func (r *Recorder) Record(e Event) Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.Seq = uint64(len(r.events)) + 1
	e.At = Seconds(r.now().Sub(r.start))
	r.keep(e)
	return e
}

func (r *Recorder) keep(e Event) {
	r.events = append(r.events, e)
	if r.tee != nil {
		r.tee(e)
	}
}

// Add notes an event that was not recorded when it happened: Seq is set here,
// At is the event's own.
func (r *Recorder) Add(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.Seq = uint64(len(r.events)) + 1
	r.keep(e)
}

// Now is the time that an event recorded now would have.
func (r *Recorder) Now() Seconds { return Seconds(r.now().Sub(r.start)) }

// Since returns the events after the one with this sequence number, and
// shares no memory with the recorder.
func (r *Recorder) Since(seq uint64) []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	if seq >= uint64(len(r.events)) {
		return nil
	}
	return append([]Event(nil), r.events[seq:]...)
}

// lineLimit bounds a line of a record that is read, mostSkipped how many of
// the lines that cannot be read are told one by one.
const (
	lineLimit   = 64 << 10
	mostSkipped = 100
)

// Read reads a record. Lines that are no events are skipped and told in the
// second result, each with its number: a record whose last line was cut when
// its process died is still a record. The error is the reader's, or
// [ErrEmpty].
func Read(r io.Reader) ([]Event, []error, error) {
	var events []Event
	var skipped []error
	more := 0
	skip := func(err error) {
		if len(skipped) < mostSkipped {
			skipped = append(skipped, err)
		} else {
			more++
		}
	}
	lines := bufio.NewReaderSize(r, lineLimit)
	for n := 1; ; n++ {
		data, err := lines.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = lines.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return events, skipped, fmt.Errorf("reading the record: %w", err)
		}
		cut := err != nil // the last line, and no line feed after it
		switch data = bytes.TrimSpace(data); {
		case long:
			skip(fmt.Errorf("line %d: longer than %d bytes", n, lineLimit))
		case len(data) > 0:
			e, parseErr := ParseEvent(data)
			switch {
			case parseErr != nil && cut:
				skip(fmt.Errorf("line %d: the record ends in the middle of a line", n))
			case parseErr != nil:
				skip(fmt.Errorf("line %d: %w", n, parseErr))
			default:
				events = append(events, e)
			}
		}
		if cut {
			break
		}
	}
	if more > 0 {
		skipped = append(skipped, fmt.Errorf("and %d lines more", more))
	}
	if len(events) == 0 {
		return nil, skipped, ErrEmpty
	}
	return events, skipped, nil
}
