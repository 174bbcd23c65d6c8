package web

import (
	"fmt"
	"io"
	"net/http"
	"net/url"

	"drainlab/internal/course"
	"drainlab/internal/picture"
	"drainlab/web/answer"
	"drainlab/web/templates"
)

// figureOf is the picture of a link: as it stands, and the whole run for one
// that opens at its beginning, where a picture would be empty. Where a
// prediction is asked for, it gives no answer away.
func figureOf(link course.Link) course.Figure {
	run := link.View.Run()
	t := link.T
	if t == 0 && !link.Predict {
		t = run.End()
	}
	if link.Held() {
		t = 0
	}
	return run.Figure(t)
}

// cardOf is what other sites are told of a link.
func (s *Server) cardOf(r *http.Request, link course.Link) templates.Card {
	link.Embedded = false
	base, a := s.base(r), link.Lesson.About()
	public := base + link.Public()
	return templates.Card{URL: public, Image: base + link.At("card.png"), Description: a.Lead, Alt: figureOf(link).Alt,
		JSON: base + "/oembed?format=json&url=" + url.QueryEscape(public),
		XML:  base + "/oembed?format=xml&url=" + url.QueryEscape(public)}
}

// card answers with the picture that other sites show with a link.
func (s *Server) card(l course.Lesson) answer.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		link, err := answer.Link(r, l)
		if err != nil {
			return err
		}
		f := figureOf(link)
		return s.sendCard(w, r, l.About().ID+" card "+f.Key, f.Passing, f.Card)
	}
}

func (s *Server) courseCard(w http.ResponseWriter, r *http.Request) error {
	return s.sendCard(w, r, "course", false, func(w io.Writer) error {
		var lines []string
		for _, l := range s.lessons.All() {
			lines = append(lines, fmt.Sprintf("Lesson %d: %s", l.About().Number, l.About().Title))
		}
		return picture.TextCard(w, courseTitle, courseLead, lines)
	})
}

func (s *Server) sendCard(w http.ResponseWriter, r *http.Request, key string, passing bool, draw func(io.Writer) error) error {
	data, err := s.pictures.get(r.Context(), key, draw)
	if err != nil {
		return err
	}
	w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
	answer.SendPicture(w, "image/png", data, passing)
	return nil
}

// picture answers with the run's picture alone, at the link's instant.
func (s *Server) picture(l course.Lesson, ending string) answer.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		link, err := answer.Link(r, l)
		if err != nil {
			return err
		}
		if link.Held() {
			link.T = 0
		}
		f := link.View.Run().Figure(link.T)
		draw, kind := f.PNG, "image/png"
		if ending == "svg" {
			draw, kind = f.SVG, "image/svg+xml"
		}
		if draw == nil {
			return answer.NotFound
		}
		data, err := s.pictures.get(r.Context(), l.About().ID+" "+ending+" "+f.Key, draw)
		if err != nil {
			return err
		}
		w.Header().Set("Content-Disposition", fmt.Sprintf(`inline; filename="drainlab-%s-at-%ss.%s"`, l.About().ID, link.T, ending))
		answer.SendPicture(w, kind, data, f.Passing)
		return nil
	}
}
