package ledgers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"drainlab/internal/drill"
	"drainlab/internal/ledger"
)

// mostEvents is how much of a large record is listed.
const mostEvents = 1000

// record is a run event by event, the server's own and what was seen from
// outside.
type record struct {
	Events   []eventLine
	Left     int    // events that are not listed
	Download string // address of the server's own record; empty where there is none
}

type eventLine struct{ At, Text, Tone string }

func buildRecord(run fixtureRun) record {
	var v record
	seen := slices.Clone(run.Events)
	slices.SortStableFunc(seen, func(a, b drill.Event) int { return cmp.Compare(a.At, b.At) })
	if left := len(seen) - mostEvents; left > 0 {
		seen, v.Left = seen[:mostEvents], left
	}
	for _, e := range seen {
		v.Events = append(v.Events, lineOf(e))
	}
	if run.ID != "" && len(run.record()) > 0 {
		v.Download = apiPath + "/" + run.ID + "/record"
	}
	return v
}

// lineOf tells one event as a line.
func lineOf(e drill.Event) eventLine {
	v := eventLine{At: fmt.Sprintf("%.2f", time.Duration(e.At).Seconds()), Tone: "plain"}
	class := cmp.Or(e.Class, "a request")
	detail := ""
	if e.Detail != "" {
		detail = ": " + e.Detail
	}
	if e.Seen != "" {
		v.Text = strings.TrimSpace("seen from outside: "+spaced(e.Seen)+" "+e.Class) + detail
		return v
	}
	kind := spaced(string(e.Kind))
	switch e.Kind {
	case ledger.StateChanged:
		v.Text, v.Tone = "state "+e.State, "work"
	case ledger.SignalReceived:
		v.Text, v.Tone = kind+detail, "warn"
	case ledger.RequestRejected:
		v.Text, v.Tone = class+": "+kind+detail, "away"
	case ledger.RequestFailed, ledger.RequestCancelled, ledger.ConnectionUnseen:
		v.Text, v.Tone = "✕ "+class+": "+kind+detail, "bad"
	case ledger.RequestCompleted, ledger.WorkFinished, ledger.StopAcknowledged:
		v.Text, v.Tone = "✓ "+class+": "+kind+detail, "good"
	case ledger.WaiterCancelled, ledger.StopRequested, ledger.EvidenceLost:
		v.Text, v.Tone = kind+detail, "warn"
	case ledger.RequestAdmitted, ledger.WorkRegistered, ledger.WorkStarted, ledger.WorkHeartbeat, ledger.CleanupRan, ledger.ProcessEnded, ledger.RequestsBefore:
		v.Text = kind + detail
		if e.Class != "" {
			v.Text = e.Class + ": " + v.Text
		}
	}
	return v
}

func spaced(kind string) string { return strings.ReplaceAll(kind, "_", " ") }
