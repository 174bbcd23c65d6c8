// Package storetest tests that a [session.Store] keeps its contract, whatever
// it is made on.
package storetest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"drainlab/internal/course"
	"drainlab/internal/course/coursetest"
	"drainlab/internal/session"
	"drainlab/internal/setting"
)

// patience is how long a test waits for what must come. Only a test that
// fails waits as long.
const patience = 30 * time.Second

// Run tests store, which must be open for as long as t runs.
func Run(t *testing.T, store session.Store) {
	for _, c := range []struct {
		name string
		test func(*testing.T, session.Store)
	}{
		{"what was created can be read as it was written", createAndGet},
		{"a session that is not there is not found", notFound},
		{"a session is created once", createTwice},
		{"an update grows the revision", update},
		{"an update over an older revision is a conflict and changes nothing", conflict},
		{"sessions do not touch each other", apart},
		{"a watch sends the present record and then the later ones", watch},
		{"a watch may come before its session", watchEarly},
		{"a watch sends its own session only", watchApart},
		{"a reader that lags gets the newest record and no backlog", lag},
		{"every watch of a session sees it", watchTwice},
		{"a watch ends with its context", watchEnds},
		{"commands of many at once all take effect", manyWriters},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, store) })
	}
}

// Lessons is the course of the sessions that are tested: a counter alone.
func Lessons() *course.Register { return course.NewRegister(coursetest.Counter{}) }

// Paused is the state of a session of the counter's opening run that stands at t.
func Paused(t setting.Time) session.State {
	link := course.OpenLink(coursetest.Counter{})
	link.T = t
	return session.New(link, false, time.Now())
}

// Same reports whether two states say the same, which after a store's
// encoding are not the same bytes of a time.Time.
func Same(a, b session.State) bool {
	since := a.Clock.Since.Equal(b.Clock.Since)
	a.Clock.Since, b.Clock.Since = time.Time{}, time.Time{}
	return since && a == b
}

// Create makes a session that stands at t.
func Create(t *testing.T, store session.Store, at setting.Time) (session.ID, session.Record) {
	t.Helper()
	id := session.NewID()
	rec, err := store.Create(t.Context(), id, Paused(at))
	if err != nil {
		t.Fatalf("Create: %v", err)
	}
	return id, rec
}

// Update writes state over rec.
func Update(t *testing.T, store session.Store, id session.ID, rec session.Record, state session.State) session.Record {
	t.Helper()
	rec, err := store.Update(t.Context(), id, state, rec.Revision)
	if err != nil {
		t.Fatalf("Update: %v", err)
	}
	return rec
}

// Watch watches the session until the test ends.
func Watch(t *testing.T, store session.Store, id session.ID) <-chan session.Record {
	t.Helper()
	records, err := store.Watch(t.Context(), id)
	if err != nil {
		t.Fatalf("Watch: %v", err)
	}
	return records
}

// Receive takes the next record of a watch.
func Receive(t *testing.T, records <-chan session.Record) session.Record {
	t.Helper()
	select {
	case rec, ok := <-records:
		if !ok {
			t.Fatal("the watch has ended")
		}
		return rec
	case <-time.After(patience):
		t.Fatal("the watch sends nothing")
	}
	return session.Record{}
}

// WantEnd reads a watch to its end.
func WantEnd(t *testing.T, records <-chan session.Record) {
	t.Helper()
	late := time.After(patience)
	for {
		select {
		case _, ok := <-records:
			if !ok {
				return
			}
		case <-late:
			t.Fatal("the watch does not end")
		}
	}
}

// WantRecord reads the session and compares.
func WantRecord(t *testing.T, store session.Store, id session.ID, want session.Record) {
	t.Helper()
	got, err := store.Get(t.Context(), id)
	if err != nil {
		t.Fatalf("Get: %v", err)
	}
	wantSame(t, got, want)
}

func wantSame(t *testing.T, got, want session.Record) {
	t.Helper()
	if got.Revision != want.Revision || !Same(got.State, want.State) {
		t.Fatalf("got  %+v\nwant %+v", got, want)
	}
}

func wantError(t *testing.T, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("got error %v, want %v", got, want)
	}
}

func createAndGet(t *testing.T, store session.Store) {
	id := session.NewID()
	state := session.State{
		Lesson: "counter",
		Query:  "count=40&every=3.5&by=7",
		Model:  2,
		Clock:  session.Clock{Playing: true, At: 123, Since: time.Now(), Speed: course.Half, End: 1400},
		Shown:  0b101101,
		Own:    true,
	}
	made, err := store.Create(t.Context(), id, state)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, made, session.Record{State: state, Revision: made.Revision})
	WantRecord(t, store, id, made)
}

func notFound(t *testing.T, store session.Store) {
	_, err := store.Get(t.Context(), session.NewID())
	wantError(t, err, session.ErrNotFound)
	_, err = store.Update(t.Context(), session.NewID(), Paused(0), 1)
	wantError(t, err, session.ErrConflict)
	_, err = session.Do(t.Context(), Lessons(), store, session.NewID(), session.Play{})
	wantError(t, err, session.ErrNotFound)
}

func createTwice(t *testing.T, store session.Store) {
	id, rec := Create(t, store, 10)
	_, err := store.Create(t.Context(), id, Paused(20))
	wantError(t, err, session.ErrExists)
	WantRecord(t, store, id, rec)
}

func update(t *testing.T, store session.Store) {
	id, first := Create(t, store, 10)
	second := Update(t, store, id, first, Paused(20))
	if second.Revision <= first.Revision || second.State.Clock.At != 20 {
		t.Errorf("after %+v came %+v", first, second)
	}
	WantRecord(t, store, id, second)
}

func conflict(t *testing.T, store session.Store) {
	id, first := Create(t, store, 10)
	second := Update(t, store, id, first, Paused(20))
	for _, revision := range []uint64{0, first.Revision, second.Revision + 1} {
		_, err := store.Update(t.Context(), id, Paused(30), revision)
		wantError(t, err, session.ErrConflict)
	}
	WantRecord(t, store, id, second)
}

func apart(t *testing.T, store session.Store) {
	a, recA := Create(t, store, 10)
	b, recB := Create(t, store, 20)
	recA = Update(t, store, a, recA, Paused(11))
	WantRecord(t, store, b, recB)
	recB = Update(t, store, b, recB, Paused(21))
	WantRecord(t, store, a, recA)
	WantRecord(t, store, b, recB)
}

func watch(t *testing.T, store session.Store) {
	id, rec := Create(t, store, 10)
	rec = Update(t, store, id, rec, Paused(20))
	records := Watch(t, store, id)
	wantSame(t, Receive(t, records), rec)
	for at := setting.Time(30); at < 40; at++ {
		rec = Update(t, store, id, rec, Paused(at))
		wantSame(t, Receive(t, records), rec)
	}
}

func watchEarly(t *testing.T, store session.Store) {
	id := session.NewID()
	records := Watch(t, store, id)
	rec, err := store.Create(t.Context(), id, Paused(10))
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, Receive(t, records), rec)
}

func watchApart(t *testing.T, store session.Store) {
	a, recA := Create(t, store, 10)
	b, recB := Create(t, store, 20)
	records := Watch(t, store, a)
	wantSame(t, Receive(t, records), recA)
	Update(t, store, b, recB, Paused(21))
	recA = Update(t, store, a, recA, Paused(11))
	wantSame(t, Receive(t, records), recA)
}

func lag(t *testing.T, store session.Store) {
	const updates = 200
	id, rec := Create(t, store, 0)
	lagging, prompt := Watch(t, store, id), Watch(t, store, id)
	wantSame(t, Receive(t, prompt), rec)
	for range updates {
		rec = Update(t, store, id, rec, Paused(rec.State.Clock.At+1))
		wantSame(t, Receive(t, prompt), rec)
	}
	// The last records may still be on their way, those of before are not.
	var last session.Record
	for got := 1; last.Revision < rec.Revision; got++ {
		next := Receive(t, lagging)
		if next.Revision <= last.Revision {
			t.Fatalf("revision %d after %d", next.Revision, last.Revision)
		}
		if last = next; got > updates/2 {
			t.Fatalf("a reader that lagged by %d records got %d of them", updates, got)
		}
	}
	wantSame(t, last, rec)
}

func watchTwice(t *testing.T, store session.Store) {
	id, rec := Create(t, store, 10)
	a, b := Watch(t, store, id), Watch(t, store, id)
	wantSame(t, Receive(t, a), rec)
	wantSame(t, Receive(t, b), rec)
	rec = Update(t, store, id, rec, Paused(11))
	wantSame(t, Receive(t, a), rec)
	wantSame(t, Receive(t, b), rec)
}

func watchEnds(t *testing.T, store session.Store) {
	id, _ := Create(t, store, 10)
	ctx, cancel := context.WithCancel(t.Context())
	records, err := store.Watch(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	other := Watch(t, store, id)
	Receive(t, other)
	cancel()
	WantEnd(t, records)
	rec, err := session.Do(t.Context(), Lessons(), store, id, session.Step{Seconds: 1})
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, Receive(t, other), rec)
}

func manyWriters(t *testing.T, store session.Store) {
	const writers = 20
	id, _ := Create(t, store, 0)
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			if _, err := session.Do(t.Context(), Lessons(), store, id, session.Step{Seconds: 1}); err != nil {
				t.Errorf("Do: %v", err)
			}
		})
	}
	wg.Wait()
	rec, err := store.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if got := rec.State.Clock.At; got != writers*setting.Second {
		t.Errorf("%d steps of 1 s came to %v s", writers, got)
	}
}
