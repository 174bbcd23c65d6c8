package drain

import (
	"fmt"
	"math"
	"strconv"

	"drainlab/internal/picture"
	"drainlab/internal/sim"
)

// measures are the lanes' sizes in whole pixels, so that edges are sharp.
type measures struct {
	names    float64 // the column of names, left of the plot
	width    float64 // of the plot, 60 s
	axis     float64 // the height of the axis' labels
	arrivals float64 // of the arrivals' row
	band     float64 // of a worker's states
	row      float64 // of a slot
	gap      float64 // below a worker
	line     float64 // of one line of labels below the plot

	name, label, tick float64 // sizes of texts
}

// bandFoot parts a worker's band from its slots.
const bandFoot = 3

// height of the lanes without the labels below the plot.
func (m measures) height(workers, slots int) float64 {
	return m.axis + m.arrivals + float64(workers)*(m.band+bandFoot+float64(slots)*m.row+m.gap) - m.gap
}

// plot draws lanes.
type plot struct {
	*picture.Figure
	set   *picture.Typesetter
	c     picture.Palette
	m     measures
	s     sim.Snapshot
	left  float64 // of the axis
	top   float64 // of the grid
	floor float64 // of the grid
}

func newPlot(f *picture.Figure, set *picture.Typesetter, s sim.Snapshot, m measures, left, top float64) *plot {
	return &plot{Figure: f, set: set, c: picture.Colours(), m: m, s: s, left: left + m.names, top: top + m.axis,
		floor: top + m.height(s.Settings.WorkersEver(), s.Settings.Slots)}
}

// x is the place of t on the axis, on a whole pixel.
func (p *plot) x(t sim.Time) float64 {
	return p.left + math.Round(float64(t)*p.m.width/float64(sim.Horizon))
}

// label adds a text, placed as [typesetter.place] does.
func (p *plot) label(part, content string, x, align, y float64, font picture.Style, ink picture.Colour) {
	p.Add(part, p.set.Place(content, x, align, y, font, ink))
}

// drawLanes draws the snapshot's lanes from left and top on, the column of names
// first. Of what comes after the snapshot's time only the signal and the
// deadline are drawn, which are settings.
func drawLanes(f *picture.Figure, set *picture.Typesetter, s sim.Snapshot, m measures, left, top float64) {
	p := newPlot(f, set, s, m, left, top)
	workers := s.Settings.WorkersEver()
	bandY := make([]float64, workers)
	for i := range bandY {
		bandY[i] = p.top + m.arrivals + float64(i)*(m.band+bandFoot+float64(s.Settings.Slots)*m.row+m.gap)
	}
	p.rows(bandY)
	p.grid()
	p.names(bandY)
	p.signal()
	for _, inv := range s.Invocations {
		p.bar(inv, bandY[inv.Worker-1]+m.band+bandFoot+float64(inv.Slot-1)*m.row)
	}
	for i, w := range s.Workers {
		p.life(w, bandY[i])
	}
	p.Vertical("playhead", p.x(s.T), p.top-6, p.floor+3, 2, p.c.Ink)
	p.marks()
}

func (p *plot) rows(bandY []float64) {
	inset := 1.0
	if p.m.row < 12 {
		inset = 0 // one pixel above is all that can be spared
	}
	fill := picture.Faint(p.c.Sunk, 60)
	for _, y := range bandY {
		for slot := range p.s.Settings.Slots {
			p.Add("row", picture.Box{X: p.left, Y: y + p.m.band + bandFoot + float64(slot)*p.m.row + 1, W: p.m.width, H: p.m.row - 1 - inset, Fill: fill})
		}
	}
}

func (p *plot) grid() {
	font := picture.Style{Size: p.m.tick}
	for t := sim.Time(0); t <= sim.Horizon; t += 5 * sim.Second {
		x, align, content := p.x(t), 0.5, t.String()
		p.Add("grid", picture.Box{X: x, Y: p.top, W: 1, H: p.floor - p.top, Fill: p.c.Rule})
		if t == sim.Horizon {
			content, align = content+" s", 1
		}
		p.label("tick", content, x, align, p.top-11, font, p.c.Quiet)
	}
}

func (p *plot) names(bandY []float64) {
	name, state := picture.Style{Size: p.m.name, Bold: true}, picture.Style{Size: p.m.label}
	x := p.left - p.m.names
	p.label("name", "Arrivals", x, 0, picture.Middle(p.top, p.m.arrivals, name.Size), name, p.c.Ink)
	for i, y := range bandY {
		word, ink := "not booted", p.c.Quiet
		if i < len(p.s.Workers) {
			word = p.s.Workers[i].State.String()
			switch p.s.Workers[i].State {
			case sim.Killed, sim.Failed:
				ink = p.c.Bad
			case sim.Draining:
				ink = p.c.Warn
			case sim.Starting, sim.Ready, sim.Exited:
			}
		}
		base := picture.Middle(y, p.m.band, name.Size)
		p.label("name", "Worker "+strconv.Itoa(i+1), x, 0, base, name, p.c.Ink)
		p.label("state", word, x, 0, base+math.Round(1.2*state.Size), state, ink)
		font := picture.Style{Size: min(p.m.label, p.m.row-2)}
		if font.Size < 9 {
			continue
		}
		for slot := range p.s.Settings.Slots {
			rowY := y + p.m.band + bandFoot + float64(slot)*p.m.row
			p.label("slot", strconv.Itoa(slot+1), p.left-10, 1, picture.Middle(rowY, p.m.row, font.Size), font, p.c.Quiet)
		}
	}
}

// signal draws the window of grace between its two lines. They are settings,
// and known from the beginning.
func (p *plot) signal() {
	signal, stop, _ := p.labels()
	set := p.s.Settings
	from, to := p.x(set.Signal), p.x(min(set.Deadline(), sim.Horizon))
	foot := p.floor + 4
	if stop.Content != "" {
		p.Add("window", picture.Box{X: from, Y: p.top, W: to - from, H: p.floor - p.top, Fill: p.c.Window})
	}
	p.Vertical("signal", from, p.top, foot, 2, p.c.Signal)
	p.Add("signal-label", signal)
	switch {
	case stop.Content == "":
		return
	case p.s.T >= set.Deadline():
		p.Vertical("forced-stop", to, p.top, foot, 2, p.c.Deadline)
	default:
		p.Add("forced-stop", picture.Stroke{Points: []picture.Point{{X: to, Y: p.top}, {X: to, Y: foot}}, Width: 2, Dash: 5, Ink: p.c.Deadline})
	}
	p.Add("forced-stop-label", stop)
}

// labels are those of the signal and of the forced stop, each empty where
// there is none, and the number of lines that they take below the plot.
func (p *plot) labels() (signal, stop picture.Text, lines int) {
	set := p.s.Settings
	font := picture.Style{Size: p.m.label, Bold: true}
	word := "SIGTERM " + set.Signal.String() + " s"
	worker := p.s.Workers[0]
	if p.s.T >= set.Signal && worker.SignalAt == sim.Never { // it had failed
		return p.below(word+", to nobody", p.x(set.Signal), 0, font, p.c.Warn), picture.Text{}, 1
	}
	signal = p.below(word, p.x(set.Signal), 0, font, p.c.Warn)
	word = "deadline " + set.Deadline().String() + " s"
	switch {
	case worker.State == sim.Exited:
		word += ", not needed"
	case set.Deadline() > sim.Horizon:
		word += " →"
	}
	to := p.x(min(set.Deadline(), sim.Horizon))
	stop = p.below(word, to, 0, font, p.c.Bad)
	if stop.X < signal.X+signal.W+8 && signal.X < stop.X+stop.W+8 {
		return signal, p.below(word, to, 1, font, p.c.Bad), 2
	}
	return signal, stop, 1
}

// below places a label under the plot. It begins at the line at x, or ends
// there where there is no room to the right.
func (p *plot) below(content string, x float64, line int, font picture.Style, ink picture.Colour) picture.Text {
	y := p.floor + 4 + math.Round(0.85*p.m.line) + float64(line)*p.m.line
	t := p.set.Place(content, x+5, 0, y, font, ink)
	if t.X+t.W > p.left+p.m.width {
		t = p.set.Place(content, x-5, 1, y, font, ink)
	}
	return t
}

// marks draws one for each request that has arrived.
func (p *plot) marks() {
	y := p.top + math.Round(p.m.arrivals/2)
	apart := float64(p.s.Settings.Interval) * p.m.width / float64(sim.Horizon)
	r := min(0.19*p.m.arrivals, 0.36*apart)
	for _, inv := range p.s.Invocations {
		p.Disc("arrival admitted", p.x(inv.AdmittedAt), y, r, p.c.Ink)
	}
	for _, rej := range p.s.Rejections {
		p.Ring("arrival away", p.x(rej.At), y, r, max(1.2, 0.36*r), p.c.Away, p.c.Card)
	}
}

// drawLegend explains the bars' colours and the marks on one line from x on, and
// returns its right end.
func drawLegend(f *picture.Figure, set *picture.Typesetter, x, base, size float64) float64 {
	c, font := picture.Colours(), picture.Style{Size: size}
	y, r, side := base-0.36*size, math.Round(0.3*size), math.Round(1.1*size)
	for i, name := range []string{"prepare", "model", "tool", "admitted", "turned away", "kept", "lost"} {
		if i > 0 {
			x += size
		}
		part, wide := "legend "+name, 2*r
		swatch := func(fill picture.Colour) picture.Box {
			wide = side
			b := picture.Box{X: math.Round(x), Y: math.Round(y - size/2), W: side, H: size, Radius: 3, Fill: fill}
			f.Add(part, b)
			return b
		}
		switch name {
		case "prepare":
			swatch(c.Prepare)
		case "model":
			swatch(c.Model)
		case "tool":
			swatch(c.Tool)
		case "admitted":
			f.Disc(part, x+r, y, r, c.Ink)
		case "turned away":
			f.Ring(part, x+r, y, r, max(1.2, 0.36*r), c.Away, c.Card)
		case "kept":
			wide = 2.4 * r
			keptMark(f, part, x+wide/2, y, wide/2, c)
		case "lost":
			wide = 2.4 * r
			lostMark(f, part, x+wide/2, y, wide/2, c)
		}
		t := set.Place(name, x+wide+5, 0, base, font, c.Quiet)
		f.Add("legend label", t)
		x = t.X + t.W
	}
	return x
}

// drawable refuses what is not a snapshot of a run.
func drawable(s sim.Snapshot) error {
	if err := s.Settings.Validate(); err != nil {
		return fmt.Errorf("drain: %w", err)
	}
	if s.T < 0 || s.T > sim.Horizon || len(s.Workers) == 0 || len(s.Workers) > s.Settings.WorkersEver() {
		return fmt.Errorf("drain: not a snapshot of a run: t %s, %d workers", s.T, len(s.Workers))
	}
	return nil
}
