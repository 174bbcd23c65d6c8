package drain

import (
	"drainlab/internal/sim"
)

// handle is the signal or the deadline: a line through the lanes, and what it
// is dragged by. Both are settings and no secret of the run's.
type handle struct {
	setting       string // that it drags
	x             string
	name, value   string      // as a slider
	text          string      // on it
	pill          int         // its width in pixels
	places        []pillPlace // where that stands in plots of different widths
	knob          int         // the middle of its round form, in pixels from x
	min, max, now string
	step, base    string
	reached       bool
}

// The signal's handle stands left of its line and the deadline's right of its
// own, so that they never overlap: no deadline is before its signal. Where the
// right has no room for a pill the deadline's stands left too, and pushes the
// signal's on. A narrow picture has round handles, for which there is room.
const (
	letter   = 8  // pixels, about, of a letter on a handle
	sides    = 38 // of a pill, beside its text: the arrow and the round ends
	knobSide = 13 // from a line to the middle of a round handle
)

// pillWidths are the widths of the plot from which on pills are placed so: what
// is placed for the least width lies apart in every wider one.
var pillWidths = [...]struct {
	class string
	late  sim.Time // from here on the deadline's pill stands left of its line
	wide  sim.Time // a pill takes at most so much of the time
}{
	{"pill-less", 42 * sim.Second, 21 * sim.Second}, // 500 pixels
	{"pill-wide", 47 * sim.Second, 14 * sim.Second}, // 780 pixels
}

// pillPlace is where a handle's pill stands: its left end in pixels from x.
type pillPlace struct {
	class string
	x     string
	left  int
}

// handlesOf are worker 1's SIGTERM, and the end of the grace, when worker 1 is
// stopped by force.
func handlesOf(snap sim.Snapshot) (signal, deadline handle) {
	signal, deadline = signalHandle(snap), deadlineHandle(snap)
	s := snap.Settings
	at := min(s.Deadline(), sim.Horizon)
	for _, w := range pillWidths {
		first, second := pillPlace{w.class, signal.x, -signal.pill - 1}, pillPlace{w.class, deadline.x, 1}
		if at > w.late {
			second.left = -deadline.pill - 1
			if s.Signal > at-w.wide { // beside the deadline's, wherever the line itself is under the two
				first.x, first.left = second.x, second.left-signal.pill-3
			}
		}
		signal.places, deadline.places = append(signal.places, first), append(deadline.places, second)
	}
	signal.places, deadline.places = once(signal.places), once(deadline.places)
	return signal, deadline
}

// once is one place for all widths where they are the same.
func once(places []pillPlace) []pillPlace {
	for _, p := range places[1:] {
		if p.x != places[0].x || p.left != places[0].left {
			return places
		}
	}
	return []pillPlace{{x: places[0].x, left: places[0].left}}
}

func signalHandle(snap sim.Snapshot) handle {
	s := snap.Settings
	h := handle{setting: "signal", x: x(s.Signal), name: "SIGTERM to worker 1", value: s.Signal.String() + " seconds",
		text: "SIGTERM " + s.Signal.String() + " s", step: "0.5", base: "0", now: s.Signal.String(), reached: snap.T >= s.Signal, knob: -knobSide}
	if snap.T >= s.Signal && snap.Workers[0].SignalAt == sim.Never { // it had failed
		h.text += ", to nobody"
		h.value += ": worker 1 had failed"
	}
	h.measure()
	return h
}

func deadlineHandle(snap sim.Snapshot) handle {
	s := snap.Settings
	h := handle{setting: "grace", x: x(min(s.Deadline(), sim.Horizon)), name: "Deadline, the end of the grace period",
		value: "grace " + s.Grace.String() + " seconds: the deadline is at " + s.Deadline().String() + " seconds",
		text:  "deadline " + s.Deadline().String() + " s", step: "0.5", base: s.Signal.String(), now: s.Grace.String(), knob: knobSide,
		reached: snap.T >= s.Deadline()}
	if s.Deadline() > sim.Horizon {
		h.text += " →"
	}
	h.measure()
	return h
}

// measure says how wide the handle's pill is, and how far its slider goes.
func (h *handle) measure() {
	h.pill = letter*len([]rune(h.text)) + sides
	c, _ := sim.FindControl(h.setting)
	h.min, h.max = c.Min.String(), c.Max.String()
}
