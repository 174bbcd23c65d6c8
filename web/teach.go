package web

import (
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"drainlab/internal/course"
	"drainlab/internal/setting"
	"drainlab/web/answer"
	"drainlab/web/templates"
)

const (
	// lowestFrame and highestFrame bound the height of a frame, in CSS pixels.
	lowestFrame, highestFrame = 200, 12000
	// doctorFrame is the height that holds the embed doctor, about.
	doctorFrame = 600
	// openingStart stands for a lesson's opening settings, as a starting point.
	openingStart = "opening"
)

// taught is what an instructor asks the link builder for.
type taught struct {
	link   course.Link
	start  string       // the id of a starting point, or openingStart
	t      setting.Time // as it was asked for: a required prediction opens at the beginning
	height int          // of the frame; 0: that at which it is complete
}

// startsOf are the views that a link can start with.
func startsOf(l course.Lesson) []answer.Start {
	if starting, ok := l.(answer.Starting); ok {
		return starting.Starts()
	}
	list := []answer.Start{{ID: openingStart, Name: "Opening settings"}}
	for _, step := range l.Steps() {
		if step.ID == openingStart {
			continue
		}
		list = append(list, answer.Start{ID: step.ID, Name: step.ID, Query: step.Query})
	}
	return list
}

// parseTaught reads the link builder's form. Where the lesson has been
// changed, what the other one had and this one has not is left aside.
func (s *Server) parseTaught(query url.Values) (taught, error) {
	for name, values := range query { // a field that is left empty is sent
		if len(values) == 1 && values[0] == "" {
			delete(query, name)
		}
	}
	b := taught{start: openingStart}
	lesson, err := s.takeTaught(query)
	if err != nil {
		return b, err
	}
	renew(query, lesson.About().Number)
	if err := course.Take(query, "height", func(text string) (err error) { b.height, err = parseHeight(text); return err }); err != nil {
		return b, err
	}
	if was := query.Get("was"); was != "" && was != lesson.About().ID { // the form was another lesson's
		query = url.Values{}
	}
	delete(query, "was")
	link, err := b.takeStart(query, lesson)
	if err != nil {
		return b, err
	}
	for _, name := range []string{"hide", "lock", "predict", "panel"} {
		if given := query[name]; given != nil {
			link[name] = given
			delete(query, name)
		}
	}
	for name, values := range query {
		return b, &setting.Error{Setting: name, Got: strings.Join(values, ", "), Allowed: "nothing: the link builder has no field of this name"}
	}
	link.Set("t", b.t.String())
	b.link, err = course.ParseLink(lesson, link)
	return b, err
}

// takeStart takes the starting point out of the form, and the instant at which
// the link opens. Where the form was another starting point's, its instant is
// kept as [course.Keep] has it.
func (b *taught) takeStart(query url.Values, lesson course.Lesson) (url.Values, error) {
	link, was := url.Values{}, ""
	err := course.Take(query, "start", func(id string) (err error) {
		b.start, link, err = findStart(lesson, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := course.Take(query, "was-start", func(id string) error { was = id; return nil }); err != nil {
		return nil, err
	}
	opened, err := course.ParseLink(lesson, maps.Clone(link))
	if err != nil {
		return nil, err
	}
	end := opened.View.Run().End()
	b.t = opened.T
	err = course.Take(query, "t", func(text string) error {
		before := end
		if _, values, err := findStart(lesson, was); was != "" && err == nil {
			if other, err := course.ParseLink(lesson, values); err == nil {
				before = other.View.Run().End()
			}
		}
		t, err := course.ParseT(text, before)
		b.t = course.Keep(t, before, end)
		return err
	})
	return link, err
}

// renew gives the fields of a form of earlier versions their present names. It
// had fields of its own for each of two lessons, the first and the third, and
// sent those of both.
func renew(query url.Values, lesson int) {
	present := map[string]string{"step": "start", "from": "", "hide3": "", "lock3": ""}
	if lesson == 3 {
		present = map[string]string{"from": "start", "hide3": "hide", "lock3": "lock", "step": "", "t": "", "predict": "", "hide": "", "lock": ""}
	}
	if !slices.ContainsFunc([]string{"step", "from", "hide3", "lock3"}, query.Has) {
		return
	}
	older := maps.Clone(query)
	for name := range present {
		delete(query, name)
	}
	for name, now := range present {
		if values := older[name]; values != nil && now != "" {
			query[now] = values
		}
	}
}

// takeTaught takes the lesson out of the form: by its id or its number.
func (s *Server) takeTaught(query url.Values) (course.Lesson, error) {
	found := s.lessons.All()[0]
	err := course.Take(query, "lesson", func(text string) error {
		var ids []string
		for _, l := range s.lessons.All() {
			if a := l.About(); text == a.ID || text == strconv.Itoa(a.Number) {
				found = l
				return nil
			}
			ids = append(ids, l.About().ID)
		}
		return &setting.Error{Setting: "lesson", Got: text, Allowed: "one of " + strings.Join(ids, ", ")}
	})
	return found, err
}

func parseHeight(text string) (int, error) {
	height, err := strconv.Atoi(text)
	if err != nil || height < lowestFrame || height > highestFrame {
		return 0, &setting.Error{Setting: "height", Label: "Height of the frame", Got: text,
			Allowed: fmt.Sprintf("a whole number from %d to %d, or nothing", lowestFrame, highestFrame)}
	}
	return height, nil
}

// findStart is a starting point's present id and its view as a query.
func findStart(l course.Lesson, id string) (string, url.Values, error) {
	starts := startsOf(l)
	i := slices.IndexFunc(starts, func(s answer.Start) bool { return s.ID == id || s.Was != "" && s.Was == id })
	switch {
	case i >= 0:
		query, err := answer.Query(starts[i].Query)
		return starts[i].ID, query, err
	case id == openingStart:
		return id, url.Values{}, nil
	}
	var ids []string
	for _, s := range starts {
		ids = append(ids, s.ID)
	}
	return id, nil, &setting.Error{Setting: "start", Label: "Starting point", Got: id, Allowed: "one of " + strings.Join(ids, ", ")}
}

// teachPage is the instructors' page, or to the page's own script the link
// builder alone.
func (s *Server) teachPage(w http.ResponseWriter, r *http.Request) error {
	query, err := answer.Query(r.URL.RawQuery)
	if err != nil {
		return err
	}
	b, err := s.parseTaught(query)
	if err != nil {
		return err
	}
	v := s.buildTeach(s.base(r), b)
	w.Header().Set("Content-Security-Policy", contentPolicy+"; frame-src 'self'") // the preview
	if answer.ForClient(w, r) {
		return answer.Page(w, r, http.StatusOK, templates.TeachFragment(v))
	}
	v.Page = s.page("For instructors", "Build a link to a lesson as you want it, and put it into your course: Moodle, Canvas, WordPress, Notion, Google Sites, reveal.js, Markdown.", nil)
	return answer.Page(w, r, http.StatusOK, templates.TeachPage(v))
}

func (s *Server) buildTeach(base string, b taught) templates.Teach {
	l := b.link.Lesson
	frame := b.link
	frame.Embedded = true
	whole := heightOf(frame, 0)
	height := b.height
	if height == 0 {
		height = whole
	}
	title := frameTitle(l)
	plain := snippet(base+frame.Public(), title, height)
	v := templates.Teach{
		Action: "/teach", Lowest: lowestFrame, Highest: highestFrame, Whole: whole,
		Link: base + b.link.Public(), Frame: base + frame.Public(), Snippet: plain,
		Preview: frame.Public(), PreviewTitle: "Preview of " + title, PreviewHeight: min(height, previewMost), Height: height,
		Doctor: snippet(base+"/embed/doctor", "Drainlab: what this host does with a frame", doctorFrame), DoctorLink: "/embed/doctor",
		Was: l.About().ID, WasStart: b.start, Timed: b.link.View.Run().End() > 0, Last: b.link.View.Run().End().String(), T: b.t.String(),
		Requires: l.About().Predicts, Require: b.link.Predict, Hide: hideOptions(l, b.link), Lock: lockOptions(l, b.link),
	}
	for _, other := range s.lessons.All() {
		a := other.About()
		v.Lessons = append(v.Lessons, templates.Option{Value: a.ID, Name: strconv.Itoa(a.Number) + " " + a.Title, Chosen: a.ID == l.About().ID})
	}
	v.Starts = startGroups(l, b.start)
	// A frame whose address changes makes a step in the page's history; one that
	// is new makes none.
	sum := fnv.New64a()
	sum.Write([]byte(v.Preview))
	v.PreviewID = fmt.Sprintf("preview-%x", sum.Sum64())
	if b.height > 0 {
		v.GivenHeight = strconv.Itoa(b.height)
	}
	if s.site.Frames != "" && s.site.Frames != "*" {
		v.OnlyFrom = s.site.Frames
	}
	v.Hosts = buildHosts(hostParts{link: v.Link, frame: v.Frame, card: base + b.link.At("card.png"), title: title, plain: plain, height: height})
	return v
}

// startGroups are a lesson's starting points, those of one group together.
func startGroups(l course.Lesson, chosen string) []templates.OptionGroup {
	var groups []templates.OptionGroup
	for _, s := range startsOf(l) {
		if len(groups) == 0 || groups[len(groups)-1].Name != s.Group {
			groups = append(groups, templates.OptionGroup{Name: s.Group})
		}
		g := &groups[len(groups)-1]
		g.Options = append(g.Options, templates.Option{Value: s.ID, Name: s.Name, Chosen: s.ID == chosen})
	}
	return groups
}
