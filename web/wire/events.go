// Package wire speaks Datastar's events to a browser: fragments and signals,
// packed once for all who get them, as one gzip stream to each.
package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/starfederation/datastar-go/datastar"

	"drainlab/internal/session"
)

// PatchElements is the event that puts each element of html in the place of
// the one with its id. Carriage returns would split the event's lines.
func PatchElements(html string) ([]byte, error) {
	return event(func(sse *datastar.ServerSentEventGenerator) error {
		return sse.PatchElements(strings.ReplaceAll(html, "\r", "&#13;"))
	})
}

// PatchSignals is the event that tells the page values.
func PatchSignals(signals any) ([]byte, error) {
	data, err := json.Marshal(signals) // escapes carriage returns
	if err != nil {
		return nil, fmt.Errorf("encoding signals: %w", err)
	}
	return event(func(sse *datastar.ServerSentEventGenerator) error { return sse.PatchSignals(data) })
}

// Packer compresses pieces that streams are made of. The zero Packer is ready.
type Packer struct{ deflaters sync.Pool }

// Pack fills in Packed from Plain: deflated with a window of its own and ended
// on a sync flush, so that packed pieces may follow each other in any
// selection.
func (d *Packer) Pack(p *session.Piece) {
	w, _ := d.deflaters.Get().(*flate.Writer)
	if w == nil {
		var err error
		if w, err = flate.NewWriter(nil, 5); err != nil {
			panic(err) // the level is a constant
		}
	}
	defer d.deflaters.Put(w)
	var b bytes.Buffer
	w.Reset(&b)
	w.Write(p.Plain)
	w.Flush()
	p.Packed = b.Bytes()
}

// event lets datastar-go write one event into memory.
func event(send func(*datastar.ServerSentEventGenerator) error) ([]byte, error) {
	r, err := http.NewRequest(http.MethodGet, "/", nil)
	if err != nil {
		return nil, err
	}
	w := &memoryWriter{header: http.Header{}}
	if err := send(datastar.NewSSE(w, r)); err != nil {
		return nil, fmt.Errorf("encoding an event: %w", err)
	}
	return w.Bytes(), nil
}

// memoryWriter is a response that stays in memory.
type memoryWriter struct {
	bytes.Buffer
	header http.Header
}

func (w *memoryWriter) Header() http.Header { return w.header }
func (w *memoryWriter) WriteHeader(int)     {}
func (w *memoryWriter) Flush()              {}
