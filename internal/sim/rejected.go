package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// RejectionCause is what kept a number of requests out, the same for all.
type RejectionCause struct {
	Reason Reason
	// Worker is the one whose State kept them out: the one that was picked; where
	// no worker was ready, the first initial worker still booting, else worker 1.
	// It is 0, and State and Since say nothing, where all slots were full.
	Worker int
	State  State
	Since  Time // when Worker came into State
	// ReplacementBooting: the replacement would have taken them, but was not ready.
	ReplacementBooting bool
	Requests           []int  // at least one, ascending
	At                 []Time // when each came
}

// cause is why one request was rejected, as all of its step but the admission
// had happened.
func (r *Run) cause(rej *Rejection) RejectionCause {
	c := RejectionCause{Reason: rej.Reason, Since: Never, Requests: []int{int(rej.Request)}, At: []Time{rej.At}}
	switch rej.Reason {
	case SlotsFull:
		return c
	case WorkerStarting, WorkerDraining:
		c.Worker = int(r.Trace[r.find(RequestRejected, 0, int(rej.Request))].Worker)
	case NoReadyWorker:
		// Only worker 1 is ever signalled or fails, so where another initial
		// worker is there and none is ready, the boots are not over.
		c.Worker = 1
		booting := slices.IndexFunc(r.Workers, func(w Worker) bool { return w.BootAt <= rej.At && w.at(rej.At).State == Starting })
		switch {
		case booting >= 0 && r.Workers[booting].Replacement: // the last in the list
			c.ReplacementBooting = true
		case booting >= 0:
			c.Worker = r.Workers[booting].ID
		}
	case NoReason:
	}
	w := r.Workers[c.Worker-1].at(rej.At)
	c.State, c.Since = w.State, w.Since()
	return c
}

// RejectionCauses returns why requests were rejected, the cause of most of them
// first, at a tie the one that came first.
func (r *Run) RejectionCauses() []RejectionCause {
	var causes []RejectionCause
	for i := range r.Rejections {
		c := r.cause(&r.Rejections[i])
		same := slices.IndexFunc(causes, func(o RejectionCause) bool {
			return o.Reason == c.Reason && o.Worker == c.Worker && o.State == c.State && o.ReplacementBooting == c.ReplacementBooting
		})
		if same < 0 {
			causes = append(causes, c)
			continue
		}
		causes[same].Requests = append(causes[same].Requests, c.Requests...)
		causes[same].At = append(causes[same].At, c.At...)
	}
	slices.SortStableFunc(causes, func(a, b RejectionCause) int { return cmp.Compare(len(b.Requests), len(a.Requests)) })
	return causes
}

// keptOut says of one request what kept it out.
func (r *Run) keptOut(c *RejectionCause) string {
	worker, since := fmt.Sprintf("worker %d", c.Worker), secs(c.Since)
	text := ""
	switch c.Reason {
	case SlotsFull:
		return "all slots were taken"
	case WorkerStarting:
		return "it was routed to " + worker + ", which was still booting"
	case WorkerDraining:
		return "it was routed to " + worker + ", which had been draining since " + since
	case NoReadyWorker, NoReason:
	}
	switch c.State {
	case Starting:
		return r.bootingWorkers(c) + " still booting"
	case Draining:
		text = worker + " had been draining since " + since
	case Exited:
		text = worker + " had exited at " + since
	case Killed:
		text = worker + " had been killed at " + since
	case Failed:
		text = worker + " had failed to initialize at " + since
	case Ready:
	}
	if c.ReplacementBooting {
		text += " and its replacement was still booting"
	}
	return text
}

// came says of all of them what kept them out: "met full slots between 13 s and 23 s".
func (r *Run) came(c *RejectionCause) string {
	worker, since := fmt.Sprintf("worker %d", c.Worker), secs(c.Since)
	were := form(len(c.Requests), "was", "were")
	text := ""
	switch c.Reason {
	case SlotsFull:
		return "met full slots " + when(c.At)
	case WorkerStarting:
		return fmt.Sprintf("%s routed to %s while it was booting, %s", were, worker, when(c.At))
	case WorkerDraining:
		return fmt.Sprintf("%s routed to %s while it was draining, %s", were, worker, when(c.At))
	case NoReadyWorker, NoReason:
	}
	switch c.State {
	case Starting:
		return fmt.Sprintf("came while %s booting, %s", r.bootingWorkers(c), when(c.At))
	case Draining:
		text = fmt.Sprintf("came while %s was draining, from %s on", worker, since)
	case Exited:
		text = fmt.Sprintf("came after %s exited at %s", worker, since)
	case Killed:
		text = fmt.Sprintf("came after %s was killed at %s", worker, since)
	case Failed:
		text = fmt.Sprintf("came after %s failed to initialize at %s", worker, since)
	case Ready:
	}
	if c.ReplacementBooting {
		text += ", before its replacement was ready"
	}
	return text
}

func (r *Run) bootingWorkers(c *RejectionCause) string {
	switch last := r.Settings.Workers; last - c.Worker {
	case 0:
		return fmt.Sprintf("worker %d was", c.Worker)
	case 1:
		return fmt.Sprintf("workers %d and %d were", c.Worker, last)
	default:
		return fmt.Sprintf("workers %d to %d were", c.Worker, last)
	}
}

// tellRejected tells the rejected share and, of each cause, how many it kept out.
func tellRejected(r *Run, a Account, causes []RejectionCause) string {
	parts := make([]string, len(causes))
	for i := range causes {
		parts[i] = fmt.Sprintf("%d %s", len(causes[i].Requests), r.came(&causes[i]))
	}
	return fmt.Sprintf("%d of %d requests were rejected (%s %%), more than the allowance of %d %%: %s.",
		a.Rejected, a.Arrivals, a.RejectedPercent(), r.Settings.Allowance, strings.Join(parts, "; "))
}
