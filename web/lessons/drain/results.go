package drain

import (
	"fmt"
	"slices"

	"drainlab/internal/sim"
)

// result is one committed sum.
type result struct {
	request    int
	terms      string
	sum        int
	at         string
	worker     int
	workerGone string // how it went
}

// buildResults lists the committed sums, newest first.
func buildResults(snap sim.Snapshot) []result {
	var rows []result
	for _, inv := range slices.Backward(snap.Invocations) {
		if inv.Outcome != sim.Completed {
			continue
		}
		n := sim.Numbers(int(inv.Request))
		row := result{request: int(inv.Request), terms: fmt.Sprintf("%d + %d + %d", n[0], n[1], n[2]),
			sum: inv.Sum(), at: inv.EndedAt.Fixed(), worker: int(inv.Worker)}
		if w := snap.Workers[inv.Worker-1]; w.State.Gone() {
			row.workerGone = w.State.String()
		}
		rows = append(rows, row)
	}
	return rows
}
