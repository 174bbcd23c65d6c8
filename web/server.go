// Package web serves the course: for every lesson of the register its page,
// forms, streams, sessions, links, frames and pictures, and beside them the
// API's description and the health probes. It turns errors into responses.
//
// What a lesson is it asks the lesson; it knows none by its name.
package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"

	"drainlab/internal/course"
	"drainlab/internal/session"
	"drainlab/web/answer"
	"drainlab/web/wire"
)

// New returns the handler that serves these lessons. Sessions are kept in
// store.
//
// The handler's addresses under /embed may be framed by site's hosts, all
// others by none.
func New(lessons *course.Register, store session.Store, readiness Readiness, site Site, log *slog.Logger) (*Server, error) {
	compress, err := gzhttp.NewWrapper(gzhttp.MinSize(512), gzhttp.CompressionLevel(5))
	if err != nil {
		return nil, fmt.Errorf("making the compressor: %w", err)
	}
	s := &Server{lessons: lessons, site: site, pictures: newPictureCache(), store: store, readiness: readiness, packer: &wire.Packer{}, log: log}
	if s.assets, err = loadAssets(styles(lessons)); err != nil {
		return nil, fmt.Errorf("loading the static files: %w", err)
	}
	if s.description, err = describeAPI(lessons); err != nil {
		return nil, fmt.Errorf("describing the API: %w", err)
	}
	s.hub = session.NewHub(store, lessons, drawer{s.packer}, log)
	s.heartbeat = session.Piece{Name: "heartbeat", Plain: []byte(":\n\n")}
	s.packer.Pack(&s.heartbeat)
	if s.assets.urls["client.js"] == "" {
		log.Warn("the browser client is not built: pages work by forms and links, without play; make generate builds it")
	}
	s.Handler = s.routes(func(h http.Handler) http.Handler { return compress(h) })
	return s, nil
}

// styles are the lessons' own rules by the lessons' ids.
func styles(lessons *course.Register) map[string]string {
	byID := map[string]string{}
	for _, l := range lessons.All() {
		if styled, ok := l.(answer.Styled); ok {
			byID[l.About().ID] = styled.Style()
		}
	}
	return byID
}

// Drain makes readiness false and tells all streams to end and reconnect.
func (s *Server) Drain() { s.hub.Drain() }

// Wait ends what the lessons have under way, and waits until what the streams
// have left to do in the store is done, or ctx ends. It comes after Drain.
func (s *Server) Wait(ctx context.Context) error {
	var errs []error
	for _, l := range s.lessons.All() {
		if closed, ok := l.(answer.Closed); ok {
			errs = append(errs, closed.Close(ctx))
		}
	}
	s.hub.Wait(ctx)
	return errors.Join(errs...)
}

// Classify names the class of a request for the ledger, and says whether it is
// a stream.
func Classify(r *http.Request) (class string, stream bool) {
	path := r.URL.Path
	switch {
	case r.Method == http.MethodGet && strings.HasSuffix(path, "/stream"):
		return "stream", true
	case strings.HasPrefix(path, "/api/"):
		return "api", false
	case strings.HasPrefix(path, "/static/"):
		return "static", false
	case r.Method == http.MethodPost:
		return "command", false
	}
	return "page", false
}

// The rest is what the server lends to a lesson's own routes.

// Base implements [answer.Tools].
func (s *Server) Base(r *http.Request) string { return s.base(r) }

// Draining implements [answer.Tools].
func (s *Server) Draining() <-chan struct{} { return s.hub.Draining() }

// Log implements [answer.Tools].
func (s *Server) Log() *slog.Logger { return s.log }

// Stream implements [answer.Tools].
func (s *Server) Stream(w http.ResponseWriter, r *http.Request) *wire.Stream {
	return wire.Open(w, r, s.packer)
}

// Draw implements [answer.Tools].
func (s *Server) Draw(ctx context.Context, key string, draw func(io.Writer) error) ([]byte, error) {
	return s.pictures.get(ctx, key, draw)
}
