package ledgers

import (
	"drainlab/internal/course"
	"drainlab/internal/fixture"
	"drainlab/web/templates"
)

// settings is the tab of the next run's settings.
type settings struct {
	Groups    []templates.ControlGroup
	Reference string // way to the reference settings
	Set       string // … as a command of the page's script
	Changed   bool   // they are others
	Locked    bool   // some cannot be changed
}

var settingGroups = [...]struct {
	name  string
	names []string
}{
	{"Shutdown", []string{"graceful_timeout", "second_signal", "cleanup_hold", "join_work", "store_fails"}},
	{"Work", []string{"blocking_work", "stop_token", "stop_check"}},
	{"Clients", []string{"stream_chunks", "client_leaves", "request_deadline"}},
}

func buildSettings(link course.Link, v view) settings {
	var s settings
	for _, g := range settingGroups {
		group := templates.ControlGroup{Name: g.name}
		for _, name := range g.names {
			c, _ := fixture.Table().Find(name)
			control := templates.ControlOf(c, v.settings)
			control.Locked = link.Locks(name)
			group.Controls = append(group.Controls, control)
		}
		s.Groups = append(s.Groups, group)
	}
	reference := link
	reference.View = view{lesson: v.lesson, settings: fixture.Reference(), run: v.run}
	s.Reference = reference.Address()
	s.Set = string(fixture.Table().AppendQuery(nil, fixture.Reference()))
	s.Changed = v.settings != fixture.Reference()
	s.Locked = len(link.Lock) > 0
	return s
}
