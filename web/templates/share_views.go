package templates

import "slices"

// Share offers links, frames and files of a view.
type Share struct {
	Page
	Action  string
	Carry   []Carried
	At      bool   // the link opens at the view's time
	T       string // that time
	Require bool   // a prediction
	Hide    []Option
	Lock    []Option
	Link    string
	Snippet string
	QR      string
	Files   []Download
	Handout string
	Back    string
}

// Handout is a run on paper.
type Handout struct {
	Page
	Link     string
	Back     string
	Settings []Fact
	Arrivals int
	Run      string // its settings in words
	Blank    Lanes  // before anything has happened
	Lanes    Lanes  // the whole run
	Account  Account
	Gate     Gate
	Killed   string
	Gone     string // when and why worker 1 is
	Why      []string
	Fixes    []string
}

func anyChosen(options []Option) bool {
	return slices.ContainsFunc(options, func(o Option) bool { return o.Chosen })
}
