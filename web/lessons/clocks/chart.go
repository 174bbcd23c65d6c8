package clocks

import (
	"fmt"
	"slices"
	"strings"

	model "drainlab/internal/clocks"
	"drainlab/internal/course"
	"drainlab/internal/setting"
)

// The requests of a chart that are drawn one by one, and the arrivals that are
// marked, are at most so many.
const (
	mostDrawn    = 14
	mostArrivals = 40
)

// chart is a termination on one axis at an instant: a row for each clock. What
// has happened is drawn up to that instant; how long a clock is set is drawn
// whole, for it is no event. Places are in percent both ways, so that it fits
// any box.
type chart struct {
	Told     string // in words, for who does not see it
	From, To string // of the axis, in seconds
	Now      string // where the instant lies
	Ticks    []tick
	Lines    []chartLine
	Rows     []chartRow
	Note     string // what of the requests is not drawn; told in the trace
}

// chartLine is an instant over all rows.
type chartLine struct {
	Kind, X, Label, Anchor string
	DX                     int
	Room                   string // a class of the style; "" where the label has room at any width
}

// chartRow is a clock and its owner.
type chartRow struct {
	Name, Owner string
	Y, H        string
	Low         bool       // it has no handle
	Rails, Bars []chartBar // how long it is set; what has happened
	Marks       []chartMark
	Words       []chartWords
	Handle      *chartHandle
}

// chartBar is a span of time; Y and H are in percent of its row, empty for all
// of it.
type chartBar struct{ Kind, X, W, Y, H string }

// chartMark is a moment: admitted, rejected, refused, lost, kept, unknown.
type chartMark struct{ Kind, X string }

// chartWords are shown where they have room: Room is a class of the style.
type chartWords struct {
	Kind, X, Anchor, Text, Room string
	DX                          int
}

// chartHandle is a clock's end as a slider.
type chartHandle struct {
	Name, Label, X                  string
	Min, Max, Now, Text, Step, Base string
}

// painter draws a chart row by row.
type painter struct {
	axis
	run   *Run
	t     setting.Time // what has happened by then is drawn
	until setting.Time // up to here a bar goes on that goes on at t
	chart *chart
	drawn []model.Request // of the admitted
	row   *chartRow
}

// newChart draws the frame of a run.
func newChart(r *Run, f course.Frame) chart {
	all := admittedRequests(r.Run)
	p := &painter{run: r, t: f.T, until: max(f.T, f.Until), chart: &chart{}}
	p.axis = newAxis(r, sampleRequests(all))
	seen := slices.DeleteFunc(slices.Clone(all), p.over)
	p.drawn = sampleRequests(seen)
	p.frame()
	p.rows()
	p.lines()
	p.note(len(all), len(seen))
	p.chart.Told = r.told(f.T)
	return *p.chart
}

func (p *painter) frame() {
	c := p.chart
	c.From, c.To, c.Now, c.Ticks = p.left.String(), p.right.String(), p.x(p.t), p.ticks()
}

// A row with a handle is higher than one without: a finger must find it.
const (
	handleRow = 20
	plainRow  = 9
)

// rows draws the clocks from the outermost to the plan that they share.
func (p *painter) rows() {
	type step struct {
		height setting.Time
		draw   func()
	}
	steps := []step{{handleRow, p.grace}, {handleRow, p.hook}, {handleRow, p.routing}, {plainRow, p.gate}, {handleRow, p.drain}, {handleRow, p.cleanup}}
	if slices.ContainsFunc(p.drawn, func(q model.Request) bool { return !q.Long }) {
		steps = append(steps, step{plainRow, p.others})
	}
	if _, ok := longRequest(p.run.Run); ok {
		steps = append(steps, step{handleRow, p.long}, step{plainRow, p.work})
	}
	steps = append(steps, step{plainRow, p.budget})
	whole, y := setting.Time(0), setting.Time(0)
	for _, s := range steps {
		whole += s.height
	}
	p.chart.Rows = make([]chartRow, len(steps))
	for i, s := range steps {
		p.row = &p.chart.Rows[i]
		p.row.Y, p.row.H, p.row.Low = percent(y, whole), percent(s.height, whole), s.height == plainRow
		s.draw()
		y += s.height
	}
}

func (p *painter) name(name, owner string) { p.row.Name, p.row.Owner = name, owner }

// rail draws how long a clock is set.
func (p *painter) rail(from, to setting.Time, kind string) {
	if to > from {
		p.row.Rails = append(p.row.Rails, chartBar{Kind: kind, X: p.x(from), W: p.width(from, to)})
	}
}

// bar draws what happened from one instant to another, as far as it has.
func (p *painter) bar(from, to setting.Time, kind string) {
	if to = min(to, p.until); to > from && from <= p.t {
		p.row.Bars = append(p.row.Bars, chartBar{Kind: kind, X: p.x(from), W: p.width(from, to)})
	}
}

// mark draws a moment that has come.
func (p *painter) mark(at setting.Time, kind string) {
	if at <= p.t && at <= p.right {
		p.row.Marks = append(p.row.Marks, chartMark{Kind: kind, X: p.x(at)})
	}
}

// inside puts words into a span, where they fit it.
func (p *painter) inside(from, to setting.Time, kind, text string) {
	if class := room(text, p.share(from, to)); class != "" {
		p.row.Words = append(p.row.Words, chartWords{Kind: kind, X: p.x(from), Anchor: "start", DX: 8, Text: text, Room: class})
	}
}

// beside puts words after an instant, or before it where there is more room
// since clear.
func (p *painter) beside(clear, at setting.Time, off int, kind, text string) {
	after, before := p.share(at, p.right), p.share(clear, at)
	w := chartWords{Kind: kind, X: p.x(at), Anchor: "start", DX: off, Text: text, Room: room(text, after)}
	if w.Room == "" && before > after {
		w.Anchor, w.DX, w.Room = "end", -off, room(text, before)
	}
	if w.Room != "" {
		p.row.Words = append(p.row.Words, w)
	}
}

// handle makes the end of a clock a slider that sets it: its amount is where
// the handle stands, less base. What more there is to say of the clock stands
// behind the amount where there is room.
func (p *painter) handle(name string, base setting.Time, more string) {
	c, _ := model.FindControl(name)
	amount := c.Amount(p.run.Settings)
	at := base + amount
	text := c.Say(amount)
	p.row.Handle = &chartHandle{Name: name, Label: shortName(c), X: p.x(at),
		Min: c.Min.String(), Max: c.Max.String(), Now: amount.String(), Text: amount.String() + " seconds", Step: c.Step.String(), Base: base.String()}
	if at > p.right {
		text += " →"
	}
	w := chartWords{Kind: "amount", X: p.x(at), Anchor: "start", DX: 16, Text: text}
	after := p.share(at, p.right)
	if after < 9 { // it would be cut
		w.Anchor, w.DX, after = "end", -16, p.share(p.left, at)
	}
	if more != "" {
		long := w
		long.Text, long.Room = text+" · "+more, room(text+" · "+more, after)
		if w.Anchor == "end" {
			long.Text = more + " · " + text
		}
		if long.Room != "" {
			w.Room = strings.Replace(long.Room, "room", "until", 1)
			p.row.Words = append(p.row.Words, long)
		}
	}
	p.row.Words = append(p.row.Words, w)
}

// over reports whether a request was over before the chart begins; the long
// one is told all the same.
func (p *painter) over(q model.Request) bool { return !q.Long && q.EndedAt <= p.left }

// lines draws the instants that cut across the rows. They are settings: they
// stand from the beginning.
func (p *painter) lines() {
	i := p.run.Instants
	add := func(at setting.Time, kind, label string, left bool) *chartLine {
		l := chartLine{Kind: kind, X: p.x(at), Label: label, Anchor: "start", DX: 5}
		if left || p.share(at, p.right) < needs(label) {
			l.Anchor, l.DX = "end", -5
		}
		p.chart.Lines = append(p.chart.Lines, l)
		return &p.chart.Lines[len(p.chart.Lines)-1]
	}
	add(0, "zero", "", false)
	if i.Term != model.Never {
		close := i.Kill <= p.right && p.share(i.Term, i.Kill) < 16
		left := close && p.share(p.left, i.Term) >= needs("TERM")
		if l := add(i.Term, "term", "TERM", left); close && !left { // the other line's name comes soon
			if l.Room = room(l.Label, p.share(i.Term, i.Kill)); l.Room == "" {
				l.Label = ""
			}
		}
	}
	name := "KILL"
	if f := p.run.view.platform; f != nil && !f.Handled {
		name = "INTERRUPTION"
	}
	if i.Kill > p.right {
		p.chart.Lines = append(p.chart.Lines, chartLine{Kind: "beyond", X: "100%", Label: name + " at " + i.Kill.String() + " s →", Anchor: "end"})
		return
	}
	add(i.Kill, "kill", name, false)
}

// note says what of the requests is not drawn.
func (p *painter) note(all, within int) {
	if len(p.drawn) < within {
		p.chart.Note += fmt.Sprintf("%d of the %d admitted requests that run within the picture are drawn, the first and the last of each fate among them. ", len(p.drawn), within)
	}
	if over := all - within; over > 0 {
		p.chart.Note += count(over, "admitted request was", "admitted requests were") + " over before the picture begins."
	}
}

func admittedRequests(run *model.Run) []model.Request {
	var list []model.Request
	for q := range run.Requests() {
		if q.Outcome <= model.Killed {
			list = append(list, q)
		}
	}
	return list
}

// sampleRequests returns those of the requests that are drawn: all, or of each
// fate in a row the first and the last, and evenly some between.
func sampleRequests(all []model.Request) []model.Request {
	return sample(all, mostDrawn, func(a, b model.Request) bool {
		return a.Long == b.Long && a.Outcome == b.Outcome && a.Work == b.Work
	})
}

// sample returns the whole list, or of each row of alike ones the first and the
// last, and evenly as many between as make up most.
func sample(all []model.Request, most int, alike func(a, b model.Request) bool) []model.Request {
	if len(all) <= most {
		return all
	}
	keep := map[int]bool{0: true, len(all) - 1: true}
	for i := 1; i < len(all); i++ {
		if !alike(all[i-1], all[i]) {
			keep[i-1], keep[i] = true, true
		}
	}
	for n := range most {
		if len(keep) >= most {
			break
		}
		keep[n*(len(all)-1)/(most-1)] = true
	}
	var list []model.Request
	for i, q := range all {
		if keep[i] {
			list = append(list, q)
		}
	}
	return list
}
