package drain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"drainlab/internal/sim"
)

func readDoc(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("../../../docs/" + name)
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

func TestDocsShowRealAnswers(t *testing.T) {
	srv := startServer(t)
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
	srv := startServer(t)
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
