package web

import (
	"net/http"
	"slices"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"drainlab/internal/course"
	"drainlab/internal/setting"
	"drainlab/web/answer"
)

// routes are all addresses: those that every lesson has, those of a lesson's
// own, the course's and the service's.
func (s *Server) routes(compress func(http.Handler) http.Handler) http.Handler {
	r := chi.NewRouter()
	r.Use(s.observe, secure, middleware.GetHead)
	r.NotFound(s.handle(func(http.ResponseWriter, *http.Request) error { return answer.NotFound }))
	r.MethodNotAllowed(s.handle(wrongMethod))
	r.Get("/livez", func(w http.ResponseWriter, _ *http.Request) { writePlain(w, http.StatusOK, "alive") })
	r.Get("/readyz", s.readyz)
	r.Get("/static/*", s.handle(s.assets.serve))
	r.Get("/card.png", s.handle(s.courseCard))
	r.Group(func(r chi.Router) {
		r.Use(compress)
		r.Get("/", s.handle(s.home))
		r.Get("/teach", s.handle(s.teachPage))
		r.Get("/sessions/{id}", s.handle(s.sessionPage))
		r.Group(func(r chi.Router) {
			r.Use(s.framable, openToAll)
			r.Get("/embed/doctor", s.handle(s.doctorPage))
			r.Get("/oembed", s.handle(s.oembed))
		})
		r.With(openToAll).Get("/api/v1/openapi.json", s.handle(s.apiDescription))
	})
	r.Options("/api/v1/openapi.json", openToAll(preflight("Content-Type")).ServeHTTP)
	r.Post("/sessions", s.handle(s.createSession))
	// A frame in a sandbox has an origin of its own: it streams and posts across
	// origins, without credentials.
	r.With(openToAll).Post("/sessions/{id}", s.handle(s.command))
	r.With(openToAll).Options("/sessions/{id}", preflight(answer.ClientHeader))
	r.With(openToAll).Get("/sessions/{id}/stream", s.handle(s.sessionStream))
	for _, l := range s.lessons.All() {
		s.lessonRoutes(r, compress, l)
		if routed, ok := l.(answer.Routed); ok {
			s.ownRoutes(r, compress, routed.Routes(s))
		}
	}
	return r
}

// lessonRoutes are the addresses that every lesson has.
func (s *Server) lessonRoutes(r chi.Router, compress func(http.Handler) http.Handler, l course.Lesson) {
	path := l.About().Path()
	r.Group(func(r chi.Router) {
		r.Use(compress)
		r.Get(path, s.handle(s.lessonPage(l)))
		r.Get(path+"/parts", s.handle(s.ownParts(l)))
		r.Get(path+"/about", s.handle(s.aboutPage(l)))
		r.Get(path+"/share", s.handle(s.sharePage(l)))
		r.Get(path+"/handout", s.handle(s.handoutPage(l)))
		r.Get(path+"/handout/key", s.handle(s.handoutKey(l)))
		r.Get(path+"/qr.svg", s.handle(s.qrCode(l)))
		r.Get(path+"/picture.svg", s.handle(s.picture(l, "svg")))
	})
	r.Get(path+"/picture.png", s.handle(s.picture(l, "png")))
	r.Get(path+"/card.png", s.handle(s.card(l)))
	r.Post(path, s.handle(s.lessonForm(l)))
	if l.About().Sessions {
		r.Get(path+"/stream", s.handle(s.viewStream(l)))
	}
	r.Group(func(r chi.Router) {
		r.Use(s.framable, openToAll)
		r.With(compress).Get("/embed"+path, s.handle(s.lessonPage(l)))
		r.With(compress).Get("/embed"+path+"/parts", s.handle(s.ownParts(l)))
		r.Post("/embed"+path, s.handle(s.lessonForm(l)))
		if l.About().Sessions {
			r.Get("/embed"+path+"/stream", s.handle(s.viewStream(l)))
		}
	})
	r.With(openToAll).Options("/embed"+path+"/parts", preflight(answer.ClientHeader))
}

// ownRoutes are a lesson's own addresses.
func (s *Server) ownRoutes(r chi.Router, compress func(http.Handler) http.Handler, routes []answer.Route) {
	var preflighted []string
	for _, route := range routes {
		var chain chi.Middlewares
		if !route.Raw {
			chain = append(chain, compress)
		}
		if route.Own {
			chain = append(chain, s.ownPages)
		}
		if route.Open {
			chain = append(chain, openToAll)
			if !slices.Contains(preflighted, route.Pattern) {
				preflighted = append(preflighted, route.Pattern)
				r.With(openToAll).Options(route.Pattern, preflight("Content-Type"))
			}
		}
		r.With(chain...).Method(route.Method, route.Pattern, s.handle(route.Handle))
		if route.Framed {
			r.With(append(chi.Middlewares{s.framable, openToAll}, chain...)...).Method(route.Method, "/embed"+route.Pattern, s.handle(route.Handle))
		}
	}
}

// wrongMethod answers where an address does not take the method.
func wrongMethod(_ http.ResponseWriter, r *http.Request) error {
	if methodsOf(r) == "" { // chi says so of any address where it does not know the method
		return answer.NotFound
	}
	return &answer.Error{Status: http.StatusMethodNotAllowed, Sentence: "This address does not take " + setting.Quote(r.Method) + "."}
}
