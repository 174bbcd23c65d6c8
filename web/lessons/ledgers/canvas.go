package ledgers

import (
	"math"
	"strings"

	"drainlab/internal/picture"
)

// inks are the pages' light colours, and those of the second ledger.
type inks struct {
	picture.Palette
	work, workFill, workTint picture.Colour
}

func colours() inks {
	return inks{picture.Colours(), picture.Hex(0x55347f), picture.Hex(0x7b5ba6), picture.Hex(0xe6d9ee)}
}

// canvas is where a timeline is drawn: names at the left, the plot, and at the
// right what became of each row.
type canvas struct {
	figure                   *picture.Figure
	set                      *picture.Typesetter
	colours                  inks
	left, top, width, height float64
	names, words             float64
	text                     float64 // size
}

func (c canvas) x(p place) float64 {
	return math.Round(c.left + c.names + float64(p)*(c.width-c.names-c.words))
}

func (c canvas) draw(t timeline) {
	rows := t.Rows
	if len(rows) > mostFigureRows { // the process is the last one, and stays
		rows = append(append([]row{}, rows[:mostFigureRows-1]...), rows[len(rows)-1])
	}
	axis := 1.5*c.text + 1.2*c.text*float64(t.Lines())
	pitch := math.Floor((c.height - axis) / float64(max(len(rows), 1)))
	bottom := c.top + axis + pitch*float64(len(rows))
	c.ticks(t, bottom)
	c.marks(t, bottom)
	for i, r := range rows {
		c.row(r, c.top+axis+float64(i)*pitch, pitch)
	}
}

func (c canvas) ticks(t timeline, bottom float64) {
	font := picture.Style{Size: 0.85 * c.text}
	for _, tick := range t.Ticks {
		c.figure.Vertical("grid", c.x(tick.X), c.top+1.4*c.text, bottom, 1, c.colours.Rule)
		align := map[string]float64{"start": 0, "middle": 0.5, "end": 1}[tick.Anchor]
		c.figure.Add("tick", c.set.Place(tick.Label, c.x(tick.X), align, c.top+c.text, font, c.colours.Quiet))
	}
}

func (c canvas) marks(t timeline, bottom float64) {
	font := picture.Style{Size: 0.9 * c.text, Bold: true}
	for _, m := range t.Marks {
		x, y := c.x(m.X), c.top+1.5*c.text+1.2*c.text*float64(m.Line)
		ink, dash := c.markInk(m.Class)
		c.figure.Add("mark "+m.Class, picture.Stroke{Points: []picture.Point{{X: x, Y: y}, {X: x, Y: bottom}}, Width: 2, Dash: dash, Ink: ink})
		if m.Label == "" {
			continue
		}
		at, align := x+6, 0.0
		if m.Right {
			at, align = x-6, 1
		}
		if m.Class == "gate" {
			ink = c.colours.Signal
		}
		c.figure.Add("label", c.set.Place(m.Label, at, align, y+0.8*c.text, font, ink))
	}
}

func (c canvas) markInk(class string) (ink picture.Colour, dash float64) {
	switch class {
	case "timeout":
		return c.colours.Deadline, 6
	case "loss":
		return c.colours.BadFill, 0
	case "signal":
		return c.colours.Signal, 0
	}
	return c.colours.Edge, 0
}

func (c canvas) row(r row, top, pitch float64) {
	h := math.Round(min(0.62*pitch, 46))
	y := math.Round(top + (pitch-h)/2)
	name := picture.Style{Size: c.text, Bold: true}
	c.figure.Add("name", c.set.Place(c.set.Cut(r.Name, name, c.names-10), c.left, 0, picture.Middle(top, pitch, c.text), name, c.colours.Ink))
	for _, b := range r.Bars {
		c.bar(r, b, y, h)
	}
	for _, beat := range r.Beats {
		c.figure.Vertical("beat", c.x(beat), y+0.25*h, y+0.75*h, 2, c.colours.Card)
	}
	for _, ring := range r.Rings {
		c.figure.Ring("away", c.x(ring), top+pitch/2, 8, 2.5, c.colours.Away, c.colours.Card)
	}
	c.outcome(r, top, pitch)
}

// bar draws one piece of a row.
func (c canvas) bar(r row, b piece, y, h float64) {
	x := c.x(b.X)
	box := picture.Box{X: x, Y: y, W: max(c.x(b.X+b.W)-x, 2), H: h, Radius: 3}
	box.Fill, box.Edge = c.fill(r, b)
	c.figure.Add("bar "+strings.TrimSpace(r.Class+" "+b.Class), box)
	font := picture.Style{Size: 0.8 * c.text}
	if b.Label != "" && c.set.Width(b.Label, font)+12 < box.W {
		c.figure.Add("phase", c.set.Place(b.Label, x+6, 0, picture.Middle(y, h, font.Size), font, c.colours.Ink))
	}
}

func (c canvas) fill(r row, b piece) (fill, edge picture.Colour) {
	p := c.colours
	switch {
	case b.Class == "tail":
		return p.WarnTint, p.WarnLine
	case b.Class == "phase-running":
		return p.Ready, picture.Colour{}
	case b.Class == "phase-draining", b.Class == "phase-quiescing":
		return p.WarnTint, picture.Colour{}
	case r.Part == "process":
		return p.Prepare, picture.Colour{}
	case r.Class == "work-confirmed_stopped":
		return p.workTint, p.workFill
	case r.Part == "work":
		return p.workFill, picture.Colour{}
	case r.Class == "req-completed":
		return p.GoodFill, picture.Colour{}
	case r.Class == "req-cancelled", r.Class == "req-failed":
		return p.BadTint, p.BadFill
	}
	return p.Model, picture.Colour{}
}

// outcome says what became of the row. The fonts have no signs for it: the
// mark is drawn.
func (c canvas) outcome(r row, top, pitch float64) {
	x := c.left + c.width - c.words + 14
	y := top + pitch/2
	if r.Detail != "" && pitch >= 2.4*c.text {
		y -= 0.55 * c.text
	}
	ink := c.colours.Ink
	word := r.Outcome
	sign, rest, signed := strings.Cut(r.Outcome, " ")
	switch radius, width := 0.3*c.text, 0.14*c.text; {
	case signed && sign == "✓":
		ink = c.colours.Good
		if r.Part == "work" {
			ink = c.colours.work
		}
		c.figure.Check("kept", x+radius, y, radius, width, ink)
	case signed && sign == "✕":
		ink = c.colours.Bad
		c.figure.Cross("lost", x+radius, y, radius, width, ink)
	case signed && sign == "■":
		ink = c.colours.work
		c.figure.Square("stopped", x+radius, y, radius, ink)
	case signed && sign == "?":
		ink, signed = c.colours.Warn, false
	case r.Class == "req-rejected":
		ink, signed = c.colours.Quiet, false
	default:
		signed = false
	}
	if signed {
		word, x = rest, x+c.text
	}
	c.told(word, r.Detail, x, top, pitch, ink)
}

// told sets what became of a row and, below that, what else is known; beside
// it where the row is low.
func (c canvas) told(word, detail string, x, top, pitch float64, ink picture.Colour) {
	bold, plain := picture.Style{Size: c.text, Bold: true}, picture.Style{Size: 0.85 * c.text}
	right := c.left + c.width
	word = c.set.Cut(word, bold, right-x)
	base := picture.Middle(top, pitch, c.text)
	if detail == "" || pitch < 2.4*c.text {
		c.figure.Add("outcome", c.set.Place(word, x, 0, base, bold, ink))
		x += c.set.Width(word, bold) + 0.5*c.text
	} else {
		base -= math.Round(0.55 * c.text)
		c.figure.Add("outcome", c.set.Place(word, x, 0, base, bold, ink))
		base += math.Round(1.15 * c.text)
		x = c.left + c.width - c.words + 14
	}
	if detail = c.set.Cut(detail, plain, right-x); detail != "" {
		c.figure.Add("detail", c.set.Place(detail, x, 0, base, plain, c.colours.Quiet))
	}
}
