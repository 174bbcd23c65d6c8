package web

import (
	"net/http"
	"slices"

	"drainlab/internal/course"
	"drainlab/web/answer"
	"drainlab/web/templates"
)

// doctorPage checks, in a host's frame, what the host lets a frame do.
func (s *Server) doctorPage(w http.ResponseWriter, r *http.Request) error {
	p := s.page("What this host does with a frame", "Opened in a host's frame, this page checks what the host lets a lesson do.", nil)
	v := templates.Doctor{Page: p, Checks: doctorChecks(), Teach: s.base(r) + "/teach"}
	if i := slices.IndexFunc(s.lessons.All(), func(l course.Lesson) bool { return l.About().Sessions }); i >= 0 {
		frame := course.OpenLink(s.lessons.All()[i])
		frame.Embedded = true
		v.Lesson = frame.Path()
	}
	return answer.Page(w, r, http.StatusOK, templates.DoctorPage(v))
}

func doctorChecks() []templates.DoctorCheck {
	return []templates.DoctorCheck{
		{ID: "height", Name: "Height messages"}, {ID: "stream", Name: "Streaming"}, {ID: "fetch", Name: "Requests"},
		{ID: "frame", Name: "Frame"}, {ID: "origin", Name: "Sandbox"}, {ID: "storage", Name: "Storage"},
		{ID: "clipboard", Name: "Clipboard"}, {ID: "fullscreen", Name: "Fullscreen"},
		{ID: "size", Name: "Size"}, {ID: "colours", Name: "Colours"},
	}
}
