package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"

	"drainlab/internal/course"
	"drainlab/internal/session"
	"drainlab/web/templates"
	"drainlab/web/wire"
)

// drawer draws frames as events for the rooms.
type drawer struct{ *wire.Packer }

// clock is the signal that ends each frame: where the player stands, and the
// view that all viewers share, for the address bar.
type clock struct {
	T       float64 `json:"t"` // seconds
	End     float64 `json:"end"`
	Speed   float64 `json:"speed"`
	Playing bool    `json:"playing"`
	Until   float64 `json:"until"` // the frame after this one comes then
	Query   string  `json:"query"`
}

// Render implements [session.Renderer].
func (d drawer) Render(f session.Frame) ([]session.Piece, error) {
	end := f.Run.End()
	transport := templates.NewTransport(f.T, end, f.Playing, f.State.Clock.Speed)
	parts := append(f.Run.Live(f.Frame), course.Part{ID: "transport", Body: templates.TransportFragment(transport)})
	pieces := make([]session.Piece, 0, len(parts)+1)
	for _, p := range parts {
		var html bytes.Buffer
		if err := p.Body.Render(context.Background(), &html); err != nil {
			return nil, fmt.Errorf("rendering %s: %w", p.ID, err)
		}
		event, err := wire.PatchElements(html.String())
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, session.Piece{Name: p.ID, Plain: event})
	}
	signals, err := wire.PatchSignals(clock{
		T: f.Exact.Seconds(), End: float64(end) / 10, Speed: float64(f.State.Clock.Speed) / 2, Playing: f.Playing,
		Until: float64(f.Until) / 10, Query: f.State.Query,
	})
	if err != nil {
		return nil, err
	}
	return append(pieces, session.Piece{Name: "clock", Plain: signals}), nil
}

// watch streams the session to one viewer until it goes, lags too long, or the
// server drains.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, id session.ID) error {
	viewer, err := s.hub.Join(id)
	if err != nil {
		return err
	}
	defer viewer.Leave()
	out := s.Stream(w, r)
	defer out.Close()
	hello, err := wire.PatchSignals(map[string]string{"session": string(id)})
	if err != nil {
		return err
	}
	if out.SendPlain(hello) != nil {
		return nil
	}
	for {
		ctx, cancel := context.WithTimeout(r.Context(), wire.HeartbeatEvery)
		pieces, err := viewer.Next(ctx)
		cancel()
		switch {
		case err == nil:
			err = out.Send(pieces...)
		case errors.Is(err, session.ErrDraining), errors.Is(err, session.ErrBroken):
			out.Finish(r, "reconnect")
			return nil
		case r.Context().Err() == nil: // the heartbeat is due
			err = out.Send(s.heartbeat)
		}
		if err != nil {
			return nil // the viewer is gone
		}
	}
}
