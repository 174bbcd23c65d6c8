package clocks

import (
	"fmt"

	model "drainlab/internal/clocks"
	"drainlab/internal/setting"
)

// budget is the planning rule as parts of one bar, and the time in which new
// requests got no service.
type budget struct {
	Waits     bool // it is told at the run's end
	None      string
	Parts     []budgetPart
	Sums      []budgetSum
	Kill      string // place of the outer deadline
	KillText  string
	KillRight bool
	Text, Sum string // what it comes to; the rule as an addition
	Gap       string
}

// budgetPart is one part of the plan; Room is a class: how wide the bar must be
// for the words in it, "" where they never fit.
type budgetPart struct{ Name, Kind, Value, X, W, Room string }

// budgetSum is a line of the addition.
type budgetSum struct{ Name, Kind, Value string }

func newBudget(r *Run, t setting.Time) budget {
	if !r.seen(t) {
		return budget{Waits: true}
	}
	b, kill := r.Budget, r.Instants.Kill
	if b.Need == model.Never {
		return budget{Gap: gapText(r.Run), None: fmt.Sprintf("The application does not handle the signal: there is no plan. It lives until the kill at %s s.", kill)}
	}
	v := budget{KillText: fmt.Sprintf("kill at %s s", kill), Gap: gapText(r.Run)}
	v.fill(b, kill)
	v.add(b, kill)
	v.Text = budgetText(r.Run)
	return v
}

// fill makes the bar's parts.
func (v *budget) fill(b model.Budget, kill setting.Time) {
	whole := max(b.Need, kill, 1)
	at := setting.Time(0)
	part := func(name, kind string, span setting.Time) {
		p := budgetPart{Name: name, Kind: kind, Value: span.String() + " s", X: percent(at, whole), W: percent(span, whole)}
		p.Room = roomFor(p.Name+" "+p.Value, int(span), int(whole))
		v.Parts = append(v.Parts, p)
		at += span
	}
	part("hook and delivery", "hook", b.Term)
	part("drain", "drain", b.Remaining)
	part("cleanup", "cleanup", b.Cleanup)
	part("margin", "margin", b.Margin)
	if b.Slack > 0 {
		part("to spare", "spare", b.Slack)
	}
	v.Kill, v.KillRight = percent(kill, whole), 2*kill > whole
}

// add writes the rule as an addition.
func (v *budget) add(b model.Budget, kill setting.Time) {
	v.Sum = fmt.Sprintf("%s s of hook and delivery, %s s of drain, %s s of cleanup and %s s of margin are %s s", b.Term, b.Remaining, b.Cleanup, b.Margin, b.Need)
	for _, p := range v.Parts {
		if p.Kind != "spare" {
			v.Sums = append(v.Sums, budgetSum{p.Name, p.Kind, p.Value})
		}
	}
	spare := budgetSum{"to spare", "spare", b.Slack.String() + " s"}
	if b.Slack < 0 {
		spare = budgetSum{"too much", "over", (-b.Slack).String() + " s"}
	}
	v.Sums = append(v.Sums, budgetSum{"the plan needs", "need", b.Need.String() + " s"}, budgetSum{"until the kill", "kill", kill.String() + " s"}, spare)
}

func budgetText(run *model.Run) string {
	b, kill := run.Budget, run.Instants.Kill
	switch {
	case b.Slack < 0 && run.Passes():
		return fmt.Sprintf("This run fits, but the plan does not: it needs %s s with its margin, and the kill comes at %s s. %s s are missing.", b.Need, kill, -b.Slack)
	case b.Slack < 0:
		return fmt.Sprintf("The plan needs %s s, and the kill comes at %s s: an overrun of %s s.", b.Need, kill, -b.Slack)
	}
	text := fmt.Sprintf("The plan needs %s s of the %s s until the kill: %s s to spare.", b.Need, kill, b.Slack)
	if run.Account.Cancelled > 0 {
		text += fmt.Sprintf(" It is the server's own timeout of %s s that cuts.", run.Settings.ServerTimeout)
	}
	return text
}

// roomFor is the class of words in a part of the budget's bar: how wide the bar
// must be, in pixels, so that they fit their part; "" where they fit none.
func roomFor(words string, part, whole int) string {
	for _, width := range widths {
		if pixels(words)+2*8 <= width*part/whole {
			return fmt.Sprintf("room-%d", width)
		}
	}
	return ""
}

// anchor is the side of the kill's line on which its words stand, and how far.
func (v budget) anchor() (side, dx string) {
	if v.KillRight {
		return "end", "-4"
	}
	return "start", "4"
}

func (v budget) killSide() string { side, _ := v.anchor(); return side }
func (v budget) killDX() string   { _, dx := v.anchor(); return dx }
