package drain

import (
	"fmt"
	"strings"

	"drainlab/internal/sim"
)

// dot stands between facts on one line.
const dot = " · "

// accountLine says what became of the requests: "7 admitted · 3 kept · …".
// What never happened is left out where it would stand for nothing.
func accountLine(a sim.Account) string {
	if a.Arrivals == 0 {
		return "nothing has arrived yet"
	}
	facts := []string{
		fmt.Sprintf("%d admitted", a.Admitted),
		fmt.Sprintf("%d kept", a.Completed),
		fmt.Sprintf("%d lost", a.Killed),
	}
	if a.Running > 0 {
		facts = append(facts, fmt.Sprintf("%d running", a.Running))
	}
	facts = append(facts, fmt.Sprintf("%d of %d turned away (%s %%)", a.Rejected, a.Arrivals, a.RejectedPercent()))
	return strings.Join(facts, dot)
}

// verdictWord is the gate's answer as the page prints it.
func verdictWord(v sim.Verdict) string {
	if v == sim.Pending {
		return v.String()
	}
	return strings.ToUpper(v.String())
}

// settingsItems lists the settings, in the contract's order; only those that
// differ from the opening ones, or all.
func settingsItems(s sim.Settings, all bool) []string {
	var items []string
	opening := sim.Opening()
	for _, c := range sim.Controls() {
		amount := c.Amount(s)
		if !all && amount == c.Amount(opening) {
			continue
		}
		value := c.Text(s)
		switch {
		case c.Toggle && amount > 0:
			value = "on"
		case c.Toggle:
			value = "off"
		case c.Unit != "":
			value += " " + c.Unit
		}
		items = append(items, strings.ReplaceAll(c.Name, "_", " ")+" "+value)
	}
	return items
}
