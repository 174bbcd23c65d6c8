package wire

import (
	"encoding/binary"
	"hash/crc32"
	"net/http"
	"strconv"
	"strings"
	"time"

	"drainlab/internal/lifecycle"
	"drainlab/internal/session"
)

// HeartbeatEvery is how often a stream without news sends a comment.
const HeartbeatEvery = 15 * time.Second

// writeLimit is how long a viewer may take to accept bytes.
const writeLimit = 10 * time.Second

// Stream writes events to one viewer: as they are, or as one gzip stream made
// of pieces that were packed once for all viewers. Its own state is a
// checksum and a length.
type Stream struct {
	w      http.ResponseWriter
	rc     *http.ResponseController
	zipped bool
	crc    uint32
	size   uint32
	packer *Packer
}

// gzipHeader is RFC 1952's fixed header: deflate, no flags, no time, unknown system.
var gzipHeader = [...]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}

// Open begins an answer of events. It ends with [Stream.Close].
func Open(w http.ResponseWriter, r *http.Request, packer *Packer) *Stream {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx would hold events back
	h.Add("Vary", "Accept-Encoding")
	s := &Stream{w: w, rc: http.NewResponseController(w), packer: packer, zipped: Accepts(r, "gzip")}
	if s.zipped {
		h.Set("Content-Encoding", "gzip")
	}
	w.WriteHeader(http.StatusOK)
	if s.zipped {
		w.Write(gzipHeader[:])
	}
	return s
}

// Send writes pieces and flushes. An error means that the viewer is gone or
// took no bytes for too long.
func (s *Stream) Send(pieces ...session.Piece) error {
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

// SendPlain sends an event that is this viewer's alone.
func (s *Stream) SendPlain(event []byte) error {
	p := session.Piece{Plain: event}
	if s.zipped {
		s.packer.Pack(&p)
	}
	return s.Send(p)
}

// Finish sends the stream's terminal marker, a last signal that tells the page
// why the stream ends. Only then is the stream complete in the ledger.
func (s *Stream) Finish(r *http.Request, signal string) {
	event, err := PatchSignals(map[string]bool{signal: true})
	if err == nil && s.SendPlain(event) == nil {
		lifecycle.FromContext(r.Context()).Complete()
	}
}

// Close ends the gzip stream by its last block, checksum and length.
func (s *Stream) Close() {
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

// Accepts reports whether the client takes an encoding: named, and not with a
// quality of 0.
func Accepts(r *http.Request, encoding string) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		if !strings.EqualFold(strings.TrimSpace(name), encoding) {
			continue
		}
		q, weighed := strings.CutPrefix(strings.ReplaceAll(strings.ToLower(params), " ", ""), "q=")
		weight, err := strconv.ParseFloat(q, 64)
		return !weighed || err == nil && weight > 0
	}
	return false
}
