package web

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"drainlab/internal/clocks"
	"drainlab/internal/session"
	"drainlab/internal/sim"
)

//go:embed openapi.json
var openAPI []byte

func (s *Server) apiDescription(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "public, max-age=3600")
	w.Write(openAPI)
	return nil
}

// apiRun answers one run, whole or as it stands at t, as JSON or CSV.
func (s *Server) apiRun(w http.ResponseWriter, r *http.Request) error {
	query, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		return err
	}
	t, format := sim.Horizon, "json"
	if err := takeParam(query, "t", func(text string) (err error) { t, err = session.ParseT(text); return }); err != nil {
		return err
	}
	if err := takeParam(query, "model", checkModel(sim.Model)); err != nil {
		return err
	}
	err = takeParam(query, "format", func(text string) error {
		if text != "json" && text != "csv" {
			return &sim.SettingError{Setting: "format", Got: text, Allowed: "json or csv"}
		}
		format = text
		return nil
	})
	if err != nil {
		return err
	}
	settings, err := sim.ParseValues(query)
	if err != nil {
		return err
	}
	snap := sim.Simulate(settings).At(t)
	h := w.Header()
	h.Set("Cache-Control", apiCache)
	if format == "csv" {
		h.Set("Content-Type", "text/csv; charset=utf-8; header=present")
		h.Set("Content-Disposition", `inline; filename="drainlab-run.csv"`)
		w.Write(snap.AppendCSV(nil))
		return nil
	}
	h.Set("Content-Type", "application/json")
	w.Write(append(snap.AppendJSON(make([]byte, 0, 16<<10)), '\n'))
	return nil
}

// apiCache lets anybody keep an answer for a day: same settings, same bytes.
const apiCache = "public, max-age=86400"

// The bounds of a call with many runs.
const (
	mostLines  = 10_000
	lineLimit  = 4 << 10
	runsLimit  = 64 << 20 // of the body, lines past the last one included
	idleLimit  = 30 * time.Second
	flushAfter = 32 << 10
)

// job is one line: settings, or the answer to a line that holds none. The
// answer is ready-made because it is small whatever the line's length was.
type job[S any] struct {
	settings S
	refusal  []byte
}

func refused[S any](err error) job[S] { return job[S]{refusal: appendError(nil, err)} }

// apiRuns answers many runs of lesson 1's model.
func (s *Server) apiRuns(w http.ResponseWriter, r *http.Request) error {
	var run sim.Run
	return manyRuns(w, r, sim.ParseJSON, func(out []byte, settings sim.Settings) []byte {
		run.Reset(settings)
		return run.At(sim.Horizon).AppendJSON(out)
	})
}

// apiClocksRuns answers many runs of lesson 3's model.
func (s *Server) apiClocksRuns(w http.ResponseWriter, r *http.Request) error {
	return manyRuns(w, r, clocks.ParseJSON, func(out []byte, settings clocks.Settings) []byte {
		return clocks.Simulate(settings).AppendJSON(out)
	})
}

// manyRuns answers a line with a run for each line with settings, while lines
// still come in. Reading never waits for writing, so that a client may send
// everything before it reads: at most mostLines jobs wait, which bounds the
// memory whatever the body's size.
func manyRuns[S any](w http.ResponseWriter, r *http.Request, parse func([]byte) (S, error), answer func([]byte, S) []byte) error {
	if r.URL.RawQuery != "" {
		return &requestError{status: http.StatusBadRequest,
			sentence: fmt.Sprintf("The settings of many runs come in the body: got the query %s; allowed: no query.", sim.Quote(r.URL.RawQuery))}
	}
	rc := http.NewResponseController(w)
	if r.ProtoMajor == 1 {
		if err := rc.EnableFullDuplex(); err != nil {
			return fmt.Errorf("reading while writing: %w", err)
		}
	}
	jobs := make(chan job[S], mostLines+1)
	in := &input{body: http.MaxBytesReader(w, r.Body, runsLimit), control: rc}
	go func() {
		defer close(jobs)
		readJobs(in, jobs, parse, in.lineBegins)
	}()
	// The reader must not outlive the handler: once that has returned, the
	// request and its controller are no longer the reader's to touch.
	defer func() {
		in.stop()
		for range jobs { // until it is closed
		}
	}()

	if r.ProtoMajor == 1 {
		// What follows a body that broke off must not be read as a request.
		w.Header().Set("Connection", "close")
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Cache-Control", "no-store")
	var out []byte
	send := func() error {
		if err := rc.SetWriteDeadline(time.Now().Add(idleLimit)); err != nil {
			return err
		}
		if _, err := w.Write(out); err != nil {
			return err
		}
		out = out[:0]
		return rc.Flush()
	}
	for j := range jobs {
		if j.refusal != nil {
			out = append(out, j.refusal...)
		} else {
			out = answer(out, j.settings)
		}
		out = append(out, '\n')
		if len(out) >= flushAfter || len(jobs) == 0 {
			if err := send(); err != nil {
				return nil // the client is gone
			}
		}
	}
	if len(out) > 0 {
		send()
	}
	return nil
}

// input is the body of a call with many runs. A line that takes longer than
// idleLimit to come in ends it. The deadline is set by reads alone: set past
// the body's end it would hit the server's own watch on the connection.
type input struct {
	body    io.Reader
	control *http.ResponseController
	until   time.Time // of the line that is being read; the reader's alone

	mu    sync.Mutex
	ended bool
}

func (in *input) lineBegins() { in.until = time.Now().Add(idleLimit) }

func (in *input) Read(p []byte) (int, error) {
	in.mu.Lock()
	if in.ended {
		in.mu.Unlock()
		return 0, io.ErrClosedPipe
	}
	in.control.SetReadDeadline(in.until)
	in.control.SetWriteDeadline(time.Now().Add(idleLimit)) // a client that sends need not read yet
	in.mu.Unlock()
	n, err := in.body.Read(p)
	if err != nil {
		in.mu.Lock()
		in.ended = true
		in.mu.Unlock()
	}
	return n, err
}

// stop makes a read that is under way fail, and all later ones.
func (in *input) stop() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.ended {
		in.ended = true
		in.control.SetReadDeadline(time.Unix(1, 0)) // long past
	}
}

// readJobs reads lines until the body ends or breaks. A line that cannot be
// taken is a job with a refusal. Of the lines past the last one the first is
// such a job, the rest are read and dropped.
func readJobs[S any](body io.Reader, jobs chan<- job[S], parse func([]byte) (S, error), lineBegins func()) {
	lines := bufio.NewReaderSize(body, lineLimit+2) // a line of the limit with CR LF
	for n := 1; ; n++ {
		lineBegins()
		line, err := lines.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = lines.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			var tooLarge *http.MaxBytesError
			if errors.As(err, &tooLarge) {
				err = fmt.Errorf("the body is larger than the %d bytes that are allowed", tooLarge.Limit)
			} else {
				err = errors.New("the body broke off")
			}
			if n <= mostLines {
				jobs <- refused[S](fmt.Errorf("line %d: %w", n, err))
			}
			return
		}
		last := err != nil
		if last && len(line) == 0 && !long {
			return
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		switch {
		case n > mostLines+1:
		case n > mostLines:
			jobs <- refused[S](fmt.Errorf("line %d: got more lines than one call takes; allowed: %d", n, mostLines))
		case long || len(line) > lineLimit:
			jobs <- refused[S](fmt.Errorf("line %d: got a line of more than %d bytes; allowed: %d", n, lineLimit, lineLimit))
		default:
			settings, err := parse(line)
			if err != nil {
				jobs <- refused[S](err)
			} else {
				jobs <- job[S]{settings: settings}
			}
		}
		if last {
			return
		}
	}
}

func appendError(out []byte, err error) []byte {
	var setting *sim.SettingError
	errors.As(err, &setting)
	data, encodeErr := json.Marshal(newErrorBody(err.Error(), setting))
	if encodeErr != nil {
		return append(out, `{"error":"the error cannot be encoded"}`...)
	}
	return append(out, data...)
}
