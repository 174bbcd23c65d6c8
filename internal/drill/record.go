package drill

import (
	"bytes"
	"context"
	"io"
	"os"
	"time"

	"drainlab/internal/ledger"
)

// note adds an event and tells it.
func (r *run) note(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	if e.Kind == ledger.WorkStarted && !r.worked {
		r.worked = true
		close(r.started)
	}
	if r.Observe != nil {
		r.Observe(e)
	}
}

func (r *run) see(what, class, detail string) {
	r.note(Event{Seen: what, Event: ledger.Event{At: ledger.Seconds(time.Since(r.start)), Class: class, Detail: detail}})
}

// follow reads the record while it grows.
func (r *run) follow(ctx context.Context) {
	f, err := os.Open(r.record)
	if err != nil {
		return
	}
	defer f.Close()
	var rest []byte
	again := time.NewTicker(15 * time.Millisecond)
	defer again.Stop()
	for last := false; ; {
		data, err := io.ReadAll(f)
		if err != nil {
			return
		}
		rest = append(rest, data...)
		for {
			line, after, whole := bytes.Cut(rest, []byte("\n"))
			if !whole {
				break
			}
			rest = after
			if e, err := ledger.ParseEvent(line); err == nil {
				r.note(Event{Event: e})
			}
		}
		if last {
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			last = true // once more, for what came at the very end
		}
	}
}
