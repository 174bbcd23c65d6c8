// Package drain is lesson 1: a simulator of worker lifecycles, in which one
// sees which accepted requests survive a SIGTERM.
//
// What the lesson is stands in this file and in view.go; run.go lists the
// parts of its page; each part has a file with what fills it, and a template
// of the same name. picture.go draws the lanes for the page, figure.go as
// images. The lesson knows the model and what all lessons share, and no
// server, session or other lesson.
package drain

import (
	_ "embed"
	"net/url"

	"drainlab/internal/course"
	"drainlab/internal/setting"
	"drainlab/internal/sim"
)

//go:embed style.css
var style string

// Lesson is lesson 1.
type Lesson struct {
	story story // the worked cases that its prose quotes
}

// New returns the lesson, with its worked cases computed.
func New() *Lesson { return &Lesson{story: buildStory()} }

// id is the lesson's in addresses.
const id = "drain"

// title is what the lesson is called on what leaves the page: cards and paper.
const title = "Graceful shutdown: stop admitting, then drain"

// About says how the lesson is called.
func (l *Lesson) About() course.About {
	return course.About{
		ID: id, Number: 1, Title: "Stop admitting, then drain", Heading: title,
		Lead:    "Which accepted requests survive a SIGTERM? Change one setting, predict what dies, press play.",
		Minutes: 20, Model: sim.Model, Predicts: true, Sessions: true,
	}
}

// Tabs are the panel's: the lesson's row, then the laboratory's.
func (l *Lesson) Tabs() []course.Tab {
	return []course.Tab{
		{ID: "guide", Name: "Guide"},
		{ID: "settings", Name: "Settings", Hide: "controls"},
		{ID: "inspect", Name: "Inspect", Hide: "inspector"},
		{ID: "sums", Name: "Sums", Hide: "results"},
		{ID: "trace", Name: "Trace", Hide: "trace"},
		{ID: "why", Name: "Why", Lab: true, Hide: "results"},
		{ID: "compare", Name: "Compare", Wide: true, Lab: true, Hide: "controls"},
		{ID: "sweep", Name: "Sweep", Wide: true, Lab: true, Hide: "controls"},
	}
}

// Settings describe the model's settings.
func (l *Lesson) Settings() []setting.Info { return sim.Table().Infos() }

// Open reads a view, see [course.Lesson].
func (l *Lesson) Open(values url.Values) (course.View, error) {
	v, err := parseView(l, values)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// Steps are the guided steps, in their order.
func (l *Lesson) Steps() []course.Step {
	var steps []course.Step
	for _, e := range sim.Experiments() {
		steps = append(steps, course.Step{ID: e.ID, Query: string(sim.Table().AppendChanged(nil, e.Settings))})
	}
	return steps
}

// Style is the lesson's own part of the course's style.
func (l *Lesson) Style() string { return style }

// Poster is how the front page shows the lesson: a drain under way, 4 s after
// the signal, of which it is still open whom the deadline will find at work.
func (l *Lesson) Poster() course.Link {
	link := course.OpenLink(l)
	s := sim.Opening()
	s.Grace = 10 * sim.Second
	link.View, link.T = link.View.(*view).with(s), s.Signal+4*sim.Second
	return link
}
