package clocks

import (
	"io"
	"slices"
	"sync"

	model "drainlab/internal/clocks"
	"drainlab/internal/course"
	"drainlab/internal/setting"
	"drainlab/web/templates"
)

// Run is one termination over time: from 0, when it begins, to the instant at
// which the process is gone and no router sends to it any more. A kill that a
// process was spared is a setting and no event, so that it lies beyond the end.
type Run struct {
	view View
	*model.Run
	end     setting.Time
	moments []moment              // in the order in which they happen
	instant func() []setting.Time // at which anything happens, rising
}

func newRun(v View) *Run {
	r := &Run{view: v, Run: model.Simulate(v.settings)}
	r.end = max(r.Run.End, r.Instants.RouterStop)
	r.moments = momentsOf(r.Run)
	r.instant = sync.OnceValue(r.instants)
	return r
}

// End is the last instant at which something happens.
func (r *Run) End() setting.Time { return r.end }

// Next is the next instant after t at which something happens.
func (r *Run) Next(t setting.Time) setting.Time {
	list := r.instant()
	i, _ := slices.BinarySearch(list, t+1)
	if i == len(list) {
		return r.end
	}
	return min(list[i], r.end)
}

// instants lists when anything happens that the page tells.
func (r *Run) instants() []setting.Time {
	list := []setting.Time{r.end}
	add := func(t setting.Time) {
		if t != model.Never && t > 0 {
			list = append(list, t)
		}
	}
	for _, m := range r.moments {
		add(m.at)
	}
	for q := range r.Requests() {
		add(q.Arrival)
		add(q.EndedAt)
		add(q.WorkEndedAt)
	}
	add(r.Run.End) // what became of work is unknown from here on
	slices.Sort(list)
	return slices.Compact(list)
}

// Shown has a bit for each worked case that the run shows whole at t.
func (r *Run) Shown(t setting.Time) uint32 {
	var bits uint32
	if t < r.end {
		return bits
	}
	for i, c := range cases {
		if c.view().settings == r.view.settings {
			bits |= 1 << i
		}
	}
	return bits
}

// seen reports whether the whole of the run is behind t, so that all of it may
// be told.
func (r *Run) seen(t setting.Time) bool { return t >= r.end }

// Live are the parts that follow the frame.
func (r *Run) Live(f course.Frame) []course.Part {
	drawn := newChart(r, f)
	return []course.Part{
		{ID: "strip", Slot: course.Verdict, Body: stripPart(r, f.T)},
		{ID: "chart", Slot: course.Picture, Body: chartPart(drawn)},
		{ID: "guide", Slot: course.InTab("guide"), Body: guidePart(newGuide(r, f))},
		{ID: "controls", Slot: course.InTab("clocks"), Body: controlsPart(newControls(r.view))},
		{ID: "budget", Slot: course.InTab("budget"), Body: budgetBody(newBudget(r, f.T))},
		{ID: "requests", Slot: course.InTab("budget"), Body: requestsPart(newRequests(r, f.T))},
		{ID: "trace", Slot: course.InTab("trace"), Body: tracePart(newTrace(r, f.T, drawn.Note))},
	}
}

// Own are the parts that say something of the run as a whole, in the words of
// each viewer's own link.
func (r *Run) Own(link course.Link) []course.Part {
	parts := []course.Part{
		later("fixes", course.InTab("budget")), later("owners", course.InStage("owners")), later("exports", course.InTab("owners")),
		later("sweep", course.InStage("map")), later("sweep-axes", course.InTab("map")),
	}
	switch link.Panel { // what nobody sees is neither made nor sent
	case "budget":
		parts[0].Body = fixesPart(newFixes(r, link))
	case "owners":
		parts[1].Body, parts[2].Body = ownersPart(newOwners(r, link)), exportsPart(newExports(r, link))
	case "map":
		sweep := newMap(r, link)
		parts[3].Body, parts[4].Body = templates.SweepPart(sweep), templates.SweepAxesPart(sweep)
	}
	return parts
}

func later(id string, slot course.Slot) course.Part {
	return course.Part{ID: id, Slot: slot, Body: templates.LaterPart(id)}
}

// Figure is the card and its words.
func (r *Run) Figure(t setting.Time) course.Figure {
	shared := r.view.Shared()
	return course.Figure{
		Key: "clocks?" + shared + "&t=" + t.String(),
		Alt: r.told(t),
		Card: func(w io.Writer) error {
			return r.card(w, t)
		},
	}
}
