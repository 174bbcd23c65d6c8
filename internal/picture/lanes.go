package picture

import (
	"fmt"
	"math"
	"strconv"

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
	*figure
	set   *typesetter
	c     palette
	m     measures
	s     sim.Snapshot
	left  float64 // of the axis
	top   float64 // of the grid
	floor float64 // of the grid
}

func newPlot(f *figure, set *typesetter, s sim.Snapshot, m measures, left, top float64) *plot {
	return &plot{figure: f, set: set, c: colours(), m: m, s: s, left: left + m.names, top: top + m.axis,
		floor: top + m.height(s.Settings.WorkersEver(), s.Settings.Slots)}
}

// x is the place of t on the axis, on a whole pixel.
func (p *plot) x(t sim.Time) float64 {
	return p.left + math.Round(float64(t)*p.m.width/float64(sim.Horizon))
}

// label adds a text, placed as [typesetter.place] does.
func (p *plot) label(part, content string, x, align, y float64, font style, ink colour) {
	p.add(part, p.set.place(content, x, align, y, font, ink))
}

// lanes draws the snapshot's lanes from left and top on, the column of names
// first. What comes after the snapshot's time is not drawn, but for the forced
// stop, which is known once the signal has come.
func lanes(f *figure, set *typesetter, s sim.Snapshot, m measures, left, top float64) {
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
	p.vertical("playhead", p.x(s.T), p.top-6, p.floor+3, 2, p.c.ink)
	p.marks()
}

func (p *plot) rows(bandY []float64) {
	inset := 1.0
	if p.m.row < 12 {
		inset = 0 // one pixel above is all that can be spared
	}
	fill := faint(p.c.sunk, 60)
	for _, y := range bandY {
		for slot := range p.s.Settings.Slots {
			p.add("row", box{x: p.left, y: y + p.m.band + bandFoot + float64(slot)*p.m.row + 1, w: p.m.width, h: p.m.row - 1 - inset, fill: fill})
		}
	}
}

func (p *plot) grid() {
	font := style{size: p.m.tick}
	for t := sim.Time(0); t <= sim.Horizon; t += 5 * sim.Second {
		x, align, content := p.x(t), 0.5, t.String()
		p.add("grid", box{x: x, y: p.top, w: 1, h: p.floor - p.top, fill: p.c.rule})
		if t == sim.Horizon {
			content, align = content+" s", 1
		}
		p.label("tick", content, x, align, p.top-11, font, p.c.quiet)
	}
}

func (p *plot) names(bandY []float64) {
	name, state := style{p.m.name, true}, style{size: p.m.label}
	x := p.left - p.m.names
	p.label("name", "Arrivals", x, 0, middle(p.top, p.m.arrivals, name.size), name, p.c.ink)
	for i, y := range bandY {
		word, ink := "not booted", p.c.quiet
		if i < len(p.s.Workers) {
			word = p.s.Workers[i].State.String()
			switch p.s.Workers[i].State {
			case sim.Killed, sim.Failed:
				ink = p.c.bad
			case sim.Draining:
				ink = p.c.warn
			case sim.Starting, sim.Ready, sim.Exited:
			}
		}
		base := middle(y, p.m.band, name.size)
		p.label("name", "Worker "+strconv.Itoa(i+1), x, 0, base, name, p.c.ink)
		p.label("state", word, x, 0, base+math.Round(1.2*state.size), state, ink)
		font := style{size: min(p.m.label, p.m.row-2)}
		if font.size < 9 {
			continue
		}
		for slot := range p.s.Settings.Slots {
			rowY := y + p.m.band + bandFoot + float64(slot)*p.m.row
			p.label("slot", strconv.Itoa(slot+1), p.left-10, 1, middle(rowY, p.m.row, font.size), font, p.c.quiet)
		}
	}
}

// middle is the baseline of a text that stands in the middle of a row. The
// fonts' figures and capitals are about 0.72 of the size high.
func middle(top, height, size float64) float64 { return math.Round(top + height/2 + 0.36*size) }

// signal draws the window of grace between its two lines. They are known from
// the signal on.
func (p *plot) signal() {
	signal, stop, lines := p.labels()
	if lines == 0 {
		return
	}
	set := p.s.Settings
	from, to := p.x(set.Signal), p.x(min(set.Deadline(), sim.Horizon))
	foot := p.floor + 4
	if stop.content != "" {
		p.add("window", box{x: from, y: p.top, w: to - from, h: p.floor - p.top, fill: p.c.window})
	}
	p.vertical("signal", from, p.top, foot, 2, p.c.warnLine)
	p.add("signal-label", signal)
	switch {
	case stop.content == "":
		return
	case p.s.T >= set.Deadline():
		p.vertical("forced-stop", to, p.top, foot, 2, p.c.badFill)
	default:
		p.add("forced-stop", stroke{points: []point{{to, p.top}, {to, foot}}, width: 2, dash: 5, ink: p.c.badFill})
	}
	p.add("forced-stop-label", stop)
}

// labels are those of the signal and of the forced stop, each empty where
// there is none, and the number of lines that they take below the plot.
func (p *plot) labels() (signal, stop text, lines int) {
	set := p.s.Settings
	if p.s.T < set.Signal {
		return text{}, text{}, 0
	}
	font := style{p.m.label, true}
	word := "SIGTERM " + set.Signal.String() + " s"
	worker := p.s.Workers[0]
	if worker.SignalAt == sim.Never { // it had failed
		return p.below(word+", to nobody", p.x(set.Signal), 0, font, p.c.warn), text{}, 1
	}
	signal = p.below(word, p.x(set.Signal), 0, font, p.c.warn)
	word = "forced stop " + set.Deadline().String() + " s"
	switch {
	case worker.State == sim.Exited:
		word += ", not needed"
	case set.Deadline() > sim.Horizon:
		word += " →"
	}
	to := p.x(min(set.Deadline(), sim.Horizon))
	stop = p.below(word, to, 0, font, p.c.bad)
	if stop.x < signal.x+signal.w+8 && signal.x < stop.x+stop.w+8 {
		return signal, p.below(word, to, 1, font, p.c.bad), 2
	}
	return signal, stop, 1
}

// below places a label under the plot. It begins at the line at x, or ends
// there where there is no room to the right.
func (p *plot) below(content string, x float64, line int, font style, ink colour) text {
	y := p.floor + 4 + math.Round(0.85*p.m.line) + float64(line)*p.m.line
	t := p.set.place(content, x+5, 0, y, font, ink)
	if t.x+t.w > p.left+p.m.width {
		t = p.set.place(content, x-5, 1, y, font, ink)
	}
	return t
}

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
	fills := [3]colour{p.c.prepare, p.c.model, p.c.tool}
	ends := sim.StageEnds(p.s.Settings.Duration)
	from := inv.AdmittedAt
	for k, stageEnd := range ends {
		to := min(end, inv.AdmittedAt+stageEnd)
		if to <= from {
			break
		}
		fill := fills[k]
		if killed {
			fill = faint(fill, 40)
		}
		x, right := p.x(from)+1, p.x(to)
		if to == end && inv.Outcome == sim.Running {
			right++ // it goes on under the playhead
		}
		p.add(part+" "+(sim.Prepare+sim.Stage(k)).String(), box{x: x, y: y, w: right - x, h: height, fill: fill})
		from = to
	}
	left, right := p.x(inv.AdmittedAt)+1, p.x(end)
	if killed {
		pitch := clamp(math.Round(p.m.row/4), 5, 9)
		p.add("bar-hatch", hatch{x: left, y: y, w: right - left, h: height, pitch: pitch, line: 0.28 * pitch, ink: p.c.badFill})
		if height > 8 {
			p.frame("bar-edge", left, y, right-left, height, p.c.badFill)
		}
	}
	p.number(inv, y, height, right)
	center := y + height/2
	switch inv.Outcome {
	case sim.Completed:
		tool := right - p.x(inv.AdmittedAt+ends[1])
		r := min(0.32*height, 0.34*tool, 8)
		if height < 8 {
			r = min(0.42*height, 0.34*tool)
		}
		p.check("completed", right-max(1.7*r, min(10, tool/2)), center, r, max(1.2, 0.38*r), p.c.onTool)
	case sim.KilledInvocation:
		r := min(0.3*height, 7)
		if height < 8 {
			r = 0.42 * height
		}
		p.cross("killed", right+4+r, center, r, max(1.4, 0.42*r), p.c.badFill)
	case sim.Running:
	}
}

// frame draws a rectangle's edge, one pixel wide and within it.
func (p *plot) frame(part string, x, y, w, h float64, ink colour) {
	a, b, l, r := y+0.5, y+h-0.5, x+0.5, x+w-0.5
	p.add(part, stroke{points: []point{{l, a}, {r, a}, {r, b}, {l, b}, {l, a}}, width: 1, ink: ink})
}

// number sets the request's number into its bar where there is room for it.
func (p *plot) number(inv sim.Invocation, y, height, right float64) {
	const pad, least, aside = 5, 10, 2
	// It is dark: the bar's last stage is no ground for it. All numbers have
	// one size, at which two figures fit.
	room := float64(sim.StageEnds(p.s.Settings.Duration)[1]) * p.m.width / float64(sim.Horizon)
	font := style{min(math.Round(0.72*height), p.m.label), true}
	for font.size > least && p.set.width("88", font)+2*aside > room {
		font.size--
	}
	if font.size < least || p.set.width("88", font)+2*aside > room {
		return
	}
	left := p.x(inv.AdmittedAt) + 1
	t := p.set.place(strconv.Itoa(int(inv.Request)), left+pad, 0, middle(y, height, font.size), font, p.c.onPrepare)
	room = min(room, right-left)
	if t.w+2*pad > room {
		t.x = left + (room-t.w)/2
	}
	if t.w+2*aside > room+1 { // a rounded edge
		return
	}
	if inv.Outcome == sim.KilledInvocation { // between the stripes it could not be read
		p.add("number-ground", box{x: t.x - 3, y: t.y - 0.9*font.size, w: t.w + 6, h: 1.08 * font.size, radius: 3, fill: p.c.prepare})
	}
	p.add("number", t)
}

// life draws a worker's states from its boot on, and how it ended.
func (p *plot) life(w sim.Worker, y float64) {
	changes := []struct {
		at    sim.Time
		state sim.State
	}{{w.BootAt, sim.Starting}, {w.ReadyAt, sim.Ready}, {w.DrainAt, sim.Draining}, {w.FailedAt, sim.Failed}, {w.ExitAt, w.State}}
	// The end's label stands in the way of a band's.
	var end text
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
	if end.content != "" {
		p.add("end-ground", box{x: end.x - 4, y: y + 1, w: end.w + 8, h: p.m.band - 2, radius: 3, fill: p.c.card})
		p.add("end", end)
	}
	part := "worker-" + w.State.String()
	switch w.State {
	case sim.Killed:
		p.cross(part, x, center, r, max(2, 0.4*r), p.c.badFill)
	case sim.Exited:
		p.square(part, x, center, r, p.c.goodFill)
	case sim.Failed:
		p.triangle(part, x, center, 1.3*r, p.c.badFill)
	case sim.Starting, sim.Ready, sim.Draining:
	}
}

func (p *plot) endLabel(w sim.Worker, y float64) text {
	ink := p.c.good
	if w.State == sim.Killed {
		ink = p.c.bad
	}
	font := style{min(p.m.label, p.m.band-1), true}
	x, base := p.x(w.Since()), middle(y, p.m.band, font.size)
	content := w.State.String() + " " + w.Since().String() + " s"
	t := p.set.place(content, x+16, 0, base, font, ink)
	if t.x+t.w > p.left+p.m.width {
		t = p.set.place(content, x-16, 1, base, font, ink)
	}
	return t
}

// band draws a worker's state from x to right, and names it where the name has
// room beside avoid.
func (p *plot) band(state sim.State, x, right, y float64, avoid text) {
	b := box{x: x, y: y, w: right - x, h: p.m.band, radius: 3}
	switch state {
	case sim.Starting:
		b.fill, b.edge = p.c.sunk, p.c.edge
	case sim.Ready:
		b.fill = p.c.ready
	case sim.Draining:
		b.fill, b.edge = p.c.warnTint, p.c.warnLine
	case sim.Failed:
		b.fill, b.edge = p.c.badTint, p.c.badFill
	case sim.Exited, sim.Killed: // have no band
	}
	if b.w < 2*edgeWidth { // no room for an edge
		b.edge = colour{}
	}
	p.add("band "+state.String(), b)
	if state == sim.Starting {
		p.add("band-hatch", hatch{x: x + 1, y: y + 1, w: max(b.w-2, 0), h: b.h - 2, pitch: 6, line: 1.8, ink: p.c.edge})
	}
	font := style{size: min(p.m.label, p.m.band-1)}
	start := x + 6
	if state == sim.Failed { // beside its mark
		start += 8
	}
	t := p.set.place(state.String(), start, 0, middle(y, p.m.band, font.size), font, p.c.ink)
	need := t.w + 6
	if state == sim.Starting { // its stripes are to be seen too
		need = 2.2 * t.w
	}
	beside := avoid.content == "" || t.x+t.w+8 < avoid.x || t.x > avoid.x+avoid.w+8
	if t.x+need > right || !beside {
		return
	}
	if state == sim.Starting {
		p.add("band-ground", box{x: t.x - 3, y: y + 2, w: t.w + 6, h: b.h - 4, radius: 2, fill: p.c.sunk})
	}
	p.add("band-label", t)
}

// marks draws one for each request that has arrived.
func (p *plot) marks() {
	y := p.top + math.Round(p.m.arrivals/2)
	apart := float64(p.s.Settings.Interval) * p.m.width / float64(sim.Horizon)
	r := min(0.19*p.m.arrivals, 0.36*apart)
	for _, inv := range p.s.Invocations {
		p.disc("arrival admitted", p.x(inv.AdmittedAt), y, r, p.c.ink)
	}
	for _, rej := range p.s.Rejections {
		p.cross("arrival rejected", p.x(rej.At), y, 0.9*r, max(1.2, 0.42*r), p.c.badFill)
	}
}

// legend explains the bars' colours and the marks on one line from x on, and
// returns its right end.
func legend(f *figure, set *typesetter, x, base, size float64) float64 {
	c, font := colours(), style{size: size}
	y, r, side := base-0.36*size, math.Round(0.3*size), math.Round(1.1*size)
	for i, name := range []string{"prepare", "model", "tool", "admitted", "rejected", "completed", "killed"} {
		if i > 0 {
			x += size
		}
		part, wide := "legend "+name, 2*r
		swatch := func(fill colour) box {
			wide = side
			b := box{x: math.Round(x), y: math.Round(y - size/2), w: side, h: size, radius: 3, fill: fill}
			f.add(part, b)
			return b
		}
		switch name {
		case "prepare":
			swatch(c.prepare)
		case "model":
			swatch(c.model)
		case "tool":
			swatch(c.tool)
		case "admitted":
			f.disc(part, x+r, y, r, c.ink)
		case "rejected":
			f.cross(part, x+r, y, 0.9*r, 0.42*r, c.badFill)
		case "completed":
			swatch(c.tool)
			f.check(part, x+side/2, y, 0.8*r, 0.36*r, c.onTool)
		case "killed":
			b := swatch(faint(c.model, 40))
			f.add(part, hatch{x: b.x, y: b.y, w: b.w, h: b.h, pitch: 5, line: 1.5, ink: c.badFill})
			f.cross(part, x+side+3+r, y, 0.9*r, 0.5*r, c.badFill)
			wide = side + 3 + 2*r
		}
		t := set.place(name, x+wide+5, 0, base, font, c.quiet)
		f.add("legend label", t)
		x = t.x + t.w
	}
	return x
}

// drawable refuses what is not a snapshot of a run.
func drawable(s sim.Snapshot) error {
	if err := s.Settings.Validate(); err != nil {
		return fmt.Errorf("picture: %w", err)
	}
	if s.T < 0 || s.T > sim.Horizon || len(s.Workers) == 0 || len(s.Workers) > s.Settings.WorkersEver() {
		return fmt.Errorf("picture: not a snapshot of a run: t %s, %d workers", s.T, len(s.Workers))
	}
	return nil
}
