package web

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// IsProbe reports whether a request is a platform's question after the
// process, which is answered in every state and is in no ledger.
func IsProbe(r *http.Request) bool { return r.URL.Path == "/livez" || r.URL.Path == "/readyz" }

// readyz answers whether traffic may be sent here.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	select {
	case <-s.hub.Draining():
		writePlain(w, http.StatusServiceUnavailable, "draining")
		return
	default:
	}
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	if err := s.readiness.Ready(ctx); err != nil {
		s.log.Warn("not ready", "error", err)
		writePlain(w, http.StatusServiceUnavailable, "the session store does not answer")
		return
	}
	writePlain(w, http.StatusOK, "ready")
}

func writePlain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	fmt.Fprintln(w, text)
}
