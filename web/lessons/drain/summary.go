package drain

import (
	"fmt"
	"strings"

	"drainlab/internal/sim"
)

// summary says in words what the picture shows: what became of each request,
// what runs where, and how the workers stand.
func summary(snap sim.Snapshot) string {
	var b strings.Builder
	fmt.Fprintf(&b, "At %s s: ", snap.T.Fixed())
	for i, w := range snap.Workers {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "worker %d %s since %s s", w.ID, w.State, w.Since().Fixed())
	}
	a := snap.Account
	fmt.Fprintf(&b, ". %s: %d admitted, %d turned away.", count(a.Arrivals, "request has arrived", "requests have arrived"), a.Admitted, a.Rejected)
	b.WriteString(runningWords(snap))
	kept, lost, away := fates(snap)
	if len(kept) > 0 {
		b.WriteString(" Kept: " + theRequests(kept) + ".")
	}
	if len(lost) > 0 {
		fmt.Fprintf(&b, " Lost, killed at %s s: %s.", lostAt(snap).Fixed(), theRequests(lost))
	}
	if len(away) > 0 {
		b.WriteString(" Turned away: " + theRequests(away) + ".")
	}
	fmt.Fprintf(&b, " SIGTERM for worker 1 is at %s s, its deadline at %s s.", snap.Settings.Signal.Fixed(), snap.Settings.Deadline().Fixed())
	return b.String()
}

// runningWords say what runs, and where.
func runningWords(snap sim.Snapshot) string {
	var parts []string
	for _, inv := range snap.Invocations {
		if inv.Outcome == sim.Running {
			parts = append(parts, fmt.Sprintf("request %d in slot %d of worker %d, stage %s", inv.Request, inv.Slot, inv.Worker, snap.Settings.StageAt(snap.T-inv.AdmittedAt)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " Running: " + strings.Join(parts, "; ") + "."
}

// fates are the requests by what became of them, in order.
func fates(snap sim.Snapshot) (kept, lost, away []int) {
	for _, inv := range snap.Invocations {
		switch inv.Outcome {
		case sim.Completed:
			kept = append(kept, int(inv.Request))
		case sim.KilledInvocation:
			lost = append(lost, int(inv.Request))
		case sim.Running:
		}
	}
	for _, rej := range snap.Rejections {
		away = append(away, int(rej.Request))
	}
	return kept, lost, away
}

// lostAt is when invocations were killed: all of them by the one forced stop.
func lostAt(snap sim.Snapshot) sim.Time {
	for _, inv := range snap.Invocations {
		if inv.Outcome == sim.KilledInvocation {
			return inv.EndedAt
		}
	}
	return sim.Never
}

// theRequests names requests, which ascend: "request 6", "requests 6 and 13 to 20".
func theRequests(requests []int) string {
	if len(requests) == 1 {
		return "request " + sim.RequestNumbers(requests)
	}
	return "requests " + sim.RequestNumbers(requests)
}
