package drain

import (
	"drainlab/internal/sim"
	"drainlab/web/templates"
)

// controlGroups are the settings as the panel has them together.
var controlGroups = [...]struct {
	name  string
	names []string
}{
	{"Shutdown", []string{"signal", "grace", "handler", "replacement"}},
	{"Work", []string{"interval", "duration"}},
	{"Workers", []string{"workers", "slots", "startup", "ready_only", "fail_init"}},
	{"Gate", []string{"allowance"}},
}

func buildControls(s sim.Settings) []templates.ControlGroup {
	var groups []templates.ControlGroup
	for _, g := range controlGroups {
		group := templates.ControlGroup{Name: g.name}
		for _, name := range g.names {
			group.Controls = append(group.Controls, control(name, "", s))
		}
		groups = append(groups, group)
	}
	return groups
}

// control is one setting's control; at sets its ids apart.
func control(name string, at templates.Place, s sim.Settings) templates.Control {
	c, _ := sim.FindControl(name)
	v := templates.ControlOf(c, s)
	v.At = at
	return v
}
