// Package clocks is lesson 3: the clocks of one termination, who owns each of
// them, and which one cuts what.
//
// What the lesson is stands in this file, in view.go and in cases.go; run.go
// lists the parts of its page, and each part has a file with what fills it and
// a template of the same name. It draws what internal/clocks computes and
// decides nothing about a run. It knows no session and no other lesson.
package clocks

import (
	_ "embed"
	"fmt"
	"net/url"
	"strings"

	model "drainlab/internal/clocks"
	"drainlab/internal/course"
	"drainlab/internal/setting"
	"drainlab/web/answer"
)

const title = "Who owns each clock"

//go:embed style.css
var style string

// Lesson is lesson 3.
type Lesson struct{}

// New returns the lesson.
func New() *Lesson { return &Lesson{} }

// About says how the lesson is called. A link that names no instant shows the
// whole termination: the question is which clock cut, and that is read off the
// whole.
func (*Lesson) About() course.About {
	return course.About{
		ID: "clocks", Number: 3, Title: title, Heading: title,
		Lead:       "Hook, signal, drain, cleanup, kill: spend one budget with many owners. Find the clock that cuts your longest request, and take the plan with you.",
		Minutes:    15,
		Model:      model.Model,
		Sessions:   true,
		OpensAtEnd: true,
	}
}

// Tabs are the panel's. What a link leaves out with hide= has a tab of its own.
func (*Lesson) Tabs() []course.Tab {
	return []course.Tab{
		{ID: "guide", Name: "Guide", Hide: "text"},
		{ID: "clocks", Name: "Clocks", Hide: "controls"},
		{ID: "budget", Name: "Budget", Hide: "results"},
		{ID: "trace", Name: "Trace", Hide: "trace"},
		{ID: "owners", Name: "Owners", Wide: true, Hide: "inspector"},
		{ID: "map", Name: "Map", Wide: true, Hide: "controls"},
	}
}

// Settings are the platform, which all viewers of a session share, and the
// model's.
func (*Lesson) Settings() []setting.Info {
	words := []string{noPlatform}
	for _, p := range model.Platforms() {
		words = append(words, p.ID)
	}
	platform := setting.Info{Name: "platform", Label: "Platform", Words: words, Allowed: "one of " + strings.Join(words, ", "), Opening: noPlatform}
	return append([]setting.Info{platform}, model.Table().Infos()...)
}

// Open reads a view's values.
func (*Lesson) Open(values url.Values) (course.View, error) {
	v, err := parseView(values)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// Steps are the worked cases.
func (*Lesson) Steps() []course.Step {
	list := make([]course.Step, len(cases))
	for i, c := range cases {
		list[i] = course.Step{ID: c.id, Query: c.view().Query()}
	}
	return list
}

// Style is the lesson's own rules in the course's style.
func (*Lesson) Style() string { return style }

// Starts are what an instructor's link may start with.
func (*Lesson) Starts() []answer.Start {
	list := []answer.Start{{ID: "opening", Name: "Opening settings"}}
	for _, p := range model.Platforms() {
		list = append(list, answer.Start{Group: "A platform's defaults", ID: p.ID, Name: p.Name, Query: "platform=" + p.ID})
	}
	for i, c := range cases {
		list = append(list, answer.Start{Group: "Worked cases", ID: c.id, Name: c.title, Query: c.view().Query(), Was: fmt.Sprintf("case-%d", i+1)})
	}
	return list
}

// Poster is how the front page shows the lesson: a run that a clock has cut.
func (l *Lesson) Poster() course.Link {
	link := course.OpenLink(l)
	s := model.Opening()
	s.ServerTimeout, s.Long = 10*model.Second, 25*model.Second
	return link.With(link.View.(View).with(s))
}

// Files are what the share dialog offers of a view.
func (*Lesson) Files(link course.Link) []answer.Download {
	v := link.View.(View)
	list := []answer.Download{{Name: "JSON", Href: v.api()}}
	for _, file := range matrixFiles {
		list = append(list, answer.Download{Name: "Timeout-ownership " + file.name, Href: v.file(file.name)})
	}
	return list
}

// What the machinery may ask of the lesson beside course.Lesson.
var (
	_ answer.Announced = (*Lesson)(nil)
	_ answer.Described = (*Lesson)(nil)
	_ answer.Offering  = (*Lesson)(nil)
	_ answer.Routed    = (*Lesson)(nil)
	_ answer.Starting  = (*Lesson)(nil)
	_ answer.Styled    = (*Lesson)(nil)
	_ answer.Told      = (*Lesson)(nil)
)
