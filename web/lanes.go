package web

import (
	"fmt"
	"strconv"
	"strings"

	"drainlab/internal/sim"
	"drainlab/web/templates"
)

// The picture's vertical measures in pixels.
const (
	axisHeight     = 26
	arrivalsHeight = 30
	bandHeight     = 16
	workerGap      = 12
	legendHeight   = 38 // two rows of labels below the plot
)

// buildLanes draws the run up to snap.T. Bars and bands that go on while time
// moves reach to until, where the next event is; the picture cuts them at its
// playhead, so that they grow smoothly and nothing after it is seen.
func buildLanes(run *sim.Run, snap sim.Snapshot, until sim.Time) templates.Lanes {
	s := snap.Settings
	row := 20
	if s.WorkersEver()*s.Slots > 16 {
		row = 15
	}
	v := templates.Lanes{
		T: snap.T.Fixed(), Summary: summary(snap), Width: plotWidth(s), Top: axisHeight, ArrivalsY: axisHeight + arrivalsHeight/2,
		Playhead: x(snap.T), BarHeight: row - 4,
	}
	for t := sim.Time(0); t <= sim.Horizon; t += 5 * sim.Second {
		v.Ticks = append(v.Ticks, templates.Tick{X: x(t), Label: t.String(), Anchor: anchorAt(t)})
	}
	v.Arrivals = buildArrivals(snap)

	y := axisHeight + arrivalsHeight
	bandY := make([]int, s.WorkersEver())
	for i := range bandY {
		bandY[i] = y
		lane := templates.LaneWorker{Name: "Worker " + strconv.Itoa(i+1), Y: y, RowHeight: row, State: "not booted"}
		if i < len(snap.Workers) {
			w := snap.Workers[i]
			lane.State = w.State.String()
			v.Bands = append(v.Bands, buildBands(run.Workers[i], until, y)...)
			v.Marks = append(v.Marks, workerMarks(w, y)...)
		}
		y += bandHeight + 4
		for slot := 1; slot <= s.Slots; slot++ {
			lane.Rows = append(lane.Rows, templates.SlotRow{N: slot, Y: y})
			y += row
		}
		y += workerGap
		v.Workers = append(v.Workers, lane)
	}
	v.Bottom = y - workerGap/2
	v.Height = v.Bottom + legendHeight

	for i, inv := range snap.Invocations {
		top := bandY[inv.Worker-1] + bandHeight + 4 + (int(inv.Slot)-1)*row + 2
		v.Bars = append(v.Bars, buildBar(snap, inv, run.Invocations[i], until, top))
		if inv.Outcome != sim.Running {
			kind := "ok"
			if inv.Outcome == sim.KilledInvocation {
				kind = "killed"
			}
			v.Marks = append(v.Marks, templates.Mark{X: x(inv.EndedAt), Y: top + (row-4)/2, Kind: kind})
		}
	}
	// The signal and its deadline are known from the signal on.
	switch {
	case snap.T < s.Signal:
	case snap.Workers[0].SignalAt == sim.Never: // it had failed
		v.Signal = line(s.Signal, "SIGTERM "+s.Signal.String()+" s, to nobody", snap.T)
	default:
		v.Signal = line(s.Signal, "SIGTERM "+s.Signal.String()+" s", snap.T)
		end := min(s.Deadline(), sim.Horizon)
		v.Window = &templates.Span{X: x(s.Signal), W: x(end - s.Signal)}
		label := "deadline " + s.Deadline().String() + " s"
		if s.Deadline() > sim.Horizon {
			label += " →"
		}
		v.Deadline = line(end, label, snap.T)
		v.Deadline.Reached = v.Deadline.Reached && s.Deadline() <= sim.Horizon
	}
	return v
}

// x is t's place on the time axis.
func x(t sim.Time) string { return percent(int(t), int(sim.Horizon)) }

func anchorAt(t sim.Time) string {
	switch t {
	case 0:
		return "start"
	case sim.Horizon:
		return "end"
	}
	return "middle"
}

func line(t sim.Time, label string, now sim.Time) *templates.Line {
	l := &templates.Line{X: x(t), Label: label, Anchor: "start", DX: 4, Reached: now >= t}
	if t > 50*sim.Second { // no room to the right
		l.Anchor, l.DX = "end", -4
	}
	return l
}

// plotWidth is the class of the plot's least width: short invocations need
// more room for their numbers and end marks.
func plotWidth(s sim.Settings) string {
	switch {
	case s.Duration < 2*sim.Second:
		return "plot-3"
	case s.Duration < 4*sim.Second, s.Interval < sim.Second:
		return "plot-2"
	}
	return "plot-1"
}

func buildArrivals(snap sim.Snapshot) []templates.Arrival {
	var list []templates.Arrival
	i, r := 0, 0
	width := min(snap.Settings.Interval, 2*sim.Second)
	picked := pickedWorkers(snap)
	for i < len(snap.Invocations) || r < len(snap.Rejections) {
		var at sim.Time
		var a templates.Arrival
		if i < len(snap.Invocations) && (r == len(snap.Rejections) || snap.Invocations[i].Request < snap.Rejections[r].Request) {
			inv := snap.Invocations[i]
			i++
			at, a.Admitted, a.Request = inv.AdmittedAt, true, int(inv.Request)
			a.Tip = fmt.Sprintf("Request %d at %s s: admitted, worker %d, slot %d", inv.Request, at.Fixed(), inv.Worker, inv.Slot)
		} else {
			rej := snap.Rejections[r]
			at, a.Request = rej.At, int(rej.Request)
			a.Tip = fmt.Sprintf("Request %d at %s s: rejected, %s", rej.Request, at.Fixed(),
				reasonText(rej.Reason, fmt.Sprintf("worker %d", picked[r])))
			r++
		}
		a.X, a.HitX, a.HitW = x(at), x(at-width/2), x(width)
		a.Anchor = "middle"
		switch {
		case at < 15*sim.Second:
			a.Anchor = "start"
		case at > 45*sim.Second:
			a.Anchor = "end"
		}
		a.First = len(list) == 0
		list = append(list, a)
	}
	return list
}

// pickedWorkers are the workers that the router had picked for each rejection,
// in the rejections' order; 0 where there was no candidate.
func pickedWorkers(snap sim.Snapshot) []uint8 {
	picked := make([]uint8, 0, len(snap.Rejections))
	for _, ev := range snap.Trace {
		if ev.Kind == sim.RequestRejected {
			picked = append(picked, ev.Worker)
		}
	}
	return picked
}

// buildBands splits a worker's life up to the end of the drawing into its
// states. w is the worker of the whole run, so that a band that goes on
// reaches no further than its state does.
func buildBands(w sim.Worker, until sim.Time, y int) []templates.Band {
	var bands []templates.Band
	changes := []struct {
		at    sim.Time
		state sim.State
	}{{w.BootAt, sim.Starting}, {w.ReadyAt, sim.Ready}, {w.DrainAt, sim.Draining}, {w.FailedAt, sim.Failed}, {w.ExitAt, w.State}}
	for i, c := range changes {
		if c.at == sim.Never || c.at > until || c.state == sim.Exited || c.state == sim.Killed {
			continue
		}
		end := until
		for _, later := range changes[i+1:] {
			if later.at != sim.Never {
				end = min(end, later.at)
				break
			}
		}
		if end == c.at {
			continue
		}
		band := templates.Band{Span: templates.Span{X: x(c.at), W: x(end - c.at)}, Y: y, State: c.state.String()}
		// About 8 pixels a letter at the least width of 720 pixels.
		if int(end-c.at)*720/int(sim.Horizon) > 8*len(band.State) {
			band.Label = band.State
		}
		bands = append(bands, band)
	}
	return bands
}

// workerMarks says how a worker ended.
func workerMarks(w sim.Worker, y int) []templates.Mark {
	if !w.State.Gone() {
		return nil
	}
	at := w.Since()
	m := templates.Mark{X: x(at), Y: y + bandHeight/2, Kind: w.State.String(), Label: w.State.String() + " " + at.String() + " s", Anchor: "start", DX: 16}
	if at > 50*sim.Second {
		m.Anchor, m.DX = "end", -8
	}
	if w.State == sim.Failed { // its band goes on and says so
		m.Label = ""
	}
	return []templates.Mark{m}
}

// buildBar draws an invocation: inv as it stands, whole as it will be.
func buildBar(snap sim.Snapshot, inv, whole sim.Invocation, until sim.Time, y int) templates.Bar {
	end := until
	if whole.EndedAt != sim.Never {
		end = min(end, whole.EndedAt)
	}
	b := templates.Bar{Y: y, Request: int(inv.Request), X: x(inv.AdmittedAt), Killed: inv.Outcome == sim.KilledInvocation,
		Whole: templates.Span{X: x(inv.AdmittedAt), W: x(end - inv.AdmittedAt)}}
	from := inv.AdmittedAt
	for k, stageEnd := range sim.StageEnds(snap.Settings.Duration) {
		to := min(end, inv.AdmittedAt+stageEnd)
		if to > from {
			b.Stages = append(b.Stages, templates.StageSpan{Span: templates.Span{X: x(from), W: x(to - from)}, Stage: (sim.Prepare + sim.Stage(k)).String()})
			from = to
		}
	}
	tip := fmt.Sprintf("Request %d, worker %d, slot %d: admitted at %s s, ", inv.Request, inv.Worker, inv.Slot, inv.AdmittedAt.Fixed())
	switch inv.Outcome {
	case sim.Completed:
		tip += "committed " + strconv.Itoa(inv.Sum()) + " at " + inv.EndedAt.Fixed() + " s"
	case sim.KilledInvocation:
		tip += "killed at " + inv.EndedAt.Fixed() + " s"
	case sim.Running:
		tip += "in its " + snap.Settings.StageAt(snap.T-inv.AdmittedAt).String() + " stage"
	}
	b.Tip = tip
	return b
}

// summary says in a sentence or two what the picture shows.
func summary(snap sim.Snapshot) string {
	var b strings.Builder
	fmt.Fprintf(&b, "At %s s: ", snap.T.Fixed())
	owned := make([]int, len(snap.Workers)+1)
	for _, inv := range snap.Invocations {
		if inv.Outcome == sim.Running {
			owned[inv.Worker]++
		}
	}
	for i, w := range snap.Workers {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "worker %d %s", w.ID, w.State)
		if !w.State.Gone() {
			fmt.Fprintf(&b, ", owns %d of %d", owned[w.ID], snap.Settings.Slots)
		}
	}
	a := snap.Account
	fmt.Fprintf(&b, ". %d arrived: %d admitted, %d rejected; %d completed, %d killed, %d running.",
		a.Arrivals, a.Admitted, a.Rejected, a.Completed, a.Killed, a.Running)
	return b.String()
}
