// Package clocks computes the timing of one termination: which clock cuts
// which request, what became of the work behind it, and what budget that
// takes. A result is data; a picture, a text, JSON and a search over settings
// are views of it.
//
// It must not know a wall clock, a goroutine, a page or a store.
package clocks

import (
	"drainlab/internal/setting"
)

// Model is the number of the timing model that this package computes.
const Model = 1

// Time is an instant or a span in whole tenths of a second. Instant 0 is when
// termination begins; earlier ones are negative.
type Time = setting.Time

const (
	// Second is one second.
	Second = setting.Second
	// Never stands for an instant that does not come. JSON writes it as null.
	Never = setting.Never
	// None is the amount of a bound that is not set.
	None = setting.None
)

// GateClosing says when the admission gate closes.
type GateClosing uint8

// The gate closes at instant 0, when the signal has reached the application,
// or not at all.
const (
	GateAtPrestop GateClosing = iota
	GateAtTerm
	GateNever
)

var gateNames = []string{"prestop", "term", "none"}

func (g GateClosing) String() string { return gateNames[g] }

// Settings is everything that a termination depends on. The ranges are those
// of [Table]; the rule behind each one is in docs/clocks.md.
type Settings struct {
	Grace         Time        // outer termination grace, 0–3600 s
	HookInGrace   bool        // the grace includes the hook
	Prestop       Time        // how long the hook takes, 0–600 s
	SignalDelay   Time        // from the hook's end until the application has the signal, 0–60 s
	SignalHandled bool        // the application handles it
	Withdraw      Time        // readiness is withdrawn after, 0–60 s
	Propagation   Time        // … and the last router knows after, 0–300 s
	Gate          GateClosing // when the admission gate closes
	ServerTimeout Time        // the server's graceful timeout, 0–3600 s or None
	Cleanup       Time        // what the cleanup needs, 0–60 s
	CleanupBudget Time        // what it gets, 0–60 s or None
	Interval      Time        // between two requests, 0.1–10 s
	Request       Time        // how long one takes, 0.1–600 s
	Long          Time        // how long the one long request takes, 0–3600 s; 0: there is none
	LongAge       Time        // how old that is at instant 0, less than Long where there is one
	Deadline      Time        // of each request from its arrival, 0–3600 s; 0: none
	Cooperative   bool        // backend work obeys cancellation
	StopCheck     Time        // … and acknowledges it within, 0.1–60 s
	Margin        Time        // safety margin of the plan, 0–60 s
}

const (
	tenth   = setting.Tenth
	minute  = 60 * Second
	hour    = 60 * minute
	seconds = "s"
)

var table = setting.Table[Settings]{
	{Name: "grace", Label: "Outer termination grace", Unit: seconds, Max: hour, Step: Second, Grain: tenth, Opening: 30 * Second,
		Meaning: "Seconds from the start of termination, or without `hook_in_grace` from the hook's end, to the kill.",
		Field:   func(s *Settings) any { return &s.Grace }},
	{Name: "hook_in_grace", Label: "Grace includes the hook", Toggle: true, Opening: setting.On,
		Meaning: "The grace counts from the start of termination, hook included; else from the hook's end.",
		Field:   func(s *Settings) any { return &s.HookInGrace }},
	{Name: "prestop", Label: "preStop duration", Unit: seconds, Max: 10 * minute, Step: 5 * tenth, Grain: tenth, Opening: 5 * Second,
		Meaning: "How long the preStop hook takes, in seconds.",
		Field:   func(s *Settings) any { return &s.Prestop }},
	{Name: "signal_delay", Label: "Signal reaches the application after", Unit: seconds, Max: minute, Step: 5 * tenth, Grain: tenth,
		Meaning: "Seconds from the hook's end until the application has the signal.",
		Field:   func(s *Settings) any { return &s.SignalDelay }},
	{Name: "signal_handled", Label: "Application handles the signal", Toggle: true, Opening: setting.On,
		Meaning: "The application handles the signal; else it goes on as before, until the kill.",
		Field:   func(s *Settings) any { return &s.SignalHandled }},
	{Name: "withdraw", Label: "Readiness withdrawn after", Unit: seconds, Max: minute, Step: 5 * tenth, Grain: tenth,
		Meaning: "Seconds from the start of termination until readiness is withdrawn.",
		Field:   func(s *Settings) any { return &s.Withdraw }},
	{Name: "propagation", Label: "Routing propagation", Unit: seconds, Max: 5 * minute, Step: 5 * tenth, Grain: tenth, Opening: 2 * Second,
		Meaning: "Seconds from then until the last router has stopped sending new requests.",
		Field:   func(s *Settings) any { return &s.Propagation }},
	{Name: "gate", Label: "Admission gate closes", Words: gateNames,
		Meaning: "When the admission gate closes: as termination begins (prestop), with the signal (term), or not at all (none).",
		Field:   func(s *Settings) any { return (*uint8)(&s.Gate) }},
	{Name: "server_timeout", Label: "Server graceful timeout", Unit: seconds, None: true, Max: hour, Step: Second, Grain: tenth, Opening: 20 * Second,
		Meaning: "Seconds from the signal until the server cancels what is left; none: it waits.",
		Field:   func(s *Settings) any { return &s.ServerTimeout }},
	{Name: "cleanup", Label: "Cleanup needs", Unit: seconds, Max: minute, Step: 5 * tenth, Grain: tenth, Opening: 1 * Second,
		Meaning: "Seconds that the cleanup needs.",
		Field:   func(s *Settings) any { return &s.Cleanup }},
	{Name: "cleanup_budget", Label: "Cleanup budget", Unit: seconds, None: true, Max: minute, Step: 5 * tenth, Grain: tenth, Opening: 2 * Second,
		Meaning: "Seconds that the cleanup gets; none: what it needs.",
		Field:   func(s *Settings) any { return &s.CleanupBudget }},
	{Name: "interval", Label: "A request every", Unit: seconds, Min: tenth, Max: 10 * Second, Step: tenth, Grain: tenth, Opening: 5 * tenth,
		Meaning: "Seconds between two arrivals.",
		Field:   func(s *Settings) any { return &s.Interval }},
	{Name: "request", Label: "Request duration", Unit: seconds, Min: tenth, Max: 10 * minute, Step: tenth, Grain: tenth, Opening: 4 * Second,
		Meaning: "How long each of these requests takes, in seconds.",
		Field:   func(s *Settings) any { return &s.Request }},
	{Name: "long", Label: "One long request lasts (0: none)", Unit: seconds, Max: hour, Step: Second, Grain: tenth, Opening: 20 * Second,
		Meaning: "How long the one long request takes, in seconds; 0: there is none.",
		Field:   func(s *Settings) any { return &s.Long }},
	{Name: "long_age", Label: "… and is this old at time 0", Unit: seconds, Max: hour, Step: Second, Grain: tenth, Opening: 5 * Second,
		Meaning: "How old the long request is when termination begins, in seconds. Less than `long`, unless that is 0.",
		Field:   func(s *Settings) any { return &s.LongAge }},
	{Name: "deadline", Label: "Request deadline (0: none)", Unit: seconds, Max: hour, Step: Second, Grain: tenth, Opening: 60 * Second,
		Meaning: "Seconds that the caller of each request waits, from its arrival; 0: without end.",
		Field:   func(s *Settings) any { return &s.Deadline }},
	{Name: "cooperative", Label: "Backend work obeys cancellation", Toggle: true, Opening: setting.On,
		Meaning: "Backend work stops when it is told to; else it goes on to its end.",
		Field:   func(s *Settings) any { return &s.Cooperative }},
	{Name: "stop_check", Label: "… and acknowledges within", Unit: seconds, Min: tenth, Max: minute, Step: tenth, Grain: tenth, Opening: 5 * tenth,
		Meaning: "Seconds after which such work has acknowledged the stop.",
		Field:   func(s *Settings) any { return &s.StopCheck }},
	{Name: "margin", Label: "Safety margin", Unit: seconds, Max: minute, Step: 5 * tenth, Grain: tenth, Opening: 2 * Second,
		Meaning: "Seconds that the plan keeps to spare.",
		Field:   func(s *Settings) any { return &s.Margin }},
}

// Control describes one setting, see [setting.Control].
type Control = setting.Control[Settings]

// Table is the settings' table in the contract's order. It is not to be
// changed.
func Table() setting.Table[Settings] { return table }

// FindControl returns the control with that URL name.
func FindControl(name string) (Control, bool) { return table.Find(name) }

// Opening returns the opening values.
func Opening() Settings { return table.Opening() }

// ParseValues reads settings from a query's or a form's values, see
// [setting.Table.Parse]: what is left out has its value in base. A long
// request that is over before instant 0 is an error too.
func ParseValues(base Settings, values map[string][]string) (Settings, error) {
	s := base
	if err := table.Change(&s, values); err != nil {
		return s, err
	}
	return s, s.together()
}

// ParseJSON reads one JSON object of settings, see [setting.Table.ParseJSON];
// what is left out has its opening value.
func ParseJSON(data []byte) (Settings, error) {
	s, err := table.ParseJSON(data)
	if err != nil {
		return s, err
	}
	return s, s.together()
}

// Validate returns a *[setting.Error] for the first setting out of its range,
// or for settings that do not go together.
func (s Settings) Validate() error {
	if err := table.Validate(s); err != nil {
		return err
	}
	return s.together()
}

// agree reports whether the long request, if there is one, still runs at 0.
func (s *Settings) agree() bool { return s.Long == 0 || s.LongAge < s.Long }

func (s Settings) together() error {
	if s.agree() {
		return nil
	}
	c, _ := table.Find("long_age")
	return &setting.Error{Setting: c.Name, Label: c.Label, Got: s.LongAge.String(),
		Allowed: "less than the " + s.Long.String() + " s that the long request lasts (long), or no long request (long=0)"}
}

// AppendQuery appends all settings in the contract's order as a URL query.
func (s Settings) AppendQuery(b []byte) []byte { return table.AppendQuery(b, s) }

// AppendJSON appends the settings as a JSON object.
func (s Settings) AppendJSON(b []byte) []byte { return table.AppendJSON(b, s) }
