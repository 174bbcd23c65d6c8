package drain

import (
	"slices"

	"drainlab/internal/course"
	"drainlab/internal/sim"
	"drainlab/web/templates"
)

// cellKinds are what a run can come to in the sweep.
var cellKinds = []templates.CellKind{{ID: "pass", Name: "PASS"}, {ID: "killed", Name: "killed"}, {ID: "running", Name: "still running"}, {ID: "rejected", Name: "too many rejected"}}

// judge returns a judge of settings: a place in cellKinds.
func judge() func(sim.Settings) int {
	var run sim.Run
	return func(s sim.Settings) int {
		run.Reset(s)
		switch a := run.Account(); {
		case a.Killed > 0:
			return 1
		case a.Running > 0:
			return 2
		case !a.Passes(s.Allowance):
			return 3
		}
		return 0
	}
}

// buildSweep is the map of verdicts over two settings: each cell is a run to
// its end. It is drawn for those alone who have its tab open.
func buildSweep(link course.Link, v *view) templates.Sweep {
	switch {
	case len(link.Lock) > 0:
		return templates.Sweep{Held: true, HeldText: "This link keeps its settings: there is nothing to sweep."}
	case link.Held():
		return templates.Sweep{Held: true, HeldText: "Shown when you have predicted this run and played it to its end."}
	case link.Panel != "sweep":
		return templates.Sweep{Held: true, HeldText: "The map is being drawn."}
	}
	s := templates.NewSweep(sim.Table(), v.settings, v.axes.x, v.axes.y, cellKinds, judge())
	s.Page = link.Path()
	s.Carry = slices.DeleteFunc(carried(link.Query()), func(c templates.Carried) bool { return c.Name == "x" || c.Name == "y" })
	return s
}
