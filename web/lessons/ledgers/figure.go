package ledgers

import (
	"fmt"
	"io"
	"strings"

	"drainlab/internal/ledger"
	"drainlab/internal/picture"
	"drainlab/web/templates"
)

// sheetWidth is that of the picture to keep, in pixels; its height is what the
// rows need.
const sheetWidth = 1600

// mostFigureRows is what is drawn of a large record where the room is fixed.
const mostFigureRows = 9

// images are the run as pictures that stand alone.
type images struct {
	title    string
	requests string // both ledgers in words
	work     string
	origin   string // where the run is from
	timeline timeline
}

func (s shown) images(report ledger.Report) images {
	cell := requestsCell(report.Requests)
	m := images{title: s.lesson.About().Title, requests: inWords(cell.Figures), work: inWords(workCell(report.Work).Figures),
		origin: s.origin(), timeline: buildPicture(s.run, report)}
	if cell.Note != "" {
		m.requests += "; " + cell.Note
	}
	return m
}

// card writes the PNG that other sites show with a link to the run.
func (m images) card(w io.Writer) error { return picture.WritePNG(w, m.cardFigure) }

func (m images) cardFigure(set *picture.Typesetter) *picture.Figure {
	const inner = picture.CardWidth - 2*picture.CardMargin
	c := colours()
	f := &picture.Figure{Width: picture.CardWidth, Height: picture.CardHeight, Paper: c.Paper}
	picture.CardHead(f, set, m.title, 40, 24)
	ledgers := picture.Style{Size: 27, Bold: true}
	text := func(part, content string, y float64, font picture.Style, ink picture.Colour) {
		content, font = set.Shrink(content, font, 16, inner)
		f.Add(part, set.Place(content, picture.CardMargin, 0, y, font, ink))
	}
	text("requests", "Requests: "+m.requests, 122, ledgers, c.Ink)
	text("work", "Their work: "+m.work, 160, ledgers, c.work)
	text("origin", m.origin, 192, picture.Style{Size: 19}, c.Quiet)
	panel := picture.Box{X: 28, Y: 208, W: picture.CardWidth - 56, Radius: 14, Fill: c.Card, Edge: c.Rule}
	panel.H = picture.CardHeight - 28 - panel.Y
	f.Add("panel", panel)
	canvas{figure: f, set: set, colours: c, left: picture.CardMargin, top: panel.Y + 12, width: inner, height: panel.H - 22, names: 150, words: 216, text: 17}.draw(m.timeline)
	return f
}

// png and svg write the picture alone.
func (m images) png(w io.Writer) error { return picture.WritePNG(w, m.sheet) }

func (m images) svg(w io.Writer) error {
	return picture.WriteSVG(w, m.title, m.timeline.Summary, m.sheet)
}

func (m images) sheet(set *picture.Typesetter) *picture.Figure {
	const margin, row = 40, 72
	c := colours()
	rows := float64(min(len(m.timeline.Rows), mostFigureRows)) * row
	f := &picture.Figure{Width: sheetWidth, Height: int(150 + 80 + rows + 60), Paper: c.Card}
	text := func(part, content string, y float64, font picture.Style, ink picture.Colour) {
		f.Add(part, set.Place(set.Cut(content, font, sheetWidth-2*margin), margin, 0, y, font, ink))
	}
	text("heading", m.title, 58, picture.Style{Size: 28, Bold: true}, c.Ink)
	text("requests", "Requests: "+m.requests, 98, picture.Style{Size: 21}, c.Ink)
	text("work", "Their work: "+m.work, 128, picture.Style{Size: 21}, c.work)
	canvas{figure: f, set: set, colours: c, left: margin, top: 150, width: sheetWidth - 2*margin, height: 80 + rows, names: 180, words: 270, text: 20}.draw(m.timeline)
	base, brand, caption := float64(f.Height-26), picture.Style{Size: 20, Bold: true}, picture.Style{Size: 17}
	wide := picture.BrandWidth(set, brand)
	f.Add("origin", set.Place(set.Cut(m.origin, caption, sheetWidth-2*margin-wide-40), margin, 0, base, caption, c.Quiet))
	picture.BrandMark(f, set, sheetWidth-margin-wide, base, brand)
	return f
}

// inWords are a strip's figures as a sentence has them.
func inWords(figures []templates.StripFigure) string {
	var words []string
	for _, f := range figures {
		words = append(words, strings.TrimSpace(f.N+" "+f.Word))
	}
	return strings.Join(words, " ")
}

// key says all that the run's images depend on.
func (s shown) key() string {
	return fmt.Sprintf("ledgers %s %d %s", s.run.ID, s.source, settingsQuery(s.run.Settings))
}
