package web

import (
	"fmt"
	"hash/fnv"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"drainlab/internal/clocks"
	"drainlab/internal/session"
	"drainlab/internal/setting"
	"drainlab/internal/sim"
	"drainlab/web/templates"
)

const (
	// lowestFrame and highestFrame bound the height of a frame, in CSS pixels.
	lowestFrame, highestFrame = 200, 12000
	// previewMost is the most that the preview takes of the instructor's page.
	previewMost = 760
	// doctorFrame is the height that holds the embed doctor, about.
	doctorFrame = 600
	// opening stands for a lesson's opening settings, as a starting point.
	opening = "opening"
)

const (
	clocksPath  = "/lessons/clocks"
	clocksTitle = "Who owns each clock"
)

// taught is what an instructor asks the link builder for.
type taught struct {
	lesson int      // 1 or 3
	start  string   // a step of lesson 1, a platform or a case of lesson 3, or opening
	drain  view     // of lesson 1
	t      sim.Time // as it was asked for: a required prediction opens at the beginning
	clocks clocksView
	height int // of the frame; 0: that of the whole lesson
}

// fieldsOf are the fields of the link builder that go with one lesson only.
var fieldsOf = map[int][]string{1: {"step", "t", "predict", "hide", "lock"}, 3: {"from", "hide3", "lock3"}}

// parseTaught reads the link builder's form. Fields of the lesson that is not
// chosen are left aside: the form had them before the lesson changed.
func parseTaught(query url.Values, cases []templates.ClockCase) (taught, error) {
	for name, values := range query { // a field that is left empty is sent
		if len(values) == 1 && values[0] == "" {
			delete(query, name)
		}
	}
	b := taught{lesson: 1, start: opening}
	err := takeParam(query, "lesson", func(text string) error {
		if text != "1" && text != "3" {
			return &setting.Error{Setting: "lesson", Got: text, Allowed: "1 or 3"}
		}
		b.lesson = int(text[0] - '0')
		return nil
	})
	if err != nil {
		return b, err
	}
	for _, name := range fieldsOf[4-b.lesson] {
		delete(query, name)
	}
	err = takeParam(query, "height", func(text string) (err error) {
		b.height, err = strconv.Atoi(text)
		if err != nil || b.height < lowestFrame || b.height > highestFrame {
			return &setting.Error{Setting: "height", Label: "Height of the frame", Got: text,
				Allowed: fmt.Sprintf("a whole number from %d to %d, or nothing", lowestFrame, highestFrame)}
		}
		return nil
	})
	if err != nil {
		return b, err
	}
	if b.lesson == 1 {
		err = b.takeDrain(query)
	} else {
		err = b.takeClocks(query, cases)
	}
	if err != nil {
		return b, err
	}
	for name, values := range query {
		return b, &setting.Error{Setting: name, Got: strings.Join(values, ", "), Allowed: "nothing: the link builder has no field of this name"}
	}
	return b, nil
}

func (b *taught) takeDrain(query url.Values) error {
	v := view{View: session.View{Speed: session.Single, Settings: sim.Opening()}, Worker: 1, Axes: drainAxes}
	err := takeParam(query, "step", func(id string) error {
		steps := sim.Experiments()
		i := slices.IndexFunc(steps, func(e sim.Experiment) bool { return e.ID == id })
		if i < 0 {
			return &setting.Error{Setting: "step", Label: "Starting point", Got: id, Allowed: "one of the guided steps"}
		}
		b.start, v.Settings = id, steps[i].Settings
		return nil
	})
	if err != nil {
		return err
	}
	if err := takeParam(query, "t", func(text string) (err error) { b.t, err = session.ParseT(text); return }); err != nil {
		return err
	}
	if v.presentation, err = takePresentation(query, names(sim.Table())); err != nil {
		return err
	}
	if !v.waits() {
		v.T = b.t
	}
	b.drain = v
	return nil
}

func (b *taught) takeClocks(query url.Values, cases []templates.ClockCase) error {
	from := opening
	if err := takeParam(query, "from", func(id string) error { from = id; return nil }); err != nil {
		return err
	}
	link := url.Values{}
	if n, isCase := caseOf(from); isCase && n <= len(cases) {
		_, raw, _ := strings.Cut(cases[n-1].Href, "?")
		var err error
		if link, err = parseQuery(raw); err != nil {
			return err
		}
	} else if _, isPlatform := clocks.FindPlatform(from); isPlatform {
		link.Set("platform", from)
	} else if from != opening {
		return &setting.Error{Setting: "from", Label: "Starting point", Got: from, Allowed: "opening, a platform or a worked case"}
	}
	for field, name := range map[string]string{"hide3": "hide", "lock3": "lock"} {
		if given := query[field]; given != nil {
			link[name] = given
			delete(query, field)
		}
	}
	v, err := parseClocksView(link)
	if err != nil {
		return err
	}
	b.start, b.clocks = from, v
	return nil
}

// caseOf reads the name of a worked case, counted from 1.
func caseOf(from string) (n int, ok bool) {
	text, ok := strings.CutPrefix(from, "case-")
	n, err := strconv.Atoi(text)
	return n, ok && err == nil && n > 0
}

// link is the way to what is asked for, in a frame or not.
func (b taught) link(framed bool) string {
	if b.lesson == 1 {
		return shared{view: b.drain, atT: true}.link(framed)
	}
	path := clocksPath
	if framed {
		path = "/embed" + path
	}
	return fmt.Sprintf("%s?model=%d&%s", path, clocks.Model, b.clocks.canonical())
}

// card is the way to the picture of it.
func (b taught) card() string { return strings.Replace(b.link(false), "?", "/card.png?", 1) }

func (b taught) title() string {
	if b.lesson == 1 {
		return "Drainlab: " + drainTitle
	}
	return "Drainlab: " + clocksTitle
}

// wholeHeight is that of a frame which holds the whole lesson, about.
func (b taught) wholeHeight() int {
	if b.lesson == 1 {
		return min(b.drain.frameHeight(), highestFrame)
	}
	return b.clocks.frameHeight()
}

// teachPage is the instructors' page, or to the page's own script the link
// builder alone.
func (s *Server) teachPage(w http.ResponseWriter, r *http.Request) error {
	query, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		return err
	}
	b, err := parseTaught(query, s.clockCases)
	if err != nil {
		return err
	}
	v := s.buildTeach(s.base(r), b)
	w.Header().Set("Content-Security-Policy", contentPolicy+"; frame-src 'self'") // the preview
	if forClient(w, r) {
		s.render(w, r, http.StatusOK, templates.TeachFragment(v))
		return nil
	}
	v.Page = s.page("For instructors", "Build a link to a lesson as you want it, and put it into your course: Moodle, Canvas, WordPress, Notion, Google Sites, reveal.js, Markdown.")
	s.render(w, r, http.StatusOK, templates.TeachPage(v))
	return nil
}

func (s *Server) buildTeach(base string, b taught) templates.Teach {
	whole := b.wholeHeight()
	height := b.height
	if height == 0 {
		height = whole
	}
	link, frame, title := base+b.link(false), base+b.link(true), b.title()
	plain := snippet(frame, title, height)
	v := templates.Teach{
		Action: "/teach", Lesson: b.lesson, Lowest: lowestFrame, Highest: highestFrame, Whole: whole,
		Link: link, Frame: frame, Snippet: plain,
		Preview: b.link(true), PreviewTitle: "Preview of " + title, PreviewHeight: min(height, previewMost), Height: height,
		Doctor: snippet(base+"/embed/doctor", "Drainlab: what this host does with a frame", doctorFrame), DoctorLink: "/embed/doctor",
	}
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
	v.HideName, v.LockName = "hide", "lock"
	if b.lesson == 1 {
		for _, e := range sim.Experiments() {
			v.Starts = append(v.Starts, templates.Option{Value: e.ID, Name: stepTexts[e.ID].title, Chosen: e.ID == b.start})
		}
		v.T, v.Require = b.t.String(), b.drain.Predict
		v.Hide = b.drain.hideOptions(hideNames)
		for _, c := range sim.Controls() {
			v.Lock = append(v.Lock, templates.Option{Value: c.Name, Name: c.Label, Chosen: b.drain.locks(c.Name)})
		}
	} else {
		v.HideName, v.LockName = "hide3", "lock3"
		v.Hide = b.clocks.hideOptions(clocksHideNames)
		for _, c := range clocks.Table() {
			v.Lock = append(v.Lock, templates.Option{Value: c.Name, Name: shortName(c), Chosen: b.clocks.locks(c.Name)})
		}
		v.Starts = []templates.Option{{Value: opening, Name: "Opening settings", Chosen: b.start == opening}}
		for _, p := range clocks.Platforms() {
			v.Platforms = append(v.Platforms, templates.Option{Value: p.ID, Name: p.Name, Chosen: p.ID == b.start})
		}
		for i, c := range s.clockCases {
			id := fmt.Sprintf("case-%d", i+1)
			v.Cases = append(v.Cases, templates.Option{Value: id, Name: c.Title, Chosen: id == b.start})
		}
	}
	v.Hosts = buildHosts(hostParts{link: link, frame: frame, card: base + b.card(), title: title, plain: plain, height: height})
	return v
}

// hostParts is what the hosts' snippets are made of; addresses are absolute.
type hostParts struct {
	link, frame, card, title, plain string
	height                          int
}

// buildHosts says how a lesson comes into each host.
func buildHosts(p hostParts) []templates.HostGuide {
	way := fmt.Sprintf(`<p><a href="%s">Open the lesson in a tab of its own</a></p>`, html.EscapeString(p.link))
	return []templates.HostGuide{
		{ID: "moodle", Name: "Moodle", What: "Code for the editor's HTML view", Snippet: p.plain + "\n" + way, Steps: []string{
			"Add a Page or a Text and media area, and open the editor's HTML view (</>, in TinyMCE under Tools, Source code).",
			"Paste the code, leave the view, save."},
			Does:  "Moodle keeps a teacher's frame as it is and does not size it: the height stays at the one in the code. What learners write, in a forum for example, is cleaned: there the frame goes and the link stays.",
			Works: "Everything. If Moodle drops the allow attribute, copying selects the text instead."},
		{ID: "canvas", Name: "Canvas", What: "Code for the editor's HTML view", Snippet: p.plain + "\n" + way, Steps: []string{
			"Edit a Page, and switch the Rich Content Editor to its HTML view (</>).",
			"Paste the code, switch back, save."},
			Does:  "In the browser, Canvas answers the frame's height messages and makes the frame as high as the lesson. Its mobile apps do not: there the height in the code stands. Some attributes may be cleaned away; none is needed.",
			Works: "Everything."},
		{ID: "wordpress", Name: "WordPress", What: "Link on a line of its own", Snippet: p.link, Steps: []string{
			"Paste the link into an empty paragraph. WordPress asks this server by oEmbed what to show, and makes a frame of it.",
			"If it stays a link, add a Custom HTML block and paste the plain snippet from above."},
			Does:  "The oEmbed frame is in a sandbox that allows scripts and nothing else, keeps its title and size, and is between 200 and 1000 px high. A Custom HTML block keeps the code as it is, if your account may post unfiltered HTML.",
			Works: "Playing and every control work without storage or cookies. In the sandbox, text is selected rather than copied, there is no fullscreen, and links to a new tab stay closed."},
		{ID: "notion", Name: "Notion", What: "Address of the frame", Snippet: p.frame, Steps: []string{
			"Type /embed and press Enter.",
			"Paste the address and choose Embed link. Drag the block's lower edge until the lesson fits."},
			Does:  "Notion makes its own frame of the address and needs https and a public server. It does not size the frame: what does not fit scrolls in it.",
			Works: "Everything but what the frame is not allowed: copying may select the text instead."},
		{ID: "google-sites", Name: "Google Sites", What: "Address of the frame", Snippet: p.frame, Steps: []string{
			"Choose Insert, Embed, By URL, and paste the address.",
			"Choose the whole page, not the preview card, insert it, and drag its handles until the lesson fits."},
			Does:  "Google Sites makes its own frame of the address, and needs https and a public server. It keeps the size that you drag. Under Embed code instead of By URL, the frame stands in a second one, which costs height.",
			Works: "Everything but what the frame is not allowed: copying may select the text instead."},
		{ID: "reveal", Name: "reveal.js", What: "Code of a slide", Snippet: revealSlide(p), Steps: []string{
			"Paste the slide between the others, inside the element with the class slides.",
			"The class r-stretch gives the frame what height the slide has left. Hide parts that you do not show, so that it fits."},
			Does:  "reveal.js loads the frame when its slide is shown and drops it afterwards, so the lesson starts afresh each time. In the PDF export the frame may be empty; the link is there.",
			Works: "Everything. While the focus is in the frame its keys go to the lesson: click beside it to get the deck's keys back."},
		{ID: "markdown", Name: "Markdown", What: "A picture that is a link", Snippet: fmt.Sprintf("[![%s](%s)](%s)", markdownText(p.title), markdownAddress(p.card), markdownAddress(p.link)), Steps: []string{
			"Paste the line into the README, the issue or the notes."},
			Does:  "GitHub, GitLab and most forums strip frames, scripts and styles. A picture with a link stays. Its size is that of the column.",
			Works: "The picture shows the run as the link opens it; a click opens the lesson. Nothing plays in the page itself."},
	}
}

// revealSlide is a slide of reveal.js. The frame loads by data-src, which is
// the deck's own laziness.
func revealSlide(p hostParts) string {
	return fmt.Sprintf(`<section>
  <iframe data-src="%s" title="%s" class="r-stretch" width="100%%" height="%d" allow="fullscreen; clipboard-write"></iframe>
  <p><small><a href="%s">Open the lesson in a tab of its own</a></small></p>
</section>`, html.EscapeString(p.frame), html.EscapeString(p.title), min(p.height, previewMost), html.EscapeString(p.link))
}

// markdownText escapes what Markdown would read as its own in a link's text.
func markdownText(text string) string {
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, "\n", " ", "<", "&lt;", "&", "&amp;").Replace(text)
}

// markdownAddress escapes what would end an address in Markdown.
func markdownAddress(address string) string {
	return strings.NewReplacer("(", "%28", ")", "%29", " ", "%20", "<", "%3C", ">", "%3E", `"`, "%22", "\n", "").Replace(address)
}

// doctorPage checks, in a host's frame, what the host lets a frame do.
func (s *Server) doctorPage(w http.ResponseWriter, r *http.Request) error {
	p := s.page("What this host does with a frame", "Opened in a host's frame, this page checks what the host lets a lesson do.")
	s.render(w, r, http.StatusOK, templates.DoctorPage(templates.Doctor{Page: p, Checks: doctorChecks(), Teach: s.base(r) + "/teach"}))
	return nil
}

func doctorChecks() []templates.DoctorCheck {
	return []templates.DoctorCheck{
		{ID: "height", Name: "Height messages"}, {ID: "stream", Name: "Streaming"}, {ID: "fetch", Name: "Requests"},
		{ID: "frame", Name: "Frame"}, {ID: "origin", Name: "Sandbox"}, {ID: "storage", Name: "Storage"},
		{ID: "clipboard", Name: "Clipboard"}, {ID: "fullscreen", Name: "Fullscreen"},
		{ID: "size", Name: "Size"}, {ID: "colours", Name: "Colours"},
	}
}
