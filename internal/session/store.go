package session

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"drainlab/internal/course"
)

// ID names a session: 128 random bits in hexadecimal. Who knows it may drive it.
type ID string

// NewID draws an id.
func NewID() ID {
	var b [16]byte
	rand.Read(b[:]) // never fails, by crypto/rand's documentation
	return ID(hex.EncodeToString(b[:]))
}

// ParseID reads an id; anything that NewID does not print is [ErrNotFound].
func ParseID(text string) (ID, error) {
	if len(text) != 32 {
		return "", ErrNotFound
	}
	for _, r := range []byte(text) {
		if (r < '0' || r > '9') && (r < 'a' || r > 'f') {
			return "", ErrNotFound
		}
	}
	return ID(text), nil
}

// What a [Store] answers besides errors of its own.
var (
	ErrNotFound = errors.New("no such session")
	ErrConflict = errors.New("the session has changed meanwhile")
	ErrExists   = errors.New("the session exists already")
	ErrFull     = errors.New("the store of sessions is full")
)

// Record is a state as the store has it, with the revision that an update
// must name. Revisions of one session grow.
type Record struct {
	State    State
	Revision uint64
}

// Store keeps sessions. A session that was not written for the store's
// time-to-live may go.
type Store interface {
	// Get returns [ErrNotFound] for a session that is not there.
	Get(ctx context.Context, id ID) (Record, error)
	// Create returns [ErrExists] where the session is there, [ErrFull] where
	// no more fit.
	Create(ctx context.Context, id ID, s State) (Record, error)
	// Update writes s over the given revision, or returns [ErrConflict].
	Update(ctx context.Context, id ID, s State, revision uint64) (Record, error)
	// Watch sends the present record, where there is one, and every later
	// one; a reader that lags may miss all but the newest. The channel closes
	// when ctx ends or the watch breaks.
	Watch(ctx context.Context, id ID) (<-chan Record, error)
}

// Do reduces cmd into the session and stores the outcome. Where others write
// at the same time it tries again on what they wrote. A session of no lesson of
// the course is an [ErrUnopenable].
func Do(ctx context.Context, lessons *course.Register, store Store, id ID, cmd Command) (Record, error) {
	for {
		rec, err := store.Get(ctx, id)
		if err != nil {
			return Record{}, err
		}
		lesson, err := rec.State.find(lessons)
		if err != nil {
			return Record{}, err
		}
		next, err := Reduce(lesson, rec.State, cmd, time.Now())
		if err != nil {
			return Record{}, err
		}
		rec, err = store.Update(ctx, id, next, rec.Revision)
		if !errors.Is(err, ErrConflict) {
			return rec, err
		}
		if ctx.Err() != nil {
			return Record{}, fmt.Errorf("session %w", ctx.Err())
		}
	}
}
