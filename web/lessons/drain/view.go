package drain

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"drainlab/internal/course"
	"drainlab/internal/setting"
	"drainlab/internal/sim"
)

// view is what a link to the lesson says: the settings of the run that plays,
// and what its reader has chosen beside them.
type view struct {
	lesson   *Lesson
	settings sim.Settings
	worker   int  // chosen in the inspector, from 1
	axes     axes // of the sweep
	// pinned is run A of a comparison, nil where there is none. The run that
	// plays is then run B.
	pinned     *sim.Settings
	prediction sim.Prediction // of the run that plays
	// compute returns the run, computed once for all views of these settings
	// that come of one another.
	compute func() *sim.Run
}

// axes are the two settings of a sweep, by name.
type axes struct{ x, y string }

// openingAxes are those of a link that names none.
var openingAxes = axes{x: "grace", y: "duration"}

// The prefixes of the names that are not the settings of the run that plays.
const (
	ofA          = "a." // the settings of run A of a comparison
	ofB          = "b." // in older links the settings of run B, where the plain ones are run A's
	ofPrediction = "p." // a prediction's parts
)

// parseView reads a view's values. Whatever they do not name has its opening
// value; whatever they name wrongly is a *[setting.Error].
func parseView(l *Lesson, values url.Values) (*view, error) {
	v := &view{lesson: l, worker: 1}
	worker := ""
	if err := course.Take(values, "worker", func(text string) error { worker = text; return nil }); err != nil {
		return nil, err
	}
	var err error
	if v.axes, err = takeAxes(values); err != nil {
		return nil, err
	}
	predicted := takePrefixed(values, ofPrediction)
	if err := v.takeRuns(values); err != nil {
		return nil, err
	}
	if v.prediction, err = sim.ParsePrediction(v.settings, predicted); err != nil {
		return nil, err
	}
	v.worker, err = parseWorker(worker, v.settings)
	return v, err
}

// takeRuns reads the settings of the run that plays, and of run A.
func (v *view) takeRuns(values url.Values) error {
	first, second := takePrefixed(values, ofA), takePrefixed(values, ofB)
	settings, err := sim.ParseValues(values)
	if err != nil {
		return err
	}
	switch {
	case len(first) > 0 && len(second) > 0:
		return &setting.Error{Setting: ofB, Got: "run B beside run A", Allowed: "the settings of run A alone, as a.name; the plain ones are run B's"}
	case len(first) > 0:
		pinned, err := sim.ParseValues(withoutPrefix(first, ofA))
		if err != nil {
			return prefixed(err, ofA)
		}
		v.pinned = &pinned
	case len(second) > 0:
		pinned := settings
		v.pinned = &pinned
		if err := settings.Change(withoutPrefix(second, ofB)); err != nil {
			return prefixed(err, ofB)
		}
	}
	v.set(settings)
	return nil
}

// set makes s the settings of the run that plays.
func (v *view) set(s sim.Settings) {
	v.settings = s
	v.compute = sync.OnceValue(func() *sim.Run { return sim.Simulate(s) })
}

// takePrefixed takes the parameters whose names begin so out of a query.
func takePrefixed(query url.Values, prefix string) url.Values {
	taken := url.Values{}
	for name, values := range query {
		if strings.HasPrefix(name, prefix) {
			taken[name] = values
			delete(query, name)
		}
	}
	return taken
}

func withoutPrefix(query url.Values, prefix string) url.Values {
	bare := url.Values{}
	for name, values := range query {
		bare[strings.TrimPrefix(name, prefix)] = values
	}
	return bare
}

// prefixed names the setting of an error as the link has it.
func prefixed(err error, prefix string) error {
	var e *setting.Error
	if !errors.As(err, &e) {
		return err
	}
	named := *e
	named.Setting = prefix + e.Setting
	return &named
}

// parseWorker reads the number of a worker. One that a run of s does not boot,
// though other settings would, is the first instead: in a session anyone may
// take away the worker that somebody looks at.
func parseWorker(text string, s sim.Settings) (int, error) {
	if text == "" {
		return 1, nil
	}
	workers, _ := sim.FindControl("workers")
	most := sim.Settings{Workers: int(workers.Max / setting.Whole), Replacement: true}.WorkersEver()
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most || strconv.Itoa(n) != text {
		return 0, &setting.Error{Setting: "worker", Got: text, Allowed: fmt.Sprintf("a whole number from 1 to %d", most)}
	}
	if n > s.WorkersEver() {
		return 1, nil
	}
	return n, nil
}

// takeAxes takes a sweep's axes out of a query.
func takeAxes(query url.Values) (axes, error) {
	a := openingAxes
	table := sim.Table()
	for _, axis := range []struct {
		name string
		to   *string
	}{{"x", &a.x}, {"y", &a.y}} {
		err := course.Take(query, axis.name, func(text string) error {
			if _, ok := table.Find(text); !ok {
				return &setting.Error{Setting: axis.name, Got: text, Allowed: "the name of a setting: " + strings.Join(settingNames(), ", ")}
			}
			*axis.to = text
			return nil
		})
		if err != nil {
			return a, err
		}
	}
	if a.x == a.y {
		return a, &setting.Error{Setting: "y", Got: a.y, Allowed: "another setting than x"}
	}
	return a, nil
}

func settingNames() []string {
	var names []string
	for _, c := range sim.Table() {
		names = append(names, c.Name)
	}
	return names
}

// Query is the view as a canonical query. The plain settings are those of the
// run that plays, so that whoever follows a session changes them alone; run A
// of a comparison has its own under the prefix "a.".
func (v *view) Query() string {
	parts := []string{}
	add := func(part string) {
		if part != "" {
			parts = append(parts, part)
		}
	}
	add(v.Shared())
	if v.pinned != nil {
		add(pinnedQuery(*v.pinned))
	}
	if v.worker > 1 {
		add("worker=" + strconv.Itoa(v.worker))
	}
	if v.prediction.Said() {
		add(string(v.prediction.AppendQuery(nil)))
	}
	if v.axes.x != openingAxes.x {
		add("x=" + v.axes.x)
	}
	if v.axes.y != openingAxes.y {
		add("y=" + v.axes.y)
	}
	return strings.Join(parts, "&")
}

// pinnedQuery names the settings of run A that are not as they open, or one
// where all are.
func pinnedQuery(a sim.Settings) string {
	changed := string(sim.Table().AppendChanged(nil, a))
	if changed == "" {
		c, _ := sim.FindControl("grace")
		changed = c.Name + "=" + c.Text(a)
	}
	return ofA + strings.ReplaceAll(changed, "&", "&"+ofA)
}

// Shared is the settings of the run that plays.
func (v *view) Shared() string { return string(sim.Table().AppendChanged(nil, v.settings)) }

// Change returns the view with the named settings of the run that plays
// changed. A prediction of another run goes, and a worker that is not there.
func (v *view) Change(values url.Values) (course.View, error) {
	s := v.settings
	if err := s.Change(values); err != nil {
		return nil, err
	}
	return v.with(s), nil
}

// with is the view of other settings.
func (v *view) with(s sim.Settings) *view {
	next := *v
	if s == v.settings {
		return &next
	}
	next.set(s)
	next.prediction = sim.Prediction{}
	if next.worker > s.WorkersEver() {
		next.worker = 1
	}
	return &next
}

// Text is a setting of the run that plays as a link writes it; empty for an
// unknown name.
func (v *view) Text(name string) string {
	c, ok := sim.FindControl(name)
	if !ok {
		return ""
	}
	return c.Text(v.settings)
}

// Run is the run that plays.
func (v *view) Run() course.Run { return run{lesson: v.lesson, Run: v.compute()} }

// Answered reports whether the view holds a prediction.
func (v *view) Answered() bool { return v.prediction.Said() }
