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

var stepTexts = map[string]struct{ title, lookFor string }{
	"opening":     {"The opening run", "Grace 0: at the signal the worker and everything it owns is gone. Which requests had been accepted and committed nothing?"},
	"grace-10":    {"Grace 10 s", "Ten more seconds save the one request that needs the least. Why not the other three?"},
	"grace-20":    {"Grace 20 s", "Everything accepted commits, and the worker leaves before its deadline. Compare the grace with the longest work left at the signal."},
	"handler-off": {"Grace 20 s, handler off", "The worker admits one more request after the signal. What becomes of it, and would more grace help?"},
	"replacement": {"Handler on, one replacement", "Find the stretch after the signal in which nobody admits. What decides how long it is?"},
	"gate":        {"Reach the gate", "These settings pass. Find others: any run that passes with 20 % allowance or less, its signal at 40 s or before, counts."},
}

func buildExperiments(f session.Frame) templates.Experiments {
	var v templates.Experiments
	for i, e := range sim.Experiments() {
		text := stepTexts[e.ID]
		step := templates.Step{N: i + 1, ID: e.ID, Title: text.title, LookFor: text.lookFor,
			Applied: f.State.Settings == e.Settings, Shown: f.Shown&(1<<i) != 0}
		step.ShownHow = fmt.Sprintf("Step %d, not shown yet", step.N)
		if step.Shown {
			step.ShownHow = fmt.Sprintf("Step %d, shown by your run", step.N)
			v.Done++
		}
		v.Steps = append(v.Steps, step)
	}
	return v
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
