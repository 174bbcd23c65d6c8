package clocks

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	model "drainlab/internal/clocks"
	"drainlab/internal/course"
	"drainlab/internal/setting"
	"drainlab/web/answer"
)

// Routes are the downloads, and the API of the model.
func (l *Lesson) Routes(answer.Tools) []answer.Route {
	return []answer.Route{
		{Method: http.MethodGet, Pattern: l.About().Path() + "/files/{file}", Handle: l.file, Framed: true},
		{Method: http.MethodGet, Pattern: "/api/v1/clocks", Handle: l.oneRun, Open: true},
		{Method: http.MethodPost, Pattern: "/api/v1/clocks/runs", Handle: manyRuns, Open: true, Raw: true},
	}
}

// file answers with a download made of the view's values: the matrix, or an
// export in a platform's own words.
func (l *Lesson) file(w http.ResponseWriter, r *http.Request) error {
	link, err := answer.Link(r, l)
	if err != nil {
		return err
	}
	v := link.View.(View)
	run, name := v.run().Run, chi.URLParam(r, "file")
	for _, f := range matrixFiles {
		if f.name == name {
			send(w, name, f.kind, f.write(run, v.platform))
			return nil
		}
	}
	e, ok := run.Export(name)
	if !ok {
		return answer.NotFound
	}
	send(w, e.File, e.Type, e.Content)
	return nil
}

func send(w http.ResponseWriter, name, kind string, data []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	w.Write(data)
}

// oneRun answers with the run of a query's settings.
func (l *Lesson) oneRun(w http.ResponseWriter, r *http.Request) error {
	query, err := answer.Query(r.URL.RawQuery)
	if err != nil {
		return err
	}
	if err := course.Take(query, "model", func(text string) error { return course.CheckModel(l, text) }); err != nil {
		return err
	}
	settings, err := model.ParseValues(model.Opening(), query)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", answer.Cache)
	w.Write(append(model.Simulate(settings).AppendJSON(nil), '\n'))
	return nil
}

// manyRuns answers many runs, without their requests unless those are asked
// for: they are all but a kilobyte of a megabyte.
func manyRuns(w http.ResponseWriter, r *http.Request) error {
	requests, err := parseRequestsAsked(r.URL.RawQuery)
	if err != nil {
		return err
	}
	return answer.ManyRuns(w, r, model.ParseJSON, func(out []byte, settings model.Settings) []byte {
		run := model.Simulate(settings)
		if requests {
			return run.AppendJSON(out)
		}
		return run.AppendJSONWithoutRequests(out)
	})
}

// parseRequestsAsked reads a query that may say requests=1 and nothing else.
func parseRequestsAsked(raw string) (asked bool, err error) {
	query, err := answer.Query(raw)
	if err != nil {
		return false, err
	}
	err = course.Take(query, "requests", func(text string) error {
		if text != "1" {
			return &setting.Error{Setting: "requests", Got: text, Allowed: "1, or no such parameter"}
		}
		asked = true
		return nil
	})
	if err != nil {
		return false, err
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		return false, &setting.Error{Setting: name, Got: strings.Join(query[name], ", "), Allowed: "no parameter of this name, only requests; the settings come in the body"}
	}
	return asked, nil
}
