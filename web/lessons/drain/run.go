package drain

import (
	"drainlab/internal/course"
	"drainlab/internal/setting"
	"drainlab/internal/sim"
	"drainlab/web/templates"
)

// run is a run of the model, and the parts of the page that show it.
type run struct {
	*sim.Run
	lesson *Lesson
}

// End is the model's horizon.
func (r run) End() setting.Time { return sim.Horizon }

// Next is the next event after t.
func (r run) Next(t setting.Time) setting.Time { return r.NextEvent(t) }

// Shown are the guided steps that the run up to t shows.
func (r run) Shown(t setting.Time) uint32 {
	var shown uint32
	for i, e := range sim.Experiments() {
		if e.Shown(r.Run, t) {
			shown |= 1 << i
		}
	}
	return shown
}

// Live are the parts that follow the frame: the strip, the lanes, and the tabs
// that say what they are made of.
func (r run) Live(f course.Frame) []course.Part {
	snap := r.At(f.T)
	return []course.Part{
		{ID: "strip", Slot: course.Verdict, Body: templates.StripPart(buildStrip(snap))},
		{ID: "lanes", Slot: course.Picture, Body: lanesPart(buildLanes(r.Run, snap, f.Until).asPart())},
		{ID: "quick", Slot: course.Play, Body: quickPart(control("grace", templates.InPlay, r.Settings))},
		{ID: "experiments", Slot: course.InTab("guide"), Order: 3, Body: stepsPart(buildSteps(r.Run, f))},
		{ID: "controls", Slot: course.InTab("settings"), Body: controlsPart(buildControls(r.Settings))},
		{ID: "inspector", Slot: course.InTab("inspect"), Order: 2, Body: inspectorPart(buildInspector(snap))},
		{ID: "results", Slot: course.InTab("sums"), Body: resultsPart(buildResults(snap))},
		{ID: "trace", Slot: course.InTab("trace"), Order: 2, Body: tracePart(buildTrace(snap))},
	}
}

// Own are the parts that follow a viewer's own link.
func (r run) Own(link course.Link) []course.Part {
	v := link.View.(*view)
	p, c, s := buildPredict(link, v), buildCompare(link, v), buildSweep(link, v)
	return []course.Part{
		{ID: "predict-row", Slot: course.Picture, Order: 1, Body: predictRow(p)},
		{ID: "legend", Slot: course.Picture, Order: 2, Body: legendPart("legend")},
		{ID: "intro", Slot: course.InTab("guide"), Order: 1, Body: introPart(r.lesson.story.intro, !link.Hides("text"), !link.Predict)},
		{ID: "predict", Slot: course.InTab("guide"), Order: 2, Body: predictPart(p)},
		{ID: "choose-worker", Slot: course.InTab("inspect"), Order: 1, Body: choosePart(v)},
		{ID: "trace-filter", Slot: course.InTab("trace"), Order: 1, Body: filterPart()},
		{ID: "explain", Slot: course.InTab("why"), Body: explainPart(buildExplain(link, v))},
		{ID: "compare", Slot: course.InTab("compare"), Body: comparePart(c)},
		{ID: "compare-stage", Slot: course.InStage("compare"), Body: compareStage(c)},
		{ID: "sweep-axes", Slot: course.InTab("sweep"), Body: templates.SweepAxesPart(s)},
		{ID: "sweep", Slot: course.InStage("sweep"), Body: templates.SweepPart(s)},
	}
}
