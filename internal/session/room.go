package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"drainlab/internal/course"
	"drainlab/internal/setting"
)

// Piece is one fragment of a frame as it goes to the viewers.
type Piece struct {
	Name   string
	Plain  []byte // as it is
	Packed []byte // compressed on its own, to be concatenated
}

// Renderer draws frames. The pieces of all frames of a lesson have the same
// names in the same order; the last one ends the frame.
type Renderer interface {
	Render(Frame) ([]Piece, error)
	// Pack fills in Packed from Plain.
	Pack(*Piece)
}

// Why a viewer's stream ends.
var (
	ErrDraining = errors.New("the server is going away")
	ErrBroken   = errors.New("the session can be watched no longer")
)

const (
	// updateGap and tickGap bound how often a room draws, after commands and
	// for time passing.
	updateGap = 40 * time.Millisecond
	tickGap   = 100 * time.Millisecond
	// touchEvery keeps a watched session from going by its time-to-live.
	touchEvery = 10 * time.Minute
)

// Hub keeps one room for each session that is watched in this process.
type Hub struct {
	store    Store
	lessons  *course.Register
	renderer Renderer
	log      *slog.Logger

	mu       sync.Mutex
	rooms    map[ID]*room
	viewers  int
	draining chan struct{}
	drained  bool
	running  sync.WaitGroup // rooms
}

// NewHub returns a hub of rooms that watch store, show sessions of these
// lessons and are drawn by renderer.
func NewHub(store Store, lessons *course.Register, renderer Renderer, log *slog.Logger) *Hub {
	return &Hub{store: store, lessons: lessons, renderer: renderer, log: log, rooms: map[ID]*room{}, draining: make(chan struct{})}
}

// Drain tells every viewer, present and to come, that the server goes away:
// their Next returns [ErrDraining].
func (h *Hub) Drain() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.drained {
		h.drained = true
		close(h.draining)
	}
}

// Wait waits until every room has ended, or ctx does. After Drain rooms end as
// their viewers leave.
func (h *Hub) Wait(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		h.running.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// Draining is closed when the hub drains.
func (h *Hub) Draining() <-chan struct{} { return h.draining }

// Viewers counts the viewers of all rooms.
func (h *Hub) Viewers() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.viewers
}

// room draws one session for its viewers. Its loop runs while it has any.
type room struct {
	hub    *Hub
	id     ID
	cancel context.CancelFunc
	join   chan struct{} // a further viewer has come
	count  int           // of viewers, under the hub's lock

	mu      sync.Mutex
	pieces  []Piece
	version []uint64      // of each piece: the frame that changed it
	frame   uint64        // of the newest
	changed chan struct{} // closed at the next frame
	broken  bool

	// The loop's own.
	record Record
	run    course.Run
}

// Viewer is one watcher of a session. It remembers the versions it has and no
// bytes: one that lags gets the newest of what changed, never a backlog.
type Viewer struct {
	room *room
	have []uint64
	left bool
}

// Join adds a viewer to the session's room, or returns [ErrDraining]. It does
// not look whether the session exists: one that does not has nothing to draw.
func (h *Hub) Join(id ID) (*Viewer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.drained {
		return nil, ErrDraining
	}
	r := h.rooms[id]
	if r == nil {
		ctx, cancel := context.WithCancel(context.Background())
		r = &room{hub: h, id: id, cancel: cancel, join: make(chan struct{}, 1), changed: make(chan struct{})}
		h.rooms[id] = r
		h.running.Go(func() { r.watch(ctx) })
	} else {
		select {
		case r.join <- struct{}{}:
		default:
		}
	}
	r.count++
	h.viewers++
	return &Viewer{room: r}, nil
}

// Leave takes the viewer out of its room. The last one out ends the room.
func (v *Viewer) Leave() {
	r := v.room
	h := r.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if v.left {
		return
	}
	v.left = true
	r.count--
	h.viewers--
	if r.count == 0 {
		r.cancel()
		if h.rooms[r.id] == r {
			delete(h.rooms, r.id)
		}
	}
}

// Next waits until there is something that the viewer does not have, and
// returns the newest of it, in the frame's order. It returns ctx's error,
// [ErrDraining] or [ErrBroken].
func (v *Viewer) Next(ctx context.Context) ([]Piece, error) {
	r := v.room
	for {
		select {
		case <-r.hub.draining:
			return nil, ErrDraining
		default:
		}
		r.mu.Lock()
		changed, broken := r.changed, r.broken
		var news []Piece
		if v.have == nil && r.pieces != nil {
			v.have = make([]uint64, len(r.pieces))
		}
		for i, p := range r.pieces {
			if r.version[i] > v.have[i] {
				v.have[i] = r.version[i]
				news = append(news, p)
			}
		}
		r.mu.Unlock()
		if news != nil {
			return news, nil
		}
		if broken {
			return nil, ErrBroken
		}
		select {
		case <-changed:
		case <-r.hub.draining:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// watch is the room's life. The store is asked here, where a slow answer keeps
// no other room waiting.
func (r *room) watch(ctx context.Context) {
	updates, err := r.hub.store.Watch(ctx, r.id)
	if err == nil {
		r.loop(ctx, updates)
	} else if ctx.Err() == nil {
		r.hub.log.Warn("watching a session failed", "error", err)
	}
	r.leave(ctx)
}

// loop draws a frame whenever the session changes, its clock comes to the next
// event or whole second, or a further viewer comes. It ends with the watch, or
// with a state that cannot be shown.
func (r *room) loop(ctx context.Context, updates <-chan Record) {
	var last time.Time
	wake := time.NewTimer(time.Hour)
	defer wake.Stop()
	touch := time.NewTicker(touchEvery)
	defer touch.Stop()
	for {
		select {
		case rec, ok := <-updates:
			if !ok {
				return
			}
			if err := r.take(rec); err != nil {
				r.hub.log.Error("showing a session failed", "error", err)
				return
			}
		case <-r.join:
		case <-wake.C:
		case <-touch.C:
			r.touch(ctx)
			continue
		}
		if r.run == nil { // nothing has come from the store yet
			continue
		}
		if early := updateGap - time.Since(last); early > 0 {
			wake.Reset(early)
			continue
		}
		last = time.Now()
		f := r.record.State.FrameAt(r.run, last)
		r.draw(f)
		wake.Stop()
		if f.Playing {
			second := (f.T/setting.Second + 1) * setting.Second
			wake.Reset(max(tickGap, f.State.Clock.Until(min(f.Until, second), last)))
		}
	}
}

// take makes rec what the room shows. The error says why it cannot be shown.
func (r *room) take(rec Record) error {
	if r.run != nil && rec.Revision <= r.record.Revision {
		return nil
	}
	was, is := r.record.State, rec.State
	if r.run != nil && is.Lesson != was.Lesson {
		// Its viewers have another lesson's page around the pieces.
		return fmt.Errorf("%w: it was of lesson %s and is of %s", ErrUnopenable, was.Lesson, setting.Quote(is.Lesson))
	}
	if r.run == nil || is.Query != was.Query {
		view, err := is.Open(r.hub.lessons)
		if err != nil {
			return err
		}
		r.run = view.Run()
	}
	r.record = rec
	return nil
}

// draw renders f and makes what is new in it known to the viewers.
func (r *room) draw(f Frame) {
	pieces, err := r.hub.renderer.Render(f)
	if err != nil {
		r.hub.log.Error("drawing a frame failed", "error", err)
		return
	}
	r.mu.Lock()
	first := r.pieces == nil
	r.mu.Unlock()
	if !first && len(pieces) != len(r.pieces) {
		r.hub.log.Error("drawing a frame failed", "error", fmt.Sprintf("%d pieces after %d", len(pieces), len(r.pieces)))
		return
	}
	// Only this loop writes pieces, so they can be compared and packed without
	// keeping viewers waiting.
	fresh := make([]bool, len(pieces))
	any := false
	for i := range pieces {
		if fresh[i] = first || !bytes.Equal(pieces[i].Plain, r.pieces[i].Plain); fresh[i] {
			r.hub.renderer.Pack(&pieces[i])
			any = true
		}
	}
	if !any {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if first {
		r.pieces, r.version = make([]Piece, len(pieces)), make([]uint64, len(pieces))
	}
	r.frame++
	for i, p := range pieces {
		// The last piece ends the frame: it goes out with every one.
		if fresh[i] {
			r.pieces[i], r.version[i] = p, r.frame
		}
	}
	r.version[len(pieces)-1] = r.frame
	close(r.changed)
	r.changed = make(chan struct{})
}

// leave ends the room when its watch has ended: because the last viewer left,
// or because the watch broke or the state cannot be shown: its viewers are told.
func (r *room) leave(ctx context.Context) {
	if ctx.Err() != nil {
		// The session's time to live counts from its last viewer.
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		r.touch(after)
		return
	}
	h := r.hub
	h.mu.Lock()
	if h.rooms[r.id] == r {
		delete(h.rooms, r.id)
	}
	h.mu.Unlock()
	r.cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken = true
	close(r.changed)
	r.changed = make(chan struct{})
}

// touch writes the session as it is, so that its time to live starts anew.
func (r *room) touch(ctx context.Context) {
	if r.run == nil {
		return
	}
	_, err := r.hub.store.Update(ctx, r.id, r.record.State, r.record.Revision)
	if err != nil && !errors.Is(err, ErrConflict) { // a conflict is a newer write, as good
		r.hub.log.Warn("keeping a session failed", "error", err)
	}
}
