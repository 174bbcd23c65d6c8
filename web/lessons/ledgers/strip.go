package ledgers

import (
	"fmt"
	"strconv"
	"strings"

	"drainlab/internal/drill"
	"drainlab/internal/ledger"
	"drainlab/web/templates"
)

// open is the tone of work of which nobody knows how it ended.
const open templates.Tone = "open"

// buildStrip fills the strip: the request ledger, the work ledger apart from
// it, and the process, which is in neither.
func buildStrip(run fixtureRun, report ledger.Report) templates.Strip {
	s := templates.Strip{ID: "strip", Cells: []templates.StripCell{requestsCell(report.Requests), workCell(report.Work), processCell(run)}}
	if run.ended() {
		s.Announce = outcomes(report)
	}
	return s
}

// requestsCell says admitted = completed + cancelled + …, and apart from it
// what was turned away.
func requestsCell(q ledger.Requests) templates.StripCell {
	c := templates.StripCell{Label: "Request ledger: what each caller got"}
	c.Figures = []templates.StripFigure{figure(int(q.Admitted), "admitted =", templates.Plain)}
	parts := []part{
		{int(q.Completed), "completed", templates.Kept}, {int(q.Failed), "failed", templates.Lost},
		{int(q.Cancelled), "cancelled", templates.Lost}, {int(q.Outstanding), "outstanding", templates.Running},
	}
	c.Figures = append(c.Figures, sum(parts)...)
	c.Bar = bar(parts)
	var apart []string
	if q.Rejected > 0 {
		apart = append(apart, fmt.Sprintf("%d turned away at the gate", q.Rejected))
	}
	if q.NeverAdmitted > 0 {
		apart = append(apart, fmt.Sprintf("%d connected, never admitted", q.NeverAdmitted))
	}
	c.Note = strings.Join(apart, ", ")
	return c
}

func workCell(w ledger.Work) templates.StripCell {
	parts := []part{
		{int(w.NotStarted), "not started", templates.Away}, {int(w.Running), "running", templates.Running},
		{int(w.Completed), "completed", templates.Work}, {int(w.ConfirmedStopped), "confirmed stopped", templates.Work}, {int(w.Unknown), "unknown", open},
	}
	c := templates.StripCell{Label: "Work ledger: what is known of it", Figures: sum(parts), Bar: bar(parts), Note: "never added to the requests"}
	if len(c.Bar) == 0 {
		c.Figures = []templates.StripFigure{figure(0, "seen", templates.Plain)}
	}
	c.Figures[len(c.Figures)-1].Short = "(work)"
	return c
}

func processCell(run fixtureRun) templates.StripCell {
	c := templates.StripCell{Label: "The process: no evidence of work"}
	switch {
	case run.Result != nil:
		exit := run.Result.Exit
		c.Figures = []templates.StripFigure{{ID: "strip-exit", N: exitCode(exit), Tone: templates.Plain}}
		c.Note = strings.TrimPrefix(fmt.Sprintf("%s, %.1f s after the signal", exitBy(exit), exit.After), ", ")
	case !run.ended():
		c.Figures = []templates.StripFigure{{N: phaseNow(run), Tone: templates.Running}}
	default:
		c.Figures = []templates.StripFigure{{N: "not told", Tone: templates.Plain}}
		c.Note = "a record holds no exit code"
	}
	return c
}

// part is one count of a ledger's cell.
type part struct {
	n    int
	word string
	tone templates.Tone
}

// sum are the counts that are not zero, with plus signs between.
func sum(parts []part) []templates.StripFigure {
	var list []templates.StripFigure
	for _, p := range parts {
		if p.n == 0 {
			continue
		}
		if len(list) > 0 {
			list[len(list)-1].Word += " +"
		}
		list = append(list, figure(p.n, p.word, p.tone))
	}
	if len(list) == 0 {
		list = []templates.StripFigure{figure(0, "", templates.Plain)}
	}
	return list
}

func figure(n int, word string, tone templates.Tone) templates.StripFigure {
	return templates.StripFigure{N: strconv.Itoa(n), Word: word, Tone: tone}
}

// bar draws the counts as parts of a whole; nothing where there are none.
func bar(parts []part) []templates.BarPart {
	all := 0.0
	for _, p := range parts {
		all += float64(p.n)
	}
	if all == 0 {
		return nil
	}
	var list []templates.BarPart
	x := 0.0
	for _, p := range parts {
		w := float64(p.n) / all
		if w > 0 {
			list = append(list, templates.BarPart{X: place(x).String(), W: place(w).String(), Tone: p.tone})
		}
		x += w
	}
	return list
}

// outcomes tells both ledgers in a sentence.
func outcomes(r ledger.Report) string {
	q, w := r.Requests, r.Work
	text := fmt.Sprintf("Requests: %d completed, %d failed, %d cancelled. Work: %d completed, %d confirmed stopped, %d unknown.",
		q.Completed, q.Failed, q.Cancelled, w.Completed, w.ConfirmedStopped, w.Unknown)
	if r.EvidenceLost {
		text += " Evidence was lost."
	}
	return text
}

// exitCode is the code with a minus sign as people write it.
func exitCode(e drill.Exit) string {
	return "exit " + strings.Replace(strconv.Itoa(e.Code), "-", "−", 1)
}

func exitBy(e drill.Exit) string {
	switch {
	case e.Killed:
		return "killed at the limit"
	case e.Signal != "":
		return "by " + e.Signal
	}
	return ""
}

// phaseNow says where a run that is not over stands.
func phaseNow(run fixtureRun) string {
	if run.State == runQueued {
		return "waits"
	}
	now := "starts"
	for _, e := range run.record() {
		if p, ok := phaseOf(e); ok {
			now = p.now
		}
	}
	return now
}
