package ledgers

import (
	"maps"
	"net/url"

	"drainlab/internal/course"
	"drainlab/internal/fixture"
	"drainlab/internal/setting"
)

// view is the settings of the next run, and which run is shown: a link's own,
// or the last one of these settings.
type view struct {
	lesson   *Lesson
	settings fixture.Settings
	run      string // id of the run that is shown; empty where the link names none
}

// runParameter names the run that a link shows.
const runParameter = "run"

func (l *Lesson) open(values url.Values) (view, error) {
	values = maps.Clone(values)
	v := view{lesson: l}
	err := course.Take(values, runParameter, func(id string) error {
		if !isRunID(id) {
			return &setting.Error{Setting: runParameter, Got: id, Allowed: "the id of a run on this server"}
		}
		v.run = id
		return nil
	})
	if err != nil {
		return view{}, err
	}
	if v.settings, err = fixture.ParseValues(values); err != nil {
		return view{}, err
	}
	return v, nil
}

func settingsQuery(s fixture.Settings) string { return string(fixture.Table().AppendChanged(nil, s)) }

// Query implements [course.View].
func (v view) Query() string {
	q := v.Shared()
	if v.run == "" {
		return q
	}
	if q != "" {
		q += "&"
	}
	return q + runParameter + "=" + v.run
}

// Shared implements [course.View].
func (v view) Shared() string { return settingsQuery(v.settings) }

// Change implements [course.View]. The run that is shown stays: the settings
// are those of the next one.
func (v view) Change(values url.Values) (course.View, error) {
	next := v
	if err := fixture.Table().Change(&next.settings, values); err != nil {
		return nil, err
	}
	return next, nil
}

// Text implements [course.View].
func (v view) Text(name string) string {
	c, ok := fixture.Table().Find(name)
	if !ok {
		return ""
	}
	return c.Text(v.settings)
}

// Answered implements [course.View]: the lesson asks for no prediction.
func (v view) Answered() bool { return false }

// Run implements [course.View]. It is the run as it stands now: one that is
// under way is another one a moment later.
func (v view) Run() course.Run { return v.show() }

func (v view) show() shown {
	if v.run != "" {
		if run, _, err := v.lesson.runs.look(v.run); err == nil {
			return shown{lesson: v.lesson, run: run, source: fromHere}
		}
		return shown{lesson: v.lesson, run: v.lesson.recorded.run, source: fromRecording, gone: true}
	}
	if run, ok := v.lesson.runs.latest(v.settings); ok {
		return shown{lesson: v.lesson, run: run, source: fromHere, latest: true}
	}
	return shown{lesson: v.lesson, run: v.lesson.recorded.run, source: fromRecording}
}
