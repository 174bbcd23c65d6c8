package web

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"drainlab/internal/natsstore"
	"drainlab/internal/session"
	"drainlab/internal/sim"
)

var update = flag.Bool("update", false, "write the golden files anew")

// course is the course's handler on a real embedded store.
type course struct {
	t      *testing.T
	server *Server
	store  *natsstore.Store
	url    string
	client *http.Client
	log    *logBuffer
}

type logBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func startCourse(t testing.TB) *course {
	t.Helper()
	store, err := natsstore.Open(t.Context(), natsstore.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	log := &logBuffer{}
	server, err := New(store, store, nil, Site{}, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(server)
	t.Cleanup(func() {
		server.Drain()
		ts.Close()
	})
	client := &http.Client{
		Transport:     &http.Transport{DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(client.CloseIdleConnections)
	c := &course{server: server, store: store, url: ts.URL, client: client, log: log}
	c.t, _ = t.(*testing.T)
	return c
}

func (c *course) do(method, path string, body io.Reader, headers ...string) (*http.Response, string) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, body)
	if err != nil {
		c.t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.client.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp, string(data)
}

func (c *course) get(path string, headers ...string) (*http.Response, string) {
	c.t.Helper()
	return c.do(http.MethodGet, path, nil, headers...)
}

func (c *course) newSession(query string) session.ID {
	c.t.Helper()
	resp, _ := c.do(http.MethodPost, "/sessions", strings.NewReader(url.Values{"view": {query}}.Encode()))
	id, err := session.ParseID(strings.TrimPrefix(resp.Header.Get("Location"), "/sessions/"))
	if resp.StatusCode != http.StatusSeeOther || err != nil {
		c.t.Fatalf("creating a session: %s, %v", resp.Status, err)
	}
	return id
}

func (c *course) state(id session.ID) session.State {
	c.t.Helper()
	rec, err := c.store.Get(c.t.Context(), id)
	if err != nil {
		c.t.Fatal(err)
	}
	return rec.State
}

// sentEvent is one server-sent event.
type sentEvent struct{ kind, data string }

// readEvents reads events as the HTML standard has a browser do it.
func readEvents(r io.Reader) <-chan sentEvent {
	events := make(chan sentEvent)
	go func() {
		defer close(events)
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, 4<<20)
		lines.Split(splitLines)
		var ev sentEvent
		var data []string
		for lines.Scan() {
			line := lines.Text()
			name, value, _ := strings.Cut(line, ":")
			value = strings.TrimPrefix(value, " ")
			switch {
			case line == "":
				if len(data) > 0 {
					ev.data = strings.Join(data, "\n")
					events <- ev
				}
				ev, data = sentEvent{}, nil
			case name == "event":
				ev.kind = value
			case name == "data":
				data = append(data, value)
			}
		}
	}()
	return events
}

// splitLines ends lines at CR LF, LF or CR, as server-sent events do.
func splitLines(data []byte, atEOF bool) (int, []byte, error) {
	i := bytes.IndexAny(data, "\r\n")
	if i < 0 || data[i] == '\r' && i+1 == len(data) && !atEOF {
		if atEOF && len(data) > 0 {
			return len(data), data, nil
		}
		return 0, nil, nil
	}
	if data[i] == '\r' && i+1 < len(data) && data[i+1] == '\n' {
		return i + 2, data[:i], nil
	}
	return i + 1, data[:i], nil
}

// openStream connects a viewer.
func (c *course) openStream(path string, headers ...string) (*http.Response, context.CancelFunc) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.client.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(cancel)
	return resp, cancel
}

// until reads events up to the end of the first frame that want says yes to.
func until(t *testing.T, events <-chan sentEvent, want func(clock) bool) []sentEvent {
	t.Helper()
	var all []sentEvent
	for ev := range events {
		all = append(all, ev)
		signals, ok := strings.CutPrefix(ev.data, "signals ")
		if !ok {
			continue
		}
		var now clock
		if err := json.Unmarshal([]byte(signals), &now); err != nil {
			t.Fatalf("signals %q: %v", signals, err)
		}
		if now.Query != "" && want(now) {
			return all
		}
	}
	t.Fatal("the stream ended")
	return nil
}

func TestPiecesMakeOneValidGzipStream(t *testing.T) {
	c := startCourse(t)
	id := c.newSession("grace=20&t=5")
	plainResp, _ := c.openStream("/sessions/" + string(id) + "/stream")
	zippedResp, _ := c.openStream("/sessions/"+string(id)+"/stream", "Accept-Encoding", "gzip")
	if plainResp.Header.Get("Content-Encoding") != "" || zippedResp.Header.Get("Content-Encoding") != "gzip" {
		t.Fatal("the encodings are wrong")
	}
	var raw bytes.Buffer
	unzipped, err := gzip.NewReader(io.TeeReader(zippedResp.Body, &raw))
	if err != nil {
		t.Fatal(err)
	}
	plain, zipped := readEvents(plainResp.Body), readEvents(unzipped)
	// Each event comes out as soon as it has come in, without an end of the stream.
	until(t, zipped, func(k clock) bool { return k.T == 5 })
	until(t, plain, func(k clock) bool { return k.T == 5 })
	for i := range 20 {
		c.do(http.MethodPost, "/sessions/"+string(id), strings.NewReader(fmt.Sprintf("command=set&grace=%d", i)), clientHeader, "true")
	}
	want := string(c.state(id).Settings.AppendQuery(nil))
	fromZip := until(t, zipped, func(k clock) bool { return k.Query == want })
	fromPlain := until(t, plain, func(k clock) bool { return k.Query == want })
	last := func(events []sentEvent, fragment string) string {
		for i := len(events) - 1; i >= 0; i-- {
			if strings.Contains(events[i].data, `id="`+fragment+`"`) {
				return events[i].data
			}
		}
		return ""
	}
	if a, b := last(fromZip, "controls"), last(fromPlain, "controls"); a != b || !strings.Contains(a, `value="19"`) {
		t.Errorf("the viewers got different fragments:\n%.200s\n%.200s", a, b)
	}
	// At the drain the stream ends as gzip wants it, after a last event.
	c.server.Drain()
	var end []sentEvent
	for ev := range zipped {
		end = append(end, ev)
	}
	if len(end) == 0 || !strings.Contains(end[len(end)-1].data, `"reconnect":true`) {
		t.Errorf("the last events are %v", end)
	}
	gunzip := exec.Command("gzip", "-dc")
	gunzip.Stdin = &raw
	out, err := gunzip.Output()
	if err != nil || !bytes.Contains(out, []byte(`"reconnect":true`)) {
		t.Errorf("gzip -dc: %v, %d bytes", err, len(out))
	}
}

func TestALateViewerGetsTheWholePictureAtOnce(t *testing.T) {
	c := startCourse(t)
	id := c.newSession("t=60")
	for range 2 {
		resp, _ := c.openStream("/sessions/" + string(id) + "/stream")
		events := until(t, readEvents(resp.Body), func(k clock) bool { return k.T == 60 })
		for _, fragment := range []string{"lanes", "transport", "gate", "account", "controls", "experiments", "inspector", "results", "trace"} {
			if !strings.Contains(fmt.Sprint(events), `elements <div id="`+fragment+`"`) {
				t.Errorf("the first frame lacks %s", fragment)
			}
		}
	}
}

func TestALostSessionIsMadeAgainUnderItsIDFromTheViewersView(t *testing.T) {
	c := startCourse(t)
	id := session.NewID()
	resp, body := c.get("/sessions/" + string(id) + "/stream")
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("without a view: %s %s", resp.Status, body)
	}
	stream, _ := c.openStream("/sessions/" + string(id) + "/stream?grace=7.5&t=12&speed=2&playing=1")
	until(t, readEvents(stream.Body), func(k clock) bool { return k.T >= 12 && k.Playing })
	if s := c.state(id); s.Settings.Grace != 75 || s.Clock.Speed != session.Double {
		t.Errorf("made again as %+v", s)
	}
}

func TestBadFormsGetAnErrorAndNeverChangeTheSession(t *testing.T) {
	c := startCourse(t)
	id := c.newSession("grace=3&t=4")
	before := c.state(id)
	path := "/sessions/" + string(id)
	long := strings.Repeat("x", 60<<10)
	cases := []struct {
		name, body string
		status     int
		says       string
	}{
		{"an empty form", "", 400, `"command": got "nothing"`},
		{"an unknown command", "command=fly", 400, `"command": got "fly"`},
		{"a command twice", "command=play&command=pause", 400, `"command"`},
		{"a setting out of range", "command=set&grace=31", 400, `Grace period: got "31"; allowed: a plain decimal number from 0 to 30 s`},
		{"a setting finer than a tenth", "command=set&grace=1.05", 400, `Grace period: got "1.05"`},
		{"an exponent", "command=set&grace=1e1", 400, `Grace period: got "1e1"`},
		{"an unknown setting", "command=set&gracee=1", 400, `"gracee": got "1"; allowed: no setting of this name`},
		{"a setting twice", "command=set&grace=1&grace=2", 400, `Grace period`},
		{"one good and one bad setting", "command=set&signal=10&grace=31", 400, `Grace period`},
		{"a whole form that lacks nothing but is wrong", "command=apply&workers=9&slots=4&startup=4&interval=2&duration=20&signal=30&grace=0&allowance=20", 400, `Initial workers: got "9"; allowed: a whole number from 1 to 4`},
		{"a whole form that lacks a slider", "command=apply&workers=2", 400, `Invocation slots per worker: got "nothing"`},
		{"play with something beside it", "command=play&x=1", 400, `"x"`},
		{"a time past the end", "t=60.1", 400, `"t": got "60.1"`},
		{"an unknown speed", "speed=3", 400, `"speed": got "3"; allowed: 0.5, 1, 2, 4 or 8`},
		{"an unknown step", "experiment=none", 400, `"experiment"`},
		{"open without a query", "command=open", 400, `"query"`},
		{"open with a hostile query", "command=open&query=" + url.QueryEscape("grace=<script>&t=\r\n"), 400, ""},
		{"a bad escape", "command=%zz", 400, "cannot be read"},
		{"a semicolon", "command=set;grace=1", 400, "cannot be read"},
		{"carriage returns and markup", "command=set&grace=" + url.QueryEscape("\r\n\r\ndata: x<b>\"'"), 400, `\r\n\r\ndata: x<b>`},
		{"60 kB of nonsense", "command=" + long, 400, "(61440 bytes)"},
		{"more than 64 kB", "command=" + long + long, 413, "65536 bytes"},
		{"1 MB of bytes", strings.Repeat("\x00\xff", 512<<10), 413, ""},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			resp, body := c.do(http.MethodPost, path, strings.NewReader(tc.body), clientHeader, "true")
			if resp.StatusCode != tc.status || !strings.Contains(body, tc.says) {
				t.Errorf("got %s %.300s, want %d … %s", resp.Status, body, tc.status, tc.says)
			}
			if len(body) > 2000 {
				t.Errorf("the answer has %d bytes", len(body))
			}
			resp, body = c.do(http.MethodPost, path, strings.NewReader(tc.body), "Accept", "text/html")
			if resp.StatusCode != tc.status || !strings.Contains(resp.Header.Get("Content-Type"), "text/html") || strings.Contains(body, "<b>\"") || strings.Contains(body, "<script>&") {
				t.Errorf("as a page: %s %.300s", resp.Status, body)
			}
			resp, body = c.do(http.MethodPost, path, strings.NewReader(tc.body), "Accept", "application/json")
			if resp.StatusCode != tc.status || !json.Valid([]byte(body)) {
				t.Errorf("as JSON: %s %.300s", resp.Status, body)
			}
			// The page's own form, without script, gets the same answer.
			form := "view=grace%3D3&" + tc.body
			if resp, body := c.do(http.MethodPost, "/lessons/drain", strings.NewReader(form)); resp.StatusCode != tc.status {
				t.Errorf("without script: %s %.300s", resp.Status, body)
			}
		})
	}
	if after := c.state(id); after != before {
		t.Errorf("the session has changed: %+v, before %+v", after, before)
	}
}

func TestWhatIsNotThereAndWhatIsNotAllowed(t *testing.T) {
	c := startCourse(t)
	unknown := string(session.NewID())
	for _, tc := range []struct {
		method, path string
		status       int
		says         string
	}{
		{"GET", "/sessions/" + unknown, 404, "Start a fresh session"},
		{"GET", "/sessions/" + strings.ToUpper(unknown), 404, "Start a fresh session"},
		{"GET", "/sessions/short", 404, "Start a fresh session"},
		{"GET", "/sessions/%0d%0a%3Cscript%3E", 404, "Start a fresh session"},
		{"POST", "/sessions/" + unknown, 400, "command"},
		{"GET", "/nowhere", 404, "no such page"},
		{"GET", "/static/none.js", 404, "no such file"},
		{"DELETE", "/lessons/drain", 405, "does not take &#34;DELETE&#34;"},
		{"PUT", "/sessions", 405, "does not take &#34;PUT&#34;"},
		{"GET", "/sessions", 405, "does not take &#34;GET&#34;"},
		{"HEAD", "/lessons/drain/stream", 405, ""},
		{"GET", "/lessons/drain?grace=31", 400, "from 0 to 30 s"},
		{"GET", "/lessons/drain?t=61", 400, "from 0 to 60 s"},
		{"GET", "/lessons/drain?worker=2", 400, "from 1 to 1"},
		{"GET", "/lessons/drain?model=2", 400, "model"},
		{"GET", "/lessons/drain?x=%zz", 400, "cannot be read"},
		{"GET", "/lessons/drain?grace=1;t=3", 400, "cannot be read"},
		{"GET", "/lessons/drain/stream?grace=31", 400, "from 0 to 30 s"},
		{"GET", "/lessons/drain/stream?playing=2", 400, "playing"},
		{"POST", "/lessons/drain", 400, "view"},
	} {
		resp, body := c.do(tc.method, tc.path, nil, "Accept", "text/html")
		if resp.StatusCode != tc.status || !strings.Contains(body, tc.says) {
			t.Errorf("%s %s: got %s %.300s, want %d … %s", tc.method, tc.path, resp.Status, body, tc.status, tc.says)
		}
	}
	resp, _ := c.do("POST", "/sessions/"+unknown, strings.NewReader("command=play"))
	if resp.StatusCode != 404 {
		t.Errorf("a command to no session: %s", resp.Status)
	}
}

func TestEveryAnswerIsGuarded(t *testing.T) {
	c := startCourse(t)
	id := c.newSession("")
	for _, path := range []string{"/", "/lessons/drain", "/sessions/" + string(id), "/nowhere", "/lessons/drain?grace=x", "/api/v1/run", "/livez"} {
		resp, body := c.get(path)
		h := resp.Header
		if got := h.Get("Content-Security-Policy"); !strings.HasPrefix(got, "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:;") ||
			!strings.Contains(got, "frame-ancestors 'none'") {
			t.Errorf("%s: policy %q", path, got)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") == "" || h.Get("Set-Cookie") != "" {
			t.Errorf("%s: headers %v", path, h)
		}
		if strings.Contains(resp.Header.Get("Content-Type"), "html") {
			for _, inline := range []string{" style=", "<style", " onclick=", "<script>", "javascript:"} {
				if strings.Contains(body, inline) {
					t.Errorf("%s: the page has %q", path, inline)
				}
			}
			// Only links that a person follows lead elsewhere.
			loads := regexp.MustCompile(`<a href="https://[^"]*" rel="external noreferrer">`).ReplaceAllString(body, "")
			for _, m := range regexp.MustCompile(`(?:src|href|action)="([^"#]*)"`).FindAllStringSubmatch(loads, -1) {
				if m[1] != "" && !strings.HasPrefix(m[1], "/") && !strings.HasPrefix(m[1], c.url+"/") { // its own host in full, as oEmbed wants it
					t.Errorf("%s: the page refers to %q", path, m[1])
				}
			}
		}
	}
	if log := c.log.String(); strings.Contains(log, string(id)) || strings.Contains(log, "grace") {
		t.Errorf("the log holds ids or settings:\n%s", log)
	}
}

func TestProbes(t *testing.T) {
	c := startCourse(t)
	for path, want := range map[string]int{"/livez": 200, "/readyz": 200} {
		if resp, _ := c.get(path); resp.StatusCode != want {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
	c.server.Drain()
	for path, want := range map[string]int{"/livez": 200, "/readyz": 503, "/lessons/drain/stream": 503} {
		if resp, _ := c.get(path); resp.StatusCode != want {
			t.Errorf("%s while draining: %s", path, resp.Status)
		}
	}
}

// The first load of the lesson: page, style, scripts, as they cross the wire.
func TestTheFirstLoadIsSmall(t *testing.T) {
	c := startCourse(t)
	if c.server.assets.urls["client.js"] == "" {
		t.Fatal("the client is not built: make generate")
	}
	resp, page := c.get("/lessons/drain?t=60", "Accept-Encoding", "gzip")
	if resp.Header.Get("Content-Encoding") != "gzip" {
		t.Fatal("the page is not compressed")
	}
	total := len(page)
	plain, _ := gzip.NewReader(strings.NewReader(page))
	html, err := io.ReadAll(plain)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?:src|href)="(/static/[^"]+)"`).FindAllStringSubmatch(string(html), -1) {
		resp, body := c.get(m[1], "Accept-Encoding", "gzip")
		if resp.StatusCode != 200 || !strings.Contains(resp.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %s %v", m[1], resp.Status, resp.Header)
		}
		total += len(body)
	}
	t.Logf("%d bytes", total)
	if total > 45_000 {
		t.Errorf("the first load has %d bytes, allowed: 45,000", total)
	}
	// The picture is in the page itself.
	if !bytes.Contains(html, []byte("killed 30 s")) || !bytes.Contains(html, []byte(`<dd id="count-killed">4</dd>`)) {
		t.Error("the page without script lacks the run")
	}
}

// Every figure in the lesson's prose comes from a run; here stand the right ones.
func TestTheProseQuotesTheRuns(t *testing.T) {
	c := startCourse(t)
	_, page := c.get("/lessons/drain")
	text := regexp.MustCompile(`[\s\x{a0}]+`).ReplaceAllString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page[strings.Index(page, "<main"):], ""), " ")
	for _, want := range []string{
		"In the opening run a worker boots for 4 s, then takes requests into its 4 slots. A request comes every 2 s from 1 s to 39 s.",
		"it holds a slot for 20 s and, when it completes, commits its result. At 30 s worker 1 gets SIGTERM",
		"of 20 that arrive only 7 get in. At 30 s comes SIGTERM",
		"3 invocations have committed, and requests 6, 13, 14 and 15 die unfinished",
		"Here a grace of 21 s would save it",
		"Request 6 commits at 31 s, and 3 still die at 40 s",
		"Give it 20 s and all 7 commit; the worker leaves by itself at 49 s",
		"it takes request 16 at 31 s, after it was told to stop, and that one is killed at 50 s. 8 admitted, 7 completed",
		"the new worker is ready 4 s after the signal and admits requests 18, 19 and 20: 10 complete",
		"with 4 killed and 65 % rejected",
		"complete 16 of 20 and reject 20 %: PASS",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the prose lacks %q", want)
		}
	}
}

func TestFragmentsLookAsTheyDid(t *testing.T) {
	d := newRenderer()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name, query string
		playing     bool
	}{
		{"opening-30", "t=30", false},
		{"replacement-47-playing", "grace=20&replacement=1&t=47", true},
		{"handler-off-any-worker-60", "handler=0&ready_only=0&fail_init=1&workers=2&grace=5&t=60", false},
	} {
		query, err := url.ParseQuery(tc.query)
		if err != nil {
			t.Fatal(err)
		}
		v, err := parseView(query)
		if err != nil {
			t.Fatal(err)
		}
		v.Playing = tc.playing
		state := session.New(v.View, start)
		pieces, err := d.Render(state.FrameAt(sim.Simulate(state.Settings), start))
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		for _, p := range pieces {
			got.Write(p.Plain)
		}
		file := filepath.Join("testdata", tc.name+".events")
		if *update {
			if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s differs from %s; -update writes it anew", tc.name, file)
		}
	}
}

// Whatever stands in a fragment, it is one event and comes out as it went in,
// but for carriage returns, which HTML reads from their escape.
func FuzzStreamInput(f *testing.F) {
	for _, seed := range []string{"<p>a</p>", "a\rb", "a\r\n\r\nevent: x", "\n\ndata: selector #x", "", " ", "\u2028", "<pre>\n\n</pre>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, html string) {
		data, err := patchElements(html)
		if err != nil {
			t.Fatal(err)
		}
		var events []sentEvent
		for ev := range readEvents(bytes.NewReader(data)) {
			events = append(events, ev)
		}
		if html == "" {
			return
		}
		if len(events) != 1 || events[0].kind != "datastar-patch-elements" {
			t.Fatalf("%q became %d events: %q", html, len(events), data)
		}
		var lines []string
		for line := range strings.SplitSeq(events[0].data, "\n") {
			rest, ok := strings.CutPrefix(line, "elements ")
			if !ok {
				t.Fatalf("%q became %q", html, data)
			}
			lines = append(lines, rest)
		}
		if got, want := strings.Join(lines, "\n"), strings.ReplaceAll(html, "\r", "&#13;"); got != want {
			t.Fatalf("%q came out as %q", want, got)
		}
	})
}

// BenchmarkFrame is what one frame of a busy run costs for all viewers of a
// session together.
func BenchmarkFrame(b *testing.B) {
	d := newRenderer()
	s := sim.Opening()
	s.Workers, s.Interval, s.Duration, s.Replacement = 4, 10, 80, true
	state := session.New(session.View{Settings: s, T: 450, Speed: session.Single}, time.Now())
	run := sim.Simulate(s)
	var size, packed int
	for b.Loop() {
		pieces, err := d.Render(state.FrameAt(run, time.Now()))
		if err != nil {
			b.Fatal(err)
		}
		size, packed = 0, 0
		for i := range pieces {
			d.Pack(&pieces[i])
			size += len(pieces[i].Plain)
			packed += len(pieces[i].Packed)
		}
	}
	b.ReportMetric(float64(size), "B/frame")
	b.ReportMetric(float64(packed), "B/frame_packed")
}

func TestAnswersAreCompressedForThoseWhoTakeIt(t *testing.T) {
	c := startCourse(t)
	for _, path := range []string{"/", "/lessons/drain", "/api/v1/run", "/api/v1/openapi.json", c.server.assets.urls["style.css"]} {
		for accept, want := range map[string]string{"": "", "identity": "", "gzip": "gzip", "br, gzip;q=0.5": "gzip", "gzip;q=0": "", "xgzip": ""} {
			headers := []string{}
			if accept != "" {
				headers = append(headers, "Accept-Encoding", accept)
			}
			resp, _ := c.get(path, headers...)
			if got := resp.Header.Get("Content-Encoding"); got != want || !strings.Contains(strings.Join(resp.Header.Values("Vary"), ","), "Accept-Encoding") {
				t.Errorf("%s for %q: encoding %q, vary %q", path, accept, got, resp.Header.Values("Vary"))
			}
		}
	}
}

// After a body that broke off, what follows is not read as a request.
func TestABrokenBodyEndsTheConnection(t *testing.T) {
	c := startCourse(t)
	for _, chunk := range []string{"zz", "-1", "fffffffffffffffff", "3\r\n{}\nX"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(c.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST /api/v1/runs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n%s\r\nGET /livez HTTP/1.1\r\nHost: x\r\n\r\n", chunk)
		answer, err := io.ReadAll(conn)
		conn.Close()
		if err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Fatal(err)
		}
		if bytes.Contains(answer, []byte("alive")) || !bytes.Contains(answer, []byte("200 OK")) {
			t.Errorf("after the chunk size %q: %q", chunk, answer)
		}
	}
}

func TestViewersThatGoAwayAreNoErrors(t *testing.T) {
	c := startCourse(t)
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+"/lessons/drain/stream?t=60", nil)
		if err != nil {
			t.Fatal(err)
		}
		go cancel()
		if resp, err := c.client.Do(r); err == nil {
			resp.Body.Close()
		}
		cancel()
	}
	c.server.Drain()
	c.server.Wait(t.Context())
	if log := c.log.String(); strings.Contains(log, "level=ERROR") || strings.Contains(log, "level=WARN") {
		t.Errorf("the log:\n%s", log)
	}
}
