package templates

import (
	"strconv"
	"strings"

	"drainlab/internal/setting"
)

// ControlGroup is a heading and its controls.
type ControlGroup struct {
	Name     string
	Controls []Control
}

// Control is one setting's way to be changed: a slider with its number field,
// a toggle, or choices.
type Control struct {
	Name, Label, Unit, UnitName string
	// At is where it stands: among all settings, or by itself.
	At                    Place
	Toggle                bool
	On                    bool
	Value, Min, Max, Step string
	FieldStep             string
	Text                  string // the value with its unit in words
	Allowed               string // what the field takes, in words
	Locked                bool   // it cannot be changed
	None                  bool   // the field takes "none" too
	Choices               []Option
	// Of a slider over stops: their values by spaces, the place of the nearest
	// one, and of the last.
	Stops, Stop, StopMax string
}

// Place is where a control stands. All settings are one form; a control by
// itself has a form of its own, and ids of its own: c-scene-grace beside c-grace.
type Place string

// The places of a control.
const (
	InSettings Place = ""       // among all settings
	InScene    Place = "scene-" // by itself, in the panel
	InPlay     Place = "play-"  // by itself, beside the player
)

// form is the form of the shell that sends the control.
func (c Control) form() string {
	switch c.At {
	case InScene:
		return "f-scene"
	case InPlay:
		return "f-one"
	case InSettings:
	}
	return "f-set"
}

// switchForm is the form of a toggle. One by itself is not sent, since it would
// send nothing where it is off: a button switches it without script.
func (c Control) switchForm() string {
	if c.At != InSettings {
		return "f-none"
	}
	return c.form()
}

// other is the value that a toggle does not have.
func (c Control) other() string {
	if c.On {
		return "0"
	}
	return "1"
}

func (c Control) otherName() string {
	if c.On {
		return "Switch off"
	}
	return "Switch on"
}

// id is the id of one of the control's elements, which begins with kind.
func (c Control) id(kind string) string { return kind + "-" + string(c.At) + c.Name }

// ControlOf is the control of a setting of s: a toggle, or a slider over its
// range.
func ControlOf[S any](c setting.Control[S], s S) Control {
	v := Control{Name: c.Name, Label: c.Label, Unit: c.Unit, Toggle: c.Toggle, Value: c.Text(s),
		Min: c.Min.String(), Max: c.Max.String(), Step: c.Step.String(), FieldStep: c.Grain.String(), Allowed: c.Allowed()}
	if c.OrZero {
		v.Min = "0"
	}
	v.On = c.Toggle && v.Value == "1"
	v.Text = v.Value
	switch c.Unit {
	case "s":
		v.UnitName = "seconds"
		v.Text += " seconds"
	case "%":
		v.UnitName = "percent"
		v.Text += " percent"
	}
	return v
}

// StopControlOf is the control of a setting of s whose range is long: its
// slider goes over the setting's stops. Words are choices, each called as
// names has it.
func StopControlOf[S any](c setting.Control[S], s S, names map[string]string) Control {
	v := ControlOf(c, s)
	amount := c.Amount(s)
	for i, word := range c.Words {
		v.Choices = append(v.Choices, Option{Value: word, Name: names[word], Chosen: setting.Time(i) == amount})
	}
	v.None = c.None
	stops := c.Stops()
	texts := make([]string, len(stops))
	nearest := 0
	for i, stop := range stops {
		texts[i] = c.TextOf(stop)
		if distance(stop, amount) < distance(stops[nearest], amount) {
			nearest = i
		}
	}
	v.Stops, v.Stop, v.StopMax = strings.Join(texts, " "), strconv.Itoa(nearest), strconv.Itoa(len(stops)-1)
	if c.None && amount == setting.None {
		v.Text = setting.NoBound
	}
	return v
}

// distance is how far apart two amounts are; no bound is beyond all others.
func distance(a, b setting.Time) int { return max(place(a)-place(b), place(b)-place(a)) }

func place(v setting.Time) int {
	if v == setting.None {
		return 1 << 30
	}
	return int(v)
}

func fieldUnit(c Control) string {
	if c.UnitName == "" {
		return ", exact value"
	}
	return ", exact value in " + c.UnitName
}
