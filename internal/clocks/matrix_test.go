package clocks_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"drainlab/internal/clocks"
)

func platform(t testing.TB, id string) *clocks.Platform {
	t.Helper()
	p, ok := clocks.FindPlatform(id)
	if !ok {
		t.Fatalf("no platform %q", id)
	}
	return &p
}

func TestTheMatrixSaysWhatBecameOfTheSignal(t *testing.T) {
	for _, c := range []struct {
		name, query         string
		platform            *clocks.Platform
		value, starts, ends string
		hookEnds            string
	}{
		{"delivered", "signal_delay=1", nil, "1 s after the hook", "5 s", "6 s", "5 s"},
		{"not in time", "prestop=10&signal_delay=25", nil, "25 s after the hook", "10 s", "never: the kill comes first", "10 s"},
		{"at the kill itself", "prestop=30", nil, "0 s after the hook", "30 s", "30 s", "30 s"},
		{"never sent", "prestop=40", nil, "0 s after the hook", "never: the kill comes first", "never", "30 s, by the kill"},
		{"sent, not handled", "signal_handled=0", nil, "sent, not handled", "5 s", "never", "5 s"},
		{"neither", "prestop=40&signal_handled=0", nil, "not sent, nor handled", "never: the kill comes first", "never", "30 s, by the kill"},
		{"a platform that sends none", "signal_handled=0", platform(t, "ec2-spot"), "none is sent: a notice to look for", "never", "never", "5 s"},
		{"where one looks for its notice", "", platform(t, "ec2-spot"), "0 s after the hook", "5 s", "5 s", "5 s"},
		{"a platform whose signal is not handled", "signal_handled=0", platform(t, "docker"), "sent, not handled", "5 s", "never", "5 s"},
	} {
		rows := clocks.Simulate(parse(t, c.query)).Matrix(c.platform)
		for _, o := range rows {
			switch o.Clock {
			case "Signal delivery":
				if o.Value != c.value || o.Starts != c.starts || o.Ends != c.ends {
					t.Errorf("%s: %q from %q to %q", c.name, o.Value, o.Starts, o.Ends)
				}
			case "preStop hook":
				if o.Ends != c.hookEnds {
					t.Errorf("%s: the hook ends %q", c.name, o.Ends)
				}
			}
		}
		if len(rows) != 9 || rows[1].Clock != "preStop hook" || rows[2].Clock != "Signal delivery" {
			t.Errorf("%s: the rows are %v", c.name, rows)
		}
	}
}

func TestABoundThatIsNotSetIsNone(t *testing.T) {
	for _, c := range []struct{ name, query, server, cleanup string }{
		{"both are set", "server_timeout=20&cleanup_budget=2.5", "20 s", "2.5 s for 1 s of work"},
		{"a bound of 0 is one", "server_timeout=0&cleanup_budget=0", "0 s", "0 s for 1 s of work"},
		{"the server waits without end", "server_timeout=none", "none", "2 s for 1 s of work"},
		{"the cleanup takes what it needs", "cleanup_budget=none", "20 s", "none for 1 s of work"},
	} {
		want := map[string]string{"Server graceful timeout": c.server, "Cleanup budget": c.cleanup}
		for _, o := range clocks.Simulate(parse(t, c.query)).Matrix(nil) {
			if value, asked := want[o.Clock]; asked && o.Value != value {
				t.Errorf("%s: %s is %q, want %q", c.name, o.Clock, o.Value, value)
			}
			delete(want, o.Clock)
		}
		if len(want) > 0 {
			t.Errorf("%s: no rows of %v", c.name, want)
		}
	}
}

// summaryOf is the paragraph under the heading of a matrix in Markdown.
func summaryOf(t testing.TB, query string, p *clocks.Platform) string {
	t.Helper()
	parts := strings.SplitN(string(clocks.Simulate(parse(t, query)).MatrixMarkdown(p)), "\n", 4)
	if len(parts) != 4 || parts[0] != "# Timeout ownership" || parts[1] != "" {
		t.Fatalf("it begins %q", parts)
	}
	return parts[2]
}

func TestTheMatrixIsHeadedByTheVerdictAndThePlan(t *testing.T) {
	for _, c := range []struct {
		name, query string
		platform    *clocks.Platform
		want        string
	}{
		{"there is time to spare", "", nil, "Verdict PASS. The plan needs 18 s of the 30 s until the kill: 12 s to spare."},
		{"the plan just fits", "grace=18", nil, "Verdict PASS. The plan needs 18 s of the 18 s until the kill: 0 s to spare."},
		{"a tenth is missing", "grace=17.9", nil, "Verdict PASS. The plan needs 18 s and the kill comes at 17.9 s: 0.1 s too little."},
		{"no signal is handled", "signal_handled=0", nil, "Verdict FAIL. Without a handled signal there is no plan; the kill comes at 30 s."},
		{"on a platform", "", platform(t, "docker"), "Docker. Verdict PASS. The plan needs 18 s of the 30 s until the kill: 12 s to spare."},
	} {
		if got := summaryOf(t, c.query, c.platform); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestTheMatrixIsTheSameInEveryForm(t *testing.T) {
	for _, c := range []struct {
		name, query string
		platform    *clocks.Platform
		named       string
	}{
		{"of no platform", "server_timeout=none", nil, ""},
		{"of a platform, failing", "grace=10", platform(t, "docker"), "Docker"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := clocks.Simulate(parse(t, c.query))
			rows := r.Matrix(c.platform)
			table := [][]string{clocks.MatrixHead()}
			for _, o := range rows {
				table = append(table, []string{o.Clock, o.Owner, o.Value, o.Starts, o.Ends, o.NoPromise, o.Evidence})
			}

			var doc struct {
				Model    int
				Platform *string
				Settings json.RawMessage
				Verdict  string
				Clocks   []clocks.Ownership
			}
			text := r.MatrixJSON(c.platform)
			if err := json.Unmarshal(text, &doc); err != nil {
				t.Fatal(err)
			}
			var settings bytes.Buffer
			if err := json.Compact(&settings, doc.Settings); err != nil {
				t.Fatal(err)
			}
			if doc.Model != clocks.Model || settings.String() != string(r.Settings.AppendJSON(nil)) || doc.Verdict != r.Verdict() || !slices.Equal(doc.Clocks, rows) {
				t.Errorf("as JSON: %s", text)
			}
			if (doc.Platform != nil) != (c.named != "") || doc.Platform != nil && *doc.Platform != c.named {
				t.Errorf("as JSON it is of %v, want %q", doc.Platform, c.named)
			}
			if !bytes.HasSuffix(text, []byte("}\n")) {
				t.Errorf("as JSON it ends %q", text[len(text)-2:])
			}

			text = r.MatrixCSV(c.platform)
			read, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
			if err != nil || !slices.EqualFunc(read, table, slices.Equal) {
				t.Errorf("as CSV, %v: %s", err, text)
			}
			if lines := bytes.Count(text, []byte("\r\n")); lines != len(table) || lines != bytes.Count(text, []byte("\n")) {
				t.Errorf("as CSV %d of %d lines end in CR LF", lines, len(table))
			}

			_, markdown, _ := strings.Cut(string(r.MatrixMarkdown(c.platform)), "\n\n| ")
			for i, line := range strings.Split(strings.TrimSuffix(markdown, "\n\nSettings: `"+string(r.Settings.AppendQuery(nil))+"`\n"), "\n") {
				want := "| --- | --- | --- | --- | --- | --- | --- |"
				switch {
				case i == 0:
					line, want = "| "+line, "| "+strings.Join(table[0], " | ")+" |"
				case i > len(table):
					t.Fatalf("as Markdown there is also %q", line)
				case i > 1:
					want = "| " + strings.Join(table[i-1], " | ") + " |"
				}
				if line != want {
					t.Errorf("as Markdown: %q, want %q", line, want)
				}
			}
		})
	}
}
