package clocks

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	model "drainlab/internal/clocks"
	"drainlab/internal/setting"
)

// The page docs/clocks.md.

func TestDocsTableOfClocksIsTheControls(t *testing.T) {
	rows, controls := tableAfter(t, readDoc(t, "clocks.md"), "label"), model.Table()
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
	h := served(t)
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
		decodeNumbers(t, get(t, h, "/api/v1/clocks?"+query).body, &run)
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
		for _, reason := range model.Simulate(clocksOf(t, query)).Reasons() {
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
	rows, platforms := tableAfter(t, doc, "id"), model.Platforms()
	if len(rows) != len(platforms) {
		t.Fatalf("%d rows, want %d", len(rows), len(platforms))
	}
	for i, p := range platforms {
		most, hook, signal, name := "none named", "apart", "yes", "none"
		if p.Most != model.Never {
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
	if !strings.Contains(doc, model.LookedUp) {
		t.Errorf("clocks.md does not say that they were looked up on %s", model.LookedUp)
	}
}
