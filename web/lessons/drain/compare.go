package drain

import (
	"regexp"
	"strconv"
	"strings"

	"drainlab/internal/course"
	"drainlab/internal/setting"
	"drainlab/internal/sim"
)

// compare is another run beside the one that plays, up to the same instant.
// Nothing in it tells of what comes later.
type compare struct {
	on     bool
	held   bool // told once the prediction was seen against the run
	locked bool // settings are, so that no other run can be made
	pin    choice
	end    choice
	swap   choice // without an address where it would set what is locked
	same   bool
	at     string
	a, b   lanes
	// settings and accounts are what the two have, and by how much they differ.
	settings []compareRow
	accounts []compareRow
	parting  string
	fates    []string // at the end alone
}

// choice is a link that changes what its reader has chosen: its address, and
// the same for the page's script.
type choice struct{ href, own, set string }

// compareRow is a figure of both runs.
type compareRow struct{ name, a, b, by string }

func buildCompare(link course.Link, v *view) compare {
	pinned := *v
	current := v.settings
	pinned.pinned = &current
	c := compare{held: link.Held(), locked: len(link.Lock) > 0, at: link.T.Fixed(),
		pin: choice{href: link.With(&pinned).Address(), own: pinnedQuery(current)}}
	if v.pinned == nil || c.held {
		return c
	}
	c.on = true
	alone := *v
	alone.pinned = nil
	c.end = choice{href: link.With(&alone).Address()}
	if !c.locked {
		c.swap = swapped(link, v)
	}
	c.tell(sim.Simulate(*v.pinned), v.compute(), link.T)
	return c
}

// swapped makes run A the one that plays, and keeps the other as run A.
func swapped(link course.Link, v *view) choice {
	next := v.with(*v.pinned)
	current := v.settings
	next.pinned, next.worker = &current, 1
	return choice{href: link.With(next).Address(), own: pinnedQuery(current), set: string(v.pinned.AppendQuery(nil))}
}

// tell puts run b beside run a as both stand at t.
func (c *compare) tell(a, b *sim.Run, t sim.Time) {
	snapA, snapB := a.At(t), b.At(t)
	c.a, c.b = buildLanes(a, snapA, t), buildLanes(b, snapB, t)
	d := sim.Compare(a, b)
	c.same = d.Same()
	if c.same {
		return
	}
	for _, s := range d.Settings {
		ctl, _ := sim.FindControl(s.Setting)
		row := compareRow{name: s.Label, a: ctl.Say(s.A), b: ctl.Say(s.B)}
		if !ctl.Toggle {
			row.by = signed(s.B-s.A, ctl.Unit)
		}
		c.settings = append(c.settings, row)
	}
	c.accounts = accountRows(snapA, snapB)
	switch {
	case d.Parting != nil && d.Parting.At <= t:
		c.parting = partingText(d.Parting, t)
	case t == sim.Horizon:
		c.parting = "The two runs have the same trace."
	default:
		c.parting = "Up to " + t.String() + " s the two runs have the same trace."
	}
	if t == sim.Horizon {
		for _, text := range d.FateSentences() {
			c.fates = append(c.fates, strings.NewReplacer("the first run", "run A", "the second", "run B").Replace(text))
		}
	}
}

// partingText says where two traces part, as far as that has come by t: one of
// them may go on later.
func partingText(p *sim.Parting, t sim.Time) string {
	if t < sim.Horizon {
		return "At " + p.At.String() + " s they part."
	}
	return strings.NewReplacer("the first run", "run A", "the second run", "run B").Replace(eventNumber.ReplaceAllString(p.Sentence, "up to "))
}

// eventNumber is a part of a sentence that the page, whose trace has no
// numbers, leaves out.
var eventNumber = regexp.MustCompile(`up to event \d+, at `)

// accountRows are the counts of both runs at one instant.
func accountRows(a, b sim.Snapshot) []compareRow {
	var rows []compareRow
	for _, f := range []struct {
		name string
		a, b int
	}{{"admitted", a.Account.Admitted, b.Account.Admitted}, {"completed: kept", a.Account.Completed, b.Account.Completed},
		{"killed: lost", a.Account.Killed, b.Account.Killed}, {"running", a.Account.Running, b.Account.Running},
		{"rejected: turned away", a.Account.Rejected, b.Account.Rejected}, {"arrived", a.Account.Arrivals, b.Account.Arrivals}} {
		row := compareRow{name: f.name, a: strconv.Itoa(f.a), b: strconv.Itoa(f.b)}
		if f.a != f.b {
			row.by = signed(sim.Time(f.b-f.a)*sim.Second, "")
		}
		rows = append(rows, row)
	}
	verdict := func(s sim.Snapshot) string {
		if s.T < sim.Horizon {
			return "not yet"
		}
		return strings.ToUpper(s.Gate().Verdict.String())
	}
	return append(rows, compareRow{name: "gate", a: verdict(a), b: verdict(b)})
}

// signed is a difference with its sign and unit.
func signed(v setting.Time, unit string) string {
	text := strings.Replace(v.String(), "-", "−", 1)
	if v > 0 {
		text = "+" + text
	}
	if unit != "" {
		text += " " + unit
	}
	return text
}
