package web

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"net/http"
	"time"

	"drainlab/internal/lifecycle"
	"drainlab/internal/session"
)

const (
	heartbeatEvery = 15 * time.Second
	// writeLimit is how long a viewer may take to accept bytes.
	writeLimit = 10 * time.Second
)

// stream writes events to one viewer: as they are, or as one gzip stream made
// of pieces that were packed once for all viewers. Its own state is a
// checksum and a length.
type stream struct {
	w      http.ResponseWriter
	rc     *http.ResponseController
	zipped bool
	crc    uint32
	size   uint32
	d      *renderer
}

// gzipHeader is RFC 1952's fixed header: deflate, no flags, no time, unknown system.
var gzipHeader = [...]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}

func openStream(w http.ResponseWriter, r *http.Request, d *renderer) *stream {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx would hold events back
	h.Add("Vary", "Accept-Encoding")
	s := &stream{w: w, rc: http.NewResponseController(w), d: d, zipped: acceptsGzip(r)}
	if s.zipped {
		h.Set("Content-Encoding", "gzip")
	}
	w.WriteHeader(http.StatusOK)
	if s.zipped {
		w.Write(gzipHeader[:])
	}
	return s
}

// send writes pieces and flushes. An error means that the viewer is gone or
// took no bytes for too long.
func (s *stream) send(pieces ...session.Piece) error {
	if err := s.rc.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
		return err
	}
	for _, p := range pieces {
		data := p.Plain
		if s.zipped {
			data = p.Packed
			s.crc = crc32.Update(s.crc, crc32.IEEETable, p.Plain)
			s.size += uint32(len(p.Plain))
		}
		if _, err := s.w.Write(data); err != nil {
			return err
		}
	}
	return s.rc.Flush()
}

// sendPlain sends an event that is this viewer's alone.
func (s *stream) sendPlain(event []byte) error {
	p := session.Piece{Plain: event}
	if s.zipped {
		s.d.Pack(&p)
	}
	return s.send(p)
}

// finish sends the stream's terminal marker, a last signal that tells the page
// why the stream ends. Only then is the stream complete in the ledger.
func (s *stream) finish(r *http.Request, signal string) {
	event, err := patchSignals(map[string]bool{signal: true})
	if err == nil && s.sendPlain(event) == nil {
		lifecycle.FromContext(r.Context()).Complete()
	}
}

// close ends the gzip stream by its last block, checksum and length.
func (s *stream) close() {
	if !s.zipped {
		return
	}
	end := []byte{3, 0}
	end = binary.LittleEndian.AppendUint32(end, s.crc)
	end = binary.LittleEndian.AppendUint32(end, s.size)
	if s.rc.SetWriteDeadline(time.Now().Add(writeLimit)) == nil {
		s.w.Write(end)
	}
}

// watch streams the session to one viewer until it goes, lags too long, or the
// server drains.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, id session.ID) error {
	viewer, err := s.hub.Join(id)
	if err != nil {
		return err
	}
	defer viewer.Leave()
	out := openStream(w, r, s.renderer)
	defer out.close()
	hello, err := patchSignals(map[string]string{"session": string(id)})
	if err != nil {
		return err
	}
	if out.sendPlain(hello) != nil {
		return nil
	}
	for {
		ctx, cancel := context.WithTimeout(r.Context(), heartbeatEvery)
		pieces, err := viewer.Next(ctx)
		cancel()
		switch {
		case err == nil:
			err = out.send(pieces...)
		case errors.Is(err, session.ErrDraining), errors.Is(err, session.ErrBroken):
			out.finish(r, "reconnect")
			return nil
		case r.Context().Err() == nil: // the heartbeat is due
			err = out.send(s.heartbeat)
		}
		if err != nil {
			return nil // the viewer is gone
		}
	}
}
