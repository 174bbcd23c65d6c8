package drain

import (
	"fmt"
	"slices"

	"drainlab/internal/course"
	"drainlab/internal/setting"
	"drainlab/internal/sim"
)

// explanation is why the gate decided as it did, and what would change that.
type explanation struct {
	decided   bool // else the run has not been seen to its end
	heading   string
	sentences []explained
	rejected  string
	margin    string
	fixes     []fix
	other     []fix // of the traffic, or of what is asked
	pairs     []fix // of two settings, where no single one does
	none      []string
}

// explained tells what became of some requests, with the events that decided it.
type explained struct {
	text   string
	events []traceEvent
}

// fix is a change of settings that passes the gate.
type fix struct {
	text, sentence string
	values         string // of the settings it changes, as a query
	href           string
}

// buildExplain explains the run once it is seen to its end.
func buildExplain(link course.Link, v *view) explanation {
	e := explanation{heading: "Why this verdict"}
	if !link.Seen() {
		return e
	}
	r := v.compute()
	told := r.Explain()
	e.decided, e.rejected = true, told.Rejected
	if told.Margin != nil {
		e.heading, e.margin = "Why it passes, and by how much", told.Margin.Sentence
		return e
	}
	e.heading = "Why it fails"
	e.sentences = sentencesOf(r, told)
	e.findFixes(link, v)
	return e
}

// sentencesOf are an explanation's sentences, each with its events.
func sentencesOf(r *sim.Run, told sim.Explanation) []explained {
	chains := map[int][]int32{}
	for _, end := range told.Endings {
		chains[end.Request] = end.Chain
	}
	var list []explained
	for _, g := range told.Groups {
		var seqs []int32
		for _, n := range g.Requests {
			for _, seq := range chains[n] {
				if !slices.Contains(seqs, seq) {
					seqs = append(seqs, seq)
				}
			}
		}
		slices.Sort(seqs)
		list = append(list, explained{text: g.Sentence, events: chainEvents(r, seqs)})
	}
	return list
}

// findFixes looks for what passes: single settings first, pairs where there are
// none. What a link locks is left out.
func (e *explanation) findFixes(link course.Link, v *view) {
	for _, f := range sim.Fixes(v.settings) {
		switch {
		case link.Locks(f.Setting):
		case !f.Found:
			e.none = append(e.none, f.Label)
		default:
			c, _ := sim.FindControl(f.Setting)
			s := v.settings
			c.Set(&s, f.To)
			found := fix{sentence: f.Sentence, href: link.With(v.with(s)).Address(),
				text: fmt.Sprintf("%s %s", f.Label, c.Say(f.To)), values: f.Setting + "=" + c.TextOf(f.To)}
			switch f.Setting {
			case "interval", "duration", "signal", "fail_init", "allowance":
				e.other = append(e.other, found)
			default:
				e.fixes = append(e.fixes, found)
			}
		}
	}
	if len(e.fixes)+len(e.other) > 0 {
		return
	}
	for _, p := range sim.Pairs(v.settings, 4) {
		a, b := p.First, p.Second
		if link.Locks(a.Control.Name) || link.Locks(b.Control.Name) {
			continue
		}
		e.pairs = append(e.pairs, fix{
			sentence: changeText(a) + ", and " + changeText(b) + ": " + cameTo(sim.Simulate(p.Settings).Account()) + ".",
			href:     link.With(v.with(p.Settings)).Address(),
			text:     fmt.Sprintf("%s %s and %s %s", a.Control.Label, a.Control.Say(a.To), b.Control.Label, b.Control.Say(b.To)),
			values:   a.Control.Name + "=" + a.Control.TextOf(a.To) + "&" + b.Control.Name + "=" + b.Control.TextOf(b.To)})
	}
}

func changeText(c setting.Change[sim.Settings]) string {
	return fmt.Sprintf("%s %s instead of %s", c.Control.Label, c.Control.Say(c.To), c.Control.Say(c.From))
}

// cameTo says in a word what a run came to.
func cameTo(a sim.Account) string {
	return fmt.Sprintf("%d of %d complete, %d rejected", a.Completed, a.Arrivals, a.Rejected)
}
