package drain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"drainlab/internal/setting"
	"drainlab/internal/sim"
)

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

func readOpenAPI(t testing.TB) openAPIDocument {
	t.Helper()
	var doc openAPIDocument
	decodeNumbers(t, servedDescription(t), &doc)
	return doc
}

// servedDescription is what the server answers with.
func servedDescription(t testing.TB) []byte {
	t.Helper()
	a := httptest.NewRecorder()
	served(t).ServeHTTP(a, httptest.NewRequest(http.MethodGet, "/api/v1/openapi.json", nil))
	return a.Body.Bytes()
}

// compileSchemas compiles all component schemas of the description that the
// server answers with.
func compileSchemas(t testing.TB) map[string]*jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(servedDescription(t)))
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

func TestOpenAPIParametersAreTheControls(t *testing.T) {
	paths := readOpenAPI(t).Paths
	rest := wantParameters(t, sim.Table(), paths["/api/v1/run"]["get"].Parameters, "t", "model", "format")
	wantRange(t, sim.Control{Name: "t", Max: sim.Horizon, Grain: 1, Opening: sim.Horizon}, rest[0].Schema)
	wantModel(t, sim.Model, rest[1].Schema)
	if format := rest[2].Schema; fmt.Sprint(format.Enum) != "[json csv]" || format.Default != "json" {
		t.Errorf("format: %+v", format)
	}
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
	srv := startServer(t)
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
