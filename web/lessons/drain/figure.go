package drain

import (
	"io"
	"math"
	"strings"

	"drainlab/internal/course"
	"drainlab/internal/picture"
	"drainlab/internal/setting"
	"drainlab/internal/sim"
)

// Figure describes the run's lanes at t.
func (r run) Figure(t setting.Time) course.Figure {
	snap := func() sim.Snapshot { return r.At(t) }
	return course.Figure{
		Key:  id + "?" + string(r.Settings.AppendQuery(nil)) + "&t=" + t.String(),
		Alt:  "Worker lanes. " + summary(snap()),
		Card: func(w io.Writer) error { return Card(w, snap(), title) },
		PNG:  func(w io.Writer) error { return PNG(w, snap()) },
		SVG:  func(w io.Writer) error { return SVG(w, snap()) },
	}
}

// Width is that of the lanes' picture in pixels. Its height is what the
// workers and their slots need: equal settings give equal heights, at any t.
const Width = 1600

// Card writes a PNG of 1200 by 630 pixels for a link to the snapshot: title,
// verdict and account, the settings that differ from the opening ones, and the
// lanes. A title that is too long for one line gets smaller, then is cut with
// an ellipsis. The error is w's, or that s is not a run's snapshot.
func Card(w io.Writer, s sim.Snapshot, title string) error {
	if err := drawable(s); err != nil {
		return err
	}
	return picture.WritePNG(w, func(set *picture.Typesetter) *picture.Figure { return card(set, s, title) })
}

// PNG writes the snapshot's lanes as a PNG, [Width] pixels wide, with an axis, a
// legend, the verdict, the account and all settings. The error is w's, or that
// s is not a run's snapshot.
func PNG(w io.Writer, s sim.Snapshot) error {
	if err := drawable(s); err != nil {
		return err
	}
	return picture.WritePNG(w, func(set *picture.Typesetter) *picture.Figure { return sheet(set, s) })
}

// SVG writes the picture of [PNG] as an SVG document that needs no other file,
// and whose title and desc say what it shows. The error is w's, or that s is
// not a run's snapshot.
func SVG(w io.Writer, s sim.Snapshot) error {
	if err := drawable(s); err != nil {
		return err
	}
	return picture.WriteSVG(w, heading(s), summary(s)+" Settings: "+strings.Join(settingsItems(s.Settings, true), ", ")+".", func(set *picture.Typesetter) *picture.Figure { return sheet(set, s) })
}

// sheet is the lanes' picture to download.
func sheet(set *picture.Typesetter, s sim.Snapshot) *picture.Figure {
	const margin, names = 40, 130
	c := picture.Colours()
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
	caption := picture.Style{Size: 17}
	brand := picture.Style{Size: 20, Bold: true}
	wide := picture.BrandWidth(set, brand)
	lines := set.Wrap(settingsItems(s.Settings, true), dot, caption, Width-2*margin-wide-40, 3)
	f := &picture.Figure{Width: Width, Height: int(foot) + 24 + 26*len(lines) + 14, Paper: c.Card}

	title := picture.Style{Size: 28, Bold: true}
	f.Add("heading", set.Place(heading(s), margin, 0, 58, title, c.Ink))
	verdictLine(f, set, s, margin, 98, 20, Width-2*margin)
	drawLegend(f, set, Width-margin-legendWidth(set, 18), 58, 18)
	drawLanes(f, set, s, m, margin, top)
	f.Add("rule", picture.Box{X: margin, Y: foot, W: Width - 2*margin, H: 1, Fill: c.Rule})
	for i, line := range lines {
		f.Add("settings", set.Place(line, margin, 0, foot+32+26*float64(i), caption, c.Quiet))
	}
	picture.BrandMark(f, set, Width-margin-wide, foot+34, brand)
	return f
}

func heading(s sim.Snapshot) string { return "Worker lanes at " + s.T.String() + " s" }

// legendWidth measures a legend by laying it out.
func legendWidth(set *picture.Typesetter, size float64) float64 {
	return drawLegend(&picture.Figure{}, set, 0, 0, size)
}

// card is the picture for a link to a run.
func card(set *picture.Typesetter, s sim.Snapshot, title string) *picture.Figure {
	const inner = picture.CardWidth - 2*picture.CardMargin
	c := picture.Colours()
	f := &picture.Figure{Width: picture.CardWidth, Height: picture.CardHeight, Paper: c.Paper}
	picture.CardHead(f, set, title, 40, 24)
	verdictLine(f, set, s, picture.CardMargin, 122, 25, inner)

	items := settingsItems(s.Settings, false)
	if len(items) == 0 {
		items = []string{"the opening settings"}
	}
	font, y := picture.Style{Size: 20}, 160.0
	for _, line := range set.Wrap(items, dot, font, inner, 2) {
		f.Add("settings", set.Place(line, picture.CardMargin, 0, y, font, c.Quiet))
		y += 26
	}

	// The lanes take all the rest.
	panel := picture.Box{X: 28, Y: y - 12, W: picture.CardWidth - 56, Radius: 14, Fill: c.Card, Edge: c.Rule}
	panel.H = picture.CardHeight - 28 - panel.Y
	f.Add("panel", panel)
	cardLanes(f, set, s, panel)
	return f
}

// cardLanes fills the panel with lanes, and a legend where there is room.
func cardLanes(f *picture.Figure, set *picture.Typesetter, s sim.Snapshot, panel picture.Box) {
	const pad, legendSize, legendLine = 8, 15, 30
	workers, slots := s.Settings.WorkersEver(), s.Settings.Slots
	m := measures{names: 108, axis: 28, arrivals: 24, line: 21, name: 17, label: 15, tick: 14}
	left := float64(picture.CardMargin)
	m.width = picture.CardWidth - 2*picture.CardMargin - m.names
	_, _, lines := newPlot(f, set, s, m, left, 0).labels()
	room := panel.H - 2*pad - float64(lines)*m.line
	m.share(room-legendLine, workers, slots)
	withLegend := m.row >= 14
	if !withLegend {
		m.share(room, workers, slots)
	}
	drawLanes(f, set, s, m, left, panel.Y+pad)
	if withLegend {
		drawLegend(f, set, left+m.names, panel.Y+panel.H-pad-7, legendSize)
	}
}

// share gives the lanes' rows, bands and gaps the height that there is. Slots
// come first: they are what the picture is about.
func (m *measures) share(height float64, workers, slots int) {
	for m.band = 26; ; m.band-- {
		m.gap = picture.Clamp(math.Round(0.6*m.band), 5, 16)
		m.row = 0
		free := height - m.height(workers, slots)
		m.row = math.Floor(free / float64(workers*slots))
		if m.band <= 1.2*m.row || m.band <= 11 {
			break
		}
	}
	spare := math.Floor((height - m.height(workers, slots)) / float64(workers))
	m.band += picture.Clamp(spare, 0, 4)
}

// verdictLine draws the gate's verdict and, beside it, the account within
// limit pixels from x.
func verdictLine(f *picture.Figure, set *picture.Typesetter, s sim.Snapshot, x, base, size, limit float64) {
	c := picture.Colours()
	verdict := s.Gate().Verdict
	font := picture.Style{Size: size, Bold: true}
	word := set.Place(verdictWord(verdict), 0, 0, base, font, c.Ink)
	fill, mark := c.Rule, 0.0
	switch verdict {
	case sim.Pass:
		fill, word.Ink, mark = c.GoodTint, picture.Hex(0x00553f), size
	case sim.Fail:
		fill, word.Ink, mark = c.BadTint, picture.Hex(0x8f2f00), size
	case sim.Pending: // says it without a mark
	}
	height := math.Round(1.6 * size)
	pill := picture.Box{X: x, Y: math.Round(base - 0.36*size - height/2), H: height, W: word.W + mark + 1.2*size, Radius: height / 2, Fill: fill}
	f.Add("pill", pill)
	word.X = x + 0.6*size + mark
	r := 0.28 * size
	at := picture.Point{X: x + 0.6*size + r, Y: pill.Y + height/2}
	switch verdict {
	case sim.Pass:
		f.Check("verdict-mark", at.X, at.Y, r, 0.14*size, word.Ink)
	case sim.Fail:
		f.Cross("verdict-mark", at.X, at.Y, 0.85*r, 0.14*size, word.Ink)
	case sim.Pending:
	}
	f.Add("verdict", word)
	line := accountLine(s.Account)
	if verdict == sim.Pending {
		line = "at " + s.T.String() + " s: " + line
	}
	start := pill.X + pill.W + 0.6*size
	content, accountFont := set.Shrink(line, picture.Style{Size: size}, 14, x+limit-start)
	t := set.Place(content, start, 0, base, accountFont, c.Ink)
	f.Add("account", t)
}
