package sim_test

import (
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"drainlab/internal/sim"
)

// plain is docs/model.md's "plain decimal notation", a multiple of 0.1.
var plain = regexp.MustCompile(`^[0-9]+(\.[0-9]0*)?$`)

func FuzzParseTime(f *testing.F) {
	for _, text := range []string{
		"0", "4", "4.5", "4.50", "60.1", "007", "1000000", "1000001", "99999999999999999999", "4294967296",
		"", ".", ".5", "5.", "4.05", "1e1", "0x4", "NaN", "Inf", "-1", "+1", " 4", "4 ", "1_0", "٤", "4\x00",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := sim.ParseTime(text)
		// Above a million seconds refusing is the parser's own affair.
		whole, _, _ := strings.Cut(strings.TrimLeft(text, "0"), ".")
		small := len(whole) <= 6
		switch {
		case err == nil && !plain.MatchString(text):
			t.Fatalf("%q is taken as %v", text, got)
		case err != nil && plain.MatchString(text) && small:
			t.Fatalf("%q is refused: %v", text, err)
		case err != nil:
			return
		}
		if got < 0 {
			t.Fatalf("%q gives %d tenths", text, int(got))
		}
		if again, err := sim.ParseTime(got.String()); err != nil || again != got {
			t.Fatalf("%q gives %v, which comes back as %v, %v", text, got, again, err)
		}
		if again, err := sim.ParseTime(got.Fixed()); err != nil || again != got {
			t.Fatalf("%q gives %v, which comes back from %s as %v, %v", text, got, got.Fixed(), again, err)
		}
		// Without leading and closing zeros the text is the number's shortest form.
		if small && shortest(text) != got.String() {
			t.Fatalf("%q prints as %v", text, got)
		}
	})
}

func shortest(text string) string {
	whole, tenths, _ := strings.Cut(text, ".")
	whole, tenths = strings.TrimLeft(whole, "0"), strings.TrimRight(tenths, "0")
	if whole == "" {
		whole = "0"
	}
	if tenths != "" {
		tenths = "." + tenths
	}
	return whole + tenths
}

func FuzzParseValues(f *testing.F) {
	for _, query := range []string{
		"", "grace=20&replacement=1", "duration=8&grace=10&replacement=1", "startup=1e1", "startup=0x4", "grace=-1", "startup=%2B1",
		"startup=", "startup=%204", "handler=true", "handler=2", "pods=3", "grace=1&grace=2", "grace=1&grace=1", "workers=1.5",
		"workers=4&slots=8&startup=20&interval=0.5&duration=40&signal=60&grace=30&handler=0&replacement=1&ready_only=0&fail_init=1&allowance=100",
		"%00=%ff", "startup=4;grace=1", "startup=" + strings.Repeat("é", 100),
	} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		s, err := sim.ParseValues(values)
		if err != nil {
			wantReadableRefusal(t, err)
			if s != sim.Opening() {
				t.Fatalf("a refused query gives %+v", s)
			}
			return
		}
		wantValid(t, s)
		given := 0
		for _, c := range sim.Controls() {
			if len(values[c.Name]) == 0 {
				if c.Amount(s) != c.Opening {
					t.Fatalf("%s was left out and is %v", c.Name, c.Amount(s))
				}
				continue
			}
			given++
			text := values[c.Name][0]
			if len(values[c.Name]) != 1 || !plain.MatchString(text) || shortest(text) != c.Text(s) {
				t.Fatalf("%s=%q gives %s", c.Name, values[c.Name], c.Text(s))
			}
		}
		if given != len(values) {
			t.Fatalf("%q holds names that are no settings", query)
		}
	})
}

func FuzzParseJSON(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"grace":20,"replacement":true}`, `{"startup":"4"}`, `{"startup":1e1}`, `{"startup":null}`, `{"startup":{}}`,
		`{"startup":[1]}`, `{"grace":1,"grace":2}`, `{"grace":1}{}`, `{"grace":1`, `{"grace":1,}`, `[]`, `null`, `4`, ``, `{"handler":1}`,
		`{"workers":1.0}`, `{"\u0067race":5}`, "{\"grace\xff\":1}", `{"grace":-0}`, `{"grace":1}]`, `{"a":` + strings.Repeat("[", 50),
		string(sim.Opening().AppendJSON(nil)),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := sim.ParseJSON(data)
		if err != nil {
			var refused *sim.SettingError
			if errors.As(err, &refused) {
				wantReadableRefusal(t, err)
			} else if err.Error() == "" {
				t.Fatal("an error without a text")
			}
			return
		}
		wantValid(t, s)
		// What is taken is one JSON object, and encoding/json reads the same in it.
		var object map[string]json.RawMessage
		if err := json.Unmarshal(data, &object); err != nil || object == nil {
			t.Fatalf("%q is taken; encoding/json: %v", data, err)
		}
		given := 0
		for _, c := range sim.Controls() {
			raw, ok := object[c.Name]
			if !ok {
				if c.Amount(s) != c.Opening {
					t.Fatalf("%s was left out and is %v", c.Name, c.Amount(s))
				}
				continue
			}
			given++
			want := shortest(string(raw))
			if c.Toggle {
				want = map[string]string{"true": "1", "false": "0"}[string(raw)]
			} else if !plain.Match(raw) {
				t.Fatalf("%s: %s is taken", c.Name, raw)
			}
			if c.Text(s) != want {
				t.Fatalf("%s: %s gives %s", c.Name, raw, c.Text(s))
			}
		}
		if given != len(object) {
			t.Fatalf("%q holds names that are no settings", data)
		}
	})
}

func wantValid(t *testing.T, s sim.Settings) {
	t.Helper()
	if err := s.Validate(); err != nil {
		t.Fatalf("what was taken is not valid: %v", err)
	}
	if err := roundTrip(s); err != nil {
		t.Fatal(err)
	}
}

// wantReadableRefusal wants what came printed on one short line, whatever it was.
func wantReadableRefusal(t *testing.T, err error) {
	t.Helper()
	var refused *sim.SettingError
	if !errors.As(err, &refused) || refused.Allowed == "" {
		t.Fatalf("error %v, want a SettingError that says what is allowed", err)
	}
	text := err.Error()
	// 80 bytes of each text that came, at worst escaped byte by byte as \x00.
	if limit := 2*4*80 + 300; len(text) > limit || strings.ContainsAny(text, "\n\r\x00\x1b") {
		t.Fatalf("the error is %d bytes long: %q", len(text), text)
	}
}

// FuzzSimulate makes settings of its bytes, two for each amount, and compares
// the engine with the reference on them.
func FuzzSimulate(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 3, 0, 40, 0, 15, 0, 190, 1, 44, 0, 0, 5, 20})      // the opening values
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15})              // all least, all toggles on
	f.Add([]byte{3, 7, 0, 200, 0, 95, 1, 134, 2, 88, 1, 44, 0, 100})   // all greatest, all toggles off
	f.Add([]byte{3, 1, 0, 0, 0, 0, 0, 5, 0, 100, 0, 15, 11, 50, 1, 2}) // full slots, more bytes than are read
	f.Fuzz(func(t *testing.T, data []byte) {
		s := settingsOf(data)
		r := sim.Simulate(s)
		reference := tickByTick(s)
		if err := reference.compareRun(r); err != nil {
			t.Fatalf("settings %s: %v", s.AppendQuery(nil), err)
		}
		if err := checkRun(r); err != nil {
			t.Fatalf("settings %s: invariant: %v", s.AppendQuery(nil), err)
		}
		at := clamp(s.Signal+s.Grace/2, 0, 600)
		if err := tickByTickUntil(s, at).compareSnapshot(r.At(at)); err != nil {
			t.Fatalf("settings %s: At(%v): %v", s.AppendQuery(nil), at, err)
		}
		if err := reference.compareDocuments(r.At(sim.Horizon)); err != nil {
			t.Fatalf("settings %s: %v", s.AppendQuery(nil), err)
		}
	})
}

func settingsOf(data []byte) sim.Settings {
	next := func() int {
		if len(data) == 0 {
			return 0
		}
		v := int(data[0])
		data = data[1:]
		return v
	}
	span := func(low, high sim.Time) sim.Time {
		v := next()<<8 | next()
		return low + sim.Time(v%(int(high-low)+1))
	}
	s := sim.Settings{Workers: 1 + next()%4, Slots: 1 + next()%8}
	s.Startup, s.Interval, s.Duration = span(0, 200), span(5, 100), span(10, 400)
	s.Signal, s.Grace = span(0, 600), span(0, 300)
	toggles := next()
	s.Handler, s.Replacement, s.ReadyOnly, s.FailInit = toggles&1 != 0, toggles&2 != 0, toggles&4 != 0, toggles&8 != 0
	s.Allowance = next() % 101
	return s
}
