package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"

	"drainlab/internal/session"
	"drainlab/internal/sim"
	"drainlab/web/templates"
)

// requestError is an error with the status and the sentence that the person
// gets.
type requestError struct {
	status   int
	sentence string
	setting  *sim.SettingError // where one is to blame
}

func (e *requestError) Error() string { return e.sentence }

// wayBack is an error whose page leads on to somewhere of its own.
type wayBack struct {
	error
	text, href string
}

func (e *wayBack) Unwrap() error { return e.error }

// handler is an http.HandlerFunc that may fail.
type handler func(http.ResponseWriter, *http.Request) error

// handle is the one place that turns errors into responses.
func (s *Server) handle(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			s.fail(w, r, err)
		}
	}
}

func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	e := explain(err)
	h := w.Header()
	if e.status == http.StatusMethodNotAllowed {
		h.Set("Allow", methodsOf(r))
	}
	if r.Context().Err() != nil {
		return // nobody is there to read it
	}
	if e.status >= 500 && e.status != http.StatusNotImplemented { // which is the asker's to mend
		s.log.LogAttrs(r.Context(), slog.LevelError, "request failed", slog.String("route", chi.RouteContext(r.Context()).RoutePattern()), slog.Any("error", err))
	}
	h.Del("Content-Encoding")
	h.Set("Cache-Control", "no-store")
	if e.status == http.StatusServiceUnavailable || e.status == http.StatusTooManyRequests {
		h.Set("Retry-After", "5")
	}
	if wantsJSON(r) {
		if isAPI(r) {
			h.Set("Access-Control-Allow-Origin", "*") // no route's middleware was here for an unknown address
		}
		writeJSON(w, e.status, newErrorBody(e.sentence, e.setting))
		return
	}
	sentence := e.sentence
	if e.setting != nil { // a program reads the setting's name, a person its label
		sentence = e.setting.Sentence()
	}
	if r.Header.Get(clientHeader) != "" {
		h.Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(e.status)
		fmt.Fprintln(w, sentence)
		return
	}
	problem := templates.Problem{
		Page:     s.page("Something is not right", ""),
		Status:   e.status,
		Heading:  http.StatusText(e.status),
		Sentence: sentence,
		LinkText: "Open lesson 1 with its opening settings",
		Href:     "/lessons/drain",
	}
	if strings.HasPrefix(r.URL.Path, "/lessons/clocks") {
		problem.LinkText, problem.Href = "Open lesson 3 with its opening settings", "/lessons/clocks"
	}
	if errors.Is(err, session.ErrNotFound) {
		problem.LinkText = "Start a fresh session"
	}
	var way *wayBack
	if errors.As(err, &way) {
		problem.LinkText, problem.Href = way.text, way.href
	}
	s.render(w, r, e.status, templates.ProblemPage(problem))
}

var errNoPage = &requestError{status: http.StatusNotFound, sentence: "There is no such page."}

// explain finds the status and the sentence for an error.
func explain(err error) *requestError {
	var e *requestError
	if errors.As(err, &e) {
		return e
	}
	var setting *sim.SettingError
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &setting):
		return &requestError{http.StatusBadRequest, setting.Error(), setting}
	case errors.As(err, &tooLarge):
		return &requestError{http.StatusRequestEntityTooLarge, fmt.Sprintf("The request's body is larger than the %d bytes that are allowed.", tooLarge.Limit), nil}
	case errors.Is(err, session.ErrNotFound):
		return &requestError{http.StatusNotFound, "There is no such session: it has ended, 30 minutes after its last viewer, or never was.", nil}
	case errors.Is(err, session.ErrFull):
		return &requestError{http.StatusServiceUnavailable, "The server holds as many sessions as it can. Lessons still work by their links; try again in a while.", nil}
	case errors.Is(err, session.ErrDraining), errors.Is(err, session.ErrBroken):
		return &requestError{http.StatusServiceUnavailable, "The server is going away. Connect again, and another one will answer.", nil}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &requestError{http.StatusServiceUnavailable, "The request took too long.", nil}
	}
	return &requestError{http.StatusInternalServerError, "Something went wrong on the server. It is in its log.", nil}
}

// methodsOf lists the methods that the request's address takes, as an Allow
// header has them; "" where there is nothing at the address. The one pattern
// for preflights covers all addresses of the API, those of nothing too.
func methodsOf(r *http.Request) string {
	path := r.URL.RawPath
	if path == "" {
		path = r.URL.Path
	}
	routes := chi.RouteContext(r.Context()).Routes
	takes := func(method string) bool { return routes.Match(chi.NewRouteContext(), method, path) }
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

func isAPI(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/api/") }

// wantsJSON reports whether the answer is for a program.
func wantsJSON(r *http.Request) bool {
	if isAPI(r) {
		return true
	}
	accept := strings.ToLower(r.Header.Get("Accept"))
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}

// errorBody is an error for a program. The members of setting are there only
// where one setting is to blame.
type errorBody struct {
	Error string `json:"error"`
	*settingBody
}

type settingBody struct {
	Setting string `json:"setting"`
	Got     string `json:"got"`
	Allowed string `json:"allowed"`
}

func newErrorBody(sentence string, setting *sim.SettingError) errorBody {
	body := errorBody{Error: sentence}
	if setting != nil {
		body.settingBody = &settingBody{cutText(setting.Setting), cutText(setting.Got), setting.Allowed}
	}
	return body
}

// cutText bounds foreign text that goes back in an answer: what is longer than
// 80 bytes is cut, at a character's start, and ends in an ellipsis.
func cutText(text string) string {
	const most = 80
	if len(text) <= most {
		return text
	}
	end := most
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	data, err := json.Marshal(body)
	if err != nil {
		http.Error(w, "encoding failed", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(data, '\n'))
}
