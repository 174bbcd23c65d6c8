package drain

import (
	"math"
	"strconv"

	"drainlab/internal/picture"
	"drainlab/internal/sim"
)

// bar draws an invocation in the row that begins at y, as far as it has come.
func (p *plot) bar(inv sim.Invocation, y float64) {
	height := min(p.m.row-4, 72)
	if p.m.row < 12 {
		height = p.m.row - 1
	}
	y += math.Round((p.m.row - height) / 2)
	end, killed := p.s.T, inv.Outcome == sim.KilledInvocation
	if inv.Outcome != sim.Running {
		end = inv.EndedAt
	}
	part := "bar " + inv.Outcome.String()
	fills := [3]picture.Colour{p.c.Prepare, p.c.Model, p.c.Tool}
	ends := sim.StageEnds(p.s.Settings.Duration)
	from := inv.AdmittedAt
	for k, stageEnd := range ends {
		to := min(end, inv.AdmittedAt+stageEnd)
		if to <= from {
			break
		}
		fill := fills[k]
		if killed {
			fill = lostFill(p.c, k)
		}
		x, right := p.x(from)+1, p.x(to)
		if to == end && inv.Outcome == sim.Running {
			right++ // it goes on under the playhead
		}
		p.Add(part+" "+(sim.Prepare+sim.Stage(k)).String(), picture.Box{X: x, Y: y, W: right - x, H: height, Fill: fill})
		from = to
	}
	left, right := p.x(inv.AdmittedAt)+1, p.x(end)
	if killed && height > 8 {
		p.frame("bar-edge", left, y, right-left, height, p.c.BadFill)
	}
	p.number(inv, y, height, right)
	center := y + height/2
	switch inv.Outcome {
	case sim.Completed:
		tool := right - p.x(inv.AdmittedAt+ends[1])
		r := min(0.34*height, 0.45*tool, 9)
		keptMark(p.Figure, "completed", right-max(r+2, min(12, tool/2)), center, r, p.c)
	case sim.KilledInvocation:
		lostMark(p.Figure, "killed", right, center, min(0.36*height, 9), p.c)
	case sim.Running:
	}
}

// lostFill is the colour of an invocation's stage, from 0, where it was lost.
func lostFill(c picture.Palette, stage int) picture.Colour {
	return picture.Faint(c.BadFill, [...]int{22, 36, 52}[stage])
}

// keptMark and lostMark are the ends of invocations: a tick on green, a cross
// on vermilion. Small ones have no ground.
func keptMark(f *picture.Figure, part string, x, y, r float64, c picture.Palette) {
	if r < 4 {
		f.Check(part, x, y, r, max(1.2, 0.38*r), c.OnTool)
		return
	}
	f.Disc(part+" ground", x, y, r, c.GoodFill)
	f.Check(part, x, y, 0.52*r, max(1.2, 0.26*r), c.Card)
}

func lostMark(f *picture.Figure, part string, x, y, r float64, c picture.Palette) {
	if r < 4 {
		f.Cross(part, x, y, r, max(1.4, 0.42*r), c.BadFill)
		return
	}
	f.Disc(part+" ground", x, y, r, c.BadFill)
	f.Cross(part, x, y, 0.42*r, max(1.4, 0.26*r), c.Card)
}

// frame draws a rectangle's edge, one pixel wide and within it.
func (p *plot) frame(part string, x, y, w, h float64, ink picture.Colour) {
	a, b, l, r := y+0.5, y+h-0.5, x+0.5, x+w-0.5
	p.Add(part, picture.Stroke{Points: []picture.Point{{X: l, Y: a}, {X: r, Y: a}, {X: r, Y: b}, {X: l, Y: b}, {X: l, Y: a}}, Width: 1, Ink: ink})
}

// number sets the request's number into its bar where there is room for it.
func (p *plot) number(inv sim.Invocation, y, height, right float64) {
	const pad, least, aside = 5, 10, 2
	// It is dark: the bar's last stage is no ground for it. All numbers have
	// one size, at which two figures fit.
	room := float64(sim.StageEnds(p.s.Settings.Duration)[1]) * p.m.width / float64(sim.Horizon)
	font := picture.Style{Size: min(math.Round(0.72*height), p.m.label), Bold: true}
	for font.Size > least && p.set.Width("88", font)+2*aside > room {
		font.Size--
	}
	if font.Size < least || p.set.Width("88", font)+2*aside > room {
		return
	}
	left := p.x(inv.AdmittedAt) + 1
	t := p.set.Place(strconv.Itoa(int(inv.Request)), left+pad, 0, picture.Middle(y, height, font.Size), font, p.c.OnPrepare)
	room = min(room, right-left)
	if t.W+2*pad > room {
		t.X = left + (room-t.W)/2
	}
	if t.W+2*aside > room+1 { // a rounded edge
		return
	}
	p.Add("number", t)
}

// life draws a worker's states from its boot on, and how it ended.
func (p *plot) life(w sim.Worker, y float64) {
	changes := []struct {
		at    sim.Time
		state sim.State
	}{{w.BootAt, sim.Starting}, {w.ReadyAt, sim.Ready}, {w.DrainAt, sim.Draining}, {w.FailedAt, sim.Failed}, {w.ExitAt, w.State}}
	// The end's label stands in the way of a band's.
	var end picture.Text
	if w.State.Gone() && w.State != sim.Failed { // the band says it of a failed one
		end = p.endLabel(w, y)
	}
	for i, ch := range changes {
		if ch.at == sim.Never || ch.state == sim.Exited || ch.state == sim.Killed {
			continue
		}
		to := p.s.T
		for _, later := range changes[i+1:] {
			if later.at != sim.Never {
				to = later.at
				break
			}
		}
		if to > ch.at {
			p.band(ch.state, p.x(ch.at), p.x(to), y, end)
		}
	}
	if !w.State.Gone() {
		return
	}
	x, center, r := p.x(w.Since()), y+p.m.band/2, min(0.3*p.m.band, 8)
	if end.Content != "" {
		p.Add("end-ground", picture.Box{X: end.X - 4, Y: y + 1, W: end.W + 8, H: p.m.band - 2, Radius: 3, Fill: p.c.Card})
		p.Add("end", end)
	}
	part := "worker-" + w.State.String()
	switch w.State {
	case sim.Killed:
		p.Cross(part, x, center, r, max(2, 0.4*r), p.c.BadFill)
	case sim.Exited:
		p.Square(part, x, center, r, p.c.GoodFill)
	case sim.Failed:
		p.Triangle(part, x, center, 1.3*r, p.c.BadFill)
	case sim.Starting, sim.Ready, sim.Draining:
	}
}

func (p *plot) endLabel(w sim.Worker, y float64) picture.Text {
	ink := p.c.Good
	if w.State == sim.Killed {
		ink = p.c.Bad
	}
	font := picture.Style{Size: min(p.m.label, p.m.band-1), Bold: true}
	x, base := p.x(w.Since()), picture.Middle(y, p.m.band, font.Size)
	content := w.State.String() + " " + w.Since().String() + " s"
	t := p.set.Place(content, x+16, 0, base, font, ink)
	if t.X+t.W > p.left+p.m.width {
		t = p.set.Place(content, x-16, 1, base, font, ink)
	}
	return t
}

// band draws a worker's state from x to right, and names it where the name has
// room beside avoid.
func (p *plot) band(state sim.State, x, right, y float64, avoid picture.Text) {
	b := picture.Box{X: x, Y: y, W: right - x, H: p.m.band, Radius: 3}
	switch state {
	case sim.Starting:
		b.Fill, b.Edge = p.c.Sunk, p.c.Edge
	case sim.Ready:
		b.Fill = p.c.Ready
	case sim.Draining:
		b.Fill, b.Edge = p.c.WarnTint, p.c.WarnLine
	case sim.Failed:
		b.Fill, b.Edge = p.c.BadTint, p.c.BadFill
	case sim.Exited, sim.Killed: // have no band
	}
	if b.W < 2*picture.EdgeWidth { // no room for an edge
		b.Edge = picture.Colour{}
	}
	p.Add("band "+state.String(), b)
	if state == sim.Starting {
		p.Add("band-hatch", picture.Hatch{X: x + 1, Y: y + 1, W: max(b.W-2, 0), H: b.H - 2, Pitch: 6, Line: 1.8, Ink: p.c.Edge})
	}
	font := picture.Style{Size: min(p.m.label, p.m.band-1)}
	start := x + 6
	if state == sim.Failed { // beside its mark
		start += 8
	}
	t := p.set.Place(state.String(), start, 0, picture.Middle(y, p.m.band, font.Size), font, p.c.Ink)
	need := t.W + 6
	if state == sim.Starting { // its stripes are to be seen too
		need = 2.2 * t.W
	}
	beside := avoid.Content == "" || t.X+t.W+8 < avoid.X || t.X > avoid.X+avoid.W+8
	if t.X+need > right || !beside {
		return
	}
	if state == sim.Starting {
		p.Add("band-ground", picture.Box{X: t.X - 3, Y: y + 2, W: t.W + 6, H: b.H - 4, Radius: 2, Fill: p.c.Sunk})
	}
	p.Add("band-label", t)
}
