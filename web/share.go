package web

import (
	"fmt"
	"html"
	"maps"
	"net/http"
	"strings"

	"rsc.io/qr"

	"drainlab/internal/course"
	"drainlab/internal/setting"
	"drainlab/web/answer"
	"drainlab/web/templates"
)

// The heights in CSS pixels at which a frame is complete without scrolling: in
// a column of at least wideFrame, and in a narrower one.
const (
	wideFrame   = 640
	frameHeight = 440
	tallHeight  = 520
	// panelHeight is that of a frame whose link opens a tab of the panel.
	panelHeight = 900
)

// heightOf is the height of a link's frame in a column of that width; 0: any.
func heightOf(link course.Link, width int) int {
	switch {
	case link.PanelNamed:
		return panelHeight
	case width != 0 && width < wideFrame:
		return tallHeight
	}
	return frameHeight
}

// shared is what a link or a frame is made of: the view, and whether it opens
// at the view's time or at the beginning.
type shared struct {
	link course.Link
	atT  bool
}

// readShared reads a link with the share dialog's options.
func readShared(r *http.Request, l course.Lesson) (shared, error) {
	query, err := answer.Query(r.URL.RawQuery)
	if err != nil {
		return shared{}, err
	}
	var sh shared
	err = course.Take(query, "at", func(text string) error {
		if text != "1" {
			return &setting.Error{Setting: "at", Got: text, Allowed: "1, or left out"}
		}
		sh.atT = true
		return nil
	})
	if err != nil {
		return sh, err
	}
	if answered, err := course.ParseLink(l, maps.Clone(query)); err == nil && answered.Predict && !answered.Waits() {
		sh.link = answered
		return sh, nil
	}
	require := false // apart: a view that asks for a prediction has no time to open at
	if l.About().Predicts && query.Get("predict") == "required" && len(query["predict"]) == 1 {
		require = true
		delete(query, "predict")
	}
	if sh.link, err = course.ParseLink(l, query); err != nil {
		return sh, err
	}
	sh.link.Predict = require
	return sh, nil
}

// unanswered is the link without what its viewer said to its question.
func unanswered(link course.Link) (course.Link, error) {
	query, err := answer.Query(link.Query())
	if err != nil {
		return link, err
	}
	for name := range query {
		if strings.HasPrefix(name, "p.") {
			delete(query, name)
		}
	}
	return course.ParseLink(link.Lesson, query)
}

// opened is the link that is shared, as it opens.
func (sh shared) opened(framed bool) course.Link {
	link := sh.link
	if link.Predict { // whoever opens it makes a prediction of their own
		if asks, err := unanswered(link); err == nil {
			link = asks
		}
	}
	link.Embedded = framed
	if !sh.atT || link.Waits() {
		opening := course.OpenLink(link.Lesson).With(link.View)
		link.T, link.Speed = opening.T, opening.Speed
	}
	return link
}

// snippet is the frame's code for a page's HTML.
func snippet(src, title string, height int) string {
	return fmt.Sprintf(`<iframe src="%s" title="%s" width="100%%" height="%d" style="border:0" loading="lazy" allow="fullscreen; clipboard-write"></iframe>`,
		html.EscapeString(src), html.EscapeString(title), height)
}

// frameTitle is how a lesson's frame is called in a host's page.
func frameTitle(l course.Lesson) string { return "Drainlab: " + l.About().Title }

// sharePage offers links, frames and files of a view: a page of its own, or to
// the page's script the content of the dialog.
func (s *Server) sharePage(l course.Lesson) answer.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		sh, err := readShared(r, l)
		if err != nil {
			return err
		}
		v := s.buildShare(r, sh)
		if answer.ForClient(w, r) {
			return answer.Page(w, r, http.StatusOK, templates.ShareFragment(v))
		}
		v.Page = s.page("Share or embed", "A link, a frame, a QR code or a file of exactly this view.", l)
		return answer.Page(w, r, http.StatusOK, templates.SharePage(v))
	}
}

func (s *Server) buildShare(r *http.Request, sh shared) templates.Share {
	base, l := s.base(r), sh.link.Lesson
	plain := sh.link // what the form carries beside its options
	plain.Presentation = course.Presentation{}
	out, frame := sh.opened(false), sh.opened(true)
	v := templates.Share{Action: l.About().Path() + "/share", Carry: templates.Carry(plain.Query()), At: sh.atT, T: sh.link.T.String(), Opens: shared{link: sh.link}.opened(false).T.String(),
		Timed: sh.link.View.Run().End() > 0, Requires: l.About().Predicts, Require: sh.link.Predict, Back: sh.link.Address(),
		Hide: hideOptions(l, sh.link), Lock: lockOptions(l, sh.link),
		Link: base + out.Public(), Snippet: snippet(base+frame.Public(), frameTitle(l), heightOf(frame, 0)),
		QR: out.At("qr.svg"), Handout: out.At("handout")}
	if !sh.link.Predict {
		v.Key = out.At("handout/key")
	}
	if offering, ok := l.(answer.Offering); ok && !sh.link.Held() {
		for _, f := range offering.Files(sh.link) {
			v.Files = append(v.Files, templates.Download{Name: f.Name, Href: f.Href})
		}
	}
	return v
}

// hideNames are the parts that a link can leave out, as the page calls them.
var hideNames = map[string]string{"controls": "Settings and what changes them", "trace": "What happens, in order", "results": "Results and why",
	"inspector": "Details of each part", "text": "The guide's text"}

func hideOptions(l course.Lesson, link course.Link) []templates.Option {
	var list []templates.Option
	for _, part := range course.Hideable() {
		list = append(list, templates.Option{Value: part, Name: tabsHidden(l, part), Chosen: link.Hides(part)})
	}
	return list
}

// tabsHidden names the tabs that go with a part.
func tabsHidden(l course.Lesson, part string) string {
	var names []string
	for _, t := range l.Tabs() {
		if t.Hide == part {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return hideNames[part]
	}
	return strings.Join(names, ", ")
}

func lockOptions(l course.Lesson, link course.Link) []templates.Option {
	var list []templates.Option
	for _, info := range l.Settings() {
		list = append(list, templates.Option{Value: info.Name, Name: info.Label, Chosen: link.Locks(info.Name)})
	}
	return list
}

// qrCode draws a link as a QR code.
func (s *Server) qrCode(l course.Lesson) answer.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		link, err := answer.Link(r, l)
		if err != nil {
			return err
		}
		code, err := drawQR(s.base(r) + link.Public())
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", "image/svg+xml")
		w.Header().Set("Cache-Control", answer.Cache)
		w.Write(code)
		return nil
	}
}

// drawQR is a link's QR code as an SVG document.
func drawQR(link string) ([]byte, error) {
	code, err := qr.Encode(link, qr.L)
	if err != nil { // only of its length
		return nil, &answer.Error{Status: http.StatusRequestURITooLong, Sentence: fmt.Sprintf("A QR code holds no link of %d bytes: it takes some 2,900.", len(link))}
	}
	const quiet = 4 // modules around it
	size := code.Size + 2*quiet
	b := fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" shape-rendering="crispEdges" role="img"><title>QR code of the link</title><rect width="%d" height="%d" fill="#fff"/><path fill="#000" d="`, size, size, size, size)
	for y := range code.Size {
		for x := 0; x < code.Size; {
			if !code.Black(x, y) {
				x++
				continue
			}
			start := x
			for x < code.Size && code.Black(x, y) {
				x++
			}
			b = fmt.Appendf(b, "M%d %dh%dv1h-%dz", start+quiet, y+quiet, x-start, x-start)
		}
	}
	return append(b, `"/></svg>`...), nil
}
