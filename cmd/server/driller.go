package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"drainlab/internal/drill"
	"drainlab/internal/fixture"
)

// driller drills this very binary, started anew as the fixture.
type driller struct{}

// Drill implements [ledgers.Driller].
func (driller) Drill(ctx context.Context, s fixture.Settings, observe func(drill.Event)) (drill.Result, error) {
	// On Linux this is the running binary itself, even where its file has been
	// replaced since.
	self := "/proc/self/exe"
	if _, err := os.Stat(self); err != nil {
		if self, err = os.Executable(); err != nil {
			return drill.Result{}, fmt.Errorf("finding the own binary: %w", err)
		}
	}
	settings, err := json.Marshal(s)
	if err != nil {
		return drill.Result{}, fmt.Errorf("encoding the run's settings: %w", err)
	}
	return drill.Run(ctx, drill.Plan{
		Command:        []string{self},
		Env:            []string{fixture.EnvSettings + "=" + string(settings)},
		LedgerVariable: fixture.EnvLedger, StartVariable: fixture.EnvStart, TokenVariable: fixture.EnvToken,
		Token: rand.Text(), EndMarker: fixture.EndMarker,
		SecondSignal: time.Duration(s.SecondSignal), ClientLeaves: s.ClientLeaves,
		Limit: 15 * time.Second, Observe: observe,
	})
}
