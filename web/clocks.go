package web

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"drainlab/internal/clocks"
	"drainlab/internal/setting"
	"drainlab/web/templates"
)

// clocksView is what a link to lesson 3 says.
type clocksView struct {
	Settings clocks.Settings
	Platform *clocks.Platform // nil: none is chosen
	Axes     axes
	Embedded bool // shown in a host's frame
	presentation
}

// parseClocksView reads a link's query. A platform alone stands for its
// documented defaults; whatever the query names beside it goes before them.
func parseClocksView(query url.Values) (clocksView, error) {
	var v clocksView
	if err := takeParam(query, "model", checkModel(clocks.Model)); err != nil {
		return v, err
	}
	base := clocks.Opening()
	err := takeParam(query, "platform", func(id string) error {
		p, ok := clocks.FindPlatform(id)
		if !ok {
			var ids []string
			for _, p := range clocks.Platforms() {
				ids = append(ids, p.ID)
			}
			return &setting.Error{Setting: "platform", Got: id, Allowed: "one of " + strings.Join(ids, ", ")}
		}
		v.Platform, base = &p, p.On(base)
		return nil
	})
	if err != nil {
		return v, err
	}
	if v.Axes, err = takeAxes(query, clocks.Table(), clocksAxes); err != nil {
		return v, err
	}
	if v.presentation, err = takePresentation(query, names(clocks.Table())); err != nil {
		return v, err
	}
	if v.Predict {
		return v, &setting.Error{Setting: "predict", Got: "required", Allowed: "a link to lesson 1: lesson 3 plays nothing"}
	}
	v.Settings, err = clocks.ParseValues(base, query)
	return v, err
}

// canonical is the view as a query. Equal views give equal text.
func (v clocksView) canonical() string {
	query := string(v.Settings.AppendQuery(nil))
	if v.Platform != nil {
		query += "&platform=" + v.Platform.ID
	}
	return v.presentation.appendTo(v.Axes.appendTo(query, clocksAxes), names(clocks.Table()))
}

func (v clocksView) path() string {
	if v.Embedded {
		return "/embed" + clocksPath
	}
	return clocksPath
}

// with is the view with other settings, as a link.
func (v clocksView) with(s clocks.Settings) string {
	v.Settings = s
	return v.path() + "?" + v.canonical()
}

// frameHeight is about the height of a frame that holds the whole lesson at
// the width of a page's text.
func (v clocksView) frameHeight() int {
	h := 1450 // heading, picture, verdict, budget; as measured at a width of 800 px
	for part, height := range map[string]int{"controls": 1600, "trace": 400, "results": 950, "inspector": 2650, "text": 2450} {
		if !v.hides(part) {
			h += height
		}
	}
	return h
}

// most is the longest grace that the platform takes.
func (v clocksView) most() setting.Time {
	if v.Platform == nil {
		return clocks.Never
	}
	return v.Platform.Most
}

// readClocksView reads the view of a request's address.
func readClocksView(r *http.Request) (clocksView, error) {
	query, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		return clocksView{}, err
	}
	v, err := parseClocksView(query)
	v.Embedded = framed(r)
	return v, err
}

// clocksCard is what other sites are told of a view of lesson 3.
func (s *Server) clocksCard(r *http.Request, v clocksView) templates.Card {
	base := s.base(r)
	v.Embedded = false
	run := clocks.Simulate(v.Settings)
	public := base + clocksPath + "?model=" + fmt.Sprint(clocks.Model) + "&" + v.canonical()
	return withOEmbed(templates.Card{URL: public, Image: base + clocksPath + "/card.png?" + v.canonical(),
		Description: "One budget, many owners: which clock of a termination cuts which request, and what would have saved it.",
		Alt:         "Verdict " + strings.ToUpper(run.Verdict()) + ": " + stripText(run) + "."}, base, public)
}

// clocksPage shows lesson 3 with its address's view: the whole page, or to the
// page's own script the fragments that follow from the settings.
func (s *Server) clocksPage(w http.ResponseWriter, r *http.Request) error {
	query, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		return err
	}
	given := maps.Clone(query) // what is parsed is taken out
	v, err := parseClocksView(query)
	if err != nil {
		return backToClocks(err, nil, given)
	}
	v.Embedded = framed(r)
	if forClient(w, r) {
		s.render(w, r, http.StatusOK, templates.ClocksFragments(buildClocksFrame(v)))
		return nil
	}
	p := s.page("Who owns each clock", "The timing budget of a termination: which clock cuts which request, and what would have saved it.")
	p.Lessons[2].Here = true
	p.Card, p.Whole = s.clocksCard(r, v), clocksPath+"?"+v.canonical()
	s.render(w, r, http.StatusOK, templates.ClocksPage(templates.Clocks{
		Page: p, Frame: buildClocksFrame(v), Start: v.path() + "?platform=kubernetes&server_timeout=60&long=40", Embed: v.Embedded, Path: v.path(), Hide: v.Hide, Locked: len(v.Lock) > 0, Cases: s.clockCases, Story: s.clocksStory, Presets: presetRows(), LookedUp: clocks.LookedUp,
	}))
	return nil
}

// clocksForm is the lesson without script: the form's settings, as the way to
// their view. A toggle that is off is missing in it.
func (s *Server) clocksForm(w http.ResponseWriter, r *http.Request) error {
	form, err := readPlainForm(w, r)
	if err != nil {
		return err
	}
	var view string
	if err := takeParam(form, "view", func(text string) error { view = text; return nil }); err != nil {
		return err
	}
	query, err := parseQuery(view)
	if err != nil {
		return err
	}
	v, err := parseClocksView(query)
	if err != nil {
		return err
	}
	v.Embedded = framed(r)
	for _, c := range clocks.Table() {
		switch {
		case form[c.Name] != nil:
		case c.Toggle:
			form[c.Name] = []string{"0"}
		default:
			return c.Refuse("nothing")
		}
	}
	given := maps.Clone(form)
	settings, err := clocks.ParseValues(v.Settings, form)
	if err != nil {
		kept, _ := url.ParseQuery(v.canonical()) // our own: it can be read
		return backToClocks(err, kept, given)
	}
	v.Settings = settings
	http.Redirect(w, r, v.path()+"?"+v.canonical(), http.StatusSeeOther)
	return nil
}

// backToClocks is an error of lesson 3 with a way back that loses nothing but
// what was refused: to the view of kept, with of the given values all that it
// can have.
func backToClocks(err error, kept, given url.Values) error {
	if kept == nil {
		kept = url.Values{}
	}
	names := []string{"platform", "x", "y", "hide", "lock"}
	for _, c := range clocks.Table() {
		names = append(names, c.Name)
	}
	for again := true; again; { // one value may need another one first
		again = false
		for _, name := range names {
			if given[name] == nil || slices.Equal(given[name], kept[name]) {
				continue
			}
			with := maps.Clone(kept)
			with[name] = given[name]
			if _, wrong := parseClocksView(maps.Clone(with)); wrong == nil {
				kept, again = with, true
			}
		}
	}
	view, wrong := parseClocksView(kept)
	if wrong != nil {
		return err
	}
	return &wayBack{err, "Back to lesson 3 with all other values", clocksPath + "?" + view.canonical()}
}

// clocksFile answers with a download made of the view's values: the matrix, or
// an export in a platform's own words.
func (s *Server) clocksFile(w http.ResponseWriter, r *http.Request) error {
	v, err := readClocksView(r)
	if err != nil {
		return err
	}
	run := clocks.Simulate(v.Settings)
	h := w.Header()
	send := func(name, kind string, data []byte) error {
		h.Set("Content-Type", kind)
		h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
		w.Write(data)
		return nil
	}
	switch name := chi.URLParam(r, "file"); name {
	case "matrix.md":
		return send(name, "text/markdown; charset=utf-8", run.MatrixMarkdown(v.Platform))
	case "matrix.csv":
		return send(name, "text/csv; charset=utf-8", run.MatrixCSV(v.Platform))
	case "matrix.json":
		return send(name, "application/json", run.MatrixJSON(v.Platform))
	default:
		e, ok := run.Export(name)
		if !ok {
			return errNoPage
		}
		return send(e.File, e.Type, e.Content)
	}
}

func (s *Server) apiClocks(w http.ResponseWriter, r *http.Request) error {
	query, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		return err
	}
	if err := takeParam(query, "model", checkModel(clocks.Model)); err != nil {
		return err
	}
	settings, err := clocks.ParseValues(clocks.Opening(), query)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", apiCache)
	w.Write(append(clocks.Simulate(settings).AppendJSON(nil), '\n'))
	return nil
}
