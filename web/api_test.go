package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"drainlab/internal/course"
)

// errorAnswer is the API's error; a member that is missing is nil.
type errorAnswer struct {
	Error                 string
	Setting, Got, Allowed *string
}

func readError(t testing.TB, data []byte) errorAnswer {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var e errorAnswer
	if err := dec.Decode(&e); err != nil {
		t.Fatalf("not an error's JSON: %v: %.200s", err, data)
	}
	if e.Error == "" || (e.Setting == nil) != (e.Got == nil) || (e.Got == nil) != (e.Allowed == nil) {
		t.Fatalf("an error must have a sentence, and setting, got and allowed together: %.200s", data)
	}
	return e
}

func orNone(p *string) string {
	if p == nil {
		return "(none)"
	}
	return *p
}

// described is what the tests read of the API's description; its schemas are
// read by a validator that is not ours.
type described struct {
	OpenAPI    string
	Servers    []struct{ URL string }
	Tags       []struct{ Name string }
	Paths      map[string]map[string]operation
	Components struct {
		Schemas map[string]map[string]any
	}
}

type operation struct {
	OperationID, Summary string
	Tags                 []string
	Parameters           []struct {
		Name, In, Description string
		Required              bool
		Schema                map[string]any
	}
	RequestBody *struct{ Content map[string]media }
	Responses   map[string]response
}

type response struct {
	Description string
	Headers     map[string]struct{ Description string }
	Content     map[string]media
}

type media struct{ Schema, ItemSchema json.RawMessage }

// describedAddress is where the validator finds the description.
const describedAddress = "https://drainlab.test/openapi.json"

// api is the description that the server answers with, and a validator for it.
type api struct {
	*served
	doc      described
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema // by their places
}

func (c *served) api() *api {
	c.t.Helper()
	data := c.page("/api/v1/openapi.json")
	a := &api{served: c, compiler: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{}}
	if err := json.Unmarshal([]byte(data), &a.doc); err != nil {
		c.t.Fatal(err)
	}
	whole, err := jsonschema.UnmarshalJSON(strings.NewReader(data))
	if err != nil {
		c.t.Fatal(err)
	}
	a.compiler.DefaultDraft(jsonschema.Draft2020)
	if err := a.compiler.AddResource(describedAddress, whole); err != nil {
		c.t.Fatal(err)
	}
	return a
}

// schema is that of a place in the description, as a JSON pointer.
func (a *api) schema(place ...string) *jsonschema.Schema {
	a.t.Helper()
	pointer := ""
	for _, name := range place {
		pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(name)
	}
	if s := a.compiled[pointer]; s != nil {
		return s
	}
	s, err := a.compiler.Compile(describedAddress + "#" + pointer)
	if err != nil {
		a.t.Fatalf("%s: %v", pointer, err)
	}
	a.compiled[pointer] = s
	return s
}

// problems says in what an answer is not as described.
func (a *api) problems(method, template string, resp *http.Response, body string) []string {
	a.t.Helper()
	method = strings.ToLower(method)
	op, ok := a.doc.Paths[template][method]
	if !ok {
		return []string{"there is no such operation"}
	}
	status := strconv.Itoa(resp.StatusCode)
	r, ok := op.Responses[status]
	if !ok {
		return []string{"the status " + status + " is not described"}
	}
	var list []string
	for name, header := range r.Headers {
		got := resp.Header.Get(name)
		if got == "" {
			list = append(list, "the header "+name+" is missing")
		}
		if m := regexp.MustCompile("^Always `([^`]*)`").FindStringSubmatch(header.Description); m != nil && got != m[1] {
			list = append(list, fmt.Sprintf("the header %s is %q, not %q", name, got, m[1]))
		}
	}
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	content, ok := r.Content[kind]
	if !ok {
		return append(list, fmt.Sprintf("the type %q is not described", kind))
	}
	place := []string{"paths", template, method, "responses", status, "content", kind}
	valid := func(data []byte, member string) {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err == nil {
			err = a.schema(append(place, member)...).Validate(value)
		}
		if err != nil {
			list = append(list, fmt.Sprintf("%v: %.300s", err, data))
		}
	}
	switch kind {
	case "application/json":
		if content.Schema == nil {
			list = append(list, "its schema is missing")
			break
		}
		valid([]byte(body), "schema")
	case "application/x-ndjson":
		for line := range strings.Lines(body) {
			if content.ItemSchema != nil {
				valid([]byte(line), "itemSchema")
			} else {
				valid([]byte(line), "schema")
			}
		}
	}
	return list
}

// callsOf are calls of the API that cover what each operation answers.
func callsOf(c *served) (calls []apiCall) {
	add := func(method, template, path, body string, status int) {
		calls = append(calls, apiCall{method, template, path, body, status})
	}
	get := func(template, query string, status int) { add(http.MethodGet, template, template+query, "", status) }
	get("/api/v1/openapi.json", "", 200)
	get("/livez", "", 200)
	get("/readyz", "", 200)
	for _, query := range []string{"", "?t=0", "?t=30", "?t=59.9", "?grace=20&replacement=1", "?duration=8&grace=10&replacement=1&model=1", "?workers=4&slots=8&interval=0.5&handler=0&fail_init=1&ready_only=0", "?format=csv"} {
		get("/api/v1/run", query, 200)
	}
	for _, query := range []string{"", "?gate=none&propagation=20&cooperative=0&stop_check=60&deadline=8", "?server_timeout=none&cleanup_budget=none&grace=60", "?signal_handled=0&long=0", "?interval=0.1&grace=660"} {
		get("/api/v1/clocks", query, 200)
	}
	for _, path := range []string{"/api/v1/run", "/api/v1/clocks"} {
		for _, query := range []string{"?grace=-1", "?grace=", "?=1", "?pods=3", "?model=2", "?a;b", "?grace=1&grace=2", "?" + strings.Repeat("%C3%A9", 200) + "=" + strings.Repeat("%FF", 200)} {
			get(path, query, 400)
		}
	}
	lines := `{"grace":10}` + "\n\n[]\nnull\n" + `{"pods":3}` + "\n" + `{"grace":-1}` + "\n" + strings.Repeat("x", 5000) + "\n{}"
	for _, path := range []string{"/api/v1/runs", "/api/v1/clocks/runs"} {
		add(http.MethodPost, path, path, lines, 200)
		add(http.MethodPost, path, path, "", 200)
		add(http.MethodPost, path, path+"?grace=10", "{}", 400)
		add(http.MethodPost, path, path+"?a;b", "{}", 400)
	}
	add(http.MethodPost, "/api/v1/clocks/runs", "/api/v1/clocks/runs?requests=1", lines, 200)
	const fixture, run = "/api/v1/fixture-runs", "/api/v1/fixture-runs/{id}"
	add(http.MethodPost, fixture, fixture, "", 202)
	add(http.MethodPost, fixture, fixture, `{"stop_token":true,"graceful_timeout":0.5}`, 202)
	add(http.MethodPost, fixture, fixture, `{"stop_token":3}`, 400)
	add(http.MethodPost, fixture, fixture, `[]`, 400)
	add(http.MethodPost, fixture, fixture, "{"+strings.Repeat(" ", 100<<10)+"}", 413)
	add(http.MethodGet, run, fixture+"/nothing", "", 404)
	add(http.MethodGet, run+"/record", fixture+"/nothing/record", "", 404)
	return calls
}

type apiCall struct {
	method, template, path, body string
	status                       int
}

func (c *served) call(a apiCall) (*http.Response, string) {
	c.t.Helper()
	kind := "application/json"
	if strings.HasSuffix(a.path, "/runs") || strings.Contains(a.path, "/runs?") {
		kind = "application/x-ndjson"
	}
	if a.method == http.MethodGet {
		return c.get(a.path)
	}
	return c.do(a.method, a.path, strings.NewReader(a.body), "Content-Type", kind)
}

// Whatever the API answers is as its own description says: the status, the
// type, the headers, and each member of the body.
func TestTheAPIAnswersAsItDescribes(t *testing.T) {
	c := startCourse(t)
	a := c.api()
	covered := map[string]bool{}
	for _, call := range callsOf(c) {
		resp, body := c.call(call)
		if resp.StatusCode != call.status {
			t.Errorf("%s %.100s: %s, want %d: %.200s", call.method, call.path, resp.Status, call.status, body)
		}
		for _, problem := range a.problems(call.method, call.template, resp, body) {
			t.Errorf("%s %.100s: %s", call.method, call.path, problem)
		}
		covered[strings.ToLower(call.method)+" "+call.template+" "+strconv.Itoa(resp.StatusCode)] = true
		if id, ok := strings.CutPrefix(resp.Header.Get("Location"), "/api/v1/fixture-runs/"); ok {
			get := apiCall{http.MethodGet, "/api/v1/fixture-runs/{id}", "/api/v1/fixture-runs/" + id, "", 200}
			resp, body := c.call(get)
			for _, problem := range a.problems(get.method, get.template, resp, body) {
				t.Errorf("%s: %s", get.path, problem)
			}
			covered["get "+get.template+" "+strconv.Itoa(resp.StatusCode)] = true
		}
	}
	c.server.Drain()
	resp, body := c.get("/readyz")
	for _, problem := range a.problems(http.MethodGet, "/readyz", resp, body) {
		t.Errorf("/readyz while draining: %s", problem)
	}
	covered["get /readyz 503"] = true
	// What can only be had of a real fixture, or by a visitor who asks too often,
	// lesson 2's own tests have.
	elsewhere := []string{"get /api/v1/fixture-runs/{id}/record 200", "post /api/v1/fixture-runs 429"}
	for path, methods := range a.doc.Paths {
		for method, op := range methods {
			for status := range op.Responses {
				if answer := method + " " + path + " " + status; !covered[answer] && !slices.Contains(elsewhere, answer) {
					t.Errorf("nothing here is answered %s", answer)
				}
			}
		}
	}
}

// Answers that are spoilt are seen: a validator that takes everything would
// pass the test above.
func TestAnAnswerThatIsNotAsDescribedIsSeen(t *testing.T) {
	c := startCourse(t)
	a := c.api()
	resp, body := c.get("/api/v1/run?t=30")
	spoilt := func(change func(*http.Response)) *http.Response {
		other := *resp
		other.Header = resp.Header.Clone()
		change(&other)
		return &other
	}
	for name, tc := range map[string]struct {
		resp           *http.Response
		template, body string
		problems       int
	}{
		"as it is":            {resp, "/api/v1/run", body, 0},
		"of another address":  {resp, "/api/v1/runs", body, 1},
		"another status":      {spoilt(func(r *http.Response) { r.StatusCode = 201 }), "/api/v1/run", body, 1},
		"another type":        {spoilt(func(r *http.Response) { r.Header.Set("Content-Type", "text/html") }), "/api/v1/run", body, 1},
		"no Cache-Control":    {spoilt(func(r *http.Response) { r.Header.Del("Cache-Control") }), "/api/v1/run", body, 2},
		"another origin":      {spoilt(func(r *http.Response) { r.Header.Set("Access-Control-Allow-Origin", "https://x.example") }), "/api/v1/run", body, 1},
		"no JSON":             {resp, "/api/v1/run", body[:len(body)-3], 1},
		"a member more":       {resp, "/api/v1/run", `{"surplus":1,` + body[1:], 1},
		"another member":      {resp, "/api/v1/run", strings.Replace(body, `"account"`, `"acount"`, 1), 1},
		"a wrong word":        {resp, "/api/v1/run", strings.Replace(body, `"pending"`, `"perhaps"`, 1), 1},
		"a number as text":    {resp, "/api/v1/run", strings.Replace(body, `"arrivals":15`, `"arrivals":"15"`, 1), 1},
		"finer than a tenth":  {resp, "/api/v1/run", strings.Replace(body, `"grace":0`, `"grace":0.05`, 1), 1},
		"out of its range":    {resp, "/api/v1/run", strings.Replace(body, `"grace":0`, `"grace":31`, 1), 1},
		"the answer to lines": {resp, "/api/v1/run", body + body, 1},
	} {
		if got := a.problems(http.MethodGet, tc.template, tc.resp, tc.body); len(got) != tc.problems {
			t.Errorf("%s: %q, want %d", name, got, tc.problems)
		}
	}
	resp, body = c.post("/api/v1/runs", "{}\n[]\n{}", "Content-Type", "application/x-ndjson")
	for name, tc := range map[string]struct {
		body     string
		problems int
	}{
		"as they are":         {body, 0},
		"a run with more":     {strings.Replace(body, `{"model"`, `{"surplus":1,"model"`, 1), 1},
		"an error with more":  {strings.Replace(body, `{"error"`, `{"surplus":1,"error"`, 1), 1},
		"a line that is none": {body + "null\n", 1},
	} {
		if got := a.problems(http.MethodPost, "/api/v1/runs", resp, tc.body); len(got) != tc.problems {
			t.Errorf("lines, %s: %q, want %d", name, got, tc.problems)
		}
	}
}

func TestTheDescriptionNamesEveryCallOfEveryLesson(t *testing.T) {
	c := startCourse(t)
	a := c.api()
	resp, data := c.get("/api/v1/openapi.json")
	if h := resp.Header; h.Get("Cache-Control") != "public, max-age=3600" || h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Content-Type") != "application/json" {
		t.Errorf("it comes with %v", h)
	}
	if startCourse(t).page("/api/v1/openapi.json") != data {
		t.Error("two servers describe the API differently")
	}
	if !strings.HasPrefix(a.doc.OpenAPI, "3.1.") || len(a.doc.Servers) != 1 || a.doc.Servers[0].URL != "/" {
		t.Errorf("OpenAPI %s, servers %v", a.doc.OpenAPI, a.doc.Servers)
	}
	want := map[string]string{"/api/v1/run": "get", "/api/v1/runs": "post", "/api/v1/openapi.json": "get", "/livez": "get", "/readyz": "get",
		"/api/v1/clocks": "get", "/api/v1/clocks/runs": "post",
		"/api/v1/fixture-runs": "post", "/api/v1/fixture-runs/{id}": "get", "/api/v1/fixture-runs/{id}/record": "get"}
	got := map[string]string{}
	seen := map[string]bool{}
	for path, methods := range a.doc.Paths {
		for method, op := range methods {
			got[path] += method
			if op.OperationID == "" || seen[op.OperationID] || op.Summary == "" || len(op.Tags) != 1 || !slices.ContainsFunc(a.doc.Tags, func(tag struct{ Name string }) bool { return tag.Name == op.Tags[0] }) {
				t.Errorf("%s %s: %q, %q, of %v", method, path, op.OperationID, op.Summary, op.Tags)
			}
			seen[op.OperationID] = true
			for _, p := range op.Parameters {
				if !strings.HasSuffix(p.Description, ".") || p.In != "query" && p.In != "path" || p.Required != (p.In == "path") {
					t.Errorf("%s %s: the parameter %s in %s, required %t: %q", method, path, p.Name, p.In, p.Required, p.Description)
				}
			}
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("the calls are %v, want %v", got, want)
	}
	for name := range a.doc.Components.Schemas {
		a.schema("components", "schemas", name) // compiles
		if s := a.doc.Components.Schemas[name]; s["type"] == "object" && s["additionalProperties"] != false {
			t.Errorf("%s takes members that it does not name", name)
		}
	}
	// Each setting of each lesson says what it means.
	for lesson, schema := range map[string]string{"drain": "Settings", "clocks": "ClocksSettings", "ledgers": "FixtureSettings"} {
		members, _ := a.doc.Components.Schemas[schema]["properties"].(map[string]any)
		l, _ := c.server.lessons.Find(lesson)
		for _, info := range l.Settings() {
			if info.Name == "platform" { // which stands for others
				continue
			}
			member, _ := members[info.Name].(map[string]any)
			if says, _ := member["description"].(string); !strings.HasSuffix(says, ".") {
				t.Errorf("%s of %s says %q", info.Name, schema, says)
			}
		}
	}
}

// The description is composed of what the course's lessons say.
func TestACourseOfOtherLessonsDescribesOtherCalls(t *testing.T) {
	for name, tc := range map[string]struct {
		lessons []course.Lesson
		paths   []string
	}{
		"no calls of their own": {toys(), []string{"/api/v1/openapi.json", "/livez", "/readyz"}},
		"lesson 1 alone":        {realLessons(t)[:1], []string{"/api/v1/openapi.json", "/api/v1/run", "/api/v1/runs", "/livez", "/readyz"}},
	} {
		a := start(t, Site{}, tc.lessons...).api()
		if got := slices.Sorted(maps.Keys(a.doc.Paths)); !slices.Equal(got, tc.paths) {
			t.Errorf("%s: %v, want %v", name, got, tc.paths)
		}
	}
}

func TestTheAPIRefusesWrongMethodsAndAddresses(t *testing.T) {
	c := startCourse(t)
	a := c.api()
	for path, methods := range a.doc.Paths {
		if !strings.HasPrefix(path, "/api/") {
			continue
		}
		path = strings.ReplaceAll(path, "{id}", "x")
		allow := "GET, HEAD, OPTIONS"
		if _, post := methods["post"]; post {
			allow = "POST, OPTIONS"
		}
		for _, method := range []string{"DELETE", "PUT", "BREW", map[bool]string{true: "GET", false: "POST"}[allow == "POST, OPTIONS"]} {
			resp, body := c.do(method, path, nil)
			if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != allow || resp.Header.Get("Access-Control-Allow-Origin") != "*" || resp.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s %s: %s %v, want %s allowed", method, path, resp.Status, resp.Header, allow)
			}
			if e := readError(t, []byte(body)); e.Setting != nil {
				t.Errorf("%s %s: a setting is to blame: %s", method, path, body)
			}
		}
		resp, _ := c.do(http.MethodOptions, path, nil, "Origin", "https://elsewhere.example")
		if resp.StatusCode != http.StatusNoContent || resp.Header.Get("Access-Control-Allow-Origin") != "*" || !strings.EqualFold(resp.Header.Get("Access-Control-Allow-Headers"), "content-type") {
			t.Errorf("the preflight of %s: %s %v", path, resp.Status, resp.Header)
		}
	}
	for _, path := range []string{"/api/v1/nothing", "/api/v1/run/", "/api/v1/", "/api/v2/run", "/api/"} {
		for _, method := range []string{"GET", "POST", "BREW"} {
			resp, body := c.do(method, path, nil)
			if resp.StatusCode != http.StatusNotFound || resp.Header.Get("Allow") != "" || resp.Header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("%s %s: %s %v", method, path, resp.Status, resp.Header)
			}
			readError(t, []byte(body))
		}
	}
}

// The pages of docs/.

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
	c := startCourse(t)
	examples := 0
	for _, block := range fenced(readDoc(t, "api.md"), "sh") {
		for block != "" {
			var words []string
			words, block = shellWords(t, block)
			if len(words) == 0 || words[0] != "curl" {
				t.Fatalf("not a curl example: %v", words)
			}
			examples++
			method, path, body := http.MethodGet, "", ""
			var headers []string
			for args := words[1:]; len(args) > 0; args = args[1:] {
				switch arg := args[0]; {
				case arg == "-N":
				case arg == "-I":
					method = http.MethodHead
				case arg == "-H" && len(args) > 1:
					name, value, _ := strings.Cut(args[1], ": ")
					headers = append(headers, name, value)
					args = args[1:]
				case arg == "--data-binary" && len(args) > 1:
					method, body = http.MethodPost, args[1]
					args = args[1:]
				case strings.HasPrefix(arg, "http://localhost:8080/") && path == "":
					path = strings.TrimPrefix(arg, "http://localhost:8080")
				default:
					t.Fatalf("%v: what is %q?", words, arg)
				}
			}
			resp, got := c.do(method, path, strings.NewReader(body), headers...)
			if resp.StatusCode != http.StatusOK {
				t.Errorf("%v: %s, %s", words, resp.Status, got)
			}
			if method != http.MethodPost {
				continue
			}
			if sent, answers := strings.Count(body, "\n")+1, strings.Count(got, "\n"); answers != sent || strings.Contains(got, `{"error"`) {
				t.Errorf("%v: %d answers to %d lines: %.300s", words, answers, sent, got)
			}
		}
	}
	if examples < 5 {
		t.Errorf("%d examples", examples)
	}
}

// A server of which a store is not needed describes itself all the same.
func TestTheDescriptionNeedsNoStore(t *testing.T) {
	s, err := New(course.NewRegister(realLessons(t)...), nil, nil, Site{}, startToys(t).server.log)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(timeless{w}, httptest.NewRequest(http.MethodGet, "/api/v1/openapi.json", nil))
	if w.Code != http.StatusOK || !json.Valid(w.Body.Bytes()) {
		t.Errorf("%d", w.Code)
	}
}
