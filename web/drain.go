package web

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"drainlab/internal/session"
	"drainlab/internal/sim"
	"drainlab/web/templates"
)

const (
	// clientHeader marks a request of the page's own script, which wants a
	// bare answer.
	clientHeader = "Datastar-Request"
	// formLimit bounds the body of a form.
	formLimit = 64 << 10
)

func (s *Server) home(w http.ResponseWriter, r *http.Request) error {
	run := sim.Simulate(sim.Opening())
	lanes := buildLanes(run, run.At(sim.Horizon), sim.Horizon)
	lanes.Width = "plot-fit"
	s.render(w, r, http.StatusOK, templates.HomePage(templates.Home{
		Page:  s.page("Shut down without losing work", "A course on graceful shutdown: simulators and real servers in the browser."),
		Lanes: lanes,
		Story: s.story,
	}))
	return nil
}

// drainPage shows the view that its query says, as it stands. Its session is
// made when its stream connects.
func (s *Server) drainPage(w http.ResponseWriter, r *http.Request) error {
	v, err := readView(r)
	if err != nil {
		return err
	}
	now := time.Now()
	page := s.lesson(v, session.New(v.View, now), now, "")
	page.Card = s.drainCard(r, v)
	s.render(w, r, http.StatusOK, templates.DrainPage(page))
	return nil
}

func (s *Server) lesson(v view, state session.State, now time.Time, id session.ID) templates.Drain {
	p := s.page("Stop admitting, then drain",
		"A simulator of worker lifecycles: which accepted requests survive a SIGTERM, and which settings save them.")
	p.Lessons[0].Here = true
	action := v.path()
	if id != "" {
		action = "/sessions/" + string(id)
	}
	frame := buildFrame(state.FrameAt(sim.Simulate(state.Settings), now), v.Worker)
	frame.Transport.Locked = v.waits()
	for _, g := range frame.Controls.Groups {
		for i := range g.Controls {
			g.Controls[i].Locked = v.locks(g.Controls[i].Name)
		}
	}
	analysis := s.analysis(v)
	frame.Lanes.Part = analysis.Compare.Lanes.Part
	p.Whole = drainPath + "?" + v.canonical()
	return templates.Drain{
		Path: v.path(), Hide: v.Hide, Lock: strings.Join(v.Lock, ","), Waits: v.waits(), Alone: v.Predict || len(v.Lock)+len(v.Hide) > 0, Embed: v.Embedded, Share: drainPath + "/share?" + v.canonical(),
		Page: p, Query: v.canonical(), SettingsQuery: string(v.Settings.AppendQuery(nil)), Action: action, Session: string(id), Story: s.story, Kinds: kindOptions(),
		Frame: frame, Analysis: analysis,
	}
}

// drainForm is the lesson without script: the command is applied to the view
// that the form carries, and the answer is the way to the new view.
func (s *Server) drainForm(w http.ResponseWriter, r *http.Request) error {
	form, v, err := readForm(w, r)
	if err != nil {
		return err
	}
	if v == nil {
		return &sim.SettingError{Setting: "view", Got: "nothing", Allowed: "the page's view as a query"}
	}
	v.Embedded = framed(r)
	if form.Get("command") == "worker" { // a viewer's own choice, in the link alone
		if v.Worker, err = parseWorker(joined(form["worker"]), v.Settings); err != nil {
			return err
		}
		http.Redirect(w, r, v.link(), http.StatusSeeOther)
		return nil
	}
	cmd, err := decodeCommand(form)
	if err != nil {
		return err
	}
	now := time.Now()
	state, err := session.Reduce(session.New(v.View, now), cmd, now)
	if err != nil {
		return err
	}
	next := *v
	next.View = viewOf(state, now)
	if next.Settings != v.Settings {
		next.Prediction = sim.Prediction{} // it was of another run
	}
	if next.Worker > next.Settings.WorkersEver() {
		next.Worker = 1
	}
	http.Redirect(w, r, next.link(), http.StatusSeeOther)
	return nil
}

func viewOf(s session.State, now time.Time) session.View {
	return session.View{Settings: s.Settings, T: s.Clock.T(now), Speed: s.Clock.Speed, Playing: s.Clock.Runs(now)}
}

// boundReading gives a client so long to send its request's body.
func boundReading(w http.ResponseWriter) error {
	if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(idleLimit)); err != nil {
		return fmt.Errorf("bounding a body's reading: %w", err)
	}
	return nil
}

// readPlainForm reads a form's body.
func readPlainForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if err := boundReading(w); err != nil {
		return nil, err
	}
	r.Body = http.MaxBytesReader(w, r.Body, formLimit)
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); r.ContentLength != 0 && kind != "application/x-www-form-urlencoded" {
		return nil, &requestError{status: http.StatusUnsupportedMediaType,
			sentence: fmt.Sprintf("The form cannot be read: got the content type %s; allowed: application/x-www-form-urlencoded.", sim.Quote(kind))}
	}
	if err := r.ParseForm(); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return nil, err
		}
		return nil, &requestError{status: http.StatusBadRequest, sentence: "The form cannot be read: it is not name=value pairs joined by &."}
	}
	return r.PostForm, nil
}

// readForm reads a form's body and takes its view out of it, if it has one.
func readForm(w http.ResponseWriter, r *http.Request) (url.Values, *view, error) {
	form, err := readPlainForm(w, r)
	if err != nil {
		return nil, nil, err
	}
	given, ok := form["view"]
	if !ok {
		return form, nil, nil
	}
	delete(form, "view")
	if len(given) != 1 {
		return nil, nil, &sim.SettingError{Setting: "view", Got: "several", Allowed: "one view as a query"}
	}
	query, err := parseQuery(given[0])
	if err != nil {
		return nil, nil, err
	}
	v, err := parseView(query)
	if err != nil {
		return nil, nil, err
	}
	return form, &v, nil
}

// decodeCommand reads the one command of a form: command=name with what it
// needs, or one of speed=, t= and experiment= alone.
func decodeCommand(form url.Values) (session.Command, error) {
	const names = "one of set, apply, baseline, open, play, pause, step, back, restart, or one of the names speed, t, experiment alone"
	if len(form) == 1 {
		for name, values := range form {
			if len(values) != 1 {
				return nil, &sim.SettingError{Setting: name, Got: "several values", Allowed: "one value"}
			}
			switch name {
			case "speed":
				speed, err := session.ParseSpeed(values[0])
				return session.SetSpeed{Speed: speed}, err
			case "t":
				t, err := session.ParseT(values[0])
				return session.Seek{T: t}, err
			case "experiment":
				return findExperiment(values[0])
			}
		}
	}
	given := form["command"]
	if len(given) != 1 {
		return nil, &sim.SettingError{Setting: "command", Got: joined(given), Allowed: names}
	}
	name := given[0]
	delete(form, "command")
	switch name {
	case "set":
		return session.Set{Values: form}, nil
	case "apply":
		return completeForm(form)
	case "open":
		return decodeOpen(form)
	}
	simple := map[string]session.Command{"baseline": session.Baseline{}, "play": session.Play{}, "pause": session.Pause{},
		"step": session.Step{Seconds: 1}, "back": session.Step{Seconds: -1}, "restart": session.Restart{}}
	cmd, ok := simple[name]
	if !ok {
		return nil, &sim.SettingError{Setting: "command", Got: name, Allowed: names}
	}
	for extra, values := range form {
		return nil, &sim.SettingError{Setting: extra, Got: joined(values), Allowed: "nothing beside command=" + name}
	}
	return cmd, nil
}

func joined(values []string) string {
	if len(values) == 0 {
		return "nothing"
	}
	return values[0]
}

// completeForm reads the settings' whole form, in which a toggle that is off
// is missing.
func completeForm(form url.Values) (session.Command, error) {
	for _, c := range sim.Controls() {
		if form[c.Name] != nil {
			continue
		}
		if !c.Toggle {
			return nil, c.Refuse("nothing")
		}
		form[c.Name] = []string{"0"}
	}
	settings, err := sim.ParseValues(form)
	return session.Replace{Settings: settings}, err
}

// decodeOpen reads the view in the browser's address bar.
func decodeOpen(form url.Values) (session.Command, error) {
	given := form["query"]
	if len(given) != 1 || len(form) != 1 {
		return nil, &sim.SettingError{Setting: "query", Got: joined(given), Allowed: "one view as a query"}
	}
	query, err := parseQuery(given[0])
	if err != nil {
		return nil, err
	}
	v, err := parseView(query)
	return session.Open{View: v.View}, err
}

func findExperiment(id string) (session.Command, error) {
	allowed := ""
	for _, e := range sim.Experiments() {
		if e.ID == id {
			return session.Try{Settings: e.Settings}, nil
		}
		if allowed != "" {
			allowed += ", "
		}
		allowed += e.ID
	}
	return nil, &sim.SettingError{Setting: "experiment", Got: id, Allowed: allowed}
}

// createSession makes a session of the form's view and leads to it.
func (s *Server) createSession(w http.ResponseWriter, r *http.Request) error {
	form, v, err := readForm(w, r)
	if err != nil {
		return err
	}
	for name, values := range form {
		if name != "command" || joined(values) != "together" {
			return &sim.SettingError{Setting: name, Got: joined(values), Allowed: "a view, and nothing beside it"}
		}
	}
	if v == nil {
		v = &view{View: session.View{Settings: sim.Opening(), Speed: session.Single}, Axes: drainAxes}
	}
	id := session.NewID()
	if _, err := s.store.Create(r.Context(), id, session.New(v.View, time.Now())); err != nil {
		return err
	}
	http.Redirect(w, r, "/sessions/"+string(id), http.StatusSeeOther)
	return nil
}

// sessionPage shows a session itself, as it stands now.
func (s *Server) sessionPage(w http.ResponseWriter, r *http.Request) error {
	id, err := session.ParseID(chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	rec, err := s.store.Get(r.Context(), id)
	if err != nil {
		return err
	}
	worker, err := parseWorker(r.URL.Query().Get("worker"), rec.State.Settings)
	if err != nil {
		return err
	}
	now := time.Now()
	w.Header().Set("Cache-Control", "no-store")
	v := view{View: viewOf(rec.State, now), Worker: worker, Axes: drainAxes}
	s.render(w, r, http.StatusOK, templates.DrainPage(s.lesson(v, rec.State, now, id)))
	return nil
}

// command takes one command to a session.
func (s *Server) command(w http.ResponseWriter, r *http.Request) error {
	id, err := session.ParseID(chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	form, _, err := readForm(w, r)
	if err != nil {
		return err
	}
	if form.Get("command") == "worker" { // a viewer's own choice, in the link alone
		rec, err := s.store.Get(r.Context(), id)
		if err != nil {
			return err
		}
		worker, err := parseWorker(joined(form["worker"]), rec.State.Settings)
		if err != nil {
			return err
		}
		http.Redirect(w, r, fmt.Sprintf("/sessions/%s?worker=%d", id, worker), http.StatusSeeOther)
		return nil
	}
	cmd, err := decodeCommand(form)
	if err != nil {
		return err
	}
	if _, err := session.Do(r.Context(), s.store, id, cmd); err != nil {
		return err
	}
	if r.Header.Get(clientHeader) != "" {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(w, r, "/sessions/"+string(id), http.StatusSeeOther)
	return nil
}

// errNoHead answers HEAD for a stream, which has no end to take a length of.
var errNoHead = &requestError{status: http.StatusMethodNotAllowed, sentence: "A stream does not take HEAD."}

// viewStream makes a session of the query's view and streams it.
func (s *Server) viewStream(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodHead {
		return errNoHead
	}
	v, err := streamView(r)
	if err != nil {
		return err
	}
	id := session.NewID()
	if _, err := s.store.Create(r.Context(), id, session.New(*v, time.Now())); err != nil {
		return err
	}
	return s.watch(w, r, id)
}

// sessionStream streams a session. One that is no more is made again, under
// its id, from the view that the client had last, if it says so.
func (s *Server) sessionStream(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodHead {
		return errNoHead
	}
	id, err := session.ParseID(chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	_, err = s.store.Get(r.Context(), id)
	if errors.Is(err, session.ErrNotFound) && r.URL.RawQuery != "" {
		var v *session.View
		if v, err = streamView(r); err != nil {
			return err
		}
		_, err = s.store.Create(r.Context(), id, session.New(*v, time.Now()))
		if errors.Is(err, session.ErrExists) { // another viewer was first
			err = nil
		}
	}
	if err != nil {
		return err
	}
	return s.watch(w, r, id)
}

// streamView reads a stream's query: a view, and playing=1 where it plays.
func streamView(r *http.Request) (*session.View, error) {
	query, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	playing := false
	err = takeParam(query, "playing", func(text string) error {
		if text != "0" && text != "1" {
			return &sim.SettingError{Setting: "playing", Got: text, Allowed: "1 or 0"}
		}
		playing = text == "1"
		return nil
	})
	if err != nil {
		return nil, err
	}
	v, err := parseView(query)
	v.Playing = playing
	return &v.View, err
}
