package session_test

import (
	"encoding/json"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"

	"drainlab/internal/course"
	"drainlab/internal/course/coursetest"
	"drainlab/internal/session"
	"drainlab/internal/session/storetest"
	"drainlab/internal/setting"
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

// counter is the lesson of the sessions here.
var counter = coursetest.Counter{}

// randomClock of a run that ends at end may be playing since up to 100 s ago,
// at any speed.
func randomClock(r *rand.Rand, end setting.Time, now time.Time) session.Clock {
	return session.Clock{
		Playing: r.IntN(3) > 0,
		At:      setting.Time(r.IntN(int(end) + 1)),
		Since:   now.Add(-time.Duration(r.Int64N(int64(100 * time.Second)))),
		Speed:   course.Speeds()[r.IntN(len(course.Speeds()))],
		End:     end,
	}
}

// state is a session that shows the query's view with its clock as given.
func state(t *testing.T, query string, clock session.Clock) session.State {
	t.Helper()
	s := session.New(link(t, query), false, noon)
	clock.End = s.Clock.End
	s.Clock = clock
	return s
}

// own is a session that shows the query's view at an instant and has been given
// a command.
func own(t *testing.T, query string, at setting.Time) session.State {
	t.Helper()
	s := session.New(link(t, query), false, noon)
	s.Clock.At, s.Own = at, true
	return s
}

// link reads a query of the counter.
func link(t *testing.T, query string) course.Link {
	t.Helper()
	l, err := course.ParseLink(counter, values(t, query))
	if err != nil {
		t.Fatalf("link %q: %v", query, err)
	}
	return l
}

// run is the run that a state comes to.
func run(t *testing.T, s session.State) course.Run {
	t.Helper()
	v, err := s.Open(storetest.Lessons())
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return v.Run()
}

func shownAt(t *testing.T, s session.State, now time.Time) uint32 {
	t.Helper()
	return s.FrameAt(run(t, s), now).Shown
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
func tenths(t setting.Time) time.Duration { return time.Duration(t) * 100 * time.Millisecond }

func TestASpeedIsHowFastTheClockGoes(t *testing.T) {
	for _, s := range course.Speeds() {
		clock := session.Clock{Playing: true, Since: noon, Speed: s, End: 600}
		passed := clock.Exact(noon.Add(2*time.Second)).Seconds() / 2
		if printed := json.Number(s.String()); must(printed.Float64()) != passed {
			t.Errorf("at speed %v 1 s is %v s", s, passed)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func wantSettingError(t *testing.T, err error, name, got string) {
	t.Helper()
	var refused *setting.Error
	if !errors.As(err, &refused) {
		t.Errorf("%s %q: got error %v, want a *setting.Error", name, got, err)
	} else if refused.Setting != name || refused.Got != got || refused.Allowed == "" {
		t.Errorf("%s %q is refused with %+v", name, got, *refused)
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
		t     setting.Time
		runs  bool
	}{
		{"a paused clock stands", session.Clock{At: 105, Since: noon.Add(-time.Hour), Speed: course.Eight, End: 600}, 10500 * time.Millisecond, 105, false},
		{"a playing clock moves from its anchor", session.Clock{Playing: true, At: 105, Since: noon.Add(-1990 * time.Millisecond), Speed: course.Single, End: 600}, 12490 * time.Millisecond, 124, true},
		{"half speed is half as far", session.Clock{Playing: true, At: 105, Since: noon.Add(-2 * time.Second), Speed: course.Half, End: 600}, 11500 * time.Millisecond, 115, true},
		{"eightfold speed is eight times as far", session.Clock{Playing: true, At: 105, Since: noon.Add(-2 * time.Second), Speed: course.Eight, End: 600}, 26500 * time.Millisecond, 265, true},
		{"an instant before the end the clock moves", session.Clock{Playing: true, At: 590, Since: noon.Add(-time.Second + 1), Speed: course.Single, End: 600}, time.Minute - 1, 599, true},
		{"the clock stops at the end", session.Clock{Playing: true, At: 590, Since: noon.Add(-time.Second), Speed: course.Single, End: 600}, time.Minute, 600, false},
		{"a clock left playing for a century stands at the end", session.Clock{Playing: true, Since: noon.AddDate(-100, 0, 0), Speed: course.Eight, End: 600}, time.Minute, 600, false},
		{"a clock left playing since the year 1 stands at the end", session.Clock{Playing: true, Speed: course.Half, End: 600}, time.Minute, 600, false},
		{"the clock of a longer run goes on", session.Clock{Playing: true, At: 590, Since: noon.Add(-2 * time.Second), Speed: course.Single, End: 900}, 61 * time.Second, 610, true},
		{"the clock of a run that takes no time stands", session.Clock{Playing: true, Since: noon.Add(-time.Hour), Speed: course.Eight}, 0, 0, false},
		{"a clock of the longest run left playing for a century stands at the end", session.Clock{Playing: true, Since: noon.AddDate(-100, 0, 0), Speed: course.Eight, End: math.MaxInt32}, math.MaxInt32 * 100 * time.Millisecond, math.MaxInt32, false},
		{"a clock of another process that is ahead stands at its anchor", session.Clock{Playing: true, At: 105, Since: noon.Add(time.Second), Speed: course.Single, End: 600}, 10500 * time.Millisecond, 105, true},
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
		c := randomClock(r, setting.Time(r.IntN(3000)), noon)
		exact := c.Exact(noon)
		// Simulated time is anchor plus speed times real time, no further than the end.
		end, want := tenths(c.End), tenths(c.At)
		if c.Playing {
			want += noon.Sub(c.Since) * time.Duration(c.Speed) / 2
		}
		if want = min(want, end); exact != want {
			t.Fatalf("%+v: Exact is %v, want %v", c, exact, want)
		}
		if got, want := c.T(noon), setting.Time(exact.Milliseconds()/100); got != want {
			t.Fatalf("%+v: T is %v at %v", c, got, exact)
		}
		if got := c.Runs(noon); got != (c.Playing && exact < end) {
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
		c := randomClock(r, setting.Time(r.IntN(3000)), noon)
		c.Playing = true
		if !c.Runs(noon) {
			continue
		}
		now := c.T(noon)
		at := now + 1 + setting.Time(r.IntN(int(c.End-now)))
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
		s := state(t, coursetest.RandomQuery(r), session.Clock{})
		s.Clock = randomClock(r, s.Clock.End, time.Now())
		s.Shown, s.Own = r.Uint32(), r.IntN(2) > 0
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
	s := session.New(link(t, "every=3&guess=4&t=4.5&speed=0.5&panel=log"), true, noon)
	want := `{"lesson":"counter","query":"every=3","model":3,` +
		`"clock":{"playing":true,"at":45,"since":"2026-03-14T12:00:00Z","speed":1,"end":900},"shown":0,"own":false}`
	if got, err := json.Marshal(s); err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

// Another writer of a shared store must not bring a process down.
func TestAStateThatCannotBeDrawnIsNotRead(t *testing.T) {
	good := must(json.Marshal(session.New(course.OpenLink(counter), false, noon)))
	for _, c := range []struct{ name, from, to string }{
		{"an unknown speed", `"speed":2`, `"speed":3`},
		{"no speed", `"speed":2,`, ``},
		{"a time before the run", `"at":0`, `"at":-1`},
		{"a time beyond the end", `"at":0`, `"at":601`},
		{"a run that ends before it begins", `"end":600`, `"end":-1`},
		{"a time in a run that takes none", `"at":0,`, `"at":1,"end":0,"of":`},
		{"a query that is no text", `"query":""`, `"query":{}`},
		{"no lesson", `"lesson"`, `"esson"`},
		{"a lesson without a name", `"counter"`, `""`},
		{"no clock", `"clock"`, `"lock"`},
		{"no JSON", `{"lesson"`, `"lesson"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad := strings.Replace(string(good), c.from, c.to, 1)
			if bad == string(good) {
				t.Fatalf("%s has no %s", good, c.from)
			}
			s := session.State{Shown: 5}
			if err := json.Unmarshal([]byte(bad), &s); err == nil || errors.Is(err, session.ErrBefore) {
				t.Errorf("%s was read as %+v, %v", bad, s, err)
			}
			if s != (session.State{Shown: 5}) {
				t.Errorf("a refused state changed to %+v", s)
			}
		})
	}
	for _, text := range []string{`{}`, `null`, `[]`, ``} {
		var s session.State
		if err := s.UnmarshalJSON([]byte(text)); err == nil || errors.Is(err, session.ErrBefore) {
			t.Errorf("%q was read as %+v, %v", text, s, err)
		}
	}
}

func TestAStateOfTheVersionBeforeIsToldFromJunk(t *testing.T) {
	s := session.State{Shown: 5}
	err := json.Unmarshal([]byte(`{"model":1,"settings":{"workers":1,"grace":10},"clock":{"playing":true,"at":45,"since":"2026-03-14T12:00:00Z","speed":1},"shown":3,"own":true}`), &s)
	if !errors.Is(err, session.ErrBefore) || s != (session.State{Shown: 5}) {
		t.Errorf("it was read as %+v, %v", s, err)
	}
	want := session.New(course.OpenLink(counter), false, noon)
	both := strings.Replace(string(must(json.Marshal(want))), `{`, `{"settings":{"workers":1},`, 1) // as a later version may write
	if err := json.Unmarshal([]byte(both), &s); err != nil || s != want {
		t.Errorf("%s was read as %+v, %v", both, s, err)
	}
}

func TestAStateOpensAsWhatAllItsViewersShare(t *testing.T) {
	s := session.New(link(t, "every=3&by=2&guess=4"), false, noon)
	v, err := s.Open(storetest.Lessons())
	if err != nil || v.Query() != "every=3&by=2" || v.Answered() {
		t.Errorf("it opens as %+v, %v", v, err)
	}
}

// What a store holds is no fault of whoever asks: no error that a person is
// told to correct a value by.
func TestAStateThatItsLessonRefusesDoesNotOpen(t *testing.T) {
	for name, spoil := range map[string]func(*session.State){
		"a lesson that is not in the course": func(s *session.State) { s.Lesson = "adder" },
		"no lesson":                          func(s *session.State) { s.Lesson = "" },
		"a setting out of its range":         func(s *session.State) { s.Query = "by=999" },
		"an unknown setting":                 func(s *session.State) { s.Query = "grace=5" },
		"a setting given twice":              func(s *session.State) { s.Query = "by=5&by=5" },
		"what is no query":                   func(s *session.State) { s.Query = "by=%" },
	} {
		t.Run(name, func(t *testing.T) {
			s := own(t, "", 100)
			spoil(&s)
			if v, err := s.Open(storetest.Lessons()); !errors.Is(err, session.ErrUnopenable) || errors.As(err, new(*setting.Error)) {
				t.Errorf("it opens as %v, %v", v, err)
			}
			if got, err := session.Reduce(counter, s, session.Play{}, noon); !errors.Is(err, session.ErrUnopenable) || errors.As(err, new(*setting.Error)) || got != s {
				t.Errorf("a command makes %+v of it, %v", got, err)
			}
		})
	}
}

// The bits of the counter's steps.
const (
	opening = 1 << iota
	few
	far
)

func TestASessionShowsTheStepsThatItsRunShows(t *testing.T) {
	for _, c := range []struct {
		name, query string
		t           setting.Time
		want        uint32
	}{
		{"the run of a step", "", 300, opening},
		{"the run of a step, not yet", "", 299, 0},
		{"the run of another step", "count=10", 100, few},
		{"the run of the last step", "every=4", 600, far},
		{"the run of no step", "by=2", 600, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			state := own(t, c.query, c.t)
			if got := shownAt(t, state, noon); got != c.want {
				t.Errorf("the steps %03b are shown, want %03b", got, c.want)
			}
			state.Shown = 1<<31 | few
			if got, want := shownAt(t, state, noon), c.want|1<<31|few; got != want {
				t.Errorf("with others before the steps %b are shown, want %b", got, want)
			}
			state.Own = false
			if got := shownAt(t, state, noon); got != 1<<31|few {
				t.Errorf("a link shows the steps %b, want those before", got)
			}
		})
	}
}

func TestWhatIsShownStaysShownWhileTheRunGoesOn(t *testing.T) {
	r := random(t)
	runs := []string{}
	for _, step := range counter.Steps() {
		runs = append(runs, step.Query)
	}
	for range 20 {
		runs = append(runs, coursetest.RandomQuery(r))
	}
	for i, query := range runs {
		state := own(t, query, 0)
		state.Clock.Playing = true
		state.Shown = r.Uint32() &^ (1<<3 - 1) // steps of a later version
		before := state.Shown
		for at := setting.Time(0); at <= state.Clock.End+10; at++ {
			got := shownAt(t, state, noon.Add(tenths(at)))
			if got&before != before {
				t.Fatalf("%s: at %v s the steps %03b are shown, before it were %03b", query, at, got, before)
			}
			before = got
		}
		if i < len(counter.Steps()) && before&(1<<i) == 0 {
			t.Errorf("step %d was not shown at all", i)
		}
	}
}

// Who opens a link sees somebody else's run.
func TestALinkShowsNothingBeforeTheFirstCommand(t *testing.T) {
	link := session.New(course.OpenLink(counter), true, noon)
	end := noon.Add(time.Hour)
	if got := shownAt(t, link, end); got != 0 || link.Own {
		t.Errorf("the steps %03b are shown by a link", got)
	}
	refused, err := session.Reduce(counter, link, session.Set{Values: url.Values{"by": {"999"}}}, end)
	if err == nil || refused != link {
		t.Errorf("after a refused command it is %+v, %v", refused, err)
	}
	back, err := session.Reduce(counter, link, session.Restart{}, end)
	if err != nil || !back.Own || back.Shown != 0 {
		t.Errorf("after a command the link is %+v, %v", back, err)
	}
	again, err := session.Reduce(counter, back, session.Play{}, end)
	if err != nil {
		t.Fatal(err)
	}
	if got := shownAt(t, again, end.Add(time.Minute)); got != opening {
		t.Errorf("the learner's own run shows the steps %03b, want %03b", got, opening)
	}
}
