package ledgers

import (
	"strings"
	"testing"

	"drainlab/internal/drill"
	"drainlab/internal/ledger"
	"drainlab/web/templates"
)

// good is a result that passes the whole checklist.
func good() drill.Result {
	return drill.Result{ReadyAfter: 503, LiveAfter: 200, Report: ledger.Report{Requests: ledger.Requests{Admitted: 1, Completed: 1, Rejected: 1}}}
}

func TestEachPointOfTheChecklistIsShownByItsOwnEvidence(t *testing.T) {
	for i, c := range checks(good()) {
		if !c.Shown {
			t.Errorf("point %d is not shown by a good run", i)
		}
	}
	for point, spoil := range map[int][]func(*drill.Result){
		0: {func(r *drill.Result) { r.Report.Requests.Rejected = 0 }, func(r *drill.Result) { r.Report.WorkEntries = make([]ledger.WorkEntry, 2) }},
		1: {func(r *drill.Result) { r.ReadyAfter = 200 }, func(r *drill.Result) { r.LiveAfter = 0 }},
		2: {func(r *drill.Result) { r.Report.Requests.Completed, r.Report.Requests.Outstanding = 0, 1 }, func(r *drill.Result) { r.Report.Problems = []string{"twice"} },
			func(r *drill.Result) { r.Report.Requests.Completed = 2 }},
		3: {func(r *drill.Result) { r.Report.IncompleteStreams = 1 }},
		4: {func(r *drill.Result) { r.Report.Work.Unknown = 1 }, func(r *drill.Result) { r.Report.Work.Running = 1 }},
		5: {func(r *drill.Result) { r.Report.EvidenceLost = true }},
		6: {func(r *drill.Result) { r.Exit.Orphans = true }, func(r *drill.Result) { r.Exit.Killed = true }},
	} {
		for n, change := range spoil {
			r := good()
			change(&r)
			for i, c := range checks(r) {
				if c.Shown != (i != point) {
					t.Errorf("point %d spoiled by way %d: point %d is shown: %v", point, n, i, c.Shown)
				}
			}
		}
	}
}

func TestTheMachineSaysWhereTheProcessStands(t *testing.T) {
	states := func(ended bool, names ...string) string {
		run := fixtureRun{State: runRunning}
		if ended {
			run.State = runFinished
		}
		for i, name := range names {
			run.Events = append(run.Events, drill.Event{Event: ledger.Event{At: ledger.Seconds(i) * 5e8, Kind: ledger.StateChanged, State: name}})
		}
		var words []string
		for _, s := range buildMachine(run) {
			word := s.Name + " " + s.At
			if s.Now {
				word += "now"
			}
			if s.Passed {
				word += "passed"
			}
			words = append(words, word)
		}
		return strings.Join(words, ", ")
	}
	for want, got := range map[string]string{
		"RUNNING , QUIESCING , DRAINING , RECORDING , EXIT ":                        states(false),
		"RUNNING 0.00passed, QUIESCING , DRAINING 0.50now, RECORDING , EXIT ":       states(false, "RUNNING", "DRAINING"),
		"RUNNING 0.00passed, QUIESCING , DRAINING 0.50passed, RECORDING , EXIT now": states(true, "RUNNING", "DRAINING"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestADecisionNamesItsReasons(t *testing.T) {
	if got := decision(ledger.Decision{Promote: true}); got != "A release that allows no incomplete stream and no open work: promote." {
		t.Error(got)
	}
	l := lesson(t)
	v := buildEvidence(l.recorded.run, l.recorded.run.report())
	if v.Promote || !strings.HasSuffix(v.Decision, "freeze, for incomplete streams: 1, allowed 0; unaccounted work: 1, allowed 0.") {
		t.Error(v.Decision)
	}
}

func TestALineOfTheRecordSaysWhatItIsWithoutItsColour(t *testing.T) {
	for want, e := range map[string]drill.Event{
		"1.50 plain seen from outside: client ended short: 200": {Seen: "client_ended", Event: ledger.Event{Class: "short", Detail: "200"}},
		"1.50 plain seen from outside: signal sent: SIGTERM":    {Seen: "signal_sent", Event: ledger.Event{Detail: "SIGTERM"}},
		"1.50 good ✓ short: request completed":                  {Event: ledger.Event{Kind: ledger.RequestCompleted, Class: "short"}},
		"1.50 bad ✕ block: request cancelled: the timeout":      {Event: ledger.Event{Kind: ledger.RequestCancelled, Class: "block", Detail: "the timeout"}},
		"1.50 away a request: request rejected":                 {Event: ledger.Event{Kind: ledger.RequestRejected}},
		"1.50 work state DRAINING":                              {Event: ledger.Event{Kind: ledger.StateChanged, State: "DRAINING"}},
		"1.50 warn signal received: terminated":                 {Event: ledger.Event{Kind: ledger.SignalReceived, Detail: "terminated"}},
		"1.50 plain block: work heartbeat":                      {Event: ledger.Event{Kind: ledger.WorkHeartbeat, Class: "block"}},
		"1.50 plain process ended":                              {Event: ledger.Event{Kind: ledger.ProcessEnded}},
		"1.50 bad ✕ a request: connection never admitted":       {Event: ledger.Event{Kind: ledger.ConnectionUnseen}},
		"1.50 good ✓ block: stop acknowledged":                  {Event: ledger.Event{Kind: ledger.StopAcknowledged, Class: "block"}},
		"1.50 warn evidence lost":                               {Event: ledger.Event{Kind: ledger.EvidenceLost}},
	} {
		e.At = 15e8
		if v := lineOf(e); v.At+" "+v.Tone+" "+v.Text != want {
			t.Errorf("%s %s %s, want %s", v.At, v.Tone, v.Text, want)
		}
	}
}

func TestWhatIsKeptLostOrRunningHasItsToneInEitherLedger(t *testing.T) {
	tones := func(c templates.StripCell) string {
		var words []string
		for _, f := range c.Figures {
			words = append(words, strings.Fields(f.Word)[0]+" "+string(f.Tone))
		}
		return strings.Join(words, ", ")
	}
	if got := tones(requestsCell(ledger.Requests{Admitted: 4, Completed: 1, Failed: 1, Cancelled: 1, Outstanding: 1})); got != "admitted plain, completed kept, failed lost, cancelled lost, outstanding running" {
		t.Error(got)
	}
	if got := tones(workCell(ledger.Work{NotStarted: 1, Running: 1, ConfirmedStopped: 1, Completed: 1, Unknown: 1})); got != "not away, running running, completed work, confirmed work, unknown open" {
		t.Error(got)
	}
}
