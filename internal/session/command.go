package session

import (
	"time"

	"drainlab/internal/sim"
)

// Command is one imperative to a session. The commands are the types of this
// file and no others.
type Command interface{ apply(*State, time.Time) error }

type (
	// Set changes the named settings, in the form of [sim.Settings.Change].
	// Simulation time and playing go on.
	Set struct{ Values map[string][]string }
	// Replace changes all settings at once. Simulation time and playing go on.
	Replace struct{ Settings sim.Settings }
	// Try applies a guided step's settings and stands at 0, paused, so that the
	// learner can say what to expect before it plays.
	Try struct{ Settings sim.Settings }
	// Baseline restores the opening values. Simulation time and playing go on.
	Baseline struct{}
	// Play starts the clock, from 0 where it stands at the end.
	Play struct{}
	// Pause stops the clock where it is.
	Pause struct{}
	// Step moves by whole seconds at any speed, no further than the run's
	// ends, and pauses.
	Step struct{ Seconds int }
	// Restart goes to 0. Playing goes on.
	Restart struct{}
	// Seek goes to T. Playing goes on.
	Seek struct{ T sim.Time }
	// SetSpeed changes the speed from here on.
	SetSpeed struct{ Speed Speed }
	// Open makes the session show a view, as when a learner goes back in the
	// browser's history.
	Open struct{ View View }
)

// Reduce returns what cmd makes of s at now. It is pure. The error, where the
// command cannot be taken, is a *[sim.SettingError], and the state then is s.
func Reduce(s State, cmd Command, now time.Time) (State, error) {
	next := s
	// What the run has shown so far would be lost with the change.
	next.Shown = s.ShownAt(now)
	if err := cmd.apply(&next, now); err != nil {
		return s, err
	}
	next.Own = true
	return next, nil
}

func (c Set) apply(s *State, _ time.Time) error     { return s.Settings.Change(c.Values) }
func (c Replace) apply(s *State, _ time.Time) error { s.Settings = c.Settings; return nil }
func (c Try) apply(s *State, now time.Time) error {
	s.Settings = c.Settings
	s.Clock.set(0, now)
	s.Clock.Playing = false
	return nil
}

func (Baseline) apply(s *State, _ time.Time) error { s.Settings = sim.Opening(); return nil }

func (Play) apply(s *State, now time.Time) error {
	if t := s.Clock.T(now); t == sim.Horizon {
		s.Clock.set(0, now)
	} else if !s.Clock.Playing {
		s.Clock.set(t, now)
	}
	s.Clock.Playing = true
	return nil
}

func (Pause) apply(s *State, now time.Time) error {
	s.Clock.set(s.Clock.T(now), now)
	s.Clock.Playing = false
	return nil
}

func (c Step) apply(s *State, now time.Time) error {
	t := s.Clock.T(now) + sim.Time(c.Seconds)*sim.Second
	s.Clock.set(min(max(t, 0), sim.Horizon), now)
	s.Clock.Playing = false
	return nil
}

func (Restart) apply(s *State, now time.Time) error { return Seek{T: 0}.apply(s, now) }

func (c Seek) apply(s *State, now time.Time) error {
	// A clock that has come to its end does not start again by a seek.
	s.Clock.Playing = s.Clock.Runs(now)
	s.Clock.set(c.T, now)
	return nil
}

func (c SetSpeed) apply(s *State, now time.Time) error {
	s.Clock.set(s.Clock.T(now), now)
	s.Clock.Speed = c.Speed
	return nil
}

func (c Open) apply(s *State, now time.Time) error {
	shown := s.Shown
	*s = New(c.View, now)
	s.Shown = shown
	return nil
}
