package ledgers

import (
	"fmt"
	"strings"
	"time"

	"drainlab/internal/drill"
	"drainlab/internal/ledger"
)

// evidence is what a decision is made from.
type evidence struct {
	Problems []string // contradictions in the record
	Decision string   // of a policy of zero tolerance; empty where there is no result
	Promote  bool
	Checks   []check
	Requests []count
	Work     []count
	Report   []compared
	Machine  []machineState
}

// check is one point of the acceptance checklist.
type check struct {
	Text  string
	Shown bool
}

// count is one line of a ledger.
type count struct {
	Name, Kind string
	N          int
}

// compared is a category of the reference run beside this run's.
type compared struct {
	Category, Measured, Reference string
	Matches                       bool
}

// machineState is one state of the application's state machine.
type machineState struct {
	Name, What, At string
	Now, Passed    bool
}

const mostProblems = 5

func buildEvidence(run fixtureRun, report ledger.Report) evidence {
	v := evidence{Problems: problems(report), Machine: buildMachine(run), Requests: requestCounts(report.Requests), Work: workCounts(report.Work)}
	if run.Result == nil {
		return v
	}
	v.Report, v.Checks = compare(*run.Result), checks(*run.Result)
	d := (ledger.Policy{}).Decide(run.Result.Report)
	v.Promote, v.Decision = d.Promote, decision(d)
	return v
}

// decision says what a policy of zero tolerance decides, and why.
func decision(d ledger.Decision) string {
	const policy = "A release that allows no incomplete stream and no open work: "
	if d.Promote {
		return policy + "promote."
	}
	return policy + "freeze, for " + strings.Join(d.Reasons, "; ") + "."
}

// problems are a record's contradictions, the first few of them.
func problems(report ledger.Report) []string {
	var list []string
	for i, problem := range report.Problems {
		if i == mostProblems {
			list = append(list, fmt.Sprintf("… and %d more", len(report.Problems)-i))
			break
		}
		list = append(list, problem)
	}
	if err := report.Requests.Check(); err != nil {
		list = append(list, err.Error())
	}
	return list
}

func requestCounts(q ledger.Requests) []count {
	return []count{{"admitted", "admitted", int(q.Admitted)}, {"completed", "completed", int(q.Completed)},
		{"failed", "failed", int(q.Failed)}, {"cancelled", "cancelled", int(q.Cancelled)},
		{"outstanding", "outstanding", int(q.Outstanding)}, {"rejected before admission", "rejected", int(q.Rejected)},
		{"connected, never admitted", "never", int(q.NeverAdmitted)}}
}

func workCounts(w ledger.Work) []count {
	return []count{{"not started", "not-started", int(w.NotStarted)}, {"running", "running", int(w.Running)},
		{"confirmed stopped", "stopped", int(w.ConfirmedStopped)}, {"completed", "completed", int(w.Completed)},
		{"unknown", "unknown", int(w.Unknown)}}
}

// checks are the acceptance checklist that the lesson ends on, as far as a run
// of the fixture can show it.
func checks(r drill.Result) []check {
	q := r.Report.Requests
	return []check{
		{"What came after the gate had closed was rejected before any work.", q.Rejected > 0 && len(r.Report.WorkEntries) <= int(q.Admitted)},
		{"While it drained the process was alive and not ready.", r.ReadyAfter == 503 && r.LiveAfter == 200},
		{"Every admitted request has one outcome, and none is outstanding.", q.Check() == nil && q.Outstanding == 0 && len(r.Report.Problems) == 0},
		{"Every stream came to its terminal marker.", r.Report.IncompleteStreams == 0},
		{"Every piece of work is accounted for.", r.Report.Work.Unaccounted() == 0},
		{"The outcomes were written.", !r.Report.EvidenceLost},
		{"Nothing of the process was left, and it ended by itself.", !r.Exit.Orphans && !r.Exit.Killed},
	}
}

// compare holds a run against the published reference run's categories. Of the
// blocking request the reference says an HTTP error: a Go server's handler
// still answers, with 500.
func compare(r drill.Result) []compared {
	number := func(category string, got, want int) compared {
		return compared{category, fmt.Sprint(got), fmt.Sprint(want), got == want}
	}
	caller := func(class, want string, matches func(drill.Client) bool) compared {
		c := client(&r, class)
		name := class
		if class == "block" {
			name = "blocking"
		}
		return compared{name + " client", bodyOf(c), want, matches(c)}
	}
	q := r.Report.Requests
	beat := "none"
	if r.HeartbeatAfter > 0 {
		beat = fmt.Sprintf("after %.2f s", r.HeartbeatAfter.Seconds())
	}
	return []compared{
		number("requests admitted", int(q.Admitted), 3),
		number("requests completed", int(q.Completed), 1),
		number("requests cancelled", int(q.Cancelled), 2),
		number("requests rejected before admission", int(q.Rejected), 1),
		number("cleanup blocks run", r.Report.CleanupRan, 3),
		number("work unfinished at cleanup", int(r.Report.UnfinishedAtCleanup), 1),
		caller("short", "200, body complete", func(c drill.Client) bool { return c.Status == 200 && c.Body == "complete" }),
		caller("stream", "200, body truncated", func(c drill.Client) bool { return c.Status == 200 && c.Body == "truncated" }),
		caller("block", "an HTTP error", func(c drill.Client) bool { return c.Status >= 500 }),
		caller("late", "503, body complete", func(c drill.Client) bool { return c.Status == 503 }),
		{"heartbeat after the cancel", beat, "one, within the hold and a beat", r.HeartbeatAfter > 0},
		{"readiness, liveness in the drain", fmt.Sprintf("%d, %d", r.ReadyAfter, r.LiveAfter), "an error, 200", r.ReadyAfter == 503 && r.LiveAfter == 200},
		number("exit code", r.Exit.Code, -15),
	}
}

func bodyOf(c drill.Client) string {
	switch {
	case c.Class == "":
		return "not asked"
	case c.Status == 0:
		return "no response"
	}
	return fmt.Sprintf("%d, body %s", c.Status, c.Body)
}

// buildMachine says when the process entered each state.
func buildMachine(run fixtureRun) []machineState {
	all := phases()
	states := make([]machineState, len(all))
	now := -1
	for i, p := range all {
		states[i] = machineState{Name: p.state, What: p.what}
	}
	for _, e := range run.record() {
		for i, p := range all {
			if e.Kind == ledger.StateChanged && e.State == p.state {
				states[i].At = fmt.Sprintf("%.2f", time.Duration(e.At).Seconds())
				now = max(now, i)
			}
		}
	}
	if run.ended() && now >= 0 {
		now = len(states) - 1
	}
	for i := range states {
		states[i].Now, states[i].Passed = i == now, i < now && states[i].At != ""
	}
	return states
}
