package web

import (
	"fmt"
	"strconv"
	"strings"

	"drainlab/internal/session"
	"drainlab/internal/sim"
	"drainlab/web/templates"
)

// buildStory runs the worked cases that lesson 1's prose quotes.
func buildStory() templates.Story {
	runs := map[string]*sim.Run{}
	for _, e := range sim.Experiments() {
		runs[e.ID] = sim.Simulate(e.Settings)
	}
	story := templates.Story{
		Opening: storyRun(runs["opening"]), Grace10: storyRun(runs["grace-10"]), Grace20: storyRun(runs["grace-20"]),
		HandlerOff: storyRun(runs["handler-off"]), Replacement: storyRun(runs["replacement"]), Gate: storyRun(runs["gate"]),
	}
	opening := runs["opening"]
	story.Intro = templates.StoryIntro{Slots: opening.Settings.Slots, Startup: opening.Settings.Startup.String(),
		Interval: opening.Settings.Interval.String(), Duration: opening.Settings.Duration.String(), Signal: opening.Settings.Signal.String(),
		First: opening.Rejections[0].At.String(), Last: opening.Rejections[len(opening.Rejections)-1].At.String()}
	off := runs["handler-off"].Settings
	for sim.Simulate(off).Account().Killed > 0 {
		off.Grace++
	}
	story.OffGrace = off.Grace.String()
	replacement := runs["replacement"].Workers[1]
	story.Gap = (replacement.ReadyAt - replacement.BootAt).String()
	var late []string
	for _, inv := range runs["replacement"].Invocations {
		if int(inv.Worker) == replacement.ID {
			late = append(late, strconv.Itoa(int(inv.Request)))
		}
	}
	story.LateAdmissions = sentenceList(late)
	for _, inv := range runs["handler-off"].Invocations {
		if inv.AdmittedAt > runs["handler-off"].Settings.Signal {
			story.After, story.AfterAt = strconv.Itoa(int(inv.Request)), inv.AdmittedAt.String()
			break
		}
	}
	return story
}

func storyRun(r *sim.Run) templates.StoryRun {
	a := r.Account()
	v := templates.StoryRun{Account: a, Percent: a.RejectedPercent(), Gone: r.Workers[0].ExitAt.String(),
		Verdict: strings.ToUpper(r.At(sim.Horizon).Gate().Verdict.String())}
	var killed []string
	for _, inv := range r.Invocations {
		switch inv.Outcome {
		case sim.KilledInvocation:
			killed = append(killed, strconv.Itoa(int(inv.Request)))
		case sim.Completed:
			if inv.EndedAt > r.Settings.Signal {
				v.Saved, v.SavedAt = strconv.Itoa(int(inv.Request)), inv.EndedAt.String()
			}
		case sim.Running:
		}
	}
	v.KilledList = sentenceList(killed)
	return v
}

// sentenceList joins items as a sentence does: "6, 13 and 14".
func sentenceList(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:len(items)-1], ", ") + " and " + items[len(items)-1]
}

// stepTexts are what a guided step asks before it is played.
var stepTexts = map[string]struct{ title, ask string }{
	"opening":     {"The opening run", "Grace 0: signal and forced stop fall together. How many of the accepted requests commit?"},
	"grace-10":    {"Grace 10 s", "Ten more seconds after the signal. Which requests do they save, and why not the others?"},
	"grace-20":    {"Grace 20 s", "When does worker 1 leave, and what decides that?"},
	"handler-off": {"Grace 20 s, handler off", "The worker does not hear the signal. What does it do with the next request, and what becomes of that one?"},
	"replacement": {"Handler on, one replacement", "For how long after the signal does nobody admit? What would make that shorter?"},
	"gate":        {"Reach the gate", "Do these settings pass? Then find others that do, with an allowance of 20 % or less and the signal while requests still arrive."},
}

func buildExperiments(f session.Frame) templates.Experiments {
	var v templates.Experiments
	for i, e := range sim.Experiments() {
		text := stepTexts[e.ID]
		step := templates.Step{N: i + 1, ID: e.ID, Title: text.title, Ask: text.ask,
			Applied: f.State.Settings == e.Settings, Shown: f.Shown&(1<<i) != 0}
		step.ShownHow = fmt.Sprintf("Step %d, not shown yet", step.N)
		if step.Shown {
			step.ShownHow = fmt.Sprintf("Step %d, shown by your run", step.N)
			step.Outcome = outcome(sim.Simulate(e.Settings))
			if e.ID == "gate" && !step.Applied { // a run of the learner's own has passed
				step.Outcome = "A run of yours has passed."
				if f.Run.Account().Passes(f.State.Settings.Allowance) {
					step.Outcome = outcome(f.Run)
				}
			}
			v.Done++
		}
		v.Steps = append(v.Steps, step)
	}
	return v
}

// outcome tells in a sentence how a run ended.
func outcome(r *sim.Run) string {
	a, w := r.Account(), r.Workers[0]
	text := fmt.Sprintf("%d admitted, %d completed, ", a.Admitted, a.Completed)
	switch story := storyRun(r); a.Killed {
	case 0:
		text += "none killed"
	case 1:
		text += "request " + story.KilledList + " killed"
	default:
		text += "requests " + story.KilledList + " killed"
	}
	return fmt.Sprintf("%s. Worker 1 %s at %s s. %s.", text, w.State, w.ExitAt, strings.ToUpper(r.At(sim.Horizon).Gate().Verdict.String()))
}

var kindNames = map[sim.Kind]string{
	sim.WorkerStarted: "boots", sim.WorkerReady: "readiness", sim.WorkerFailed: "failed boots", sim.WorkerSignaled: "signals",
	sim.WorkerDrained: "draining", sim.WorkerExited: "exits", sim.WorkerKilled: "killed workers", sim.RequestAdmitted: "admissions",
	sim.RequestRejected: "rejections", sim.InvocationStage: "stages", sim.InvocationCompleted: "commits", sim.InvocationKilled: "killed invocations",
}

func kindOptions() []templates.KindOption {
	var list []templates.KindOption
	for _, k := range sim.Kinds() {
		list = append(list, templates.KindOption{Kind: k, Name: kindNames[k]})
	}
	return list
}
