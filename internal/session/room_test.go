package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"drainlab/internal/course"
	"drainlab/internal/course/coursetest"
	"drainlab/internal/session"
	"drainlab/internal/session/storetest"
	"drainlab/internal/setting"
)

// The tests of rooms run in bubbles, whose time passes only when every
// goroutine waits: a room has done all it has to do at an instant once
// synctest.Wait returns. A bubble also fails when a goroutine is left behind.

// sketcher is a [session.Renderer] of three small pieces that keeps count.
type sketcher struct {
	mu     sync.Mutex
	frames []session.Frame
	at     []time.Time    // of each frame
	packs  map[string]int // by piece
	fails  bool
	more   int // pieces than there are
}

// set changes how the sketcher draws.
func (d *sketcher) set(change func(*sketcher)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(d)
}

func (d *sketcher) Render(f session.Frame) ([]session.Piece, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fails {
		return nil, errors.New("no ink")
	}
	d.frames, d.at = append(d.frames, f), append(d.at, time.Now())
	pieces := append(sketch(f), session.Piece{Name: "more", Plain: []byte("more")})
	return pieces[:3+d.more], nil
}

func sketch(f session.Frame) []session.Piece {
	return []session.Piece{
		{Name: "settings", Plain: []byte("?" + f.State.Query)},
		{Name: "t", Plain: []byte(f.T.String())},
		{Name: "clock", Plain: fmt.Appendf(nil, "%v at %v", f.Playing, f.State.Clock.Speed)},
	}
}

func (d *sketcher) Pack(p *session.Piece) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.packs[p.Name]++
	p.Packed = pack(p.Plain)
}

func pack(plain []byte) []byte { return append([]byte("packed "), plain...) }

// renders counts the frames drawn.
func (d *sketcher) renders() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.frames)
}

// packed is how often each piece was packed.
func (d *sketcher) packed() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return fmt.Sprintf("settings %d, t %d, clock %d", d.packs["settings"], d.packs["t"], d.packs["clock"])
}

// process is one server process on a store.
type process struct {
	store  *memory
	hub    *session.Hub
	drawer *sketcher
	log    *bytes.Buffer
}

func newProcess(store *memory, lessons *course.Register) *process {
	p := &process{store: store, drawer: &sketcher{packs: map[string]int{}}, log: &bytes.Buffer{}}
	p.hub = session.NewHub(store, lessons, p.drawer, slog.New(slog.NewTextHandler(p.log, nil)))
	return p
}

// house is one process with one session.
type house struct {
	*process
	t  *testing.T
	id session.ID
}

// inHouse runs a test in a bubble on a session that was just made of the
// counter's link with that query.
func inHouse(t *testing.T, query string, start motion, test func(*testing.T, *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &house{process: newProcess(newMemory(), storetest.Lessons()), t: t, id: session.NewID()}
		if _, err := h.store.Create(t.Context(), h.id, session.New(link(t, query), bool(start), time.Now())); err != nil {
			t.Fatal(err)
		}
		test(t, h)
	})
}

// motion says whether a session plays.
type motion bool

const (
	plays  motion = true
	stands motion = false
)

// do gives a command to the session.
func (h *house) do(cmd session.Command) session.Record {
	h.t.Helper()
	rec, err := session.Do(h.t.Context(), storetest.Lessons(), h.store, h.id, cmd)
	if err != nil {
		h.t.Fatal(err)
	}
	return rec
}

func (h *house) record() session.Record {
	h.t.Helper()
	rec, err := h.store.Get(h.t.Context(), h.id)
	if err != nil {
		h.t.Fatal(err)
	}
	return rec
}

// join watches the session in a process until the test ends.
func (h *house) join(p *process) *session.Viewer {
	h.t.Helper()
	v, err := p.hub.Join(h.id)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(v.Leave)
	return v
}

// settle joins, lets the room come to rest and takes the first picture.
func (h *house) settle(p *process) *session.Viewer {
	h.t.Helper()
	v := h.join(p)
	time.Sleep(time.Second)
	news(h.t, v)
	return v
}

// logged is what the process has logged by now.
func (p *process) logged() string {
	synctest.Wait()
	return p.log.String()
}

// next is what the viewer gets within d.
func next(v *session.Viewer, d time.Duration) ([]session.Piece, error) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return v.Next(ctx)
}

// news is what the viewer gets without time passing.
func news(t *testing.T, v *session.Viewer) []session.Piece {
	t.Helper()
	synctest.Wait()
	before := time.Now()
	pieces, err := next(v, time.Hour)
	if err != nil {
		t.Fatalf("Next: %v", err)
	}
	if passed := time.Since(before); passed != 0 {
		t.Fatalf("Next waited %v", passed)
	}
	for _, p := range pieces {
		if !bytes.Equal(p.Packed, pack(p.Plain)) {
			t.Errorf("%s is %q, packed %q", p.Name, p.Plain, p.Packed)
		}
	}
	return pieces
}

// wantNews compares what the viewer gets without time passing, as "name text; …".
func wantNews(t *testing.T, v *session.Viewer, want string) []session.Piece {
	t.Helper()
	pieces := news(t, v)
	if got := read(pieces); got != want {
		t.Fatalf("the viewer gets %q, want %q", got, want)
	}
	return pieces
}

func read(pieces []session.Piece) string {
	texts := make([]string, len(pieces))
	for i, p := range pieces {
		texts[i] = p.Name + " " + string(p.Plain)
	}
	return strings.Join(texts, "; ")
}

// wantQuiet wants nothing to come for d.
func wantQuiet(t *testing.T, v *session.Viewer, d time.Duration) {
	t.Helper()
	if pieces, err := next(v, d); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("the viewer gets %q, %v, want nothing for %v", read(pieces), err, d)
	}
}

func wantEnd(t *testing.T, v *session.Viewer, want error) {
	t.Helper()
	synctest.Wait()
	if pieces, err := next(v, time.Hour); !errors.Is(err, want) || pieces != nil {
		t.Fatalf("the viewer gets %q, %v, want %v", read(pieces), err, want)
	}
}

func TestTheFirstPictureIsTheWholeFrame(t *testing.T) {
	inHouse(t, "t=12.3", stands, func(t *testing.T, h *house) {
		v := h.join(h.process)
		wantNews(t, v, "settings ?; t 12.3; clock false at 1")
	})
}

func TestAFrameTellsWhereTheSessionStands(t *testing.T) {
	for _, c := range []struct {
		name  string
		clock session.Clock
		shown uint32
		own   bool
		want  course.Frame
		exact time.Duration
	}{
		{"paused, nothing is to come", session.Clock{At: 100, Since: noon, Speed: course.Single}, 0, true,
			course.Frame{T: 100, Until: 100}, 10 * time.Second},
		{"playing, the next event is to come", session.Clock{Playing: true, At: 98, Since: noon.Add(-250 * time.Millisecond), Speed: course.Single}, 0, true,
			course.Frame{T: 100, Playing: true, Until: 120}, 10050 * time.Millisecond},
		{"at the end, nothing is to come", session.Clock{Playing: true, At: 590, Since: noon.Add(-time.Hour), Speed: course.Half}, few, true,
			course.Frame{T: 600, Until: 600, Shown: few | opening}, time.Minute},
		{"with a step shown by the frame itself", session.Clock{At: 300, Since: noon, Speed: course.Single}, 0, true,
			course.Frame{T: 300, Until: 300, Shown: opening}, 30 * time.Second},
		{"with no step shown by a link alone", session.Clock{At: 300, Since: noon, Speed: course.Eight}, few, false,
			course.Frame{T: 300, Until: 300, Shown: few}, 30 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := state(t, "", c.clock)
			s.Shown, s.Own = c.shown, c.own
			want := session.Frame{State: s, Run: link(t, "").View.Run(), Frame: c.want, Exact: c.exact, Speed: c.clock.Speed}
			if got := s.FrameAt(run(t, s), noon); got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestAFrameIsDrawnOnceForAllViewers(t *testing.T) {
	inHouse(t, "", stands, func(t *testing.T, h *house) {
		viewers := []*session.Viewer{h.join(h.process), h.join(h.process), h.join(h.process)}
		time.Sleep(time.Second)
		first := news(t, viewers[0])
		for _, v := range viewers[1:] {
			wantSameBytes(t, news(t, v), first)
		}
		before := h.drawer.renders()
		h.do(session.Seek{T: 42})
		h.do(session.Set{Values: url.Values{"by": {"3"}}})
		synctest.Wait()
		if got := h.drawer.renders() - before; got != 1 {
			t.Errorf("3 viewers made the room draw %d times", got)
		}
		if got := h.drawer.packed(); got != "settings 1, t 2, clock 1" {
			t.Errorf("packed are %s", got)
		}
		time.Sleep(time.Second)
		first = wantNews(t, viewers[0], "settings ?by=3; t 4.2; clock false at 1")
		for _, v := range viewers[1:] {
			wantSameBytes(t, news(t, v), first)
		}
		if got := h.drawer.packed(); got != "settings 2, t 2, clock 1" {
			t.Errorf("packed are %s", got)
		}
	})
}

func wantSameBytes(t *testing.T, got, want []session.Piece) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %q, want %q", read(got), read(want))
	}
	for i := range want {
		if &got[i].Plain[0] != &want[i].Plain[0] || &got[i].Packed[0] != &want[i].Packed[0] {
			t.Errorf("piece %s is not the same memory", want[i].Name)
		}
	}
}

// drawn is what came to a viewer, with the real time since the clock started.
type drawn struct {
	after time.Duration
	t     string
	names []string
}

// follow takes every frame that a viewer gets for d.
func follow(t *testing.T, v *session.Viewer, start time.Time, d time.Duration) []drawn {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	var all []drawn
	for {
		pieces, err := v.Next(ctx)
		if err != nil {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("Next: %v", err)
			}
			return all
		}
		frame := drawn{after: time.Since(start)}
		for _, p := range pieces {
			frame.names = append(frame.names, p.Name)
			if p.Name == "t" {
				frame.t = string(p.Plain)
			}
		}
		all = append(all, frame)
	}
}

// moments are the instants at which a run's number grows, its whole seconds and
// its end.
func moments(run course.Run) []setting.Time {
	every := run.(coursetest.Run).Settings.Every
	var all []setting.Time
	for t := setting.Time(0); t <= run.End(); t++ {
		if t%every == 0 || t%setting.Second == 0 {
			all = append(all, t)
		}
	}
	return all
}

// crooked is a run that ends at 60.2 s.
const crooked = "count=86&every=0.7"

func TestFramesComeAtEventsAndWholeSeconds(t *testing.T) {
	for _, c := range []struct {
		change string
		speed  course.Speed
	}{{"", course.Single}, {"", course.Half}, {crooked, course.Single}, {crooked, course.Half}} {
		t.Run(fmt.Sprintf("%q at speed %v", c.change, c.speed), func(t *testing.T) {
			inHouse(t, c.change+"&speed="+c.speed.String(), plays, func(t *testing.T, h *house) {
				start := time.Now()
				got := follow(t, h.join(h.process), start, time.Hour)
				want := moments(link(t, c.change).View.Run())
				if len(got) != len(want) {
					t.Errorf("%d frames came, want %d", len(got), len(want))
				}
				for i := range min(len(got), len(want)) {
					after := tenths(want[i]) * 2 / time.Duration(c.speed)
					if got[i].t != want[i].String() || got[i].after != after {
						t.Fatalf("frame %d is of %s s and came after %v, want %v s after %v", i, got[i].t, got[i].after, want[i], after)
					}
				}
			})
		})
	}
}

func TestAtHighSpeedFramesAreAtLeastATenthOfASecondApart(t *testing.T) {
	for _, speed := range []course.Speed{course.Double, course.Four, course.Eight} {
		t.Run("at speed "+speed.String(), func(t *testing.T) {
			inHouse(t, crooked+"&speed="+speed.String(), plays, func(t *testing.T, h *house) {
				got := follow(t, h.join(h.process), time.Now(), time.Hour)
				for i := 1; i < len(got); i++ {
					if gap := got[i].after - got[i-1].after; gap < 100*time.Millisecond {
						t.Errorf("the frame of %s s came %v after that of %s s", got[i].t, gap, got[i-1].t)
					}
				}
				if last := got[len(got)-1]; last.t != "60.2" {
					t.Errorf("the last frame is of %s s", last.t)
				}
				// What happens is to be seen at once, or a tenth of a second later.
				for _, m := range moments(link(t, crooked).View.Run()) {
					at := tenths(m) * 2 / time.Duration(speed)
					if !slices.ContainsFunc(got, func(d drawn) bool { return d.after >= at && d.after < at+100*time.Millisecond }) {
						t.Errorf("what is at %v s was not drawn from %v on", m, at)
					}
				}
			})
		})
	}
}

func TestNothingIsDrawnAfterTheEnd(t *testing.T) {
	inHouse(t, "t=58", plays, func(t *testing.T, h *house) {
		v := h.join(h.process)
		frames := follow(t, v, time.Now(), 2100*time.Millisecond)
		if last := frames[len(frames)-1]; last.t != "60" || last.after != 2*time.Second {
			t.Fatalf("the last frame is of %s s after %v", last.t, last.after)
		}
		before := h.drawer.renders()
		wantQuiet(t, v, 9*time.Minute)
		if got := h.drawer.renders(); got != before {
			t.Errorf("%d frames were drawn after the end", got-before)
		}
		wantQuiet(t, v, 3*time.Hour) // over which the session is kept by touches
	})
}

func TestNothingIsDrawnWhilePaused(t *testing.T) {
	inHouse(t, "t=12.3", stands, func(t *testing.T, h *house) {
		v := h.settle(h.process)
		before := h.drawer.renders()
		wantQuiet(t, v, 9*time.Minute)
		if got := h.drawer.renders(); got != before {
			t.Errorf("%d frames were drawn while paused", got-before)
		}
		wantQuiet(t, v, 3*time.Hour)
	})
}

func TestAPauseStopsTheFramesAndPlayResumesThem(t *testing.T) {
	inHouse(t, "", plays, func(t *testing.T, h *house) {
		v := h.settle(h.process)
		time.Sleep(250 * time.Millisecond)
		h.do(session.Pause{})
		wantNews(t, v, "t 1.2; clock false at 1")
		before := h.drawer.renders()
		wantQuiet(t, v, time.Minute)
		if got := h.drawer.renders(); got != before {
			t.Errorf("%d frames were drawn after the pause", got-before)
		}
		h.do(session.Play{})
		wantNews(t, v, "clock true at 1")
		start := time.Now()
		frames := follow(t, v, start, 1900*time.Millisecond)
		if len(frames) != 2 || frames[0].t != "2" || frames[0].after != 800*time.Millisecond || frames[1].t != "3" {
			t.Errorf("the frames after play are %+v", frames)
		}
	})
}

func TestAViewerThatLagsGetsTheNewestOfWhatChanged(t *testing.T) {
	inHouse(t, "count=36&every=1.7", plays, func(t *testing.T, h *house) {
		v := h.settle(h.process)
		other := h.settle(h.process)
		time.Sleep(18500 * time.Millisecond)
		wantNews(t, v, "t 20.4; clock true at 1") // not the settings, and not what came since 2 s
		wantQuiet(t, v, 400*time.Millisecond)     // no backlog
		h.do(session.Set{Values: url.Values{"by": {"3"}}})
		time.Sleep(100 * time.Millisecond)
		h.do(session.Set{Values: url.Values{"by": {"2"}}})
		h.do(session.SetSpeed{Speed: course.Double})
		time.Sleep(100 * time.Millisecond)
		h.do(session.Pause{})
		time.Sleep(time.Hour)
		want := "settings ?count=36&every=1.7&by=2; t 21.2; clock false at 2"
		wantNews(t, v, want)
		wantQuiet(t, v, time.Second)
		wantNews(t, other, want)
		wantQuiet(t, other, time.Second)
	})
}

func TestALateViewerGetsTheWholePictureOfThePresent(t *testing.T) {
	inHouse(t, "", plays, func(t *testing.T, h *house) {
		first := h.settle(h.process)
		time.Sleep(6500 * time.Millisecond)
		wantNews(t, first, "t 7; clock true at 1")
		late := h.join(h.process)
		wantNews(t, late, "settings ?; t 7.5; clock true at 1")
		wantNews(t, first, "t 7.5; clock true at 1")
		wantQuiet(t, late, 499*time.Millisecond)
		time.Sleep(time.Millisecond)
		wantNews(t, late, "t 8; clock true at 1")
		if h.store.watched != 1 {
			t.Errorf("two viewers made %d watches", h.store.watched)
		}
	})
}

func TestALateViewerOfAPausedSessionIsDrawnNothingAnew(t *testing.T) {
	inHouse(t, "t=12.3", stands, func(t *testing.T, h *house) {
		first := h.settle(h.process)
		late := h.join(h.process)
		wantNews(t, late, "settings ?; t 12.3; clock false at 1")
		wantQuiet(t, first, time.Minute)
		wantQuiet(t, late, time.Minute)
		if got := h.drawer.packed(); got != "settings 1, t 1, clock 1" {
			t.Errorf("packed are %s", got)
		}
	})
}

func TestWhatIsUnchangedIsNeitherSentNorPackedAgain(t *testing.T) {
	inHouse(t, "", stands, func(t *testing.T, h *house) {
		v := h.join(h.process)
		first := wantNews(t, v, "settings ?; t 0; clock false at 1")
		time.Sleep(time.Second)
		h.do(session.Seek{T: 50})
		second := wantNews(t, v, "t 5; clock false at 1") // the last piece ends every frame
		wantSameBytes(t, second[1:], first[2:])
		if got := h.drawer.packed(); got != "settings 1, t 2, clock 1" {
			t.Errorf("packed are %s", got)
		}
		time.Sleep(time.Second)
		h.do(session.SetSpeed{Speed: course.Four})
		wantNews(t, v, "clock false at 4")
		time.Sleep(time.Second)
		h.do(session.Seek{T: 50}) // nothing to be seen
		wantQuiet(t, v, time.Minute)
		if got := h.drawer.packed(); got != "settings 1, t 2, clock 2" {
			t.Errorf("packed are %s", got)
		}
	})
}

// openings counts the views that a lesson opens.
type openings struct {
	coursetest.Counter
	mu     sync.Mutex
	opened []string // their values
}

func (o *openings) Open(values url.Values) (course.View, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.opened = append(o.opened, values.Encode())
	return o.Counter.Open(values)
}

func TestARunIsComputedOnceForItsSettings(t *testing.T) {
	inHouse(t, "", plays, func(t *testing.T, h *house) {
		lesson := &openings{}
		watching := newProcess(h.store, course.NewRegister(lesson)) // commands come to the other process
		h.join(watching)
		time.Sleep(5 * time.Second)
		h.do(session.Pause{})
		time.Sleep(time.Second)
		h.do(session.Set{Values: url.Values{"by": {"3"}}})
		time.Sleep(time.Second)
		h.do(session.Seek{T: 30})
		synctest.Wait()
		if got := fmt.Sprintf("%q", lesson.opened); got != `["" "by=3"]` {
			t.Errorf("the room opened the views %s", got)
		}
		frames := watching.drawer.frames
		if first, last := frames[0].Run, frames[len(frames)-1].Run; len(frames) < 7 || first != link(t, "").View.Run() || last != link(t, "by=3").View.Run() {
			t.Errorf("the first of %d runs is of %+v, the last of %+v", len(frames), first, last)
		}
	})
}

// A session may be of a lesson that this process does not have, or of settings
// that it refuses: another version runs beside it.
func TestASessionThatCannotBeShownIsBroken(t *testing.T) {
	spoil := map[string]func(*session.State){
		"no lesson":                 func(s *session.State) { s.Lesson = "adder" },
		"a setting out of range":    func(s *session.State) { s.Query = "by=999" },
		"a query that cannot be so": func(s *session.State) { s.Query = "%" },
	}
	for name, change := range spoil {
		t.Run(name+" from the start", func(t *testing.T) {
			inHouse(t, "", plays, func(t *testing.T, h *house) {
				h.write(change)
				a, b := h.join(h.process), h.join(h.process)
				wantEnd(t, a, session.ErrBroken)
				wantEnd(t, b, session.ErrBroken)
				h.wantBrokenOnce(h.record())
			})
		})
		t.Run(name+" later on", func(t *testing.T) {
			inHouse(t, "", plays, func(t *testing.T, h *house) {
				v := h.settle(h.process)
				h.write(change)
				wantEnd(t, v, session.ErrBroken)
				h.wantBrokenOnce(h.record())
			})
		})
	}
}

func TestARoomStaysInItsLesson(t *testing.T) {
	inHouse(t, "", plays, func(t *testing.T, h *house) {
		both := newProcess(h.store, course.NewRegister(coursetest.Counter{}, coursetest.Counter{ID: "adder", Number: 2}))
		v := h.settle(both)
		h.write(func(s *session.State) { s.Lesson = "adder" })
		wantEnd(t, v, session.ErrBroken)
		if got := both.logged(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "adder") {
			t.Errorf("the log has %q, want one line", got)
		}
		v.Leave()
		wantNews(t, h.join(both), "settings ?; t 1; clock true at 1") // in a room of that lesson
	})
}

// write changes the stored state as another writer may.
func (h *house) write(change func(*session.State)) {
	h.t.Helper()
	rec := h.record()
	change(&rec.State)
	if _, err := h.store.Update(h.t.Context(), h.id, rec.State, rec.Revision); err != nil {
		h.t.Fatal(err)
	}
}

// wantBrokenOnce wants one line in the log, the session untouched, and the room
// made anew once the session can be shown.
func (h *house) wantBrokenOnce(before session.Record) {
	h.t.Helper()
	time.Sleep(time.Hour)
	if got := h.logged(); strings.Count(got, "\n") != 1 || !strings.Contains(got, session.ErrUnopenable.Error()) {
		h.t.Errorf("the log has %q, want one line", got)
	}
	if got := h.record(); got.Revision != before.Revision {
		h.t.Errorf("a room that cannot show its session touched it: revision %d after %d", got.Revision, before.Revision)
	}
	h.write(func(s *session.State) { s.Lesson, s.Query = "counter", "" })
	wantNews(h.t, h.join(h.process), "settings ?; t 60; clock false at 1")
}

// A lesson whose parts are not always the same ones must not bring the process
// down.
func TestAFrameOfOtherPiecesIsLoggedAndNotDrawn(t *testing.T) {
	inHouse(t, "", stands, func(t *testing.T, h *house) {
		v := h.settle(h.process)
		for _, more := range []int{1, -1} {
			h.drawer.set(func(d *sketcher) { d.more = more })
			h.do(session.Seek{T: 70})
			wantQuiet(t, v, time.Minute)
			h.drawer.set(func(d *sketcher) { d.more = 0 })
			h.do(session.Seek{T: 80})
			wantNews(t, v, "t 8; clock false at 1")
			time.Sleep(time.Second)
			h.do(session.Seek{T: 0})
			wantNews(t, v, "t 0; clock false at 1")
			time.Sleep(time.Second)
		}
		if got := h.logged(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "4 pieces after 3") || !strings.Contains(got, "2 pieces after 3") {
			t.Errorf("the log has %q", got)
		}
	})
}

// A session of a run that takes no time has one frame for each of its settings.
func TestARunThatTakesNoTimeIsDrawnWhenItChanges(t *testing.T) {
	inHouse(t, "count=0", plays, func(t *testing.T, h *house) {
		v := h.join(h.process)
		wantNews(t, v, "settings ?count=0; t 0; clock false at 1")
		wantQuiet(t, v, 3*time.Hour+time.Second)
		h.do(session.Set{Values: url.Values{"by": {"3"}}})
		wantNews(t, v, "settings ?count=0&by=3; clock false at 1")
		wantQuiet(t, v, 3*time.Hour)
	})
}

// A change of settings under a playing clock moves the end that it plays to.
func TestARoomPlaysToTheNewEnd(t *testing.T) {
	for every, end := range map[string]string{"0.5": "15", "3": "90"} {
		inHouse(t, "", plays, func(t *testing.T, h *house) {
			v := h.settle(h.process)
			h.do(session.Set{Values: url.Values{"every": {every}}})
			frames := follow(t, v, time.Now(), 3*time.Hour)
			after := must(time.ParseDuration(end+"s")) - time.Second
			if last := frames[len(frames)-1]; last.t != end || last.after != after {
				t.Errorf("the last frame is of %s s after %v, want %s s after %v", last.t, last.after, end, after)
			}
		})
	}
}

// Whatever the moment of a burst in the room's rhythm, its end is drawn, and
// within 40 ms.
func TestABurstOfCommandsIsDrawnTogether(t *testing.T) {
	for _, playing := range []bool{false, true} {
		for offset := range 15 {
			t.Run(fmt.Sprintf("playing %v, after %d ms", playing, 7*offset), func(t *testing.T) {
				inHouse(t, "", motion(playing), func(t *testing.T, h *house) {
					v := h.settle(h.process)
					time.Sleep(900*time.Millisecond + time.Duration(7*offset)*time.Millisecond)
					before := h.drawer.renders()
					for i := range 100 {
						h.do(session.Set{Values: url.Values{"by": {fmt.Sprint(i + 2)}}})
						time.Sleep(time.Millisecond)
					}
					time.Sleep(39 * time.Millisecond)
					synctest.Wait()
					drawn := h.drawer.at[before:]
					if len(drawn) < 2 || len(drawn) > 5 {
						t.Errorf("100 commands in 100 ms were drawn %d times", len(drawn))
					}
					for i, at := range drawn[1:] {
						if gap := at.Sub(drawn[i]); gap != 40*time.Millisecond {
							t.Errorf("%v between two frames", gap)
						}
					}
					if got := read(news(t, v)); !strings.Contains(got, "by=101;") {
						t.Errorf("the last frame is %s", got)
					}
				})
			})
		}
	}
}

func TestOneCommandIsDrawnAtOnce(t *testing.T) {
	inHouse(t, "", stands, func(t *testing.T, h *house) {
		v := h.settle(h.process)
		h.do(session.Seek{T: 70})
		wantNews(t, v, "t 7; clock false at 1")
	})
}

func TestProcessesSeeEachOthersCommands(t *testing.T) {
	inHouse(t, "", stands, func(t *testing.T, h *house) {
		other := newProcess(h.store, storetest.Lessons())
		a, b := h.settle(h.process), h.settle(other)
		before := [2]int{h.drawer.renders(), other.drawer.renders()}
		h.do(session.Seek{T: 70})
		wantNews(t, a, "t 7; clock false at 1")
		wantNews(t, b, "t 7; clock false at 1")
		if after := [2]int{h.drawer.renders(), other.drawer.renders()}; after != [2]int{before[0] + 1, before[1] + 1} {
			t.Errorf("the processes drew %v frames, before it were %v", after, before)
		}
		a.Leave()
		time.Sleep(time.Second)
		h.do(session.Seek{T: 80})
		wantNews(t, b, "t 8; clock false at 1")
	})
}

func TestASessionThatIsNotThereIsDrawnOnceItIs(t *testing.T) {
	inHouse(t, "", stands, func(t *testing.T, h *house) {
		h.id = session.NewID()
		v := h.join(h.process)
		wantQuiet(t, v, 3*time.Hour)
		if h.store.conflicts > 0 {
			t.Error("a session that is not there was touched")
		}
		if _, err := h.store.Create(t.Context(), h.id, storetest.Paused(30)); err != nil {
			t.Fatal(err)
		}
		wantNews(t, v, "settings ?; t 3; clock false at 1")
	})
}

func TestTheLastViewerEndsTheRoomAndTouchesTheSession(t *testing.T) {
	inHouse(t, "", plays, func(t *testing.T, h *house) {
		a, b := h.settle(h.process), h.settle(h.process)
		before := h.record()
		a.Leave()
		a.Leave() // once is enough
		synctest.Wait()
		if got := h.record().Revision; got != before.Revision {
			t.Errorf("with a viewer left the session was touched: revision %d after %d", got, before.Revision)
		}
		time.Sleep(time.Second)
		wantNews(t, b, "t 3; clock true at 1")
		b.Leave()
		synctest.Wait()
		after := h.record()
		if after.Revision != before.Revision+1 || after.State != before.State {
			t.Errorf("after the last viewer it is %+v, before it was %+v", after, before)
		}
		if got := h.store.watching(h.id); got != 0 {
			t.Errorf("%d watches are left", got)
		}
		drawn := h.drawer.renders()
		time.Sleep(time.Hour)
		if h.record().Revision != after.Revision || h.drawer.renders() != drawn {
			t.Error("a room without viewers lives on")
		}
		c := h.join(h.process) // which finds the clock where it has come to meanwhile
		wantNews(t, c, "settings ?; t 60; clock false at 1")
	})
}

func TestAWatchedSessionIsKept(t *testing.T) {
	inHouse(t, "t=12.3", stands, func(t *testing.T, h *house) {
		before := h.record()
		h.join(h.process)
		h.join(h.process)
		time.Sleep(10*time.Minute - 1)
		if got := h.record().Revision; got != before.Revision {
			t.Errorf("before 10 minutes the session was touched")
		}
		for i := range uint64(6) {
			time.Sleep(time.Second)
			after := h.record()
			if after.Revision != before.Revision+i+1 || after.State != before.State {
				t.Fatalf("after %d times 10 minutes it is %+v, before it was %+v", i+1, after, before)
			}
			time.Sleep(10*time.Minute - time.Second)
		}
		if got := h.logged(); got != "" {
			t.Errorf("the log has %q", got)
		}
	})
}

func TestATouchDoesNotUndoACommand(t *testing.T) {
	inHouse(t, "", stands, func(t *testing.T, h *house) {
		v := h.settle(h.process)
		h.store.fail(func(m *memory) { m.held = true }) // the room does not know yet
		want := h.do(session.Seek{T: 70})
		time.Sleep(10 * time.Minute)
		v.Leave()
		synctest.Wait()
		if got := h.record(); got.Revision != want.Revision || !storetest.Same(got.State, want.State) {
			t.Errorf("after the touches it is %+v, want %+v", got, want)
		}
		if got := h.logged(); h.store.conflicts != 2 || got != "" {
			t.Errorf("%d conflicts, want 2, and the log has %q", h.store.conflicts, got)
		}
	})
}

func TestATouchThatFailsIsLogged(t *testing.T) {
	inHouse(t, "", stands, func(t *testing.T, h *house) {
		v := h.settle(h.process)
		h.store.fail(func(m *memory) { m.refused = errors.New("no room on the disk") })
		time.Sleep(10 * time.Minute)
		if got := h.logged(); strings.Count(got, "keeping a session failed") != 1 || !strings.Contains(got, "no room on the disk") {
			t.Errorf("the log has %q", got)
		}
		wantQuiet(t, v, time.Minute)
	})
}

func TestARecordThatComesLateIsIgnored(t *testing.T) {
	inHouse(t, "", stands, func(t *testing.T, h *house) {
		v := h.settle(h.process)
		old := h.record()
		h.do(session.Seek{T: 70})
		wantNews(t, v, "t 7; clock false at 1")
		time.Sleep(time.Second)
		h.store.again(h.id, old)
		wantQuiet(t, v, time.Minute)
	})
}

func TestABrokenWatchEndsTheRoomAndTheNextViewerMakesAnother(t *testing.T) {
	inHouse(t, "", plays, func(t *testing.T, h *house) {
		a, b := h.settle(h.process), h.join(h.process)
		before := h.record().Revision
		waiting := make(chan error)
		go func() {
			_, err := next(a, time.Hour)
			waiting <- err
		}()
		synctest.Wait()
		broken := time.Now()
		h.store.breakWatches(h.id)
		if err := <-waiting; !errors.Is(err, session.ErrBroken) || time.Since(broken) != 0 {
			t.Errorf("a viewer that waits gets %v after %v", err, time.Since(broken))
		}
		wantNews(t, b, "settings ?; t 1; clock true at 1") // what it had not yet taken
		wantEnd(t, a, session.ErrBroken)
		wantEnd(t, b, session.ErrBroken)
		wantEnd(t, b, session.ErrBroken) // and for good
		if got := h.hub.Viewers(); got != 2 {
			t.Errorf("%d viewers, want 2 until they leave", got)
		}
		time.Sleep(time.Second)
		c := h.join(h.process)
		wantNews(t, c, "settings ?; t 2; clock true at 1")
		a.Leave() // the old room's viewers do not end the new one
		b.Leave()
		h.do(session.Pause{})
		time.Sleep(100 * time.Millisecond)
		wantNews(t, c, "clock false at 1")
		if got := h.hub.Viewers(); got != 1 {
			t.Errorf("%d viewers, want 1", got)
		}
		h.join(h.process)
		synctest.Wait()
		if h.store.watched != 2 {
			t.Errorf("%d watches, want the broken one and one that the later viewers share", h.store.watched)
		}
		if got := h.record().Revision; got != before+1 {
			t.Errorf("revision %d after one command on %d: a broken room touches nothing", got, before)
		}
	})
}

func TestAWatchThatTheStoreRefusesIsBroken(t *testing.T) {
	inHouse(t, "", stands, func(t *testing.T, h *house) {
		h.store.fail(func(m *memory) { m.refused = errors.New("no answer") })
		v := h.join(h.process)
		wantEnd(t, v, session.ErrBroken)
		if got := h.logged(); !strings.Contains(got, "no answer") {
			t.Errorf("the log has %q", got)
		}
		h.store.fail(func(m *memory) { m.refused = nil })
		v.Leave()
		wantNews(t, h.join(h.process), "settings ?; t 0; clock false at 1")
	})
}

// With a store that has gone, a Join must not hold up everybody else.
func TestAStoreThatDoesNotAnswerKeepsNobodyWaiting(t *testing.T) {
	inHouse(t, "", stands, func(t *testing.T, h *house) {
		seen := h.settle(h.process)
		here := h.id
		h.store.fail(func(m *memory) { m.silent = true })
		h.id = session.NewID()
		a, b := h.join(h.process), h.join(h.process)
		wantQuiet(t, a, time.Minute)
		if got := h.hub.Viewers(); got != 3 {
			t.Errorf("%d viewers, want 3", got)
		}
		h.id = here
		h.do(session.Seek{T: 70})
		wantNews(t, seen, "t 7; clock false at 1")
		a.Leave()
		b.Leave() // ends the wait
		synctest.Wait()
		if got := h.logged(); got != "" {
			t.Errorf("the log has %q", got)
		}
		h.hub.Drain()
		wantEnd(t, seen, session.ErrDraining)
	})
}

func TestDrainTellsEveryViewer(t *testing.T) {
	inHouse(t, "", plays, func(t *testing.T, h *house) {
		waiting := h.settle(h.process)
		lagging := h.join(h.process)
		fresh := make(chan error)
		go func() {
			_, err := next(waiting, time.Hour)
			fresh <- err
		}()
		synctest.Wait()
		before := time.Now()
		h.hub.Drain()
		h.hub.Drain() // once is enough
		if err := <-fresh; !errors.Is(err, session.ErrDraining) || time.Since(before) != 0 {
			t.Errorf("a viewer that waits gets %v after %v", err, time.Since(before))
		}
		wantEnd(t, waiting, session.ErrDraining)
		wantEnd(t, lagging, session.ErrDraining) // in place of the picture that it has not yet got
		if v, err := h.hub.Join(h.id); !errors.Is(err, session.ErrDraining) || v != nil {
			t.Errorf("a later viewer gets %v, %v", v, err)
		}
		if got := h.hub.Viewers(); got != 2 {
			t.Errorf("%d viewers, want 2 until they leave", got)
		}
	})
}

// What a room writes last must come before the store is closed.
func TestWaitWaitsForTheLastTouch(t *testing.T) {
	inHouse(t, "", stands, func(t *testing.T, h *house) {
		start := time.Now()
		h.hub.Wait(t.Context())
		if passed := time.Since(start); passed != 0 {
			t.Errorf("without a room Wait took %v", passed)
		}
		a, b := h.settle(h.process), h.settle(h.process)
		before := h.record().Revision
		h.store.fail(func(m *memory) { m.latency = time.Second })
		h.hub.Drain()
		a.Leave()

		start = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		h.hub.Wait(ctx)
		if passed := time.Since(start); passed != time.Minute {
			t.Errorf("with a viewer left Wait took %v", passed)
		}

		b.Leave()
		start = time.Now()
		h.hub.Wait(t.Context())
		if passed := time.Since(start); passed != time.Second {
			t.Errorf("Wait took %v, the last touch takes 1 s", passed)
		}
		if got := h.record().Revision; got != before+1 {
			t.Errorf("after Wait the revision is %d, want %d", got, before+1)
		}
	})
}

func TestNextEndsWithItsContext(t *testing.T) {
	inHouse(t, "", stands, func(t *testing.T, h *house) {
		v := h.settle(h.process)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			_, err := v.Next(ctx)
			ended <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Next ended with %v", err)
		}
		h.do(session.Seek{T: 70}) // and the viewer may go on
		wantNews(t, v, "t 7; clock false at 1")
	})
}

func TestViewersAreCounted(t *testing.T) {
	inHouse(t, "", stands, func(t *testing.T, h *house) {
		want := func(n int) {
			t.Helper()
			if got := h.hub.Viewers(); got != n {
				t.Errorf("%d viewers, want %d", got, n)
			}
		}
		want(0)
		a, b := h.join(h.process), h.join(h.process)
		want(2)
		h.id = session.NewID()
		c := h.join(h.process)
		want(3)
		a.Leave()
		a.Leave()
		want(2)
		b.Leave()
		c.Leave()
		want(0)
	})
}

func TestAFrameThatCannotBeDrawnIsLoggedAndTheNextOneIs(t *testing.T) {
	inHouse(t, "", plays, func(t *testing.T, h *house) {
		v := h.settle(h.process)
		h.drawer.set(func(d *sketcher) { d.fails = true })
		wantQuiet(t, v, 2500*time.Millisecond)
		if got := h.logged(); strings.Count(got, "drawing a frame failed") < 2 || !strings.Contains(got, "no ink") {
			t.Errorf("the log has %q", got)
		}
		h.drawer.set(func(d *sketcher) { d.fails = false })
		time.Sleep(500 * time.Millisecond)
		wantNews(t, v, "t 4; clock true at 1")
	})
}

func TestDoTriesAgainOnWhatOthersWrote(t *testing.T) {
	inHouse(t, "", stands, func(t *testing.T, h *house) {
		h.store.fail(func(m *memory) { m.latency = time.Millisecond })
		const writers = 50
		var wg sync.WaitGroup
		for range writers {
			wg.Go(func() { h.do(session.Step{Seconds: 1}) })
		}
		wg.Wait()
		if got := h.record().State.Clock.At; got != writers*setting.Second {
			t.Errorf("%d steps of 1 s came to %v s", writers, got)
		}
		// All read before any one writes, so each round has one winner.
		if want := writers * (writers - 1) / 2; h.store.conflicts != want {
			t.Errorf("%d conflicts, want %d", h.store.conflicts, want)
		}
	})
}

func TestDoEndsWithItsContext(t *testing.T) {
	inHouse(t, "", stands, func(t *testing.T, h *house) {
		h.store.fail(func(m *memory) { m.latency, m.refused = time.Millisecond, session.ErrConflict })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := session.Do(ctx, storetest.Lessons(), h.store, h.id, session.Play{})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 1002*time.Millisecond {
			t.Errorf("Do ended with %v after %v", err, time.Since(start))
		}
	})
}

func TestDoWritesNothingThatIsRefused(t *testing.T) {
	inHouse(t, "", stands, func(t *testing.T, h *house) {
		before := h.record()
		_, err := session.Do(t.Context(), storetest.Lessons(), h.store, h.id, session.Set{Values: url.Values{"by": {"999"}}})
		wantSettingError(t, err, "by", "999")
		if got := h.record(); got != before {
			t.Errorf("the session became %+v", got)
		}
		full := errors.New("full")
		h.store.fail(func(m *memory) { m.refused = full })
		if _, err := session.Do(t.Context(), storetest.Lessons(), h.store, h.id, session.Play{}); !errors.Is(err, full) {
			t.Errorf("the store's error came as %v", err)
		}
	})
}

// Viewers come, lag and go while commands rain and watches break; whoever
// stays must in the end have the picture of the present.
func TestEveryPictureComesToThePresent(t *testing.T) {
	r := random(t)
	for range 20 {
		inHouse(t, "", plays, func(t *testing.T, h *house) { rain(t, h, r) })
	}
}

type screen struct {
	viewer *session.Viewer
	shows  map[string]string
}

// look applies what there is within d; a screen that is told to joins again.
func (s *screen) look(h *house, d time.Duration) {
	pieces, err := next(s.viewer, d)
	if errors.Is(err, session.ErrBroken) {
		s.viewer.Leave()
		*s = screen{h.join(h.process), map[string]string{}}
	}
	for _, p := range pieces {
		s.shows[p.Name] = string(p.Plain)
	}
}

// drive gives a command to the clock, where the run takes time.
func (h *house) drive(cmd session.Command) {
	h.t.Helper()
	if h.record().State.Clock.End > 0 {
		h.do(cmd)
	}
}

func rain(t *testing.T, h *house, r *rand.Rand) {
	screens := []*screen{{h.join(h.process), map[string]string{}}}
	for range 300 {
		s := screens[r.IntN(len(screens))]
		switch r.IntN(12) {
		case 0:
			h.drive(session.Seek{T: setting.Time(r.IntN(int(h.record().State.Clock.End) + 1))})
		case 1:
			h.do(session.Apply{Values: values(t, coursetest.RandomQuery(r))})
		case 2:
			h.drive(session.SetSpeed{Speed: course.Speeds()[r.IntN(5)]})
		case 3:
			h.drive([]session.Command{session.Play{}, session.Pause{}, session.Step{Seconds: 1}}[r.IntN(3)])
		case 4:
			if len(screens) < 5 {
				screens = append(screens, &screen{h.join(h.process), map[string]string{}})
			}
		case 5:
			if len(screens) > 1 {
				s.viewer.Leave()
				screens = slices.DeleteFunc(screens, func(other *screen) bool { return other == s })
			}
		case 6:
			if r.IntN(5) == 0 {
				h.store.breakWatches(h.id)
			}
		case 7:
			time.Sleep(time.Duration(r.IntN(2000)) * time.Millisecond)
		default:
			s.look(h, time.Duration(1+r.IntN(100))*time.Millisecond)
		}
	}
	h.drive(session.Pause{})
	time.Sleep(time.Second)
	for range 3 { // to be told, to join again, to get the picture
		for _, s := range screens {
			s.look(h, time.Second)
		}
	}
	rec := h.record()
	want := map[string]string{}
	for _, p := range sketch(rec.State.FrameAt(run(t, rec.State), time.Now())) {
		want[p.Name] = string(p.Plain)
	}
	for i, s := range screens {
		if fmt.Sprint(s.shows) != fmt.Sprint(want) {
			t.Errorf("screen %d shows %v, want %v", i, s.shows, want)
		}
		s.viewer.Leave()
	}
}
