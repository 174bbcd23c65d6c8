package lifecycle

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"drainlab/internal/ledger"
)

// Request is an admitted request.
type Request struct {
	id       uint64
	class    string
	stream   bool
	admitted ledger.Event // as recorded, or as it will be if the drain meets it
	cancel   context.CancelCauseFunc
	recorded bool
	complete bool
	ended    bool
}

type requestKey struct{}

// FromContext returns the admitted request that a handler serves, or nil.
func FromContext(ctx context.Context) *Request {
	r, _ := ctx.Value(requestKey{}).(*Request)
	return r
}

// ID names the request in the record.
func (r *Request) ID() string { return strconv.FormatUint(r.id, 10) }

// Complete says that the application's contract with the caller is met: the
// stream's terminal marker has gone out. It must be called before the handler
// returns, by its goroutine.
func (r *Request) Complete() {
	if r != nil {
		r.complete = true
	}
}

// ServeHTTP admits the request or turns it away. Looking at the gate and
// registering the request are one step under one lock: no request can pass
// without being counted.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.cfg.Exempt != nil && s.cfg.Exempt(r) {
		s.next.ServeHTTP(w, r)
		return
	}
	class, stream := s.cfg.Classify(r)
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	req := s.admit(class, stream, cancel)
	if req == nil {
		h := w.Header()
		h.Set("Retry-After", "1")
		h.Set("Connection", "close")
		probe(w, http.StatusServiceUnavailable, "The server is shutting down. Another one will answer.")
		return
	}
	seen := &statusWriter{ResponseWriter: w}
	defer func() {
		p := recover()
		outcome, detail := judge(ctx, req, seen.status, p)
		s.finish(req, outcome, detail)
		if p != nil {
			panic(p)
		}
	}()
	s.next.ServeHTTP(seen, r.WithContext(context.WithValue(ctx, requestKey{}, req)))
}

// admit registers a request, or returns nil where the gate is closed.
func (s *Server) admit(class string, stream bool, cancel context.CancelCauseFunc) *Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != Running {
		s.cfg.Recorder.Record(ledger.Event{Kind: ledger.RequestRejected, Class: class})
		return nil
	}
	s.lastID++
	r := &Request{id: s.lastID, class: class, stream: stream, cancel: cancel}
	r.admitted = ledger.Event{Kind: ledger.RequestAdmitted, Request: r.ID(), Class: class, Stream: stream, At: s.cfg.Recorder.Now()}
	if s.cfg.All {
		s.cfg.Recorder.Record(r.admitted)
		r.recorded = true
	}
	s.inFlight[r.id] = r
	return r
}

// closeGate is QUIESCING. The cohort that is in flight at this instant goes
// into the record, each with the time of its admission.
func (s *Server) closeGate() {
	s.mu.Lock()
	if s.state != Running {
		s.mu.Unlock()
		return
	}
	s.state = Quiescing
	rec := s.cfg.Recorder
	rec.Record(ledger.Event{Kind: ledger.StateChanged, State: Quiescing.String()})
	if !s.cfg.All {
		before := s.before
		rec.Record(ledger.Event{Kind: ledger.RequestsBefore, Counts: &before})
	}
	for _, r := range s.inFlight {
		if !r.recorded {
			rec.Add(r.admitted)
			r.recorded = true
		}
	}
	if len(s.inFlight) == 0 {
		close(s.empty)
	}
	close(s.draining)
	s.mu.Unlock()
	s.cfg.Server.SetKeepAlivesEnabled(false)
	s.cfg.Log.Info("state changed", "state", Quiescing.String(), "in_flight", s.InFlight())
	if s.cfg.Announce != nil {
		s.cfg.Announce()
	}
}

// finish gives a request its one outcome; later ones are dropped.
func (s *Server) finish(r *Request, outcome ledger.RequestOutcome, detail string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.ended {
		return
	}
	r.ended = true
	delete(s.inFlight, r.id)
	if r.recorded {
		kind := map[ledger.RequestOutcome]ledger.Kind{ledger.Completed: ledger.RequestCompleted,
			ledger.Failed: ledger.RequestFailed, ledger.Cancelled: ledger.RequestCancelled}[outcome]
		s.cfg.Recorder.Record(ledger.Event{Kind: kind, Request: r.ID(), Class: r.class, Detail: detail})
	} else {
		s.before.Add(outcome)
	}
	if s.state != Running && len(s.inFlight) == 0 {
		close(s.empty)
	}
}

// judge finds a request's outcome when its handler has returned.
func judge(ctx context.Context, r *Request, status int, panicked any) (ledger.RequestOutcome, string) {
	switch cause := context.Cause(ctx); {
	case panicked != nil && panicked != http.ErrAbortHandler:
		return ledger.Failed, "its handler panicked"
	case panicked != nil && cause == nil:
		return ledger.Failed, "its handler broke it off"
	case r.complete:
		return ledger.Completed, ""
	case errors.Is(cause, ErrGracefulTimeout), errors.Is(cause, ErrSecondSignal):
		return ledger.Cancelled, cause.Error()
	case errors.Is(cause, context.DeadlineExceeded):
		return ledger.Failed, "its deadline passed"
	case cause != nil:
		return ledger.Cancelled, "its client went away"
	case status >= http.StatusInternalServerError:
		return ledger.Failed, "status " + strconv.Itoa(status)
	case r.stream && (status == 0 || status < http.StatusBadRequest):
		return ledger.Failed, "it ended without its terminal marker"
	}
	return ledger.Completed, ""
}

// statusWriter notes the response's status. Everything else is reached through
// Unwrap.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController through.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
