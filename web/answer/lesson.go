package answer

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strconv"

	"drainlab/internal/course"
	"drainlab/web/wire"
)

// Route is an address of a lesson's own, beside those that the machinery
// serves for every lesson.
type Route struct {
	Method  string // GET or POST
	Pattern string // the whole path in chi's syntax: /lessons/x/… or /api/v1/…
	Handle  Handler
	Framed  bool // served under /embed too, for hosts' frames
	Open    bool // pages of any origin may read the answer
	Own     bool // refused where a page of another origin sends it
	Raw     bool // not compressed by the machinery, as a stream is
}

// Extra is what a lesson's own route adds to a page.
type Extra struct {
	// Parts stand in the place of the link's parts with their ids; those with
	// new ids are added.
	Parts []course.Part
	// Refresh makes a page without script load itself again after so many
	// seconds; 0: never.
	Refresh int
	// NoStore keeps the page out of caches.
	NoStore bool
}

// Tools are what the machinery lends to a lesson's own routes.
type Tools interface {
	// Base is the scheme and host under which the world reaches the server.
	Base(*http.Request) string
	// Render answers with the lesson's whole page around the link's parts.
	Render(w http.ResponseWriter, r *http.Request, status int, link course.Link, extra Extra) error
	// Stream begins an answer of events.
	Stream(http.ResponseWriter, *http.Request) *wire.Stream
	// Draining is closed when the server goes away.
	Draining() <-chan struct{}
	Log() *slog.Logger
	// Draw returns a picture of that key, drawn if it is not kept; equal keys
	// stand for equal pictures.
	Draw(ctx context.Context, key string, draw func(io.Writer) error) ([]byte, error)
}

// Routed is a lesson with addresses of its own.
type Routed interface{ Routes(Tools) []Route }

// Styled is a lesson with rules of its own in the course's style.
type Styled interface{ Style() string }

// Told is a lesson with a page that says exactly what it is, what it leaves
// out and where it is from. Of a link that is held ([course.Link.Held]) nothing
// on it may answer what the link asks.
type Told interface {
	AboutPage(course.Link) course.Component
}

// HandedOut is a lesson with sheets of its own for paper: questions, and
// their answers apart. base is the scheme and host of links on paper.
type HandedOut interface {
	Sheet(link course.Link, base string) (questions, key course.Component)
}

// Closed is a lesson that has something to end with the server: Close begins
// when the server drains and returns when all is done, or ctx ends.
type Closed interface {
	Close(ctx context.Context) error
}

// Download is a file that the share dialog offers.
type Download struct{ Name, Href string }

// Offering is a lesson with files of a view to take away.
type Offering interface {
	Files(course.Link) []Download
}

// SendPicture answers with a picture that everybody may keep for a day, or
// with a passing one, that nobody may keep.
func SendPicture(w http.ResponseWriter, kind string, data []byte, passing bool) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", Cache)
	if passing {
		h.Set("Cache-Control", "no-store")
	}
	h.Set("Content-Length", strconv.Itoa(len(data))) // HEAD has it too
	w.Write(data)
}

// Start is a view that an instructor's link may start with.
type Start struct {
	Group string // those of one group stand together; "" for none
	ID    string // "opening" is the opening view
	Name  string
	Query string // the view as a link's query
	Was   string // the id that it had in earlier versions, "" for none
}

// Starting is a lesson with views of its own to start with; without it they
// are the opening view and the guide's steps.
type Starting interface{ Starts() []Start }

// Announced is a lesson that the front page shows by a view of its own, such
// as a moment that leaves open how its run ends; without it by its opening
// view, seen to its end.
type Announced interface{ Poster() course.Link }
