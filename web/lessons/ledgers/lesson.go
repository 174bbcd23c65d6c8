// Package ledgers is lesson 2: a real server is started, loaded, drained and
// signalled, and two ledgers say what became of its requests and, apart from
// that, of its work.
//
// Its runs are real processes and take time, so that it has addresses of its
// own to start one and to follow it. Who makes them is a [Driller]; the lesson
// knows neither a process nor a signal.
package ledgers

import (
	"context"
	_ "embed"
	"log/slog"
	"net/url"

	"drainlab/internal/course"
	"drainlab/internal/fixture"
	"drainlab/internal/setting"
)

// The tabs of the panel.
const (
	tabGuide    = "guide"
	tabSettings = "settings"
	tabEvidence = "evidence"
	tabRecord   = "record"
)

// Lesson implements [course.Lesson].
type Lesson struct {
	recorded recorded // of the reference settings, for who has run none yet
	runs     *runQueue
	stop     context.CancelFunc // ends the runs that are under way
	drawing  chan struct{}      // a place for each record that is being read
}

// New returns the lesson, whose runs are made by driller. The error is that its
// recorded run cannot be read.
func New(driller Driller, log *slog.Logger) (*Lesson, error) {
	reference, err := loadRecorded()
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	return &Lesson{recorded: reference, runs: newRunQueue(ctx, driller, log), stop: stop, drawing: make(chan struct{}, drawnAtOnce)}, nil
}

// About implements [course.Lesson].
func (l *Lesson) About() course.About {
	return course.About{
		ID: "ledgers", Number: 2, Title: "Two ledgers",
		Heading: "Two ledgers: stopped waiting is not stopped work",
		Lead:    "A real server is started, loaded, drained and signalled. See what became of its requests and, apart from that, of its work.",
		Minutes: 20, Model: 1,
	}
}

// Tabs implements [course.Lesson].
func (l *Lesson) Tabs() []course.Tab {
	return []course.Tab{
		{ID: tabGuide, Name: "Guide", Hide: "text"},
		{ID: tabSettings, Name: "Settings", Hide: "controls"},
		{ID: tabEvidence, Name: "Evidence", Hide: "results"},
		{ID: tabRecord, Name: "Record", Hide: "trace"},
	}
}

// Settings implements [course.Lesson].
func (l *Lesson) Settings() []setting.Info { return fixture.Table().Infos() }

// Steps implements [course.Lesson].
func (l *Lesson) Steps() []course.Step {
	var list []course.Step
	for _, s := range steps() {
		list = append(list, course.Step{ID: s.id, Query: settingsQuery(s.settings)})
	}
	return list
}

// Open implements [course.Lesson].
func (l *Lesson) Open(values url.Values) (course.View, error) { return l.open(values) }

//go:embed style.css
var style string

// Style is the lesson's part of the course's style.
func (l *Lesson) Style() string { return style }

// Close starts no run any more, ends those that are under way (each is a
// process of its own: it is ended, not waited for), and returns when the last
// one is gone or ctx ends.
func (l *Lesson) Close(ctx context.Context) error {
	l.runs.close()
	l.stop()
	return l.runs.wait(ctx)
}
