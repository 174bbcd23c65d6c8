package drain

import (
	"fmt"
	"strconv"

	"drainlab/internal/sim"
)

// band is a stretch of a worker's life in one state.
type band struct {
	span
	y, mid string
	state  string
	label  string // what it says where there is room
	worker string // the same with the worker's name, where names have no column
	size   string // how much room there is
}

// bar is one invocation: its stages as far as they have come.
type bar struct {
	y, mid  string
	request int
	x       string
	stages  []stageSpan
	lost    bool
	running bool
	size    string
	tip     string
	// Of one that was lost: what was still to be done, and until when that
	// would have taken.
	rest   *span
	until  string
	untilX string
	end    string // where it ended, "" while it runs
}

// stageSpan is one stage of a bar.
type stageSpan struct {
	span
	stage string
}

// mark is the end of an invocation or a worker: "kept", "lost", "exited",
// "killed", "failed".
type mark struct {
	x, y  string
	kind  string
	size  string
	label string
	// anchor and dx place the label beside the mark.
	anchor string
	dx     int
}

func barEnd(whole sim.Invocation, until sim.Time) sim.Time {
	if whole.EndedAt != sim.Never {
		return min(until, whole.EndedAt)
	}
	return until
}

// buildBar draws an invocation up to end.
func buildBar(l layout, snap sim.Snapshot, inv sim.Invocation, end sim.Time) bar {
	top := l.slot(int(inv.Worker), int(inv.Slot))
	b := bar{y: l.percent(top + padUnits), mid: l.percent(top + slotUnits/2), request: int(inv.Request), x: x(inv.AdmittedAt),
		lost: inv.Outcome == sim.KilledInvocation, running: inv.Outcome == sim.Running, size: room(end - inv.AdmittedAt), tip: invocationTip(snap, inv)}
	if !b.running {
		b.end = x(inv.EndedAt)
	}
	from := inv.AdmittedAt
	for k, stageEnd := range sim.StageEnds(snap.Settings.Duration) {
		to := min(end, inv.AdmittedAt+stageEnd)
		if to > from {
			b.stages = append(b.stages, stageSpan{span{x(from), x(to - from)}, (sim.Prepare + sim.Stage(k)).String()})
			from = to
		}
	}
	if b.lost {
		b.tellRest(snap, inv)
	}
	return b
}

// tellRest draws what was still to be done of a lost invocation, no further
// than the present instant.
func (b *bar) tellRest(snap sim.Snapshot, inv sim.Invocation) {
	due := inv.AdmittedAt + snap.Settings.Duration
	to := min(due, snap.T, sim.Horizon)
	if to <= inv.EndedAt {
		return
	}
	b.rest = &span{x(inv.EndedAt), x(to - inv.EndedAt)}
	const text = 9 * sim.Second // about the room that the words need
	if to == due && due+text <= sim.Horizon && (snap.T == sim.Horizon || due+text <= snap.T) {
		b.until, b.untilX = "until "+due.String()+" s", x(due)
	}
}

// room says how long a bar or a band is, as the style has it: the longest that
// it surely is.
func room(d sim.Time) string {
	switch {
	case d >= 24*sim.Second:
		return "24"
	case d >= 12*sim.Second:
		return "12"
	case d >= 6*sim.Second:
		return "6"
	case d >= 3*sim.Second:
		return "3"
	case d >= 2*sim.Second:
		return "2"
	case d >= sim.Second:
		return "1"
	}
	return "0"
}

func invocationTip(snap sim.Snapshot, inv sim.Invocation) string {
	tip := fmt.Sprintf("Request %d, worker %d, slot %d: admitted at %s s, ", inv.Request, inv.Worker, inv.Slot, inv.AdmittedAt.Fixed())
	switch inv.Outcome {
	case sim.Completed:
		tip += "committed " + strconv.Itoa(inv.Sum()) + " at " + inv.EndedAt.Fixed() + " s"
	case sim.KilledInvocation:
		tip += "killed at " + inv.EndedAt.Fixed() + " s"
	case sim.Running:
		tip += "in its " + snap.Settings.StageAt(snap.T-inv.AdmittedAt).String() + " stage"
	}
	return tip
}

// bandWords are what a band says of a state.
var bandWords = map[sim.State]string{sim.Starting: "boots", sim.Ready: "ready", sim.Draining: "draining: takes nothing new", sim.Failed: "failed"}

// bands split a worker's life up to the end of the drawing into its states. w
// is the worker of the whole run, so that a band that goes on reaches no
// further than its state does.
func bands(l layout, w sim.Worker, until sim.Time) []band {
	var list []band
	top := l.worker(w.ID)
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
		b := band{span: span{x(c.at), x(end - c.at)}, y: l.percent(top), mid: l.percent(top + (bandUnits-bandBelow)/2), state: c.state.String(),
			size: room(end - c.at), label: bandWords[c.state]}
		b.worker = fmt.Sprintf("worker %d: %s", w.ID, bandWords[c.state])
		if c.state == sim.Draining {
			if end-c.at < 18*sim.Second { // the words would not fit
				b.label = "draining"
			}
			b.worker = "draining"
		}
		if c.state == sim.Starting { // what follows says whose it is
			b.worker = ""
		}
		list = append(list, b)
	}
	return list
}

// workerMarks says how a worker ended.
func workerMarks(l layout, w sim.Worker) []mark {
	if !w.State.Gone() {
		return nil
	}
	at := w.Since()
	m := mark{x: x(at), y: l.percent(l.worker(w.ID) + (bandUnits-bandBelow)/2), kind: w.State.String(), label: w.State.String() + " " + at.String() + " s", anchor: "start", dx: 12}
	if at > 50*sim.Second {
		m.anchor, m.dx = "end", -12
	}
	if w.State == sim.Failed { // its band goes on and says so
		m.label = ""
	}
	return []mark{m}
}
