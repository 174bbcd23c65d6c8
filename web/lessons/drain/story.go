package drain

import (
	"strconv"
	"strings"

	"drainlab/internal/sim"
)

// story holds the figures that the lesson's prose quotes. Each comes from a
// run of the model.
type story struct {
	opening, grace10, grace20, handlerOff, replacement, gate storyRun
	// intro describes the opening run.
	intro storyIntro
	// offGrace is the least grace with which the handler-off run kills nothing.
	offGrace string
	// gap is how long after the signal the replacement is ready.
	gap string
	// lateAdmissions are the requests that the replacement admits.
	lateAdmissions string
	// after is the request that the worker admits after the signal with the
	// handler off, and when.
	after   string
	afterAt string
}

// storyIntro is the opening run in its own figures.
type storyIntro struct {
	slots                                            int
	startup, interval, first, last, duration, signal string
}

// storyRun is one worked case.
type storyRun struct {
	sim.Account
	percent    string
	gone       string // when worker 1 is gone
	killedList string
	saved      string // the request that completes last before a forced stop
	savedAt    string
	verdict    string
}

// buildStory runs the worked cases that lesson 1's prose quotes.
func buildStory() story {
	runs := map[string]*sim.Run{}
	for _, e := range sim.Experiments() {
		runs[e.ID] = sim.Simulate(e.Settings)
	}
	s := story{
		opening: tellRun(runs["opening"]), grace10: tellRun(runs["grace-10"]), grace20: tellRun(runs["grace-20"]),
		handlerOff: tellRun(runs["handler-off"]), replacement: tellRun(runs["replacement"]), gate: tellRun(runs["gate"]),
	}
	opening := runs["opening"]
	s.intro = storyIntro{slots: opening.Settings.Slots, startup: opening.Settings.Startup.String(),
		interval: opening.Settings.Interval.String(), duration: opening.Settings.Duration.String(), signal: opening.Settings.Signal.String(),
		first: opening.Rejections[0].At.String(), last: opening.Rejections[len(opening.Rejections)-1].At.String()}
	off := runs["handler-off"].Settings
	for sim.Simulate(off).Account().Killed > 0 {
		off.Grace++
	}
	s.offGrace = off.Grace.String()
	replacement := runs["replacement"].Workers[1]
	s.gap = (replacement.ReadyAt - replacement.BootAt).String()
	var late []string
	for _, inv := range runs["replacement"].Invocations {
		if int(inv.Worker) == replacement.ID {
			late = append(late, strconv.Itoa(int(inv.Request)))
		}
	}
	s.lateAdmissions = listed(late)
	for _, inv := range runs["handler-off"].Invocations {
		if inv.AdmittedAt > runs["handler-off"].Settings.Signal {
			s.after, s.afterAt = strconv.Itoa(int(inv.Request)), inv.AdmittedAt.String()
			break
		}
	}
	return s
}

func tellRun(r *sim.Run) storyRun {
	a := r.Account()
	v := storyRun{Account: a, percent: a.RejectedPercent(), gone: r.Workers[0].ExitAt.String(),
		verdict: strings.ToUpper(r.At(sim.Horizon).Gate().Verdict.String())}
	var killed []string
	for _, inv := range r.Invocations {
		switch inv.Outcome {
		case sim.KilledInvocation:
			killed = append(killed, strconv.Itoa(int(inv.Request)))
		case sim.Completed:
			if inv.EndedAt > r.Settings.Signal {
				v.saved, v.savedAt = strconv.Itoa(int(inv.Request)), inv.EndedAt.String()
			}
		case sim.Running:
		}
	}
	v.killedList = listed(killed)
	return v
}

// listed joins items as a sentence does: "6, 13 and 14".
func listed(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:len(items)-1], ", ") + " and " + items[len(items)-1]
}
