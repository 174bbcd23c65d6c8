package session_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"drainlab/internal/course"
	"drainlab/internal/course/coursetest"
	"drainlab/internal/session"
	"drainlab/internal/setting"
)

// Where a session of the opening run may stand at noon.
var (
	playing = session.Clock{Playing: true, At: 75, Since: noon.Add(-2500 * time.Millisecond), Speed: course.Single, End: 600} // at 10
	paused  = session.Clock{At: 100, Since: noon.Add(-time.Hour), Speed: course.Single, End: 600}
	started = session.Clock{Playing: true, At: 0, Since: noon, Speed: course.Single, End: 600}
	atStart = session.Clock{At: 0, Since: noon.Add(-time.Hour), Speed: course.Single, End: 600}
	ended   = session.Clock{Playing: true, At: 590, Since: noon.Add(-time.Hour), Speed: course.Single, End: 600} // came to 60 by playing
	atEnd   = session.Clock{At: 600, Since: noon.Add(-time.Hour), Speed: course.Single, End: 600}
	fast    = session.Clock{Playing: true, At: 20, Since: noon.Add(-time.Second), Speed: course.Eight, End: 600} // at 10
	slow    = session.Clock{Playing: true, At: 95, Since: noon.Add(-time.Second), Speed: course.Half, End: 600}  // at 10
	uneven  = session.Clock{Playing: true, At: 95, Since: noon.Add(-550 * time.Millisecond), Speed: course.Single, End: 600}
)

func TestCommandsOnTheClock(t *testing.T) {
	cases := []struct {
		name  string
		from  session.Clock
		cmd   session.Command
		t     setting.Time // right after
		later setting.Time // a second of real time after
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
		{"a step near the end goes to the end", session.Clock{At: 597, Since: noon, Speed: course.Single, End: 600}, session.Step{Seconds: 1}, 600, 600},
		{"a step back near the start goes to the start", session.Clock{At: 3, Since: noon, Speed: course.Single, End: 600}, session.Step{Seconds: -1}, 0, 0},
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

		{"a speed is the speed from here on", playing, session.SetSpeed{Speed: course.Four}, 100, 140},
		{"a slower speed is the speed from here on", fast, session.SetSpeed{Speed: course.Half}, 100, 105},
		{"a speed does not start a paused clock", paused, session.SetSpeed{Speed: course.Four}, 100, 100},
		{"a speed does not move the clock from the start", started, session.SetSpeed{Speed: course.Four}, 0, 40},
		{"a speed does not move the clock from the end", ended, session.SetSpeed{Speed: course.Half}, 600, 600},
		{"a speed leaves a clock paused at the end", atEnd, session.SetSpeed{Speed: course.Half}, 600, 600},

		{"trying a guided step stands at 0, paused", playing, session.Try{Step: "opening"}, 0, 0},
		{"trying a guided step leaves the end", ended, session.Try{Step: "opening"}, 0, 0},
		{"trying a guided step leaves the end where the clock is paused", atEnd, session.Try{Step: "opening"}, 0, 0},
		{"trying a guided step stays at the start", atStart, session.Try{Step: "opening"}, 0, 0},

		{"a view opens paused", playing, session.Open{Link: link(t, "t=4.5&speed=2")}, 45, 45},
		{"a view opens playing", atEnd, session.Open{Link: link(t, "t=4.5&speed=2"), Playing: true}, 45, 65},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			from := state(t, "by=7", c.from)
			got, err := session.Reduce(counter, from, c.cmd, noon)
			if err != nil {
				t.Fatal(err)
			}
			if got.Lesson != from.Lesson || got.Model != from.Model || !got.Own || got.Clock.End != 600 {
				t.Errorf("the state is %+v", got)
			}
			if at := got.Clock.T(noon); at != c.t {
				t.Errorf("it is %v s, want %v s", at, c.t)
			}
			if at := got.Clock.T(noon.Add(time.Second)); at != c.later {
				t.Errorf("a second later it is %v s, want %v s", at, c.later)
			}
			want := "by=7"
			switch c.cmd.(type) {
			case session.Open, session.Try:
				want = ""
			}
			if got.Query != want {
				t.Errorf("the settings became %s, want %s", got.Query, want)
			}
		})
	}
}

func TestPlayLeavesARunningClockExactly(t *testing.T) {
	got, err := session.Reduce(counter, state(t, "", uneven), session.Play{}, noon)
	if err != nil || got.Clock != uneven {
		t.Errorf("%+v became %+v, %v", uneven, got.Clock, err)
	}
}

func TestAStepIsOneSecondAndPauses(t *testing.T) {
	r := random(t)
	for range 5000 {
		from := state(t, coursetest.RandomQuery(r)+"", session.Clock{})
		if from.Clock.End == 0 {
			continue
		}
		from.Clock = randomClock(r, from.Clock.End, noon)
		seconds := r.IntN(2)*2 - 1
		got, err := session.Reduce(counter, from, session.Step{Seconds: seconds}, noon)
		if err != nil {
			t.Fatal(err)
		}
		want := min(max(from.Clock.T(noon)+setting.Time(10*seconds), 0), from.Clock.End)
		if got.Clock.T(noon) != want || got.Clock.Runs(noon) || got.Clock.Speed != from.Clock.Speed {
			t.Fatalf("a step of %d s from %+v went to %+v", seconds, from.Clock, got.Clock)
		}
	}
}

func TestAChangeOfSpeedIsContinuous(t *testing.T) {
	r := random(t)
	for range 5000 {
		from := state(t, "", randomClock(r, 600, noon))
		for _, speed := range course.Speeds() {
			got, err := session.Reduce(counter, from, session.SetSpeed{Speed: speed}, noon)
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

func TestAChangeOfSettingsToARunAsLongKeepsTheClock(t *testing.T) {
	cases := []struct {
		name string
		cmd  session.Command
		want string // the settings
	}{
		{"set changes the named settings", session.Set{Values: url.Values{"count": {"20"}, "every": {"3"}}}, "count=20&every=3&by=7"},
		{"set of the same changes nothing", session.Set{Values: url.Values{"by": {"7"}}}, "by=7"},
		{"set of nothing changes nothing", session.Set{}, "by=7"},
		{"apply changes all settings", session.Apply{Values: url.Values{"count": {"20"}, "every": {"3"}, "by": {"8"}}}, "count=20&every=3&by=8"},
		{"apply leaves nothing as it was", session.Apply{Values: url.Values{"count": {"60"}, "every": {"1"}}}, "count=60&every=1"},
		{"apply of nothing restores the opening values", session.Apply{}, ""},
		{"baseline restores the opening values", session.Baseline{}, ""},
	}
	clocks := map[string]session.Clock{"playing": playing, "paused": paused, "just started": started, "at the start": atStart,
		"come to the end": ended, "paused at the end": atEnd, "fast": fast, "slow": slow, "between two tenths": uneven}
	for _, c := range cases {
		for where, clock := range clocks {
			t.Run(c.name+", "+where, func(t *testing.T) {
				from := state(t, "by=7", clock)
				got, err := session.Reduce(counter, from, c.cmd, noon)
				if err != nil {
					t.Fatal(err)
				}
				if got.Query != c.want {
					t.Errorf("the settings are %s, want %s", got.Query, c.want)
				}
				if got.Clock != clock || got.Lesson != from.Lesson || got.Model != from.Model {
					t.Errorf("the clock %+v became %+v", clock, got.Clock)
				}
			})
		}
	}
}

func TestAChangeOfSettingsToAnotherEndKeepsTheClockWithinTheRun(t *testing.T) {
	cases := []struct {
		name  string
		from  session.Clock
		every string
		t     setting.Time // right after
		later setting.Time // a second of real time after
	}{
		{"a longer run plays on", playing, "3", 100, 110},
		{"a shorter run plays on", playing, "1", 100, 110},
		{"a shorter run plays on to its end alone", fast, "0.5", 100, 150},
		{"a run that is over by then has ended", playing, "0.3", 90, 90},
		{"a run that is just over has ended", state(t, "", session.Clock{At: 300, Playing: true, Since: noon, Speed: course.Single}).Clock, "1", 300, 300},
		{"a longer run stays paused", paused, "3", 100, 100},
		{"a shorter run stays paused", paused, "1", 100, 100},
		{"a run that is over by then is paused at its end", paused, "0.3", 90, 90},
		{"a longer run starts from the start", started, "3", 0, 10},
		{"a longer run stays at the start", atStart, "3", 0, 0},
		{"who saw the end sees that of a longer run", ended, "3", 900, 900},
		{"who saw the end sees that of a shorter run", ended, "1", 300, 300},
		{"who stands at the end stands at that of a longer run", atEnd, "3", 900, 900},
		{"who stands at the end stands at that of a shorter run", atEnd, "1", 300, 300},
	}
	for _, c := range cases {
		commands := map[string]session.Command{
			"set":   session.Set{Values: url.Values{"every": {c.every}}},
			"apply": session.Apply{Values: url.Values{"every": {c.every}, "count": {"30"}, "by": {"7"}}},
		}
		for name, cmd := range commands {
			t.Run(c.name+", by "+name, func(t *testing.T) {
				got, err := session.Reduce(counter, state(t, "by=7", c.from), cmd, noon)
				if err != nil {
					t.Fatal(err)
				}
				if end := run(t, got).End(); got.Clock.End != end || got.Clock.At > end {
					t.Errorf("the run ends at %v s, and the clock is %+v", end, got.Clock)
				}
				if at := got.Clock.T(noon); at != c.t {
					t.Errorf("it is %v s, want %v s", at, c.t)
				}
				if at := got.Clock.T(noon.Add(time.Second)); at != c.later {
					t.Errorf("a second later it is %v s, want %v s", at, c.later)
				}
			})
		}
	}
}

// A longer run takes a playing clock's anchor over, so that the playhead does
// not jerk.
func TestAClockThatPlaysOnKeepsItsAnchor(t *testing.T) {
	got, err := session.Reduce(counter, state(t, "", uneven), session.Set{Values: url.Values{"every": {"3"}}}, noon)
	want := uneven
	want.End = 900
	if err != nil || got.Clock != want {
		t.Errorf("%+v became %+v, %v", uneven, got.Clock, err)
	}
}

func TestEveryChangeLeavesTheClockItsRunsEnd(t *testing.T) {
	r := random(t)
	s, now := state(t, "", atStart), noon
	for range 5000 {
		commands := []session.Command{
			session.Set{Values: values(t, coursetest.RandomQuery(r))}, session.Apply{Values: values(t, coursetest.RandomQuery(r))},
			session.Baseline{}, session.Try{Step: counter.Steps()[r.IntN(3)].ID}, session.Open{Link: link(t, coursetest.RandomQuery(r)), Playing: r.IntN(2) > 0},
			session.Play{}, session.Pause{}, session.Step{Seconds: 1}, session.Restart{}, session.SetSpeed{Speed: course.Speeds()[r.IntN(5)]},
		}
		cmd := commands[r.IntN(len(commands))]
		next, err := session.Reduce(counter, s, cmd, now)
		if err != nil && s.Clock.End > 0 {
			t.Fatalf("%T on %+v: %v", cmd, s, err)
		}
		if s = next; s.Clock.End != run(t, s).End() {
			t.Fatalf("%T made the clock %+v of %s", cmd, s.Clock, s.Query)
		}
		var back session.State
		if err := json.Unmarshal(must(json.Marshal(s)), &back); err != nil {
			t.Fatalf("%T made %+v, which a store would not give back: %v", cmd, s, err)
		}
		now = now.Add(time.Duration(r.Int64N(int64(20 * time.Second))))
	}
}

func TestTryingAStepTakesItsSettingsAndKeepsTheSpeed(t *testing.T) {
	for _, step := range counter.Steps() {
		got, err := session.Reduce(counter, state(t, "by=7", fast), session.Try{Step: step.ID}, noon)
		if err != nil || got.Query != step.Query || got.Clock.Speed != course.Eight || got.Clock.T(noon) != 0 || got.Clock.Playing {
			t.Errorf("%s became %+v, %v", step.ID, got, err)
		}
	}
}

func TestTryingAStepStandsWhereItsLinkOpens(t *testing.T) {
	lesson := coursetest.Counter{OpensAtEnd: true}
	got, err := session.Reduce(lesson, session.New(course.OpenLink(lesson), false, noon), session.Try{Step: "far"}, noon)
	if err != nil || got.Clock.T(noon) != 1200 || got.Clock.Playing {
		t.Errorf("it became %+v, %v", got, err)
	}
}

// wantRefused wants a command to be refused and the state to stay as it is.
func wantRefused(t *testing.T, lesson course.Lesson, from session.State, cmd session.Command, name, got, allowed string) {
	t.Helper()
	next, err := session.Reduce(lesson, from, cmd, noon)
	wantSettingError(t, err, name, got)
	var refused *setting.Error
	if errors.As(err, &refused) && !strings.Contains(refused.Allowed, allowed) {
		t.Errorf("%T: allowed is %q, want a word of %q", cmd, refused.Allowed, allowed)
	}
	if next != from {
		t.Errorf("%T: the state became %+v", cmd, next)
	}
}

func TestAStepThatThereIsNotIsRefused(t *testing.T) {
	from := state(t, "by=7", ended)
	from.Own = true
	wantRefused(t, counter, from, session.Try{Step: "further"}, "step", "further", "one of opening, few, far")
	wantRefused(t, counter, from, session.Try{}, "step", "", "one of opening, few, far")
	wantRefused(t, coursetest.Counter{Stepless: true}, from, session.Try{Step: "few"}, "step", "few", "no steps")
}

func TestARefusedSetLeavesTheState(t *testing.T) {
	for _, c := range []struct{ name, change, setting, got string }{
		{"a value out of range", "count=301", "count", "301"},
		{"a value after a good one", "count=2&by=0", "by", "0"},
		{"too fine a value", "every=0.25", "every", "0.25"},
		{"no number", "every=soon", "every", "soon"},
		{"an empty value", "every=", "every", ""},
		{"a setting given twice", "by=1&by=2", "by", "1, 2"},
		{"an unknown setting", "by=5&speed=2", "speed", "2"},
		{"what each viewer chooses alone", "guess=2", "guess", "2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			// Standing at the end, so that there is a step to show as well.
			from := state(t, "", ended)
			from.Shown, from.Own = few, true
			wantRefused(t, counter, from, session.Set{Values: values(t, c.change)}, c.setting, c.got, "")
			wantRefused(t, counter, from, session.Apply{Values: values(t, c.change)}, c.setting, c.got, "")
		})
	}
}

func TestASeekOutOfTheRunIsRefused(t *testing.T) {
	from := state(t, "", playing)
	for at, text := range map[setting.Time]string{601: "60.1", -1: "-0.1", 1 << 30: "107374182.4", setting.Never: "never"} {
		wantRefused(t, counter, from, session.Seek{T: at}, "t", text, "from 0 to 60 s")
	}
}

func TestARunThatTakesNoTimeIsNotPlayed(t *testing.T) {
	from := state(t, "count=0", session.Clock{Since: noon, Speed: course.Single})
	for _, c := range []struct {
		cmd       session.Command
		name, got string
	}{
		{session.Play{}, "command", "play"},
		{session.Pause{}, "command", "pause"},
		{session.Step{Seconds: 1}, "command", "step"},
		{session.Step{Seconds: -1}, "command", "back"},
		{session.Restart{}, "command", "restart"},
		{session.Seek{}, "t", "0"},
		{session.Seek{T: 10}, "t", "1"},
		{session.SetSpeed{Speed: course.Half}, "speed", "0.5"},
	} {
		wantRefused(t, counter, from, c.cmd, c.name, c.got, "takes no time")
	}
	got, err := session.Reduce(counter, from, session.Set{Values: url.Values{"by": {"2"}}}, noon)
	if err != nil || got.Query != "count=0&by=2" || got.Clock != from.Clock {
		t.Errorf("a set made %+v, %v", got, err)
	}
}

func TestASessionStaysInItsLesson(t *testing.T) {
	other := coursetest.Counter{ID: "adder"}
	from := state(t, "", playing)
	wantRefused(t, counter, from, session.Open{Link: course.OpenLink(other)}, "lesson", "adder", "counter")
	if got, err := session.Reduce(other, from, session.Play{}, noon); !errors.Is(err, session.ErrUnopenable) || got != from {
		t.Errorf("another lesson made %+v of it, %v", got, err)
	}
}

// After another version of the model took over, a run may end elsewhere than
// the stored clock says.
func TestAClockOfAnotherModelIsMadeToFit(t *testing.T) {
	for _, c := range []struct {
		name     string
		clock    session.Clock
		t, after setting.Time // before and after a step
	}{
		{"that ended later", session.Clock{Playing: true, At: 700, Since: noon, Speed: course.Single, End: 900}, 600, 600},
		{"that ended earlier", session.Clock{Playing: true, At: 100, Since: noon.Add(-10 * time.Second), Speed: course.Single, End: 250}, 200, 210},
		{"that would have ended by now", session.Clock{Playing: true, At: 100, Since: noon.Add(-20 * time.Second), Speed: course.Single, End: 250}, 300, 310},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := own(t, "", 0)
			s.Clock = c.clock
			if f := s.FrameAt(run(t, s), noon); f.T != c.t || f.Until > 600 || f.State.Clock.End != 600 {
				t.Errorf("the frame is %+v", f)
			}
			got, err := session.Reduce(counter, s, session.Step{Seconds: 1}, noon)
			if err != nil || got.Clock.T(noon) != c.after || got.Clock.End != 600 {
				t.Errorf("a step made %+v, %v", got.Clock, err)
			}
			got, err = session.Reduce(counter, s, session.Set{Values: url.Values{"by": {"2"}}}, noon)
			if err != nil || got.Clock.T(noon) != c.t || got.Clock.At > 600 || got.Clock.End != 600 {
				t.Errorf("a set made %+v, %v", got.Clock, err)
			}
		})
	}
}

func TestWhatWasShownIsKept(t *testing.T) {
	after := func(at setting.Time) session.Clock {
		return session.Clock{Playing: true, Since: noon.Add(-tenths(at)), Speed: course.Single, End: 600}
	}
	cases := []struct {
		name  string
		clock session.Clock
		cmd   session.Command
		want  uint32
	}{
		{"a run that played on to its step has shown it", after(300), session.Set{Values: url.Values{"count": {"10"}}}, opening},
		{"a run that played on to its end has shown it", after(3600), session.Set{Values: url.Values{"count": {"10"}}}, opening},
		{"a run that did not come to its step has not", after(299), session.Set{Values: url.Values{"count": {"10"}}}, 0},
		{"new settings show nothing by having been set", paused, session.Set{Values: url.Values{"count": {"10"}}}, 0},
		{"it is kept when all settings are applied", after(300), session.Apply{Values: url.Values{"by": {"20"}}}, opening},
		{"it is kept when the baseline is restored", after(300), session.Baseline{}, opening},
		{"it is kept when a guided step is tried", after(300), session.Try{Step: "far"}, opening},
		{"it is kept when the run starts again", after(300), session.Restart{}, opening},
		{"it is kept on the way back", after(300), session.Seek{T: 0}, opening},
		{"it is kept after a step back", after(300), session.Step{Seconds: -1}, opening},
		{"it is kept when the end is played again", after(600), session.Play{}, opening},
		{"it is kept after a pause", after(300), session.Pause{}, opening},
		{"it is kept after a change of speed", after(300), session.SetSpeed{Speed: course.Eight}, opening},
		{"it is kept when a view is opened", after(300), session.Open{Link: link(t, "by=2")}, opening},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			from := state(t, "", c.clock)
			from.Shown, from.Own = far, true
			got, err := session.Reduce(counter, from, c.cmd, noon)
			if err != nil {
				t.Fatal(err)
			}
			if want := c.want | far; got.Shown != want {
				t.Errorf("the steps %03b are kept, want %03b", got.Shown, want)
			}
		})
	}
}

func TestAllStepsCanBeShownInOneSession(t *testing.T) {
	s := session.New(link(t, "speed=8"), false, noon)
	now, want := noon, uint32(0)
	for i, step := range counter.Steps() {
		for _, cmd := range []session.Command{session.Restart{}, session.Apply{Values: values(t, step.Query)}, session.Play{}} {
			next, err := session.Reduce(counter, s, cmd, now)
			if err != nil {
				t.Fatal(err)
			}
			s = next
		}
		if got := shownAt(t, s, now); got != want {
			t.Errorf("before step %d the steps %03b are shown, want %03b", i, got, want)
		}
		now = now.Add(time.Minute)
		want |= 1 << i
		if got := shownAt(t, s, now); got != want {
			t.Errorf("after step %d the steps %03b are shown, want %03b", i, got, want)
		}
	}
}

// The reducer's only time is its argument, and what it is given stays as it was.
func TestReduceIsPure(t *testing.T) {
	set := session.Set{Values: url.Values{"by": {"20"}, "count": {"3"}}}
	refused := session.Set{Values: url.Values{"by": {"999"}, "count": {"3"}}}
	apply := session.Apply{Values: url.Values{"by": {"20"}, "count": {"3"}}}
	commands := []session.Command{set, refused, apply, session.Baseline{}, session.Try{Step: "few"}, session.Play{},
		session.Pause{}, session.Step{Seconds: 1}, session.Step{Seconds: -1}, session.Restart{}, session.Seek{T: 123},
		session.SetSpeed{Speed: course.Four}, session.Open{Link: link(t, "by=2&t=0.9&speed=0.5"), Playing: true}}
	synctest.Test(t, func(t *testing.T) {
		for _, clock := range []session.Clock{playing, paused, started, atStart, ended, atEnd, fast, slow, uneven} {
			for _, cmd := range commands {
				from := state(t, "by=3", clock)
				from.Shown = far
				before, values := from, fmt.Sprint(cmd)
				first, err1 := session.Reduce(counter, from, cmd, noon)
				time.Sleep(time.Hour)
				second, err2 := session.Reduce(counter, from, cmd, noon)
				if first != second || fmt.Sprint(err1) != fmt.Sprint(err2) {
					t.Errorf("%T of the same made %+v, %v and then %+v, %v", cmd, first, err1, second, err2)
				}
				if from != before || fmt.Sprint(cmd) != values {
					t.Errorf("%T changed what it was given: %+v to %+v, %s to %v", cmd, before, from, values, cmd)
				}
			}
		}
	})
	for _, values := range []url.Values{set.Values, apply.Values} {
		if !maps.EqualFunc(values, url.Values{"by": {"20"}, "count": {"3"}}, slices.Equal) {
			t.Errorf("the values became %v", values)
		}
	}
}
