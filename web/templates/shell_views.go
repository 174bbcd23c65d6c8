package templates

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"drainlab/internal/course"
	"drainlab/internal/setting"
)

// Lesson is the page of any lesson: the shell, and the parts that the lesson
// puts into it.
type Lesson struct {
	Page
	// Link is the view that is shown: the page's own, or a shared session's.
	Link course.Link
	// Parts are the run's live parts and the link's own ones, each in its slot.
	Parts []course.Part
	// Told says that the lesson has a page that says exactly what runs.
	Told bool
	// Transport is the player, nil for a lesson without time.
	Transport *Transport
	// Session is the id of the shared session that is shown; empty for a view
	// of one's own.
	Session string
}

// Transport is the player's controls.
type Transport struct {
	T       string // "47.0"
	Exact   string // "47"
	Spoken  string
	Max     string // the run's end
	Playing bool
	AtEnd   bool
	AtStart bool
	Locked  bool // until a prediction is committed
	Speeds  []SpeedChoice
}

// SpeedChoice is one speed of the player.
type SpeedChoice struct {
	Value string
	Name  string
	Now   bool
}

// NewTransport is the player at t of a run that ends at end.
func NewTransport(t, end setting.Time, playing bool, speed course.Speed) Transport {
	v := Transport{T: t.Fixed(), Exact: t.String(), Spoken: t.String() + " seconds", Max: end.String(),
		Playing: playing, AtEnd: t == end, AtStart: t == 0}
	for _, s := range course.Speeds() {
		v.Speeds = append(v.Speeds, SpeedChoice{Value: s.String(), Name: s.String() + "×", Now: s == speed})
	}
	return v
}

// playName is what the button that plays is called.
func (v Transport) playName() string {
	if v.AtEnd {
		return "Play again"
	}
	return "Play"
}

// About is how the lesson is called.
func (v Lesson) About() course.About { return v.Link.Lesson.About() }

// In returns the parts that stand in a slot. A frame has room for one of those
// beside the player.
func (v Lesson) In(slot course.Slot) []course.Component {
	parts := slices.DeleteFunc(slices.Clone(v.Parts), func(p course.Part) bool { return p.Slot != slot })
	slices.SortStableFunc(parts, func(a, b course.Part) int { return a.Order - b.Order })
	var list []course.Component
	for _, p := range parts {
		list = append(list, p.Body)
	}
	if slot == course.Play && v.Link.Embedded && len(list) > 1 {
		list = list[:1]
	}
	return list
}

// Tabs are the tabs that the link leaves, none where there is no panel.
func (v Lesson) Tabs() []course.Tab {
	if v.Link.Embedded && !v.Link.PanelNamed {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(v.Link.Lesson.Tabs()), func(t course.Tab) bool {
		return t.Hide != "" && v.Link.Hides(t.Hide)
	})
}

// rows are the tabs in their rows: the lesson's, then the laboratory's.
func (v Lesson) rows() [][]course.Tab {
	var rows [2][]course.Tab
	for _, t := range v.Tabs() {
		row := 0
		if t.Lab {
			row = 1
		}
		rows[row] = append(rows[row], t)
	}
	return slices.DeleteFunc(rows[:], func(row []course.Tab) bool { return len(row) == 0 })
}

// Open is the id of the open tab: the link's, or the first where that one is
// left out; empty where there is none.
func (v Lesson) Open() string {
	tabs := v.Tabs()
	for _, t := range tabs {
		if t.ID == v.Link.Panel {
			return t.ID
		}
	}
	if len(tabs) == 0 {
		return ""
	}
	return tabs[0].ID
}

// wide reports whether the open tab takes the place of the picture.
func (v Lesson) wide() bool {
	return slices.ContainsFunc(v.Tabs(), func(t course.Tab) bool { return t.Wide && t.ID == v.Open() })
}

// tabHref is the way to this view with another tab open.
func (v Lesson) tabHref(t course.Tab) string {
	link := v.Link
	link.Panel = t.ID
	if v.Session == "" {
		return link.Address()
	}
	if own := link.Own(); own != "" {
		return v.Action() + "?" + own
	}
	return v.Action()
}

// Action is where the page's forms post to.
func (v Lesson) Action() string {
	if v.Session != "" {
		return "/sessions/" + v.Session
	}
	return v.Link.Path()
}

// Together reports whether the view can be opened together: a session has no
// locks, hidden parts or required predictions.
func (v Lesson) Together() bool {
	return v.About().Sessions && v.Session == "" && !v.Link.Predict && len(v.Link.Hide)+len(v.Link.Lock) == 0
}

func (v Lesson) end() string { return v.Link.View.Run().End().String() }

// settings are all settings at their opening values, as a query.
func (v Lesson) settings() string {
	var pairs []string
	for _, s := range v.Link.Lesson.Settings() {
		pairs = append(pairs, s.Name+"="+url.QueryEscape(s.Opening))
	}
	return strings.Join(pairs, "&")
}

// about is the way to what exactly runs. It carries the whole link: one that
// asks for a prediction asks for it there too, and the way back is to this view.
func (v Lesson) about() string {
	link := v.Link
	link.Embedded = false
	return link.At("about")
}

// whole is the way to the page of a framed view.
func (v Lesson) whole() string {
	link := v.Link
	link.Embedded = false
	return link.Public()
}

// share is the way to links and frames of the view.
func (v Lesson) share() string {
	link := v.Link
	link.Embedded = false
	return link.At("share")
}

func (v Lesson) model() string { return strconv.Itoa(v.About().Model) }

func joinComma(names []string) string { return strings.Join(names, ",") }
