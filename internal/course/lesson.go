// Package course says what a lesson is: what it tells the machinery that
// serves it, so that whoever adds a lesson writes one folder and one line.
//
// It knows no HTTP, no HTML and no lesson: the machinery asks, a lesson
// answers with values.
package course

import (
	"context"
	"io"
	"net/url"

	"drainlab/internal/setting"
)

// Component is something that writes itself as HTML; templ's components are.
type Component interface {
	Render(ctx context.Context, w io.Writer) error
}

// About is how a lesson is called and announced.
type About struct {
	ID      string // of its addresses: /lessons/{ID}; lower-case letters
	Number  int    // its place in the course, from 1
	Title   string // in the navigation and on cards
	Heading string // of the page: what the lesson is about, in a line
	Lead    string // one or two sentences, for the home page, cards and search engines
	Minutes int    // that a learner takes, about
	Model   int    // the present number of its model, which links name
	// Predicts says that a link may require a prediction before the run is
	// seen (predict=required); its views then say whether one was made.
	Predicts bool
	// Sessions says that the lesson can be opened together: one run that
	// several browsers see and drive.
	Sessions bool
	// OpensAtEnd says that a link that names no instant shows the run at its
	// end, and not at its beginning.
	OpensAtEnd bool
}

// OpensAt is where a link that names no instant stands, of a run that ends at
// end.
func (a About) OpensAt(end setting.Time) setting.Time {
	if a.OpensAtEnd {
		return end
	}
	return 0
}

// Path is the address of the lesson's views.
func (a About) Path() string { return "/lessons/" + a.ID }

// Tab is one tab of the panel.
type Tab struct {
	ID   string // in links: panel=…; lower-case letters
	Name string
	// Wide says that the tab's Wide parts take the stage while it is open.
	Wide bool
	// Lab says that the tab belongs to the laboratory's second row.
	Lab bool
	// Hide is the part of the page, one of [Hideable], with which a link leaves
	// the tab out; empty for a tab that is always there.
	Hide string
}

// Lesson is what the machinery asks of a lesson. A lesson's value is safe for
// use by several goroutines and never changes.
type Lesson interface {
	About() About
	// Tabs are the panel's, in order; the first is open where a link names none.
	Tabs() []Tab
	// Settings describe what can be set, in the order of the contract.
	Settings() []setting.Info
	// Open returns the view that a link's values say: the lesson's settings and
	// whatever choices are its own. The machinery has taken out what is its own
	// (see [Link]). Whatever is left out has its opening value; an unknown name
	// or a value that is not allowed is a *[setting.Error].
	Open(values url.Values) (View, error)
	// Steps are what the guide offers to apply, none where there are none.
	Steps() []Step
}

// Step is one step of the guide: settings to go to.
type Step struct {
	ID    string
	Query string // of the view to go to
}

// View is a link's settings and choices. It is a value: what changes it
// returns another one.
type View interface {
	// Query is the view as a canonical query: only what is not at its opening
	// value, in a fixed order, without "?". Equal views give equal text.
	Query() string
	// Shared is the part of Query that all viewers of a session share: the
	// settings, without what each may choose alone.
	Shared() string
	// Change returns the view with the named settings changed. What no longer
	// fits (a prediction of another run, a worker that is not there) goes. The
	// error is a *[setting.Error].
	Change(values url.Values) (View, error)
	// Text is the present value of a setting as a link writes it.
	Text(name string) string
	// Run computes what the view shows. Equal views share it.
	Run() Run
	// Answered reports whether the view holds a learner's prediction, so that
	// the run may be seen where one is required.
	Answered() bool
}

// Run is what a view comes to, as an immutable record over time, and how it is
// drawn.
type Run interface {
	// End is the last instant; 0 for a lesson without time. A run begins at 0.
	End() setting.Time
	// Next is the next instant after t at which something happens, at most End.
	Next(t setting.Time) setting.Time
	// Shown has a bit for each of the lesson's steps that the run up to t
	// shows, the first step lowest.
	Shown(t setting.Time) uint32
	// Live returns the parts that all viewers of a session see alike and that
	// follow the frame's instant: they are streamed. Their ids and order are
	// the same for every frame of the lesson.
	Live(Frame) []Part
	// Own returns the parts that follow each viewer's own link, and change
	// with it alone (and with the instant only where the run is seen to its
	// end). Nothing in them may tell of what comes after the frame's instant.
	Own(Link) []Part
	// Figure describes the run's picture at t.
	Figure(t setting.Time) Figure
}

// Slot is where on the page a part stands.
type Slot string

// The slots of the stage. A part of a tab has the slot [InTab]; what a tab
// draws in the stage has [InStage].
const (
	Verdict Slot = "verdict" // the strip above the picture
	Picture Slot = "picture"
	Play    Slot = "play" // beside or below the play bar: a lesson's own buttons
)

// InTab is the slot of a tab's body in the panel.
func InTab(tab string) Slot { return Slot("tab:" + tab) }

// InStage is the slot of what a wide tab draws in place of the picture.
func InStage(tab string) Slot { return Slot("stage:" + tab) }

// Part is one piece of the page: an element with a fixed id that is replaced
// whole.
type Part struct {
	ID   string // of the element that Body writes
	Slot Slot
	// Order is the part's place among those of its slot; of equal ones the live
	// parts are first, each kind as the run returns them.
	Order int
	Body  Component
}

// Frame is a run at one instant, as all viewers see it.
type Frame struct {
	T       setting.Time
	Playing bool // whether time moves on from here
	// Until is the instant up to which nothing happens after T while playing;
	// T while paused.
	Until setting.Time
	Shown uint32 // the steps shown so far, see [Run.Shown]
}

// Figure is a run's picture at an instant, as images of it are made.
type Figure struct {
	// Key says all that the picture depends on: equal keys, equal pictures.
	Key string
	// Passing says that the same link may show another picture later: nobody is
	// to keep it.
	Passing bool
	// Alt says in words what it shows.
	Alt string
	// Card draws a PNG of 1200 × 630 for other sites to show with a link.
	Card func(io.Writer) error
	// PNG and SVG draw the picture alone, to keep; nil where there is none.
	PNG, SVG func(io.Writer) error
}
