package clocks

import (
	"fmt"
	"strings"

	model "drainlab/internal/clocks"
	"drainlab/internal/setting"
)

// told says in words what the chart shows at t.
func (r *Run) told(t setting.Time) string {
	parts := []string{fmt.Sprintf("Termination at %s s of %s s", t, r.end), r.toldClocks()}
	for _, m := range r.moments {
		if m.at <= t {
			parts = append(parts, signed(m.at)+" s: "+strings.TrimSuffix(m.text, "."))
		}
	}
	parts = append(parts, toldAccount(r.at(t)))
	if r.seen(t) {
		parts = append(parts, "Verdict: "+strings.ToUpper(r.Verdict()))
	}
	return strings.Join(parts, ". ") + "."
}

// toldClocks are the lines over the chart's rows.
func (r *Run) toldClocks() string {
	text := fmt.Sprintf("The grace of %s s ends at %s s", r.Settings.Grace, r.Instants.Kill)
	if r.Instants.Term != model.Never {
		text += fmt.Sprintf(", the signal comes at %s s", r.Instants.Term)
	}
	return text
}

func toldAccount(a account) string {
	var list []string
	for _, f := range []struct {
		n    int
		word string
	}{{a.completed, "completed"}, {a.killed, "killed"}, {a.cancelled, "cancelled"}, {a.deadline, "failed at their deadline"}, {a.open, "waiting"},
		{a.rejected, "rejected"}, {a.refused, "refused"}} {
		if f.n > 0 {
			list = append(list, fmt.Sprintf("%d %s", f.n, f.word))
		}
	}
	text := "No request so far"
	if len(list) > 0 {
		text = "Requests: " + strings.Join(list, ", ")
	}
	list = nil
	for _, f := range []struct {
		n    int
		word string
	}{{a.work.completed, "completed"}, {a.work.stopped, "confirmed stopped"}, {a.work.unknown, "unknown"}, {a.work.going, "going on"}} {
		if f.n > 0 {
			list = append(list, fmt.Sprintf("%d %s", f.n, f.word))
		}
	}
	if len(list) > 0 {
		text += ". Their work: " + strings.Join(list, ", ")
	}
	return text
}
