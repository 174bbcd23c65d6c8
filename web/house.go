package web

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"drainlab/internal/course"
	"drainlab/internal/session"
	"drainlab/web/templates"
	"drainlab/web/wire"
)

// How the course announces itself.
const (
	courseTitle = "Shut a service down without losing accepted work"
	courseLead  = "Lessons that run in front of you: predict what a SIGTERM kills, see it happen, know why."
)

// contentPolicy allows what the page needs and nothing else.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Readiness is what the readiness probe asks: whether sessions can be kept.
type Readiness interface {
	Ready(context.Context) error
}

// Site is what the server is told of its surroundings.
type Site struct {
	// PublicURL is the scheme and host under which the world reaches the server,
	// without a slash at the end; empty: those of each request.
	PublicURL string
	// Frames is the list of hosts that may frame a lesson, in the words of the
	// content policy's frame-ancestors; empty: all, "*".
	Frames string
}

// Server is the course's HTTP handler.
type Server struct {
	http.Handler
	lessons     *course.Register
	site        Site
	pictures    *pictureCache
	store       session.Store
	readiness   Readiness
	hub         *session.Hub
	packer      *wire.Packer
	heartbeat   session.Piece
	assets      assets
	description []byte // of the API
	log         *slog.Logger
}

// base is the scheme and host under which the world reaches the server.
func (s *Server) base(r *http.Request) string {
	if s.site.PublicURL != "" {
		return s.site.PublicURL
	}
	scheme := "http"
	if r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}

// page is what every page has around its own content; here is the lesson that
// it belongs to, or nil.
func (s *Server) page(title, description string, here course.Lesson) templates.Page {
	p := templates.Page{
		Title: title, Description: description,
		Assets: templates.Assets{CSS: []string{s.assets.urls["style.css"]}, Client: s.assets.urls["client.js"],
			Theme: s.assets.urls["theme.js"], Icon: s.assets.urls["icon.svg"]},
	}
	for _, l := range s.lessons.All() {
		a := l.About()
		p.Lessons = append(p.Lessons, templates.LessonLink{Number: a.Number, Name: a.Title, Href: a.Path(), Summary: a.Lead,
			Here: here != nil && here.About().ID == a.ID})
	}
	if here != nil {
		s.addStyle(&p, here)
	}
	return p
}

// addStyle gives a page the rules of a lesson that it shows something of.
func (s *Server) addStyle(p *templates.Page, l course.Lesson) {
	if url := s.assets.urls[l.About().ID+".css"]; url != "" {
		p.Assets.CSS = append(p.Assets.CSS, url)
	}
}
