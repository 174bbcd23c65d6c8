// Package session holds a learner's or a class's session of a lesson: its
// state, the commands on it, the playback clock, and the rooms that draw it
// for everyone who watches.
//
// It knows neither HTTP nor HTML, nor any lesson but by what all have in
// common, nor where a state is kept: a [Store] keeps it, a [Renderer] draws it.
// Time is an argument throughout.
package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"drainlab/internal/course"
	"drainlab/internal/setting"
)

// Clock is the playback clock: an anchor from which the simulation time of any
// later instant follows, so that nothing ticks where the state is kept. It
// knows where its run ends, so that it can be read without the run.
type Clock struct {
	Playing bool         `json:"playing"`
	At      setting.Time `json:"at"`    // simulation time at Since, from 0 to End
	Since   time.Time    `json:"since"` // the instant of the last change of the clock
	Speed   course.Speed `json:"speed"`
	End     setting.Time `json:"end"` // of the run; 0 where it takes no time
}

const tenth = 100 * time.Millisecond

// Exact is the simulation time at now, from 0 to the end, finer than a tenth so
// that a playhead moves smoothly.
func (c Clock) Exact(now time.Time) time.Duration {
	at, end := time.Duration(c.At)*tenth, time.Duration(c.End)*tenth
	if c.Playing {
		if passed := now.Sub(c.Since); passed > 0 {
			// A clock left playing for years must not overflow.
			at += min(passed, 2*end) * time.Duration(c.Speed) / 2
		}
	}
	return min(at, end)
}

// T is the simulation time at now in whole tenths.
func (c Clock) T(now time.Time) setting.Time { return setting.Time(c.Exact(now) / tenth) }

// Runs reports whether the clock moves at now: playing stops at the end.
func (c Clock) Runs(now time.Time) bool { return c.Playing && c.T(now) < c.End }

// Until is how long after now the clock takes to reach t.
func (c Clock) Until(t setting.Time, now time.Time) time.Duration {
	left := time.Duration(t)*tenth - c.Exact(now)
	// Rounded up, so that whoever wakes then finds t reached.
	return (left*2 + time.Duration(c.Speed) - 1) / time.Duration(c.Speed)
}

// set moves the anchor to now and t.
func (c *Clock) set(t setting.Time, now time.Time) { c.At, c.Since = t, now }

// fit makes the clock that of another run, which ends at end. It stands where it
// stood as [course.Keep] has it: one that has come to its end does not start
// again in a longer run.
func (c *Clock) fit(end setting.Time, now time.Time) {
	if end == c.End {
		return
	}
	t, runs := c.T(now), c.Runs(now)
	if !runs || t >= end { // else the anchor still holds, finer than a tenth
		c.set(course.Keep(t, c.End, end), now)
	}
	c.End = end
}

// bound corrects a stored clock whose run ends at end: by another version of
// the model it may have ended elsewhere.
func (c *Clock) bound(end setting.Time) { c.At, c.End = min(c.At, end), end }

func (c Clock) validate() error {
	if c.At < 0 || c.At > c.End || !slices.Contains(course.Speeds(), c.Speed) {
		return fmt.Errorf("a clock at %v of %v s with speed %d/2", c.At, c.End, uint8(c.Speed))
	}
	return nil
}

// State is all there is to a session. It is a value: [Reduce] makes a new one.
type State struct {
	Lesson string `json:"lesson"` // its id
	Query  string `json:"query"`  // the view's, as [course.View.Shared] has it
	Model  int    `json:"model"`  // the number of the lesson's model that the session began with
	Clock  Clock  `json:"clock"`
	// Shown has a bit for each step of the guide that this session's runs have
	// shown up to its last change; a frame's has those of after too.
	Shown uint32 `json:"shown"`
	// Own says that somebody has given the session a command: before, it shows
	// what a link says and no run of the learner's.
	Own bool `json:"own"`
}

// Why a stored state is of no use.
var (
	// ErrBefore is the error of reading a state that the version before wrote,
	// which knew one lesson alone.
	ErrBefore = errors.New("a session of the version before")
	// ErrUnopenable is a state of a lesson that is not in the course, or of
	// settings that the lesson refuses.
	ErrUnopenable = errors.New("the session cannot be opened")
)

// UnmarshalJSON refuses what no command makes and what could not be drawn: a
// store may have other writers. What only its lesson can tell, [State.Open]
// refuses.
func (s *State) UnmarshalJSON(data []byte) error {
	type plain State
	var p struct {
		plain
		Settings json.RawMessage `json:"settings"` // in place of lesson and query, before
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	switch {
	case p.Lesson == "" && p.Settings != nil:
		return ErrBefore
	case p.Lesson == "":
		return errors.New("a session of no lesson")
	}
	if err := p.Clock.validate(); err != nil {
		return err
	}
	*s = State(p.plain)
	return nil
}

// New returns the first state of a session that shows what link says, playing
// from there or not.
func New(link course.Link, playing bool, now time.Time) State {
	about := link.Lesson.About()
	return State{Lesson: about.ID, Query: link.View.Shared(), Model: about.Model,
		Clock: Clock{Playing: playing, At: link.T, Since: now, Speed: link.Speed, End: link.View.Run().End()}}
}

// Open returns what the session shows: a view of the lesson with nothing that
// each viewer chooses alone. The error is an [ErrUnopenable].
func (s State) Open(reg *course.Register) (course.View, error) {
	lesson, err := s.find(reg)
	if err != nil {
		return nil, err
	}
	return s.open(lesson)
}

func (s State) find(reg *course.Register) (course.Lesson, error) {
	lesson, ok := reg.Find(s.Lesson)
	if !ok {
		return nil, fmt.Errorf("%w: the course has no lesson %s", ErrUnopenable, setting.Quote(s.Lesson))
	}
	return lesson, nil
}

func (s State) open(lesson course.Lesson) (course.View, error) {
	if id := lesson.About().ID; s.Lesson != id {
		return nil, fmt.Errorf("%w: it is of lesson %s, not of %s", ErrUnopenable, setting.Quote(s.Lesson), id)
	}
	values, err := url.ParseQuery(s.Query)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrUnopenable, err)
	}
	view, err := lesson.Open(values)
	if err != nil {
		// Not wrapped: what a store holds is no fault of whoever asks for it.
		return nil, fmt.Errorf("%w: %v", ErrUnopenable, err)
	}
	return view, nil
}

// Frame is what one patch of the page draws: a session at one instant.
type Frame struct {
	State State
	Run   course.Run
	course.Frame
	Exact time.Duration // T, finer than a tenth
	Speed course.Speed
}

// FrameAt is the state's frame at now, of the run that its view comes to.
func (s State) FrameAt(run course.Run, now time.Time) Frame {
	s.Clock.bound(run.End())
	f := Frame{State: s, Run: run, Exact: s.Clock.Exact(now), Speed: s.Clock.Speed,
		Frame: course.Frame{T: s.Clock.T(now), Playing: s.Clock.Runs(now)}}
	f.Until = f.T
	if f.Playing {
		f.Until = run.Next(f.T)
	}
	f.Shown = s.shownBy(run, f.T)
	return f
}

// shownBy has a bit for each of the lesson's steps that the session's runs have
// shown, the present one up to t; the first step lowest.
func (s State) shownBy(run course.Run, t setting.Time) uint32 {
	if !s.Own {
		return s.Shown
	}
	return s.Shown | run.Shown(t)
}
