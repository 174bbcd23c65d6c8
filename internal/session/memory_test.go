package session_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"drainlab/internal/session"
	"drainlab/internal/session/storetest"
)

// memory is a [session.Store] whose faults a test chooses. It keeps the bytes
// of a state, as a real store does.
type memory struct {
	mu       sync.Mutex
	last     uint64
	values   map[session.ID][]byte
	revision map[session.ID]uint64
	watches  map[session.ID]map[chan session.Record]bool

	latency   time.Duration // of Get and Update
	conflicts int           // of updates, counted
	watched   int           // calls of Watch, counted
	held      bool          // watches send nothing
	refused   error         // of Watch and Update
	silent    bool          // Watch answers only when its context ends
}

func newMemory() *memory {
	return &memory{values: map[session.ID][]byte{}, revision: map[session.ID]uint64{},
		watches: map[session.ID]map[chan session.Record]bool{}}
}

func TestMemoryStore(t *testing.T) { storetest.Run(t, newMemory()) }

// fail sets the store's faults.
func (m *memory) fail(change func(*memory)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(m)
}

func (m *memory) Get(_ context.Context, id session.ID) (session.Record, error) {
	m.pass()
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.get(id)
}

func (m *memory) get(id session.ID) (session.Record, error) {
	value, ok := m.values[id]
	if !ok {
		return session.Record{}, session.ErrNotFound
	}
	rec := session.Record{Revision: m.revision[id]}
	err := json.Unmarshal(value, &rec.State)
	return rec, err
}

func (m *memory) Create(_ context.Context, id session.ID, s session.State) (session.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.values[id]; ok {
		return session.Record{}, session.ErrExists
	}
	return m.put(id, s)
}

func (m *memory) Update(ctx context.Context, id session.ID, s session.State, revision uint64) (session.Record, error) {
	m.pass()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refused != nil {
		return session.Record{}, m.refused
	}
	if err := ctx.Err(); err != nil {
		return session.Record{}, err
	}
	if _, ok := m.values[id]; !ok || m.revision[id] != revision {
		m.conflicts++
		return session.Record{}, session.ErrConflict
	}
	return m.put(id, s)
}

// pass lets the store's latency pass, which is the bubble's time.
func (m *memory) pass() {
	m.mu.Lock()
	latency := m.latency
	m.mu.Unlock()
	if latency > 0 {
		time.Sleep(latency)
	}
}

func (m *memory) put(id session.ID, s session.State) (session.Record, error) {
	value, err := json.Marshal(s)
	if err != nil {
		return session.Record{}, err
	}
	m.last++
	m.values[id], m.revision[id] = value, m.last
	if !m.held {
		for records := range m.watches[id] {
			m.send(id, records)
		}
	}
	return session.Record{State: s, Revision: m.last}, nil
}

func (m *memory) send(id session.ID, records chan session.Record) {
	rec, err := m.get(id)
	if err != nil {
		return
	}
	select { // a record not yet taken is overtaken
	case <-records:
	default:
	}
	records <- rec
}

func (m *memory) Watch(ctx context.Context, id session.ID) (<-chan session.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watched++
	if m.silent {
		m.mu.Unlock()
		<-ctx.Done()
		m.mu.Lock()
		return nil, ctx.Err()
	}
	if m.refused != nil {
		return nil, m.refused
	}
	records := make(chan session.Record, 1)
	if m.watches[id] == nil {
		m.watches[id] = map[chan session.Record]bool{}
	}
	m.watches[id][records] = true
	m.send(id, records)
	context.AfterFunc(ctx, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.end(id, records)
	})
	return records, nil
}

func (m *memory) end(id session.ID, records chan session.Record) {
	if m.watches[id][records] {
		delete(m.watches[id], records)
		close(records)
	}
}

// breakWatches ends all watches of the session under their readers.
func (m *memory) breakWatches(id session.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for records := range m.watches[id] {
		m.end(id, records)
	}
}

// watching counts the watches of the session that are open.
func (m *memory) watching(id session.ID) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.watches[id])
}

// again sends the watches a record that is not the store's present one, as
// one that comes late.
func (m *memory) again(id session.ID, rec session.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for records := range m.watches[id] {
		records <- rec
	}
}
