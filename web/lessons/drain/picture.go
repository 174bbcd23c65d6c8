package drain

import (
	"strconv"

	"drainlab/internal/sim"
	"drainlab/web/templates"
)

// lanes is the picture of a run up to an instant. Its box gives it its size:
// places along the time are percentages of the plot's width, those down the
// lanes of their height; only texts and marks are in pixels.
type lanes struct {
	id      string // of the part, "" for a still picture
	clip    string // id of what cuts the lanes at the playhead
	live    bool   // what is in it can be dragged and pressed
	t       string
	summary string // the picture in words
	// crowd says how many rows there are, and size how long its bars are: the
	// style shows the texts for which the box has room.
	// How far apart requests come is its pace.
	crowd, pace string
	playhead    string
	ticks       []tick
	arrivals    []arrival
	workers     []laneWorker
	bands       []band
	bars        []bar
	marks       []mark
	signal      handle
	deadline    handle
	window      span // of grace
	// The heights of a worker's band, of a slot's row and of the bars in it.
	bandHeight, rowHeight, barHeight string
}

// tick is a labelled line of the time axis; a minor one has no label where the
// picture is narrow.
type tick struct {
	x, label, anchor string
	minor            bool
}

// span is a stretch of the time axis.
type span struct{ x, w string }

// laneWorker is a worker's rows: a band of its states, then its slots.
type laneWorker struct {
	name, state string
	bandY       string // the top of its band
	bandMid     string
	rows        []slotRow
}

// slotRow is one slot's row.
type slotRow struct {
	n      int
	y, mid string
}

// The heights of the picture's rows, in hundredths of a slot's.
const (
	bandUnits = 54
	bandBelow = 10 // below a band
	slotUnits = 100
	gapUnits  = 30
	padUnits  = 9 // above and below a bar within its slot
)

// layout is where the rows stand in the lanes' height.
type layout struct{ slots, workers int }

func (l layout) whole() int { return l.workers*(bandUnits+l.slots*slotUnits+gapUnits) - gapUnits }

// worker is the top of a worker's band, from worker 1.
func (l layout) worker(id int) int { return (id - 1) * (bandUnits + l.slots*slotUnits + gapUnits) }

// slot is the top of a slot, from slot 1.
func (l layout) slot(worker, n int) int {
	return l.worker(worker) + bandUnits + (n-1)*slotUnits
}

func (l layout) percent(units int) string { return templates.Percent(units, l.whole()) }

func (l layout) bandHeight() string { return l.percent(bandUnits - bandBelow) }

func (l layout) rowHeight() string { return l.percent(slotUnits - 6) }

func (l layout) barHeight() string { return l.percent(slotUnits - 2*padUnits) }

func layoutOf(s sim.Settings) layout { return layout{slots: s.Slots, workers: s.WorkersEver()} }

// crowd is how many rows there are, as the style has it.
func (l layout) crowd() string {
	switch units := l.whole(); {
	case units <= 600:
		return "few"
	case units <= 1000:
		return "some"
	case units <= 1400:
		return "more"
	case units <= 2300:
		return "many"
	}
	return "dense"
}

// buildLanes draws the run up to snap.T. Bars and bands that go on while time
// moves reach to until, where the next event is; the picture cuts them at its
// playhead, so that they grow smoothly and nothing after it is seen. Of what
// comes after snap.T only the signal and the deadline are drawn.
func buildLanes(r *sim.Run, snap sim.Snapshot, until sim.Time) lanes {
	l := layoutOf(snap.Settings)
	v := lanes{t: snap.T.Fixed(), summary: summary(snap), crowd: l.crowd(), pace: pace(snap.Settings.Interval), playhead: x(snap.T), ticks: ticks(),
		arrivals: buildArrivals(snap)}
	v.signal, v.deadline = handlesOf(snap)
	s := snap.Settings
	end := min(s.Deadline(), sim.Horizon)
	v.window = span{x(s.Signal), x(end - s.Signal)}
	v.bandHeight, v.rowHeight, v.barHeight = l.bandHeight(), l.rowHeight(), l.barHeight()
	for id := 1; id <= l.workers; id++ {
		v.workers = append(v.workers, rows(l, snap, id))
		if id <= len(snap.Workers) {
			v.bands = append(v.bands, bands(l, r.Workers[id-1], until)...)
			v.marks = append(v.marks, workerMarks(l, snap.Workers[id-1])...)
		}
	}
	for i, inv := range snap.Invocations {
		b := buildBar(l, snap, inv, barEnd(r.Invocations[i], until))
		v.bars = append(v.bars, b)
		switch inv.Outcome {
		case sim.Completed:
			v.marks = append(v.marks, mark{x: b.end, y: b.mid, kind: "kept", size: b.size})
		case sim.KilledInvocation:
			v.marks = append(v.marks, mark{x: b.end, y: b.mid, kind: "lost", size: b.size})
		case sim.Running:
		}
	}
	return v
}

// asPart is the picture as the page's own: it has ids and can be used.
func (v lanes) asPart() lanes {
	v.id, v.clip, v.live = "lanes", "past", true
	return v
}

// x is t's place on the time axis.
func x(t sim.Time) string { return templates.Percent(int(t), int(sim.Horizon)) }

func ticks() []tick {
	var list []tick
	for t := sim.Time(0); t <= sim.Horizon; t += 5 * sim.Second {
		k := tick{x: x(t), label: t.String(), anchor: "middle", minor: t%(10*sim.Second) != 0}
		if t == sim.Horizon {
			k.label += " s"
		}
		list = append(list, k)
	}
	return list
}

// rows are a worker's rows and what it is called.
func rows(l layout, snap sim.Snapshot, id int) laneWorker {
	top := l.worker(id)
	w := laneWorker{name: "Worker " + strconv.Itoa(id), state: "not booted", bandY: l.percent(top), bandMid: l.percent(top + (bandUnits-bandBelow)/2)}
	if id <= len(snap.Workers) {
		w.state = snap.Workers[id-1].State.String()
	}
	for n := 1; n <= l.slots; n++ {
		y := l.slot(id, n)
		w.rows = append(w.rows, slotRow{n: n, y: l.percent(y + 3), mid: l.percent(y + slotUnits/2)})
	}
	return w
}
