package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"html"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"drainlab/internal/course"
	"drainlab/internal/course/coursetest"
	"drainlab/internal/drill"
	"drainlab/internal/fixture"
	"drainlab/internal/natsstore"
	"drainlab/internal/session"
	"drainlab/web/lessons/clocks"
	"drainlab/web/lessons/drain"
	"drainlab/web/lessons/ledgers"
	"drainlab/web/toy"
)

var update = flag.Bool("update", false, "write the golden files anew")

// toys is a course that no other code knows: a lesson as small as one can be,
// one that asks for predictions, and one whose links open at the end.
func toys() []course.Lesson {
	return []course.Lesson{toy.Lesson{Number: 1}, coursetest.Counter{Number: 2}, coursetest.Counter{ID: "late", Number: 3, Silent: true, OpensAtEnd: true}}
}

// realLessons is the course as cmd/server has it, but for the fixture, which
// cannot be run here. A toy comes after it.
func realLessons(t testing.TB) []course.Lesson {
	t.Helper()
	two, err := ledgers.New(noFixture{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return []course.Lesson{drain.New(), two, clocks.New(), toy.Lesson{Number: 4}}
}

// noFixture is a driller that cannot make runs.
type noFixture struct{}

func (noFixture) Drill(context.Context, fixture.Settings, func(drill.Event)) (drill.Result, error) {
	return drill.Result{}, errors.New("no fixture here")
}

// served is a course's handler on a real embedded store.
type served struct {
	t      testing.TB
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

func startCourse(t testing.TB) *served { return start(t, Site{}, realLessons(t)...) }

func startToys(t testing.TB) *served { return start(t, Site{}, toys()...) }

func start(t testing.TB, site Site, lessons ...course.Lesson) *served {
	t.Helper()
	store, err := natsstore.Open(t.Context(), natsstore.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	log := &logBuffer{}
	server, err := New(course.NewRegister(lessons...), store, store, site, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	// As cmd/server serves it: HTTP/1.1 and HTTP/2 without TLS, headers of 64 kB
	// at most.
	ts := httptest.NewUnstartedServer(server)
	ts.Config.Protocols = new(http.Protocols)
	ts.Config.Protocols.SetHTTP1(true)
	ts.Config.Protocols.SetUnencryptedHTTP2(true)
	ts.Config.MaxHeaderBytes = 64 << 10
	ts.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	ts.Start()
	t.Cleanup(func() {
		server.Drain()
		ts.Close()
	})
	client := &http.Client{
		Transport:     &http.Transport{DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(client.CloseIdleConnections)
	return &served{t: t, server: server, store: store, url: ts.URL, client: client, log: log}
}

// of is the same course for a subtest.
func (c *served) of(t testing.TB) *served {
	own := *c
	own.t = t
	return &own
}

func (c *served) do(method, path string, body io.Reader, headers ...string) (*http.Response, string) {
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

func (c *served) get(path string, headers ...string) (*http.Response, string) {
	c.t.Helper()
	return c.do(http.MethodGet, path, nil, headers...)
}

// page gets what must be there.
func (c *served) page(path string, headers ...string) string {
	c.t.Helper()
	resp, body := c.get(path, headers...)
	if resp.StatusCode != http.StatusOK {
		c.t.Fatalf("%s: %s %.300s", path, resp.Status, body)
	}
	return body
}

func (c *served) post(path, form string, headers ...string) (*http.Response, string) {
	c.t.Helper()
	return c.do(http.MethodPost, path, strings.NewReader(form), headers...)
}

func (c *served) newSession(lesson, query string) session.ID {
	c.t.Helper()
	resp, body := c.post("/sessions", url.Values{"lesson": {lesson}, "view": {query}}.Encode())
	id, err := session.ParseID(strings.TrimPrefix(resp.Header.Get("Location"), "/sessions/"))
	if resp.StatusCode != http.StatusSeeOther || err != nil {
		c.t.Fatalf("creating a session: %s, %v %.300s", resp.Status, err, body)
	}
	return id
}

func (c *served) state(id session.ID) session.State {
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
func (c *served) openStream(path string, headers ...string) (*http.Response, context.CancelFunc) {
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
func until(t testing.TB, events <-chan sentEvent, want func(clock) bool) []sentEvent {
	t.Helper()
	var all []sentEvent
	for ev := range events {
		all = append(all, ev)
		signals, ok := strings.CutPrefix(ev.data, "signals ")
		if !ok || !strings.Contains(signals, `"speed"`) {
			continue
		}
		var now clock
		if err := json.Unmarshal([]byte(signals), &now); err != nil {
			t.Fatalf("signals %q: %v", signals, err)
		}
		if want(now) {
			return all
		}
	}
	t.Fatal("the stream ended")
	return nil
}

// lastOf is the last event that brought a part.
func lastOf(events []sentEvent, part string) string {
	for i := len(events) - 1; i >= 0; i-- {
		if strings.Contains(events[i].data, `id="`+part+`"`) {
			return events[i].data
		}
	}
	return ""
}

// words are what a person reads of a piece of a page: without elements, in one
// line.
func words(page string) string {
	plain := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " "))
	return strings.Join(strings.Fields(strings.ReplaceAll(plain, "\u00a0", " ")), " ")
}

// attribute is what the pattern's group finds in a page, as a browser reads it.
func attribute(t testing.TB, page, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("the page has no %s", pattern)
	}
	return html.UnescapeString(m[1])
}

// timeless is a response that takes deadlines and has none.
type timeless struct{ http.ResponseWriter }

func (timeless) SetReadDeadline(time.Time) error  { return nil }
func (timeless) SetWriteDeadline(time.Time) error { return nil }

func seeded(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func readDoc(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile("../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// bare is HTML as it stands.
type bare string

// Render implements [course.Component].
func (b bare) Render(_ context.Context, w io.Writer) error {
	_, err := io.WriteString(w, string(b))
	return err
}
