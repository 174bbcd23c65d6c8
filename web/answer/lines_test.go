package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"drainlab/internal/setting"
)

// lineSettings are what lines hold here.
type lineSettings struct{ grace int }

func parseLine(line []byte) (lineSettings, error) {
	return setting.Table[lineSettings]{{Name: "grace", Max: 30 * setting.Whole, Step: setting.Whole, Grain: setting.Whole,
		Field: func(s *lineSettings) any { return &s.grace }}}.ParseJSON(line)
}

// lostClient is a response that cannot be written and a body that ends only
// by a deadline: a client that stopped both reading and sending.
type lostClient struct {
	t        *testing.T
	header   http.Header
	lines    io.Reader
	past     chan struct{} // closed once a deadline for reading was set in the past
	returned bool          // the handler has
	reading  bool          // a Read is under way

	mu      sync.Mutex
	writing time.Time // the last deadline for writing
}

var errLost = errors.New("the client is lost")

func (c *lostClient) Header() http.Header       { return c.header }
func (c *lostClient) WriteHeader(int)           {}
func (c *lostClient) Write([]byte) (int, error) { return 0, errLost }
func (c *lostClient) FlushError() error         { return errLost }
func (c *lostClient) EnableFullDuplex() error   { return nil }
func (c *lostClient) Close() error              { return nil }

func (c *lostClient) SetReadDeadline(d time.Time) error {
	if c.returned {
		c.t.Error("a deadline was set after the handler had returned")
	}
	if d.Before(time.Now()) {
		close(c.past)
	}
	return nil
}

func (c *lostClient) SetWriteDeadline(d time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writing = d
	return nil
}

func (c *lostClient) Read(p []byte) (int, error) {
	c.mu.Lock()
	if !c.writing.After(time.Now()) {
		c.t.Error("input comes in, and yet there is no time to write")
	}
	c.mu.Unlock()
	if n, err := c.lines.Read(p); err == nil {
		return n, nil
	}
	c.reading = true
	<-c.past
	c.reading = false
	return 0, os.ErrDeadlineExceeded
}

// With HTTP/2 a touch of the response after the handler's return ends the
// process. So the reader must be through when the handler returns.
func TestTheReaderOfManyRunsDoesNotOutliveTheCall(t *testing.T) {
	c := &lostClient{t: t, header: http.Header{}, lines: strings.NewReader("{}\n{}\n"), past: make(chan struct{})}
	req := httptest.NewRequest(http.MethodPost, "/api/v1/runs", c)
	if err := ManyRuns(c, req, parseLine, func(out []byte, s lineSettings) []byte { return append(out, "{}"...) }); err != nil {
		t.Fatal(err)
	}
	c.returned = true // the race detector sees a reader that is still there
	if c.reading {
		t.Error("the handler returned while the body was being read")
	}
}

// runsInputOracle is what readJobs must make of a body, written from docs/api.md.
func runsInputOracle(body []byte) (lines [][]byte) {
	lines = bytes.Split(body, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1] // what follows the last LF is a line only where there is something
	}
	for i, line := range lines {
		lines[i] = bytes.TrimSuffix(line, []byte("\r"))
	}
	return lines
}

func FuzzRunsInput(f *testing.F) {
	for _, body := range []string{
		"", "\n", "{}", "{}\n", "{}\r\n{}", "{}\n\n{}\n", "\r", "\r\r\n", "{\"grace\":31}\n{\"grace\":3}", "{\"grace\":1,\"grace\":1}\n[]\nnull\n\"", "\x00\xff\n",
		strings.Repeat("x", lineLimit) + "\r\n{}", strings.Repeat("x", lineLimit+1) + "\n{}", strings.Repeat(" ", lineLimit) + "\r\r\n{}",
		strings.Repeat("x", lineLimit+2), strings.Repeat("x", 2*(lineLimit+2)) + "\n{}",
	} {
		f.Add([]byte(body), uint8(0))
		f.Add([]byte(body), uint8(1))
		f.Add([]byte(body), uint8(2))
	}
	f.Fuzz(func(t *testing.T, body []byte, pieces uint8) {
		var r io.Reader = bytes.NewReader(body)
		switch pieces % 4 {
		case 1:
			r = iotest.OneByteReader(r)
		case 2:
			r = iotest.DataErrReader(r)
		case 3:
			r = iotest.HalfReader(r)
		}
		lines := runsInputOracle(body)
		jobs := make(chan job[lineSettings], min(len(lines), MostLines+1)) // one more would block
		begun := 0
		readJobs(r, jobs, parseLine, func() { begun++ })
		close(jobs)
		if want := min(len(lines), MostLines+1); len(jobs) != want {
			t.Fatalf("%d jobs of %d lines", len(jobs), len(lines))
		}
		if begun < len(lines) || begun > len(lines)+1 {
			t.Fatalf("%d lines began, there are %d", begun, len(lines))
		}
		for n := 1; ; n++ {
			j, ok := <-jobs
			if !ok {
				return
			}
			line := lines[n-1]
			settings, err := parseLine(line)
			refused := err != nil || len(line) > lineLimit || n > MostLines
			if (j.refusal != nil) != refused {
				t.Fatalf("line %d, %.100q: refusal %s", n, line, j.refusal)
			}
			if !refused {
				if j.settings != settings {
					t.Fatalf("line %d, %.100q: %+v, want %+v", n, line, j.settings, settings)
				}
				continue
			}
			if bytes.ContainsAny(j.refusal, "\r\n") || len(j.refusal) > 2000 {
				t.Fatalf("line %d, %.100q: refusal %s", n, line, j.refusal)
			}
			var e ErrorBody
			if err := json.Unmarshal(j.refusal, &e); err != nil || e.Error == "" {
				t.Fatalf("line %d: not an error's JSON: %s", n, j.refusal)
			}
		}
	})
}
