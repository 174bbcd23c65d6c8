package clocks

import (
	"strconv"
	"strings"

	model "drainlab/internal/clocks"
	"drainlab/internal/course"
	"drainlab/internal/setting"
	"drainlab/web/templates"
)

// stripPart is the verdict strip: what became of the callers and, apart from
// it, of the work behind them; who was turned away before; the verdict.
func stripPart(r *Run, t setting.Time) course.Component {
	a := r.at(t)
	v := templates.Strip{ID: "strip", Cells: []templates.StripCell{callersCell(a), workCell(a), awayCell(a), r.verdictCell(t)}}
	if r.seen(t) {
		v.Announce = "Verdict: " + strings.ToUpper(r.Verdict())
	}
	return templates.StripPart(v)
}

// figures leaves out what there is none of, but for the first.
func figures(list ...templates.StripFigure) []templates.StripFigure {
	kept := list[:1]
	for _, f := range list[1:] {
		if f.N != "0" {
			kept = append(kept, f)
		}
	}
	return kept
}

func figure(id string, n int, word string, tone templates.Tone) templates.StripFigure {
	return templates.StripFigure{ID: id, N: strconv.Itoa(n), Word: word, Tone: tone}
}

func callersCell(a account) templates.StripCell {
	return templates.StripCell{
		Label: "Callers",
		Figures: figures(figure("completed", a.completed, "completed", templates.Kept), figure("killed", a.killed, "killed", templates.Lost),
			figure("cancelled", a.cancelled, "cancelled", templates.Lost), figure("deadline", a.deadline, "at deadline", templates.Lost),
			figure("open", a.open, "wait", templates.Running)),
		Bar: bar(part{a.completed, templates.Kept}, part{a.lost(), templates.Lost}, part{a.open, templates.Running}),
	}
}

func workCell(a account) templates.StripCell {
	w := a.work
	done := figure("work-completed", w.completed, "completed", templates.Kept)
	done.Short = "(work)"
	return templates.StripCell{
		Label: "Backend work",
		Figures: figures(done, figure("work-stopped", w.stopped, "stopped", templates.Work),
			figure("work-unknown", w.unknown, "unknown", templates.Lost), figure("work-going", w.going, "goes on", templates.Running)),
		Bar: bar(part{w.completed, templates.Kept}, part{w.stopped, templates.Work}, part{w.unknown, templates.Lost}, part{w.going, templates.Running}),
	}
}

// awayCell tells those whom the gate turned away, which loses nothing, from
// those whom nobody listened to.
func awayCell(a account) templates.StripCell {
	list := figures(figure("rejected", a.rejected, "rejected", templates.Away), figure("refused", a.refused, "refused", templates.Lost))
	if a.rejected == 0 && len(list) > 1 {
		list = list[1:]
	}
	return templates.StripCell{Label: "Turned away", Figures: list}
}

func (r *Run) verdictCell(t setting.Time) templates.StripCell {
	c := templates.StripCell{Label: "Verdict", Verdict: "open", Text: "not yet"}
	if !r.seen(t) {
		return c
	}
	c.Verdict, c.Text, c.Note = r.Verdict(), strings.ToUpper(r.Verdict()), verdictNote(r)
	return c
}

// verdictNote is the gravest reason, short enough for its cell; all of them
// stand in the trace.
func verdictNote(r *Run) string {
	switch r.Gravest() {
	case model.LostKilled:
		return "killed at " + r.Run.End.String() + " s"
	case model.LostCancelled:
		return "cut by the server"
	case model.LostDeadline:
		return "cut by a deadline"
	case model.LostRefused:
		return "callers refused"
	case model.LostUnknown:
		return "work unknown"
	case model.LostCleanup:
		if r.Cleanup == model.CleanupNotBegun {
			return "cleanup not begun"
		}
		return "cleanup cut"
	case model.LostExit:
		return "ended by the kill"
	case model.NoLoss:
	}
	return "exit at " + r.Run.End.String() + " s"
}

// part is a share of a bar.
type part struct {
	n    int
	tone templates.Tone
}

func bar(parts ...part) []templates.BarPart {
	whole, at := 0, 0
	for _, p := range parts {
		whole += p.n
	}
	var list []templates.BarPart
	for _, p := range parts {
		if p.n > 0 {
			list = append(list, templates.BarPart{X: templates.Percent(at, whole), W: templates.Percent(p.n, whole), Tone: p.tone})
		}
		at += p.n
	}
	return list
}
