package drain

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drainlab/internal/course"
	"drainlab/internal/session"
	"drainlab/web"
)

// noSessions is the store of a server of which only the lesson is used.
type noSessions struct{ session.Store }

func (noSessions) Ready(context.Context) error { return nil }

// served is the lesson in the whole server, at its place in a course.
func served(t testing.TB) *web.Server {
	t.Helper()
	s, err := web.New(course.NewRegister(New()), noSessions{}, noSessions{}, web.Site{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// startServer serves the real handler as cmd/server does: HTTP/1.1 and
// HTTP/2 without TLS, headers of 64 kB at most.
func startServer(t testing.TB) *httptest.Server {
	t.Helper()
	srv := httptest.NewUnstartedServer(served(t))
	srv.Config.Protocols = new(http.Protocols)
	srv.Config.Protocols.SetHTTP1(true)
	srv.Config.Protocols.SetUnencryptedHTTP2(true)
	srv.Config.MaxHeaderBytes = 64 << 10
	srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	srv.Start()
	t.Cleanup(srv.Close)
	return srv
}

// answered is a response with its whole body.
type answered struct {
	*http.Response
	body []byte
}

func ask(t testing.TB, method, address string, header http.Header, body io.Reader) answered {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, body)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s %s: reading the answer: %v", method, address, err)
	}
	return answered{res, data}
}

func get(t testing.TB, address string) answered {
	t.Helper()
	return ask(t, http.MethodGet, address, nil, nil)
}

// wantType checks the status and the media type, without its parameters.
func (a answered) wantType(t testing.TB, status int, mediaType string) {
	t.Helper()
	got, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
	if a.StatusCode != status || got != mediaType {
		t.Fatalf("%s %s: status %d, %q, want %d, %q; body %.200s", a.Request.Method, a.Request.URL, a.StatusCode, got, status, mediaType, a.body)
	}
}

func (a answered) wantHeader(t testing.TB, name, want string) {
	t.Helper()
	if got := a.Header.Get(name); got != want {
		t.Errorf("%s %s: %s is %q, want %q", a.Request.Method, a.Request.URL, name, got, want)
	}
}

// errorAnswer is the API's error; a member that is missing is nil.
type errorAnswer struct {
	Error                 string
	Setting, Got, Allowed *string
}

func (a answered) readError(t testing.TB) errorAnswer {
	t.Helper()
	return readErrorLine(t, a.body)
}

func readErrorLine(t testing.TB, line []byte) errorAnswer {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	var e errorAnswer
	if err := dec.Decode(&e); err != nil {
		t.Fatalf("not an error's JSON: %v: %.200s", err, line)
	}
	if e.Error == "" || (e.Setting == nil) != (e.Got == nil) || (e.Got == nil) != (e.Allowed == nil) {
		t.Fatalf("an error must have a sentence, and setting, got and allowed together: %.200s", line)
	}
	return e
}

func text(p *string) string {
	if p == nil {
		return "(none)"
	}
	return *p
}

func seeded(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func decodeNumbers(t testing.TB, data []byte, into any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		t.Fatalf("%v: %.200s", err, data)
	}
}
