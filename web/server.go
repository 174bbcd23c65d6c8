// Package web serves the course: pages, forms, the streams of the rooms, the
// API and the health probes. It fills the templates' views and turns errors
// into responses; what a run is it must not know.
package web

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/klauspost/compress/gzhttp"

	"drainlab/internal/session"
	"drainlab/internal/sim"
	"drainlab/web/templates"
)

// Readiness is what the readiness probe asks: whether sessions can be kept.
type Readiness interface {
	Ready(context.Context) error
}

// Site is what the server is told of its surroundings.
type Site struct {
	// PublicURL is the scheme and host under which the world reaches the server,
	// without a slash at the end; empty: those of each request.
	PublicURL string
	// Frames is the list of hosts that may frame a lesson, in the words of the
	// content policy's frame-ancestors; empty: all, "*".
	Frames string
}

// Server is the course's HTTP handler.
type Server struct {
	http.Handler
	site        Site
	cards       *cardCache
	store       session.Store
	readiness   Readiness
	hub         *session.Hub
	renderer    *renderer
	heartbeat   session.Piece
	assets      assets
	runs        *runQueue
	drawing     chan struct{} // a place for each record that is being drawn
	stopRuns    context.CancelFunc
	recorded    fixtureRun // of the reference settings, for who has run none yet
	recordedOn  string
	story       templates.Story
	clockCases  []templates.ClockCase
	clocksStory templates.ClocksStory
	log         *slog.Logger
}

// New returns the handler. Sessions are kept in store, runs of the fixture
// are made by driller.
//
// The handler's addresses under /embed may be framed by site's hosts, all
// others by none.
func New(store session.Store, readiness Readiness, driller Driller, site Site, log *slog.Logger) (*Server, error) {
	compress, err := gzhttp.NewWrapper(gzhttp.MinSize(512), gzhttp.CompressionLevel(5))
	if err != nil {
		return nil, fmt.Errorf("making the compressor: %w", err)
	}
	a, err := loadAssets()
	if err != nil {
		return nil, fmt.Errorf("loading the static files: %w", err)
	}
	s := &Server{site: site, cards: newCardCache(), store: store, readiness: readiness, renderer: newRenderer(), assets: a, story: buildStory(), clockCases: buildClockCases(), clocksStory: buildClocksStory(), log: log}
	s.hub = session.NewHub(store, s.renderer, log)
	if s.recorded, s.recordedOn, err = loadRecorded(); err != nil {
		return nil, err
	}
	var runs context.Context
	runs, s.stopRuns = context.WithCancel(context.Background())
	s.runs = newRunQueue(runs, driller, log)
	s.drawing = make(chan struct{}, drawnAtOnce)
	s.heartbeat = session.Piece{Name: "heartbeat", Plain: []byte(":\n\n")}
	s.renderer.Pack(&s.heartbeat)
	if a.urls["client.js"] == "" {
		log.Warn("the browser client is not built: pages work by forms and links, without play; make generate builds it")
	}
	s.Handler = s.routes(func(h http.Handler) http.Handler { return compress(h) })
	return s, nil
}

// Drain makes readiness false and tells all streams to end and reconnect.
func (s *Server) Drain() {
	s.runs.close()
	s.hub.Drain()
}

// Wait waits until what the streams have left to do in the store is done, or
// ctx ends. It comes after Drain.
func (s *Server) Wait(ctx context.Context) error {
	// A run under way is a process of its own: it is ended, not waited for.
	s.stopRuns()
	s.hub.Wait(ctx)
	return s.runs.wait(ctx)
}

// IsProbe reports whether a request is a platform's question after the
// process, which is answered in every state and is in no ledger.
func IsProbe(r *http.Request) bool { return r.URL.Path == "/livez" || r.URL.Path == "/readyz" }

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

func (s *Server) routes(compress func(http.Handler) http.Handler) http.Handler {
	r := chi.NewRouter()
	r.Use(s.observe, secure, middleware.GetHead)
	r.NotFound(s.handle(func(http.ResponseWriter, *http.Request) error {
		return errNoPage
	}))
	r.MethodNotAllowed(s.handle(func(_ http.ResponseWriter, r *http.Request) error {
		if methodsOf(r) == "" { // chi says so of any address where it does not know the method
			return errNoPage
		}
		return &requestError{status: http.StatusMethodNotAllowed, sentence: "This address does not take " + sim.Quote(r.Method) + "."}
	}))
	r.Get("/livez", func(w http.ResponseWriter, _ *http.Request) { writePlain(w, http.StatusOK, "alive") })
	r.Get("/readyz", s.readyz)
	r.Get("/static/*", s.handle(s.assets.serve))

	r.Group(func(r chi.Router) {
		r.Use(compress)
		r.Get("/", s.handle(s.home))
		r.Get("/lessons/drain", s.handle(s.drainPage))
		r.Get("/lessons/drain/analysis", s.handle(s.drainAnalysis))
		r.Get("/lessons/drain/share", s.handle(s.sharePage))
		r.Get("/lessons/drain/handout", s.handle(s.handoutPage))
		r.Get("/lessons/drain/qr.svg", s.handle(s.qrCode))
		r.Get("/lessons/drain/lanes.svg", s.handle(s.lanesSVG))
		r.Get("/teach", s.handle(s.teachPage))
		r.Get("/sessions/{id}", s.handle(s.sessionPage))
		r.Get("/lessons/ledgers", s.handle(s.ledgersPage))
		r.Get("/lessons/ledgers/runs/{id}", s.handle(s.runPage))
		r.With(s.ownPages).Post("/lessons/ledgers/record", s.handle(s.drawRecord))
		r.Get("/lessons/clocks", s.handle(s.clocksPage))
		r.Get("/lessons/clocks/files/{file}", s.handle(s.clocksFile))
		r.Get("/lessons/clocks/share", s.handle(s.clocksSharePage))
		r.Get("/lessons/clocks/qr.svg", s.handle(s.clocksQRCode))
		r.Group(func(r chi.Router) {
			r.Use(s.framable, openToAll)
			r.Get("/embed/lessons/drain", s.handle(s.drainPage))
			r.Get("/embed/lessons/drain/analysis", s.handle(s.drainAnalysis))
			r.Get("/embed/lessons/clocks", s.handle(s.clocksPage))
			r.Get("/embed/lessons/clocks/files/{file}", s.handle(s.clocksFile))
			r.Get("/embed/lessons/ledgers", s.handle(s.ledgersPage))
			r.Get("/embed/doctor", s.handle(s.doctorPage))
			r.Get("/oembed", s.handle(s.oembed))
		})
		r.Group(func(r chi.Router) {
			r.Use(openToAll)
			r.Get("/api/v1/run", s.handle(s.apiRun))
			r.Get("/api/v1/clocks", s.handle(s.apiClocks))
			r.Get("/api/v1/openapi.json", s.handle(s.apiDescription))
			r.Post("/api/v1/fixture-runs", s.handle(s.apiStartRun))
			r.Get("/api/v1/fixture-runs/{id}", s.handle(s.apiLookRun))
			r.Get("/api/v1/fixture-runs/{id}/record", s.handle(s.apiRunRecord))
			for _, path := range []string{"/api/v1/run", "/api/v1/runs", "/api/v1/clocks", "/api/v1/clocks/runs", "/api/v1/openapi.json", "/api/v1/fixture-runs"} {
				r.Options(path, preflight("Content-Type"))
			}
		})
	})
	r.Post("/lessons/drain", s.handle(s.drainForm))
	for _, lesson := range []string{"drain", "clocks", "ledgers"} {
		r.Get("/lessons/"+lesson+"/card.png", s.handle(s.card))
	}
	r.Get("/lessons/drain/lanes.png", s.handle(s.lanesPNG))
	r.Get("/card.png", s.handle(s.card))
	r.Group(func(r chi.Router) {
		r.Use(s.framable, openToAll)
		r.Post("/embed/lessons/drain", s.handle(s.drainForm))
		r.Post("/embed/lessons/clocks", s.handle(s.clocksForm))
		r.Get("/embed/lessons/drain/stream", s.handle(s.viewStream))
	})
	r.With(s.ownPages).Post("/lessons/ledgers/runs", s.handle(s.startRun))
	r.Get("/lessons/ledgers/runs/{id}/stream", s.handle(s.runStream))
	r.Post("/sessions", s.handle(s.createSession))
	// A frame in a sandbox has an origin of its own: it streams and posts across
	// origins, without credentials.
	r.With(openToAll).Post("/sessions/{id}", s.handle(s.command))
	for _, path := range []string{"/sessions/{id}", "/embed/lessons/drain/analysis", "/embed/lessons/clocks"} {
		r.With(openToAll).Options(path, preflight(clientHeader))
	}
	r.Get("/lessons/drain/stream", s.handle(s.viewStream))
	r.With(openToAll).Get("/sessions/{id}/stream", s.handle(s.sessionStream))
	r.Post("/lessons/clocks", s.handle(s.clocksForm))
	r.With(openToAll).Post("/api/v1/runs", s.handle(s.apiRuns))
	r.With(openToAll).Post("/api/v1/clocks/runs", s.handle(s.apiClocksRuns))
	return r
}

// observe logs and guards each request. The log names the route, not
// the path and query: those may hold a session's id and a learner's settings.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		// A client that takes no bytes must not hold a request for ever; streams
		// set a deadline for each of their writes.
		if err := http.NewResponseController(w).SetWriteDeadline(start.Add(idleLimit)); err != nil {
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

// contentPolicy allows what the page needs and nothing else.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

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
		return &requestError{status: http.StatusForbidden, sentence: "This form may be sent from the course's own pages only."}
	}))
	return guard.Handler(next)
}

// openToAll lets pages of any origin read the API. It has no credentials.
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

// render answers with a page, rendered whole before its first byte goes out.
func (s *Server) render(w http.ResponseWriter, r *http.Request, status int, c templ.Component) {
	var page bytes.Buffer
	if err := c.Render(r.Context(), &page); err != nil {
		if r.Context().Err() != nil {
			return // nobody is there to read it
		}
		s.log.Error("rendering a page failed", "error", err)
		http.Error(w, "The page could not be rendered.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write(page.Bytes())
}

// forClient reports whether the page's own script asks, which wants a part of
// the page; caches are told that the answer hangs on that.
func forClient(w http.ResponseWriter, r *http.Request) bool {
	w.Header().Add("Vary", clientHeader)
	return r.Header.Get(clientHeader) != ""
}

func (s *Server) page(title, description string) templates.Page {
	return templates.Page{
		Title: title, Description: description,
		Assets: templates.Assets{CSS: s.assets.urls["style.css"], Client: s.assets.urls["client.js"],
			Theme: s.assets.urls["theme.js"], Icon: s.assets.urls["icon.svg"]},
		Lessons: []templates.LessonLink{{Number: 1, Name: "Stop admitting, then drain", Href: "/lessons/drain",
			Summary: "Play the life of a small fleet through a SIGTERM. Find out why accepted requests die, which grace saves them, and what it costs to stop admitting."},
			{Number: 2, Name: "Two ledgers", Href: "/lessons/ledgers",
				Summary: "A real server is started, loaded, drained and signalled. See what became of its requests and, apart from that, of its work."},
			{Number: 3, Name: "Who owns each clock", Href: "/lessons/clocks",
				Summary: "Hook, signal, drain, cleanup, kill: spend one budget with many owners. Find the clock that cuts your longest request, and take the plan with you."}},
	}
}
