package session

import (
	"maps"
	"net/url"
	"strings"
	"time"

	"drainlab/internal/course"
	"drainlab/internal/setting"
)

// Command is one imperative to a session. The commands are the types of this
// file and no others.
type Command interface{ apply(*change) error }

// Commands on what the session shows. Where the new run ends elsewhere, the
// clock stands in it as [course.Keep] has it.
type (
	// Set changes the named settings, in the form of [course.View.Change].
	// Simulation time and playing go on.
	Set struct{ Values url.Values }
	// Apply changes all settings at once, as a whole form gives them: whoever
	// read the form has completed them, and what is not named all the same has
	// its opening value. Simulation time and playing go on.
	Apply struct{ Values url.Values }
	// Baseline restores the opening values. Simulation time and playing go on.
	Baseline struct{}
	// Try applies the step of the guide with that id and stands where a link
	// opens, paused, so that the learner can say what to expect before it
	// plays.
	Try struct{ Step string }
	// Open makes the session show a link of its lesson, as when a learner goes
	// back in the browser's history.
	Open struct {
		Link    course.Link
		Playing bool
	}
)

// Commands on the clock. A run that takes no time refuses them.
type (
	// Play starts the clock, from 0 where it stands at the end.
	Play struct{}
	// Pause stops the clock where it is.
	Pause struct{}
	// Step moves by whole seconds at any speed, no further than the run's
	// ends, and pauses.
	Step struct{ Seconds int }
	// Restart goes to 0. Playing goes on.
	Restart struct{}
	// Seek goes to T, which must be in the run. Playing goes on.
	Seek struct{ T setting.Time }
	// SetSpeed changes the speed from here on.
	SetSpeed struct{ Speed course.Speed }
)

// Reduce returns what cmd makes of s, a session of the lesson, at now. It is
// pure. The error, where the command cannot be taken, is a *[setting.Error],
// and where s cannot an [ErrUnopenable]; the state then is s.
func Reduce(lesson course.Lesson, s State, cmd Command, now time.Time) (State, error) {
	view, err := s.open(lesson)
	if err != nil {
		return s, err
	}
	run, next := view.Run(), s
	next.Clock.bound(run.End())
	// What the run has shown so far would be lost with the change.
	next.Shown = next.shownBy(run, next.Clock.T(now))
	if err := cmd.apply(&change{lesson: lesson, view: view, State: &next, now: now}); err != nil {
		return s, err
	}
	next.Own = true
	return next, nil
}

// change is a state that a command changes, with what it is a state of.
type change struct {
	lesson course.Lesson
	view   course.View // what the state shows, before
	*State
	now time.Time
}

// show makes the state one of another view.
func (c *change) show(v course.View, err error) error {
	if err != nil {
		return err
	}
	c.Query = v.Shared()
	c.Clock.fit(v.Run().End(), c.now)
	return nil
}

// timed refuses a command on the clock of a run that takes no time.
func (c *change) timed(name, got string) error {
	if c.Clock.End == 0 {
		return &setting.Error{Setting: name, Got: got, Allowed: "nothing: this run takes no time"}
	}
	return nil
}

// A lesson takes what it has read out of the values; the command stays as it is.
func (cmd Set) apply(c *change) error { return c.show(c.view.Change(maps.Clone(cmd.Values))) }

func (cmd Apply) apply(c *change) error {
	opening, err := c.lesson.Open(url.Values{})
	if err != nil {
		return err
	}
	return c.show(opening.Change(maps.Clone(cmd.Values)))
}

func (Baseline) apply(c *change) error { return c.show(c.lesson.Open(url.Values{})) }

func (cmd Try) apply(c *change) error {
	query, err := findStep(c.lesson, cmd.Step)
	if err != nil {
		return err
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return err
	}
	if err := c.show(c.lesson.Open(values)); err != nil {
		return err
	}
	c.Clock.set(c.lesson.About().OpensAt(c.Clock.End), c.now)
	c.Clock.Playing = false
	return nil
}

// findStep returns the query of the lesson's step with that id.
func findStep(lesson course.Lesson, id string) (string, error) {
	var ids []string
	for _, step := range lesson.Steps() {
		if step.ID == id {
			return step.Query, nil
		}
		ids = append(ids, step.ID)
	}
	allowed := "nothing: this lesson has no steps"
	if len(ids) > 0 {
		allowed = "one of " + strings.Join(ids, ", ")
	}
	return "", &setting.Error{Setting: "step", Got: id, Allowed: allowed}
}

func (cmd Open) apply(c *change) error {
	if id := cmd.Link.Lesson.About().ID; id != c.Lesson {
		return &setting.Error{Setting: "lesson", Got: id, Allowed: c.Lesson + ": a session is of one lesson"}
	}
	shown := c.Shown
	*c.State = New(cmd.Link, cmd.Playing, c.now)
	c.Shown = shown
	return nil
}

func (Play) apply(c *change) error {
	if err := c.timed("command", "play"); err != nil {
		return err
	}
	if t := c.Clock.T(c.now); t == c.Clock.End {
		c.Clock.set(0, c.now)
	} else if !c.Clock.Playing {
		c.Clock.set(t, c.now)
	}
	c.Clock.Playing = true
	return nil
}

func (Pause) apply(c *change) error {
	if err := c.timed("command", "pause"); err != nil {
		return err
	}
	c.Clock.set(c.Clock.T(c.now), c.now)
	c.Clock.Playing = false
	return nil
}

func (cmd Step) apply(c *change) error {
	name := "step"
	if cmd.Seconds < 0 {
		name = "back"
	}
	if err := c.timed("command", name); err != nil {
		return err
	}
	t := c.Clock.T(c.now) + setting.Time(cmd.Seconds)*setting.Second
	c.Clock.set(min(max(t, 0), c.Clock.End), c.now)
	c.Clock.Playing = false
	return nil
}

func (Restart) apply(c *change) error {
	if err := c.timed("command", "restart"); err != nil {
		return err
	}
	c.seek(0)
	return nil
}

func (cmd Seek) apply(c *change) error {
	if err := c.timed("t", cmd.T.String()); err != nil {
		return err
	}
	t, err := course.ParseT(cmd.T.String(), c.Clock.End)
	if err != nil {
		return err
	}
	c.seek(t)
	return nil
}

func (c *change) seek(t setting.Time) {
	// A clock that has come to its end does not start again by a seek.
	c.Clock.Playing = c.Clock.Runs(c.now)
	c.Clock.set(t, c.now)
}

func (cmd SetSpeed) apply(c *change) error {
	if err := c.timed("speed", cmd.Speed.String()); err != nil {
		return err
	}
	c.Clock.set(c.Clock.T(c.now), c.now)
	c.Clock.Speed = cmd.Speed
	return nil
}
