package ledgers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drainlab/internal/drill"
	"drainlab/internal/ledger"
)

// drawing is a picture that is being drawn.
type drawing struct {
	run   fixtureRun
	scale scale
	now   ledger.Seconds // the record's last instant
}

func (d drawing) requests(entries []ledger.RequestEntry) []row {
	var list []row
	for _, q := range entries {
		list = append(list, d.request(q))
	}
	// Those of one drill come in the order of their rows, whichever was first.
	order := map[string]int{"short": 1, "stream": 2, "block": 3}
	slices.SortStableFunc(list, func(a, b row) int { return cmp.Compare(order[a.Name], order[b.Name]) })
	return list
}

func (d drawing) request(q ledger.RequestEntry) row {
	r := row{Name: cmp.Or(q.Class, "request"), Kind: "request", Part: "request", Class: "req-" + q.Outcome.String(), Outcome: signed(q.Outcome)}
	until := q.EndedAt
	if q.Outcome == ledger.Outstanding {
		until = d.now
	}
	r.Bars = []piece{{span: d.scale.between(q.AdmittedAt, until)}}
	r.Detail = got(client(d.run.Result, q.Class))
	r.told = fmt.Sprintf("%s: admitted at %s, %s", r.Name, d.scale.since(q.AdmittedAt), q.Outcome)
	if q.Outcome != ledger.Outstanding {
		r.told += " at " + d.scale.since(until)
	}
	if r.Detail != "" {
		r.told += ", the caller got " + r.Detail
	}
	return r
}

// signed is an outcome with the sign that tells it without its colour.
func signed(o ledger.RequestOutcome) string {
	switch o {
	case ledger.Completed:
		return "✓ completed"
	case ledger.Failed, ledger.Cancelled:
		return "✕ " + o.String()
	case ledger.Outstanding:
	}
	return "… " + o.String()
}

// got is what a client got, in a few words.
func got(c drill.Client) string {
	switch {
	case c.Class == "":
		return ""
	case c.Status == 0:
		return "no response"
	case c.Body == "truncated":
		return fmt.Sprintf("%d, but no end marker", c.Status)
	}
	return fmt.Sprint(c.Status)
}

// turnedAway is the one row of all that came after the gate had closed.
func (d drawing) turnedAway(events []ledger.Event) (row, bool) {
	r := row{Name: "late", Kind: "request", Part: "request", Class: "req-rejected", Outcome: "turned away", Detail: got(client(d.run.Result, "late"))}
	n := 0
	for _, e := range events {
		if e.Kind != ledger.RequestRejected {
			continue
		}
		if n++; n == 1 {
			r.told = fmt.Sprintf("late: turned away at the gate at %s", d.scale.since(e.At))
		}
		if n <= mostBeats {
			r.Rings = append(r.Rings, d.scale.at(e.At))
		}
	}
	if n > 1 {
		r.Outcome = fmt.Sprintf("%d turned away", n)
		r.told = fmt.Sprintf("late: %d turned away at the gate", n)
	}
	if r.Detail != "" {
		r.told += ", the caller got " + r.Detail
	}
	return r, n > 0
}

func (d drawing) work(w ledger.WorkEntry) row {
	r := row{Name: cmp.Or(w.Class, "some") + "’s work", Kind: "work", Part: "work", Class: "work-" + w.Outcome.String()}
	if w.Class == "" {
		r.Name = "work"
	}
	until := d.now
	if w.Ended() {
		until = w.EndedAt
	}
	if w.Started {
		r.Bars = []piece{{span: d.scale.between(w.StartedAt, until)}}
	}
	if w.Outcome == ledger.Unknown { // nobody says what comes after
		r.Bars = append(r.Bars, piece{span: d.scale.between(until, until+ledger.Seconds(d.scale.margin())), Class: "tail"})
	}
	for _, b := range w.Heartbeats[:min(len(w.Heartbeats), mostBeats)] {
		r.Beats = append(r.Beats, d.scale.at(b))
	}
	word := strings.ReplaceAll(w.Outcome.String(), "_", " ")
	r.Outcome = workSign(w.Outcome) + word
	r.told = r.Name + ": " + word
	if w.Started {
		r.told = fmt.Sprintf("%s: seen to start at %s, %s", r.Name, d.scale.since(w.StartedAt), word)
	}
	switch gap, alive := w.HeartbeatAfterCancel(); {
	case w.Ended():
		r.Detail = "at " + d.scale.since(w.EndedAt)
		r.told += " " + r.Detail
	case alive:
		r.Detail = fmt.Sprintf("alive %.2f s after the cancel", gap.Seconds())
		r.told += ", " + r.Detail
	}
	return r
}

func workSign(o ledger.WorkOutcome) string {
	switch o {
	case ledger.WorkCompleted:
		return "✓ "
	case ledger.ConfirmedStopped:
		return "■ "
	case ledger.Unknown:
		return "? "
	case ledger.NotStarted, ledger.Running:
	}
	return "… "
}

// process is the row of the process's states.
func (d drawing) process(events []ledger.Event) (row, bool) {
	r := row{Name: "process", Kind: "its states", Part: "process"}
	var told []string
	var last phase
	var since ledger.Seconds
	close := func(until ledger.Seconds) {
		if last.state == "" || last.state == "EXIT" {
			return
		}
		b := piece{span: d.scale.between(since, until), Class: "phase-" + last.class}
		if wide := d.scale.share(until) - d.scale.share(since); wide > 0.13 {
			b.Label, b.Short = last.now, wide < 0.3
		}
		r.Bars = append(r.Bars, b)
		told = append(told, fmt.Sprintf("%s until %s", last.name, d.scale.since(until)))
	}
	states := slices.Clone(events)
	slices.SortStableFunc(states, func(a, b ledger.Event) int { return cmp.Compare(a.At, b.At) })
	for _, e := range states {
		if p, ok := phaseOf(e); ok && len(r.Bars) < len(phases()) {
			close(e.At)
			last, since = p, e.At
		}
	}
	close(d.now)
	switch {
	case d.run.Result != nil:
		exit := d.run.Result.Exit
		r.Outcome, r.Detail = exitCode(exit), exitBy(exit)
		told = append(told, strings.TrimSpace(r.Outcome+" "+r.Detail))
	case !d.run.ended():
		r.Outcome = "… " + phaseNow(d.run)
	default:
		r.Outcome, r.Detail = "no exit code", "in a record"
	}
	r.told = "process: " + strings.Join(told, ", ")
	return r, len(r.Bars) > 0
}
