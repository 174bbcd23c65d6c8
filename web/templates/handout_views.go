package templates

import "drainlab/internal/course"

// Handout is one sheet of paper on a run: questions with room for the answers,
// or the answers.
type Handout struct {
	Page
	Heading          string
	Link             string // absolute, as it stands on paper
	QR               string // of a picture
	Back             string // to the lesson
	Other, OtherName string // the way to the other sheet; "" for none
	Key              bool   // the sheet has the answers
	Settings         []Fact
	// Body is what the lesson has for its sheet. Without it there is Picture,
	// of the run before it began or of the whole run, and Answer in words.
	Body            course.Component
	Picture, Answer string
}

// alt describes the picture of a sheet without a lesson's own.
func (v Handout) alt() string {
	if v.Key {
		return "The whole run. " + v.Answer
	}
	return "The run's picture before anything has happened, to draw into."
}
