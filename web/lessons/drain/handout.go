package drain

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"drainlab/internal/course"
	"drainlab/internal/sim"
)

// questions is a run on paper before anything of it is seen.
type questions struct {
	run      string // its settings in words
	arrivals int
	blank    lanes // to draw into
}

// answers is the same run as it was.
type answers struct {
	lanes    lanes
	counts   string
	killed   string
	gone     string
	verdict  string
	why      []string
	fixes    []string
	passesAs bool // nothing is to be mended
}

// Sheet are the questions on the link's run, and apart from them their answers.
// Nothing of the run is on the questions' sheet.
func (l *Lesson) Sheet(link course.Link, _ string) (asked, key course.Component) {
	v := link.View.(*view)
	r := v.compute()
	return questionsSheet(questions{run: runText(r), arrivals: len(arrivalTimes(r.Settings)), blank: buildLanes(r, r.At(0), 0)}),
		keySheet(buildAnswers(link, v))
}

func buildAnswers(link course.Link, v *view) answers {
	r := v.compute()
	whole := r.At(sim.Horizon)
	a := whole.Account
	k := answers{lanes: buildLanes(r, whole, sim.Horizon), killed: cmp.Or(tellRun(r).killedList, "none"), gone: goneText(r),
		counts:  fmt.Sprintf("%d admitted, %d completed, %d killed, %d still running, %d rejected.", a.Admitted, a.Completed, a.Killed, a.Running, a.Rejected),
		verdict: strings.ToUpper(whole.Gate().Verdict.String()), why: r.Explain().Sentences()}
	for _, f := range sim.Fixes(v.settings) {
		if f.Found {
			k.fixes = append(k.fixes, f.Sentence)
		}
	}
	k.passesAs = whole.Gate().Verdict == sim.Pass
	if !k.passesAs && len(k.fixes) == 0 {
		k.fixes = []string{"No single change of one setting passes."}
		var e explanation
		e.findFixes(course.Link{Lesson: link.Lesson, View: v}, v)
		for _, f := range e.pairs {
			k.fixes = append(k.fixes, f.sentence)
		}
	}
	return k
}

// goneText says when worker 1 is gone, and why then.
func goneText(r *sim.Run) string {
	w := r.Workers[0]
	switch w.State {
	case sim.Killed:
		var owned []string
		for _, inv := range r.Invocations {
			if inv.Worker == 1 && inv.Outcome == sim.KilledInvocation {
				owned = append(owned, strconv.Itoa(int(inv.Request)))
			}
		}
		why := "its handler is off, so that it never began to leave"
		if len(owned) == 1 {
			why = "it still owned request " + owned[0]
		} else if len(owned) > 1 {
			why = "it still owned requests " + listed(owned)
		}
		return fmt.Sprintf("Worker 1 is killed at %s s, when the grace of %s s ends: %s.", w.ExitAt, r.Settings.Grace, why)
	case sim.Exited:
		return fmt.Sprintf("Worker 1 exits at %s s, as soon as it owns nothing any more.", w.ExitAt)
	case sim.Failed:
		return fmt.Sprintf("Worker 1's boot fails at %s s; it takes no signal.", w.FailedAt)
	case sim.Starting, sim.Ready, sim.Draining:
	}
	return fmt.Sprintf("Worker 1 is still %s at 60 s.", w.State)
}
