// Package lifecycle ends an HTTP server by a contract that can be checked:
//
//	RUNNING → QUIESCING → DRAINING → RECORDING → EXIT
//
// QUIESCING closes the admission gate and withdraws readiness. DRAINING lets
// the requests that were admitted finish, under their own deadlines and for at
// most a graceful timeout. RECORDING cleans up and writes what became of every
// request, each within a budget. The exit is bounded by the sum of the parts.
//
// It must not know what a request means: classes, probes and cleanup are given.
package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"drainlab/internal/ledger"
)

// State is a place in the server's life.
type State uint8

// The states, in the order in which they are passed.
const (
	Running State = iota
	Quiescing
	Draining
	Recording
	Exited
)

var stateNames = [...]string{"RUNNING", "QUIESCING", "DRAINING", "RECORDING", "EXIT"}

func (s State) String() string { return stateNames[s] }

// Why a request's context was cancelled by the shutdown; context.Cause tells.
var (
	ErrGracefulTimeout = errors.New("the graceful timeout has passed")
	ErrSecondSignal    = errors.New("a second signal has cut the drain")
)

// Budget bounds each part of a shutdown.
type Budget struct {
	// Graceful bounds the wait for admitted requests.
	Graceful time.Duration
	// Unwind bounds the wait for handlers to return once their contexts are
	// cancelled, and for the last bytes of responses to go out.
	Unwind time.Duration
	// Cleanup bounds the cleanup.
	Cleanup time.Duration
	// Record bounds the writing of the record, tries included.
	Record time.Duration
}

// Total is the longest that a shutdown takes: what ends it last is still
// bounded by the parts before it.
func (b Budget) Total() time.Duration { return b.Graceful + b.Unwind + b.Cleanup + b.Record }

// Config is what a server is made of. Server and Budget are needed, the rest
// has defaults.
type Config struct {
	// Server serves; its Handler is admitted to by the gate.
	Server *http.Server
	Budget Budget
	// Exempt requests, such as probes, pass in every state and are in no
	// ledger. None by default.
	Exempt func(*http.Request) bool
	// Classify names a request's class, one of a bounded set, and says whether
	// it is a stream, whose completion needs a terminal marker.
	Classify func(*http.Request) (class string, stream bool)
	// Announce is called once the gate has closed, so that streams can be told
	// to end.
	Announce func()
	// Cleanup runs once nothing is served any more; its context ends with its
	// budget.
	Cleanup func(context.Context) error
	// Store keeps the record. It is tried again until it succeeds or its
	// budget is spent.
	Store func(context.Context, []ledger.Event) error
	// Recorder collects the record. One of its own by default.
	Recorder *ledger.Recorder
	// All records every request on its own from the start. Otherwise those that
	// end before the drain are counted only, as a server that runs for months
	// must.
	All bool
	Log *slog.Logger
}

// Server is an HTTP server under this contract.
type Server struct {
	cfg  Config
	next http.Handler

	mu       sync.Mutex
	state    State
	lastID   uint64
	inFlight map[uint64]*Request
	before   ledger.Requests // those that ended before the drain and are not recorded each
	empty    chan struct{}   // closed when the gate is closed and nothing is in flight
	draining chan struct{}   // closed with the gate
	unheard  map[net.Conn]struct{}
}

// New wraps cfg.Server's handler. The server must not be serving yet.
func New(cfg Config) *Server {
	if cfg.Recorder == nil {
		cfg.Recorder = ledger.NewRecorder(time.Now)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Classify == nil {
		cfg.Classify = func(*http.Request) (string, bool) { return "request", false }
	}
	s := &Server{cfg: cfg, next: cfg.Server.Handler, inFlight: map[uint64]*Request{}, empty: make(chan struct{}),
		draining: make(chan struct{}), unheard: map[net.Conn]struct{}{}}
	cfg.Server.Handler = s
	cfg.Server.ConnState = s.connState
	return s
}

// State returns the present state.
func (s *Server) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// InFlight counts the admitted requests that have no outcome yet.
func (s *Server) InFlight() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.inFlight)
}

// Draining is closed when the gate closes.
func (s *Server) Draining() <-chan struct{} { return s.draining }

// Quiesce closes the gate without a signal, as a management call or a preStop
// hook does. The drain begins; the process still waits for its signal.
func (s *Server) Quiesce() { s.closeGate() }

// Live answers a liveness probe: a draining process is alive.
func (s *Server) Live(w http.ResponseWriter, _ *http.Request) { probe(w, http.StatusOK, "alive") }

// Ready answers a readiness probe: only a running process is ready, and only
// if check, where there is one, has no objection.
func (s *Server) Ready(check func(context.Context) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if state := s.State(); state != Running {
			probe(w, http.StatusServiceUnavailable, "not ready: "+state.String())
			return
		}
		if check != nil {
			if err := check(r.Context()); err != nil {
				s.cfg.Log.Warn("not ready", "error", err)
				probe(w, http.StatusServiceUnavailable, "not ready")
				return
			}
		}
		probe(w, http.StatusOK, "ready")
	}
}

func probe(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	fmt.Fprintln(w, text)
}

// connState keeps track of connections that have not sent a byte. They are
// nobody's request and must not hold the drain, which http.Server.Shutdown
// lets them do for 5 s.
func (s *Server) connState(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state == http.StateNew {
		s.unheard[c] = struct{}{}
	} else {
		delete(s.unheard, c)
	}
}

// Summary is how a shutdown went.
type Summary struct {
	Report ledger.Report
	// Cut says why the drain ended before every request had finished; nil
	// where all had.
	Cut error
	// CleanupErr is the cleanup's own error, or that it took too long.
	CleanupErr error
	// RecordErr is why the record was not written: evidence is lost.
	RecordErr error
	Took      time.Duration
}

// Clean reports whether every request ended by itself and the evidence of it
// was kept.
func (s Summary) Clean() bool { return s.Cut == nil && s.CleanupErr == nil && s.RecordErr == nil }

// Serve serves on l until a signal comes, then shuts down by the contract. A
// second signal cuts the drain. The error is that of serving, where it failed
// before any signal.
func (s *Server) Serve(l net.Listener, signals <-chan os.Signal) (Summary, error) {
	failed := make(chan error, 1)
	go func() { failed <- s.cfg.Server.Serve(l) }()
	return s.wait(failed, signals)
}

// ServeTLS is Serve over TLS, with the certificates of the server's TLSConfig.
func (s *Server) ServeTLS(l net.Listener, signals <-chan os.Signal) (Summary, error) {
	failed := make(chan error, 1)
	go func() { failed <- s.cfg.Server.ServeTLS(l, "", "") }()
	return s.wait(failed, signals)
}

func (s *Server) wait(failed <-chan error, signals <-chan os.Signal) (Summary, error) {
	select {
	case err := <-failed:
		return Summary{}, fmt.Errorf("serving: %w", err)
	case sig := <-signals:
		s.cfg.Recorder.Record(ledger.Event{Kind: ledger.SignalReceived, Detail: sig.String()})
		return s.shutDown(signals), nil
	}
}

// shutDown passes through the states to the end.
func (s *Server) shutDown(signals <-chan os.Signal) Summary {
	start := time.Now()
	var sum Summary
	s.closeGate()
	s.enter(Draining)
	sum.Cut = s.drain(signals)
	s.closeConnections(sum.Cut)
	s.enter(Recording)
	sum.CleanupErr = s.cleanup()
	s.cfg.Recorder.Record(ledger.Event{Kind: ledger.ProcessEnded})
	sum.RecordErr = s.record()
	s.enter(Exited)
	sum.Report = ledger.Fold(s.cfg.Recorder.Since(0), true)
	sum.Report.EvidenceLost = sum.Report.EvidenceLost || sum.RecordErr != nil
	sum.Took = time.Since(start)
	return sum
}

func (s *Server) enter(state State) {
	s.mu.Lock()
	s.state = state
	s.mu.Unlock()
	s.cfg.Recorder.Record(ledger.Event{Kind: ledger.StateChanged, State: state.String()})
	s.cfg.Log.Info("state changed", "state", state.String(), "in_flight", s.InFlight())
}

// drain waits for the admitted requests. It returns nil where all ended by
// themselves, else why it cancelled those that were left.
func (s *Server) drain(signals <-chan os.Signal) error {
	timeout := time.NewTimer(s.cfg.Budget.Graceful)
	defer timeout.Stop()
	var cut error
	select {
	case <-s.empty:
		return nil
	case <-timeout.C:
		cut = ErrGracefulTimeout
	case sig := <-signals:
		s.cfg.Recorder.Record(ledger.Event{Kind: ledger.SignalReceived, Detail: sig.String() + ", the second"})
		cut = ErrSecondSignal
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.inFlight) == 0 { // all had ended by themselves in the same instant
		return nil
	}
	for _, r := range s.inFlight {
		r.cancel(cut)
	}
	return cut
}

// closeConnections ends what is left of the network: gracefully where the
// drain was, so that last bytes go out and HTTP/2 clients are told; at once
// for connections that never said anything.
func (s *Server) closeConnections(cut error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.Budget.Unwind)
	defer cancel()
	// Where all ended by themselves, empty is closed already. Shutdown alone would
	// not wait for handlers that have taken their connection over.
	select {
	case <-s.empty:
	case <-ctx.Done():
	}
	s.mu.Lock()
	for c := range s.unheard {
		c.Close()
	}
	s.mu.Unlock()
	if err := s.cfg.Server.Shutdown(ctx); err != nil {
		s.cfg.Log.Warn("connections were closed with responses under way", "error", err)
	}
	s.cfg.Server.Close()
	// A handler that still has not returned has lost its connection: whoever
	// waited for it is gone.
	s.mu.Lock()
	left := make([]*Request, 0, len(s.inFlight))
	for _, r := range s.inFlight {
		left = append(left, r)
	}
	s.mu.Unlock()
	for _, r := range left {
		s.finish(r, ledger.Cancelled, cmp.Or(cut, ErrGracefulTimeout).Error()+"; its handler has not returned")
	}
}

func (s *Server) cleanup() error {
	if s.cfg.Cleanup == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.Budget.Cleanup)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- s.cfg.Cleanup(ctx) }()
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("cleanup: %w", err)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("cleanup did not end within its budget of %v", s.cfg.Budget.Cleanup)
	}
}

// recordPause is between two tries to write the record.
const recordPause = 50 * time.Millisecond

// record writes the record, again and again until it succeeds or the budget is
// spent. A store that hangs is given up like one that fails.
func (s *Server) record() error {
	if s.cfg.Store == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.Budget.Record)
	defer cancel()
	var last error
	for try := 1; ; try++ {
		done := make(chan error, 1)
		events := s.cfg.Recorder.Since(0)
		go func() { done <- s.cfg.Store(ctx, events) }()
		select {
		case last = <-done:
			if last == nil {
				return nil
			}
			s.cfg.Log.Warn("writing the record failed", "try", try, "error", last)
		case <-ctx.Done():
			last = cmp.Or(last, ctx.Err())
		}
		select {
		case <-ctx.Done():
			s.cfg.Recorder.Record(ledger.Event{Kind: ledger.EvidenceLost, Detail: last.Error()})
			return fmt.Errorf("evidence lost: the record was not written in %d tries: %w", try, last)
		case <-time.After(recordPause):
		}
	}
}
