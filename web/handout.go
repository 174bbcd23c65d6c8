package web

import (
	"net/http"
	"slices"
	"strings"

	"drainlab/internal/course"
	"drainlab/web/answer"
	"drainlab/web/templates"
)

// handoutPage is a run on paper: questions, and room to answer them. Nothing
// on it tells an answer.
func (s *Server) handoutPage(l course.Lesson) answer.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		link, err := answer.Link(r, l)
		if err != nil {
			return err
		}
		v := s.handout(r, link)
		v.Page = s.page("Handout: "+l.About().Title, "Questions on one run, to print.", l)
		if handed, ok := l.(answer.HandedOut); ok {
			v.Body, _ = handed.Sheet(link, s.base(r))
		} else {
			v.Picture = pictureOf(link, true)
		}
		if !link.Predict {
			v.Other, v.OtherName = link.At("handout/key"), "The answers, on a sheet of their own"
		}
		return answer.Page(w, r, http.StatusOK, templates.HandoutPage(v))
	}
}

// handoutKey is the sheet with the answers. A link that asks for a prediction
// has none before that is made and seen.
func (s *Server) handoutKey(l course.Lesson) answer.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		link, err := answer.Link(r, l)
		if err != nil {
			return err
		}
		if link.Held() {
			return &answer.Error{Status: http.StatusForbidden, Sentence: "This link asks for a prediction, which the answers would give away. They are at the link that does not ask."}
		}
		v := s.handout(r, link)
		v.Page, v.Key = s.page("Answers: "+l.About().Title, "The answers to a handout, to print.", l), true
		if handed, ok := l.(answer.HandedOut); ok {
			_, v.Body = handed.Sheet(link, s.base(r))
		} else {
			v.Picture = pictureOf(link, false)
			run := link.View.Run()
			v.Answer = run.Figure(run.End()).Alt
		}
		v.Other, v.OtherName = link.At("handout"), "The questions"
		return answer.Page(w, r, http.StatusOK, templates.HandoutPage(v))
	}
}

// handout is what both sheets have: what is on them is the link as it opens.
func (s *Server) handout(r *http.Request, link course.Link) templates.Handout {
	out := shared{link: link}.opened(false)
	out.T = 0 // a sheet asks; its link does not answer
	out.Panel = link.Lesson.Tabs()[0].ID
	v := templates.Handout{Heading: link.Lesson.About().Heading, Link: s.base(r) + out.Public(), QR: out.At("qr.svg"), Back: link.Address()}
	for _, info := range link.Lesson.Settings() {
		v.Settings = append(v.Settings, templates.Fact{Name: info.Label, Value: said(info.Unit, info.Toggle, link.View.Text(info.Name))})
	}
	return v
}

// said is a setting's value for a person.
func said(unit string, toggle bool, text string) string {
	switch {
	case toggle && text == "1":
		return "on"
	case toggle:
		return "off"
	case unit == "" || text == "none":
		return text
	}
	return text + " " + unit
}

// pictureOf is the address of the run's picture before it began, or of the
// whole run.
func pictureOf(link course.Link, blank bool) string {
	link.Predict, link.T = false, 0
	if !blank {
		link.T = link.View.Run().End()
	}
	return pictureAt(link)
}

// pictureAt is the address of the run's picture at the link's instant, which
// it names whatever the lesson opens at; "" where there is none.
func pictureAt(link course.Link) string {
	if link.View.Run().Figure(link.T).SVG == nil {
		return ""
	}
	address := link.At("picture.svg")
	_, query, asked := strings.Cut(address, "?")
	switch {
	case !asked:
		return address + "?t=" + link.T.String()
	case !slices.ContainsFunc(strings.Split(query, "&"), func(pair string) bool { return strings.HasPrefix(pair, "t=") }):
		return address + "&t=" + link.T.String()
	}
	return address
}
