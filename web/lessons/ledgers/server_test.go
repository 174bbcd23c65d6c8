package ledgers

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"drainlab/internal/course"
	"drainlab/internal/drill"
	"drainlab/internal/fixture"
	"drainlab/internal/ledger"
	"drainlab/internal/session"
	"drainlab/web"
	"drainlab/web/toy"
)

// heldDriller makes runs that last until they are let go.
type heldDriller struct {
	begun chan struct{}
	let   chan struct{}
}

func (d heldDriller) Drill(ctx context.Context, _ fixture.Settings, observe func(drill.Event)) (drill.Result, error) {
	e := drill.Event{Event: ledger.Event{Seq: 1, Kind: ledger.RequestAdmitted, Request: "1", Class: "short"}}
	observe(e)
	d.begun <- struct{}{}
	select {
	case <-d.let:
		return drill.Result{Report: ledger.Fold([]ledger.Event{e.Event}, true), Events: []drill.Event{e}}, nil
	case <-ctx.Done():
		return drill.Result{}, ctx.Err()
	}
}

// recordedDriller makes runs that are the recorded one, whatever is set.
type recordedDriller struct{ lesson *Lesson }

func (d *recordedDriller) Drill(_ context.Context, _ fixture.Settings, observe func(drill.Event)) (drill.Result, error) {
	for _, e := range d.lesson.recorded.run.Events {
		observe(e)
	}
	return *d.lesson.recorded.run.Result, nil
}

type noSessions struct{ session.Store }

func (noSessions) Ready(context.Context) error { return nil }

// served is the lesson in the whole server, at its place in a course.
func served(t testing.TB, d Driller) (*web.Server, *Lesson) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	l, err := New(d, log)
	if err != nil {
		t.Fatal(err)
	}
	s, err := web.New(course.NewRegister(toy.Lesson{Number: 1}, l), noSessions{}, noSessions{}, web.Site{}, log)
	if err != nil {
		t.Fatal(err)
	}
	return s, l
}

// from sends a request as if it came from this address.
func from(h http.Handler, address, method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.RemoteAddr = address + ":1"
	if method == http.MethodPost && !strings.HasPrefix(path, "/api/") {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(timeless{w}, r)
	return w
}

// timeless is a recorder to which deadlines may be set, as to a connection.
type timeless struct{ *httptest.ResponseRecorder }

func (timeless) SetReadDeadline(time.Time) error  { return nil }
func (timeless) SetWriteDeadline(time.Time) error { return nil }

// words are a page's texts, without its markup.
func words(page string) string {
	return regexp.MustCompile(`\s+`).ReplaceAllString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, ""), " ")
}

// schema is one of the schemas that the server's description of its API has.
func schema(t testing.TB, h http.Handler, name string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(from(h, "1.1.1.1", http.MethodGet, "/api/v1/openapi.json", "").Body)
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	const address = "https://drainlab.test/openapi.json"
	if err := compiler.AddResource(address, doc); err != nil {
		t.Fatal(err)
	}
	s, err := compiler.Compile(address + "#/components/schemas/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func wantValid(t testing.TB, s *jsonschema.Schema, data []byte) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%v: %.200s", err, data)
	}
	if err := s.Validate(value); err != nil {
		t.Fatalf("%v\n%.2000s", err, data)
	}
}

// told is a run as the API tells it.
type told struct {
	ID       string
	State    string
	Place    int
	Problem  string
	Settings fixture.Settings
	Requests ledger.Requests
}

func look(t testing.TB, h http.Handler, location string) told {
	t.Helper()
	w := from(h, "1.1.1.1", http.MethodGet, location, "")
	var run told
	if err := json.Unmarshal(w.Body.Bytes(), &run); w.Code != http.StatusOK || err != nil {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	return run
}

// ended starts the run of a form and waits until it is over; it returns its
// page's address.
func ended(t testing.TB, h http.Handler, form string) string {
	t.Helper()
	w := from(h, "1.1.1.1", http.MethodPost, "/lessons/ledgers/runs", form)
	if w.Code != http.StatusSeeOther {
		t.Fatalf("%s: %d %s", form, w.Code, w.Body)
	}
	page := w.Header().Get("Location")
	path, _, _ := strings.Cut(page, "?")
	for api := strings.Replace(path, "/lessons/ledgers/runs/", "/api/v1/fixture-runs/", 1); look(t, h, api).State != "finished"; {
		time.Sleep(time.Millisecond)
	}
	return page
}
