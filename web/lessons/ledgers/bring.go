package ledgers

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"drainlab/internal/course"
	"drainlab/internal/drill"
	"drainlab/internal/ledger"
	"drainlab/web/answer"
)

const (
	recordLimit = 1 << 20 // bytes of a record that somebody brings
	drawnAtOnce = 4       // such records
)

var errTooManyRecords = &answer.Error{Status: http.StatusTooManyRequests, Sentence: "The server draws as many records as it can. Try again in a few seconds."}

// bring draws a record that somebody pastes or uploads. It is not kept.
func (h handlers) bring(w http.ResponseWriter, r *http.Request) error {
	if err := answer.BoundReading(w); err != nil {
		return err
	}
	select {
	case h.lesson.drawing <- struct{}{}:
		defer func() { <-h.lesson.drawing }()
	default:
		return errTooManyRecords
	}
	text, err := broughtText(w, r)
	if err != nil {
		return err
	}
	events, skipped, err := ledger.Read(strings.NewReader(text))
	if err != nil {
		return &answer.Error{Status: http.StatusBadRequest, Sentence: fmt.Sprintf("The record cannot be drawn: %v; allowed: one JSON event a line.", err)}
	}
	s := shown{lesson: h.lesson, run: fixtureRun{State: runFinished}, source: brought,
		note: fmt.Sprintf("A record that was brought here, events read: %d.", len(events))}
	for _, e := range events {
		s.run.Events = append(s.run.Events, drill.Event{Event: e})
	}
	if len(skipped) > 0 {
		s.note += fmt.Sprintf(" Lines that could not be read: %s.", joinErrors(skipped, 3))
	}
	link := course.OpenLink(h.lesson)
	link.Panel = tabRecord
	return h.tools.Render(w, r, http.StatusOK, link, answer.Extra{Parts: s.Live(course.Frame{}), NoStore: true})
}

// broughtText is the record of a form: what was pasted, and the file.
func broughtText(w http.ResponseWriter, r *http.Request) (string, error) {
	r.Body = http.MaxBytesReader(w, r.Body, recordLimit+answer.FormLimit)
	if err := r.ParseMultipartForm(recordLimit + answer.FormLimit); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return "", err
		}
		return "", &answer.Error{Status: http.StatusBadRequest, Sentence: "The form cannot be read: it is not multipart/form-data."}
	}
	text := r.PostFormValue("record")
	if file, _, err := r.FormFile("file"); err == nil {
		defer file.Close()
		data, err := io.ReadAll(file)
		if err != nil {
			return "", err
		}
		text += "\n" + string(data)
	}
	if len(text) > recordLimit {
		return "", &answer.Error{Status: http.StatusRequestEntityTooLarge, Sentence: fmt.Sprintf("The record has %d bytes; allowed: %d.", len(text), recordLimit)}
	}
	return text, nil
}

// joinErrors tells the first errors and how many more there are.
func joinErrors(errs []error, most int) string {
	var words []string
	for _, err := range errs[:min(most, len(errs))] {
		words = append(words, err.Error())
	}
	if more := len(errs) - most; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, "; ")
}
