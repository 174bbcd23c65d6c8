package drain

import (
	"net/http"

	"drainlab/internal/course"
	"drainlab/internal/setting"
	"drainlab/internal/sim"
	"drainlab/web/answer"
)

// Routes are the comparison's fragments, the API of the model, and addresses
// that the lesson had before.
func (l *Lesson) Routes(answer.Tools) []answer.Route {
	path := l.About().Path()
	return []answer.Route{
		{Method: http.MethodGet, Pattern: path + "/compare", Handle: l.comparison, Framed: true},
		{Method: http.MethodGet, Pattern: "/api/v1/run", Handle: l.oneRun, Open: true},
		{Method: http.MethodPost, Pattern: "/api/v1/runs", Handle: manyRuns, Open: true, Raw: true},
		{Method: http.MethodGet, Pattern: path + "/lanes.png", Handle: moved(path + "/picture.png")},
		{Method: http.MethodGet, Pattern: path + "/lanes.svg", Handle: moved(path + "/picture.svg")},
		{Method: http.MethodGet, Pattern: path + "/analysis", Handle: moved(path + "/parts")},
	}
}

// comparison answers the page's script with what follows the instant beside
// the run: the two runs of a comparison, as they stand at the link's instant.
func (l *Lesson) comparison(w http.ResponseWriter, r *http.Request) error {
	link, err := answer.Link(r, l)
	if err != nil {
		return err
	}
	return answer.Page(w, r, http.StatusOK, compareFragments(buildCompare(link, link.View.(*view))))
}

// moved leads from an address that was to the one that is, with its query.
func moved(to string) answer.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if r.URL.RawQuery != "" {
			to := to + "?" + r.URL.RawQuery
			http.Redirect(w, r, to, http.StatusMovedPermanently)
			return nil
		}
		http.Redirect(w, r, to, http.StatusMovedPermanently)
		return nil
	}
}

// oneRun answers one run, whole or as it stands at t, as JSON or CSV.
func (l *Lesson) oneRun(w http.ResponseWriter, r *http.Request) error {
	query, err := answer.Query(r.URL.RawQuery)
	if err != nil {
		return err
	}
	t, format := sim.Horizon, "json"
	for _, p := range []struct {
		name string
		read func(string) error
	}{
		{"t", func(text string) (err error) { t, err = course.ParseT(text, sim.Horizon); return err }},
		{"model", func(text string) error { return course.CheckModel(l, text) }},
		{"format", func(text string) error { format = text; return checkFormat(text) }},
	} {
		if err := course.Take(query, p.name, p.read); err != nil {
			return err
		}
	}
	settings, err := sim.ParseValues(query)
	if err != nil {
		return err
	}
	snap := sim.Simulate(settings).At(t)
	h := w.Header()
	h.Set("Cache-Control", answer.Cache)
	if format == "csv" {
		h.Set("Content-Type", "text/csv; charset=utf-8; header=present")
		h.Set("Content-Disposition", `inline; filename="drainlab-run.csv"`)
		w.Write(snap.AppendCSV(nil))
		return nil
	}
	h.Set("Content-Type", "application/json")
	w.Write(append(snap.AppendJSON(make([]byte, 0, 16<<10)), '\n'))
	return nil
}

func checkFormat(text string) error {
	if text != "json" && text != "csv" {
		return &setting.Error{Setting: "format", Got: text, Allowed: "json or csv"}
	}
	return nil
}

// manyRuns answers many runs, a line for each line of settings.
func manyRuns(w http.ResponseWriter, r *http.Request) error {
	if r.URL.RawQuery != "" {
		return &answer.Error{Status: http.StatusBadRequest,
			Sentence: "The settings of many runs come in the body: got the query " + setting.Quote(r.URL.RawQuery) + "; allowed: no query."}
	}
	var run sim.Run
	return answer.ManyRuns(w, r, sim.ParseJSON, func(out []byte, settings sim.Settings) []byte {
		run.Reset(settings)
		return run.At(sim.Horizon).AppendJSON(out)
	})
}

// Files are the run for programs, and its picture.
func (l *Lesson) Files(link course.Link) []answer.Download {
	v := link.View.(*view)
	api := "/api/v1/run?" + string(v.settings.AppendQuery(nil))
	return []answer.Download{
		{Name: "JSON", Href: api}, {Name: "CSV", Href: api + "&format=csv"},
		{Name: "Lanes as PNG", Href: link.At("picture.png")}, {Name: "Lanes as SVG", Href: link.At("picture.svg")},
	}
}
