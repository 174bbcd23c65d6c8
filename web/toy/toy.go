// Package toy is a lesson for tests: a counter that counts up and, at its
// limit, stops. What the machinery gives every lesson it is seen to give this
// one, which no other code knows.
package toy

import (
	"context"
	"fmt"
	"io"
	"net/url"

	"drainlab/internal/course"
	"drainlab/internal/picture"
	"drainlab/internal/setting"
	"drainlab/web/templates"
)

type settings struct {
	Limit int
	Every setting.Time
}

// table is all that can be set.
var table = setting.Table[settings]{
	{Name: "limit", Label: "Counts up to", Meaning: "The last count.", Min: 1 * setting.Whole, Max: 20 * setting.Whole, Step: setting.Whole, Grain: setting.Whole, Opening: 5 * setting.Whole,
		Field: func(s *settings) any { return &s.Limit }},
	{Name: "every", Label: "One count takes", Meaning: "The time of one count.", Unit: "s", Min: 5, Max: 50, Step: 5, Grain: setting.Tenth, Opening: 10,
		Field: func(s *settings) any { return &s.Every }},
}

// Lesson is the toy as a course has it at that place.
type Lesson struct{ Number int }

// About implements [course.Lesson].
func (l Lesson) About() course.About {
	return course.About{ID: "toy", Number: l.Number, Title: "A toy", Heading: "A counter that stops", Lead: "It counts.", Minutes: 1, Model: 1, Sessions: true}
}

// Tabs implements [course.Lesson].
func (Lesson) Tabs() []course.Tab {
	return []course.Tab{{ID: "guide", Name: "Guide"}, {ID: "settings", Name: "Settings", Hide: "controls"}, {ID: "wide", Name: "All counts", Wide: true}}
}

// Settings implements [course.Lesson].
func (Lesson) Settings() []setting.Info { return table.Infos() }

// Steps implements [course.Lesson].
func (Lesson) Steps() []course.Step { return []course.Step{{ID: "far", Query: "limit=20"}} }

// Open implements [course.Lesson].
func (Lesson) Open(values url.Values) (course.View, error) {
	s, err := table.Parse(values)
	return view{s}, err
}

type view struct{ settings }

func (v view) Query() string   { return string(table.AppendChanged(nil, v.settings)) }
func (v view) Shared() string  { return v.Query() }
func (v view) Answered() bool  { return false }
func (v view) Run() course.Run { return run(v) }

func (v view) Text(name string) string {
	c, _ := table.Find(name)
	return c.Text(v.settings)
}

func (v view) Change(values url.Values) (course.View, error) {
	err := table.Change(&v.settings, values)
	return v, err
}

type run view

func (r run) End() setting.Time { return setting.Time(r.Limit) * r.Every }

func (r run) Next(t setting.Time) setting.Time { return min((t/r.Every+1)*r.Every, r.End()) }

func (r run) Shown(t setting.Time) uint32 {
	if r.Limit == 20 && t == r.End() {
		return 1
	}
	return 0
}

func (r run) count(t setting.Time) int { return int(t / r.Every) }

func (r run) Live(f course.Frame) []course.Part {
	n := r.count(f.T)
	return []course.Part{
		part("strip", course.Verdict, `<p id="strip">Counted %d of %d</p>`, n, r.Limit),
		part("counter", course.Picture, `<svg id="counter" role="img" aria-label="The count is %d" width="100%%" height="100%%"><rect width="%d%%" height="40%%" fill="currentColor"></rect></svg>`, n, 100*n/r.Limit),
		part("steps", course.InTab("guide"), `<div id="steps"><p>Press Play: it counts. Step taken: %t</p><button form="f-play" name="step" value="far" id="far">Count far</button></div>`, f.Shown == 1),
		{ID: "controls", Slot: course.InTab("settings"), Body: templates.ControlGroupsPart("controls", []templates.ControlGroup{{Name: "The count", Controls: controls(r.settings)}})},
	}
}

func controls(s settings) []templates.Control {
	var list []templates.Control
	for _, c := range table {
		list = append(list, templates.ControlOf(c, s))
	}
	return list
}

func (r run) Own(l course.Link) []course.Part {
	return []course.Part{
		part("all", course.InStage("wide"), `<p id="all">It will count to %d.</p>`, r.Limit),
		part("all-note", course.InTab("wide"), `<p id="all-note">All counts of this link.</p>`),
	}
}

func (r run) Figure(t setting.Time) course.Figure {
	alt := fmt.Sprintf("At %v s the count is %d of %d.", t, r.count(t), r.Limit)
	return course.Figure{Key: view(r).Query() + "&t=" + t.String(), Alt: alt,
		Card: func(w io.Writer) error { return picture.TextCard(w, "A toy", alt, nil) }}
}

func part(id string, slot course.Slot, format string, args ...any) course.Part {
	return course.Part{ID: id, Slot: slot, Body: html(fmt.Sprintf(format, args...))}
}

type html string

func (h html) Render(_ context.Context, w io.Writer) error {
	_, err := io.WriteString(w, string(h))
	return err
}
