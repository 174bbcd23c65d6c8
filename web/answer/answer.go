// Package answer is how handlers answer and fail: one kind of error with a
// status and a sentence for the person, and the few ways to read a request and
// to write a response that the machinery and the lessons share.
//
// It knows no lesson and no page.
package answer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"drainlab/internal/course"
	"drainlab/internal/setting"
)

const (
	// ClientHeader marks a request of the page's own script, which wants a
	// bare answer.
	ClientHeader = "Datastar-Request"
	// Cache is the Cache-Control of an answer that follows from its address
	// alone. The server's version is not in the address, so it is kept for a day.
	Cache = "public, max-age=86400"
	// FormLimit bounds the body of a form, in bytes.
	FormLimit = 64 << 10
	// IdleLimit is how long a client may take to send a body, or to take an
	// answer.
	IdleLimit = 30 * time.Second
)

// Handler is an http.HandlerFunc that may fail. What it returns is turned into
// a response in one place.
type Handler func(http.ResponseWriter, *http.Request) error

// Error is an error with the status and the sentence that the person gets.
type Error struct {
	Status   int
	Sentence string
	Setting  *setting.Error // where one is to blame
}

func (e *Error) Error() string { return e.Sentence }

// NotFound is the error of an address where nothing is.
var NotFound = &Error{Status: http.StatusNotFound, Sentence: "There is no such page."}

// NoHead answers HEAD for a stream, which has no end to take a length of.
var NoHead = &Error{Status: http.StatusMethodNotAllowed, Sentence: "A stream does not take HEAD."}

// WayBack is an error whose page leads on to somewhere of its own.
type WayBack struct {
	Err        error
	Text, Href string
}

func (e *WayBack) Error() string { return e.Err.Error() }
func (e *WayBack) Unwrap() error { return e.Err }

// Explain finds the status and the sentence for an error. known says those of
// errors that only the caller knows; it may be nil.
func Explain(err error, known func(error) *Error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	var wrong *setting.Error
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &wrong):
		return &Error{http.StatusBadRequest, wrong.Error(), wrong}
	case errors.As(err, &tooLarge):
		return &Error{http.StatusRequestEntityTooLarge, fmt.Sprintf("The request's body is larger than the %d bytes that are allowed.", tooLarge.Limit), nil}
	}
	if known != nil {
		if e := known(err); e != nil {
			return e
		}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &Error{http.StatusServiceUnavailable, "The request took too long.", nil}
	}
	return &Error{http.StatusInternalServerError, "Something went wrong on the server. It is in its log.", nil}
}

// Query reads a raw query strictly: a malformed escape or a semicolon is an
// error and not a parameter lost.
func Query(raw string) (url.Values, error) {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return nil, &Error{Status: http.StatusBadRequest,
			Sentence: fmt.Sprintf("The link's query cannot be read: got %s; allowed: name=value pairs joined by &.", setting.Quote(raw))}
	}
	return query, nil
}

// Framed reports whether the request is for a lesson in a host's frame.
func Framed(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/embed/") }

// Link reads the link of a request to the lesson.
func Link(r *http.Request, l course.Lesson) (course.Link, error) {
	query, err := Query(r.URL.RawQuery)
	if err != nil {
		return course.Link{}, err
	}
	link, err := course.ParseLink(l, query)
	link.Embedded = Framed(r)
	return link, err
}

// Form reads a form's body.
func Form(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if err := BoundReading(w); err != nil {
		return nil, err
	}
	r.Body = http.MaxBytesReader(w, r.Body, FormLimit)
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); r.ContentLength != 0 && kind != "application/x-www-form-urlencoded" {
		return nil, &Error{Status: http.StatusUnsupportedMediaType,
			Sentence: fmt.Sprintf("The form cannot be read: got the content type %s; allowed: application/x-www-form-urlencoded.", setting.Quote(kind))}
	}
	if err := r.ParseForm(); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return nil, err
		}
		return nil, &Error{Status: http.StatusBadRequest, Sentence: "The form cannot be read: it is not name=value pairs joined by &."}
	}
	return r.PostForm, nil
}

// BoundReading gives a client so long to send its request's body.
func BoundReading(w http.ResponseWriter) error {
	if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(IdleLimit)); err != nil {
		return fmt.Errorf("bounding a body's reading: %w", err)
	}
	return nil
}

// Said is the first of a parameter's values for an error's text.
func Said(values []string) string {
	if len(values) == 0 {
		return "nothing"
	}
	return values[0]
}

// ForClient reports whether the page's own script asks, which wants a part of
// the page; caches are told that the answer hangs on that.
func ForClient(w http.ResponseWriter, r *http.Request) bool {
	w.Header().Add("Vary", ClientHeader)
	return r.Header.Get(ClientHeader) != ""
}

// Page answers with a page, rendered whole before its first byte goes out.
func Page(w http.ResponseWriter, r *http.Request, status int, c course.Component) error {
	var page bytes.Buffer
	if err := c.Render(r.Context(), &page); err != nil {
		return fmt.Errorf("rendering a page: %w", err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write(page.Bytes())
	return nil
}

// JSON answers with a value as JSON.
func JSON(w http.ResponseWriter, status int, body any) {
	data, err := json.Marshal(body)
	if err != nil {
		http.Error(w, "encoding failed", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(data, '\n'))
}

// ErrorBody is an error for a program. The members of a setting are there only
// where one is to blame.
type ErrorBody struct {
	Error string `json:"error"`
	*SettingBody
}

// SettingBody names the setting that is to blame.
type SettingBody struct {
	Setting string `json:"setting"`
	Got     string `json:"got"`
	Allowed string `json:"allowed"`
}

// NewErrorBody is the body of an error.
func NewErrorBody(e *Error) ErrorBody {
	body := ErrorBody{Error: e.Sentence}
	if s := e.Setting; s != nil {
		body.SettingBody = &SettingBody{Cut(s.Setting), Cut(s.Got), s.Allowed}
	}
	return body
}

// Cut bounds foreign text that goes back in an answer: what is longer than 80
// bytes is cut, at a character's start, and ends in an ellipsis.
func Cut(text string) string {
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
