package sim

import (
	"slices"

	"drainlab/internal/setting"
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
func Opening() Settings { return controls.Opening() }

// Time is a point or a span of simulated time in whole tenths of a second.
type Time = setting.Time

const (
	// Second is one simulated second.
	Second = setting.Second
	// Horizon is the last step of every run: 60 s.
	Horizon Time = 60 * Second
	// Never stands for an instant that has not come. JSON writes it as null.
	Never = setting.Never
)

// ParseTime reads seconds in plain decimal notation, see [setting.ParseTime].
func ParseTime(s string) (Time, error) { return setting.ParseTime(s) }

// Control describes one setting, see [setting.Control].
type Control = setting.Control[Settings]

// SettingError refuses one setting: it names it, what came, and what is allowed.
type SettingError = setting.Error

// Quote prints foreign text on one line of bounded length, see [setting.Quote].
func Quote(text string) string { return setting.Quote(text) }

const (
	tenth = setting.Tenth
	whole = setting.Whole
)

// The order is that of the contract: JSON, canonical URLs and the API's
// documentation follow it.
var controls = setting.Table[Settings]{
	{Name: "workers", Label: "Initial workers", Min: 1 * whole, Max: 4 * whole, Step: whole, Grain: whole, Opening: 1 * whole,
		Meaning: "How many workers boot at 0 s.",
		Field:   func(s *Settings) any { return &s.Workers }},
	{Name: "slots", Label: "Invocation slots per worker", Min: 1 * whole, Max: 8 * whole, Step: whole, Grain: whole, Opening: 4 * whole,
		Meaning: "How many invocations one worker holds at a time.",
		Field:   func(s *Settings) any { return &s.Slots }},
	{Name: "startup", Label: "Startup duration", Unit: "s", Min: 0, Max: 20 * Second, Step: 5 * tenth, Grain: tenth, Opening: 4 * Second,
		Meaning: "How long a worker boots, in seconds.",
		Field:   func(s *Settings) any { return &s.Startup }},
	{Name: "interval", Label: "Request interval", Unit: "s", Min: 5 * tenth, Max: 10 * Second, Step: 5 * tenth, Grain: tenth, Opening: 2 * Second,
		Meaning: "Seconds between two arrivals. The first request comes at 1 s, the last at 40 s or before.",
		Field:   func(s *Settings) any { return &s.Interval }},
	{Name: "duration", Label: "Invocation duration", Unit: "s", Min: 1 * Second, Max: 40 * Second, Step: 5 * tenth, Grain: tenth, Opening: 20 * Second,
		Meaning: "How long an invocation runs, in seconds.",
		Field:   func(s *Settings) any { return &s.Duration }},
	{Name: "signal", Label: "Signal worker 1 at", Unit: "s", Min: 0, Max: 60 * Second, Step: 5 * tenth, Grain: tenth, Opening: 30 * Second,
		Meaning: "When worker 1 gets SIGTERM, in seconds.",
		Field:   func(s *Settings) any { return &s.Signal }},
	{Name: "grace", Label: "Grace period", Unit: "s", Min: 0, Max: 30 * Second, Step: 5 * tenth, Grain: tenth, Opening: 0,
		Meaning: "Seconds from the signal to the forced stop.",
		Field:   func(s *Settings) any { return &s.Grace }},
	{Name: "handler", Label: "Handle SIGTERM and stop admission", Toggle: true, Opening: setting.On,
		Meaning: "Worker 1 handles the signal, stops admitting and drains; else it goes on as before.",
		Field:   func(s *Settings) any { return &s.Handler }},
	{Name: "replacement", Label: "Boot one replacement at signal time", Toggle: true, Opening: setting.Off,
		Meaning: "One more worker boots when the signal is sent.",
		Field:   func(s *Settings) any { return &s.Replacement }},
	{Name: "ready_only", Label: "Route only to ready workers", Toggle: true, Opening: setting.On,
		Meaning: "Requests go to ready workers only; else to starting and draining ones as well.",
		Field:   func(s *Settings) any { return &s.ReadyOnly }},
	{Name: "fail_init", Label: "Fail initialization of worker 1", Toggle: true, Opening: setting.Off,
		Meaning: "The boot of worker 1 ends in failure.",
		Field:   func(s *Settings) any { return &s.FailInit }},
	{Name: "allowance", Label: "Fixture rejection allowance", Unit: "%", Min: 0, Max: 100 * whole, Step: whole, Grain: whole, Opening: 20 * whole,
		Meaning: "The share of rejected requests, in percent, up to which the gate still passes.",
		Field:   func(s *Settings) any { return &s.Allowance }},
}

// Table is the settings' table. It is not to be changed.
func Table() setting.Table[Settings] { return controls }

// Controls lists the settings in the contract's order.
func Controls() []Control { return slices.Clone(controls) }

// FindControl returns the control with that URL name.
func FindControl(name string) (Control, bool) { return controls.Find(name) }

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
	if err := controls.Validate(s); err != nil {
		return err
	}
	panic("sim: the ranges of Validate and of the control table differ")
}

// WorkersEver counts the workers that a run boots, the replacement included.
func (s Settings) WorkersEver() int {
	if s.Replacement {
		return s.Workers + 1
	}
	return s.Workers
}

// ParseValues reads settings from a query's or a form's values, see
// [setting.Table.Parse]: what is left out has its opening value.
func ParseValues(values map[string][]string) (Settings, error) { return controls.Parse(values) }

// Change sets what values name and leaves the rest of s. On an error, of the
// same kinds as for [ParseValues], s is unchanged.
func (s *Settings) Change(values map[string][]string) error { return controls.Change(s, values) }

// AppendQuery appends all settings in the contract's order as a URL query:
// "workers=1&slots=4&…". Equal settings give equal bytes.
func (s Settings) AppendQuery(b []byte) []byte { return controls.AppendQuery(b, s) }

// AppendJSON appends the settings as a JSON object, toggles as true and false.
func (s Settings) AppendJSON(b []byte) []byte { return controls.AppendJSON(b, s) }

// ParseJSON reads one JSON object of settings, see [setting.Table.ParseJSON].
func ParseJSON(data []byte) (Settings, error) { return controls.ParseJSON(data) }
