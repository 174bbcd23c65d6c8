package ledgers

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"drainlab/internal/course"
	"drainlab/internal/fixture"
	"drainlab/internal/setting"
	"drainlab/web/answer"
	"drainlab/web/wire"
)

const (
	runsPath   = "/lessons/ledgers/runs"
	recordPath = "/lessons/ledgers/record"
	apiPath    = "/api/v1/fixture-runs"
)

// Routes implements [answer.Routed]: runs are started, followed and told, and
// records of one's own are drawn.
func (l *Lesson) Routes(tools answer.Tools) []answer.Route {
	l.runs.endWith(tools.Draining())
	h := handlers{lesson: l, tools: tools}
	return []answer.Route{
		{Method: http.MethodPost, Pattern: runsPath, Handle: h.start, Own: true},
		{Method: http.MethodGet, Pattern: runsPath + "/{id}", Handle: h.page},
		{Method: http.MethodGet, Pattern: runsPath + "/{id}/stream", Handle: h.stream, Raw: true},
		{Method: http.MethodPost, Pattern: recordPath, Handle: h.bring, Own: true},
		{Method: http.MethodPost, Pattern: apiPath, Handle: h.apiStart, Open: true},
		{Method: http.MethodGet, Pattern: apiPath + "/{id}", Handle: h.apiLook, Open: true},
		{Method: http.MethodGet, Pattern: apiPath + "/{id}/record", Handle: h.apiRecord, Open: true},
	}
}

// handlers are the lesson's own routes.
type handlers struct {
	lesson *Lesson
	tools  answer.Tools
}

// clientAddress is what runs are limited by.
func clientAddress(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// begun tells the page's script of a run that it has started.
type begun struct {
	Run   string `json:"run"`
	Query string `json:"query"` // of the view that shows it
}

// start queues a run of a form's settings or of a guided step, and leads to its
// page.
func (h handlers) start(w http.ResponseWriter, r *http.Request) error {
	form, err := answer.Form(w, r)
	if err != nil {
		return err
	}
	link, err := h.next(form)
	if err != nil {
		return err
	}
	v := link.View.(view)
	run, err := h.lesson.runs.add(v.settings, clientAddress(r))
	if err != nil {
		return err
	}
	v.run = run.ID
	if answer.ForClient(w, r) {
		answer.JSON(w, http.StatusAccepted, begun{Run: run.ID, Query: link.With(v).Query()})
		return nil
	}
	v.run = "" // which the address says
	to := runsPath + "/" + run.ID
	if q := link.With(view{lesson: h.lesson, settings: fixture.Reference()}).Query(); q != "" {
		to += "?" + q
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// next is the view of the run that a form asks for: the form's own settings, or
// those of a guided step; what the form leaves out is as in the view that the
// form was on, and so is what that link locks.
func (h handlers) next(form url.Values) (course.Link, error) {
	link := course.OpenLink(h.lesson)
	err := course.Take(form, "view", func(text string) error {
		query, err := answer.Query(text)
		if err != nil {
			return err
		}
		link, err = course.ParseLink(h.lesson, query)
		return err
	})
	if err != nil {
		return link, err
	}
	was := link.View.(view)
	next, err := asked(form, was.settings)
	if err != nil {
		return link, err
	}
	table := fixture.Table()
	for _, name := range link.Lock {
		c, _ := table.Find(name)
		c.Set(&next, c.Amount(was.settings))
	}
	return link.With(view{lesson: h.lesson, settings: next}), nil
}

func asked(form url.Values, was fixture.Settings) (fixture.Settings, error) {
	if id := form.Get("step"); id != "" {
		if s, ok := findStep(id); ok {
			return s.settings, nil
		}
		return was, &setting.Error{Setting: "step", Got: id, Allowed: "one of the guided steps"}
	}
	if form.Get("form") == "whole" { // toggles that are off are missing
		form.Del("form")
		for _, c := range fixture.Table() {
			if c.Toggle && form[c.Name] == nil {
				form[c.Name] = []string{"0"}
			}
		}
	}
	next := was
	err := fixture.Table().Change(&next, form)
	return next, err
}

// page shows one run, which may be waiting or under way.
func (h handlers) page(w http.ResponseWriter, r *http.Request) error {
	run, _, err := h.lesson.runs.look(chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	link, err := answer.Link(r, h.lesson)
	if err != nil {
		return err
	}
	extra := answer.Extra{NoStore: true}
	if !run.ended() {
		extra.Refresh = 1
	}
	return h.tools.Render(w, r, http.StatusOK, link.With(view{lesson: h.lesson, settings: run.Settings, run: run.ID}), extra)
}

// stream streams a run to one viewer until it has ended. A run has one viewer
// or two, so that each is drawn for alone.
func (h handlers) stream(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodHead {
		return answer.NoHead
	}
	id := chi.URLParam(r, "id")
	out := h.tools.Stream(w, r)
	defer out.Close()
	pause := time.NewTicker(100 * time.Millisecond) // at most ten frames a second
	defer pause.Stop()
	sent := map[string]string{}
	for {
		run, changed, err := h.lesson.runs.look(id)
		if err != nil { // a run lives in the process that made it, and goes with it
			out.Finish(r, "lost")
			return nil
		}
		if !h.sendParts(r, out, shown{lesson: h.lesson, run: run, source: fromHere}, sent) {
			return nil
		}
		if run.ended() {
			out.Finish(r, "finished")
			return nil
		}
		beat := time.NewTimer(wire.HeartbeatEvery)
		select {
		case <-changed:
		case <-beat.C:
		case <-h.tools.Draining():
			beat.Stop()
			out.Finish(r, "lost")
			return nil
		case <-r.Context().Done():
		}
		beat.Stop()
		select {
		case <-pause.C:
		case <-r.Context().Done():
			return nil
		}
	}
}

// sendParts sends those of the run's parts that have changed, and something in
// any case, so that the connection is used. It reports whether the viewer is
// still there.
func (h handlers) sendParts(r *http.Request, out *wire.Stream, s shown, sent map[string]string) bool {
	news := new(strings.Builder)
	for _, p := range s.Live(course.Frame{}) {
		html := new(strings.Builder)
		if err := p.Body.Render(r.Context(), html); err != nil {
			return false
		}
		if sent[p.ID] != html.String() {
			sent[p.ID] = html.String()
			news.WriteString(html.String())
		}
	}
	if news.Len() == 0 {
		news.WriteString(sent["run-status"])
	}
	event, err := wire.PatchElements(news.String())
	return err == nil && out.SendPlain(event) == nil
}
