package course

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"drainlab/internal/setting"
)

// Link is what an address of a lesson says: a view, where the player stands,
// and how it is presented.
type Link struct {
	Lesson Lesson
	View   View
	T      setting.Time // where the player stands, from 0 to the run's end
	Speed  Speed
	Panel  string // the open tab
	// PanelNamed says that the link names the tab, be it the first: a frame
	// shows its panel then.
	PanelNamed bool
	Presentation
	Embedded bool // shown in a host's frame; not in the query
}

// Presentation is what an author's link asks of the page beside its view.
type Presentation struct {
	Hide    []string // parts of the page that are left out, in the order of [Hideable]
	Lock    []string // settings that a learner cannot change, in the contract's order
	Predict bool     // a prediction must be committed before the run is seen
}

// Hideable are the parts of a lesson that a link can leave out.
func Hideable() []string { return []string{"controls", "trace", "results", "inspector", "text"} }

// Hides reports whether the link leaves a part out.
func (p Presentation) Hides(part string) bool { return slices.Contains(p.Hide, part) }

// Locks reports whether the link locks a setting.
func (p Presentation) Locks(name string) bool { return slices.Contains(p.Lock, name) }

// OpenLink returns the lesson's opening view.
func OpenLink(l Lesson) Link {
	v, err := l.Open(url.Values{})
	if err != nil {
		panic(fmt.Sprintf("the opening view of lesson %s: %v", l.About().ID, err)) // a lesson's own fault, seen by its first test
	}
	return Link{Lesson: l, View: v, T: opensAt(l, v), Speed: Single, Panel: l.Tabs()[0].ID}
}

// opensAt is where a link to the view stands that names no instant.
func opensAt(l Lesson, v View) setting.Time {
	if !l.About().OpensAtEnd {
		return 0 // without a run of its own
	}
	return l.About().OpensAt(v.Run().End())
}

// ParseLink reads a link's query. Whatever it does not name has its opening
// value; whatever it names wrongly is a *[setting.Error].
func ParseLink(l Lesson, query url.Values) (Link, error) {
	link := Link{Lesson: l, Speed: Single, Panel: l.Tabs()[0].ID}
	t := ""
	for _, p := range []struct {
		name string
		read func(string) error
	}{
		{"model", func(text string) error { return CheckModel(l, text) }},
		{"t", func(text string) error { t = text; return nil }},
		{"speed", func(text string) (err error) { link.Speed, err = ParseSpeed(text); return err }},
		{"panel", func(text string) (err error) {
			link.Panel, err = parsePanel(l, text)
			link.PanelNamed = true
			return err
		}},
	} {
		if err := Take(query, p.name, p.read); err != nil {
			return link, err
		}
	}
	var err error
	if link.Presentation, err = takePresentation(l, query); err != nil {
		return link, err
	}
	if link.View, err = l.Open(query); err != nil {
		return link, err
	}
	link.T = opensAt(l, link.View)
	if t != "" {
		if link.T, err = ParseT(t, link.View.Run().End()); err != nil {
			return link, err
		}
	}
	if link.Waits() {
		link.T = 0 // the run is seen from its beginning, once the prediction stands
	}
	return link, nil
}

// ParseT reads an instant of a run that ends at end. The error is a
// *[setting.Error].
func ParseT(text string, end setting.Time) (setting.Time, error) {
	t, err := setting.ParseTime(text)
	if err != nil || t > end {
		return 0, &setting.Error{Setting: "t", Got: text,
			Allowed: fmt.Sprintf("a plain decimal number from 0 to %v s in steps of 0.1 s", end)}
	}
	return t, nil
}

// CheckModel refuses a model number that is not the lesson's. The error is a
// *[setting.Error].
func CheckModel(l Lesson, text string) error {
	if model := strconv.Itoa(l.About().Model); text != model {
		return &setting.Error{Setting: "model", Got: text, Allowed: model}
	}
	return nil
}

func parsePanel(l Lesson, text string) (string, error) {
	var ids []string
	for _, tab := range l.Tabs() {
		if tab.ID == text {
			return text, nil
		}
		ids = append(ids, tab.ID)
	}
	return "", &setting.Error{Setting: "panel", Got: text, Allowed: "one of " + strings.Join(ids, ", ")}
}

// Waits reports whether the player is locked until a prediction is committed.
func (l Link) Waits() bool { return l.Predict && !l.View.Answered() }

// Seen reports whether the run is seen to its end, so that all of it may be
// told.
func (l Link) Seen() bool { return l.T == l.View.Run().End() && !l.Waits() }

// Held reports whether what the run comes to is kept back until it is seen:
// where a prediction is required and has not been judged yet.
func (l Link) Held() bool { return l.Predict && !l.Seen() }

// Path is the address of the lesson's views: the page's or the frame's.
func (l Link) Path() string {
	if l.Embedded {
		return "/embed" + l.Lesson.About().Path()
	}
	return l.Lesson.About().Path()
}

// With is the link with another view of the same lesson.
func (l Link) With(v View) Link {
	l.T = Keep(l.T, l.View.Run().End(), v.Run().End())
	l.View = v
	return l
}

// Keep is where a player stands that stood at t of a run that ended at was,
// when the run is another one that ends at is: who saw the whole of the one
// sees the whole of the other.
func Keep(t, was, is setting.Time) setting.Time {
	if t == was {
		return is
	}
	return min(t, is)
}

// Query is the link as a canonical query: only what is not at its opening
// value. Equal links give equal text.
func (l Link) Query() string {
	parts := []string{}
	if q := l.View.Query(); q != "" {
		parts = append(parts, q)
	}
	add := func(name, value string) { parts = append(parts, name+"="+value) }
	if l.T != opensAt(l.Lesson, l.View) {
		add("t", l.T.String())
	}
	if l.Speed != Single {
		add("speed", l.Speed.String())
	}
	if l.Panel != l.Lesson.Tabs()[0].ID || l.Embedded && l.PanelNamed {
		add("panel", l.Panel)
	}
	if l.Predict {
		add("predict", "required")
	}
	if len(l.Hide) > 0 {
		add("hide", strings.Join(l.Hide, ","))
	}
	switch {
	case len(l.Lock) == 0:
	case len(l.Lock) == len(l.Lesson.Settings()):
		add("lock", "all")
	default:
		add("lock", strings.Join(l.Lock, ","))
	}
	return strings.Join(parts, "&")
}

// Own is the part of Query that each viewer of a session has alone: what the
// view has beside its settings, and the open tab.
func (l Link) Own() string {
	parts := []string{}
	settings := settingNames(l.Lesson)
	for part := range strings.SplitSeq(l.View.Query(), "&") {
		name, _, _ := strings.Cut(part, "=")
		if name != "" && !slices.Contains(settings, name) {
			parts = append(parts, part)
		}
	}
	if l.Panel != l.Lesson.Tabs()[0].ID {
		parts = append(parts, "panel="+l.Panel)
	}
	return strings.Join(parts, "&")
}

// Address is the way to the link's view on this page: path and query.
func (l Link) Address() string { return join(l.Path(), l.Query()) }

// Public is the address to hand out, which names its model for good.
func (l Link) Public() string {
	q := "model=" + strconv.Itoa(l.Lesson.About().Model)
	if rest := l.Query(); rest != "" {
		q += "&" + rest
	}
	return l.Path() + "?" + q
}

// At is the address of something that is made of the view: below its path, as
// "share" or "card.png".
func (l Link) At(below string) string { return join(l.Path()+"/"+below, l.Query()) }

func join(path, query string) string {
	if query == "" {
		return path
	}
	return path + "?" + query
}

// Take hands the one value of a query's parameter to parse and takes the
// parameter out of the query. Given twice it is a *[setting.Error].
func Take(query url.Values, name string, parse func(string) error) error {
	given, ok := query[name]
	if !ok {
		return nil
	}
	delete(query, name)
	if len(given) != 1 {
		return &setting.Error{Setting: name, Got: strings.Join(given, ", "), Allowed: "one value"}
	}
	return parse(given[0])
}

func settingNames(l Lesson) []string {
	infos := l.Settings()
	list := make([]string, len(infos))
	for i, s := range infos {
		list[i] = s.Name
	}
	return list
}

// takePresentation takes hide, lock and predict out of a query.
func takePresentation(l Lesson, query url.Values) (Presentation, error) {
	var p Presentation
	for _, name := range []string{"hide", "lock"} { // as checkboxes send them
		if given := query[name]; len(given) > 1 {
			query[name] = []string{strings.Join(given, ",")}
		}
	}
	err := Take(query, "hide", func(text string) (err error) {
		p.Hide, err = parseNames("hide", text, Hideable())
		return err
	})
	if err != nil {
		return p, err
	}
	settings := settingNames(l)
	err = Take(query, "lock", func(text string) (err error) {
		p.Lock, err = parseNames("lock", text, append(slices.Clone(settings), "all"))
		if slices.Contains(p.Lock, "all") {
			p.Lock = settings
		}
		return err
	})
	if err != nil {
		return p, err
	}
	err = Take(query, "predict", func(text string) error {
		if text != "required" || !l.About().Predicts {
			return &setting.Error{Setting: "predict", Got: text, Allowed: predictAllowed(l)}
		}
		p.Predict = true
		return nil
	})
	return p, err
}

func predictAllowed(l Lesson) string {
	if l.About().Predicts {
		return "required"
	}
	return fmt.Sprintf("nothing in lesson %d: it asks for no prediction", l.About().Number)
}

// parseNames reads names with commas between, each once, and returns them in
// the order of those that are allowed.
func parseNames(param, text string, allowed []string) ([]string, error) {
	given := strings.Split(text, ",")
	var list []string
	for _, name := range allowed {
		if slices.Contains(given, name) {
			list = append(list, name)
		}
	}
	if len(list) != len(given) {
		return nil, &setting.Error{Setting: param, Got: text, Allowed: "some of " + strings.Join(allowed, ", ") + ", with commas between, each once"}
	}
	return list, nil
}
