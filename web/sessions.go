package web

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/go-chi/chi/v5"

	"drainlab/internal/course"
	"drainlab/internal/session"
	"drainlab/internal/setting"
	"drainlab/web/answer"
	"drainlab/web/templates"
)

// createSession makes a session of the form's view and leads to it.
func (s *Server) createSession(w http.ResponseWriter, r *http.Request) error {
	form, err := answer.Form(w, r)
	if err != nil {
		return err
	}
	lesson, err := s.takeLesson(form)
	if err != nil {
		return err
	}
	link, err := takeView(form, lesson)
	if err != nil {
		return err
	}
	for name, values := range form {
		if name != "command" || answer.Said(values) != "together" {
			return &setting.Error{Setting: name, Got: answer.Said(values), Allowed: "a lesson, a view, and nothing beside it"}
		}
	}
	if link == nil {
		opening := course.OpenLink(lesson)
		link = &opening
	}
	id := session.NewID()
	if _, err := s.store.Create(r.Context(), id, session.New(*link, false, time.Now())); err != nil {
		return err
	}
	http.Redirect(w, r, "/sessions/"+string(id), http.StatusSeeOther)
	return nil
}

// takeLesson takes the lesson out of a form; the first that has sessions where
// it names none.
func (s *Server) takeLesson(form url.Values) (course.Lesson, error) {
	var found course.Lesson
	var ids string
	for _, l := range s.lessons.All() {
		if !l.About().Sessions {
			continue
		}
		if found == nil && form["lesson"] == nil || form.Get("lesson") == l.About().ID {
			found = l
		}
		ids += " " + l.About().ID
	}
	if found == nil || len(form["lesson"]) > 1 {
		return nil, &setting.Error{Setting: "lesson", Got: answer.Said(form["lesson"]), Allowed: "one of" + ids}
	}
	delete(form, "lesson")
	return found, nil
}

// sessionPage shows a session itself, as it stands now. What the query says
// is the viewer's own.
func (s *Server) sessionPage(w http.ResponseWriter, r *http.Request) error {
	id, err := session.ParseID(chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	rec, err := s.store.Get(r.Context(), id)
	if err != nil {
		return err
	}
	now := time.Now()
	own, err := answer.Query(r.URL.RawQuery)
	if err != nil {
		return err
	}
	link, err := s.sessionLink(rec.State, own, now)
	if err != nil {
		return backToSession(err, id)
	}
	w.Header().Set("Cache-Control", "no-store")
	v := s.pageOf(r, link, rec.State, now)
	v.Session, v.Card = string(id), templates.Card{} // who knows the address may drive it
	return answer.Page(w, r, http.StatusOK, templates.LessonPage(v))
}

// sessionLink is the link of a session as it stands, with a viewer's own
// choices. What all viewers share is no one's to choose.
func (s *Server) sessionLink(state session.State, own url.Values, now time.Time) (course.Link, error) {
	lesson, ok := s.lessons.Find(state.Lesson)
	if !ok {
		return course.Link{}, session.ErrNotFound
	}
	query, err := answer.Query(state.Query)
	if err != nil {
		return course.Link{}, err
	}
	if err := notOwn(lesson, own, "in a session it is the same for all its viewers"); err != nil {
		return course.Link{}, err
	}
	for name, values := range own {
		query[name] = values
	}
	query["t"], query["speed"] = []string{state.Clock.T(now).String()}, []string{state.Clock.Speed.String()}
	return course.ParseLink(lesson, query)
}

// sessionAddress is the way to a session's page with a viewer's own choices.
func sessionAddress(id session.ID, own string) string {
	if own == "" {
		return "/sessions/" + string(id)
	}
	return "/sessions/" + string(id) + "?" + own
}

// command takes one command to a session.
func (s *Server) command(w http.ResponseWriter, r *http.Request) error {
	id, err := session.ParseID(chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	form, err := answer.Form(w, r)
	if err != nil {
		return err
	}
	rec, err := s.store.Get(r.Context(), id)
	if err != nil {
		return err
	}
	lesson, ok := s.lessons.Find(rec.State.Lesson)
	if !ok {
		return session.ErrNotFound
	}
	// Of the view the settings are as the viewer saw them last. The session's
	// own state is what the command changes.
	view, err := takeView(form, lesson)
	if err != nil {
		return backToSession(err, id)
	}
	if own(form) {
		return backToSession(s.chooseOwn(w, r, id, rec.State, view, form), id)
	}
	cmd, err := decodeCommand(lesson, form)
	if err != nil {
		return backToSession(err, id)
	}
	rec, err = session.Do(r.Context(), s.lessons, s.store, id, cmd)
	if err != nil {
		return backToSession(err, id)
	}
	if r.Header.Get(answer.ClientHeader) != "" {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	chosen := ""
	if view != nil {
		next, err := withSettings(*view, rec.State.Query)
		if err != nil {
			return err
		}
		chosen = next.Own()
	}
	http.Redirect(w, r, sessionAddress(id, chosen), http.StatusSeeOther)
	return nil
}

// backToSession is an error of values that were refused, with a way back to the
// session. Other errors stay as they are.
func backToSession(err error, id session.ID) error {
	var wrong *setting.Error
	if !errors.As(err, &wrong) {
		return err
	}
	return &answer.WayBack{Err: err, Text: "Back to the session", Href: sessionAddress(id, "")}
}

// chooseOwn changes a viewer's own choices, which are in the link alone. An
// empty value takes a choice back.
func (s *Server) chooseOwn(w http.ResponseWriter, r *http.Request, id session.ID, state session.State, view *course.Link, form url.Values) error {
	chosen := url.Values{}
	if view != nil {
		var err error
		if chosen, err = answer.Query(view.Own()); err != nil {
			return err
		}
	}
	delete(form, "command")
	for name, values := range form {
		chosen[name] = values
		if len(values) == 1 && values[0] == "" {
			delete(chosen, name)
		}
	}
	link, err := s.sessionLink(state, chosen, time.Now())
	if err != nil {
		return err
	}
	http.Redirect(w, r, sessionAddress(id, link.Own()), http.StatusSeeOther)
	return nil
}

// viewStream makes a session of the query's view and streams it.
func (s *Server) viewStream(l course.Lesson) answer.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if r.Method == http.MethodHead {
			return answer.NoHead
		}
		link, playing, err := streamView(r, l)
		if err != nil {
			return err
		}
		id := session.NewID()
		if _, err := s.store.Create(r.Context(), id, session.New(link, playing, time.Now())); err != nil {
			return err
		}
		return s.watch(w, r, id)
	}
}

// sessionStream streams a session. One that is no more is made again, under
// its id, from the view that the client had last, if it says so.
func (s *Server) sessionStream(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodHead {
		return answer.NoHead
	}
	id, err := session.ParseID(chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	_, err = s.store.Get(r.Context(), id)
	if errors.Is(err, session.ErrNotFound) && r.URL.RawQuery != "" {
		err = s.remake(r, id)
	}
	if err != nil {
		return err
	}
	return s.watch(w, r, id)
}

// remake makes a lost session again from what its client knows of it.
func (s *Server) remake(r *http.Request, id session.ID) error {
	query, err := answer.Query(r.URL.RawQuery)
	if err != nil {
		return err
	}
	lesson, err := s.takeLesson(query)
	if err != nil {
		return err
	}
	r = r.Clone(r.Context())
	r.URL.RawQuery = query.Encode()
	link, playing, err := streamView(r, lesson)
	if err != nil {
		return err
	}
	_, err = s.store.Create(r.Context(), id, session.New(link, playing, time.Now()))
	if errors.Is(err, session.ErrExists) { // another viewer was first
		return nil
	}
	return err
}

// streamView reads a stream's query: a link, and playing=1 where it plays.
func streamView(r *http.Request, l course.Lesson) (course.Link, bool, error) {
	query, err := answer.Query(r.URL.RawQuery)
	if err != nil {
		return course.Link{}, false, err
	}
	playing := false
	err = course.Take(query, "playing", func(text string) error {
		if text != "0" && text != "1" {
			return &setting.Error{Setting: "playing", Got: text, Allowed: "1 or 0"}
		}
		playing = text == "1"
		return nil
	})
	if err != nil {
		return course.Link{}, false, err
	}
	link, err := course.ParseLink(l, query)
	// A run that waits for a prediction does not play.
	return link, playing && err == nil && !link.Waits(), err
}
