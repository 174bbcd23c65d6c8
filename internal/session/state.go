// Package session holds a learner's or a class's session of lesson 1: its
// state, the commands on it, the playback clock, and the rooms that draw it
// for everyone who watches.
//
// It knows neither HTTP nor HTML nor where a state is kept: a [Store] keeps
// it, a [Renderer] draws it. Time is an argument throughout.
package session

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"drainlab/internal/sim"
)

// Speed is how fast simulated time passes, in halves of real time.
type Speed uint8

// The speeds of the player.
const (
	Half   Speed = 1
	Single Speed = 2
	Double Speed = 4
	Four   Speed = 8
	Eight  Speed = 16
)

// Speeds lists the player's speeds, slowest first.
func Speeds() []Speed { return []Speed{Half, Single, Double, Four, Eight} }

// String prints the factor as a URL has it: "0.5", "1", "2", "4", "8".
func (s Speed) String() string {
	if s == Half {
		return "0.5"
	}
	return fmt.Sprint(uint8(s) / 2)
}

// ParseSpeed reads what String prints. The error is a *[sim.SettingError].
func ParseSpeed(text string) (Speed, error) {
	for _, s := range Speeds() {
		if s.String() == text {
			return s, nil
		}
	}
	return 0, &sim.SettingError{Setting: "speed", Got: text, Allowed: "0.5, 1, 2, 4 or 8"}
}

// ParseT reads the simulation time of a view. The error is a *[sim.SettingError].
func ParseT(text string) (sim.Time, error) {
	t, err := sim.ParseTime(text)
	if err != nil || t > sim.Horizon {
		return 0, &sim.SettingError{Setting: "t", Got: text,
			Allowed: fmt.Sprintf("a plain decimal number from 0 to %v s in steps of 0.1 s", sim.Horizon)}
	}
	return t, nil
}

// Clock is the playback clock: an anchor from which the simulation time of any
// later instant follows, so that nothing ticks where the state is kept.
type Clock struct {
	Playing bool      `json:"playing"`
	At      sim.Time  `json:"at"`    // simulation time at Since
	Since   time.Time `json:"since"` // the instant of the last change of the clock
	Speed   Speed     `json:"speed"`
}

// Exact is the simulation time at now, from 0 to the horizon, finer than a
// tenth so that a playhead moves smoothly.
func (c Clock) Exact(now time.Time) time.Duration {
	at := time.Duration(c.At) * tenth
	if c.Playing {
		if passed := now.Sub(c.Since); passed > 0 {
			// A clock left playing for years must not overflow.
			at += min(passed, 2*horizon) * time.Duration(c.Speed) / 2
		}
	}
	return min(at, horizon)
}

const (
	tenth   = 100 * time.Millisecond
	horizon = time.Duration(sim.Horizon) * tenth
)

// T is the simulation time at now in whole tenths.
func (c Clock) T(now time.Time) sim.Time { return sim.Time(c.Exact(now) / tenth) }

// Runs reports whether the clock moves at now: playing stops at the horizon.
func (c Clock) Runs(now time.Time) bool { return c.Playing && c.T(now) < sim.Horizon }

// Until is how long after now the clock takes to reach t.
func (c Clock) Until(t sim.Time, now time.Time) time.Duration {
	left := time.Duration(t)*tenth - c.Exact(now)
	// Rounded up, so that whoever wakes then finds t reached.
	return (left*2 + time.Duration(c.Speed) - 1) / time.Duration(c.Speed)
}

// set moves the anchor to now and t.
func (c *Clock) set(t sim.Time, now time.Time) { c.At, c.Since = t, now }

// State is all there is to a session. It is a value: [Reduce] makes a new one.
type State struct {
	Model    int          `json:"model"`
	Settings sim.Settings `json:"settings"`
	Clock    Clock        `json:"clock"`
	// Shown has a bit for each guided step that this session's runs have
	// shown up to its last change; see [State.ShownAt].
	Shown uint32 `json:"shown"`
	// Own says that somebody has given the session a command: before, it shows
	// what a link says and no run of the learner's.
	Own bool `json:"own"`
}

// UnmarshalJSON refuses what no command makes and what could not be drawn: a
// store may have other writers.
func (s *State) UnmarshalJSON(data []byte) error {
	type plain State
	var p plain
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	if err := p.Settings.Validate(); err != nil {
		return err
	}
	if c := p.Clock; c.At < 0 || c.At > sim.Horizon || !slices.Contains(Speeds(), c.Speed) {
		return fmt.Errorf("a clock at %v s with speed %d/2", c.At, uint8(c.Speed))
	}
	*s = State(p)
	return nil
}

// View is what a link to the lesson says: settings, and where the player stands.
type View struct {
	Settings sim.Settings
	T        sim.Time
	Speed    Speed
	Playing  bool
}

// New returns a session's first state.
func New(v View, now time.Time) State {
	return State{Model: sim.Model, Settings: v.Settings,
		Clock: Clock{Playing: v.Playing, At: v.T, Since: now, Speed: v.Speed}}
}

// ShownAt has a bit for each of [sim.Experiments] that the session's runs have
// shown by now, the first step lowest.
func (s State) ShownAt(now time.Time) uint32 {
	return s.shownBy(sim.Simulate(s.Settings), s.Clock.T(now))
}

func (s State) shownBy(run *sim.Run, t sim.Time) uint32 {
	if !s.Own {
		return s.Shown
	}
	return s.Shown | shownBy(run, t)
}

func shownBy(run *sim.Run, t sim.Time) uint32 {
	shown := uint32(0)
	for i, e := range sim.Experiments() {
		if e.Shown(run, t) {
			shown |= 1 << i
		}
	}
	return shown
}
