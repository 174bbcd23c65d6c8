package clocks_test

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"drainlab/internal/clocks"
)

var fixSeed = flag.Uint64("fixseed", uint64(time.Now().UnixNano()), "seed of the settings that are to be fixed")

// some draws settings with a few controls at other stops than the opening ones.
func some(rng *rand.Rand, base clocks.Settings) clocks.Settings {
	for {
		s := base
		for range 3 {
			c := clocks.Table()[rng.IntN(len(clocks.Table()))]
			stops := c.Stops()
			c.Set(&s, stops[rng.IntN(len(stops))])
		}
		if s.Validate() == nil {
			return s
		}
	}
}

// Every value of every setting is tried by hand: a change that was found turns
// the verdict, no nearer value does, and where none was found none does.
func TestAFixIsTheSmallestChangeThatThereIs(t *testing.T) {
	t.Logf("seed %d", *fixSeed)
	rng := rand.New(rand.NewPCG(*fixSeed, 1))
	cases := []clocks.Settings{parse(t, "server_timeout=60&long=40"), parse(t, "grace=10&hook_in_grace=0"), clocks.Opening()}
	for range 3 {
		cases = append(cases, some(rng, clocks.Opening()))
	}
	for _, s := range cases {
		passed := clocks.Simulate(s).Passes()
		changes, limit := clocks.Fixes(s, clocks.Never), 0
		if passed {
			changes = clocks.Breaks(s)
		}
		if len(changes) != len(clocks.Table()) {
			t.Fatalf("%d changes for %d settings", len(changes), len(clocks.Table()))
		}
		for i, change := range changes {
			c := clocks.Table()[i]
			if change.Control.Name != c.Name || change.From != c.Amount(s) {
				t.Fatalf("change %d is of %s from %v", i, change.Control.Name, change.From)
			}
			// Nearer first; a toggle has one other value, a word's come in their order.
			for v := range c.Amounts(change.From, clocks.Never) {
				next := s
				c.Set(&next, v)
				turned := next.Validate() == nil && clocks.Simulate(next).Passes() != passed
				if turned && (!change.Found || v != change.To) {
					t.Errorf("%s: %s=%v turns the verdict, and found was %v, %v", s.AppendQuery(nil), c.Name, v, change.Found, change.To)
				}
				if turned || change.Found && v == change.To {
					if !turned || change.Settings != next {
						t.Errorf("%s: %s=%v does not turn the verdict, or leads elsewhere", s.AppendQuery(nil), c.Name, v)
					}
					break
				}
				limit++
			}
		}
		if limit == 0 {
			t.Error("nothing was tried")
		}
	}
}

func TestTheGraceIsSearchedUpToTheMostThatThePlatformTakes(t *testing.T) {
	s := parse(t, "grace=10&long=200&server_timeout=none&hook_in_grace=0&deadline=0")
	grace := func(most clocks.Time) clocks.Change { return clocks.Fixes(s, most)[0] }
	if c := grace(clocks.Never); !c.Found || c.To != 191*clocks.Second {
		t.Errorf("without a most the grace goes to %v, %v", c.To, c.Found)
	}
	if c := grace(191 * clocks.Second); !c.Found {
		t.Error("the most itself is not allowed")
	}
	if c := grace(1909); c.Found {
		t.Errorf("over the most: %v", c.To)
	}
}

// Whatever fails, the lists lead to PASS: a fix, else a pair of changes, else
// the best first step. Each is verified by running it.
func TestTheFixListAlwaysLeadsToPass(t *testing.T) {
	t.Logf("seed %d", *fixSeed)
	rng := rand.New(rand.NewPCG(*fixSeed, 2))
	failing := 0
	for failing < 60 {
		p := clocks.Platforms()[rng.IntN(len(clocks.Platforms()))]
		s := some(rng, p.On(clocks.Opening()))
		if clocks.Simulate(s).Passes() {
			continue
		}
		failing++
		start := s
		for step := 0; !clocks.Simulate(s).Passes(); step++ {
			if step == 6 {
				t.Fatalf("%s on %s: no way to PASS", start.AppendQuery(nil), p.ID)
			}
			fixes := clocks.Fixes(s, p.Most)
			if i := slices.IndexFunc(fixes, func(c clocks.Change) bool { return c.Found }); i >= 0 {
				if !clocks.Simulate(fixes[i].Settings).Passes() {
					t.Fatalf("%s: the fix of %s does not", s.AppendQuery(nil), fixes[i].Control.Name)
				}
				s = fixes[i].Settings
				continue
			}
			pairs := clocks.Pairs(s, p.Most, 6)
			for _, pair := range pairs {
				if !clocks.Simulate(pair.Settings).Passes() || pair.Settings.Validate() != nil {
					t.Fatalf("%s: %s and %s do not fix it", s.AppendQuery(nil), pair.First.Control.Name, pair.Second.Control.Name)
				}
				if p.Most != clocks.Never && pair.Settings.Grace > max(p.Most, s.Grace) {
					t.Fatalf("%s: a pair goes to a grace of %v on %s", s.AppendQuery(nil), pair.Settings.Grace, p.ID)
				}
				one := s
				pair.First.Control.Set(&one, pair.First.To)
				two := s
				pair.Second.Control.Set(&two, pair.Second.To)
				if clocks.Simulate(one).Passes() || clocks.Simulate(two).Passes() {
					t.Fatalf("%s: one half of a pair is enough", s.AppendQuery(nil))
				}
			}
			if len(pairs) > 0 {
				s = pairs[0].Settings
				continue
			}
			next, ok := clocks.Closest(s, p.Most)
			if !ok {
				t.Fatalf("%s on %s: no step is any better", s.AppendQuery(nil), p.ID)
			}
			s = next.Settings
		}
	}
}

func TestEveryPlatformSaysWhereItsFiguresAreFrom(t *testing.T) {
	want := map[string]struct {
		grace, most clocks.Time
		hook        bool
	}{
		"kubernetes": {300, clocks.Never, true}, "docker": {100, clocks.Never, false}, "ecs": {300, 1200, false}, "cloudrun": {100, 100, false},
		"systemd": {900, clocks.Never, false}, "heroku": {300, 300, false}, "fly": {50, 3000, false}, "nomad": {50, 300, false},
		"render": {300, 3000, false}, "gce-spot": {300, 300, true}, "ec2-spot": {1200, 1200, true},
	}
	if len(clocks.Platforms()) != len(want) {
		t.Errorf("%d platforms, want %d", len(clocks.Platforms()), len(want))
	}
	for _, p := range clocks.Platforms() {
		w := want[p.ID]
		if p.Grace != w.grace || p.Most != w.most || p.HookInGrace != w.hook {
			t.Errorf("%s: grace %v, most %v, hook in it %v", p.ID, p.Grace, p.Most, p.HookInGrace)
		}
		if p.Handled != (p.ID != "ec2-spot") {
			t.Errorf("%s: handled %v", p.ID, p.Handled)
		}
		if p.Document == "" || p.URL == "" || p.Signal == "" || p.Includes == "" || (p.Most != clocks.Never) != (p.MostWhere != "") {
			t.Errorf("%s lacks something: %+v", p.ID, p)
		}
		if err := p.On(clocks.Opening()).Validate(); err != nil {
			t.Errorf("%s: %v", p.ID, err)
		}
	}
}
