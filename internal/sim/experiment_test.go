package sim_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"drainlab/internal/sim"
)

// shown names the guided steps that the run, seen up to t, shows.
func shown(r *sim.Run, t sim.Time) []string {
	var ids []string
	for _, e := range sim.Experiments() {
		if e.Shown(r, t) {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

func TestAGuidedStepIsShownByItsOwnSettings(t *testing.T) {
	// The instants are those of docs/model.md's worked cases: worker 1 is gone
	// and the last invocation has ended.
	want := []struct {
		id    string
		first sim.Time
	}{
		{"opening", 300},
		{"grace-10", 400},
		{"grace-20", 490},
		{"handler-off", 500},
		{"replacement", 590},
		{"gate", 600},
	}
	experiments := sim.Experiments()
	if len(experiments) != len(want) {
		t.Fatalf("there are %d guided steps, want %d", len(experiments), len(want))
	}
	for i, w := range want {
		t.Run(w.id, func(t *testing.T) {
			if experiments[i].ID != w.id {
				t.Fatalf("step %d is %s", i, experiments[i].ID)
			}
			run := sim.Simulate(experiments[i].Settings)
			for at := sim.Time(0); at <= sim.Horizon; at++ {
				var ids []string
				if at >= w.first {
					ids = []string{w.id}
				}
				if got := shown(run, at); !slices.Equal(got, ids) {
					t.Fatalf("at %v s the steps %v are shown, want %v", at, got, ids)
				}
			}
		})
	}
}

func TestTheGateIsShownByEveryRunThatPassesHonestly(t *testing.T) {
	cases := []struct {
		name, change string
		t            sim.Time
		passes       bool
		shows        bool
	}{
		{"by a shorter duration", "duration=5&grace=5&replacement=1", 600, true, true},
		{"by a second worker", "workers=2&duration=5&grace=5", 600, true, true},
		{"with no allowance at all", "workers=2&startup=0&duration=5&grace=5&allowance=0", 600, true, true},
		{"with a signal at the last arrival", "duration=8&grace=10&replacement=1&signal=40", 600, true, true},
		{"with a signal at the very start", "workers=4&startup=0&duration=5&grace=30&signal=0", 600, true, true},
		{"but not before the run's last step", "duration=5&grace=5&replacement=1", 599, true, false},
		{"but not with a laxer allowance", "duration=8&grace=10&replacement=1&allowance=21", 600, true, false},
		{"but not with everything allowed", "duration=8&grace=10&replacement=1&allowance=100", 600, true, false},
		{"but not with a signal after the last arrival", "duration=8&grace=10&replacement=1&signal=40.1", 600, true, false},
		{"but not with a signal at the end", "duration=8&grace=10&replacement=1&signal=60", 600, true, false},
		{"but not where worker 1 had failed before its signal", "fail_init=1&workers=2&startup=0&duration=5", 600, true, false},
		{"but not where too much is rejected", "duration=8&grace=10&replacement=1&allowance=19", 600, false, false},
		{"but not where invocations are killed", "workers=2&duration=5&grace=0", 600, false, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := settings(t, c.change)
			run := sim.Simulate(s)
			if got := run.Account().Passes(s.Allowance); got != c.passes {
				t.Fatalf("the run passes: %v; the case is about one where that is %v", got, c.passes)
			}
			var want []string
			if c.shows {
				want = []string{"gate"}
			}
			if got := shown(run, c.t); !slices.Equal(got, want) {
				t.Errorf("the steps %v are shown, want %v", got, want)
			}
		})
	}
}

func TestWhatIsShownStaysShownForTheRestOfTheRun(t *testing.T) {
	runs := []sim.Settings{}
	for _, e := range sim.Experiments() {
		runs = append(runs, e.Settings)
	}
	rng := rand.New(rand.NewPCG(*seed, 0))
	t.Logf("seed %d (-seed)", *seed)
	for range 20 {
		runs = append(runs, randomSettings(rng))
	}
	for i, s := range runs {
		run := sim.Simulate(s)
		var before []string
		for at := sim.Time(0); at <= sim.Horizon; at++ {
			got := shown(run, at)
			for _, id := range before {
				if !slices.Contains(got, id) {
					t.Fatalf("%s: at %v s the steps %v are shown, before it were %v", s.AppendQuery(nil), at, got, before)
				}
			}
			before = got
		}
		if i < len(sim.Experiments()) && !slices.Contains(before, sim.Experiments()[i].ID) {
			t.Errorf("step %d was not shown at all", i)
		}
	}
}
