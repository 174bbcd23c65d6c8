package web

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"drainlab/internal/course"
	"drainlab/internal/session"
	"drainlab/internal/setting"
	"drainlab/web/answer"
)

const commandNames = "one of set, apply, baseline, own, open, play, pause, step, back, restart, or one of the names speed, t, step alone"

// lessonForm is a lesson without script: the command is applied to the view
// that the form carries, and the answer is the way to the new view.
func (s *Server) lessonForm(l course.Lesson) answer.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		form, err := answer.Form(w, r)
		if err != nil {
			return err
		}
		link, err := takeView(form, l)
		if err != nil {
			return err
		}
		if link == nil {
			return &setting.Error{Setting: "view", Got: "nothing", Allowed: "the page's view as a query"}
		}
		link.Embedded = answer.Framed(r)
		if link.Waits() && !own(form) {
			return &setting.Error{Setting: "command", Got: answer.Said(form["command"]), Allowed: "nothing before the prediction that this link asks for"}
		}
		next, err := commanded(*link, form)
		if err == nil {
			err = locked(*link, next)
		}
		if err != nil {
			return backTo(err, *link, form)
		}
		http.Redirect(w, r, next.Address(), http.StatusSeeOther)
		return nil
	}
}

// own reports whether a form changes what is the viewer's own.
func own(form url.Values) bool { return form.Get("command") == "own" }

// notOwn refuses what no viewer chooses alone, and says why.
func notOwn(l course.Lesson, choices url.Values, why string) error {
	others := []string{"t", "speed", "predict", "hide", "lock"}
	for _, info := range l.Settings() {
		others = append(others, info.Name)
	}
	for _, name := range others {
		if values, ok := choices[name]; ok {
			return &setting.Error{Setting: name, Got: answer.Said(values), Allowed: "no such choice of one's own: " + why}
		}
	}
	return nil
}

// commanded is the link that a command makes of another one.
func commanded(link course.Link, form url.Values) (course.Link, error) {
	if own(form) {
		delete(form, "command")
		if err := notOwn(link.Lesson, form, "it is the link's"); err != nil {
			return link, err
		}
		return withOwn(link, form)
	}
	cmd, err := decodeCommand(link.Lesson, form)
	if err != nil {
		return link, err
	}
	now := time.Now()
	before := session.New(link, false, now)
	state, err := session.Reduce(link.Lesson, before, cmd, now)
	if err != nil {
		return link, err
	}
	next := link
	if state.Query != before.Query { // a viewer's own choices are not in the session's
		if next, err = withSettings(link, state.Query); err != nil {
			return link, err
		}
	}
	next.T, next.Speed = state.Clock.T(now), state.Clock.Speed
	return next, nil
}

// withSettings is the link with the settings of a session's query, and of a
// viewer's own choices those that still fit.
func withSettings(link course.Link, query string) (course.Link, error) {
	values, err := settingsOf(link.Lesson, query)
	if err != nil {
		return link, err
	}
	link.View, err = link.View.Change(values)
	return link, err
}

// settingsOf are the values of all settings of a session's query.
func settingsOf(l course.Lesson, query string) (url.Values, error) {
	given, err := answer.Query(query)
	if err != nil {
		return nil, err
	}
	view, err := l.Open(given)
	if err != nil {
		return nil, err
	}
	values := url.Values{}
	for _, info := range l.Settings() {
		values.Set(info.Name, view.Text(info.Name))
	}
	return values, nil
}

// withOwn is the link with a viewer's own choices changed. An empty value
// takes a choice back.
func withOwn(link course.Link, choices url.Values) (course.Link, error) {
	query, err := answer.Query(link.Query())
	if err != nil {
		return link, err
	}
	for name, values := range choices {
		query[name] = values
		if len(values) == 1 && values[0] == "" {
			delete(query, name)
		}
	}
	next, err := course.ParseLink(link.Lesson, query)
	next.Embedded = link.Embedded
	return next, err
}

// takeView takes the view that a form carries out of it, nil where it has none.
func takeView(form url.Values, l course.Lesson) (*course.Link, error) {
	given, ok := form["view"]
	if !ok {
		return nil, nil
	}
	delete(form, "view")
	if len(given) != 1 {
		return nil, &setting.Error{Setting: "view", Got: "several", Allowed: "one view as a query"}
	}
	query, err := answer.Query(given[0])
	if err != nil {
		return nil, err
	}
	link, err := course.ParseLink(l, query)
	if err != nil {
		return nil, err
	}
	return &link, nil
}

// decodeCommand reads the one command of a form: command=name with what it
// needs, or one of speed=, t= and step= alone.
func decodeCommand(l course.Lesson, form url.Values) (session.Command, error) {
	if cmd, err := decodeAlone(l, form); cmd != nil || err != nil {
		return cmd, err
	}
	given := form["command"]
	if len(given) != 1 {
		return nil, &setting.Error{Setting: "command", Got: answer.Said(given), Allowed: commandNames}
	}
	name := given[0]
	delete(form, "command")
	switch name {
	case "set":
		return session.Set{Values: form}, nil
	case "apply":
		return session.Apply{Values: form}, completeForm(l, form)
	case "open":
		return decodeOpen(l, form)
	}
	simple := map[string]session.Command{"baseline": session.Baseline{}, "play": session.Play{}, "pause": session.Pause{},
		"step": session.Step{Seconds: 1}, "back": session.Step{Seconds: -1}, "restart": session.Restart{}}
	cmd, ok := simple[name]
	if !ok {
		return nil, &setting.Error{Setting: "command", Got: name, Allowed: commandNames}
	}
	for extra, values := range form {
		return nil, &setting.Error{Setting: extra, Got: answer.Said(values), Allowed: "nothing beside command=" + name}
	}
	return cmd, nil
}

// decodeAlone reads a command that is one value alone; nil where the form has
// none.
func decodeAlone(l course.Lesson, form url.Values) (session.Command, error) {
	if len(form) != 1 {
		return nil, nil
	}
	for name, values := range form {
		switch name {
		case "speed", "t", "step", "experiment":
		default:
			return nil, nil
		}
		if len(values) != 1 {
			return nil, &setting.Error{Setting: name, Got: "several values", Allowed: "one value"}
		}
		switch name {
		case "speed":
			speed, err := course.ParseSpeed(values[0])
			return session.SetSpeed{Speed: speed}, err
		case "t":
			t, err := setting.ParseTime(values[0])
			if err != nil {
				return nil, &setting.Error{Setting: "t", Got: values[0], Allowed: "a plain decimal number of seconds in steps of 0.1"}
			}
			return session.Seek{T: t}, nil
		default:
			return findStep(l, name, values[0])
		}
	}
	return nil, nil
}

func findStep(l course.Lesson, name, id string) (session.Command, error) {
	var ids []string
	for _, step := range l.Steps() {
		if step.ID == id {
			return session.Try{Step: id}, nil
		}
		ids = append(ids, step.ID)
	}
	return nil, &setting.Error{Setting: name, Got: id, Allowed: strings.Join(ids, ", ")}
}

// completeForm fills in what the settings' whole form leaves out: a toggle
// that is off sends nothing.
func completeForm(l course.Lesson, form url.Values) error {
	for _, info := range l.Settings() {
		switch {
		case form[info.Name] != nil:
		case info.Toggle:
			form.Set(info.Name, "0")
		default:
			return &setting.Error{Setting: info.Name, Label: info.Label, Got: "nothing", Allowed: info.Allowed}
		}
	}
	return nil
}

// decodeOpen reads the view in the browser's address bar.
func decodeOpen(l course.Lesson, form url.Values) (session.Command, error) {
	given := form["query"]
	if len(given) != 1 || len(form) != 1 {
		return nil, &setting.Error{Setting: "query", Got: answer.Said(given), Allowed: "one view as a query"}
	}
	query, err := answer.Query(given[0])
	if err != nil {
		return nil, err
	}
	link, err := course.ParseLink(l, query)
	return session.Open{Link: link}, err
}
