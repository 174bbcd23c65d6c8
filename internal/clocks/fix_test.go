package clocks_test

import (
	"flag"
	"math/rand/v2"
	"net/url"
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

// From these settings no one and no two changes lead to PASS, and no change of
// one saves anything that is lost.
func TestWhereNoStepSavesAnythingTheBestOneWinsTime(t *testing.T) {
	for _, c := range []struct {
		name, query string
		most        clocks.Time
		want        string // the setting's new value, from where two changes pass
	}{
		{"an unheeded signal would come after the kill, and the cleanup is over its budget", "signal_delay=45&signal_handled=0&cleanup=11", clocks.Never, "signal_handled=1"},
		{"… and the long request leaves no time for the cleanup", "grace=10&hook_in_grace=0&signal_delay=27&signal_handled=0&stop_check=7.5", 100, "signal_handled=1"},
		{"… and more grace alone does not make up for it", "grace=10&hook_in_grace=0&signal_delay=50&signal_handled=0&server_timeout=110", 300, "signal_handled=1"},
		{"a signal that is heeded would only refuse and cancel, as long as the cleanup overruns the kill",
			"grace=10&hook_in_grace=0&prestop=1.5&signal_handled=0&propagation=8&gate=none&cleanup=60&cleanup_budget=none&long=0&server_timeout=1&cooperative=0", 100, "cleanup=9"},
	} {
		s := parse(t, c.query)
		if fixed(s, c.most) || len(clocks.Pairs(s, c.most, 1)) > 0 {
			t.Errorf("%s: one change or two are enough", c.name)
		}
		got, found := clocks.Closest(s, c.most)
		if !found {
			t.Errorf("%s: nothing is found, want %s", c.name, c.want)
			continue
		}
		if to := got.Control.Name + "=" + got.Control.TextOf(got.To); to != c.want {
			t.Errorf("%s: got %s, want %s", c.name, to, c.want)
		}
		if before, after := clocks.Simulate(s).Reasons(), clocks.Simulate(got.Settings).Reasons(); !slices.Equal(before, after) {
			t.Errorf("%s: the step leads from %v to %v", c.name, before, after)
		}
		if len(clocks.Pairs(got.Settings, c.most, 1)) == 0 {
			t.Errorf("%s: after %s no two changes are enough", c.name, c.want)
		}
	}
}

func fixed(s clocks.Settings, most clocks.Time) bool {
	return slices.ContainsFunc(clocks.Fixes(s, most), func(c clocks.Change) bool { return c.Found })
}

// Wherever settings are, the best first steps alone lead to PASS.
func TestStepByStepNothingIsLostAnyMore(t *testing.T) {
	t.Logf("seed %d", *fixSeed)
	rng := rand.New(rand.NewPCG(*fixSeed, 5))
	for range 1000 {
		p := clocks.Platforms()[rng.IntN(len(clocks.Platforms()))]
		s := randomSettings(rng)
		start := s.AppendQuery(nil)
		for step := 0; !clocks.Simulate(s).Passes(); step++ {
			next, ok := clocks.Closest(s, p.Most)
			if !ok {
				t.Fatalf("%s on %s: no step is any better than %s", start, p.ID, s.AppendQuery(nil))
			}
			if step == 20 { // of 200,000 such settings none needed more than 11
				t.Fatalf("%s on %s: at %s after %d steps", start, p.ID, s.AppendQuery(nil), step)
			}
			s = next.Settings
		}
	}
}

func TestTheBestFirstStepLeavesTheLightestLosses(t *testing.T) {
	for _, c := range []struct {
		name, query string
		most        clocks.Time
		want        string // the setting's new value, "" where no step is any better
	}{
		{"of what passes nothing is better", "", clocks.Never, ""},
		{"of the stops that pass the nearest is taken, of the settings the first", "grace=5", 30 * clocks.Second, "grace=16"},
		{"a grace as long as the most may be taken", "grace=5", 16 * clocks.Second, "grace=16"},
		{"a grace longer than the most is none", "grace=10&long=21", 10 * clocks.Second, "long=14"},
		{"a long request that is over before 0 is none", "hook_in_grace=0&long=2100&long_age=210", 30 * clocks.Second, "long=0"},
		{"the graver of two losses is saved", "propagation=9&deadline=7", 30 * clocks.Second, "long=7"},
		{"what stays lost does not hide what is saved", "grace=5&signal_handled=0", 30 * clocks.Second, "grace=15"},
		{"of one loss the fewest are left", "withdraw=30&propagation=9", clocks.Never, "interval=10"},
		{"of failed deadlines too", "hook_in_grace=0&gate=none&request=24&deadline=2", 300 * clocks.Second, "request=2"},
		{"of cancelled requests too", "hook_in_grace=0&prestop=1&server_timeout=1&long=900", 300 * clocks.Second, "prestop=2.5"},
		{"routers that stop sooner are nearer, though as many are refused", "prestop=0&withdraw=5&propagation=5&interval=10&request=0.1&long=0&cleanup=30&cleanup_budget=none", 30 * clocks.Second, "withdraw=0"},
		{"a cleanup that is cut is better than none", "grace=5&hook_in_grace=0&cleanup=27&cleanup_budget=60", 30 * clocks.Second, "grace=11"},
	} {
		s := parse(t, c.query)
		got, found := clocks.Closest(s, c.most)
		if !found {
			if c.want != "" || got.Found {
				t.Errorf("%s: nothing is found (%+v), want %s", c.name, got, c.want)
			}
			continue
		}
		if to := got.Control.Name + "=" + got.Control.TextOf(got.To); to != c.want || !got.Found {
			t.Errorf("%s: got %s, found %v, want %s", c.name, to, got.Found, c.want)
		}
		next := s
		got.Control.Set(&next, got.To)
		if got.From != got.Control.Amount(s) || got.Settings != next {
			t.Errorf("%s: the step goes from %v, and leads to %s", c.name, got.From, got.Settings.AppendQuery(nil))
		}
	}
}

func TestACellOfASweepIsItsGravestLoss(t *testing.T) {
	var run clocks.Run // one for all, as a sweep has it
	for _, c := range []struct {
		name, change string
		want         clocks.Loss
		together     bool
	}{
		{"nothing is lost", "", clocks.NoLoss, true},
		{"the kill comes first", "grace=5", clocks.LostKilled, true},
		{"the long request is over before 0", "long=20&long_age=20", clocks.NoLoss, false},
		{"routers know too late", "propagation=9", clocks.LostRefused, true},
		{"the long request fails, and routers know too late", "propagation=9&deadline=7", clocks.LostDeadline, true},
		{"nothing is lost, again", "", clocks.NoLoss, true},
	} {
		// Not through the package's parser, which refuses what does not go together.
		s := clocks.Opening()
		values, err := url.ParseQuery(c.change)
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range values {
			control, _ := clocks.FindControl(name)
			if err := control.Parse(&s, v[0]); err != nil {
				t.Fatal(err)
			}
		}
		if loss, together := clocks.Gravity(&run, s); loss != c.want || together != c.together {
			t.Errorf("%s: %v, they go together %v; want %v, %v", c.name, loss, together, c.want, c.together)
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
