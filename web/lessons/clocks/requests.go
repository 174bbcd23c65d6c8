package clocks

import (
	model "drainlab/internal/clocks"
	"drainlab/internal/setting"
)

// requestRow is a group of requests in a row that share a fate.
type requestRow struct{ Who, Arrival, Outcome, Work, Kind string }

var outcomeTones = [...]string{"good", "bad", "bad", "bad", "away", "bad"}

// newRequests groups the requests in a row that share a fate, as far as that
// is known at t.
func newRequests(r *Run, t setting.Time) []requestRow {
	var rows []requestRow
	var group []model.Request
	flush := func() {
		if len(group) > 0 {
			rows = append(rows, newRequestRow(group, t, r.Run.End))
			group = group[:0]
		}
	}
	for q := range r.Requests() {
		if q.Arrival > t {
			break
		}
		if len(group) > 0 && (q.Long || group[0].Long || knownOf(q, t, r.Run.End) != knownOf(group[0], t, r.Run.End)) {
			flush()
		}
		group = append(group, q)
	}
	flush()
	return rows
}

// known is what is known of a request: of one that goes on, nothing but that.
type known struct {
	waits   bool
	outcome model.Outcome
	going   bool
	work    model.WorkOutcome
}

func knownOf(q model.Request, t, end setting.Time) known {
	k := known{waits: q.EndedAt > t}
	if !k.waits {
		k.outcome = q.Outcome
	}
	k.going = q.Work == model.Unknown && end > t || q.WorkEndedAt != model.Never && q.WorkEndedAt > t
	if !k.going {
		k.work = q.Work
	}
	return k
}

func newRequestRow(group []model.Request, t, end setting.Time) requestRow {
	first, last := group[0], group[len(group)-1]
	k := knownOf(first, t, end)
	row := requestRow{Who: count(len(group), "request", "requests"), Arrival: from(first.Arrival, last.Arrival), Outcome: "waits", Work: "goes on", Kind: "plain"}
	if first.Long {
		row.Who = "the long one"
	}
	if !k.waits {
		row.Outcome, row.Kind = outcomeText(first.Outcome), outcomeTones[first.Outcome]
		if first.Outcome <= model.Killed {
			row.Outcome += " at " + from(first.EndedAt, last.EndedAt)
		}
	}
	if k.going {
		return row
	}
	row.Work = workText(first.Work)
	if first.WorkEndedAt != model.Never && (first.WorkEndedAt != first.EndedAt || first.Work == model.ConfirmedStopped) {
		row.Work += " at " + from(first.WorkEndedAt, last.WorkEndedAt)
	}
	return row
}

// from is a span of instants, or the one that it is.
func from(first, last setting.Time) string {
	if first == last {
		return signed(first) + " s"
	}
	return signed(first) + " s to " + signed(last) + " s"
}
