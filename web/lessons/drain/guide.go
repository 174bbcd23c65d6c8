package drain

import (
	"fmt"
	"strings"

	"drainlab/internal/course"
	"drainlab/internal/sim"
)

// stepTexts are what a guided step asks before it is played.
var stepTexts = map[string]struct{ title, ask string }{
	"opening":     {"The opening run", "Grace 0: signal and forced stop fall together. How many of the accepted requests commit?"},
	"grace-10":    {"Grace 10 s", "Ten more seconds after the signal. Which requests do they save, and why not the others?"},
	"grace-20":    {"Grace 20 s", "When does worker 1 leave, and what decides that?"},
	"handler-off": {"Grace 20 s, handler off", "The worker does not hear the signal. What does it do with the next request, and what becomes of that one?"},
	"replacement": {"Handler on, one replacement", "For how long after the signal does nobody admit? What would make that shorter?"},
	"gate":        {"Reach the gate", "Do these settings pass? Then find others that do, with an allowance of 20 % or less and the signal while requests still arrive."},
}

// step is one guided step.
type step struct {
	n          int
	id         string
	title, ask string
	outcome    string // what the run shows, told once it has
	applied    bool
	shown      bool
	shownHow   string
}

// buildSteps are the guided steps, as far as the run up to the frame, and those
// before it, have shown them.
func buildSteps(r *sim.Run, f course.Frame) []step {
	var steps []step
	for i, e := range sim.Experiments() {
		text := stepTexts[e.ID]
		s := step{n: i + 1, id: e.ID, title: text.title, ask: text.ask, applied: r.Settings == e.Settings, shown: f.Shown&(1<<i) != 0}
		s.shownHow = fmt.Sprintf("Step %d, not shown yet", s.n)
		if s.shown {
			s.shownHow = fmt.Sprintf("Step %d, shown by your run", s.n)
			s.outcome = stepOutcome(r, e, f.T)
		}
		steps = append(steps, s)
	}
	return steps
}

// stepOutcome is what a step that was shown has shown. The last one is reached
// by any run that passes.
func stepOutcome(r *sim.Run, e sim.Experiment, t sim.Time) string {
	if e.ID != "gate" || r.Settings == e.Settings {
		return outcome(sim.Simulate(e.Settings))
	}
	if t == sim.Horizon && r.Account().Passes(r.Settings.Allowance) {
		return outcome(r)
	}
	return "A run of yours has passed."
}

// stepsShown counts the steps that are shown.
func stepsShown(steps []step) int {
	n := 0
	for _, s := range steps {
		if s.shown {
			n++
		}
	}
	return n
}

// outcome tells in a sentence how a run ended.
func outcome(r *sim.Run) string {
	a, w := r.Account(), r.Workers[0]
	text := fmt.Sprintf("%d admitted, %d completed, ", a.Admitted, a.Completed)
	switch told := tellRun(r); a.Killed {
	case 0:
		text += "none killed"
	case 1:
		text += "request " + told.killedList + " killed"
	default:
		text += "requests " + told.killedList + " killed"
	}
	return fmt.Sprintf("%s. Worker 1 %s at %s s. %s.", text, w.State, w.ExitAt, strings.ToUpper(r.At(sim.Horizon).Gate().Verdict.String()))
}
