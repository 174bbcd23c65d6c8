package clocks

import (
	"strconv"

	"drainlab/internal/course"
)

// guide is what the lesson asks.
type guide struct {
	Start string // the way to settings in which a clock cuts
	Done  int    // cases that were seen
	Steps []guideStep
}

// guideStep is a worked case: a question, and what came of it once it was seen.
type guideStep struct {
	N                       int
	ID, Title, Ask, Outcome string
	Now, Shown              bool // it stands; it has been seen to its end
	How                     string
}

// tooLong makes the long request one that the server's own clock lets go on
// and the platform's cuts.
const tooLong = "platform=kubernetes&server_timeout=60&long=40"

func newGuide(r *Run, f course.Frame) guide {
	g := guide{Start: New().About().Path() + "?" + tooLong}
	for i, c := range cases {
		v := c.view()
		step := guideStep{N: i + 1, ID: c.id, Title: c.title, Ask: c.ask, Now: v.settings == r.view.settings,
			Shown: (f.Shown|r.Shown(f.T))&(1<<i) != 0, How: "Case " + strconv.Itoa(i+1) + ", not seen yet"}
		if step.Shown {
			step.How, step.Outcome = "Case "+strconv.Itoa(i+1)+", seen", outcome(c.run())
			g.Done++
		}
		g.Steps = append(g.Steps, step)
	}
	return g
}
