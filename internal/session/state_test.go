package session_test

import (
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"drainlab/internal/session"
	"drainlab/internal/session/storetest"
	"drainlab/internal/sim"
)

// noon is the instant that commands come at in tests without a clock.
var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// The default keeps a plain `go test` repeatable; another seed tests others.
var seed = flag.Uint64("seed", 1, "seed of the random values")

// random returns a source of random values and prints its seed.
func random(t *testing.T) *rand.Rand {
	t.Logf("seed %d (-seed)", *seed)
	return rand.New(rand.NewPCG(*seed, 0))
}

// randomClock may be playing since up to 100 s ago, at any speed.
func randomClock(r *rand.Rand, now time.Time) session.Clock {
	return session.Clock{
		Playing: r.IntN(3) > 0,
		At:      sim.Time(r.IntN(int(sim.Horizon) + 1)),
		Since:   now.Add(-time.Duration(r.Int64N(int64(100 * time.Second)))),
		Speed:   session.Speeds()[r.IntN(len(session.Speeds()))],
	}
}

func randomSettings(r *rand.Rand) sim.Settings {
	for {
		s := sim.Opening()
		for _, c := range sim.Controls() {
			lowest, highest, grain := c.Min, c.Max, c.Grain
			if c.Toggle {
				lowest, highest, grain = 0, 1, 1
			}
			value := lowest + grain*sim.Time(r.IntN(int((highest-lowest)/grain)+1))
			text := value.String()
			if c.Toggle {
				text = string("01"[value])
			}
			if err := c.Parse(&s, text); err != nil {
				panic(err)
			}
		}
		if s.Validate() == nil {
			return s
		}
	}
}

// own is a session that shows v and has been given a command.
func own(v session.View) session.State {
	s := session.New(v, noon)
	s.Own = true
	return s
}

// settings reads a query of changes to the opening values.
func settings(t *testing.T, query string) sim.Settings {
	t.Helper()
	s, err := sim.ParseValues(values(t, query))
	if err != nil {
		t.Fatalf("settings %q: %v", query, err)
	}
	return s
}

func values(t *testing.T, query string) url.Values {
	t.Helper()
	v, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// tenths is simulation time in real time's units.
func tenths(t sim.Time) time.Duration { return time.Duration(t) * 100 * time.Millisecond }

func TestSpeedsReadAsTheyPrint(t *testing.T) {
	want := []string{"0.5", "1", "2", "4", "8"}
	var got []string
	for _, s := range session.Speeds() {
		got = append(got, s.String())
		if parsed, err := session.ParseSpeed(s.String()); err != nil || parsed != s {
			t.Errorf("%v reads as %v, %v", s, parsed, err)
		}
		clock := session.Clock{Playing: true, Since: noon, Speed: s}
		passed := clock.Exact(noon.Add(2*time.Second)).Seconds() / 2
		if printed := json.Number(s.String()); must(printed.Float64()) != passed {
			t.Errorf("at speed %v 1 s is %v s", s, passed)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the speeds are %v, want %v", got, want)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestASpeedOrATimeThatIsNotAllowedIsRefused(t *testing.T) {
	for _, text := range []string{"", "0", "3", "16", "1.0", "-1", "1 ", "½", ".5"} {
		_, err := session.ParseSpeed(text)
		wantSettingError(t, err, "speed", text)
	}
	for _, text := range []string{"", "-1", "60.1", "61", "4.55", "1e1", "x", "4.", ".5", "99999999999"} {
		_, err := session.ParseT(text)
		wantSettingError(t, err, "t", text)
	}
	for text, want := range map[string]sim.Time{"0": 0, "60": 600, "60.0": 600, "4.5": 45, "59.9": 599} {
		if got, err := session.ParseT(text); err != nil || got != want {
			t.Errorf("t %q reads as %v, %v", text, got, err)
		}
	}
}

func wantSettingError(t *testing.T, err error, setting, got string) {
	t.Helper()
	var refused *sim.SettingError
	if !errors.As(err, &refused) {
		t.Errorf("%s %q: got error %v, want a *sim.SettingError", setting, got, err)
	} else if refused.Setting != setting || refused.Got != got || refused.Allowed == "" {
		t.Errorf("%s %q is refused with %+v", setting, got, *refused)
	}
}

func TestAnIDIsReadAsItIsPrintedAndNothingElseIs(t *testing.T) {
	seen := map[session.ID]bool{}
	for range 1000 {
		id := session.NewID()
		if parsed, err := session.ParseID(string(id)); err != nil || parsed != id || seen[id] {
			t.Fatalf("id %q reads as %q, %v; drawn before: %v", id, parsed, err, seen[id])
		}
		seen[id] = true
	}
	good := strings.Repeat("0a", 16)
	for _, text := range []string{"", good[1:], good + "0", strings.ToUpper(good), good[:31] + "g", good[:31] + "/",
		good[:31] + ":", good[:31] + "`", good[:31] + ".", good[:31] + "*", good[:31] + ">", good[:31] + "\n", good[:30] + "ä"} {
		if id, err := session.ParseID(text); !errors.Is(err, session.ErrNotFound) || id != "" {
			t.Errorf("id %q reads as %q, %v", text, id, err)
		}
	}
}

func TestClock(t *testing.T) {
	cases := []struct {
		name  string
		clock session.Clock
		exact time.Duration // at noon
		t     sim.Time
		runs  bool
	}{
		{"a paused clock stands", session.Clock{At: 105, Since: noon.Add(-time.Hour), Speed: session.Eight}, 10500 * time.Millisecond, 105, false},
		{"a playing clock moves from its anchor", session.Clock{Playing: true, At: 105, Since: noon.Add(-1990 * time.Millisecond), Speed: session.Single}, 12490 * time.Millisecond, 124, true},
		{"half speed is half as far", session.Clock{Playing: true, At: 105, Since: noon.Add(-2 * time.Second), Speed: session.Half}, 11500 * time.Millisecond, 115, true},
		{"eightfold speed is eight times as far", session.Clock{Playing: true, At: 105, Since: noon.Add(-2 * time.Second), Speed: session.Eight}, 26500 * time.Millisecond, 265, true},
		{"an instant before the horizon the clock moves", session.Clock{Playing: true, At: 590, Since: noon.Add(-time.Second + 1), Speed: session.Single}, time.Minute - 1, 599, true},
		{"the clock stops at the horizon", session.Clock{Playing: true, At: 590, Since: noon.Add(-time.Second), Speed: session.Single}, time.Minute, 600, false},
		{"a clock left playing for a century stands at the horizon", session.Clock{Playing: true, Since: noon.AddDate(-100, 0, 0), Speed: session.Eight}, time.Minute, 600, false},
		{"a clock left playing since the year 1 stands at the horizon", session.Clock{Playing: true, Speed: session.Half}, time.Minute, 600, false},
		{"a clock of another process that is ahead stands at its anchor", session.Clock{Playing: true, At: 105, Since: noon.Add(time.Second), Speed: session.Single}, 10500 * time.Millisecond, 105, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := c.clock.Exact(noon); got != c.exact {
				t.Errorf("Exact is %v, want %v", got, c.exact)
			}
			if got := c.clock.T(noon); got != c.t {
				t.Errorf("T is %v, want %v", got, c.t)
			}
			if got := c.clock.Runs(noon); got != c.runs {
				t.Errorf("Runs is %v, want %v", got, c.runs)
			}
		})
	}
}

func TestClockOnRandomValues(t *testing.T) {
	r := random(t)
	for range 20_000 {
		c := randomClock(r, noon)
		exact := c.Exact(noon)
		// Simulated time is anchor plus speed times real time, no further than the horizon.
		want := tenths(c.At)
		if c.Playing {
			want += noon.Sub(c.Since) * time.Duration(c.Speed) / 2
		}
		if want = min(want, time.Minute); exact != want {
			t.Fatalf("%+v: Exact is %v, want %v", c, exact, want)
		}
		if got, want := c.T(noon), sim.Time(exact.Milliseconds()/100); got != want {
			t.Fatalf("%+v: T is %v at %v", c, got, exact)
		}
		if got := c.Runs(noon); got != (c.Playing && exact < time.Minute) {
			t.Fatalf("%+v: Runs is %v at %v", c, got, exact)
		}
		later := noon.Add(time.Duration(r.Int64N(int64(20 * time.Second))))
		if next := c.Exact(later); next < exact || !c.Runs(noon) && next != exact {
			t.Fatalf("%+v goes from %v to %v", c, exact, next)
		}
	}
}

func TestWhoeverWakesAfterUntilFindsTheTimeReached(t *testing.T) {
	r := random(t)
	for range 20_000 {
		c := randomClock(r, noon)
		c.Playing = true
		if !c.Runs(noon) {
			continue
		}
		now := c.T(noon)
		at := now + 1 + sim.Time(r.IntN(int(sim.Horizon-now)))
		wait := c.Until(at, noon)
		if wait <= 0 {
			t.Fatalf("%+v: %v from %v to %v", c, wait, c.Exact(noon), at)
		}
		if got := c.T(noon.Add(wait)); got < at {
			t.Errorf("%+v: after %v it is %v, not yet %v", c, wait, got, at)
		}
		// Two nanoseconds of real time are one at half speed, the finest there is.
		if got := c.T(noon.Add(wait - 2)); got >= at {
			t.Errorf("%+v: %v to %v is too long", c, wait, at)
		}
		if got := c.Until(now, noon); got > 0 {
			t.Errorf("%+v: %v until the present %v", c, got, now)
		}
	}
}

func TestAStateComesBackFromJSONAsItWas(t *testing.T) {
	r := random(t)
	for range 1000 {
		s := session.State{Model: sim.Model, Settings: randomSettings(r), Clock: randomClock(r, time.Now()), Shown: r.Uint32(), Own: r.IntN(2) > 0}
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var got session.State
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if !storetest.Same(got, s) {
			t.Fatalf("%s\ngot  %+v\nwant %+v", data, got, s)
		}
		if len(data) > 1<<10 {
			t.Errorf("a state takes %d bytes, more than stores are laid out for", len(data))
		}
	}
}

func TestTheJSONOfAState(t *testing.T) {
	s := session.New(session.View{Settings: sim.Opening(), T: 45, Speed: session.Half, Playing: true}, noon)
	want := `{"model":1,"settings":` + string(sim.Opening().AppendJSON(nil)) +
		`,"clock":{"playing":true,"at":45,"since":"2026-03-14T12:00:00Z","speed":1},"shown":0,"own":false}`
	if got, err := json.Marshal(s); err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

// Another writer of a shared store must not bring a process down.
func TestAStateThatCannotBeDrawnIsNotRead(t *testing.T) {
	good := must(json.Marshal(session.New(session.View{Settings: sim.Opening(), Speed: session.Single}, noon)))
	for _, c := range []struct{ name, from, to string }{
		{"an unknown speed", `"speed":2`, `"speed":3`},
		{"no speed", `,"speed":2`, ``},
		{"a time before the run", `"at":0`, `"at":-1`},
		{"a time beyond the horizon", `"at":0`, `"at":601`},
		{"a setting out of its range", `"workers":1`, `"workers":5`},
		{"no settings", `"settings"`, `"ettings"`},
		{"no clock", `"clock"`, `"lock"`},
		{"no JSON", `{"model"`, `"model"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad := strings.Replace(string(good), c.from, c.to, 1)
			if bad == string(good) {
				t.Fatalf("%s has no %s", good, c.from)
			}
			s := session.State{Shown: 5}
			if err := json.Unmarshal([]byte(bad), &s); err == nil {
				t.Errorf("%s was read as %+v", bad, s)
			}
			if s != (session.State{Shown: 5}) {
				t.Errorf("a refused state changed to %+v", s)
			}
		})
	}
	for _, text := range []string{`{}`, `null`, `[]`, ``} {
		var s session.State
		if err := s.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%q was read as %+v", text, s)
		}
	}
}

// The bits of the guided steps.
const (
	opening = 1 << iota
	grace10
	grace20
	handlerOff
	replacement
	gate
)

func TestAGuidedStepIsShownByItsOwnSettings(t *testing.T) {
	// The instants are those of docs/model.md's worked cases: worker 1 is gone
	// and the last invocation has ended.
	want := []struct {
		id    string
		bit   uint32
		first sim.Time
	}{
		{"opening", opening, 300},
		{"grace-10", grace10, 400},
		{"grace-20", grace20, 490},
		{"handler-off", handlerOff, 500},
		{"replacement", replacement, 590},
		{"gate", gate, 600},
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
			for at := sim.Time(0); at <= sim.Horizon; at++ {
				s := own(session.View{Settings: experiments[i].Settings, T: at, Speed: session.Single})
				bits := uint32(0)
				if at >= w.first {
					bits = w.bit
				}
				if got := s.ShownAt(noon); got != bits {
					t.Fatalf("at %v s the steps %06b are shown, want %06b", at, got, bits)
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
		want         uint32
	}{
		{"by a shorter duration", "duration=5&grace=5&replacement=1", 600, true, gate},
		{"by a second worker", "workers=2&duration=5&grace=5", 600, true, gate},
		{"with no allowance at all", "workers=2&startup=0&duration=5&grace=5&allowance=0", 600, true, gate},
		{"with a signal at the last arrival", "duration=8&grace=10&replacement=1&signal=40", 600, true, gate},
		{"with a signal at the very start", "workers=4&startup=0&duration=5&grace=30&signal=0", 600, true, gate},
		{"but not before the run's last step", "duration=5&grace=5&replacement=1", 599, true, 0},
		{"but not with a laxer allowance", "duration=8&grace=10&replacement=1&allowance=21", 600, true, 0},
		{"but not with everything allowed", "duration=8&grace=10&replacement=1&allowance=100", 600, true, 0},
		{"but not with a signal after the last arrival", "duration=8&grace=10&replacement=1&signal=40.1", 600, true, 0},
		{"but not with a signal at the end", "duration=8&grace=10&replacement=1&signal=60", 600, true, 0},
		{"but not where worker 1 had failed before its signal", "fail_init=1&workers=2&startup=0&duration=5", 600, true, 0},
		{"but not where too much is rejected", "duration=8&grace=10&replacement=1&allowance=19", 600, false, 0},
		{"but not where invocations are killed", "workers=2&duration=5&grace=0", 600, false, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := settings(t, c.change)
			if got := sim.Simulate(s).Account().Passes(s.Allowance); got != c.passes {
				t.Fatalf("the run passes: %v; the case is about one where that is %v", got, c.passes)
			}
			state := own(session.View{Settings: s, T: c.t, Speed: session.Single})
			if got := state.ShownAt(noon); got != c.want {
				t.Errorf("the steps %06b are shown, want %06b", got, c.want)
			}
		})
	}
}

func TestWhatIsShownStaysShownWhileTheRunGoesOn(t *testing.T) {
	r := random(t)
	runs := []sim.Settings{}
	for _, e := range sim.Experiments() {
		runs = append(runs, e.Settings)
	}
	for range 20 {
		runs = append(runs, randomSettings(r))
	}
	for i, s := range runs {
		state := own(session.View{Settings: s, Speed: session.Single, Playing: true})
		state.Shown = r.Uint32() &^ (1<<6 - 1) // steps of a later version
		before := state.Shown
		for at := sim.Time(0); at <= sim.Horizon+10; at++ {
			got := state.ShownAt(noon.Add(tenths(at)))
			if got&before != before {
				t.Fatalf("%s: at %v s the steps %06b are shown, before it were %06b", s.AppendQuery(nil), at, got, before)
			}
			before = got
		}
		if i < len(sim.Experiments()) && before&(1<<i) == 0 {
			t.Errorf("step %d was not shown at all", i)
		}
	}
}

// Who opens a link sees somebody else's run.
func TestALinkShowsNothingBeforeTheFirstCommand(t *testing.T) {
	link := session.New(session.View{Settings: sim.Opening(), Speed: session.Single, Playing: true}, noon)
	end := noon.Add(time.Hour)
	if got := link.ShownAt(end); got != 0 || link.Own {
		t.Errorf("the steps %06b are shown by a link", got)
	}
	refused, err := session.Reduce(link, session.Set{Values: url.Values{"grace": {"99"}}}, end)
	if err == nil || refused != link {
		t.Errorf("after a refused command it is %+v, %v", refused, err)
	}
	back, err := session.Reduce(link, session.Restart{}, end)
	if err != nil || !back.Own || back.Shown != 0 {
		t.Errorf("after a command the link is %+v, %v", back, err)
	}
	again, err := session.Reduce(back, session.Play{}, end)
	if err != nil {
		t.Fatal(err)
	}
	if got := again.ShownAt(end.Add(time.Minute)); got != opening {
		t.Errorf("the learner's own run shows the steps %06b, want %06b", got, opening)
	}
}
