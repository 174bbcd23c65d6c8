package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Model is the number of the lifecycle model that this package computes.
// A link carries it, so that a link made today shows the same for good.
const Model = 1

// Settings is everything a run depends on. The ranges are those of [Controls];
// the rule behind each one is in docs/model.md.
type Settings struct {
	Workers     int  // initial workers, 1–4
	Slots       int  // invocation slots per worker, 1–8
	Startup     Time // a boot takes this long, 0–20 s
	Interval    Time // between two arrivals, 0.5–10 s
	Duration    Time // of one invocation, 1–40 s
	Signal      Time // worker 1 is signalled at this instant, 0–60 s
	Grace       Time // from the signal to the forced stop, 0–30 s
	Handler     bool // the signal stops admission
	Replacement bool // one worker boots at the signal
	ReadyOnly   bool // only ready workers are routed to
	FailInit    bool // worker 1's boot ends in failure
	Allowance   int  // rejected share that the gate still passes, 0–100 %
}

// Opening returns the opening values, the page's "Common baseline settings".
func Opening() Settings {
	var s Settings
	for _, c := range controls {
		c.set(&s, c.Opening)
	}
	return s
}

// Control describes one setting: its name in URLs and JSON, its label on the
// page and what it allows. Amounts are in tenths throughout, counts and
// percentages too (4 workers are 40), so that one arithmetic serves them all.
type Control struct {
	Name   string
	Label  string
	Unit   string // "s", "%" or "" for a count
	Toggle bool   // on or off; amounts are then Second (on) and 0 (off)
	Min    Time
	Max    Time
	Step   Time // of the slider
	Grain  Time // of what a URL or the API may say: 0.1 s, or 1 for counts
	// Opening is the value of a setting that is left out.
	Opening Time

	field func(*Settings) any
}

const (
	tenth = Time(1)
	whole = Second
	on    = Second
	off   = Time(0)
)

// The order is that of the contract: JSON, canonical URLs and the API's
// documentation follow it.
var controls = [...]Control{
	{Name: "workers", Label: "Initial workers", Min: 1 * whole, Max: 4 * whole, Step: whole, Grain: whole, Opening: 1 * whole,
		field: func(s *Settings) any { return &s.Workers }},
	{Name: "slots", Label: "Invocation slots per worker", Min: 1 * whole, Max: 8 * whole, Step: whole, Grain: whole, Opening: 4 * whole,
		field: func(s *Settings) any { return &s.Slots }},
	{Name: "startup", Label: "Startup duration", Unit: "s", Min: 0, Max: 20 * Second, Step: 5 * tenth, Grain: tenth, Opening: 4 * Second,
		field: func(s *Settings) any { return &s.Startup }},
	{Name: "interval", Label: "Request interval", Unit: "s", Min: 5 * tenth, Max: 10 * Second, Step: 5 * tenth, Grain: tenth, Opening: 2 * Second,
		field: func(s *Settings) any { return &s.Interval }},
	{Name: "duration", Label: "Invocation duration", Unit: "s", Min: 1 * Second, Max: 40 * Second, Step: 5 * tenth, Grain: tenth, Opening: 20 * Second,
		field: func(s *Settings) any { return &s.Duration }},
	{Name: "signal", Label: "Signal worker 1 at", Unit: "s", Min: 0, Max: 60 * Second, Step: 5 * tenth, Grain: tenth, Opening: 30 * Second,
		field: func(s *Settings) any { return &s.Signal }},
	{Name: "grace", Label: "Grace period", Unit: "s", Min: 0, Max: 30 * Second, Step: 5 * tenth, Grain: tenth, Opening: 0,
		field: func(s *Settings) any { return &s.Grace }},
	{Name: "handler", Label: "Handle SIGTERM and stop admission", Toggle: true, Opening: on,
		field: func(s *Settings) any { return &s.Handler }},
	{Name: "replacement", Label: "Boot one replacement at signal time", Toggle: true, Opening: off,
		field: func(s *Settings) any { return &s.Replacement }},
	{Name: "ready_only", Label: "Route only to ready workers", Toggle: true, Opening: on,
		field: func(s *Settings) any { return &s.ReadyOnly }},
	{Name: "fail_init", Label: "Fail initialization of worker 1", Toggle: true, Opening: off,
		field: func(s *Settings) any { return &s.FailInit }},
	{Name: "allowance", Label: "Fixture rejection allowance", Unit: "%", Min: 0, Max: 100 * whole, Step: whole, Grain: whole, Opening: 20 * whole,
		field: func(s *Settings) any { return &s.Allowance }},
}

// Controls lists the settings in the contract's order.
func Controls() []Control { return slices.Clone(controls[:]) }

// FindControl returns the control with that URL name.
func FindControl(name string) (Control, bool) {
	for _, c := range controls {
		if c.Name == name {
			return c, true
		}
	}
	return Control{}, false
}

// Amount returns the control's value in s, in tenths.
func (c Control) Amount(s Settings) Time { return c.amount(&s) }

func (c *Control) amount(s *Settings) Time {
	switch p := c.field(s).(type) {
	case *int:
		return Time(*p) * whole
	case *Time:
		return *p
	case *bool:
		if *p {
			return on
		}
	}
	return off
}

// Text returns the control's value in s as a URL writes it: "4.5", "1", "0".
func (c Control) Text(s Settings) string { return c.Amount(s).String() }

func (c Control) set(s *Settings, v Time) {
	switch p := c.field(s).(type) {
	case *int:
		*p = int(v / whole)
	case *Time:
		*p = v
	case *bool:
		*p = v == on
	}
}

// Allowed says in words what the control takes.
func (c Control) Allowed() string {
	if c.Toggle {
		return "1 (on) or 0 (off)"
	}
	unit := c.Unit
	if unit != "" {
		unit = " " + unit
	}
	if c.Grain == whole {
		return fmt.Sprintf("a whole number from %v to %v%s", c.Min, c.Max, unit)
	}
	return fmt.Sprintf("a plain decimal number from %v to %v%s in steps of %v%s", c.Min, c.Max, unit, c.Grain, unit)
}

// Parse reads text as a URL or a form gives it and sets the control in s.
// On an error, a *[SettingError], s is unchanged.
func (c Control) Parse(s *Settings, text string) error {
	if c.Toggle {
		switch text {
		case "1":
			c.set(s, on)
		case "0":
			c.set(s, off)
		default:
			return c.refuse(text)
		}
		return nil
	}
	v, err := ParseTime(text)
	if err != nil || v < c.Min || v > c.Max || v%c.Grain != 0 {
		return c.refuse(text)
	}
	c.set(s, v)
	return nil
}

func (c Control) refuse(got string) error {
	return &SettingError{Setting: c.Name, Got: got, Allowed: c.Allowed()}
}

// SettingError refuses one setting: it names it, what came, and what is allowed.
type SettingError struct {
	Setting string
	Got     string
	Allowed string
}

// Sentence says the same to a person, with the label that the page has for the
// setting.
func (e *SettingError) Sentence() string {
	c, ok := FindControl(e.Setting)
	if !ok {
		return e.Error()
	}
	return fmt.Sprintf("%s: got %s; allowed: %s", c.Label, Quote(e.Got), e.Allowed)
}

func (e *SettingError) Error() string {
	return fmt.Sprintf("%s: got %s; allowed: %s", Quote(e.Setting), Quote(e.Got), e.Allowed)
}

// Quote prints foreign text on one line of bounded length: in double quotes,
// control characters escaped, cut after 80 bytes with the whole length told.
func Quote(text string) string {
	const most = 80
	if len(text) <= most {
		return fmt.Sprintf("%q", text)
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return fmt.Sprintf("%q… (%d bytes)", text[:cut], len(text))
}

// Validate returns a *[SettingError] for the first setting out of its range.
func (s Settings) Validate() error {
	// The fields one by one, not through the table: a run checks its settings
	// and a run costs about a microsecond.
	if s.Workers >= 1 && s.Workers <= 4 && s.Slots >= 1 && s.Slots <= 8 &&
		s.Startup >= 0 && s.Startup <= 20*Second && s.Interval >= 5*tenth && s.Interval <= 10*Second &&
		s.Duration >= Second && s.Duration <= 40*Second && s.Signal >= 0 && s.Signal <= 60*Second &&
		s.Grace >= 0 && s.Grace <= 30*Second && s.Allowance >= 0 && s.Allowance <= 100 {
		return nil
	}
	for _, c := range controls {
		if v := c.Amount(s); !c.Toggle && (v < c.Min || v > c.Max) {
			return c.refuse(v.String())
		}
	}
	panic("sim: the ranges of Validate and of the control table differ")
}

// ParseValues reads settings from a query's or a form's values. A setting left
// out keeps its opening value. An unknown name, a name given twice or a value
// not allowed is a *[SettingError]. Of several faults the first in the
// contract's order is told, unknown names last.
func ParseValues(values map[string][]string) (Settings, error) {
	s := Opening()
	err := s.Change(values)
	return s, err
}

// Change sets what values name and leaves the rest of s. On an error, of the
// same kinds as for [ParseValues], s is unchanged.
func (s *Settings) Change(values map[string][]string) error {
	next := *s
	known := 0
	for _, c := range controls {
		given, ok := values[c.Name]
		if !ok {
			continue
		}
		known++
		if len(given) != 1 {
			return &SettingError{Setting: c.Name, Got: strings.Join(given, ", "), Allowed: "one value"}
		}
		if err := c.Parse(&next, given[0]); err != nil {
			return err
		}
	}
	if known != len(values) {
		var unknown []string
		for name := range values {
			if _, ok := FindControl(name); !ok {
				unknown = append(unknown, name)
			}
		}
		slices.Sort(unknown)
		return unknownSetting(unknown[0], strings.Join(values[unknown[0]], ", "))
	}
	*s = next
	return nil
}

func unknownSetting(name, got string) error {
	names := make([]string, len(controls))
	for i, c := range controls {
		names[i] = c.Name
	}
	return &SettingError{Setting: name, Got: got, Allowed: "no setting of this name; there are " + strings.Join(names, ", ")}
}

// AppendQuery appends all settings in the contract's order as a URL query:
// "workers=1&slots=4&…". Equal settings give equal bytes.
func (s Settings) AppendQuery(b []byte) []byte {
	for i := range controls {
		c := &controls[i]
		if i > 0 {
			b = append(b, '&')
		}
		b = append(b, c.Name...)
		b = append(b, '=')
		b = c.amount(&s).append(b)
	}
	return b
}

// ParseJSON reads one JSON object of settings: numbers in plain decimal
// notation, toggles as true or false. Settings left out keep their opening
// values; unknown, repeated or wrong ones are a *[SettingError], anything
// that is not one JSON object another error.
func ParseJSON(data []byte) (Settings, error) {
	s := Opening()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	tok, err := dec.Token()
	if err != nil {
		return s, jsonError(err)
	}
	if tok != json.Delim('{') {
		return s, errors.New("not a JSON object of settings")
	}
	seen := make(map[string]bool, len(controls))
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return s, jsonError(err)
		}
		name := tok.(string) // the decoder allows nothing else for a key
		tok, err = dec.Token()
		if err != nil {
			return s, jsonError(err)
		}
		c, ok := FindControl(name)
		switch {
		case !ok:
			return s, unknownSetting(name, fmt.Sprint(tok))
		case seen[name]:
			return s, &SettingError{Setting: name, Got: fmt.Sprint(tok) + " a second time", Allowed: "one value"}
		}
		seen[name] = true
		if err := c.parseToken(&s, tok); err != nil {
			return s, err
		}
	}
	if _, err := dec.Token(); err != nil { // the closing brace
		return s, jsonError(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return s, errors.New("more than one JSON value in the line")
	}
	return s, nil
}

func (c Control) parseToken(s *Settings, tok json.Token) error {
	got := fmt.Sprint(tok)
	switch v := tok.(type) {
	case nil:
		got = "null"
	case json.Delim:
		got = "an object or a list"
	case string:
		got = fmt.Sprintf("the text %q", v)
	case bool:
		if c.Toggle {
			if v {
				c.set(s, on)
			} else {
				c.set(s, off)
			}
			return nil
		}
	case json.Number:
		if !c.Toggle {
			return c.Parse(s, v.String())
		}
	}
	if c.Toggle {
		return &SettingError{Setting: c.Name, Got: got, Allowed: "true or false"}
	}
	return c.refuse(got)
}

func jsonError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON ends too early")
	}
	return fmt.Errorf("not JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
}
