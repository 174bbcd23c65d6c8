package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

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
	if e.status >= 500 {
		s.log.LogAttrs(r.Context(), slog.LevelError, "request failed", slog.String("path", r.URL.Path), slog.Any("error", err))
	}
	if r.Context().Err() != nil {
		return // nobody is there to read it
	}
	h := w.Header()
	h.Del("Content-Encoding")
	h.Set("Cache-Control", "no-store")
	if e.status == http.StatusServiceUnavailable {
		h.Set("Retry-After", "5")
	}
	if wantsJSON(r) {
		body := map[string]any{"error": e.sentence}
		if e.setting != nil {
			body["setting"], body["got"], body["allowed"] = e.setting.Setting, e.setting.Got, e.setting.Allowed
		}
		writeJSON(w, e.status, body)
		return
	}
	if r.Header.Get(clientHeader) != "" {
		h.Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(e.status)
		fmt.Fprintln(w, e.sentence)
		return
	}
	problem := templates.Problem{
		Page:     s.page("Something is not right", ""),
		Status:   e.status,
		Heading:  http.StatusText(e.status),
		Sentence: e.sentence,
		LinkText: "Open lesson 1 with its opening settings",
		Href:     "/lessons/drain",
	}
	if errors.Is(err, session.ErrNotFound) {
		problem.LinkText = "Start a fresh session"
	}
	s.render(w, r, e.status, templates.ProblemPage(problem))
}

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

// wantsJSON reports whether the answer is for a program.
func wantsJSON(r *http.Request) bool {
	if strings.HasPrefix(r.URL.Path, "/api/") {
		return true
	}
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
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
