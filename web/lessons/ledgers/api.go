package ledgers

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"drainlab/internal/fixture"
	"drainlab/internal/setting"
	"drainlab/web/answer"
)

// apiStart, apiLook and apiRecord are for programs what the pages are for
// people.
func (h handlers) apiStart(w http.ResponseWriter, r *http.Request) error {
	if err := answer.BoundReading(w); err != nil {
		return err
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, answer.FormLimit))
	if err != nil {
		return err
	}
	if len(strings.TrimSpace(string(data))) == 0 {
		data = []byte("{}")
	}
	settings, err := fixture.ParseJSON(data)
	if err != nil {
		var refused *setting.Error
		if errors.As(err, &refused) {
			return err
		}
		return &answer.Error{Status: http.StatusBadRequest, Sentence: "The body cannot be read: " + err.Error() + "."}
	}
	run, err := h.lesson.runs.add(settings, clientAddress(r))
	if err != nil {
		return err
	}
	now, _, err := h.lesson.runs.look(run.ID)
	if err != nil {
		return err
	}
	w.Header().Set("Location", apiPath+"/"+run.ID)
	answer.JSON(w, http.StatusAccepted, now.json())
	return nil
}

func (h handlers) apiLook(w http.ResponseWriter, r *http.Request) error {
	run, _, err := h.lesson.runs.look(chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	answer.JSON(w, http.StatusOK, run.json())
	return nil
}

func (h handlers) apiRecord(w http.ResponseWriter, r *http.Request) error {
	run, _, err := h.lesson.runs.look(chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	var lines []byte
	for _, e := range run.record() {
		lines = e.Append(lines)
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Disposition", `attachment; filename="drainlab-record.jsonl"`)
	w.Write(lines)
	return nil
}
