package session_test

import (
	"fmt"
	"maps"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"drainlab/internal/session"
	"drainlab/internal/sim"
)

// Where a session may stand at noon.
var (
	playing = session.Clock{Playing: true, At: 75, Since: noon.Add(-2500 * time.Millisecond), Speed: session.Single} // at 10
	paused  = session.Clock{At: 100, Since: noon.Add(-time.Hour), Speed: session.Single}
	started = session.Clock{Playing: true, At: 0, Since: noon, Speed: session.Single}
	atStart = session.Clock{At: 0, Since: noon.Add(-time.Hour), Speed: session.Single}
	ended   = session.Clock{Playing: true, At: 590, Since: noon.Add(-time.Hour), Speed: session.Single} // came to 60 by playing
	atEnd   = session.Clock{At: 600, Since: noon.Add(-time.Hour), Speed: session.Single}
	fast    = session.Clock{Playing: true, At: 20, Since: noon.Add(-time.Second), Speed: session.Eight} // at 10
	slow    = session.Clock{Playing: true, At: 95, Since: noon.Add(-time.Second), Speed: session.Half}  // at 10
	uneven  = session.Clock{Playing: true, At: 95, Since: noon.Add(-550 * time.Millisecond), Speed: session.Single}
)

func TestCommandsOnTheClock(t *testing.T) {
	cases := []struct {
		name  string
		from  session.Clock
		cmd   session.Command
		t     sim.Time // right after
		later sim.Time // a second of real time after
	}{
		{"play goes on while playing", playing, session.Play{}, 100, 110},
		{"play starts a paused clock where it stands", paused, session.Play{}, 100, 110},
		{"play starts from the start", atStart, session.Play{}, 0, 10},
		{"play starts from 0 where playing has come to the end", ended, session.Play{}, 0, 10},
		{"play starts from 0 where the clock is paused at the end", atEnd, session.Play{}, 0, 10},
		{"play keeps the speed", fast, session.Play{}, 100, 180},

		{"pause stops the clock where it is", playing, session.Pause{}, 100, 100},
		{"pause stops the clock on a whole tenth", uneven, session.Pause{}, 100, 100},
		{"pause leaves a paused clock", paused, session.Pause{}, 100, 100},
		{"pause stops a clock that has just started", started, session.Pause{}, 0, 0},
		{"pause leaves the clock at the end", ended, session.Pause{}, 600, 600},

		{"a step is one second and pauses", playing, session.Step{Seconds: 1}, 110, 110},
		{"a step back is one second and pauses", playing, session.Step{Seconds: -1}, 90, 90},
		{"a step is one second at eightfold speed", fast, session.Step{Seconds: 1}, 110, 110},
		{"a step back is one second at half speed", slow, session.Step{Seconds: -1}, 90, 90},
		{"a step moves a paused clock", paused, session.Step{Seconds: 1}, 110, 110},
		{"a step back moves a paused clock", paused, session.Step{Seconds: -1}, 90, 90},
		{"a step back goes no further than the start", atStart, session.Step{Seconds: -1}, 0, 0},
		{"a step back pauses at the start", started, session.Step{Seconds: -1}, 0, 0},
		{"a step goes no further than the end", atEnd, session.Step{Seconds: 1}, 600, 600},
		{"a step goes no further than the end that playing has come to", ended, session.Step{Seconds: 1}, 600, 600},
		{"a step back leaves the end", ended, session.Step{Seconds: -1}, 590, 590},
		{"a step back leaves the end where the clock is paused", atEnd, session.Step{Seconds: -1}, 590, 590},
		{"a step near the end goes to the end", session.Clock{At: 597, Since: noon, Speed: session.Single}, session.Step{Seconds: 1}, 600, 600},
		{"a step back near the start goes to the start", session.Clock{At: 3, Since: noon, Speed: session.Single}, session.Step{Seconds: -1}, 0, 0},
		{"many seconds are one step", paused, session.Step{Seconds: 20}, 300, 300},

		{"restart goes to 0 and plays on", playing, session.Restart{}, 0, 10},
		{"restart goes to 0 and stays paused", paused, session.Restart{}, 0, 0},
		{"restart at the end goes to 0 and stays there", ended, session.Restart{}, 0, 0},
		{"restart of a clock paused at the end stays paused", atEnd, session.Restart{}, 0, 0},
		{"restart keeps the speed", fast, session.Restart{}, 0, 80},

		{"seek goes there and plays on", playing, session.Seek{T: 305}, 305, 315},
		{"seek goes there and stays paused", paused, session.Seek{T: 305}, 305, 305},
		{"seek back plays on", playing, session.Seek{T: 5}, 5, 15},
		{"seek does not start a clock that has come to the end", ended, session.Seek{T: 305}, 305, 305},
		{"seek leaves the end paused", atEnd, session.Seek{T: 305}, 305, 305},
		{"seek to the end ends playing", playing, session.Seek{T: 600}, 600, 600},
		{"seek from the start plays on", started, session.Seek{T: 10}, 10, 20},

		{"a speed is the speed from here on", playing, session.SetSpeed{Speed: session.Four}, 100, 140},
		{"a slower speed is the speed from here on", fast, session.SetSpeed{Speed: session.Half}, 100, 105},
		{"a speed does not start a paused clock", paused, session.SetSpeed{Speed: session.Four}, 100, 100},
		{"a speed does not move the clock from the start", started, session.SetSpeed{Speed: session.Four}, 0, 40},
		{"a speed does not move the clock from the end", ended, session.SetSpeed{Speed: session.Half}, 600, 600},
		{"a speed leaves a clock paused at the end", atEnd, session.SetSpeed{Speed: session.Half}, 600, 600},

		{"trying a guided step stands at 0, paused", playing, session.Try{Settings: settings(t, "grace=7")}, 0, 0},
		{"trying a guided step leaves the end", ended, session.Try{Settings: settings(t, "grace=7")}, 0, 0},
		{"trying a guided step leaves the end where the clock is paused", atEnd, session.Try{Settings: settings(t, "grace=7")}, 0, 0},
		{"trying a guided step stays at the start", atStart, session.Try{Settings: settings(t, "grace=7")}, 0, 0},

		{"a view opens paused", playing, session.Open{View: session.View{Settings: sim.Opening(), T: 45, Speed: session.Double}}, 45, 45},
		{"a view opens playing", atEnd, session.Open{View: session.View{Settings: sim.Opening(), T: 45, Speed: session.Double, Playing: true}}, 45, 65},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			from := session.State{Model: sim.Model, Settings: settings(t, "grace=7"), Clock: c.from}
			got, err := session.Reduce(from, c.cmd, noon)
			if err != nil {
				t.Fatal(err)
			}
			if got.Model != sim.Model || !got.Own {
				t.Errorf("the state is %+v", got)
			}
			if at := got.Clock.T(noon); at != c.t {
				t.Errorf("it is %v s, want %v s", at, c.t)
			}
			if at := got.Clock.T(noon.Add(time.Second)); at != c.later {
				t.Errorf("a second later it is %v s, want %v s", at, c.later)
			}
			if _, open := c.cmd.(session.Open); !open && got.Settings != from.Settings {
				t.Errorf("the settings became %+v", got.Settings)
			}
		})
	}
}

func TestPlayLeavesARunningClockExactly(t *testing.T) {
	got, err := session.Reduce(session.State{Settings: sim.Opening(), Clock: uneven}, session.Play{}, noon)
	if err != nil || got.Clock != uneven {
		t.Errorf("%+v became %+v, %v", uneven, got.Clock, err)
	}
}

func TestAStepIsOneSecondAndPauses(t *testing.T) {
	r := random(t)
	for range 5000 {
		from := session.State{Settings: sim.Opening(), Clock: randomClock(r, noon)}
		seconds := r.IntN(2)*2 - 1
		got, err := session.Reduce(from, session.Step{Seconds: seconds}, noon)
		if err != nil {
			t.Fatal(err)
		}
		want := min(max(from.Clock.T(noon)+sim.Time(10*seconds), 0), sim.Horizon)
		if got.Clock.T(noon) != want || got.Clock.Runs(noon) || got.Clock.Speed != from.Clock.Speed {
			t.Fatalf("a step of %d s from %+v went to %+v", seconds, from.Clock, got.Clock)
		}
	}
}

func TestAChangeOfSpeedIsContinuous(t *testing.T) {
	r := random(t)
	for range 5000 {
		from := session.State{Settings: sim.Opening(), Clock: randomClock(r, noon)}
		for _, speed := range session.Speeds() {
			got, err := session.Reduce(from, session.SetSpeed{Speed: speed}, noon)
			if err != nil {
				t.Fatal(err)
			}
			if got.Clock.T(noon) != from.Clock.T(noon) || got.Clock.Runs(noon) != from.Clock.Runs(noon) || got.Clock.Speed != speed {
				t.Fatalf("speed %v made %+v of %+v", speed, got.Clock, from.Clock)
			}
			// The anchor is a whole tenth, so the playhead goes back less than one.
			if back := from.Clock.Exact(noon) - got.Clock.Exact(noon); back < 0 || back >= 100*time.Millisecond {
				t.Fatalf("speed %v moved %+v back by %v", speed, from.Clock, back)
			}
		}
	}
}

func TestAChangeOfSettingsKeepsTheClock(t *testing.T) {
	other := settings(t, "workers=3&grace=20")
	cases := []struct {
		name string
		cmd  session.Command
		want string // the settings
	}{
		{"set changes the named settings", session.Set{Values: url.Values{"grace": {"20"}, "handler": {"0"}}}, "workers=2&grace=20&handler=0"},
		{"set of the same changes nothing", session.Set{Values: url.Values{"workers": {"2"}}}, "workers=2"},
		{"set of nothing changes nothing", session.Set{}, "workers=2"},
		{"replace changes all settings", session.Replace{Settings: other}, "workers=3&grace=20"},
		{"baseline restores the opening values", session.Baseline{}, ""},
	}
	clocks := map[string]session.Clock{"playing": playing, "paused": paused, "just started": started, "at the start": atStart,
		"come to the end": ended, "paused at the end": atEnd, "fast": fast, "slow": slow, "between two tenths": uneven}
	for _, c := range cases {
		for where, clock := range clocks {
			t.Run(c.name+", "+where, func(t *testing.T) {
				got, err := session.Reduce(session.State{Model: sim.Model, Settings: settings(t, "workers=2"), Clock: clock}, c.cmd, noon)
				if err != nil {
					t.Fatal(err)
				}
				if got.Settings != settings(t, c.want) {
					t.Errorf("the settings are %s, want those of %s", got.Settings.AppendQuery(nil), c.want)
				}
				if got.Clock != clock || got.Model != sim.Model {
					t.Errorf("the clock %+v became %+v", clock, got.Clock)
				}
			})
		}
	}
}

func TestTryingAGuidedStepTakesItsSettingsAndKeepsTheSpeed(t *testing.T) {
	for _, e := range sim.Experiments() {
		got, err := session.Reduce(session.State{Settings: settings(t, "slots=2"), Clock: fast}, session.Try{Settings: e.Settings}, noon)
		if err != nil || got.Settings != e.Settings || got.Clock.Speed != session.Eight {
			t.Errorf("%s became %+v, %v", e.ID, got, err)
		}
	}
}

func TestARefusedSetLeavesTheState(t *testing.T) {
	for _, c := range []struct{ name, change, setting, got string }{
		{"a value out of range", "workers=5", "workers", "5"},
		{"a value after a good one", "workers=2&grace=31", "grace", "31"},
		{"too fine a value", "startup=0.25", "startup", "0.25"},
		{"no number", "signal=soon", "signal", "soon"},
		{"an empty value", "signal=", "signal", ""},
		{"a toggle that is neither on nor off", "handler=yes", "handler", "yes"},
		{"a setting given twice", "grace=1&grace=2", "grace", "1, 2"},
		{"an unknown setting", "grace=5&speed=2", "speed", "2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			// Standing at the end, so that there is a step to show as well.
			from := session.State{Model: sim.Model, Settings: sim.Opening(), Clock: ended, Shown: grace10, Own: true}
			got, err := session.Reduce(from, session.Set{Values: values(t, c.change)}, noon)
			wantSettingError(t, err, c.setting, c.got)
			if got != from {
				t.Errorf("the state became %+v", got)
			}
		})
	}
}

func TestWhatWasShownIsKept(t *testing.T) {
	after := func(at sim.Time) session.Clock {
		return session.Clock{Playing: true, Since: noon.Add(-tenths(at)), Speed: session.Single}
	}
	cases := []struct {
		name  string
		clock session.Clock
		cmd   session.Command
		want  uint32
	}{
		{"a run that played on to its step has shown it", after(300), session.Set{Values: url.Values{"grace": {"10"}}}, opening},
		{"a run that played on to its end has shown it", after(3600), session.Set{Values: url.Values{"grace": {"10"}}}, opening},
		{"a run that did not come to its step has not", after(299), session.Set{Values: url.Values{"grace": {"10"}}}, 0},
		{"new settings show nothing by having been set", paused, session.Set{Values: url.Values{"grace": {"10"}}}, 0},
		{"it is kept when all settings are replaced", after(300), session.Replace{Settings: settings(t, "grace=20")}, opening},
		{"it is kept when the baseline is restored", after(300), session.Baseline{}, opening},
		{"it is kept when a guided step is tried", after(300), session.Try{Settings: settings(t, "grace=20")}, opening},
		{"it is kept when the run starts again", after(300), session.Restart{}, opening},
		{"it is kept on the way back", after(300), session.Seek{T: 0}, opening},
		{"it is kept after a step back", after(300), session.Step{Seconds: -1}, opening},
		{"it is kept when the end is played again", after(600), session.Play{}, opening},
		{"it is kept after a pause", after(300), session.Pause{}, opening},
		{"it is kept after a change of speed", after(300), session.SetSpeed{Speed: session.Eight}, opening},
		{"it is kept when a view is opened", after(300), session.Open{View: session.View{Settings: settings(t, "grace=1"), Speed: session.Single}}, opening},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			from := session.State{Model: sim.Model, Settings: sim.Opening(), Clock: c.clock, Shown: replacement, Own: true}
			got, err := session.Reduce(from, c.cmd, noon)
			if err != nil {
				t.Fatal(err)
			}
			if want := c.want | replacement; got.Shown != want {
				t.Errorf("the steps %06b are kept, want %06b", got.Shown, want)
			}
		})
	}
}

func TestAllStepsCanBeShownInOneSession(t *testing.T) {
	s := session.New(session.View{Settings: sim.Opening(), Speed: session.Eight}, noon)
	now, want := noon, uint32(0)
	for i, e := range sim.Experiments() {
		for _, cmd := range []session.Command{session.Restart{}, session.Replace{Settings: e.Settings}, session.Play{}} {
			next, err := session.Reduce(s, cmd, now)
			if err != nil {
				t.Fatal(err)
			}
			s = next
		}
		if got := s.ShownAt(now); got != want {
			t.Errorf("before step %d the steps %06b are shown, want %06b", i, got, want)
		}
		now = now.Add(time.Minute)
		want |= 1 << i
		if got := s.ShownAt(now); got != want {
			t.Errorf("after step %d the steps %06b are shown, want %06b", i, got, want)
		}
	}
}

// The reducer's only time is its argument, and what it is given stays as it was.
func TestReduceIsPure(t *testing.T) {
	set := session.Set{Values: url.Values{"grace": {"20"}, "workers": {"3"}}}
	refused := session.Set{Values: url.Values{"grace": {"99"}, "workers": {"3"}}}
	commands := []session.Command{set, refused, session.Replace{Settings: sim.Experiments()[4].Settings}, session.Baseline{}, session.Try{Settings: sim.Experiments()[1].Settings}, session.Play{},
		session.Pause{}, session.Step{Seconds: 1}, session.Step{Seconds: -1}, session.Restart{}, session.Seek{T: 123},
		session.SetSpeed{Speed: session.Four}, session.Open{View: session.View{Settings: settings(t, "slots=2"), T: 9, Speed: session.Half, Playing: true}}}
	synctest.Test(t, func(t *testing.T) {
		for _, clock := range []session.Clock{playing, paused, started, atStart, ended, atEnd, fast, slow, uneven} {
			for _, cmd := range commands {
				from := session.State{Model: sim.Model, Settings: settings(t, "grace=3"), Clock: clock, Shown: grace20}
				before, values := from, fmt.Sprint(cmd)
				first, err1 := session.Reduce(from, cmd, noon)
				time.Sleep(time.Hour)
				second, err2 := session.Reduce(from, cmd, noon)
				if first != second || fmt.Sprint(err1) != fmt.Sprint(err2) {
					t.Errorf("%T of the same made %+v, %v and then %+v, %v", cmd, first, err1, second, err2)
				}
				if from != before || fmt.Sprint(cmd) != values {
					t.Errorf("%T changed what it was given: %+v to %+v, %s to %v", cmd, before, from, values, cmd)
				}
			}
		}
	})
	if !maps.EqualFunc(set.Values, url.Values{"grace": {"20"}, "workers": {"3"}}, func(a, b []string) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
		t.Errorf("the values became %v", set.Values)
	}
}
