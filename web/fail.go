package web

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"drainlab/internal/session"
	"drainlab/web/answer"
	"drainlab/web/templates"
)

// handle is the one place that turns errors into responses.
func (s *Server) handle(h answer.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			s.fail(w, r, err)
		}
	}
}

func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	e := answer.Explain(err, ofSession)
	h := w.Header()
	if e.Status == http.StatusMethodNotAllowed {
		h.Set("Allow", methodsOf(r))
	}
	if r.Context().Err() != nil {
		return // nobody is there to read it
	}
	if e.Status >= 500 && e.Status != http.StatusNotImplemented { // which is the asker's to mend
		s.log.LogAttrs(r.Context(), slog.LevelError, "request failed", slog.String("route", chi.RouteContext(r.Context()).RoutePattern()), slog.Any("error", err))
	}
	h.Del("Content-Encoding")
	h.Set("Cache-Control", "no-store")
	if e.Status == http.StatusServiceUnavailable || e.Status == http.StatusTooManyRequests {
		h.Set("Retry-After", "5")
	}
	if wantsJSON(r) {
		if isAPI(r) {
			h.Set("Access-Control-Allow-Origin", "*") // no route's middleware was here for an unknown address
		}
		answer.JSON(w, e.Status, answer.NewErrorBody(e))
		return
	}
	sentence := e.Sentence
	if e.Setting != nil { // a program reads the setting's name, a person its label
		sentence = e.Setting.Sentence()
	}
	if r.Header.Get(answer.ClientHeader) != "" {
		h.Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(e.Status)
		fmt.Fprintln(w, sentence)
		return
	}
	problem := templates.Problem{Page: s.page("Something is not right", "", nil), Status: e.Status, Heading: http.StatusText(e.Status), Sentence: sentence}
	problem.LinkText, problem.Href = s.wayOn(r, err)
	if problem.Framed = answer.Framed(r); problem.Framed && !strings.HasPrefix(problem.Href, "/embed/") {
		problem.Href = "/embed" + problem.Href // what a lesson leads back to is framed too
	}
	if err := answer.Page(w, r, e.Status, templates.ProblemPage(problem)); err != nil {
		s.log.Error("rendering a page failed", "error", err)
	}
}

// wayOn is where a person goes from an error: to where it says, or to the
// opening view of the lesson that the address is of, or of the first.
func (s *Server) wayOn(r *http.Request, err error) (text, href string) {
	var way *answer.WayBack
	if errors.As(err, &way) {
		return way.Text, way.Href
	}
	lesson := s.lessons.All()[0]
	for _, l := range s.lessons.All() {
		if strings.HasPrefix(strings.TrimPrefix(r.URL.Path, "/embed"), l.About().Path()) {
			lesson = l
		}
	}
	if errors.Is(err, session.ErrNotFound) {
		return "Start a fresh session", lesson.About().Path()
	}
	return fmt.Sprintf("Open lesson %d with its opening settings", lesson.About().Number), lesson.About().Path()
}

// ofSession explains the errors of sessions.
func ofSession(err error) *answer.Error {
	switch {
	case errors.Is(err, session.ErrNotFound), errors.Is(err, session.ErrUnopenable):
		return &answer.Error{Status: http.StatusNotFound, Sentence: "There is no such session: it has ended, 30 minutes after its last viewer, or never was."}
	case errors.Is(err, session.ErrFull):
		return &answer.Error{Status: http.StatusServiceUnavailable, Sentence: "The server holds as many sessions as it can. Lessons still work by their links; try again in a while."}
	case errors.Is(err, session.ErrDraining), errors.Is(err, session.ErrBroken):
		return &answer.Error{Status: http.StatusServiceUnavailable, Sentence: "The server is going away. Connect again, and another one will answer."}
	}
	return nil
}

func isAPI(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/api/") }

// wantsJSON reports whether the answer is for a program.
func wantsJSON(r *http.Request) bool {
	if isAPI(r) {
		return true
	}
	accept := strings.ToLower(r.Header.Get("Accept"))
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}

// methodsOf lists the methods that the request's address takes, as an Allow
// header has them; "" where there is nothing at the address.
func methodsOf(r *http.Request) string {
	path := r.URL.RawPath
	if path == "" {
		path = r.URL.Path
	}
	all := chi.RouteContext(r.Context()).Routes
	takes := func(method string) bool { return all.Match(chi.NewRouteContext(), method, path) }
	var methods []string
	if takes(http.MethodGet) {
		methods = append(methods, http.MethodGet)
		if r.Method != http.MethodHead { // which goes where GET goes, streams refuse it
			methods = append(methods, http.MethodHead)
		}
	}
	if takes(http.MethodPost) {
		methods = append(methods, http.MethodPost)
	}
	if len(methods) > 0 && takes(http.MethodOptions) {
		methods = append(methods, http.MethodOptions)
	}
	return strings.Join(methods, ", ")
}
