package web

import (
	"bytes"
	"fmt"
	"net/http"
	"time"

	"drainlab/internal/course"
	"drainlab/internal/session"
	"drainlab/web/answer"
	"drainlab/web/templates"
)

// lessonPage shows the view that its query says, as it stands. Its session is
// made when its stream connects.
func (s *Server) lessonPage(l course.Lesson) answer.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		link, err := answer.Link(r, l)
		if err != nil {
			return backFrom(err, r, l)
		}
		return s.Render(w, r, http.StatusOK, link, answer.Extra{})
	}
}

// backFrom adds to the error of a request's address the way back.
func backFrom(err error, r *http.Request, l course.Lesson) error {
	given, unreadable := answer.Query(r.URL.RawQuery)
	if unreadable != nil {
		return err
	}
	link := course.OpenLink(l)
	link.Embedded = answer.Framed(r)
	return backTo(err, link, given)
}

// Render implements [answer.Tools].
func (s *Server) Render(w http.ResponseWriter, r *http.Request, status int, link course.Link, extra answer.Extra) error {
	now := time.Now()
	v := s.pageOf(r, link, session.New(link, false, now), now)
	v.Refresh = extra.Refresh
	v.Parts = replaced(v.Parts, extra.Parts)
	if extra.NoStore {
		w.Header().Set("Cache-Control", "no-store")
	}
	return answer.Page(w, r, status, templates.LessonPage(v))
}

// replaced puts parts in the place of those with their ids, and adds the rest.
func replaced(parts, others []course.Part) []course.Part {
	at := map[string]int{}
	for i, p := range parts {
		at[p.ID] = i
	}
	for _, p := range others {
		if i, ok := at[p.ID]; ok {
			parts[i] = p
		} else {
			parts = append(parts, p)
		}
	}
	return parts
}

// pageOf is the page of a link, as its session stands.
func (s *Server) pageOf(r *http.Request, link course.Link, state session.State, now time.Time) templates.Lesson {
	a := link.Lesson.About()
	run := link.View.Run()
	frame := state.FrameAt(run, now)
	v := templates.Lesson{Page: s.page(a.Title, a.Lead, link.Lesson), Link: link, Parts: append(run.Live(frame.Frame), run.Own(link)...)}
	v.Card = s.cardOf(r, link)
	_, v.Told = link.Lesson.(answer.Told)
	if end := run.End(); end > 0 {
		t := templates.NewTransport(frame.T, end, frame.Playing, state.Clock.Speed)
		t.Locked = link.Waits()
		v.Transport = &t
	}
	return v
}

// ownParts answers the page's script with the parts that follow the link
// alone.
func (s *Server) ownParts(l course.Lesson) answer.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		link, err := answer.Link(r, l)
		if err != nil {
			return err
		}
		var all bytes.Buffer
		for _, p := range link.View.Run().Own(link) {
			if err := p.Body.Render(r.Context(), &all); err != nil {
				return fmt.Errorf("rendering %s: %w", p.ID, err)
			}
		}
		w.Header().Set("Access-Control-Expose-Headers", "Lesson-Settings")
		w.Header().Set("Lesson-Settings", link.View.Shared()) // as the address bar has them
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(all.Bytes())
		return nil
	}
}

// aboutPage says exactly what the lesson is and what it leaves out. Where the
// link asks for a prediction first, its lesson keeps back what would answer it.
func (s *Server) aboutPage(l course.Lesson) answer.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		told, ok := l.(answer.Told)
		if !ok {
			return answer.NotFound
		}
		link, err := answer.Link(r, l)
		if err != nil {
			return err
		}
		a := l.About()
		return answer.Page(w, r, http.StatusOK, templates.AboutPage(templates.About{
			Page: s.page("About "+a.Title, a.Lead, l), Back: link.Address(), Heading: a.Heading, Body: told.AboutPage(link)}))
	}
}
