package ledgers

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	"drainlab/internal/drill"
	"drainlab/internal/fixture"
	"drainlab/internal/ledger"
)

// runJSON is a run as the API tells it.
type runJSON struct {
	ID                  string           `json:"id"`
	State               runState         `json:"state"`
	Place               int              `json:"place,omitempty"`
	Problem             string           `json:"problem,omitempty"`
	Settings            fixture.Settings `json:"settings"`
	Requests            ledger.Requests  `json:"requests"`
	Work                ledger.Work      `json:"work"`
	CleanupRan          int              `json:"cleanup_ran"`
	UnfinishedAtCleanup ledger.WorkCount `json:"unfinished_at_cleanup"`
	EvidenceLost        bool             `json:"evidence_lost"`
	Clients             []drill.Client   `json:"clients"`
	ReadyAfter          int              `json:"readiness_after_drain"`
	LiveAfter           int              `json:"liveness_after_drain"`
	HeartbeatAfter      *ledger.Seconds  `json:"heartbeat_after_cancel"`
	Exit                *drill.Exit      `json:"exit"`
	Events              []drill.Event    `json:"events"`
}

func (r fixtureRun) json() runJSON {
	report := r.report()
	v := runJSON{ID: r.ID, State: r.State, Place: r.Place, Problem: r.Problem, Settings: r.Settings,
		Requests: report.Requests, Work: report.Work, CleanupRan: report.CleanupRan,
		UnfinishedAtCleanup: report.UnfinishedAtCleanup, EvidenceLost: report.EvidenceLost,
		Clients: []drill.Client{}, Events: append([]drill.Event{}, r.Events...)}
	if r.Result != nil {
		v.Clients, v.ReadyAfter, v.LiveAfter, v.Exit = r.Result.Clients, r.Result.ReadyAfter, r.Result.LiveAfter, &r.Result.Exit
		if gap := ledger.Seconds(r.Result.HeartbeatAfter); gap > 0 {
			v.HeartbeatAfter = &gap
		}
	}
	return v
}

// referenceRun is a run of the reference settings as the API told it, without
// its id and with the day of it. A test holds it to the reference run's
// categories.
//
//go:embed reference-run.json
var referenceRun []byte

// recorded is a run that was made once, and the day of it.
type recorded struct {
	run fixtureRun
	on  string // "30 November 2026"
}

// loadRecorded reads the recorded reference run.
func loadRecorded() (recorded, error) {
	var file struct {
		Date string  `json:"date"`
		Run  runJSON `json:"run"`
	}
	if err := json.Unmarshal(referenceRun, &file); err != nil {
		return recorded{}, fmt.Errorf("reading the recorded run: %w", err)
	}
	told := file.Run
	r := fixtureRun{Settings: told.Settings, State: runFinished, Events: told.Events}
	r.Result = &drill.Result{Report: ledger.Fold(r.record(), true), Clients: told.Clients, ReadyAfter: told.ReadyAfter,
		LiveAfter: told.LiveAfter, Exit: *told.Exit, Events: r.Events}
	if told.HeartbeatAfter != nil {
		r.Result.HeartbeatAfter = time.Duration(*told.HeartbeatAfter)
	}
	return recorded{run: r, on: file.Date}, nil
}
