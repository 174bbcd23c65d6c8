package clocks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"drainlab/internal/course"
	"drainlab/internal/session"
	"drainlab/web"
	"drainlab/web/answer"
	"drainlab/web/toy"
)

type noSessions struct{ session.Store }

func (noSessions) Ready(context.Context) error { return nil }

// another is a second lesson, so that this one has its number.
type another struct{ toy.Lesson }

func (a another) About() course.About {
	about := a.Lesson.About()
	about.ID = "another"
	return about
}

// served is the lesson in the whole server, at its place in a course.
func served(t testing.TB) *httptest.Server {
	t.Helper()
	h, err := web.New(course.NewRegister(toy.Lesson{Number: 1}, another{toy.Lesson{Number: 2}}, New()), noSessions{}, noSessions{}, web.Site{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv
}

// reply is an answer of the server.
type reply struct {
	*http.Response
	body []byte
}

func get(t testing.TB, srv *httptest.Server, path string) reply {
	t.Helper()
	return ask(t, srv, http.MethodGet, path, nil, nil)
}

func ask(t testing.TB, srv *httptest.Server, method, path string, header http.Header, body io.Reader) reply {
	t.Helper()
	r, err := http.NewRequest(method, srv.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		r.Header[name] = values
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{resp, data}
}

func (a reply) wantType(t testing.TB, status int, kind string) {
	t.Helper()
	if got, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type")); a.StatusCode != status || got != kind {
		t.Fatalf("%s answers %d as %s, want %d as %s: %.300s", a.Request.URL, a.StatusCode, got, status, kind, a.body)
	}
}

func (a reply) wantHeader(t testing.TB, name, want string) {
	t.Helper()
	if got := a.Header.Get(name); got != want {
		t.Errorf("%s has %s: %q, want %q", a.Request.URL, name, got, want)
	}
}

// refusal is an error as a program gets it.
type refusal struct {
	Error                 string
	Setting, Got, Allowed *string
}

func (a reply) readError(t testing.TB) refusal {
	t.Helper()
	return readErrorLine(t, a.body)
}

func readErrorLine(t testing.TB, line []byte) refusal {
	t.Helper()
	var e refusal
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil || e.Error == "" {
		t.Fatalf("%.300s is no error: %v", line, err)
	}
	return e
}

func text(s *string) string {
	if s == nil {
		return "(nothing)"
	}
	return *s
}

func postLines(t testing.TB, srv *httptest.Server, path, body string) []string {
	t.Helper()
	a := ask(t, srv, http.MethodPost, path, http.Header{"Content-Type": {"application/x-ndjson"}}, strings.NewReader(body))
	a.wantType(t, http.StatusOK, "application/x-ndjson")
	a.wantHeader(t, "Cache-Control", "no-store")
	a.wantHeader(t, "Access-Control-Allow-Origin", "*")
	if len(a.body) > 0 && !bytes.HasSuffix(a.body, []byte("\n")) {
		t.Fatalf("the last line has no end: %.200s", a.body)
	}
	return slices.Collect(strings.Lines(string(a.body)))
}

// compileSchemas compiles all schemas of the description that the server
// answers with.
func compileSchemas(t testing.TB, srv *httptest.Server) map[string]*jsonschema.Schema {
	t.Helper()
	data := get(t, srv, "/api/v1/openapi.json").body
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	const address = "https://drainlab.test/openapi.json"
	if err := compiler.AddResource(address, doc); err != nil {
		t.Fatal(err)
	}
	var named struct {
		Components struct{ Schemas map[string]json.RawMessage }
	}
	if err := json.Unmarshal(data, &named); err != nil {
		t.Fatal(err)
	}
	schemas := map[string]*jsonschema.Schema{}
	for name := range named.Components.Schemas {
		if schemas[name], err = compiler.Compile(address + "#/components/schemas/" + name); err != nil {
			t.Errorf("schema %s: %v", name, err)
		}
	}
	return schemas
}

func wantValid(t testing.TB, schema *jsonschema.Schema, data []byte) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%v: %.200s", err, data)
	}
	if err := schema.Validate(value); err != nil {
		t.Fatalf("%v\n%.2000s", err, data)
	}
}

// spoiler spoils an answer at one place after the other, and each time the
// schema must refuse it.
type spoiler struct {
	t         *testing.T
	schemas   map[string]*jsonschema.Schema
	component string // the schema of the whole answer
	whole     any
	below     json.Number // is below all that a number of the answer may be
	tried     int
}

func (sp *spoiler) refuses(component string, part any, format string, args ...any) {
	sp.t.Helper()
	if sp.tried++; sp.schemas[component].Validate(part) == nil {
		sp.t.Errorf("the schema %s takes it, though %s", component, fmt.Sprintf(format, args...))
	}
}

// spoil spoils one object, which is of this component or, where that is the
// whole's, somewhere in it.
func (sp *spoiler) spoil(path, component string, object map[string]any) {
	sp.t.Helper()
	object["surplus"] = json.Number("1")
	sp.refuses(sp.component, sp.whole, "%s of %v: a surplus member is there", path, object) // and so the whole's schema uses that of its part
	delete(object, "surplus")
	part := any(object)
	if component == sp.component {
		part = sp.whole
	}
	for name, member := range object {
		delete(object, name)
		sp.refuses(component, part, "%s of %v: %s is missing", path, object, name)
		for _, wrong := range []any{"no such word", sp.below, json.Number("0.055"), []any{nil}} {
			object[name] = wrong
			sp.refuses(component, part, "%s of %v: %s is %v", path, object, name, wrong)
		}
		object[name] = member
	}
}

func decodeNumbers(t testing.TB, data []byte, into any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		t.Fatalf("%v: %.200s", err, data)
	}
}

func seeded(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func readDoc(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile("../../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// tableAfter returns the rows of the first table whose header starts with first.
func tableAfter(t testing.TB, doc, first string) (rows [][]string) {
	t.Helper()
	_, table, found := strings.Cut(doc, "| "+first+" |")
	if !found {
		t.Fatalf("no table that starts with %s", first)
	}
	for i, line := range strings.Split(table, "\n") {
		if i < 2 { // the header's rest and the rule
			continue
		}
		if !strings.HasPrefix(line, "| ") {
			return rows
		}
		var cells []string
		for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
			cells = append(cells, strings.Trim(cell, " `"))
		}
		rows = append(rows, cells)
	}
	return rows
}

// linkOf is what an address of the lesson says.
func linkOf(t testing.TB, query string) course.Link {
	t.Helper()
	values, err := answer.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	link, err := course.ParseLink(New(), values)
	if err != nil {
		t.Fatal(err)
	}
	return link
}
