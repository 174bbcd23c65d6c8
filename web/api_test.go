package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"drainlab/internal/clocks"
	"drainlab/internal/drill"
	"drainlab/internal/fixture"
	"drainlab/internal/session"
	"drainlab/internal/setting"
	"drainlab/internal/sim"
)

// noSessions is the store of a server of which only the API is used.
type noSessions struct{ session.Store }

func (noSessions) Ready(context.Context) error { return nil }

func newAPIHandler(t testing.TB) *Server {
	t.Helper()
	handler, err := New(noSessions{}, noSessions{}, noFixture{}, Site{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

// newAPIServer serves the real handler as cmd/server does: HTTP/1.1 and
// HTTP/2 without TLS, headers of 64 kB at most.
func newAPIServer(t testing.TB) *httptest.Server {
	t.Helper()
	srv := httptest.NewUnstartedServer(newAPIHandler(t))
	srv.Config.Protocols = new(http.Protocols)
	srv.Config.Protocols.SetHTTP1(true)
	srv.Config.Protocols.SetUnencryptedHTTP2(true)
	srv.Config.MaxHeaderBytes = 64 << 10
	srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	srv.Start()
	t.Cleanup(srv.Close)
	return srv
}

// answer is a response with its whole body.
type answer struct {
	*http.Response
	body []byte
}

func ask(t testing.TB, method, address string, header http.Header, body io.Reader) answer {
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
	return answer{res, data}
}

func get(t testing.TB, address string) answer {
	t.Helper()
	return ask(t, http.MethodGet, address, nil, nil)
}

// wantType checks the status and the media type, without its parameters.
func (a answer) wantType(t testing.TB, status int, mediaType string) {
	t.Helper()
	got, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
	if a.StatusCode != status || got != mediaType {
		t.Fatalf("%s %s: status %d, %q, want %d, %q; body %.200s", a.Request.Method, a.Request.URL, a.StatusCode, got, status, mediaType, a.body)
	}
}

func (a answer) wantHeader(t testing.TB, name, want string) {
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

func (a answer) readError(t testing.TB) errorAnswer {
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

// randomSettings draws settings that the API takes, most of them off the
// sliders' steps.
func randomSettings(r *rand.Rand) sim.Settings {
	s := sim.Opening()
	for _, c := range sim.Controls() {
		v := c.Min + sim.Time(r.IntN(int(c.Max-c.Min)+1))
		switch {
		case c.Toggle:
			v = sim.Time(r.IntN(2)) * sim.Second
		case r.IntN(4) == 0:
			v = []sim.Time{c.Min, c.Max, c.Opening}[r.IntN(3)]
		case c.Grain > 0:
			v -= v % c.Grain
		}
		if err := c.Parse(&s, v.String()); err != nil {
			panic(err)
		}
	}
	return s
}

func seeded(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// The description.

type openAPISchema struct {
	Ref                  string                     `json:"$ref"`
	Type                 any                        `json:"type"`
	Minimum              json.Number                `json:"minimum"`
	Maximum              json.Number                `json:"maximum"`
	MultipleOf           json.Number                `json:"multipleOf"`
	Default              any                        `json:"default"`
	Enum                 []any                      `json:"enum"`
	Const                any                        `json:"const"`
	AnyOf                []openAPISchema            `json:"anyOf"`
	Description          string                     `json:"description"`
	Properties           map[string]json.RawMessage `json:"properties"`
	Required             []string                   `json:"required"`
	AdditionalProperties any                        `json:"additionalProperties"`
}

type openAPIParameter struct {
	Name, In, Description string
	Required              bool
	Schema                openAPISchema
}

type openAPIDocument struct {
	OpenAPI string
	Servers []struct{ URL string }
	Paths   map[string]map[string]struct {
		OperationID string
		Parameters  []openAPIParameter
		Responses   map[string]json.RawMessage
	}
	Components struct{ Schemas map[string]openAPISchema }
}

// member is the schema of an object's member, through a reference to another.
func (doc *openAPIDocument) member(t testing.TB, schema, name string) openAPISchema {
	t.Helper()
	var s openAPISchema
	decodeNumbers(t, doc.Components.Schemas[schema].Properties[name], &s)
	if s.Ref != "" {
		s = doc.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
	}
	return s
}

func decodeNumbers(t testing.TB, data []byte, into any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		t.Fatalf("%v: %.200s", err, data)
	}
}

func readOpenAPI(t testing.TB) openAPIDocument {
	t.Helper()
	var doc openAPIDocument
	decodeNumbers(t, openAPI, &doc)
	return doc
}

// compileSchemas compiles all component schemas of the description that the
// server answers with.
func compileSchemas(t testing.TB) map[string]*jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(openAPI))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	const address = "https://drainlab.test/openapi.json"
	if err := compiler.AddResource(address, doc); err != nil {
		t.Fatal(err)
	}
	schemas := map[string]*jsonschema.Schema{}
	for name := range readOpenAPI(t).Components.Schemas {
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

func TestOpenAPIIsServedAsEmbeddedAndNamesItsCalls(t *testing.T) {
	srv := newAPIServer(t)
	a := get(t, srv.URL+"/api/v1/openapi.json")
	a.wantType(t, http.StatusOK, "application/json")
	a.wantHeader(t, "Cache-Control", "public, max-age=3600")
	a.wantHeader(t, "Access-Control-Allow-Origin", "*")
	if !bytes.Equal(a.body, openAPI) {
		t.Error("the answer is not the embedded file")
	}
	doc := readOpenAPI(t)
	if !strings.HasPrefix(doc.OpenAPI, "3.1.") {
		t.Errorf("openapi %q, want 3.1", doc.OpenAPI)
	}
	if len(doc.Servers) != 1 || doc.Servers[0].URL != "/" {
		t.Errorf("servers %v, want / alone", doc.Servers)
	}
	want := map[string]string{"/api/v1/run": "get", "/api/v1/runs": "post", "/api/v1/openapi.json": "get", "/livez": "get", "/readyz": "get",
		"/api/v1/clocks": "get", "/api/v1/clocks/runs": "post",
		"/api/v1/fixture-runs": "post", "/api/v1/fixture-runs/{id}": "get", "/api/v1/fixture-runs/{id}/record": "get"}
	if len(doc.Paths) != len(want) {
		t.Errorf("%d paths, want %d", len(doc.Paths), len(want))
	}
	for path, method := range want {
		operation, ok := doc.Paths[path][method]
		if !ok || len(doc.Paths[path]) != 1 || operation.OperationID == "" {
			t.Errorf("%s: want %s alone, with an operationId", path, method)
		}
		// The address answers the method as described.
		a := ask(t, strings.ToUpper(method), srv.URL+path, nil, nil)
		if _, ok := operation.Responses[strconv.Itoa(a.StatusCode)]; !ok {
			t.Errorf("%s %s answers %d, which is not described", method, path, a.StatusCode)
		}
	}
}

func TestOpenAPIParametersAreTheControls(t *testing.T) {
	paths := readOpenAPI(t).Paths
	rest := wantParameters(t, sim.Table(), paths["/api/v1/run"]["get"].Parameters, "t", "model", "format")
	wantRange(t, sim.Control{Name: "t", Max: sim.Horizon, Grain: 1, Opening: sim.Horizon}, rest[0].Schema)
	wantModel(t, sim.Model, rest[1].Schema)
	if format := rest[2].Schema; fmt.Sprint(format.Enum) != "[json csv]" || format.Default != "json" {
		t.Errorf("format: %+v", format)
	}
	rest = wantParameters(t, clocks.Table(), paths["/api/v1/clocks"]["get"].Parameters, "model")
	wantModel(t, clocks.Model, rest[0].Schema)
}

// wantParameters checks that the parameters are the model's settings in their
// order and then those of the other names, which it returns.
func wantParameters[S any](t *testing.T, controls setting.Table[S], parameters []openAPIParameter, others ...string) []openAPIParameter {
	t.Helper()
	var want, got []string
	for _, c := range controls {
		want = append(want, c.Name)
	}
	for _, p := range parameters {
		got = append(got, p.Name)
		if p.In != "query" || p.Required || p.Description == "" {
			t.Errorf("%s: in %q, required %v, description %q", p.Name, p.In, p.Required, p.Description)
		}
	}
	if want = append(want, others...); !slices.Equal(got, want) {
		t.Fatalf("parameters %q, want %q", got, want)
	}
	for i, c := range controls {
		if s := parameters[i].Schema; !c.Toggle {
			wantValues(t, c, s)
		} else if s.Type != "string" || fmt.Sprint(s.Enum) != "[0 1]" || s.Default != c.TextOf(c.Opening) {
			t.Errorf("%s: %+v, want 0 or 1, opening with %s", c.Name, s, c.TextOf(c.Opening))
		}
	}
	return parameters[len(controls):]
}

func wantModel(t *testing.T, number int, s openAPISchema) {
	t.Helper()
	if s.Type != "integer" || fmt.Sprint(s.Enum) != fmt.Sprintf("[%d]", number) {
		t.Errorf("model: %+v, want %d", s, number)
	}
}

// wantValues checks the schema of a control that is no toggle: words, numbers,
// or numbers and "none".
func wantValues[S any](t *testing.T, c setting.Control[S], s openAPISchema) {
	t.Helper()
	switch {
	case c.Words != nil:
		if s.Type != "string" || fmt.Sprint(s.Enum) != fmt.Sprint(c.Words) || s.Default != c.TextOf(c.Opening) {
			t.Errorf("%s: %+v, want one of %q, opening with %s", c.Name, s, c.Words, c.TextOf(c.Opening))
		}
		return
	case c.None:
		if len(s.AnyOf) != 2 || s.AnyOf[1].Const != setting.NoBound {
			t.Errorf("%s: %+v, want a number or %s", c.Name, s, setting.NoBound)
			return
		}
		number := s.AnyOf[0]
		number.Default = s.Default
		s = number
	}
	wantRange(t, c, s)
}

// wantRange checks a number's schema against its control.
func wantRange[S any](t *testing.T, c setting.Control[S], s openAPISchema) {
	t.Helper()
	kind, multiple := "integer", ""
	if c.Grain != setting.Whole {
		kind, multiple = "number", c.Grain.String()
	}
	if s.Type != kind || s.MultipleOf.String() != multiple {
		t.Errorf("%s: %v in multiples of %q, want %s of %q", c.Name, s.Type, s.MultipleOf, kind, multiple)
	}
	got := []string{s.Minimum.String(), s.Maximum.String(), fmt.Sprint(s.Default)}
	if want := []string{c.Min.String(), c.Max.String(), c.Opening.String()}; !slices.Equal(got, want) {
		t.Errorf("%s: minimum, maximum, default %v, want %v", c.Name, got, want)
	}
}

// wantMembers checks that the schema's members are the model's settings.
func wantMembers[S any](t *testing.T, controls setting.Table[S], doc openAPIDocument, schema string) {
	t.Helper()
	if got := len(doc.Components.Schemas[schema].Properties); got != len(controls) {
		t.Errorf("%d members of %s, want %d", got, schema, len(controls))
	}
	for _, c := range controls {
		if s := doc.member(t, schema, c.Name); !c.Toggle {
			wantValues(t, c, s)
		} else if s.Type != "boolean" || s.Default != (c.Opening != 0) {
			t.Errorf("%s %s: %+v", schema, c.Name, s)
		}
	}
}

func TestOpenAPISchemasUseTheModelsWords(t *testing.T) {
	doc := readOpenAPI(t)
	wantMembers(t, sim.Table(), doc, "Settings")
	wantMembers(t, clocks.Table(), doc, "ClocksSettings")
	words := func(n int, word func(int) string) (all []any) {
		for i := range n {
			all = append(all, word(i))
		}
		return all
	}
	for _, c := range []struct {
		schema, member string
		words          []any
	}{
		{"Gate", "verdict", words(3, func(i int) string { return sim.Verdict(i).String() })},
		{"Worker", "state", words(6, func(i int) string { return sim.State(i).String() })},
		{"Invocation", "outcome", words(3, func(i int) string { return sim.Outcome(i).String() })},
		{"Rejection", "reason", words(4, func(i int) string { return sim.Reason(i + 1).String() })},
		{"Event", "reason", words(4, func(i int) string { return sim.Reason(i + 1).String() })},
		{"Event", "stage", words(3, func(i int) string { return sim.Stage(i + 1).String() })},
		{"Event", "kind", words(len(sim.Kinds()), func(i int) string { return sim.Kinds()[i].String() })},
		{"ClocksRequest", "outcome", words(6, func(i int) string { return clocks.Outcome(i).String() })},
		{"ClocksRequest", "work", words(4, func(i int) string { return clocks.WorkOutcome(i).String() })},
		{"ClocksRun", "ended", []any{"exit", "kill"}},
		{"ClocksRun", "cleanup", []any{"complete", "cut", "not_begun"}},
		{"ClocksRun", "verdict", []any{"pass", "fail"}},
	} {
		if got := doc.member(t, c.schema, c.member).Enum; !slices.Equal(got, c.words) {
			t.Errorf("%s %s: %v, want %v", c.schema, c.member, got, c.words)
		}
	}
	for name, s := range doc.Components.Schemas {
		if s.Type == "object" && s.AdditionalProperties != false {
			t.Errorf("%s takes members that it does not name", name)
		}
	}
}

func TestOpenAPISchemasHoldForRealAnswers(t *testing.T) {
	srv := newAPIServer(t)
	schemas := compileSchemas(t)
	r := seeded(t)
	queries := []string{"", "t=0", "t=30", "t=59.9", "t=60", "grace=20&replacement=1", "duration=8&grace=10&replacement=1"}
	for range 60 {
		query := string(randomSettings(r).AppendQuery(nil))
		if r.IntN(2) == 0 {
			query += "&t=" + sim.Time(r.IntN(int(sim.Horizon)+1)).String()
		}
		queries = append(queries, query)
	}
	for _, query := range queries {
		a := get(t, srv.URL+"/api/v1/run?"+query)
		a.wantType(t, http.StatusOK, "application/json")
		wantValid(t, schemas["Run"], a.body)
	}
	for _, path := range []string{
		"/api/v1/run?grace=31", "/api/v1/run?grace=", "/api/v1/run?=1", "/api/v1/run?pods=3", "/api/v1/run?t=61", "/api/v1/run?a;b",
		"/api/v1/run?" + strings.Repeat("%C3%A9", 200) + "=" + strings.Repeat("%FF", 200), "/api/nothing", "/api/v1/runs", "/api/v1/runs?a=b",
	} {
		a := get(t, srv.URL+path)
		if a.StatusCode < 400 {
			t.Errorf("%s: status %d", path, a.StatusCode)
		}
		wantValid(t, schemas["Error"], a.body)
	}
	var lines []string
	for range 20 {
		lines = append(lines, string(randomSettings(r).AppendJSON(nil)), `{"grace":31}`, "", "[]", `{"pods":3}`, strings.Repeat(" ", 5000))
	}
	for _, line := range lines {
		if strings.HasPrefix(line, `{"workers"`) {
			wantValid(t, schemas["Settings"], []byte(line))
		}
	}
	a := ask(t, http.MethodPost, srv.URL+"/api/v1/runs", nil, strings.NewReader(strings.Join(lines, "\n")))
	a.wantType(t, http.StatusOK, "application/x-ndjson")
	answers := bytes.Split(bytes.TrimSuffix(a.body, []byte("\n")), []byte("\n"))
	if len(answers) != len(lines) {
		t.Fatalf("%d answers to %d lines", len(answers), len(lines))
	}
	for i, line := range answers {
		schema := schemas["Error"]
		if strings.HasPrefix(lines[i], `{"workers"`) {
			schema = schemas["Run"]
		}
		wantValid(t, schema, line)
	}
}

// A schema that takes everything would pass the test above. Here each member
// of a real answer is once left out, once of a wrong type, and each object
// once has an unknown member, or one that only others of its list may have;
// the schema must refuse it.
func TestOpenAPISchemasRefuseAnswersThatAreWrong(t *testing.T) {
	schemas := compileSchemas(t)
	s := sim.Opening()
	s.Grace, s.Replacement, s.Interval, s.Signal = 5*sim.Second, true, 10*sim.Second, 25*sim.Second
	data := sim.Simulate(s).At(sim.Horizon).AppendJSON(nil)
	wantValid(t, schemas["Run"], data)
	run, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	components := map[string]string{"account": "Account", "gate": "Gate", "workers": "Worker", "invocations": "Invocation",
		"rejections": "Rejection", "results": "Result", "trace": "Event"}
	sp := spoiler{t: t, schemas: schemas, component: "Run", whole: run, below: "-1", free: func(object map[string]any, name string) bool {
		return object["kind"] == "request_rejected" && name == "worker" // only a rejection without a candidate has none
	}}
	members := run.(map[string]any)
	sp.spoil("run", "Run", members, nil)
	sp.spoil("settings", "Run", members["settings"].(map[string]any), nil)
	for name, component := range components {
		if object, ok := members[name].(map[string]any); ok {
			sp.spoil(name, component, object, nil)
			continue
		}
		list := members[name].([]any)
		if len(list) == 0 {
			t.Errorf("the run has no %s to try", name)
		}
		others := map[string]any{}
		for _, item := range list {
			maps.Copy(others, item.(map[string]any))
		}
		for _, item := range list {
			sp.spoil(name, component, item.(map[string]any), others)
		}
	}
	if sp.tried < 500 {
		t.Errorf("only %d changes were tried", sp.tried)
	}
}

// spoiler spoils an answer at one place after the other, and each time the
// schema must refuse it.
type spoiler struct {
	t         *testing.T
	schemas   map[string]*jsonschema.Schema
	component string // the schema of the whole answer
	whole     any
	below     json.Number                                   // is below all that a number of the answer may be
	free      func(object map[string]any, name string) bool // it may be there and may be missing; nil: none may
	tried     int
}

func (sp *spoiler) refuses(component string, part any, format string, args ...any) {
	sp.t.Helper()
	if sp.tried++; sp.schemas[component].Validate(part) == nil {
		sp.t.Errorf("the schema %s takes it, though %s", component, fmt.Sprintf(format, args...))
	}
}

// spoil spoils one object, which is of this component or, where that is the
// whole's, somewhere in it. Others are members that some objects of its list
// have.
func (sp *spoiler) spoil(path, component string, object, others map[string]any) {
	sp.t.Helper()
	free := func(name string) bool { return sp.free != nil && sp.free(object, name) }
	object["surplus"] = json.Number("1")
	sp.refuses(sp.component, sp.whole, "%s of %v: a surplus member is there", path, object) // and so the whole's schema uses that of its part
	delete(object, "surplus")
	part := any(object)
	if component == sp.component {
		part = sp.whole
	}
	for name, member := range others {
		if _, ok := object[name]; !ok && !free(name) {
			object[name] = member
			sp.refuses(component, part, "%s of %v: %s is there", path, object, name)
			delete(object, name)
		}
	}
	for name, member := range object {
		if !free(name) {
			delete(object, name)
			sp.refuses(component, part, "%s of %v: %s is missing", path, object, name)
		}
		for _, wrong := range []any{"no such word", sp.below, json.Number("0.055"), []any{nil}} {
			object[name] = wrong
			sp.refuses(component, part, "%s of %v: %s is %v", path, object, name, wrong)
		}
		object[name] = member
	}
}

// One run.

func TestAPIRunAnswersTheSameBytesForTheSameSettings(t *testing.T) {
	srv := newAPIServer(t)
	r := seeded(t)
	for range 40 {
		s := randomSettings(r)
		at := sim.Time(r.IntN(int(sim.Horizon) + 1))
		snap := sim.Simulate(s).At(at)
		query := string(s.AppendQuery(nil)) + "&t=" + at.String()
		// The order of the query, closing zeros and the model's number change nothing.
		pairs := strings.Split(query, "&")
		r.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		shuffled := strings.Join(pairs, "&") + "&model=1"
		for _, q := range []string{query, shuffled} {
			a := get(t, srv.URL+"/api/v1/run?"+q)
			a.wantType(t, http.StatusOK, "application/json")
			if want := append(snap.AppendJSON(nil), '\n'); !bytes.Equal(a.body, want) {
				t.Fatalf("%s:\n got %s\nwant %s", q, a.body, want)
			}
			a = get(t, srv.URL+"/api/v1/run?format=csv&"+q)
			a.wantType(t, http.StatusOK, "text/csv")
			if want := snap.AppendCSV(nil); !bytes.Equal(a.body, want) {
				t.Fatalf("%s as CSV:\n got %s\nwant %s", q, a.body, want)
			}
			rows, err := csv.NewReader(bytes.NewReader(a.body)).ReadAll()
			if err != nil || len(rows) != snap.Account.Arrivals+1 {
				t.Fatalf("%s: %d rows of CSV, %v, want %d and the header", q, len(rows), err, snap.Account.Arrivals)
			}
		}
	}
}

func TestAPIRunMayBeCachedAndReadFromAnyOrigin(t *testing.T) {
	srv := newAPIServer(t)
	for _, path := range []string{"/api/v1/run", "/api/v1/run?format=csv", "/api/v1/run?t=30", "/api/v1/clocks", "/api/v1/clocks?gate=none"} {
		whole := get(t, srv.URL+path)
		head := ask(t, http.MethodHead, srv.URL+path, nil, nil)
		for _, a := range []answer{whole, head} {
			if a.StatusCode != http.StatusOK {
				t.Errorf("%s %s: status %d", a.Request.Method, path, a.StatusCode)
			}
			a.wantHeader(t, "Cache-Control", "public, max-age=86400")
			a.wantHeader(t, "Access-Control-Allow-Origin", "*")
			a.wantHeader(t, "X-Content-Type-Options", "nosniff")
			a.wantHeader(t, "Set-Cookie", "")
		}
		if len(head.body) != 0 || len(whole.body) == 0 {
			t.Errorf("%s: HEAD has %d bytes, GET %d", path, len(head.body), len(whole.body))
		}
		head.wantHeader(t, "Content-Type", whole.Header.Get("Content-Type"))
	}
	csv := get(t, srv.URL+"/api/v1/run?format=csv")
	csv.wantHeader(t, "Content-Type", "text/csv; charset=utf-8; header=present")

	packed := ask(t, http.MethodGet, srv.URL+"/api/v1/run", http.Header{"Accept-Encoding": {"gzip"}}, nil)
	packed.wantHeader(t, "Content-Encoding", "gzip")
	packed.wantHeader(t, "Vary", "Accept-Encoding")
}

func TestAPIAnswersPreflights(t *testing.T) {
	srv := newAPIServer(t)
	for path, method := range map[string]string{"/api/v1/run": "GET", "/api/v1/runs": "POST", "/api/v1/clocks": "GET", "/api/v1/clocks/runs": "POST", "/api/v1/openapi.json": "GET"} {
		a := ask(t, http.MethodOptions, srv.URL+path, http.Header{
			"Origin": {"https://elsewhere.test"}, "Access-Control-Request-Method": {method}, "Access-Control-Request-Headers": {"content-type"},
		}, nil)
		if a.StatusCode != http.StatusNoContent {
			t.Errorf("%s: status %d", path, a.StatusCode)
		}
		a.wantHeader(t, "Access-Control-Allow-Origin", "*")
		if allowed := a.Header.Get("Access-Control-Allow-Methods"); !strings.Contains(allowed, method) {
			t.Errorf("%s: methods %q, want %s among them", path, allowed, method)
		}
		if allowed := a.Header.Get("Access-Control-Allow-Headers"); !strings.EqualFold(allowed, "content-type") {
			t.Errorf("%s: headers %q", path, allowed)
		}
	}
}

// Refusals.

func TestAPIRunRefusesBadInputAndSaysWhatIsAllowed(t *testing.T) {
	srv := newAPIServer(t)
	long := strings.Repeat("9", 10_000)
	cases := []struct{ name, query, setting, got, allowed string }{
		{"above the range", "grace=30.1", "grace", "30.1", "from 0 to 30 s"},
		{"below the range", "interval=0.4", "interval", "0.4", "from 0.5 to 10 s"},
		{"a count below its range", "workers=0", "workers", "0", "from 1 to 4"},
		{"a fraction of a count", "slots=2.5", "slots", "2.5", "a whole number from 1 to 8"},
		{"a fraction of a percent", "allowance=20.5", "allowance", "20.5", "a whole number from 0 to 100 %"},
		{"finer than a tenth", "startup=4.05", "startup", "4.05", "in steps of 0.1 s"},
		{"an exponent", "duration=1e1", "duration", "1e1", "a plain decimal number"},
		{"hexadecimal", "duration=0x4", "duration", "0x4", "a plain decimal number"},
		{"no number", "signal=NaN", "signal", "NaN", "a plain decimal number"},
		{"a sign", "signal=-1", "signal", "-1", "a plain decimal number"},
		{"a plus, which is a space", "signal=+1", "signal", " 1", "a plain decimal number"},
		{"digits of another script", "signal=%D9%A4", "signal", "٤", "a plain decimal number"},
		{"an empty value", "grace=", "grace", "", "from 0 to 30 s"},
		{"a name without a value", "grace", "grace", "", "from 0 to 30 s"},
		{"a word for a toggle", "handler=true", "handler", "true", "1 (on) or 0 (off)"},
		{"a number for a toggle", "handler=2", "handler", "2", "1 (on) or 0 (off)"},
		{"an unknown name", "pods=3", "pods", "3", "there are workers, slots"},
		{"a name in capitals", "Grace=3", "Grace", "3", "there are workers, slots"},
		{"an empty name", "=3", "", "3", "there are workers, slots"},
		{"a name that belongs to the page", "speed=2", "speed", "2", "there are workers, slots"},
		{"a name twice", "grace=1&grace=2", "grace", "1, 2", "one value"},
		{"a name twice with one value", "handler=1&handler=1", "handler", "1, 1", "one value"},
		{"t outside the run", "t=60.1", "t", "60.1", "from 0 to 60 s"},
		{"t that is no number", "t=now", "t", "now", "a plain decimal number"},
		{"t twice", "t=1&t=2", "t", "1, 2", "one value"},
		{"a model that does not exist", "model=2", "model", "2", "1"},
		{"an unknown format", "format=xml", "format", "xml", "json or csv"},
		{"an empty format", "format=", "format", "", "json or csv"},
		{"a long value", "grace=" + long, "grace", long[:80] + "…", "from 0 to 30 s"},
		{"a long name", long + "=1", long[:80] + "…", "1", "there are workers, slots"},
		{"a long value cut between characters", "grace=x" + strings.Repeat("é", 100), "grace", "x" + strings.Repeat("é", 39) + "…", "from 0 to 30 s"},
		{"a long value that is no text", "grace=" + strings.Repeat("%80", 100), "grace", "…", "from 0 to 30 s"},
		{"markup", "grace=%3Cscript%3E", "grace", "<script>", "from 0 to 30 s"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a := get(t, srv.URL+"/api/v1/run?"+c.query)
			a.wantType(t, http.StatusBadRequest, "application/json")
			a.wantHeader(t, "Cache-Control", "no-store")
			a.wantHeader(t, "Access-Control-Allow-Origin", "*")
			e := a.readError(t)
			if e.Setting == nil {
				t.Fatalf("no setting is named: %s", a.body)
			}
			if text(e.Setting) != c.setting || text(e.Got) != c.got || !strings.Contains(text(e.Allowed), c.allowed) {
				t.Errorf("setting %q, got %q, allowed %q", *e.Setting, *e.Got, *e.Allowed)
			}
			if !strings.Contains(e.Error, "got ") || !strings.Contains(e.Error, "allowed: "+*e.Allowed) || len(e.Error) > 1000 {
				t.Errorf("the sentence: %s", e.Error)
			}
			if strings.Contains(string(a.body), "<script>") {
				t.Error("markup goes back as it came")
			}
		})
	}
}

// A query that cannot be read has no setting to blame.
func TestAPIRefusesAQueryThatCannotBeRead(t *testing.T) {
	srv := newAPIServer(t)
	for name, query := range map[string]string{
		"a semicolon": "grace=1;slots=2", "a broken escape": "grace=%zz", "half an escape": "grace=1%", "a semicolon in a long query": strings.Repeat("a", 20_000) + ";",
		"more names than are read": strings.Repeat("a&", 30_000),
	} {
		t.Run(name, func(t *testing.T) {
			a := get(t, srv.URL+"/api/v1/run?"+query)
			a.wantType(t, http.StatusBadRequest, "application/json")
			e := a.readError(t)
			if len(a.body) > 1000 || !strings.Contains(e.Error, "got ") || !strings.Contains(e.Error, "allowed") {
				t.Errorf("%.2000s", a.body)
			}
		})
	}
	t.Run("settings of many runs in the query", func(t *testing.T) {
		a := ask(t, http.MethodPost, srv.URL+"/api/v1/runs?grace=10", nil, strings.NewReader("{}"))
		a.wantType(t, http.StatusBadRequest, "application/json")
		if e := a.readError(t); !strings.Contains(e.Error, `"grace=10"`) {
			t.Errorf("%s", e.Error)
		}
	})
}

func TestAPISurvivesAQueryBeyondTheHeaderLimit(t *testing.T) {
	srv := newAPIServer(t)
	conn := dial(t, srv)
	request := "GET /api/v1/run?grace=" + strings.Repeat("9", 1<<20) + " HTTP/1.1\r\nHost: x\r\n\r\n"
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		io.WriteString(conn, request) // fails where the server has had enough
	}()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status %d", res.StatusCode)
	}
	conn.Close()
	<-sent
	get(t, srv.URL+"/api/v1/run").wantType(t, http.StatusOK, "application/json")
}

func TestAPIRefusesWrongMethodsAndAddresses(t *testing.T) {
	srv := newAPIServer(t)
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"POST", "/api/v1/run", 405, "GET, HEAD, OPTIONS"},
		{"DELETE", "/api/v1/run?grace=1", 405, "GET, HEAD, OPTIONS"},
		{"BREW", "/api/v1/run", 405, "GET, HEAD, OPTIONS"},
		{"GET", "/api/v1/runs", 405, "POST, OPTIONS"},
		{"HEAD", "/api/v1/runs", 405, "POST, OPTIONS"},
		{"POST", "/api/v1/clocks", 405, "GET, HEAD, OPTIONS"},
		{"GET", "/api/v1/clocks/runs", 405, "POST, OPTIONS"},
		{"PUT", "/api/v1/openapi.json", 405, "GET, HEAD, OPTIONS"},
		{"GET", "/api/v1/nothing", 404, ""},
		{"POST", "/api/v1/nothing", 404, ""},
		{"GET", "/api/v1/run/", 404, ""},
		{"GET", "/api/v1/", 404, ""},
		{"GET", "/api/v2/run", 404, ""},
		{"GET", "/api/", 404, ""},
		{"BREW", "/api/nothing", 404, ""},
	} {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			a := ask(t, c.method, srv.URL+c.path, nil, nil)
			a.wantType(t, c.status, "application/json")
			a.wantHeader(t, "Allow", c.allow)
			a.wantHeader(t, "Cache-Control", "no-store")
			a.wantHeader(t, "Access-Control-Allow-Origin", "*")
			if c.method == "HEAD" {
				return
			}
			if e := a.readError(t); e.Setting != nil {
				t.Errorf("a setting is to blame: %s", a.body)
			}
		})
	}
}

func TestAPIErrorsOfTheLessonSuitWhoAsks(t *testing.T) {
	srv := newAPIServer(t)
	for _, c := range []struct{ accept, mediaType string }{
		{"", "text/html"},
		{"*/*", "text/html"},
		{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html"},
		{"text/html, application/json;q=0.5", "text/html"},
		{"application/json", "application/json"},
		{"application/json, text/plain;q=0.5", "application/json"},
	} {
		for path, status := range map[string]int{"/lessons/drain?grace=31": 400, "/lessons/drain?a;b": 400, "/nothing": 404, "/sessions": 405} {
			a := ask(t, http.MethodGet, srv.URL+path, http.Header{"Accept": {c.accept}}, nil)
			a.wantType(t, status, c.mediaType)
			if !strings.HasPrefix(path, "/lessons/drain?grace") || c.mediaType != "application/json" {
				continue
			}
			if e := a.readError(t); text(e.Setting) != "grace" || text(e.Got) != "31" {
				t.Errorf("Accept %q: %s", c.accept, a.body)
			}
			a.wantHeader(t, "Access-Control-Allow-Origin", "") // that is the API's
		}
	}
	a := ask(t, http.MethodGet, srv.URL+"/lessons/drain?grace=31", http.Header{clientHeader: {"true"}}, nil)
	a.wantType(t, http.StatusBadRequest, "text/plain")
	get(t, srv.URL+"/lessons/drain?grace=30").wantType(t, http.StatusOK, "text/html")

	a = ask(t, http.MethodPost, srv.URL+"/lessons/drain", http.Header{"Accept": {"application/json"}, "Content-Type": {"application/x-www-form-urlencoded"}},
		strings.NewReader("view="+strings.Repeat("a", formLimit)))
	a.wantType(t, http.StatusRequestEntityTooLarge, "application/json")
	a.readError(t)
}

// Many runs.

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
	srv := newAPIServer(t)
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
	srv := newAPIServer(t)
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
	srv := newAPIServer(t)
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
func TestRunsTakeTenThousandLinesFromAClientThatReadsLast(t *testing.T) {
	srv := newAPIServer(t)
	conn := dial(t, srv)
	if err := conn.SetReadBuffer(256 << 10); err != nil {
		t.Fatal(err)
	}
	settings := make([]sim.Settings, mostLines)
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
			const first = 2 * (mostLines + 1)
			return []io.Reader{newPattern("x\n", first, nil), newPattern(`{"grace":10}`+strings.Repeat(" ", 1000)+"\n", size-first, seen)}
		}, 40 << 20, mostLines + 1, "more lines than one call takes"},
		{"refused lines of the full length", longNames * len(longName), func(seen func()) []io.Reader {
			return []io.Reader{newPattern(longName, longNames*len(longName), seen)}
		}, 12 << 20, longNames, "no setting of this name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := newAPIServer(t)
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
	for path, opening := range map[string]string{"/api/v1/runs": runOf(t, ""), "/api/v1/clocks/runs": clocksRunOf(t, "")} {
		t.Run(path, func(t *testing.T) {
			srv := newAPIServer(t)
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
func TestRunsReaderDoesNotOutliveTheCall(t *testing.T) {
	handler := newAPIHandler(t)
	c := &lostClient{t: t, header: http.Header{}, lines: strings.NewReader("{}\n{}\n"), past: make(chan struct{})}
	req := httptest.NewRequest(http.MethodPost, "/api/v1/runs", c)
	if err := handler.apiRuns(c, req); err != nil {
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
		jobs := make(chan job[sim.Settings], min(len(lines), mostLines+1)) // one more would block
		begun := 0
		readJobs(r, jobs, sim.ParseJSON, func() { begun++ })
		close(jobs)
		if want := min(len(lines), mostLines+1); len(jobs) != want {
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
			settings, err := sim.ParseJSON(line)
			refused := err != nil || len(line) > lineLimit || n > mostLines
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
			readErrorLine(t, j.refusal)
		}
	})
}

// The pages of docs/.

func readDoc(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// fenced returns the code blocks of a language.
func fenced(doc, language string) (blocks []string) {
	for _, m := range regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$").FindAllStringSubmatch(doc, -1) {
		if m[1] == language {
			blocks = append(blocks, m[2])
		}
	}
	return blocks
}

// shellWords splits a line of shell that quotes with ' alone, and ends with
// the line.
func shellWords(t *testing.T, text string) (words []string, rest string) {
	t.Helper()
	word, open, quoted := "", false, false
	for i, r := range text {
		switch {
		case r == '\'':
			quoted, open = !quoted, true
		case quoted:
			word += string(r)
		case r == ' ' || r == '\n':
			if open {
				words = append(words, word)
			}
			word, open = "", false
			if r == '\n' {
				return words, text[i+1:]
			}
		case strings.ContainsRune("\"\\$|&;<>`", r):
			t.Fatalf("the example is too much shell for this test: %s", text)
		default:
			word, open = word+string(r), true
		}
	}
	t.Fatalf("the example does not end: %s", text)
	return nil, ""
}

func TestDocsExamplesOfTheAPIWork(t *testing.T) {
	srv := newAPIServer(t)
	examples := 0
	for _, block := range fenced(readDoc(t, "api.md"), "sh") {
		for block != "" {
			var words []string
			words, block = shellWords(t, block)
			if len(words) == 0 || words[0] != "curl" {
				t.Fatalf("not a curl example: %v", words)
			}
			examples++
			method, address, body := http.MethodGet, "", ""
			header := http.Header{}
			for args := words[1:]; len(args) > 0; args = args[1:] {
				switch arg := args[0]; {
				case arg == "-N":
				case arg == "-I":
					method = http.MethodHead
				case arg == "-H" && len(args) > 1:
					name, value, _ := strings.Cut(args[1], ": ")
					header.Set(name, value)
					args = args[1:]
				case arg == "--data-binary" && len(args) > 1:
					method, body = http.MethodPost, args[1]
					args = args[1:]
				case strings.HasPrefix(arg, "http://localhost:8080/") && address == "":
					address = srv.URL + strings.TrimPrefix(arg, "http://localhost:8080")
				default:
					t.Fatalf("%v: what is %q?", words, arg)
				}
			}
			a := ask(t, method, address, header, strings.NewReader(body))
			if a.StatusCode != http.StatusOK {
				t.Errorf("%v: status %d, %s", words, a.StatusCode, a.body)
			}
			if method != http.MethodPost {
				continue
			}
			if sent, got := strings.Count(body, "\n")+1, bytes.Count(a.body, []byte("\n")); got != sent || bytes.Contains(a.body, []byte(`{"error"`)) {
				t.Errorf("%v: %d answers to %d lines: %.300s", words, got, sent, a.body)
			}
		}
	}
	if examples < 5 {
		t.Errorf("%d examples", examples)
	}
}

func TestDocsShowRealAnswers(t *testing.T) {
	srv := newAPIServer(t)
	doc := readDoc(t, "api.md")
	shown := fenced(doc, "json")
	if len(shown) != 1 {
		t.Fatalf("%d blocks of JSON in api.md, want the error", len(shown))
	}
	if got := compact(t, get(t, srv.URL+"/api/v1/run?grace=31").body); got != compact(t, []byte(shown[0])) {
		t.Errorf("the error is %s", got)
	}
	if header, _, _ := strings.Cut(string(get(t, srv.URL+"/api/v1/run?format=csv").body), "\r\n"); !slices.Contains(fenced(doc, ""), header+"\n") {
		t.Errorf("api.md does not show the CSV's header, %s", header)
	}

	wantShownRun(t, "model.md", get(t, srv.URL+"/api/v1/run").body)
	wantShownRun(t, "clocks.md", get(t, srv.URL+"/api/v1/clocks").body)
}

// wantShownRun checks that the page shows the run, all of it but the tails of
// its lists.
func wantShownRun(t *testing.T, page string, run []byte) {
	t.Helper()
	shown := fenced(readDoc(t, page), "json")
	if len(shown) != 1 {
		t.Fatalf("%d blocks of JSON in %s, want the run", len(shown), page)
	}
	var example, real map[string]json.RawMessage
	decodeNumbers(t, []byte(shown[0]), &example)
	decodeNumbers(t, run, &real)
	if len(example) != len(real) {
		t.Errorf("%s: %d members, want %d", page, len(example), len(real))
	}
	for name, want := range real {
		got := compact(t, example[name])
		if whole := string(want); got != whole && !(strings.HasPrefix(got, "[{") && strings.HasPrefix(whole, strings.TrimSuffix(got, "]")+",")) {
			t.Errorf("%s: %s has %s", name, page, got)
		}
	}
}

func compact(t *testing.T, data []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return b.String()
}

// tableAfter returns the rows of the first table whose header starts with first.
func tableAfter(t *testing.T, doc, first string) (rows [][]string) {
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

func TestDocsTablesOfSettingsAreTheControls(t *testing.T) {
	controls := sim.Controls()
	model, api := tableAfter(t, readDoc(t, "model.md"), "label"), tableAfter(t, readDoc(t, "api.md"), "name")
	if len(model) != len(controls) || len(api) != len(controls) {
		t.Fatalf("%d and %d rows, want %d", len(model), len(api), len(controls))
	}
	for i, c := range controls {
		limits, unit := c.Min.String()+"–"+c.Max.String(), ""
		if c.Unit != "" {
			unit = " " + c.Unit
		}
		inModel := []string{c.Label, c.Name, limits + unit, c.Step.String(), c.Opening.String()}
		inAPI := []string{c.Name, limits + unit + ", tenths", c.Opening.String()}
		switch {
		case c.Toggle:
			inModel = []string{c.Label, c.Name, "on, off", "", map[sim.Time]string{0: "off", sim.Second: "on"}[c.Opening]}
			inAPI[1] = "1 or 0"
		case c.Grain == sim.Second:
			inAPI[1] = limits + unit + ", whole"
		}
		if !slices.Equal(model[i], inModel) {
			t.Errorf("model.md: %q, want %q", model[i], inModel)
		}
		if !slices.Equal(api[i][:3], inAPI) {
			t.Errorf("api.md: %q, want %q", api[i], inAPI)
		}
	}
}

func TestDocsWorkedCasesAreTrue(t *testing.T) {
	rows := tableAfter(t, readDoc(t, "model.md"), "query")
	if len(rows) != len(sim.Experiments()) {
		t.Errorf("%d rows, want one for each of the %d steps", len(rows), len(sim.Experiments()))
	}
	srv := newAPIServer(t)
	for _, row := range rows {
		query := row[0]
		if query == "(none)" {
			query = ""
		}
		var run struct {
			Account struct{ Arrivals, Admitted, Completed, Killed, Rejected int }
			Gate    struct{ Verdict string }
			Workers []struct {
				State  string
				ExitAt json.Number `json:"exit_at"`
			}
		}
		decodeNumbers(t, get(t, srv.URL+"/api/v1/run?"+query).body, &run)
		a, w := run.Account, run.Workers[0]
		want := []string{strconv.Itoa(a.Admitted), strconv.Itoa(a.Completed), strconv.Itoa(a.Killed), strconv.Itoa(a.Rejected),
			fmt.Sprintf("%s at %s s", w.State, w.ExitAt), run.Gate.Verdict}
		if a.Arrivals != 20 || !slices.Equal(row[1:7], want) {
			t.Errorf("%s: model.md has %q, the run %q of %d", row[0], row[1:7], want, a.Arrivals)
		}
	}
}

// noFixture is a driller that cannot make runs.
type noFixture struct{}

func (noFixture) Drill(context.Context, fixture.Settings, func(drill.Event)) (drill.Result, error) {
	return drill.Result{}, errors.New("no fixture here")
}
