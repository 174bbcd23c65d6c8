package answer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"drainlab/internal/setting"
)

// The bounds of a call with many runs.
const (
	// MostLines is the most runs of one call.
	MostLines  = 10_000
	lineLimit  = 4 << 10
	runsLimit  = 64 << 20 // of the body, lines past the last one included
	flushAfter = 32 << 10
	// answersLimit bounds the answers in bytes: a line of 20 bytes may ask for
	// tens of thousands. What tells of it lies beyond: a short line for each line.
	answersLimit = 64 << 20
)

// job is one line: settings, or the answer to a line that holds none. The
// answer is ready-made because it is small whatever the line's length was.
type job[S any] struct {
	settings S
	refusal  []byte
}

func refused[S any](err error) job[S] { return job[S]{refusal: appendError(nil, err)} }

// ManyRuns answers a line with a run for each line with settings, while lines
// still come in. Reading never waits for writing, so that a client may send
// everything before it reads: at most MostLines jobs wait, which bounds the
// memory whatever the body's size.
func ManyRuns[S any](w http.ResponseWriter, r *http.Request, parse func([]byte) (S, error), answer func([]byte, S) []byte) error {
	rc := http.NewResponseController(w)
	if r.ProtoMajor == 1 {
		if err := rc.EnableFullDuplex(); err != nil {
			return fmt.Errorf("reading while writing: %w", err)
		}
		// What follows a body that broke off must not be read as a request.
		w.Header().Set("Connection", "close")
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Cache-Control", "no-store")

	jobs := make(chan job[S], MostLines+1)
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
	writeAnswers(&output{to: w, control: rc}, jobs, answer)
	return nil
}

// writeAnswers writes a line for each job, until there are no more or the
// client is gone. What is written is sent at once where no job waits, and so
// after the last one.
func writeAnswers[S any](out *output, jobs <-chan job[S], answer func([]byte, S) []byte) {
	for j := range jobs {
		out.line(func(b []byte) []byte {
			if j.refusal != nil {
				return append(b, j.refusal...)
			}
			return answer(b, j.settings)
		})
		if len(out.waiting) >= flushAfter || len(jobs) == 0 {
			if err := out.send(); err != nil {
				return // the client is gone
			}
		}
	}
}

// output is the answer to a call with many runs.
type output struct {
	to      io.Writer
	control *http.ResponseController
	waiting []byte // to be sent
	lines   int    // so far
	size    int    // of these, in bytes
	full    bool   // a line has gone over answersLimit
}

// line adds a line. The one that would pass the limit is an error that names
// it, and so is each later one: what is asked for is not computed any more, and
// yet every line has its answer.
func (o *output) line(write func([]byte) []byte) {
	o.lines++
	before := len(o.waiting)
	if !o.full {
		o.waiting = append(write(o.waiting), '\n')
		o.size += len(o.waiting) - before
		o.full = o.size > answersLimit
	}
	if o.full {
		err := fmt.Errorf("line %d: got lines whose answers have more than %d bytes; allowed: %d in one call", o.lines, answersLimit, answersLimit)
		o.waiting = append(appendError(o.waiting[:before], err), '\n')
	}
}

func (o *output) send() error {
	if err := o.control.SetWriteDeadline(time.Now().Add(IdleLimit)); err != nil {
		return err
	}
	if _, err := o.to.Write(o.waiting); err != nil {
		return err
	}
	o.waiting = o.waiting[:0]
	return o.control.Flush()
}

// input is the body of a call with many runs. A line that takes longer than
// IdleLimit to come in ends it. The deadline is set by reads alone: set past
// the body's end it would hit the server's own watch on the connection.
type input struct {
	body    io.Reader
	control *http.ResponseController
	until   time.Time // of the line that is being read; the reader's alone

	mu    sync.Mutex
	ended bool
}

func (in *input) lineBegins() { in.until = time.Now().Add(IdleLimit) }

func (in *input) Read(p []byte) (int, error) {
	in.mu.Lock()
	if in.ended {
		in.mu.Unlock()
		return 0, io.ErrClosedPipe
	}
	in.control.SetReadDeadline(in.until)
	in.control.SetWriteDeadline(time.Now().Add(IdleLimit)) // a client that sends need not read yet
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
			if n <= MostLines {
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
		case n > MostLines+1:
		case n > MostLines:
			jobs <- refused[S](fmt.Errorf("line %d: got more lines than one call takes; allowed: %d", n, MostLines))
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
	var wrong *setting.Error
	errors.As(err, &wrong)
	data, encodeErr := json.Marshal(NewErrorBody(&Error{Sentence: err.Error(), Setting: wrong}))
	if encodeErr != nil {
		return append(out, `{"error":"the error cannot be encoded"}`...)
	}
	return append(out, data...)
}
