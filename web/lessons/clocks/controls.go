package clocks

import (
	"fmt"
	"net/url"
	"strings"

	model "drainlab/internal/clocks"
	"drainlab/web/templates"
)

// controls are the settings, and the platforms to start from.
type controls struct {
	Platform  string // the chosen one, as a form carries it
	Platforms []platformChoice
	Note      *platformNote // nil where none is chosen
	Groups    []templates.ControlGroup
}

// platformChoice is one preset.
type platformChoice struct {
	ID, Name, Set, Href string
	Now                 bool
}

// platformNote says what the chosen platform's documentation says.
type platformNote struct {
	Text, Document, URL, LookedUp string
	Differs                       string // where the settings are no longer its defaults
	Set, Href                     string // back to them
}

var groups = []struct {
	name  string
	names []string
}{
	{"Platform", []string{"grace", "hook_in_grace", "prestop", "signal_delay"}},
	{"Application", []string{"signal_handled", "gate", "server_timeout", "cleanup", "cleanup_budget"}},
	{"Requests", []string{"interval", "request", "long", "long_age", "deadline"}},
	{"Routing", []string{"withdraw", "propagation"}},
	{"Backend work", []string{"cooperative", "stop_check"}},
	{"Plan", []string{"margin"}},
}

func newControls(v View) controls {
	c := controls{Platform: platformID(v.platform)}
	for _, p := range model.Platforms() {
		c.Platforms = append(c.Platforms, platformChoice{ID: p.ID, Name: p.Name, Set: "platform=" + p.ID,
			Href: v.address(newView(p.On(v.settings), &p, v.x, v.y)), Now: c.Platform == p.ID})
	}
	if v.platform != nil {
		c.Note = newPlatformNote(v, *v.platform)
	}
	for _, g := range groups {
		group := templates.ControlGroup{Name: g.name}
		for _, name := range g.names {
			setting, _ := model.FindControl(name)
			group.Controls = append(group.Controls, templates.StopControlOf(setting, v.settings, gateWords))
		}
		c.Groups = append(c.Groups, group)
	}
	return c
}

func newPlatformNote(v View, p model.Platform) *platformNote {
	n := &platformNote{Text: platformText(p), Document: p.Document, URL: p.URL, LookedUp: model.LookedUp}
	s := p.On(v.settings)
	if s == v.settings {
		return n
	}
	var differs []string
	set := url.Values{}
	for _, name := range []string{"grace", "hook_in_grace", "signal_handled"} {
		c, _ := model.FindControl(name)
		if c.Amount(s) != c.Amount(v.settings) {
			differs = append(differs, fmt.Sprintf("%s %s, by default %s", c.Label, c.Say(c.Amount(v.settings)), c.Say(c.Amount(s))))
			set.Set(name, c.Text(s))
		}
	}
	if p.Most != model.Never && v.settings.Grace > p.Most {
		n.Differs = fmt.Sprintf("%s does not take a grace of %s s: %s s is the most %s. ", p.Name, v.settings.Grace, p.Most, p.MostWhere)
	}
	n.Differs += "You have changed: " + strings.Join(differs, "; ") + "."
	n.Set, n.Href = set.Encode(), v.address(v.with(s))
	return n
}

// platformText is what a platform's documentation says, in the lesson's words.
func platformText(p model.Platform) string {
	text := fmt.Sprintf("%s: signal %s. Default grace %s s", p.Name, p.Signal, p.Grace)
	if p.Setting != "" {
		text += " (" + p.Setting + ")"
	}
	switch {
	case p.Most != model.Never && p.Most != p.Grace:
		text += fmt.Sprintf(", at most %s s %s", p.Most, p.MostWhere)
	case p.Most != model.Never:
		text += ", " + p.MostWhere
	}
	text += ". What the clock covers: " + p.Includes + "."
	switch p.Hook {
	case "":
		text += " It runs nothing before the signal: the preStop duration here is a wait that whoever stops the process makes."
	case "preStop":
	default:
		text += " What runs before the signal is its " + p.Hook + "; the preStop duration here stands for that."
	}
	return text
}

// changes are the settings in which two views differ, as a command sets them.
func changes(from, to model.Settings) string {
	var parts []string
	for _, c := range model.Table() {
		if c.Amount(from) != c.Amount(to) {
			parts = append(parts, c.Name+"="+c.Text(to))
		}
	}
	return strings.Join(parts, "&")
}

// address is the way to another view, for where no script sets it.
func (v View) address(to View) string {
	if q := to.Query(); q != "" {
		return New().About().Path() + "?" + q
	}
	return New().About().Path()
}

// api is the address of the settings' run as JSON.
func (v View) api() string { return "/api/v1/clocks?" + string(v.settings.AppendQuery(nil)) }

// file is the address of a download that is made of the view.
func (v View) file(name string) string {
	at := New().About().Path() + "/files/" + name
	if shared := v.Shared(); shared != "" {
		at += "?" + shared
	}
	return at
}
