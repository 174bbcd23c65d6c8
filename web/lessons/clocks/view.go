package clocks

import (
	"maps"
	"net/url"
	"strings"
	"sync"

	model "drainlab/internal/clocks"
	"drainlab/internal/course"
	"drainlab/internal/setting"
)

// noPlatform is how a link says that no platform is chosen.
const noPlatform = "none"

// The map's axes where a link names none.
const (
	openX = "grace"
	openY = "prestop"
)

// View is what a link to the lesson says. A platform stands for its documented
// defaults; whatever else is named goes before them.
type View struct {
	settings model.Settings
	platform *model.Platform // nil: none is chosen
	x, y     string          // the map's axes, by the settings' names
	run      func() *Run     // computed once for all that ask
}

func newView(s model.Settings, p *model.Platform, x, y string) View {
	v := View{settings: s, platform: p, x: x, y: y}
	v.run = sync.OnceValue(func() *Run { return newRun(v) })
	return v
}

func opening() View { return newView(model.Opening(), nil, openX, openY) }

// parseView reads what a link says beside what is the machinery's own.
func parseView(values url.Values) (View, error) { return opening().change(values) }

// Change returns the view with other settings. A platform that is named sets
// its defaults; what is named beside it goes before them.
func (v View) Change(values url.Values) (course.View, error) {
	next, err := v.change(values)
	if err != nil {
		return v, err
	}
	return next, nil
}

func (v View) change(values url.Values) (View, error) {
	rest := maps.Clone(values) // what is read is taken out
	s, p, x, y := v.settings, v.platform, v.x, v.y
	err := course.Take(rest, "platform", func(id string) error {
		chosen, err := findPlatform(id)
		if err != nil || same(chosen, p) {
			return err // a form says the platform that stands, too
		}
		p = chosen
		if p != nil {
			s = p.On(s)
		}
		return nil
	})
	if err != nil {
		return v, err
	}
	if x, y, err = takeAxes(rest, x, y); err != nil {
		return v, err
	}
	if s, err = model.ParseValues(s, rest); err != nil {
		return v, err
	}
	return newView(s, p, x, y), nil
}

func same(a, b *model.Platform) bool { return platformID(a) == platformID(b) }

func platformID(p *model.Platform) string {
	if p == nil {
		return noPlatform
	}
	return p.ID
}

func findPlatform(id string) (*model.Platform, error) {
	if id == noPlatform {
		return nil, nil
	}
	p, ok := model.FindPlatform(id)
	if !ok {
		ids := []string{noPlatform}
		for _, p := range model.Platforms() {
			ids = append(ids, p.ID)
		}
		return nil, &setting.Error{Setting: "platform", Got: id, Allowed: "one of " + strings.Join(ids, ", ")}
	}
	return &p, nil
}

// takeAxes takes the map's axes out of a query.
func takeAxes(query url.Values, x, y string) (string, string, error) {
	for _, axis := range []struct {
		name string
		to   *string
	}{{"x", &x}, {"y", &y}} {
		err := course.Take(query, axis.name, func(text string) error {
			if _, ok := model.FindControl(text); !ok {
				return &setting.Error{Setting: axis.name, Got: text, Allowed: "the name of a setting: " + strings.Join(settingNames(), ", ")}
			}
			*axis.to = text
			return nil
		})
		if err != nil {
			return x, y, err
		}
	}
	if x == y {
		return x, y, &setting.Error{Setting: "y", Got: y, Allowed: "another setting than x"}
	}
	return x, y, nil
}

func settingNames() []string {
	list := make([]string, 0, len(model.Table()))
	for _, c := range model.Table() {
		list = append(list, c.Name)
	}
	return list
}

// Shared is platform and settings: of the settings those that are not at the
// platform's defaults, or at the opening values where it has none.
func (v View) Shared() string {
	base := model.Opening()
	var parts []string
	if v.platform != nil {
		base = v.platform.On(base)
		parts = append(parts, "platform="+v.platform.ID)
	}
	for _, c := range model.Table() {
		if c.Amount(v.settings) != c.Amount(base) {
			parts = append(parts, c.Name+"="+c.Text(v.settings))
		}
	}
	return strings.Join(parts, "&")
}

// Query is Shared and the map's axes, which each viewer chooses alone.
func (v View) Query() string {
	var parts []string
	if shared := v.Shared(); shared != "" {
		parts = append(parts, shared)
	}
	if v.x != openX {
		parts = append(parts, "x="+v.x)
	}
	if v.y != openY {
		parts = append(parts, "y="+v.y)
	}
	return strings.Join(parts, "&")
}

// Text is a setting as a link writes it.
func (v View) Text(name string) string {
	if name == "platform" {
		return platformID(v.platform)
	}
	c, ok := model.FindControl(name)
	if !ok {
		return ""
	}
	return c.Text(v.settings)
}

// Run is the termination of the view's settings.
func (v View) Run() course.Run { return v.run() }

// Answered is false: the lesson asks for no prediction.
func (v View) Answered() bool { return false }

// with is the view with other settings.
func (v View) with(s model.Settings) View { return newView(s, v.platform, v.x, v.y) }

// most is the longest grace that the platform takes.
func (v View) most() model.Time {
	if v.platform == nil {
		return model.Never
	}
	return v.platform.Most
}
