package ledgers

import (
	"strings"
	"testing"

	"drainlab/internal/drill"
	"drainlab/internal/ledger"
	"drainlab/web/templates"
)

// reads is a cell as a person reads it.
func reads(c templates.StripCell) string {
	var words []string
	for _, f := range c.Figures {
		words = append(words, strings.TrimSpace(f.N+" "+f.Word))
	}
	return strings.Join(append(words, c.Note), " ")
}

func TestTheStripNeverAddsOneLedgerToTheOther(t *testing.T) {
	for want, q := range map[string]ledger.Requests{
		"3 admitted = 1 completed + 2 cancelled 1 turned away at the gate": {Admitted: 3, Completed: 1, Cancelled: 2, Rejected: 1},
		"0 admitted = 0 ": {},
		"2 admitted = 1 failed + 1 outstanding 1 turned away at the gate, 2 connected, never admitted": {Admitted: 2, Failed: 1, Outstanding: 1, Rejected: 1, NeverAdmitted: 2},
	} {
		if got := reads(requestsCell(q)); got != want {
			t.Errorf("%+v reads %q, want %q", q, got, want)
		}
	}
	for want, w := range map[string]ledger.Work{
		"1 unknown never added to the requests":                         {Unknown: 1},
		"1 completed + 2 confirmed stopped never added to the requests": {Completed: 1, ConfirmedStopped: 2},
		"1 not started + 1 running never added to the requests":         {NotStarted: 1, Running: 1},
		"0 seen never added to the requests":                            {},
	} {
		if got := reads(workCell(w)); got != want {
			t.Errorf("%+v reads %q, want %q", w, got, want)
		}
	}
}

func TestTheProcessIsNoEvidenceOfTheWork(t *testing.T) {
	result := func(e drill.Exit) fixtureRun { return fixtureRun{State: runFinished, Result: &drill.Result{Exit: e}} }
	for want, run := range map[string]fixtureRun{
		"exit −15 by SIGTERM, 1.2 s after the signal":          result(drill.Exit{Code: -15, Signal: "SIGTERM", After: 1.2}),
		"exit 0 0.3 s after the signal":                        result(drill.Exit{After: 0.3}),
		"exit −9 killed at the limit, 14.0 s after the signal": result(drill.Exit{Code: -9, Signal: "SIGKILL", After: 14, Killed: true}),
		"waits ":                               {State: runQueued},
		"starts ":                              {State: runRunning},
		"drains ":                              {State: runRunning, Events: []drill.Event{{Event: ledger.Event{Kind: ledger.StateChanged, State: "RUNNING"}}, {Event: ledger.Event{Kind: ledger.StateChanged, State: "DRAINING"}}}},
		"not told a record holds no exit code": {State: runFinished},
	} {
		if got := reads(processCell(run)); got != want {
			t.Errorf("reads %q, want %q", got, want)
		}
	}
}

func TestABarsPartsFillIt(t *testing.T) {
	list := bar([]part{{1, "completed", templates.Kept}, {0, "failed", templates.Lost}, {2, "cancelled", templates.Lost}})
	if len(list) != 2 || list[0].X != "0%" || list[0].W != "33.33%" || list[1].X != "33.33%" || list[1].W != "66.67%" {
		t.Errorf("%+v", list)
	}
	if bar(nil) != nil {
		t.Error("a bar of nothing")
	}
}
