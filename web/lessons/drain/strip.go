package drain

import (
	"fmt"
	"strconv"
	"strings"

	"drainlab/internal/sim"
	"drainlab/web/templates"
)

// buildStrip is the verdict strip: what became of the accepted work, apart
// from it what was turned away, and the gate.
func buildStrip(snap sim.Snapshot) templates.Strip {
	v := templates.Strip{ID: "strip", Cells: []templates.StripCell{acceptedCell(snap.Account), awayCell(snap.Account), gateCell(snap)}}
	switch snap.Gate().Verdict {
	case sim.Pass:
		v.Announce = "Fixture gate: PASS"
	case sim.Fail:
		v.Announce = "Fixture gate: FAIL"
	case sim.Pending:
	}
	return v
}

// acceptedCell counts the admitted requests, and draws their parts.
func acceptedCell(a sim.Account) templates.StripCell {
	c := templates.StripCell{Label: fmt.Sprintf("Accepted work: %d admitted", a.Admitted)}
	at := 0
	for _, f := range []struct {
		id, word string
		n        int
		tone     templates.Tone
	}{{"completed", "kept", a.Completed, templates.Kept}, {"killed", "lost", a.Killed, templates.Lost}, {"running", "running", a.Running, templates.Running}} {
		c.Figures = append(c.Figures, templates.StripFigure{ID: "count-" + f.id, N: strconv.Itoa(f.n), Word: f.word, Tone: f.tone})
		if f.n > 0 {
			c.Bar = append(c.Bar, templates.BarPart{X: templates.Percent(at, a.Admitted), W: templates.Percent(f.n, a.Admitted), Tone: f.tone})
			at += f.n
		}
	}
	return c
}

// awayCell counts what was turned away of all that arrived: nothing of it was
// lost, for nothing of it was accepted.
func awayCell(a sim.Account) templates.StripCell {
	c := templates.StripCell{Label: "Turned away before acceptance",
		Figures: []templates.StripFigure{{ID: "count-rejected", N: strconv.Itoa(a.Rejected), Short: "away", Tone: templates.Away}},
		Note:    fmt.Sprintf("of %s, %s %%", count(a.Arrivals, "arrival", "arrivals"), a.RejectedPercent())}
	if a.Arrivals == 0 {
		c.Note = "nothing has arrived yet"
	}
	if a.Rejected > 0 {
		c.Bar = []templates.BarPart{{X: "0%", W: templates.Percent(a.Rejected, a.Arrivals), Tone: templates.Away}}
	}
	return c
}

// gateCell is the verdict with its reasons or, before the end, what stands
// against a PASS so far.
func gateCell(snap sim.Snapshot) templates.StripCell {
	c := templates.StripCell{Label: "Fixture gate, at 60 s"}
	g := snap.Gate()
	switch g.Verdict {
	case sim.Pass:
		c.Verdict, c.Text = "pass", "PASS"
		c.Note = fmt.Sprintf("nothing killed, nothing running, rejected within %d %%", snap.Settings.Allowance)
	case sim.Fail:
		c.Verdict, c.Text, c.Note = "fail", "FAIL", strings.Join(g.Reasons, ", ")
	case sim.Pending: // work that goes on stands against nothing yet
		c.Verdict, c.Text = "open", "not yet"
		now := snap
		now.Account.Running = 0
		if against := now.Objections(); len(against) > 0 {
			c.Note = "so far " + strings.Join(against, ", ")
		}
	}
	return c
}

// count says how many there are of something.
func count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + more
}
