package drain

import (
	"fmt"

	"drainlab/internal/sim"
)

// arrival is the mark of a request's arrival.
type arrival struct {
	request       int
	x, hitX, hitW string
	admitted      bool
	tip, anchor   string
	first         bool
}

// pace is how far apart arrivals are, as the style has it.
func pace(interval sim.Time) string {
	switch {
	case interval >= 6*sim.Second:
		return "6"
	case interval >= 4*sim.Second:
		return "4"
	case interval >= 2*sim.Second:
		return "2"
	case interval >= sim.Second:
		return "1"
	}
	return "0"
}

// buildArrivals are the marks of those that have arrived.
func buildArrivals(snap sim.Snapshot) []arrival {
	var list []arrival
	width := snap.Settings.Interval
	picked := pickedWorkers(snap)
	i, r := 0, 0
	for i < len(snap.Invocations) || r < len(snap.Rejections) {
		var a arrival
		var at sim.Time
		if r == len(snap.Rejections) || i < len(snap.Invocations) && snap.Invocations[i].Request < snap.Rejections[r].Request {
			inv := snap.Invocations[i]
			i++
			at, a.admitted, a.request = inv.AdmittedAt, true, int(inv.Request)
			a.tip = fmt.Sprintf("Request %d at %s s: admitted, worker %d, slot %d", inv.Request, at.Fixed(), inv.Worker, inv.Slot)
		} else {
			rej := snap.Rejections[r]
			at, a.request = rej.At, int(rej.Request)
			a.tip = fmt.Sprintf("Request %d at %s s: turned away, %s", rej.Request, at.Fixed(),
				reasonText(rej.Reason, fmt.Sprintf("worker %d", picked[r])))
			r++
		}
		a.x, a.hitX, a.hitW = x(at), x(max(at-width/2, 0)), x(width)
		a.anchor = "middle"
		switch {
		case at < 15*sim.Second:
			a.anchor = "start"
		case at > 45*sim.Second:
			a.anchor = "end"
		}
		a.first = len(list) == 0
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
