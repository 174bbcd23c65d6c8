package web

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"drainlab/web/answer"
)

// observe logs and guards each request. The log names the route, not
// the path and query: those may hold a session's id and a learner's settings.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		// A client that takes no bytes must not hold a request for ever; streams
		// set a deadline for each of their writes.
		if err := http.NewResponseController(w).SetWriteDeadline(start.Add(answer.IdleLimit)); err != nil {
			s.log.Debug("no write deadline", "error", err)
		}
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler {
					panic(p)
				}
				s.log.Error("a handler panicked", "panic", p, "stack", string(debug.Stack()))
				if ww.Status() == 0 {
					s.fail(ww, r, fmt.Errorf("panic: %v", p))
				}
			}
			route := chi.RouteContext(r.Context()).RoutePattern()
			level := slog.LevelInfo
			if IsProbe(r) { // asked every few seconds
				level = slog.LevelDebug
			}
			s.log.LogAttrs(r.Context(), level, "request", slog.String("method", r.Method), slog.String("route", route),
				slog.Int("status", ww.Status()), slog.Int("bytes", ww.BytesWritten()), slog.Duration("took", time.Since(start)))
		}()
		next.ServeHTTP(ww, r)
	})
}

func secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}

// framable lets hosts frame what is under /embed.
func (s *Server) framable(next http.Handler) http.Handler {
	policy := strings.Replace(contentPolicy, "frame-ancestors 'none'", "frame-ancestors "+cmp.Or(s.site.Frames, "*"), 1)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Del("Cross-Origin-Opener-Policy")
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
		next.ServeHTTP(w, r)
	})
}

// ownPages refuses what a page of another origin has a visitor's browser post:
// it would spend the visitor's share of the server.
func (s *Server) ownPages(next http.Handler) http.Handler {
	guard := http.NewCrossOriginProtection()
	guard.SetDenyHandler(s.handle(func(http.ResponseWriter, *http.Request) error {
		return &answer.Error{Status: http.StatusForbidden, Sentence: "This form may be sent from the course's own pages only."}
	}))
	return guard.Handler(next)
}

// openToAll lets pages of any origin read the answer. It has no credentials.
func openToAll(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		next.ServeHTTP(w, r)
	})
}

// preflight answers what a browser asks before a request from another origin
// with these headers.
func preflight(headers string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST")
		h.Set("Access-Control-Allow-Headers", headers)
		h.Set("Access-Control-Max-Age", "86400")
		w.WriteHeader(http.StatusNoContent)
	}
}
