package clocks

import (
	"strings"

	model "drainlab/internal/clocks"
	"drainlab/internal/course"
	"drainlab/web/templates"
)

// The kinds of the map's cells: the losses from the gravest on, a pass, and
// what the settings cannot be.
var cellKinds = []templates.CellKind{{ID: "killed", Name: "killed"}, {ID: "cancelled", Name: "cancelled"}, {ID: "deadline", Name: "failed at the deadline"},
	{ID: "refused", Name: "refused"}, {ID: "unknown", Name: "work unknown"}, {ID: "cleanup", Name: "cleanup cut or not begun"}, {ID: "kill", Name: "ended by the kill"},
	{ID: "pass", Name: "PASS"}, {ID: "impossible", Name: "not possible"}}

// judge returns a judge of settings: a place in cellKinds.
func judge() func(model.Settings) int {
	var run model.Run
	return func(s model.Settings) int {
		loss, possible := model.Gravity(&run, s)
		if !possible {
			return len(cellKinds) - 1
		}
		return int(loss)
	}
}

// newMap runs the settings with each pair of two settings' stops.
func newMap(r *Run, link course.Link) templates.Sweep {
	if !link.Seen() {
		return templates.Sweep{Held: true, HeldText: "The map says how the run ends: it is told at the run's end."}
	}
	own := link.View.(View) // whose axes may be others than the run's
	v := templates.NewSweep(model.Table(), r.Settings, own.x, own.y, cellKinds, judge())
	v.Page = link.Path()
	carried := link
	carried.View = newView(own.settings, own.platform, openX, openY)
	carried.Panel, carried.PanelNamed = "map", true
	for part := range strings.SplitSeq(carried.Query(), "&") {
		if name, value, ok := strings.Cut(part, "="); ok {
			v.Carry = append(v.Carry, templates.Carried{Name: name, Value: value})
		}
	}
	return v
}
