package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"github.com/klauspost/compress/flate"
	"net/http"
	"strings"
	"sync"

	"github.com/a-h/templ"
	"github.com/starfederation/datastar-go/datastar"

	"drainlab/internal/session"
	"drainlab/web/templates"
)

// renderer draws frames as Datastar events for the rooms.
type renderer struct{ deflaters sync.Pool }

func newRenderer() *renderer {
	return &renderer{deflaters: sync.Pool{New: func() any {
		w, err := flate.NewWriter(nil, 5)
		if err != nil {
			panic(err) // the level is a constant
		}
		return w
	}}}
}

// clock is the signal that ends each frame: where the player stands, and the
// view's query for the address bar.
type clock struct {
	T       float64 `json:"t"` // seconds
	Speed   float64 `json:"speed"`
	Playing bool    `json:"playing"`
	Until   float64 `json:"until"` // the frame after this one comes then
	Query   string  `json:"query"` // the settings alone
}

// Render implements [session.Renderer].
func (d *renderer) Render(f session.Frame) ([]session.Piece, error) {
	v := buildFrame(f, 1)
	fragments := []struct {
		name string
		c    templ.Component
	}{
		{"lanes", templates.LanesFragment(v.Lanes)},
		{"transport", templates.TransportFragment(v.Transport)},
		{"gate", templates.GateFragment(v.Gate)},
		{"account", templates.AccountFragment(v.Account)},
		{"controls", templates.ControlsFragment(v.Controls)},
		{"experiments", templates.ExperimentsFragment(v.Experiments)},
		{"inspector", templates.InspectorFragment(v.Inspector)},
		{"results", templates.ResultsFragment(v.Results)},
		{"trace", templates.TraceFragment(v.Trace)},
	}
	pieces := make([]session.Piece, 0, len(fragments)+1)
	for _, fr := range fragments {
		var html bytes.Buffer
		if err := fr.c.Render(context.Background(), &html); err != nil {
			return nil, fmt.Errorf("rendering %s: %w", fr.name, err)
		}
		event, err := patchElements(html.String())
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, session.Piece{Name: fr.name, Plain: event})
	}
	signals, err := patchSignals(clock{
		T: f.Exact.Seconds(), Speed: float64(f.State.Clock.Speed) / 2, Playing: f.Playing,
		Until: float64(f.Until) / 10, Query: string(f.State.Settings.AppendQuery(nil)),
	})
	if err != nil {
		return nil, err
	}
	return append(pieces, session.Piece{Name: "clock", Plain: signals}), nil
}

// Pack implements [session.Renderer]: the piece is deflated with a window of
// its own and ends on a sync flush, so that packed pieces may follow each
// other in any selection.
func (d *renderer) Pack(p *session.Piece) { p.Packed = d.pack(p.Plain) }

func (d *renderer) pack(plain []byte) []byte {
	w := d.deflaters.Get().(*flate.Writer)
	defer d.deflaters.Put(w)
	var b bytes.Buffer
	w.Reset(&b)
	w.Write(plain)
	w.Flush()
	return b.Bytes()
}

// patchElements is the Datastar event that puts the fragment in the place of
// the element with its id. Carriage returns would split the event's lines.
func patchElements(html string) ([]byte, error) {
	return event(func(sse *datastar.ServerSentEventGenerator) error {
		return sse.PatchElements(strings.ReplaceAll(html, "\r", "&#13;"))
	})
}

func patchSignals(signals any) ([]byte, error) {
	data, err := json.Marshal(signals) // escapes carriage returns
	if err != nil {
		return nil, fmt.Errorf("encoding signals: %w", err)
	}
	return event(func(sse *datastar.ServerSentEventGenerator) error { return sse.PatchSignals(data) })
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
