// Package picture draws lesson 1's worker lanes at an instant as pictures that
// stand alone: cards for links that are shared, and files to download.
//
// A picture is laid out once, as a list of shapes in pixels, and two backends
// draw that list: PNG and SVG. Colours, marks and words are those of the
// page's lanes, in its light dress. Equal input gives equal bytes. The package
// decides nothing about a run: it knows the model's snapshots and no page,
// route or store.
package picture

import (
	"io"
	"math"
	"strings"

	"drainlab/internal/sim"
)

// The size of a card in pixels, which is what sites that show links ask for.
const (
	CardWidth  = 1200
	CardHeight = 630
)

// Width is that of the lanes' picture in pixels. Its height is what the
// workers and their slots need: equal settings give equal heights, at any t.
const Width = 1600

// cardMargin is left free on all sides of a card's contents.
const cardMargin = 44

// Card writes a PNG of 1200 by 630 pixels for a link to the snapshot: title,
// verdict and account, the settings that differ from the opening ones, and the
// lanes. A title that is too long for one line gets smaller, then is cut with
// an ellipsis. The error is w's, or that s is not a run's snapshot.
func Card(w io.Writer, s sim.Snapshot, title string) error {
	if err := drawable(s); err != nil {
		return err
	}
	return render(func(set *typesetter) *figure { return card(set, s, title) }, asPNG(w))
}

// PNG writes the snapshot's lanes as a PNG, [Width] pixels wide, with an axis, a
// legend, the verdict, the account and all settings. The error is w's, or that
// s is not a run's snapshot.
func PNG(w io.Writer, s sim.Snapshot) error {
	if err := drawable(s); err != nil {
		return err
	}
	return render(func(set *typesetter) *figure { return sheet(set, s) }, asPNG(w))
}

// SVG writes the picture of [PNG] as an SVG document that needs no other file,
// and whose title and desc say what it shows. The error is w's, or that s is
// not a run's snapshot.
func SVG(w io.Writer, s sim.Snapshot) error {
	if err := drawable(s); err != nil {
		return err
	}
	return render(func(set *typesetter) *figure { return sheet(set, s) }, func(f *figure, _ *faces) error {
		return writeSVG(w, f, heading(s), description(s))
	})
}

// TextCard writes a PNG of 1200 by 630 pixels in the look of [Card] for a page
// without lanes. The title takes at most two lines, the subtitle three and
// each of lines one; whatever is longer is cut with an ellipsis. Of lines, as
// many are shown as there is room for: five or more. The error is w's.
func TextCard(w io.Writer, title, subtitle string, lines []string) error {
	return render(func(set *typesetter) *figure { return textCard(set, title, subtitle, lines) }, asPNG(w))
}

// backend draws a figure with the faces that measured it.
type backend func(*figure, *faces) error

func asPNG(w io.Writer) backend {
	return func(f *figure, fc *faces) error { return writePNG(w, f, fc) }
}

// render lays a picture out and has it drawn.
func render(layout func(*typesetter) *figure, write backend) error {
	fc, err := newFaces()
	if err != nil {
		return err
	}
	set := &typesetter{faces: fc}
	f := layout(set)
	if set.err != nil {
		return set.err
	}
	return write(f, fc)
}

// sheet is the lanes' picture to download.
func sheet(set *typesetter, s sim.Snapshot) *figure {
	const margin, names = 40, 130
	c := colours()
	m := measures{names: names, width: Width - 2*margin - names, axis: 40, arrivals: 40, band: 26, row: 34, gap: 20, line: 26,
		name: 20, label: 18, tick: 17}
	workers := s.Settings.WorkersEver()
	if workers*s.Settings.Slots > 16 {
		m.row = 26
	}
	const top = 128
	lanesHeight := m.height(workers, s.Settings.Slots)
	// The labels of signal and forced stop may take two lines.
	foot := top + lanesHeight + 2*m.line + 18
	caption := style{size: 17}
	brand := style{20, true}
	wide := brandWidth(set, brand)
	lines := set.wrap(settingsItems(s.Settings, true), dot, caption, Width-2*margin-wide-40, 3)
	f := &figure{width: Width, height: int(foot) + 24 + 26*len(lines) + 14, paper: c.card}

	title := style{28, true}
	f.add("heading", set.place(heading(s), margin, 0, 58, title, c.ink))
	verdictLine(f, set, s, margin, 98, 20, Width-2*margin)
	legend(f, set, Width-margin-legendWidth(set, 18), 58, 18)
	lanes(f, set, s, m, margin, top)
	f.add("rule", box{x: margin, y: foot, w: Width - 2*margin, h: 1, fill: c.rule})
	for i, line := range lines {
		f.add("settings", set.place(line, margin, 0, foot+32+26*float64(i), caption, c.quiet))
	}
	brandMark(f, set, Width-margin-wide, foot+34, brand)
	return f
}

func heading(s sim.Snapshot) string { return "Worker lanes at " + s.T.String() + " s" }

// legendWidth measures a legend by laying it out.
func legendWidth(set *typesetter, size float64) float64 { return legend(&figure{}, set, 0, 0, size) }

// card is the picture for a link to a run.
func card(set *typesetter, s sim.Snapshot, title string) *figure {
	const inner = CardWidth - 2*cardMargin
	c := colours()
	f := &figure{width: CardWidth, height: CardHeight, paper: c.paper}
	cardHead(f, set, title, 40, 24)
	verdictLine(f, set, s, cardMargin, 122, 25, inner)

	items := settingsItems(s.Settings, false)
	if len(items) == 0 {
		items = []string{"the opening settings"}
	}
	font, y := style{size: 20}, 160.0
	for _, line := range set.wrap(items, dot, font, inner, 2) {
		f.add("settings", set.place(line, cardMargin, 0, y, font, c.quiet))
		y += 26
	}

	// The lanes take all the rest.
	panel := box{x: 28, y: y - 12, w: CardWidth - 56, radius: 14, fill: c.card, edge: c.rule}
	panel.h = CardHeight - 28 - panel.y
	f.add("panel", panel)
	cardLanes(f, set, s, panel)
	return f
}

// cardLanes fills the panel with lanes, and a legend where there is room.
func cardLanes(f *figure, set *typesetter, s sim.Snapshot, panel box) {
	const pad, legendSize, legendLine = 8, 15, 30
	workers, slots := s.Settings.WorkersEver(), s.Settings.Slots
	m := measures{names: 108, axis: 28, arrivals: 24, line: 21, name: 17, label: 15, tick: 14}
	left := float64(cardMargin)
	m.width = CardWidth - 2*cardMargin - m.names
	_, _, lines := newPlot(f, set, s, m, left, 0).labels()
	room := panel.h - 2*pad - float64(lines)*m.line
	m.share(room-legendLine, workers, slots)
	withLegend := m.row >= 14
	if !withLegend {
		m.share(room, workers, slots)
	}
	lanes(f, set, s, m, left, panel.y+pad)
	if withLegend {
		legend(f, set, left+m.names, panel.y+panel.h-pad-7, legendSize)
	}
}

// share gives the lanes' rows, bands and gaps the height that there is. Slots
// come first: they are what the picture is about.
func (m *measures) share(height float64, workers, slots int) {
	for m.band = 26; ; m.band-- {
		m.gap = clamp(math.Round(0.6*m.band), 5, 16)
		m.row = 0
		free := height - m.height(workers, slots)
		m.row = math.Floor(free / float64(workers*slots))
		if m.band <= 1.2*m.row || m.band <= 11 {
			break
		}
	}
	spare := math.Floor((height - m.height(workers, slots)) / float64(workers))
	m.band += clamp(spare, 0, 4)
}

func clamp(v, least, most float64) float64 { return max(least, min(v, most)) }

// words are those of a foreign text, without line breaks and tabs, which no
// font draws. Of a text that is longer than any card can show, only the
// beginning is looked at, so that the time that a card takes has a bound.
func words(content string) []string {
	const most = 1000 // letters
	n := 0
	for i := range content {
		if n++; n > most {
			content = content[:i]
			break
		}
	}
	return strings.Fields(content)
}

func oneLine(content string) string { return strings.Join(words(content), " ") }

// cardHead sets a card's title, on one line of at most size, and the product's
// name beside it.
func cardHead(f *figure, set *typesetter, title string, size, least float64) {
	c, brand := colours(), style{26, true}
	width := brandWidth(set, brand)
	brandMark(f, set, CardWidth-cardMargin-width, 66, brand)
	content, font := set.shrink(oneLine(title), style{size, true}, least, CardWidth-2*cardMargin-width-32)
	f.add("title", set.place(content, cardMargin, 0, 70, font, c.ink))
}

// brandMark draws the product's icon and name from x on.
func brandMark(f *figure, set *typesetter, x, base float64, font style) {
	c := colours()
	side := math.Round(1.3 * font.size)
	y := math.Round(base - 0.36*font.size - side/2)
	unit := side / 32 // the icon is drawn on a square of 32
	part := func(left, top, w, h, radius float64, fill colour) {
		f.add("brand", box{x: x + left*unit, y: y + top*unit, w: w * unit, h: h * unit, radius: radius * unit, fill: fill})
	}
	part(0, 0, 32, 32, 7, c.darkest)
	part(6, 8, 14, 4, 1, hex(0x56b4e9))
	part(6, 14, 18, 4, 1, hex(0x0072b2))
	part(6, 20, 9, 4, 1, hex(0x009e73))
	part(21, 5, 2, 22, 0, hex(0xe69f00))
	f.add("brand", set.place("drainlab", x+side+0.4*font.size, 0, base, font, c.ink))
}

func brandWidth(set *typesetter, font style) float64 {
	return math.Round(1.3*font.size) + 0.4*font.size + set.width("drainlab", font)
}

// verdictLine draws the gate's verdict and, beside it, the account within
// limit pixels from x.
func verdictLine(f *figure, set *typesetter, s sim.Snapshot, x, base, size, limit float64) {
	c := colours()
	verdict := s.Gate().Verdict
	font := style{size, true}
	word := set.place(verdictWord(verdict), 0, 0, base, font, c.ink)
	fill, mark := c.rule, 0.0
	switch verdict {
	case sim.Pass:
		fill, word.ink, mark = c.goodTint, hex(0x00553f), size
	case sim.Fail:
		fill, word.ink, mark = c.badTint, hex(0x8f2f00), size
	case sim.Pending: // says it without a mark
	}
	height := math.Round(1.6 * size)
	pill := box{x: x, y: math.Round(base - 0.36*size - height/2), h: height, w: word.w + mark + 1.2*size, radius: height / 2, fill: fill}
	f.add("pill", pill)
	word.x = x + 0.6*size + mark
	r := 0.28 * size
	at := point{x + 0.6*size + r, pill.y + height/2}
	switch verdict {
	case sim.Pass:
		f.check("verdict-mark", at.x, at.y, r, 0.14*size, word.ink)
	case sim.Fail:
		f.cross("verdict-mark", at.x, at.y, 0.85*r, 0.14*size, word.ink)
	case sim.Pending:
	}
	f.add("verdict", word)
	line := accountLine(s.Account)
	if verdict == sim.Pending {
		line = "at " + s.T.String() + " s: " + line
	}
	start := pill.x + pill.w + 0.6*size
	content, accountFont := set.shrink(line, style{size: size}, 14, x+limit-start)
	t := set.place(content, start, 0, base, accountFont, c.ink)
	f.add("account", t)
}

// textCard is the card of a page without lanes.
func textCard(set *typesetter, title, subtitle string, lines []string) *figure {
	const inner = CardWidth - 2*cardMargin
	c := colours()
	f := &figure{width: CardWidth, height: CardHeight, paper: c.paper}
	brand := style{30, true}
	brandMark(f, set, cardMargin, 84, brand)

	y := 168.0
	head := style{56, true}
	titleWords := words(title)
	for head.size > 40 && len(set.wrap(titleWords, " ", head, inner, 3)) > 2 {
		head.size--
	}
	for _, line := range set.balance(titleWords, head, inner, 2) {
		f.add("title", set.place(line, cardMargin, 0, y, head, c.ink))
		y += math.Round(1.2 * head.size)
	}
	y -= 10
	sub := style{size: 28}
	for _, line := range set.balance(words(subtitle), sub, inner, 3) {
		f.add("subtitle", set.place(line, cardMargin, 0, y, sub, c.quiet))
		y += 38
	}
	if len(lines) == 0 {
		return f
	}
	panel := box{x: 28, y: y - 8, w: CardWidth - 56, radius: 14, fill: c.card, edge: c.rule}
	panel.h = CardHeight - 28 - panel.y
	f.add("panel", panel)
	room := panel.h - 24
	pitch := clamp(math.Floor(room/float64(len(lines))), 34, 60)
	shown := lines[:min(len(lines), int(room/pitch))]
	font := style{size: min(math.Round(0.6*pitch), 28)}
	top := math.Round(panel.y + (panel.h-pitch*float64(len(shown)))/2)
	for _, line := range shown {
		f.disc("bullet", cardMargin+8, top+pitch/2, 5, c.tool)
		f.add("line", set.place(set.cut(oneLine(line), font, inner-28), cardMargin+28, 0, middle(top, pitch, font.size), font, c.ink))
		top += pitch
	}
	return f
}
