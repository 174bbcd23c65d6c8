package clocks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	model "drainlab/internal/clocks"
	"drainlab/web/answer"
)

// lineLimit is how many bytes a line may have, as docs/api.md says.
const lineLimit = 4 << 10

func TestOpenAPISchemasHoldForRealTerminations(t *testing.T) {
	h := served(t)
	schemas := compileSchemas(t, h)
	r := seeded(t)
	queries := slices.Clone(clocksAtTheEnds)
	for range 60 {
		queries = append(queries, string(randomClocks(r).AppendQuery(nil)))
	}
	seen := map[string]bool{}
	for i, query := range queries {
		a := get(t, h, "/api/v1/clocks?"+query)
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
		a := get(t, h, "/api/v1/clocks?"+query)
		a.wantType(t, http.StatusBadRequest, "application/json")
		wantValid(t, schemas["Error"], a.body)
	}
	for _, method := range []string{http.MethodPost, http.MethodDelete} {
		a := ask(t, h, method, "/api/v1/clocks", nil, nil)
		a.wantType(t, http.StatusMethodNotAllowed, "application/json")
		wantValid(t, schemas["Error"], a.body)
	}
	a := ask(t, h, http.MethodPost, "/api/v1/clocks/runs?grace=10", nil, strings.NewReader("{}"))
	a.wantType(t, http.StatusBadRequest, "application/json")
	wantValid(t, schemas["Error"], a.body)

	var lines []string
	for range 20 {
		lines = append(lines, string(randomClocks(r).AppendJSON(nil)), `{"grace":3601}`, "", "[]", `{"pods":3}`, `{"server_timeout":"20"}`,
			`{"gate":0}`, `{"long":5,"long_age":5}`, strings.Repeat(" ", lineLimit+1))
	}
	for query, schema := range map[string]string{"": "ClocksRunWithoutRequests", "?requests=1": "ClocksRun"} {
		answers := postLines(t, h, "/api/v1/clocks/runs"+query, strings.Join(lines, "\n"))
		if len(answers) != len(lines) {
			t.Fatalf("%d answers to %d lines", len(answers), len(lines))
		}
		for i, line := range answers {
			if !strings.HasPrefix(lines[i], `{"grace":`) || lines[i] == `{"grace":3601}` {
				wantValid(t, schemas["Error"], []byte(line))
				continue
			}
			wantValid(t, schemas["ClocksSettings"], []byte(lines[i]))
			wantValid(t, schemas[schema], []byte(line))
		}
	}
}

// A schema that takes everything would pass the test above: see
// [TestOpenAPISchemasRefuseAnswersThatAreWrong].
func TestOpenAPISchemasRefuseTerminationsThatAreWrong(t *testing.T) {
	schemas := compileSchemas(t, served(t))
	for _, query := range []string{"server_timeout=5&prestop=1&propagation=3&interval=1", "signal_handled=0&server_timeout=none&grace=12&long=30&gate=none"} {
		data := model.Simulate(clocksOf(t, query)).AppendJSON(nil)
		wantValid(t, schemas["ClocksRun"], data)
		run, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		members := run.(map[string]any)
		sp := spoiler{t: t, schemas: schemas, component: "ClocksRun", whole: run, below: "-5000"}
		sp.spoil("run", "ClocksRun", members)
		sp.spoil("settings", "ClocksRun", members["settings"].(map[string]any))
		for name, component := range map[string]string{"instants": "ClocksInstants", "account": "ClocksAccount", "work": "ClocksWork", "budget": "ClocksBudget"} {
			sp.spoil(name, component, members[name].(map[string]any))
		}
		for _, item := range members["requests"].([]any) {
			sp.spoil("requests", "ClocksRequest", item.(map[string]any))
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
	for o := range model.Refused + 1 {
		for w := range model.NotStarted + 1 {
			for _, end := range []string{"null", "4"} {
				text := fmt.Sprintf(`{"arrival":1,"long":false,"outcome":"%v","ended_at":3,"work":"%v","work_ended_at":%s}`, o, w, end)
				request, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
				if err != nil {
					t.Fatal(err)
				}
				ended := w == model.WorkCompleted || w == model.ConfirmedStopped
				want := slices.Contains(strings.Split(follows[o.String()], ", "), w.String()) && ended == (end != "null")
				if err := schemas["ClocksRequest"].Validate(request); (err == nil) != want {
					t.Errorf("%s: taken %v, want %v", text, err == nil, want)
				}
			}
		}
	}
}

func TestAPIClocksAnswersTheSameBytesForTheSameSettings(t *testing.T) {
	h := served(t)
	r := seeded(t)
	for range 30 {
		s := randomClocks(r)
		query := string(s.AppendQuery(nil))
		pairs := append(strings.Split(query, "&"), "model=1")
		r.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		want := append(model.Simulate(s).AppendJSON(nil), '\n')
		for _, q := range []string{query, strings.Join(pairs, "&")} {
			if a := get(t, h, "/api/v1/clocks?"+q); !bytes.Equal(a.body, want) {
				t.Fatalf("%s:\n got %.2000s\nwant %.2000s", q, a.body, want)
			}
		}
	}
}

func TestAPIClocksRefusesBadInputAndSaysWhatIsAllowed(t *testing.T) {
	h := served(t)
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
			a := get(t, h, "/api/v1/clocks?"+c.query)
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
	h := served(t)
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
			for query, runOf := range map[string]func(*testing.T, string) string{"": clocksLineOf, "?requests=1": clocksRunOf} {
				got := postLines(t, h, "/api/v1/clocks/runs"+query, c.body)
				if len(got) != len(c.want) {
					t.Fatalf("%d lines, want %d: %.300q", len(got), len(c.want), got)
				}
				for i, want := range c.want {
					if sentence, isError := strings.CutPrefix(want, "!"); isError {
						if e := readErrorLine(t, []byte(got[i])); !strings.Contains(e.Error, sentence) {
							t.Errorf("line %d: %s, want %q", i+1, got[i], sentence)
						}
					} else if got[i] != runOf(t, want) {
						t.Errorf("line %d: %.300s, want the run of %q", i+1, got[i], want)
					}
				}
			}
		})
	}
}

// The bound of bytes is tried by [TestRunsEndCleanlyWhereTheBodyIsTooLarge].
func TestClocksRunsTakeTenThousandLines(t *testing.T) {
	h := served(t)
	const surplus = 1 << 20
	line := `{"long":0,"request":0.1,"propagation":0}` + "\n"
	body := io.MultiReader(strings.NewReader(strings.Repeat(line, answer.MostLines)), strings.NewReader(strings.Repeat("{}\n", surplus/3)))
	a := ask(t, h, http.MethodPost, "/api/v1/clocks/runs", nil, body)
	a.wantType(t, http.StatusOK, "application/x-ndjson")
	lines := slices.Collect(strings.Lines(string(a.body)))
	if len(lines) != answer.MostLines+1 {
		t.Fatalf("%d lines, want %d", len(lines), answer.MostLines+1)
	}
	want := clocksLineOf(t, "long=0&request=0.1&propagation=0")
	for i, got := range lines[:answer.MostLines] {
		if got != want {
			t.Fatalf("line %d: %.300s", i+1, got)
		}
	}
	if e := readErrorLine(t, []byte(lines[answer.MostLines])); !strings.HasPrefix(e.Error, "line 10001: ") || !strings.Contains(e.Error, "10000") {
		t.Errorf("line 10,001 is answered by %s", lines[answer.MostLines])
	}
}

func TestClocksRunsRefuseOtherParametersThanRequests(t *testing.T) {
	h := served(t)
	for query, want := range map[string][3]string{
		"requests=0":            {"requests", "0", "1, or no such parameter"},
		"requests=":             {"requests", "", "1, or no such parameter"},
		"requests":              {"requests", "", "1, or no such parameter"},
		"requests=true":         {"requests", "true", "1, or no such parameter"},
		"requests=1&requests=1": {"requests", "1, 1", "one value"},
		"Requests=1":            {"Requests", "1", "only requests"},
		"grace=10":              {"grace", "10", "the settings come in the body"},
		"requests=1&model=1":    {"model", "1", "only requests"},
		"z=1&a=2&a=3":           {"a", "2, 3", "only requests"},
	} {
		a := ask(t, h, http.MethodPost, "/api/v1/clocks/runs?"+query, nil, strings.NewReader("{}"))
		a.wantType(t, http.StatusBadRequest, "application/json")
		a.wantHeader(t, "Cache-Control", "no-store")
		e := a.readError(t)
		if text(e.Setting) != want[0] || text(e.Got) != want[1] || !strings.Contains(text(e.Allowed), want[2]) {
			t.Errorf("%s: %s", query, a.body)
		}
	}
}
