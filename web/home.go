package web

import (
	"net/http"

	"drainlab/internal/course"
	"drainlab/internal/openapi"
	"drainlab/web/answer"
	"drainlab/web/templates"
)

// courseBegin is the call to action.
const courseBegin = "Begin: what will SIGTERM kill?"

// home is the way in: one call to action, and each lesson with a picture of
// its own run.
func (s *Server) home(w http.ResponseWriter, r *http.Request) error {
	base := s.base(r)
	p := s.page(courseTitle, courseLead, nil)
	p.Card = templates.Card{URL: base + "/", Image: base + "/card.png", Description: courseLead, Alt: courseTitle + ": the lessons of the course."}
	v := templates.Home{Page: p, Ask: courseBegin}
	for i, l := range s.lessons.All() {
		s.addStyle(&v.Page, l)
		a, poster := l.About(), posterOf(l)
		card := templates.HomeLesson{Number: a.Number, Name: a.Title, Lead: a.Lead, Href: a.Path(), Minutes: a.Minutes,
			Alt: figureOf(poster).Alt, Picture: pictureAt(poster)}
		switch {
		case i == 0:
			v.Begin, v.Picture = a.Path(), picturePieces(poster)
			if card.Picture == "" {
				card.Picture = poster.At("card.png")
			}
		default: // once a page: its elements have ids
			card.Drawn = picturePieces(poster)
		}
		v.Minutes += a.Minutes
		v.Lessons = append(v.Lessons, card)
	}
	return answer.Page(w, r, http.StatusOK, templates.HomePage(v))
}

// posterOf is the view that a lesson is announced with.
func posterOf(l course.Lesson) course.Link {
	if announced, ok := l.(answer.Announced); ok {
		return announced.Poster()
	}
	link := course.OpenLink(l)
	link.T = link.View.Run().End()
	return link
}

// picturePieces are the pieces of a link's picture, as the lesson's page has them for
// everybody; where there are none, those that follow the link.
func picturePieces(link course.Link) []course.Component {
	run := link.View.Run()
	if list := inPicture(run.Live(course.Frame{T: link.T, Until: link.T})); list != nil {
		return list
	}
	return inPicture(run.Own(link))
}

func inPicture(parts []course.Part) []course.Component {
	var list []course.Component
	for _, p := range parts {
		if p.Slot == course.Picture {
			list = append(list, p.Body)
		}
	}
	return list
}

// apiDescription answers with the API's description.
func (s *Server) apiDescription(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "public, max-age=3600")
	w.Write(s.description)
	return nil
}

// describeAPI makes the API's description: what each lesson says of its own
// operations, and those of the service.
func describeAPI(lessons *course.Register) ([]byte, error) {
	d := openapi.Document{
		Title: "Drainlab runs", Version: "1",
		Summary: "The models of the lessons, one run or many at a time, and runs of a real server.",
		Description: "A run of a model depends on its settings alone: equal settings give equal bytes, today and later. There are no accounts, keys or cookies, and pages of any origin may call. " +
			"Instants and spans are seconds in whole tenths.",
		License: openapi.License{Name: "MIT", Identifier: "MIT"},
		Tags: []openapi.Tag{
			{Name: answer.TagRuns, Description: "Runs of the models."},
			{Name: answer.TagFixture, Description: "Runs of the real fixture."},
			{Name: answer.TagService, Description: "The service itself."},
		},
	}
	for _, l := range lessons.All() {
		if described, ok := l.(answer.Described); ok {
			d.Parts = append(d.Parts, described.Describe())
		}
	}
	if len(d.Parts) > 0 {
		d.Parts = append(d.Parts, describeRefusals())
	}
	d.Parts = append(d.Parts, describeService())
	return d.JSON()
}
