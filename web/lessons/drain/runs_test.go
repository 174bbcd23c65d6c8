package drain

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"drainlab/internal/sim"
	"drainlab/web/answer"
)

// The bounds of a call with many runs, in bytes, as docs/api.md tells them.
const (
	lineLimit    = 4 << 10
	runsLimit    = 64 << 20 // of the body
	answersLimit = 64 << 20
)

// runLines is the answer to lines: a run for settings, "" for an error.
func postRuns(t *testing.T, srv *httptest.Server, body string) []string {
	t.Helper()
	return postLines(t, srv.URL+"/api/v1/runs", body)
}

func postLines(t *testing.T, address, body string) []string {
	t.Helper()
	a := ask(t, http.MethodPost, address, http.Header{"Content-Type": {"application/x-ndjson"}}, strings.NewReader(body))
	a.wantType(t, http.StatusOK, "application/x-ndjson")
	a.wantHeader(t, "Cache-Control", "no-store")
	a.wantHeader(t, "Access-Control-Allow-Origin", "*")
	if len(a.body) > 0 && !bytes.HasSuffix(a.body, []byte("\n")) {
		t.Fatalf("the last line has no end: %.200s", a.body)
	}
	return slices.Collect(strings.Lines(string(a.body)))
}

// runOf is the line that answers the settings of a query.
func runOf(t *testing.T, query string) string {
	t.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sim.ParseValues(values)
	if err != nil {
		t.Fatal(err)
	}
	return string(append(sim.Simulate(s).At(sim.Horizon).AppendJSON(nil), '\n'))
}

func TestRunsAnswerLineByLine(t *testing.T) {
	srv := startServer(t)
	padded := func(n int) string { return `{"grace":10}` + strings.Repeat(" ", n-len(`{"grace":10}`)) }
	// Of an expected line, what begins with ! is part of an error's sentence,
	// all else the query of a run.
	for _, c := range []struct {
		name, body string
		want       []string
	}{
		{"no line", "", nil},
		{"one line", "{\"grace\":10}\n", []string{"grace=10"}},
		{"three lines in order", "{\"grace\":10}\n{}\n{\"handler\":false,\"startup\":0.5}\n", []string{"grace=10", "", "handler=0&startup=0.5"}},
		{"the last line without its end", "{\"grace\":10}\n{\"grace\":20}", []string{"grace=10", "grace=20"}},
		{"CR LF", "{\"grace\":10}\r\n{\"grace\":20}\r\n", []string{"grace=10", "grace=20"}},
		{"a carriage return at the very end", "{\"grace\":10}\r", []string{"grace=10"}},
		{"a blank line in the middle", "{\"grace\":10}\n\n{\"grace\":20}\n", []string{"grace=10", "!ends too early", "grace=20"}},
		{"a blank line at the end", "{\"grace\":10}\n\n", []string{"grace=10", "!ends too early"}},
		{"bad lines among good ones", "{\"grace\":31}\n{\"grace\":10}\n{\"pods\":3}\nnonsense\n[]\n{\"grace\":1}{}\n{\"grace\":1,\"grace\":1}\n{\"grace\":\n{\"grace\":20}\n",
			[]string{"!from 0 to 30 s", "grace=10", "!no setting of this name", "!not JSON", "!not a JSON object", "!more than one JSON value", "!a second time", "!ends too early", "grace=20"}},
		{"wrong types", "{\"grace\":\"10\"}\n{\"grace\":null}\n{\"handler\":1}\n{\"workers\":[1]}\n{\"grace\":1e1}\n",
			[]string{`!the text \"10\"`, "!null", "!true or false", "!an object or a list", "!1e1"}},
		{"a line of the limit", padded(lineLimit) + "\n" + padded(lineLimit) + "\r\n" + padded(lineLimit), []string{"grace=10", "grace=10", "grace=10"}},
		{"a line over the limit", padded(lineLimit+1) + "\n{\"grace\":20}\n", []string{"!line 1: got a line of more than 4096 bytes", "grace=20"}},
		{"a line over the limit, CR LF", padded(lineLimit+1) + "\r\n{\"grace\":20}\n", []string{"!line 1: got a line of more than 4096 bytes", "grace=20"}},
		{"a line far over the limit", "{}\n" + strings.Repeat("x", 100*lineLimit) + "\n{\"grace\":20}\n", []string{"", "!line 2: got a line of more", "grace=20"}},
		{"the last line over the limit", "{}\n" + strings.Repeat("x", 2*(lineLimit+2)), []string{"", "!line 2: got a line of more"}},
		{"a null byte and no UTF-8", "\x00\n{\"\xff\":1}\n{}\n", []string{"!not JSON", "!no setting of this name", ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := postRuns(t, srv, c.body)
			if len(got) != len(c.want) {
				t.Fatalf("%d lines, want %d: %.300q", len(got), len(c.want), got)
			}
			for i, want := range c.want {
				if sentence, isError := strings.CutPrefix(want, "!"); isError {
					if e := readErrorLine(t, []byte(got[i])); !strings.Contains(e.Error, sentence) || strings.Contains(got[i], `"model"`) {
						t.Errorf("line %d: %s, want %q", i+1, got[i], sentence)
					}
				} else if got[i] != runOf(t, want) {
					t.Errorf("line %d: %.300s, want the run of %q", i+1, got[i], want)
				}
			}
		})
	}
}

func TestRunsNameTheSettingToBlameAndCutWhatCame(t *testing.T) {
	srv := startServer(t)
	long := strings.Repeat("x", 4000)
	got := postRuns(t, srv, `{"grace":31}`+"\n"+`{"`+long+`":1}`+"\n"+`{"grace":"`+long+`"}`+"\n")
	for i, want := range []errorAnswer{
		{Setting: new("grace"), Got: new("31"), Allowed: new("from 0 to 30 s")},
		{Setting: new(long[:80] + "…"), Got: new("1"), Allowed: new("no setting of this name")},
		{Setting: new("grace"), Got: new(`the text "` + long[:70] + "…"), Allowed: new("from 0 to 30 s")},
	} {
		e := readErrorLine(t, []byte(got[i]))
		if text(e.Setting) != *want.Setting || text(e.Got) != *want.Got || !strings.Contains(text(e.Allowed), *want.Allowed) {
			t.Errorf("line %d: %s", i+1, got[i])
		}
		if len(got[i]) > 1000 {
			t.Errorf("line %d: the answer has %d bytes", i+1, len(got[i]))
		}
	}
}

// The client reads each answer before it sends the next line, with the body
// open: no answer may wait for more input.
func TestRunsStreamWhileTheBodyIsOpen(t *testing.T) {
	srv := startServer(t)
	for _, c := range []struct {
		name  string
		allow func(*http.Protocols)
	}{
		{"HTTP/1.1", func(p *http.Protocols) { p.SetHTTP1(true) }},
		{"HTTP/2.0", func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			transport := &http.Transport{Protocols: new(http.Protocols)}
			c.allow(transport.Protocols)
			defer transport.CloseIdleConnections()
			body, send := io.Pipe()
			defer send.Close()
			go io.WriteString(send, "{\"grace\":1}\n")
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+"/api/v1/runs", body)
			if err != nil {
				t.Fatal(err)
			}
			res, err := transport.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if res.Proto != c.name {
				t.Fatalf("the answer came by %s", res.Proto)
			}
			lines := bufio.NewReader(res.Body)
			for grace := 1; grace <= 20; grace++ {
				got, err := lines.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				if want := runOf(t, fmt.Sprintf("grace=%d", grace)); got != want {
					t.Fatalf("answer %d: %.300s", grace, got)
				}
				if grace < 20 {
					if _, err := fmt.Fprintf(send, "{\"grace\":%d}\n", grace+1); err != nil {
						t.Fatal(err)
					}
				}
			}
			send.Close()
			if rest, err := io.ReadAll(lines); len(rest) > 0 || err != nil {
				t.Errorf("after the last answer: %q, %v", rest, err)
			}
		})
	}
}

func dial(t *testing.T, srv *httptest.Server) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	// A hang ends the test with an error and not with the whole binary.
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return conn.(*net.TCPConn)
}

// pattern reads as unit over and over, n bytes in all.
type pattern struct {
	units string // many, so that one copy fills a buffer
	one   int    // the length of one
	n, at int
	seen  func() // called at each read
}

func newPattern(unit string, n int, seen func()) *pattern {
	return &pattern{strings.Repeat(unit, 1+pieceSize/len(unit)), len(unit), n, 0, seen}
}

func (p *pattern) Read(b []byte) (int, error) {
	if p.n == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), p.n)], p.units[p.at:])
	p.n -= n
	p.at = (p.at + n) % p.one
	if p.seen != nil {
		p.seen()
	}
	return n, nil
}

// pieceSize is that of a write to the connection.
const pieceSize = 256 << 10

// sendRuns writes the call's head and body to the connection.
func sendRuns(conn io.Writer, length int, body ...io.Reader) error {
	return sendLines(conn, "/api/v1/runs", length, body...)
}

func sendLines(conn io.Writer, path string, length int, body ...io.Reader) error {
	w := bufio.NewWriterSize(conn, pieceSize)
	fmt.Fprintf(w, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", path, length)
	// Without ReadFrom, which takes small pieces.
	if _, err := io.CopyBuffer(struct{ io.Writer }{w}, io.MultiReader(body...), make([]byte, pieceSize)); err != nil {
		return err
	}
	return w.Flush()
}

// The client sends all it has, lines beyond the last one too, and only then
// begins to read; the answers are more than the sockets hold.
// The client sends all it has, lines beyond the last one too, and only then
// begins to read; the answers are more than the sockets hold.
func TestRunsTakeTenThousandLinesFromAClientThatReadsLast(t *testing.T) {
	srv := startServer(t)
	conn := dial(t, srv)
	if err := conn.SetReadBuffer(256 << 10); err != nil {
		t.Fatal(err)
	}
	settings := make([]sim.Settings, answer.MostLines)
	var body bytes.Buffer
	for i := range settings {
		s := sim.Opening()
		s.Interval, s.Signal, s.Grace = 100, sim.Time(i%600), sim.Time(i/600)
		settings[i] = s
		fmt.Fprintf(&body, "{\"interval\":10,\"signal\":%v,\"grace\":%v}\n", s.Signal, s.Grace)
	}
	// More than the sockets hold: the server must read on while it cannot write.
	const surplus = 44 << 20
	if err := sendRuns(conn, body.Len()+surplus, &body, newPattern("{}"+strings.Repeat(" ", 1000)+"\n", surplus, nil)); err != nil {
		t.Fatalf("the server stopped reading: %v", err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(res.Body)
	size := 0
	for i, s := range settings {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			t.Fatalf("answer %d is too long for this test", i+1)
		}
		if err != nil {
			t.Fatalf("answer %d: %v", i+1, err)
		}
		size += len(line)
		want := append([]byte(`{"model":1,"settings":`), s.AppendJSON(nil)...)
		if !bytes.HasPrefix(line, append(want, `,"account":{"arrivals":4,`...)) {
			t.Fatalf("answer %d: %.300s", i+1, line)
		}
	}
	if size < 8<<20 {
		t.Errorf("the answers have %d bytes, which the sockets may hold", size)
	}
	line, err := lines.ReadSlice('\n')
	if err != nil {
		t.Fatal(err)
	}
	if e := readErrorLine(t, line); !strings.HasPrefix(e.Error, "line 10001: ") || !strings.Contains(e.Error, "10000") {
		t.Errorf("line 10,001 is answered by %s", line)
	}
	if rest, err := io.ReadAll(lines); err != nil || len(rest) > 0 {
		t.Errorf("after line 10,001: %v, %.200q", err, rest)
	}
}

// Whatever a body of many megabytes holds, the server keeps little of it.
func TestRunsKeepMemoryFlat(t *testing.T) {
	const size = 52 << 20
	overlong := strings.Repeat("x", 1<<20-1) + "\n"
	longName := `{"` + strings.Repeat("n", lineLimit-10) + `":1}` + "\n"
	const longNames = 4000
	for _, c := range []struct {
		name   string
		length int
		body   func(seen func()) []io.Reader
		// most is how much the heap may grow by.
		most uint64
		// want is how many lines answer, the last of them with this sentence.
		want     int
		sentence string
	}{
		{"over-long lines", size, func(seen func()) []io.Reader {
			return []io.Reader{newPattern(overlong, size, seen)}
		}, 40 << 20, size >> 20, "more than 4096 bytes"},
		{"surplus lines", size, func(seen func()) []io.Reader {
			const first = 2 * (answer.MostLines + 1)
			return []io.Reader{newPattern("x\n", first, nil), newPattern(`{"grace":10}`+strings.Repeat(" ", 1000)+"\n", size-first, seen)}
		}, 40 << 20, answer.MostLines + 1, "more lines than one call takes"},
		{"refused lines of the full length", longNames * len(longName), func(seen func()) []io.Reader {
			return []io.Reader{newPattern(longName, longNames*len(longName), seen)}
		}, 12 << 20, longNames, "no setting of this name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := startServer(t)
			conn := dial(t, srv)
			var m runtime.MemStats
			defer debug.SetGCPercent(debug.SetGCPercent(10)) // what is kept, and little else
			runtime.GC()
			runtime.ReadMemStats(&m)
			before, peak := m.HeapAlloc, m.HeapAlloc
			pieces := 0
			seen := func() {
				if pieces++; pieces%4 == 0 {
					runtime.ReadMemStats(&m)
					peak = max(peak, m.HeapAlloc)
				}
			}
			// Nothing is read until all is sent, so that the answers pile up too.
			if err := sendRuns(conn, c.length, c.body(seen)...); err != nil {
				t.Fatal(err)
			}
			seen()
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			lines, last := 0, []byte(nil)
			scanner := bufio.NewScanner(res.Body)
			for scanner.Scan() {
				lines++
				last = append(last[:0], scanner.Bytes()...)
			}
			if err := scanner.Err(); err != nil {
				t.Fatal(err)
			}
			if e := readErrorLine(t, last); lines != c.want || !strings.Contains(e.Error, c.sentence) {
				t.Errorf("%d lines, want %d; the last is %s", lines, c.want, last)
			}
			growth := peak - before
			t.Logf("%d MB sent, the heap grew by %d MB, looked at %d times", c.length>>20, growth>>20, pieces/4)
			if growth > c.most {
				t.Errorf("the heap grew by %d MB, more than %d", growth>>20, c.most>>20)
			}
		})
	}
}

func TestRunsEndCleanlyWhereTheBodyIsTooLarge(t *testing.T) {
	for path, opening := range map[string]string{"/api/v1/runs": runOf(t, "")} {
		t.Run(path, func(t *testing.T) {
			srv := startServer(t)
			const size = runsLimit + 1<<20
			conn := dial(t, srv)
			sent := make(chan error, 1)
			go func() { sent <- sendLines(conn, path, size, strings.NewReader("{}\n"), newPattern("x", size-3, nil)) }()
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatalf("the answer breaks off: %v", err)
			}
			lines := slices.Collect(strings.Lines(string(body)))
			if res.StatusCode != http.StatusOK || len(lines) != 2 || lines[0] != opening {
				t.Fatalf("status %d, %d lines: %.300s", res.StatusCode, len(lines), body)
			}
			if e := readErrorLine(t, []byte(lines[1])); !strings.HasPrefix(e.Error, "line 2: ") || !strings.Contains(e.Error, strconv.Itoa(runsLimit)) {
				t.Errorf("the end of the answer: %s", lines[1])
			}
			conn.Close()
			<-sent // with or without an error
			if got := postLines(t, srv.URL+path, "{}"); len(got) != 1 || got[0] != opening {
				t.Errorf("the next call is answered by %.300q", got)
			}
		})
	}
}

// What few bytes ask for has a bound: the line that would pass it is answered
// by an error that names it, and so are all after it.
func TestRunsHaveABoundOfBytesForTheirAnswers(t *testing.T) {
	for name, c := range map[string]struct{ path, line string }{
		"lesson 1": {"/api/v1/runs", `{"interval":0.5,"workers":4,"slots":8,"duration":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			srv := startServer(t)
			const lines = 2000
			body := strings.Repeat(c.line+"\n", lines) + "{}\nnonsense\n"
			res, err := http.Post(srv.URL+c.path, "application/x-ndjson", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			all := bufio.NewReaderSize(res.Body, 4<<20)
			runs, errs, size := 0, 0, 0
			for {
				line, err := all.ReadSlice('\n')
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if bytes.HasPrefix(line, []byte(`{"model":`)) {
					runs++
					size += len(line)
					continue
				}
				errs++
				if e := readErrorLine(t, line); !strings.HasPrefix(e.Error, fmt.Sprintf("line %d: ", runs+errs)) || !strings.Contains(e.Error, fmt.Sprintf("allowed: %d in one call", answersLimit)) {
					t.Fatalf("line %d is answered by %s", runs+errs, line)
				}
			}
			if one := size / runs; runs+errs != lines+2 || size > answersLimit || size+one <= answersLimit {
				t.Errorf("%d runs of %d bytes, %d errors", runs, size, errs)
			}
			if sent := postLines(t, srv.URL+c.path, c.line); len(sent) != 1 || !strings.HasPrefix(sent[0], `{"model":`) {
				t.Errorf("the next call is answered by %.300q", sent)
			}
		})
	}
}

// What one address answers is bounded by the ranges of its settings alone. So
// the bounds that docs/api.md tells must hold at their ends.
func TestNoAnswerIsLargerThanTheDocsSay(t *testing.T) {
	srv := startServer(t)
	r := seeded(t)
	var fleets []string
	for range 40 {
		fleet := randomSettings(r)
		fleet.Interval, fleet.Workers, fleet.Slots = 5, 4, 8
		fleets = append(fleets, string(fleet.AppendQuery(nil)))
	}
	for _, c := range []struct {
		path        string
		queries     []string
		least, most int // of the largest answer
	}{
		{"/api/v1/run?", fleets, 20_000, 64_000},
		{"/api/v1/run?format=csv&", fleets, 1000, 4000},
	} {
		largest := 0
		for _, query := range c.queries {
			a := get(t, srv.URL+c.path+query)
			if a.StatusCode != http.StatusOK {
				t.Fatalf("%s%s: status %d", c.path, query, a.StatusCode)
			}
			largest = max(largest, len(a.body))
		}
		if largest < c.least || largest > c.most {
			t.Errorf("%s: the largest answer has %d bytes, want %d to %d", c.path, largest, c.least, c.most)
		}
	}
}
