package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"drainlab/internal/clocks"
	"drainlab/internal/setting"
)

// randomClocks draws settings that the API takes, half of the amounts from the
// sliders' stops, most of which are small, the rest from the whole ranges.
func randomClocks(r *rand.Rand) clocks.Settings {
	s := clocks.Opening()
	for _, c := range clocks.Table() {
		stops := c.Stops()
		v := stops[r.IntN(len(stops))]
		if r.IntN(2) == 0 && !c.Toggle && c.Words == nil {
			v = c.Min + setting.Time(r.IntN(int(c.Max-c.Min)+1))
		}
		c.Set(&s, v)
	}
	if s.Long > 0 {
		s.LongAge %= s.Long
	}
	if err := s.Validate(); err != nil {
		panic(err)
	}
	return s
}

func clocksOf(t *testing.T, query string) clocks.Settings {
	t.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	s, err := clocks.ParseValues(clocks.Opening(), values)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// clocksRunOf is the line that answers the settings of a query.
func clocksRunOf(t *testing.T, query string) string {
	t.Helper()
	return string(append(clocks.Simulate(clocksOf(t, query)).AppendJSON(nil), '\n'))
}

// clocksAtTheEnds are queries whose runs together hold every word of the
// answer, and the ends of its ranges.
var clocksAtTheEnds = []string{
	"",
	"signal_handled=0", "signal_handled=0&grace=3", "deadline=5", "deadline=5&cooperative=0", "grace=15", "grace=0", "grace=12&deadline=2",
	"server_timeout=5&stop_check=20", "server_timeout=5", "cooperative=0&server_timeout=5", "cooperative=0&server_timeout=9&long=15&cleanup=3&cleanup_budget=none",
	"cleanup=3", "cleanup=10&cleanup_budget=none&grace=20", "gate=none&prestop=0&propagation=10", "gate=term&prestop=0", "gate=term&prestop=40",
	"interval=0.1&request=600&withdraw=60&propagation=300&gate=none&signal_handled=0&grace=3600&long=3600&long_age=0&deadline=0",
	"grace=3600&hook_in_grace=0&prestop=600&signal_delay=60&gate=none&server_timeout=none&long=3600&long_age=3599.9&deadline=0.1&stop_check=0.1",
	"grace=3600&hook_in_grace=0&prestop=600&signal_handled=0&gate=none&long=3600&long_age=0&deadline=3599.9&stop_check=60",
	"grace=3600&hook_in_grace=0&prestop=600&gate=none&server_timeout=none&long=3600&long_age=0&deadline=0&cleanup=60&cleanup_budget=none",
	"grace=0.1&prestop=600&signal_delay=60&gate=none&server_timeout=none&long=3600&long_age=0&cleanup=60&cleanup_budget=none&margin=60",
	"grace=3600&prestop=0&gate=none&server_timeout=none&long=3600&long_age=0.1&cleanup=0&margin=0",
	"grace=3600&prestop=0&request=0.1&propagation=0&long=0&cleanup=0&margin=0", "long=0&long_age=3600&request=0.1&propagation=0",
}

func TestOpenAPISchemasHoldForRealTerminations(t *testing.T) {
	srv := newAPIServer(t)
	schemas := compileSchemas(t)
	r := seeded(t)
	queries := slices.Clone(clocksAtTheEnds)
	for range 60 {
		queries = append(queries, string(randomClocks(r).AppendQuery(nil)))
	}
	seen := map[string]bool{}
	for i, query := range queries {
		a := get(t, srv.URL+"/api/v1/clocks?"+query)
		a.wantType(t, http.StatusOK, "application/json")
		wantValid(t, schemas["ClocksRun"], a.body)
		if i < len(clocksAtTheEnds) {
			for _, word := range regexp.MustCompile(`"(outcome|work|ended|cleanup|verdict)":"\w+"|"(term|gate|drained|exit|need)":null`).FindAllString(string(a.body), -1) {
				seen[word] = true
			}
		}
	}
	if len(seen) != 6+4+2+3+2+5 {
		t.Errorf("the fixed queries give %d words: %v", len(seen), seen)
	}

	for _, query := range []string{
		"grace=3601", "grace=none", "grace=", "gate=2", "gate=Term", "server_timeout=never", "cleanup_budget=60.1", "interval=0", "hook_in_grace=true",
		"long=5&long_age=5", "pods=3", "platform=ecs", "t=3", "model=2", "format=csv", "a;b", "%zz", "=1",
		strings.Repeat("%C3%A9", 200) + "=" + strings.Repeat("%FF", 200),
	} {
		a := get(t, srv.URL+"/api/v1/clocks?"+query)
		a.wantType(t, http.StatusBadRequest, "application/json")
		wantValid(t, schemas["Error"], a.body)
	}
	for _, method := range []string{http.MethodPost, http.MethodDelete} {
		a := ask(t, method, srv.URL+"/api/v1/clocks", nil, nil)
		a.wantType(t, http.StatusMethodNotAllowed, "application/json")
		wantValid(t, schemas["Error"], a.body)
	}
	a := ask(t, http.MethodPost, srv.URL+"/api/v1/clocks/runs?grace=10", nil, strings.NewReader("{}"))
	a.wantType(t, http.StatusBadRequest, "application/json")
	wantValid(t, schemas["Error"], a.body)

	var lines []string
	for range 20 {
		lines = append(lines, string(randomClocks(r).AppendJSON(nil)), `{"grace":3601}`, "", "[]", `{"pods":3}`, `{"server_timeout":"20"}`,
			`{"gate":0}`, `{"long":5,"long_age":5}`, strings.Repeat(" ", lineLimit+1))
	}
	answers := postLines(t, srv.URL+"/api/v1/clocks/runs", strings.Join(lines, "\n"))
	if len(answers) != len(lines) {
		t.Fatalf("%d answers to %d lines", len(answers), len(lines))
	}
	for i, line := range answers {
		if !strings.HasPrefix(lines[i], `{"grace":`) || lines[i] == `{"grace":3601}` {
			wantValid(t, schemas["Error"], []byte(line))
			continue
		}
		wantValid(t, schemas["ClocksSettings"], []byte(lines[i]))
		wantValid(t, schemas["ClocksRun"], []byte(line))
	}
}

// A schema that takes everything would pass the test above: see
// [TestOpenAPISchemasRefuseAnswersThatAreWrong].
func TestOpenAPISchemasRefuseTerminationsThatAreWrong(t *testing.T) {
	schemas := compileSchemas(t)
	for _, query := range []string{"server_timeout=5&prestop=1&propagation=3&interval=1", "signal_handled=0&server_timeout=none&grace=12&long=30&gate=none"} {
		data := clocks.Simulate(clocksOf(t, query)).AppendJSON(nil)
		wantValid(t, schemas["ClocksRun"], data)
		run, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		members := run.(map[string]any)
		sp := spoiler{t: t, schemas: schemas, component: "ClocksRun", whole: run, below: "-5000"}
		sp.spoil("run", "ClocksRun", members, nil)
		sp.spoil("settings", "ClocksRun", members["settings"].(map[string]any), nil)
		for name, component := range map[string]string{"instants": "ClocksInstants", "account": "ClocksAccount", "work": "ClocksWork", "budget": "ClocksBudget"} {
			sp.spoil(name, component, members[name].(map[string]any), nil)
		}
		for _, item := range members["requests"].([]any) {
			sp.spoil("requests", "ClocksRequest", item.(map[string]any), nil)
		}
		if sp.tried < 400 {
			t.Errorf("only %d changes were tried", sp.tried)
		}

		// There is a whole plan or none.
		budget := members["budget"].(map[string]any)
		for _, name := range []string{"term", "need", "slack"} {
			was := budget[name]
			budget[name] = nil
			if was == nil {
				budget[name] = json.Number("7")
			}
			sp.refuses("ClocksBudget", budget, "%s is %v in %v", name, budget[name], budget)
			budget[name] = was
		}
		// A verdict has its reasons.
		verdict := members["verdict"]
		members["verdict"] = map[any]string{"pass": "fail", "fail": "pass"}[verdict]
		sp.refuses("ClocksRun", run, "the verdict is %v", members["verdict"])
		members["verdict"] = verdict
	}

	// What the outcome of a request leaves open for its work.
	follows := map[string]string{"completed": "completed", "deadline": "completed, confirmed_stopped, unknown", "cancelled": "completed, confirmed_stopped, unknown",
		"killed": "unknown", "rejected": "not_started", "refused": "not_started"}
	for o := range clocks.Refused + 1 {
		for w := range clocks.NotStarted + 1 {
			for _, end := range []string{"null", "4"} {
				text := fmt.Sprintf(`{"arrival":1,"long":false,"outcome":"%v","ended_at":3,"work":"%v","work_ended_at":%s}`, o, w, end)
				request, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
				if err != nil {
					t.Fatal(err)
				}
				ended := w == clocks.WorkCompleted || w == clocks.ConfirmedStopped
				want := slices.Contains(strings.Split(follows[o.String()], ", "), w.String()) && ended == (end != "null")
				if err := schemas["ClocksRequest"].Validate(request); (err == nil) != want {
					t.Errorf("%s: taken %v, want %v", text, err == nil, want)
				}
			}
		}
	}
}

func TestAPIClocksAnswersTheSameBytesForTheSameSettings(t *testing.T) {
	srv := newAPIServer(t)
	r := seeded(t)
	for range 30 {
		s := randomClocks(r)
		query := string(s.AppendQuery(nil))
		pairs := append(strings.Split(query, "&"), "model=1")
		r.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		want := append(clocks.Simulate(s).AppendJSON(nil), '\n')
		for _, q := range []string{query, strings.Join(pairs, "&")} {
			if a := get(t, srv.URL+"/api/v1/clocks?"+q); !bytes.Equal(a.body, want) {
				t.Fatalf("%s:\n got %.2000s\nwant %.2000s", q, a.body, want)
			}
		}
	}
}

func TestAPIClocksRefusesBadInputAndSaysWhatIsAllowed(t *testing.T) {
	srv := newAPIServer(t)
	for _, c := range []struct{ name, query, setting, got, allowed string }{
		{"above the range", "grace=3600.1", "grace", "3600.1", "from 0 to 3600 s"},
		{"below the range", "interval=0", "interval", "0", "from 0.1 to 10 s"},
		{"finer than a tenth", "prestop=4.05", "prestop", "4.05", "in steps of 0.1 s"},
		{"no bound where one must be", "grace=none", "grace", "none", "from 0 to 3600 s in steps of 0.1 s"},
		{"another word for no bound", "server_timeout=never", "server_timeout", "never", "in steps of 0.1 s, or none"},
		{"an unknown word", "gate=early", "gate", "early", "one of prestop, term, none"},
		{"a word for a toggle", "cooperative=true", "cooperative", "true", "1 (on) or 0 (off)"},
		{"a long request that is over", "long=5&long_age=5", "long_age", "5", "less than the 5 s"},
		{"a preset of the page", "platform=ecs", "platform", "ecs", "there are grace, hook_in_grace"},
		{"an axis of the page", "x=grace", "x", "grace", "there are grace, hook_in_grace"},
		{"an instant", "t=3", "t", "3", "there are grace, hook_in_grace"},
		{"a name twice", "grace=1&grace=2", "grace", "1, 2", "one value"},
		{"a model that does not exist", "model=2", "model", "2", "1"},
		{"the model twice", "model=1&model=1", "model", "1, 1", "one value"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := get(t, srv.URL+"/api/v1/clocks?"+c.query)
			a.wantType(t, http.StatusBadRequest, "application/json")
			a.wantHeader(t, "Cache-Control", "no-store")
			a.wantHeader(t, "Access-Control-Allow-Origin", "*")
			e := a.readError(t)
			if text(e.Setting) != c.setting || text(e.Got) != c.got || !strings.Contains(text(e.Allowed), c.allowed) || !strings.Contains(e.Error, "allowed: "+text(e.Allowed)) {
				t.Errorf("%s", a.body)
			}
		})
	}
}

func TestClocksRunsAnswerLineByLine(t *testing.T) {
	srv := newAPIServer(t)
	padded := func(n int) string { return `{"grace":10}` + strings.Repeat(" ", n-len(`{"grace":10}`)) }
	// As in [TestRunsAnswerLineByLine].
	for _, c := range []struct {
		name, body string
		want       []string
	}{
		{"no line", "", nil},
		{"three lines in order", "{\"grace\":10}\n{}\r\n{\"gate\":\"term\",\"server_timeout\":\"none\",\"cooperative\":false}", []string{"grace=10", "", "gate=term&server_timeout=none&cooperative=0"}},
		{"bad lines among good ones", "{\"grace\":3601}\n{\"grace\":10}\n\n{\"pods\":3}\nnonsense\n[]\n{\"grace\":1}{}\n{\"grace\":1,\"grace\":1}\n{\"grace\":\n{\"grace\":20}\n",
			[]string{"!from 0 to 3600 s", "grace=10", "!ends too early", "!no setting of this name", "!not JSON", "!not a JSON object", "!more than one JSON value", "!a second time", "!ends too early", "grace=20"}},
		{"wrong types", "{\"server_timeout\":\"20\"}\n{\"server_timeout\":null}\n{\"grace\":\"none\"}\n{\"gate\":1}\n{\"gate\":\"Term\"}\n{\"cooperative\":1}\n{\"long\":5,\"long_age\":5}\n{\"model\":1}\n",
			[]string{`!the text \"20\"`, "!null", `!the text \"none\"`, "!one of prestop, term, none", "!Term", "!true or false", "!less than the 5 s", "!no setting of this name"}},
		{"a line of the limit", padded(lineLimit) + "\r\n" + padded(lineLimit), []string{"grace=10", "grace=10"}},
		{"a line over the limit", padded(lineLimit+1) + "\n{\"grace\":20}\n", []string{"!line 1: got a line of more than 4096 bytes", "grace=20"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := postLines(t, srv.URL+"/api/v1/clocks/runs", c.body)
			if len(got) != len(c.want) {
				t.Fatalf("%d lines, want %d: %.300q", len(got), len(c.want), got)
			}
			for i, want := range c.want {
				if sentence, isError := strings.CutPrefix(want, "!"); isError {
					if e := readErrorLine(t, []byte(got[i])); !strings.Contains(e.Error, sentence) {
						t.Errorf("line %d: %s, want %q", i+1, got[i], sentence)
					}
				} else if got[i] != clocksRunOf(t, want) {
					t.Errorf("line %d: %.300s, want the run of %q", i+1, got[i], want)
				}
			}
		})
	}
}

// The bound of bytes is tried by [TestRunsEndCleanlyWhereTheBodyIsTooLarge].
func TestClocksRunsTakeTenThousandLines(t *testing.T) {
	srv := newAPIServer(t)
	const surplus = 1 << 20
	line := `{"long":0,"request":0.1,"propagation":0}` + "\n"
	body := io.MultiReader(strings.NewReader(strings.Repeat(line, mostLines)), newPattern("{}\n", surplus, nil))
	a := ask(t, http.MethodPost, srv.URL+"/api/v1/clocks/runs", nil, body)
	a.wantType(t, http.StatusOK, "application/x-ndjson")
	lines := slices.Collect(strings.Lines(string(a.body)))
	if len(lines) != mostLines+1 {
		t.Fatalf("%d lines, want %d", len(lines), mostLines+1)
	}
	want := clocksRunOf(t, "long=0&request=0.1&propagation=0")
	for i, got := range lines[:mostLines] {
		if got != want {
			t.Fatalf("line %d: %.300s", i+1, got)
		}
	}
	if e := readErrorLine(t, []byte(lines[mostLines])); !strings.HasPrefix(e.Error, "line 10001: ") || !strings.Contains(e.Error, "10000") {
		t.Errorf("line 10,001 is answered by %s", lines[mostLines])
	}
}

// The page docs/clocks.md.

func TestDocsTableOfClocksIsTheControls(t *testing.T) {
	rows, controls := tableAfter(t, readDoc(t, "clocks.md"), "label"), clocks.Table()
	if len(rows) != len(controls) {
		t.Fatalf("%d rows, want %d", len(rows), len(controls))
	}
	for i, c := range controls {
		limits, opening := c.Min.String()+"–"+c.Max.String()+" "+c.Unit, c.TextOf(c.Opening)
		switch {
		case c.Toggle:
			limits, opening = "on, off", map[setting.Time]string{setting.Off: "off", setting.On: "on"}[c.Opening]
		case c.Words != nil:
			limits = strings.Join(c.Words, ", ")
		case c.None:
			limits += ", " + setting.NoBound
		}
		if want := []string{c.Label, c.Name, limits, opening}; !slices.Equal(rows[i][:4], want) || rows[i][4] == "" {
			t.Errorf("clocks.md: %q, want %q and what it says", rows[i], want)
		}
		if want := setting.Tenth; !c.Toggle && c.Words == nil && c.Grain != want {
			t.Errorf("%s: steps of %v, clocks.md says %v", c.Name, c.Grain, want)
		}
	}
	if doc := readDoc(t, "clocks.md"); !strings.Contains(doc, "all nineteen") || len(controls) != 19 {
		t.Errorf("clocks.md does not say that there are %d settings", len(controls))
	}
}

func TestDocsWorkedTerminationsAreTrue(t *testing.T) {
	srv := newAPIServer(t)
	rows := tableAfter(t, readDoc(t, "clocks.md"), "query")
	if len(rows) != 7 {
		t.Errorf("%d rows, want the opening run and six cases", len(rows))
	}
	for _, row := range rows {
		query := row[0]
		if query == "(none)" {
			query = ""
		}
		var run struct {
			Account  struct{ Admitted, Completed, Deadline, Cancelled, Killed, Rejected, Refused int }
			Work     struct{ Unknown int }
			Requests []struct {
				Long    bool
				Outcome string
				EndedAt json.Number `json:"ended_at"`
			}
			Ended, Verdict string
			End            json.Number
		}
		decodeNumbers(t, get(t, srv.URL+"/api/v1/clocks?"+query).body, &run)
		a := run.Account
		var want []string
		for _, n := range []int{a.Admitted, a.Completed, a.Cancelled, a.Killed, a.Rejected, a.Refused, run.Work.Unknown} {
			want = append(want, strconv.Itoa(n))
		}
		long := "none"
		for _, q := range run.Requests {
			if q.Long {
				long = fmt.Sprintf("%s at %s s", q.Outcome, q.EndedAt)
			}
		}
		want = append(want, fmt.Sprintf("%s at %s s", run.Ended, run.End), long, run.Verdict)
		if !slices.Equal(row[1:len(row)-1], want) || a.Deadline != 0 {
			t.Errorf("%s: clocks.md has %q, the run %q and %d at the deadline", row[0], row[1:len(row)-1], want, a.Deadline)
		}
	}
}

func TestDocsListEveryReasonToFail(t *testing.T) {
	var listed []string
	for _, row := range tableAfter(t, readDoc(t, "clocks.md"), "reason") {
		listed = append(listed, strings.Split(strings.ReplaceAll(row[0], "`", ""), " or ")...)
	}
	given := map[string]bool{}
	for _, query := range clocksAtTheEnds {
		for _, reason := range clocks.Simulate(clocksOf(t, query)).Reasons() {
			given[regexp.MustCompile(`\d+ >`).ReplaceAllString(reason, "n >")] = true
		}
	}
	for _, reason := range listed {
		if !given[reason] {
			t.Errorf("clocks.md lists %q, which no run gives", reason)
		}
		delete(given, reason)
	}
	for reason := range given {
		t.Errorf("clocks.md does not list %q", reason)
	}
}

func TestDocsListThePresets(t *testing.T) {
	doc := readDoc(t, "clocks.md")
	rows, platforms := tableAfter(t, doc, "id"), clocks.Platforms()
	if len(rows) != len(platforms) {
		t.Fatalf("%d rows, want %d", len(rows), len(platforms))
	}
	for i, p := range platforms {
		most, hook, signal, name := "none named", "apart", "yes", "none"
		if p.Most != clocks.Never {
			most = fmt.Sprintf("%s s (%s)", p.Most, p.MostWhere)
		}
		if p.HookInGrace {
			hook = "in it"
		}
		if !p.Handled {
			signal = "none"
		}
		if p.Setting != "" {
			name = p.Setting
		}
		want := []string{p.ID, p.Name, p.Grace.String() + " s", most, hook, signal, name, fmt.Sprintf("[%s](%s)", p.Document, p.URL)}
		if !slices.Equal(rows[i], want) {
			t.Errorf("clocks.md: %q, want %q", rows[i], want)
		}
	}
	if !strings.Contains(doc, clocks.LookedUp) {
		t.Errorf("clocks.md does not say that they were looked up on %s", clocks.LookedUp)
	}
}
