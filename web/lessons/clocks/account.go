package clocks

import (
	model "drainlab/internal/clocks"
	"drainlab/internal/setting"
)

// account is what has become of requests and their work up to an instant.
type account struct {
	arrived, admitted                      int
	completed, deadline, cancelled, killed int
	open                                   int // admitted, and not ended
	rejected, refused                      int
	work                                   work
}

// work is the backend's side of it. Going is what has begun and of which
// nothing is known yet.
type work struct{ completed, stopped, unknown, going int }

// at counts what has happened up to t, that instant included.
func (r *Run) at(t setting.Time) account {
	var a account
	for q := range r.Requests() {
		if q.Arrival > t {
			continue
		}
		a.arrived++
		switch {
		case q.Outcome == model.Rejected:
			a.rejected++
			continue
		case q.Outcome == model.Refused:
			a.refused++
			continue
		}
		a.admitted++
		a.request(q, t)
		a.work.count(q, t, r.Run.End)
	}
	return a
}

func (a *account) request(q model.Request, t setting.Time) {
	if q.EndedAt > t {
		a.open++
		return
	}
	switch q.Outcome {
	case model.Completed:
		a.completed++
	case model.Deadline:
		a.deadline++
	case model.Cancelled:
		a.cancelled++
	case model.Killed:
		a.killed++
	case model.Rejected, model.Refused:
	}
}

// count adds one request's work. That nothing is known of it is known when the
// process is gone, at end.
func (w *work) count(q model.Request, t, end setting.Time) {
	switch {
	case q.Work == model.Unknown && end <= t:
		w.unknown++
	case q.Work == model.Unknown || q.WorkEndedAt > t:
		w.going++
	case q.Work == model.ConfirmedStopped:
		w.stopped++
	default:
		w.completed++
	}
}

// lost are the admitted requests that ended without an answer.
func (a account) lost() int { return a.deadline + a.cancelled + a.killed }
