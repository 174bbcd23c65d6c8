package clocks

import (
	"fmt"
	"strings"

	model "drainlab/internal/clocks"
	"drainlab/internal/course"
	"drainlab/internal/setting"
)

// fixes are what would make a run pass, or fail.
type fixes struct {
	Waits         bool // they are told at the run's end
	Heading, Lead string
	Changes       []fix
	Workload      []fix // of what comes in, which one does not set
	None          []string
	NoneText      string // of these settings no value does
}

// fix is a change that was found.
type fix struct{ ID, Text, Verdict, Kind, Set, Href string }

// workload are the settings that describe what comes in, not what one can set.
var workload = map[string]bool{"interval": true, "request": true, "long": true, "long_age": true, "cleanup": true, "cooperative": true, "stop_check": true}

func newFixes(r *Run, link course.Link) fixes {
	switch {
	case !link.Seen():
		return fixes{Waits: true}
	case r.Passes():
		f := fixes{Heading: "What would break it", NoneText: "No value of these alone makes it fail",
			Lead: "For each setting the smallest change of it alone with which these settings fail, found by running the model with every value."}
		f.add(r, link, model.Breaks(r.Settings), "FAIL", "fail")
		return f
	}
	v := r.view
	limit := ""
	if most := v.most(); most != model.Never {
		limit = fmt.Sprintf(" The grace is searched up to the %s s that are %s's most, %s.", most, v.platform.Name, v.platform.MostWhere)
	}
	f := fixes{Heading: "What would fix it", NoneText: "No value of these alone makes it pass",
		Lead: "For each setting the smallest change of it alone that turns FAIL into PASS, found by running the model with every value." + limit}
	f.add(r, link, model.Fixes(r.Settings, v.most()), "PASS", "pass")
	if len(f.Changes)+len(f.Workload) == 0 {
		f.Lead, f.None = "No single change does: every value of every setting was run."+limit, nil
		f.together(r, link)
	}
	return f
}

// add lists changes of one setting, and the settings of which none was found.
func (f *fixes) add(r *Run, link course.Link, list []model.Change, verdict, kind string) {
	for _, c := range list {
		if !c.Found {
			f.None = append(f.None, shortName(c.Control))
			continue
		}
		row := newFix(r, link, c.Settings, kind+"-"+c.Control.Name, changeText(c.Control, c.From, c.To), verdict, kind)
		if link.Locks(c.Control.Name) {
			row.Set, row.Href = "", "" // it is told, and not to be tried
		}
		if workload[c.Control.Name] {
			f.Workload = append(f.Workload, row)
		} else {
			f.Changes = append(f.Changes, row)
		}
	}
}

// together lists changes of two settings or, where those do not pass either,
// the one that leaves the least to mend.
func (f *fixes) together(r *Run, link course.Link) {
	for _, p := range model.Pairs(r.Settings, r.view.most(), 6) {
		a, b := p.First, p.Second
		if link.Locks(a.Control.Name) || link.Locks(b.Control.Name) {
			continue
		}
		text := changeText(a.Control, a.From, a.To) + " and " + changeText(b.Control, b.From, b.To)
		f.Changes = append(f.Changes, newFix(r, link, p.Settings, "fix-"+a.Control.Name+"-"+b.Control.Name, text, "PASS", "pass"))
	}
	if len(f.Changes) > 0 {
		f.Lead += " These two together do."
		return
	}
	f.Lead += " No two changes at the sliders' stops do either."
	c, ok := model.Closest(r.Settings, r.view.most())
	if !ok || link.Locks(c.Control.Name) {
		return
	}
	f.Lead += " This one leaves the least to mend: " + strings.Join(lossTexts(model.Simulate(c.Settings)), "; ") + "."
	f.Changes = append(f.Changes, newFix(r, link, c.Settings, "step-"+c.Control.Name, changeText(c.Control, c.From, c.To), "nearer", "near"))
}

func newFix(r *Run, link course.Link, s model.Settings, id, text, verdict, kind string) fix {
	return fix{ID: id, Text: text, Verdict: verdict, Kind: kind, Set: changes(r.Settings, s), Href: link.With(r.view.with(s)).Address()}
}

func changeText(c model.Control, from, to setting.Time) string {
	return fmt.Sprintf("%s %s → %s", shortName(c), valueText(&c, from), valueText(&c, to))
}
