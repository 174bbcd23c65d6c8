// Package coursetest is a lesson for tests of what serves any lesson: a
// counter. Nothing in it is computed that a reader could not do in the head.
package coursetest

import (
	"context"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"

	"drainlab/internal/course"
	"drainlab/internal/setting"
)

// Counter is a lesson: a number that grows By every Every, Count times. The
// zero value is the first lesson of a course; its opening run goes from 0 to
// 30 and takes 60 s.
type Counter struct {
	ID         string // "counter" where empty
	Number     int    // 1 where 0
	Silent     bool   // asks for no prediction
	OpensAtEnd bool
	Stepless   bool // its guide has no steps
}

var _ course.Lesson = Counter{}

// Settings are what can be set of a count.
type Settings struct {
	Count int          // how often it grows; with 0 a run takes no time
	Every setting.Time // how long it takes to grow once
	By    int          // how much it grows at once; the run's end does not depend on it
}

// table describes the settings.
var table = setting.Table[Settings]{
	{Name: "count", Label: "Count", Min: 0, Max: 300 * setting.Whole, Step: setting.Whole, Grain: setting.Whole, Opening: 30 * setting.Whole,
		Field: func(s *Settings) any { return &s.Count }},
	{Name: "every", Label: "Every", Unit: "s", Min: setting.Tenth, Max: 10 * setting.Second, Step: setting.Second, Grain: setting.Tenth, Opening: 2 * setting.Second,
		Field: func(s *Settings) any { return &s.Every }},
	{Name: "by", Label: "By", Min: setting.Whole, Max: 200 * setting.Whole, Step: setting.Whole, Grain: setting.Whole, Opening: setting.Whole,
		Field: func(s *Settings) any { return &s.By }},
}

// RandomQuery is a query that names every setting, with values drawn from all
// that are allowed.
func RandomQuery(r *rand.Rand) string {
	var s Settings
	for i := range table {
		c := &table[i]
		c.Set(&s, c.Min+c.Grain*setting.Time(r.IntN(int((c.Max-c.Min)/c.Grain)+1)))
	}
	return string(table.AppendQuery(nil, s))
}

// About implements [course.Lesson].
func (c Counter) About() course.About {
	a := course.About{ID: c.ID, Number: c.Number, Title: "Counting", Heading: "Counting to a number",
		Lead: "A number grows until it does not.", Minutes: 1, Model: 3, Predicts: !c.Silent, Sessions: true, OpensAtEnd: c.OpensAtEnd}
	if a.ID == "" {
		a.ID = "counter"
	}
	if a.Number == 0 {
		a.Number = 1
	}
	return a
}

// Tabs implements [course.Lesson].
func (Counter) Tabs() []course.Tab {
	return []course.Tab{{ID: "settings", Name: "Settings", Hide: "controls"}, {ID: "log", Name: "Log", Hide: "trace"}, {ID: "table", Name: "Table", Wide: true, Lab: true}}
}

// Settings implements [course.Lesson].
func (Counter) Settings() []setting.Info { return table.Infos() }

// Steps implements [course.Lesson].
func (c Counter) Steps() []course.Step {
	if c.Stepless {
		return nil
	}
	return []course.Step{{ID: "opening"}, {ID: "few", Query: "count=10"}, {ID: "far", Query: "every=4"}}
}

// Open implements [course.Lesson].
func (c Counter) Open(values url.Values) (course.View, error) {
	v := view{lesson: c}
	err := course.Take(values, "guess", func(text string) (err error) {
		v.guess, err = strconv.Atoi(text)
		if err != nil || v.guess < 1 || c.Silent || strconv.Itoa(v.guess) != text {
			return &setting.Error{Setting: "guess", Got: text, Allowed: "a whole number from 1, in a lesson that asks for it"}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if v.settings, err = table.Parse(values); err != nil {
		return nil, err
	}
	return v, nil
}

// view is the settings, and what a viewer guesses the number comes to.
type view struct {
	lesson   Counter
	settings Settings
	guess    int // 0: none
}

func (v view) Shared() string { return string(table.AppendChanged(nil, v.settings)) }

func (v view) Query() string {
	q := v.Shared()
	if v.guess == 0 {
		return q
	}
	return strings.TrimPrefix(q+"&guess="+strconv.Itoa(v.guess), "&")
}

func (v view) Change(values url.Values) (course.View, error) {
	next := v
	err := table.Change(&next.settings, values)
	clear(values) // as a lesson may that takes out what it has read
	if err != nil {
		return nil, err
	}
	if next.settings != v.settings {
		next.guess = 0
	}
	return next, nil
}

func (v view) Text(name string) string {
	c, ok := table.Find(name)
	if !ok {
		return ""
	}
	return c.Text(v.settings)
}

func (v view) Run() course.Run { return Run{v.lesson, v.settings} }

func (v view) Answered() bool { return v.guess > 0 }

// Run is a count, and a comparable value: equal settings are equal runs.
type Run struct {
	lesson   Counter
	Settings Settings
}

// End implements [course.Run].
func (r Run) End() setting.Time { return setting.Time(r.Settings.Count) * r.Settings.Every }

// Next implements [course.Run]: something happens where the number grows.
func (r Run) Next(t setting.Time) setting.Time {
	return min((t/r.Settings.Every+1)*r.Settings.Every, r.End())
}

// Number is what the counter shows at t.
func (r Run) Number(t setting.Time) int { return int(t/r.Settings.Every) * r.Settings.By }

// Shown implements [course.Run]: a step is shown by a run of its settings of
// which half is seen.
func (r Run) Shown(t setting.Time) uint32 {
	var bits uint32
	for i, step := range r.lesson.Steps() {
		if string(table.AppendChanged(nil, r.Settings)) == step.Query && 2*t >= r.End() {
			bits |= 1 << i
		}
	}
	return bits
}

// Live implements [course.Run].
func (r Run) Live(f course.Frame) []course.Part {
	return []course.Part{
		{ID: "number", Slot: course.Verdict, Body: text{"number", strconv.Itoa(r.Number(f.T))}},
		{ID: "dial", Slot: course.Picture, Body: text{"dial", fmt.Sprintf("%v of %v s", f.T, r.End())}},
	}
}

// Own implements [course.Run].
func (r Run) Own(l course.Link) []course.Part {
	return []course.Part{{ID: "guess", Slot: course.InTab("settings"), Body: text{"guess", "guessed: " + l.View.Query()}}}
}

// Figure implements [course.Run].
func (r Run) Figure(t setting.Time) course.Figure {
	n := strconv.Itoa(r.Number(t))
	return course.Figure{Key: n, Alt: "The number " + n, Card: func(w io.Writer) error { _, err := io.WriteString(w, n); return err }}
}

// text is a paragraph.
type text struct{ id, says string }

func (t text) Render(_ context.Context, w io.Writer) error {
	_, err := fmt.Fprintf(w, `<p id="%s">%s</p>`, t.id, html.EscapeString(t.says))
	return err
}
