package clocks_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"drainlab/internal/clocks"
)

// The table of docs/clocks.md. Amounts are written as a URL writes them.
var settingsTable = []struct {
	name, label string
	min, max    string // "" for a toggle and for words
	none        bool
	words       string
	opening     string
	field       func(*clocks.Settings) any
}{
	{"grace", "Outer termination grace", "0", "3600", false, "", "30", func(s *clocks.Settings) any { return &s.Grace }},
	{"hook_in_grace", "Grace includes the hook", "", "", false, "", "1", func(s *clocks.Settings) any { return &s.HookInGrace }},
	{"prestop", "preStop duration", "0", "600", false, "", "5", func(s *clocks.Settings) any { return &s.Prestop }},
	{"signal_delay", "Signal reaches the application after", "0", "60", false, "", "0", func(s *clocks.Settings) any { return &s.SignalDelay }},
	{"signal_handled", "Application handles the signal", "", "", false, "", "1", func(s *clocks.Settings) any { return &s.SignalHandled }},
	{"withdraw", "Readiness withdrawn after", "0", "60", false, "", "0", func(s *clocks.Settings) any { return &s.Withdraw }},
	{"propagation", "Routing propagation", "0", "300", false, "", "2", func(s *clocks.Settings) any { return &s.Propagation }},
	{"gate", "Admission gate closes", "", "", false, "prestop, term, none", "prestop", func(s *clocks.Settings) any { return &s.Gate }},
	{"server_timeout", "Server graceful timeout", "0", "3600", true, "", "20", func(s *clocks.Settings) any { return &s.ServerTimeout }},
	{"cleanup", "Cleanup needs", "0", "60", false, "", "1", func(s *clocks.Settings) any { return &s.Cleanup }},
	{"cleanup_budget", "Cleanup budget", "0", "60", true, "", "2", func(s *clocks.Settings) any { return &s.CleanupBudget }},
	{"interval", "A request every", "0.1", "10", false, "", "0.5", func(s *clocks.Settings) any { return &s.Interval }},
	{"request", "Request duration", "0.1", "600", false, "", "4", func(s *clocks.Settings) any { return &s.Request }},
	{"long", "One long request lasts (0: none)", "0", "3600", false, "", "20", func(s *clocks.Settings) any { return &s.Long }},
	{"long_age", "… and is this old at time 0", "0", "3600", false, "", "5", func(s *clocks.Settings) any { return &s.LongAge }},
	{"deadline", "Request deadline (0: none)", "0", "3600", false, "", "60", func(s *clocks.Settings) any { return &s.Deadline }},
	{"cooperative", "Backend work obeys cancellation", "", "", false, "", "1", func(s *clocks.Settings) any { return &s.Cooperative }},
	{"stop_check", "… and acknowledges within", "0.1", "60", false, "", "0.5", func(s *clocks.Settings) any { return &s.StopCheck }},
	{"margin", "Safety margin", "0", "60", false, "", "2", func(s *clocks.Settings) any { return &s.Margin }},
}

func TestControlsAreTheTableOfTheContract(t *testing.T) {
	controls := clocks.Table()
	if len(controls) != len(settingsTable) {
		t.Fatalf("%d controls, want %d", len(controls), len(settingsTable))
	}
	opening := clocks.Opening()
	for i, want := range settingsTable {
		c := controls[i]
		toggle := want.max == "" && want.words == ""
		if c.Name != want.name || c.Label != want.label || c.Toggle != toggle || c.None != want.none || strings.Join(c.Words, ", ") != want.words {
			t.Errorf("control %d: %q, %q, toggle %v, none %v, words %q; want %+v", i+1, c.Name, c.Label, c.Toggle, c.None, c.Words, want)
		}
		if want.max != "" && (c.Min.String() != want.min || c.Max.String() != want.max || c.Grain.String() != "0.1" || c.Unit != "s") {
			t.Errorf("%s: %v–%v, grain %v, unit %q; want %s–%s s in tenths", c.Name, c.Min, c.Max, c.Grain, c.Unit, want.min, want.max)
		}
		if got := c.TextOf(c.Opening); got != want.opening || c.Text(opening) != want.opening {
			t.Errorf("%s opens with %s (%s), want %s", c.Name, got, c.Text(opening), want.opening)
		}
		if found, ok := clocks.FindControl(want.name); !ok || found.Label != want.label {
			t.Errorf("FindControl(%q) finds %q, %v", want.name, found.Label, ok)
		}
	}
	for _, name := range []string{"", "Grace", "grace ", "platform", "t"} {
		if c, ok := clocks.FindControl(name); ok {
			t.Errorf("FindControl(%q) finds %q", name, c.Label)
		}
	}
}

func TestSettingsLeftOutHaveTheirOpeningValues(t *testing.T) {
	want := clocks.Settings{
		Grace: 300, HookInGrace: true, Prestop: 50, SignalHandled: true, Propagation: 20, Gate: clocks.GateAtPrestop, ServerTimeout: 200,
		Cleanup: 10, CleanupBudget: 20, Interval: 5, Request: 40, Long: 200, LongAge: 50, Deadline: 600, Cooperative: true, StopCheck: 5, Margin: 20,
	}
	if got := clocks.Opening(); got != want {
		t.Errorf("Opening() = %+v, want %+v", got, want)
	}
	if got := parse(t, ""); got != want {
		t.Errorf("the empty query gives %+v", got)
	}
	if got, err := clocks.ParseJSON([]byte(" {} \n")); err != nil || got != want {
		t.Errorf("the empty object gives %+v, %v", got, err)
	}
	if err := want.Validate(); err != nil {
		t.Errorf("the opening values: %v", err)
	}
	want.Grace, want.SignalHandled, want.Gate, want.ServerTimeout, want.StopCheck = 105, false, clocks.GateNever, clocks.None, 1
	if got := parse(t, "grace=10.5&signal_handled=0&gate=none&server_timeout=none&stop_check=0.1"); got != want {
		t.Errorf("five settings give %+v, want %+v", got, want)
	}
	text := `{"stop_check":0.1,"server_timeout":"none","grace":10.5,"gate":"none","signal_handled":false}`
	if got, err := clocks.ParseJSON([]byte(text)); err != nil || got != want {
		t.Errorf("five settings in JSON give %+v, %v, want %+v", got, err, want)
	}
}

func TestAQueryChangesWhatItNamesAlone(t *testing.T) {
	base := parse(t, "grace=12.3&gate=term&cleanup_budget=none&cooperative=0")
	got, err := clocks.ParseValues(base, map[string][]string{"cooperative": {"1"}, "grace": {"7"}})
	want := base
	want.Cooperative, want.Grace = true, 70
	if err != nil || got != want {
		t.Errorf("changed to %+v, %v, want %+v", got, err, want)
	}
	if got, err = clocks.ParseValues(base, map[string][]string{"cooperative": {"1"}, "grace": {"3601"}}); err == nil || got != base {
		t.Errorf("a refused query gives %+v, %v, want %+v", got, err, base)
	}
}

// Each control sets its own field, at both ends of its range and no further.
func TestEachControlReachesItsFieldFromEndToEnd(t *testing.T) {
	for _, row := range settingsTable {
		for _, text := range inside(row.name) {
			s := quiet(row.name)
			want := s
			switch p := row.field(&want).(type) {
			case *clocks.Time:
				*p = tenths(text)
			case *bool:
				*p = text == "1"
			case *clocks.GateClosing:
				*p = map[string]clocks.GateClosing{"prestop": clocks.GateAtPrestop, "term": clocks.GateAtTerm, "none": clocks.GateNever}[text]
			}
			got, err := clocks.ParseValues(s, map[string][]string{row.name: {text}})
			if err != nil || got != want || got.Validate() != nil {
				t.Errorf("%s=%s gives %+v, %v, want %+v", row.name, text, got, err, want)
			}
			if c, _ := clocks.FindControl(row.name); c.Text(got) != text {
				t.Errorf("%s=%s is written %s", row.name, text, c.Text(got))
			}
		}
	}
}

// quiet is the opening values, but with no long request that could forbid a
// value of the setting.
func quiet(name string) clocks.Settings {
	s := clocks.Opening()
	switch name {
	case "long":
		s.LongAge = 0
	case "long_age":
		s.Long = 0
	}
	return s
}

// inside lists values that the contract's table allows.
func inside(name string) []string {
	for _, row := range settingsTable {
		switch {
		case row.name != name:
		case row.words != "":
			return strings.Split(row.words, ", ")
		case row.max == "":
			return []string{"0", "1"}
		case row.none:
			return []string{row.min, "0.1", "3.7", row.max, "none"}
		default:
			return []string{row.min, "0.1", "3.7", row.max}
		}
	}
	return nil
}

func tenths(text string) clocks.Time {
	if text == "none" {
		return clocks.None
	}
	whole, tenth, _ := strings.Cut(text, ".")
	var n, m clocks.Time
	fmt.Sscan(whole, &n)
	fmt.Sscan(tenth, &m)
	return n*clocks.Second + m
}

// allowed is what a refusal must tell of a setting, by the contract's table.
func allowed(name string) string {
	for _, row := range settingsTable {
		switch {
		case row.name != name:
		case row.words != "":
			return "one of " + row.words
		case row.max == "":
			return "1 (on) or 0 (off)"
		case row.none:
			return "a plain decimal number from " + row.min + " to " + row.max + " s in steps of 0.1 s, or none"
		default:
			return "a plain decimal number from " + row.min + " to " + row.max + " s in steps of 0.1 s"
		}
	}
	return ""
}

// Every setting refuses the nearest values that it does not allow, and what is
// no value at all.
func TestEachSettingRefusesWhatTheContractDoesNotAllow(t *testing.T) {
	for _, row := range settingsTable {
		refused := []string{"", " ", "on", "true", "x", "-1", "-0", "NaN", "Inf", "1e1", "0x1", "1_0", "٤", "1.", ".5", "0.15", "+1", " 1", "1 ", "1s", "None", "none ", "99999999999999999999", "429496730"}
		if !row.none && row.words == "" {
			refused = append(refused, "none")
		}
		switch {
		case row.words != "":
			refused = append(refused, "0", "1", "Prestop", "prestop,term", "prestop ")
		case row.max == "":
			refused = append(refused, "2", "1.0", "00", "01", "off", "false")
		default:
			refused = append(refused, row.max+".1", row.max+"1")
			if row.min == "0.1" {
				refused = append(refused, "0", "0.0")
			}
		}
		for _, text := range refused {
			base := quiet(row.name)
			s, err := clocks.ParseValues(base, map[string][]string{row.name: {text}})
			wantRefusal(t, err, row.name, row.label, fmt.Sprintf("%q", text), allowed(row.name))
			if s != base {
				t.Errorf("%s=%q is refused and changes the settings to %+v", row.name, text, s)
			}
		}
		_, err := clocks.ParseValues(clocks.Opening(), map[string][]string{row.name: {row.opening, row.opening}})
		wantRefusal(t, err, row.name, row.label, `"`+row.opening+", "+row.opening+`"`, "one value")
	}
}

// wantRefusal wants an error that names the setting, what came and what is
// allowed, and a sentence for a person that has the page's label instead.
func wantRefusal(t *testing.T, err error, name, label, got, allowed string) {
	t.Helper()
	var refused interface {
		error
		Sentence() string
	}
	if !errors.As(err, &refused) {
		t.Errorf("%s: got %s: error %v, want a refusal of a setting", name, got, err)
		return
	}
	rest := ": got " + got + "; allowed: " + allowed
	if !strings.HasPrefix(refused.Error(), fmt.Sprintf("%q", name)+rest) {
		t.Errorf("error %s\nwant it to begin %q%s", refused, name, rest)
	}
	if label == "" {
		label = fmt.Sprintf("%q", name)
	}
	if !strings.HasPrefix(refused.Sentence(), label+rest) {
		t.Errorf("sentence %s\nwant it to begin %s%s", refused.Sentence(), label, rest)
	}
}

func TestAQueryRefuses(t *testing.T) {
	for _, c := range []struct{ what, query, name, label, got, allowed string }{
		{"an unknown name", "pods=3", "pods", "", `"3"`, "no setting of this name; there are grace, hook_in_grace, prestop"},
		{"a name in capitals", "Grace=3", "Grace", "", `"3"`, "no setting of this name"},
		{"the empty name", "=3", "", "", `"3"`, "no setting of this name"},
		{"a name given twice", "grace=1&grace=2", "grace", "Outer termination grace", `"1, 2"`, "one value"},
		{"of several faults the first in the contract's order", "zzz=1&margin=x&prestop=y", "prestop", "preStop duration", `"y"`, allowed("prestop")},
		{"an unknown name after a wrong value", "aaa=1&margin=x", "margin", "Safety margin", `"x"`, allowed("margin")},
		{"of unknown names the first in the alphabet", "b=1&a=2&c=3", "a", "", `"2"`, "no setting of this name"},
		{"a long text, cut", "grace=" + strings.Repeat("9", 5000), "grace", "Outer termination grace", `"` + strings.Repeat("9", 80) + `"… (5000 bytes)`, allowed("grace")},
		{"a long request that is over before 0", "long=5&long_age=5", "long_age", "… and is this old at time 0", `"5"`, "less than the 5 s that the long request lasts (long)"},
		{"one that is long over", "long=0.1&long_age=3600", "long_age", "… and is this old at time 0", `"3600"`, "less than the 0.1 s"},
		{"a long request shorter than the opening age", "long=4.9", "long_age", "… and is this old at time 0", `"5"`, "less than the 4.9 s"},
		{"an age beyond the opening long request", "long_age=20", "long_age", "… and is this old at time 0", `"20"`, "less than the 20 s"},
	} {
		t.Run(c.what, func(t *testing.T) {
			values, err := url.ParseQuery(c.query)
			if err != nil {
				t.Fatal(err)
			}
			_, err = clocks.ParseValues(clocks.Opening(), values)
			wantRefusal(t, err, c.name, c.label, c.got, c.allowed)
		})
	}
	for _, query := range []string{"long=5&long_age=4.9", "long=0&long_age=3600", "long=0.1&long_age=0", "long_age=19.9", "long=5.1"} {
		values, _ := url.ParseQuery(query)
		if _, err := clocks.ParseValues(clocks.Opening(), values); err != nil {
			t.Errorf("%s: %v", query, err)
		}
	}
}

func TestAJSONObjectRefuses(t *testing.T) {
	const onOff = "true or false"
	for _, c := range []struct{ what, text, name, got, allowed string }{
		{"text for a number", `{"grace":"4"}`, "grace", `"the text \"4\""`, allowed("grace")},
		{"none where there is a bound", `{"grace":"none"}`, "grace", `"the text \"none\""`, allowed("grace")},
		{"a number as text where none is taken", `{"server_timeout":"4"}`, "server_timeout", `"the text \"4\""`, allowed("server_timeout")},
		{"none in capitals", `{"cleanup_budget":"NONE"}`, "cleanup_budget", `"the text \"NONE\""`, allowed("cleanup_budget")},
		{"an amount of none as a number", `{"cleanup_budget":-0.1}`, "cleanup_budget", `"-0.1"`, allowed("cleanup_budget")},
		{"null for none", `{"server_timeout":null}`, "server_timeout", `"null"`, allowed("server_timeout")},
		{"a number with an exponent", `{"grace":1e1}`, "grace", `"1e1"`, allowed("grace")},
		{"a negative number", `{"grace":-1}`, "grace", `"-1"`, allowed("grace")},
		{"finer than a tenth", `{"interval":0.55}`, "interval", `"0.55"`, allowed("interval")},
		{"out of range", `{"interval":10.1}`, "interval", `"10.1"`, allowed("interval")},
		{"true for a number", `{"margin":true}`, "margin", `"true"`, allowed("margin")},
		{"an object for a number", `{"margin":{"s":4}}`, "margin", `"an object or a list"`, allowed("margin")},
		{"a list for a word", `{"gate":["term"]}`, "gate", `"an object or a list"`, allowed("gate")},
		{"a number for a word", `{"gate":1}`, "gate", `"1"`, allowed("gate")},
		{"another word", `{"gate":"sigterm"}`, "gate", `"sigterm"`, allowed("gate")},
		{"null for a word", `{"gate":null}`, "gate", `"null"`, allowed("gate")},
		{"true for a word", `{"gate":true}`, "gate", `"true"`, allowed("gate")},
		{"1 for a toggle", `{"cooperative":1}`, "cooperative", `"1"`, onOff},
		{"text for a toggle", `{"cooperative":"true"}`, "cooperative", `"the text \"true\""`, onOff},
		{"null for a toggle", `{"cooperative":null}`, "cooperative", `"null"`, onOff},
		{"a name twice with one value", `{"grace":1,"grace":1}`, "grace", `"1 a second time"`, "one value"},
		{"an unknown name", `{"pods":3}`, "pods", `"3"`, "no setting of this name; there are grace, hook_in_grace"},
		{"a name in capitals", `{"Grace":3}`, "Grace", `"3"`, "no setting of this name"},
		{"a long request that is over before 0", `{"long_age":7,"long":7}`, "long_age", `"7"`, "less than the 7 s that the long request lasts (long)"},
	} {
		t.Run(c.what, func(t *testing.T) {
			control, _ := clocks.FindControl(c.name)
			_, err := clocks.ParseJSON([]byte(c.text))
			wantRefusal(t, err, c.name, control.Label, c.got, c.allowed)
		})
	}
	for _, text := range []string{"", " ", "4", "null", "[]", `"grace=1"`, "{", `{"grace"`, `{"grace":`, `{"grace":1`, `{"grace":1,`,
		`{"grace":1,}`, `{,"grace":1}`, `{"grace":1 "margin":2}`, `{grace:1}`, `{"grace":04}`, `{"grace":.5}`, `{"grace":5.}`, `{"grace":NaN}`,
		`{"grace":1}{"grace":2}`, `{"grace":1} x`, `{"grace":1}}`, `{"grace":1]`} {
		if s, err := clocks.ParseJSON([]byte(text)); err == nil || err.Error() == "" {
			t.Errorf("%q is taken as %+v, %v", text, s, err)
		}
	}
}

// Validate knows the same ranges, and a run of anything else does not begin.
func TestSettingsOutOfRangeCannotRun(t *testing.T) {
	for _, row := range settingsTable {
		p, ok := row.field(new(clocks.Settings)).(*clocks.Time)
		if !ok || p == nil {
			continue
		}
		low, high := tenths(row.min), tenths(row.max)
		for _, v := range []clocks.Time{low - 1, low - 2, low - 1000, low, high, high + 1, clocks.Never, clocks.None} {
			s := quiet(row.name)
			*row.field(&s).(*clocks.Time) = v
			valid := v >= low && v <= high || row.none && v == clocks.None
			err := s.Validate()
			if (err == nil) != valid {
				t.Errorf("%s of %d tenths: %v, want valid: %v", row.name, int(v), err, valid)
			}
			if err != nil && !strings.HasPrefix(err.Error(), fmt.Sprintf("%q: got ", row.name)) {
				t.Errorf("%s of %d tenths: %v", row.name, int(v), err)
			}
			if !valid && !panics(s) {
				t.Errorf("%s of %d tenths can run", row.name, int(v))
			}
		}
	}
	s := clocks.Opening()
	s.Gate = clocks.GateNever + 1
	if err := s.Validate(); err == nil || !panics(s) {
		t.Errorf("a fourth way to close the gate: %v", err)
	}
	s = clocks.Opening()
	s.LongAge = s.Long
	if err := s.Validate(); err == nil || !panics(s) {
		t.Errorf("a long request that is over at 0: %v", err)
	}
}

func panics(s clocks.Settings) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	clocks.Simulate(s)
	return false
}

func TestSettingsComeBackFromQueryAndJSON(t *testing.T) {
	t.Logf("seed %d (-seed)", *seed)
	for n := range 2_000 {
		rng := random(2_000_000 + n)
		s := randomSettings(rng)
		if rng.IntN(2) == 0 {
			s = uniformSettings(rng)
			s.LongAge %= max(s.Long, 1)
		}
		if err := roundTrip(s); err != nil {
			t.Fatalf("seed %d, case %d: %v", *seed, n, err)
		}
	}
}

// roundTrip writes settings as a query and as JSON and reads them again.
func roundTrip(s clocks.Settings) error {
	query := string(s.AppendQuery([]byte("?")))
	values, err := url.ParseQuery(strings.TrimPrefix(query, "?"))
	if err != nil {
		return err
	}
	// Every setting is there, so that it does not matter from where one starts.
	for _, base := range []clocks.Settings{clocks.Opening(), {}} {
		if got, err := clocks.ParseValues(base, values); err != nil || got != s {
			return fmt.Errorf("query %s comes back as %+v, %v", query, got, err)
		}
	}
	var names []string
	for pair := range strings.SplitSeq(strings.TrimPrefix(query, "?"), "&") {
		name, _, _ := strings.Cut(pair, "=")
		names = append(names, name)
	}
	text := s.AppendJSON([]byte{' '})
	if got, err := clocks.ParseJSON(text); err != nil || got != s {
		return fmt.Errorf("JSON %s comes back as %+v, %v", text, got, err)
	}
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		return fmt.Errorf("JSON %s: %w", text, err)
	}
	if len(names) != len(settingsTable) || len(object) != len(settingsTable) {
		return fmt.Errorf("query %s, JSON %s: want %d settings", query, text, len(settingsTable))
	}
	for i, row := range settingsTable {
		if names[i] != row.name {
			return fmt.Errorf("query %s: want %s in place %d", query, row.name, i+1)
		}
		// What encoding/json reads is what the field holds.
		var want any
		switch p := row.field(&s).(type) {
		case *clocks.Time:
			want = float64(*p) / 10
			if row.none && *p == clocks.None {
				want = "none"
			}
		case *bool:
			want = *p
		case *clocks.GateClosing:
			want = strings.Split(row.words, ", ")[*p]
		}
		if object[row.name] != want {
			return fmt.Errorf("JSON %s: %s is %v, want %v", text, row.name, object[row.name], want)
		}
	}
	return nil
}

// What a hand can set are allowed amounts, and few enough for one.
func TestTheStopsOfEveryControl(t *testing.T) {
	for _, c := range clocks.Table() {
		stops := c.Stops()
		if len(stops) < 2 || len(stops) > 130 {
			t.Errorf("%s has %d stops", c.Name, len(stops))
		}
		numbers := stops
		if c.None {
			if stops[len(stops)-1] != clocks.None {
				t.Errorf("%s: the stops end in %v, want none", c.Name, stops[len(stops)-1])
			}
			numbers = stops[:len(stops)-1]
		}
		if !c.Toggle && c.Words == nil && (numbers[0] != c.Min || numbers[len(numbers)-1] != c.Max) {
			t.Errorf("%s: stops from %v to %v, want %v to %v", c.Name, numbers[0], numbers[len(numbers)-1], c.Min, c.Max)
		}
		for i, v := range stops {
			if !c.InRange(v) {
				t.Errorf("%s stops at %v, which it does not allow", c.Name, v)
			}
			if i > 0 && i < len(numbers) && v <= numbers[i-1] {
				t.Errorf("%s stops at %v after %v", c.Name, v, numbers[i-1])
			}
		}
	}
}
