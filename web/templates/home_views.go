package templates

import (
	"strconv"

	"drainlab/internal/course"
)

// Home is the front page: one call to action, and the lessons. Its title and
// description are those of the course.
type Home struct {
	Page
	Begin   string // address of the first lesson
	Ask     string // what the call to action says
	Minutes int    // that all lessons take, about
	// Picture is the first lesson's, as its own page draws it; nothing in it
	// can be moved here.
	Picture []course.Component
	Lessons []HomeLesson
}

// HomeLesson is one lesson on the front page, with a picture of its own run.
type HomeLesson struct {
	Number           int
	Name, Lead, Href string
	Picture, Alt     string // an image, and what it shows in words
	Minutes          int
	Drawn            []course.Component // in place of the image
}

// first is the lesson whose run stands at the head of the page.
func (v Home) first() HomeLesson {
	if len(v.Lessons) == 0 {
		return HomeLesson{}
	}
	return v.Lessons[0]
}

// alt describes a card's picture; the first lesson's is described at the head
// of the page already.
func (v Home) alt(l HomeLesson) string {
	if l.Picture == v.first().Picture {
		return ""
	}
	return l.Alt
}

func minutes(n int) string {
	if n == 1 {
		return "1 minute"
	}
	return strconv.Itoa(n) + " minutes"
}
