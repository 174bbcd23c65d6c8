package ledgers

import (
	"drainlab/internal/course"
	"drainlab/internal/setting"
	"drainlab/web/templates"
)

// source says where a run that is shown is from.
type source uint8

const (
	fromRecording source = iota // the recorded run of the reference settings
	fromHere                    // a run of this server
	brought                     // a record that somebody brought
)

// shown is a run as a page shows it. It implements [course.Run] without time:
// what it shows is the whole run, or as much of it as there is.
type shown struct {
	lesson *Lesson
	run    fixtureRun
	source source
	latest bool   // the last one of its settings, which the link does not name
	gone   bool   // the link names one that is not kept
	note   string // of a brought record: what could not be read
}

// End implements [course.Run].
func (s shown) End() setting.Time { return 0 }

// Next implements [course.Run].
func (s shown) Next(setting.Time) setting.Time { return 0 }

// Shown implements [course.Run].
func (s shown) Shown(setting.Time) uint32 {
	var bits uint32
	for i, step := range steps() {
		if s.shows(step) {
			bits |= 1 << i
		}
	}
	return bits
}

// applies reports whether the run is one of the step's settings.
func (s shown) applies(t step) bool { return s.source == fromHere && s.run.Settings == t.settings }

// shows reports whether the run is one of the step's and has shown what the
// step asks about.
func (s shown) shows(t step) bool {
	return s.applies(t) && s.run.Result != nil && t.shown(*s.run.Result)
}

// Live implements [course.Run]: all that tells of the run.
func (s shown) Live(course.Frame) []course.Part {
	report := s.run.report()
	return []course.Part{
		{ID: "strip", Slot: course.Verdict, Body: templates.StripPart(buildStrip(s.run, report))},
		{ID: "timeline", Slot: course.Picture, Body: pictureFragment(buildPicture(s.run, report))},
		{ID: "run-status", Slot: course.Play, Body: statusFragment(s.status())},
		{ID: "steps", Slot: course.InTab(tabGuide), Body: guideFragment(s.guide())},
		{ID: "evidence", Slot: course.InTab(tabEvidence), Body: evidenceFragment(buildEvidence(s.run, report))},
		{ID: "record", Slot: course.InTab(tabRecord), Body: recordFragment(buildRecord(s.run))},
	}
}

// Own implements [course.Run]: what the next run is made of. No run can be
// started from a host's frame.
func (s shown) Own(link course.Link) []course.Part {
	v := link.View.(view)
	set := buildSettings(link, v)
	parts := []course.Part{
		{ID: "settings-head", Slot: course.InTab(tabSettings), Body: settingsHead(set)},
		{ID: "controls", Slot: course.InTab(tabSettings), Body: templates.ControlGroupsPart("controls", set.Groups)},
	}
	if !link.Embedded {
		parts = append(parts,
			course.Part{ID: "bring-record", Slot: course.InTab(tabRecord), Body: bringFragment()},
			course.Part{ID: "start", Slot: course.Play, Body: startFragment(s.start(v))})
	}
	return parts
}

// Figure implements [course.Run].
func (s shown) Figure(setting.Time) course.Figure {
	run := s
	if !s.run.ended() || s.run.Result == nil { // a picture for others is of a whole run
		run.run, run.source = s.lesson.recorded.run, fromRecording
	}
	passing := s.latest || s.gone || run.source != s.source // another run may come in its place
	run.latest, run.gone = false, false                     // the link's, and not the picture's
	m := run.images(run.run.report())
	return course.Figure{Key: run.key(), Passing: passing, Alt: m.timeline.Summary, Card: m.card, PNG: m.png, SVG: m.svg}
}
