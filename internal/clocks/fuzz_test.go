package clocks_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"drainlab/internal/clocks"
)

// plain is the contract's plain decimal notation, a multiple of 0.1.
var plain = regexp.MustCompile(`^[0-9]+(\.[0-9]0*)?$`)

// written is the value that a text of a query stands for, as a URL writes it,
// "" for what the setting does not take in any range.
func written(c clocks.Control, text string) string {
	switch {
	case c.Toggle:
		if text == "0" || text == "1" {
			return text
		}
		return ""
	case c.Words != nil:
		return text
	case c.None && text == "none":
		return text
	case !plain.MatchString(text):
		return ""
	}
	whole, tenth, _ := strings.Cut(text, ".")
	whole, tenth = strings.TrimLeft(whole, "0"), strings.TrimRight(tenth, "0")
	if whole == "" {
		whole = "0"
	}
	if tenth != "" {
		tenth = "." + tenth
	}
	return whole + tenth
}

func FuzzParseQuery(f *testing.F) {
	f.Add(string(clocks.Opening().AppendQuery(nil)))
	for _, query := range []string{
		"", "grace=20&hook_in_grace=0", "server_timeout=none&cleanup_budget=none", "gate=none", "gate=term&gate=term", "grace=none",
		"grace=1e1", "grace=0x4", "grace=-1", "grace=%2B1", "grace=", "grace=%204", "cooperative=true", "cooperative=01", "pods=3",
		"long=5&long_age=5", "long=0&long_age=3600", "long=4", "interval=0.1&request=600&propagation=300&withdraw=60", "interval=0",
		"grace=007.50", "grace=3600.1", "server_timeout=-0.1", "gate=0", "%00=%ff", "grace=4;margin=1", "grace=" + strings.Repeat("é", 100),
	} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		s, err := clocks.ParseValues(clocks.Opening(), values)
		if err != nil {
			wantReadableRefusal(t, err)
			return
		}
		wantValid(t, s)
		given := 0
		for _, c := range clocks.Table() {
			if len(values[c.Name]) == 0 {
				if c.Amount(s) != c.Opening {
					t.Fatalf("%s was left out and is %s", c.Name, c.Text(s))
				}
				continue
			}
			given++
			if len(values[c.Name]) != 1 || written(c, values[c.Name][0]) != c.Text(s) {
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
		`{}`, `{"grace":20,"cooperative":true}`, `{"grace":"4"}`, `{"grace":1e1}`, `{"grace":null}`, `{"grace":{}}`, `{"grace":[1]}`,
		`{"grace":1,"grace":2}`, `{"grace":1}{}`, `{"grace":1`, `{"grace":1,}`, `[]`, `null`, `4`, ``, `{"cooperative":1}`, `{"gate":"term"}`,
		`{"gate":"no\u006ee"}`, `{"gate":0}`, `{"server_timeout":"none"}`, `{"server_timeout":"20"}`, `{"cleanup_budget":-0.1}`,
		`{"long":5,"long_age":5}`, `{"\u0067race":5}`, "{\"grace\xff\":1}", `{"grace":-0}`, `{"grace":1}]`, `{"a":` + strings.Repeat("[", 50),
		string(clocks.Opening().AppendJSON(nil)),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := clocks.ParseJSON(data)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without a text")
			}
			if errors.As(err, new(refusal)) {
				wantReadableRefusal(t, err)
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
		for _, c := range clocks.Table() {
			raw, ok := object[c.Name]
			if !ok {
				if c.Amount(s) != c.Opening {
					t.Fatalf("%s was left out and is %s", c.Name, c.Text(s))
				}
				continue
			}
			given++
			text := string(raw)
			switch {
			case c.Toggle:
				text = map[string]string{"true": "1", "false": "0"}[text]
			case raw[0] == '"':
				var word string
				if err := json.Unmarshal(raw, &word); err != nil || c.Words == nil && word != "none" {
					t.Fatalf("%s: %s is taken", c.Name, raw)
				}
				text = word
			}
			if written(c, text) != c.Text(s) {
				t.Fatalf("%s: %s gives %s", c.Name, raw, c.Text(s))
			}
		}
		if given != len(object) {
			t.Fatalf("%q holds names that are no settings", data)
		}
	})
}

type refusal interface{ Sentence() string }

func wantValid(t *testing.T, s clocks.Settings) {
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
	var refused refusal
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "; allowed: ") {
		t.Fatalf("error %v, want a refusal that says what is allowed", err)
	}
	for _, text := range []string{err.Error(), refused.Sentence()} {
		// 80 bytes of each text that came, at worst escaped byte by byte as \x00.
		if limit := 2*4*80 + 400; len(text) > limit || strings.ContainsAny(text, "\n\r\x00\x1b") {
			t.Fatalf("the error is %d bytes long: %q", len(text), text)
		}
	}
}

// FuzzSimulate draws settings from a generator that two numbers seed, and
// compares the engine with the reference and the invariants on them.
func FuzzSimulate(f *testing.F) {
	f.Add(uint64(0), uint64(0))
	f.Add(uint64(1), uint64(22_001))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		s := randomSettings(rand.New(rand.NewPCG(a, b)))
		if _, _, err := byHand(s).compare(nil, nil, true); err != nil {
			t.Fatalf("settings %s: %v", s.AppendQuery(nil), err)
		}
		if err := checkRun(clocks.Simulate(s)); err != nil {
			t.Fatalf("settings %s: invariant: %v", s.AppendQuery(nil), err)
		}
	})
}
