package web

import (
	"encoding/xml"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"drainlab/internal/course"
	"drainlab/internal/course/coursetest"
	"drainlab/internal/setting"
	"drainlab/web/answer"
)

// element is a piece of a snippet, read by a parser of its own.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []element  `xml:",any"`
}

func (e element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// find returns the elements of that name, in order.
func (e element) find(name string) []element {
	var list []element
	if e.XMLName.Local == name {
		list = append(list, e)
	}
	for _, c := range e.Children {
		list = append(list, c.find(name)...)
	}
	return list
}

func parseSnippet(t *testing.T, snippet string) element {
	t.Helper()
	var e element
	if err := xml.Unmarshal([]byte("<body>"+snippet+"</body>"), &e); err != nil {
		t.Fatalf("%v in %s", err, snippet)
	}
	return e
}

// Whatever an address and a title hold comes out of a snippet as it went in,
// and nothing in a snippet hangs on what hosts strip.
func TestEveryHostsSnippetIsEscapedAndStandsWithoutItsExtras(t *testing.T) {
	for name, p := range map[string]hostParts{
		"a lesson": {link: "https://d.example/lessons/drain?model=1&grace=20&hide=controls,text", frame: "https://d.example/embed/lessons/drain?model=1&grace=20",
			card: "https://d.example/lessons/drain/card.png?model=1&grace=20", title: "Drainlab: drain", height: 700},
		"hostile text": {link: `https://d.example/?a="><script>alert('1')</script>&amp;b=(x)`, frame: `https://d.example/embed?a='"><img>&lt;`,
			card: `https://d.example/card.png?a=) ![x](y`, title: `[x]( "quoted" <b>bold</b> & 'single' \`, height: 700},
	} {
		t.Run(name, func(t *testing.T) {
			p.plain = snippet(p.frame, p.title, p.height)
			hosts := map[string]string{}
			for _, h := range buildHosts(p) {
				hosts[h.ID] = h.Snippet
				if len(h.Steps) == 0 || h.Does == "" || h.Works == "" || h.What == "" {
					t.Errorf("the guide of %s is not whole", h.Name)
				}
			}
			if len(hosts) != 7 {
				t.Errorf("%d hosts", len(hosts))
			}
			for _, id := range []string{"moodle", "canvas", "reveal"} {
				e := parseSnippet(t, hosts[id])
				frames, ways := e.find("iframe"), e.find("a")
				if len(frames) != 1 || len(ways) != 1 || len(e.find("script"))+len(e.find("img"))+len(e.find("b")) > 0 {
					t.Fatalf("%s: %s", id, hosts[id])
				}
				source := frames[0].attr("src")
				if id == "reveal" {
					source = frames[0].attr("data-src")
				}
				if height, err := strconv.Atoi(frames[0].attr("height")); source != p.frame || frames[0].attr("title") != p.title || err != nil || height != p.height || frames[0].attr("width") != "100%" {
					t.Errorf("%s: without allow, style and loading the frame is %v", id, frames[0].Attrs)
				}
				if ways[0].attr("href") != p.link {
					t.Errorf("%s: without the frame the way is %q", id, ways[0].attr("href"))
				}
			}
			if hosts["wordpress"] != p.link || hosts["notion"] != p.frame || hosts["google-sites"] != p.frame {
				t.Errorf("addresses: %q", hosts)
			}
			m := regexp.MustCompile(`^\[!\[((?:[^\[\]\\<]|\\.)*)\]\(([^()\s<>]*)\)\]\(([^()\s<>]*)\)$`).FindStringSubmatch(hosts["markdown"])
			if m == nil {
				t.Fatalf("Markdown does not read %s", hosts["markdown"])
			}
			plain := regexp.MustCompile(`\\(.)`).ReplaceAllString(m[1], "$1")
			if html.UnescapeString(plain) != p.title {
				t.Errorf("the alternative text reads %q", html.UnescapeString(plain))
			}
			for i, want := range []string{p.card, p.link} {
				if got, err := url.PathUnescape(m[2+i]); err != nil || got != want {
					t.Errorf("an address reads %q (%v)", got, err)
				}
			}
		})
	}
}

// results are what the page offers to take along, read from its HTML.
func results(t *testing.T, page string) (link, frame, plain, preview string) {
	t.Helper()
	read := func(pattern string) string {
		m := regexp.MustCompile(pattern).FindStringSubmatch(page)
		if m == nil {
			t.Fatalf("the page has no %s", pattern)
		}
		return html.UnescapeString(m[1])
	}
	return read(`id="teach-link"[^>]*value="([^"]*)"`), read(`id="teach-frame"[^>]*value="([^"]*)"`),
		read(`(?s)<textarea id="teach-snippet"[^>]*>(.*?)</textarea>`), read(`<iframe class="teach-preview"[^>]*src="([^"]*)"`)
}

// The picture that stands for a lesson where frames are stripped is there.
func TestTheMarkdownCardIsAPicture(t *testing.T) {
	c := startCourse(t)
	for _, query := range []string{"lesson=1&step=gate&t=60", "lesson=3&from=case-2", "lesson=ledgers&hide=text", "lesson=toy&start=far&panel=wide"} {
		page := c.page("/teach?" + query)
		m := regexp.MustCompile(`(?s)<textarea id="snippet-markdown"[^>]*>\[!\[.*?\]\((.*?)\)\]`).FindStringSubmatch(page)
		if m == nil {
			t.Fatal("the page has no Markdown")
		}
		card, ours := strings.CutPrefix(html.UnescapeString(m[1]), c.url)
		resp, _ := c.get(card)
		if !ours || resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "image/png" {
			t.Errorf("%s: the card %s is %s, %s", query, card, resp.Status, resp.Header.Get("Content-Type"))
		}
	}
}

// Each link that the form can build opens the view with all that was chosen.
func TestALinkThatIsBuiltOpensWhatWasChosen(t *testing.T) {
	c := startCourse(t)
	r := seeded(t)
	some := func(all []string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(string) bool { return r.IntN(2) == 0 })
	}
	for range 80 {
		l := c.server.lessons.All()[r.IntN(len(c.server.lessons.All()))]
		starts := startsOf(l)
		start := starts[r.IntN(len(starts))]
		opened := c.readLink(l.About().Path() + "?" + start.Query)
		end := opened.View.Run().End()
		at, predict, height := setting.Time(r.IntN(int(end)+1)), l.About().Predicts && r.IntN(3) == 0, lowestFrame+r.IntN(highestFrame-lowestFrame)
		var settings []string
		for _, info := range l.Settings() {
			settings = append(settings, info.Name)
		}
		hide, lock := some(course.Hideable()), some(settings)
		query := url.Values{"lesson": {l.About().ID}, "was": {l.About().ID}, "start": {start.ID}, "t": {at.String()}, "height": {strconv.Itoa(height)}}
		if predict {
			query.Set("predict", "required")
			at = 0 // it opens at the beginning
		}
		if len(hide) > 0 {
			query["hide"] = hide
		}
		if len(lock) > 0 {
			query["lock"] = lock
		}
		page := c.page("/teach?" + query.Encode())
		link, frame, plain, preview := results(t, page)
		for _, address := range []string{link, frame} {
			u, err := url.Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			if u.Query().Get("model") != strconv.Itoa(l.About().Model) || u.Fragment != "" || !strings.HasPrefix(address, c.url+"/") {
				t.Errorf("%s names no model, or has a fragment", address)
			}
			v := c.readLink(address)
			if v.Lesson != l || v.View.Query() != opened.View.Query() || v.T != at || v.Predict != predict || !slices.Equal(v.Hide, hide) || !slices.Equal(v.Lock, lock) {
				t.Fatalf("%s opens %+v; chosen: %v", address, v, query)
			}
			shown := c.page(strings.TrimPrefix(address, c.url))
			for _, tab := range l.Tabs() {
				if address == link && tab.Hide != "" && strings.Contains(shown, `id="tab-`+tab.ID+`"`) == slices.Contains(hide, tab.Hide) {
					t.Fatalf("%s: the tab %s is there, or is not", address, tab.ID)
				}
			}
		}
		if c.url+preview != frame {
			t.Errorf("the preview shows %s, the snippet %s", preview, frame)
		}
		f := parseSnippet(t, plain).find("iframe")[0]
		if f.attr("src") != frame || f.attr("height") != strconv.Itoa(height) {
			t.Errorf("the snippet is %s", plain)
		}
		if !regexp.MustCompile(`<option value="` + regexp.QuoteMeta(start.ID) + `" selected`).MatchString(page) {
			t.Errorf("the form does not show that it starts with %s", start.ID)
		}
	}
}

// The form's own state, read from its HTML.
func (c *served) taughtForm(page string) (form url.Values) {
	c.t.Helper()
	_, page, _ = strings.Cut(page, `id="f-teach"`)
	page, _, _ = strings.Cut(page, "</form>")
	form = url.Values{}
	for _, input := range regexp.MustCompile(`<input [^>]*>`).FindAllString(page, -1) {
		box := strings.Contains(input, `type="checkbox"`) || strings.Contains(input, `type="radio"`)
		if !box || strings.Contains(input, " checked") {
			name := attribute(c.t, input, ` name="([^"]*)"`)
			form[name] = append(form[name], attribute(c.t, input, ` value="([^"]*)"`))
		}
	}
	form.Set("start", attribute(c.t, page, `<option value="([^"]*)" selected`))
	return form
}

// What a form without script sends is what it shows, whatever changes in it.
func TestTheFormOfTheLinkBuilderSentAsItStandsBuildsTheSame(t *testing.T) {
	c := startCourse(t)
	for _, query := range []string{"", "lesson=drain&start=gate&t=30&hide=text&lock=grace&lock=handler&height=700", "lesson=drain&predict=required", "lesson=clocks&start=kubernetes", "lesson=ledgers&lock=all", "lesson=toy&start=far&t=12"} {
		first := c.page("/teach?" + query)
		form := c.taughtForm(first)
		link, frame, plain, _ := results(t, first)
		again := c.page("/teach?" + form.Encode())
		if l, f, p, _ := results(t, again); l != link || f != frame || p != plain {
			t.Errorf("%s: sent as it stands the form builds %s of %s", query, l, link)
		}
		// Another lesson: what was said of this one goes, all but the height.
		for _, l := range c.server.lessons.All() {
			if form.Get("lesson") == l.About().ID {
				continue
			}
			other := url.Values{}
			for name, values := range form {
				other[name] = values
			}
			other.Set("lesson", l.About().ID)
			page := c.page("/teach?" + other.Encode())
			if link, _, _, _ := results(t, page); link != c.url+course.OpenLink(l).Public() {
				t.Errorf("%s, then lesson %s: %s", query, l.About().ID, link)
			}
			if got := c.taughtForm(page).Get("height"); got != form.Get("height") {
				t.Errorf("%s, then lesson %s: the height is %s", query, l.About().ID, got)
			}
		}
	}
}

// Runs of different starting points end at different times. Who stood at the
// end of one opens at the end of the other.
func TestAnotherStartingPointKeepsTheInstantWithinItsRun(t *testing.T) {
	c := startToys(t)
	for _, tc := range []struct{ was, t, start, link string }{
		{"lesson=late&start=opening", "", "few", "/lessons/late?model=3&count=10"},
		{"lesson=late&start=few", "", "far", "/lessons/late?model=3&every=4"},
		{"lesson=late&start=opening", "50", "few", "/lessons/late?model=3&count=10"},
		{"lesson=late&start=opening", "12", "few", "/lessons/late?model=3&count=10&t=12"},
		{"lesson=counter&start=few", "20", "far", "/lessons/counter?model=3&every=4&t=120"},
		{"lesson=counter&start=few", "", "far", "/lessons/counter?model=3&every=4"},
		{"lesson=counter&start=far", "119", "few", "/lessons/counter?model=3&count=10&t=20"},
	} {
		form := c.taughtForm(c.page("/teach?" + tc.was))
		if tc.t != "" {
			form.Set("t", tc.t)
		}
		form.Set("start", tc.start)
		if link, _, _, _ := results(t, c.page("/teach?"+form.Encode())); link != c.url+tc.link {
			t.Errorf("%s at %s s, then %s: %s, want %s", tc.was, tc.t, tc.start, link, tc.link)
		}
	}
}

// An address that the link builder had before builds what it built.
func TestOlderFormsOfTheLinkBuilderStillWork(t *testing.T) {
	c := startCourse(t)
	for query, want := range map[string]string{
		"lesson=1":                          "/lessons/drain",
		"lesson=2":                          "/lessons/ledgers",
		"lesson=3":                          "/lessons/clocks",
		"lesson=1&step=grace-10&t=&height=": "/lessons/drain?grace=10",
		"lesson=1&step=gate&t=60":           "/lessons/drain?duration=8&grace=10&replacement=1&t=60",
		"step=grace-10&t=30&hide=text&lock=grace,handler&predict=required": "/lessons/drain?grace=10&predict=required&hide=text&lock=grace,handler",
		"lesson=3&from=kubernetes&hide3=text&hide3=trace&lock3=grace":      "/lessons/clocks?platform=kubernetes&hide=trace,text&lock=grace",
		// The form sent the fields of both lessons.
		"lesson=1&step=grace-10&t=30&hide=text&from=case-1&hide3=trace&lock3=grace":                      "/lessons/drain?grace=10&t=30&hide=text",
		"lesson=3&step=gate&t=30&predict=required&hide=text&lock=signal&from=ecs&hide3=trace&height=700": "/lessons/clocks?platform=ecs&hide=trace",
		"lesson=3&step=opening&from=opening":                                                             "/lessons/clocks",
		"lesson=1&step=opening&from=case-2":                                                              "/lessons/drain",
	} {
		link, _, _, _ := results(t, c.page("/teach?"+query))
		if !c.sameView(strings.TrimPrefix(link, c.url), want) {
			t.Errorf("%s builds %s, want %s", query, link, want)
		}
	}
	// Lesson 3's worked cases, by their numbers.
	l, _ := c.server.lessons.Find("clocks")
	n := 0
	for _, start := range startsOf(l) {
		if start.Was == "" {
			continue
		}
		n++
		link, _, _, _ := results(t, c.page(fmt.Sprintf("/teach?lesson=3&from=case-%d", n)))
		if !c.sameView(strings.TrimPrefix(link, c.url), "/lessons/clocks?"+start.Query) {
			t.Errorf("case %d is %s, want %s", n, link, start.Query)
		}
	}
	if n < 4 {
		t.Errorf("%d cases", n)
	}
}

func TestTheLinkBuilderSaysWhatItDoesNotTake(t *testing.T) {
	c := startCourse(t)
	for query, part := range map[string]string{
		"lesson=5":                               `got "5"; allowed: one of drain, ledgers, clocks, toy`,
		"lesson=1&lesson=3":                      `got "1, 3"; allowed: one value`,
		"start=nowhere":                          `Starting point: got "nowhere"; allowed: one of opening, `,
		"step=nowhere":                           `got "nowhere"; allowed: one of opening, `,
		"start=grace-10&start=gate":              `one value`,
		"t=61":                                   `got "61"; allowed: a plain decimal number`,
		"start=gate&was-start=grace-10&t=61":     `got "61"; allowed: a plain decimal number`,
		"lesson=toy&t=5.1":                       `got "5.1"; allowed: a plain decimal number from 0 to 5 s`,
		"predict=1":                              `got "1"; allowed: required`,
		"lesson=clocks&predict=required":         `asks for no prediction`,
		"hide=everything":                        `got "everything"`,
		"lock=colour":                            `got "colour"`,
		"panel=none":                             `got "none"`,
		"height=100":                             `Height of the frame: got "100"; allowed: a whole number from 200 to 12000`,
		"height=12001":                           `got "12001"`,
		"height=7.5":                             `got "7.5"`,
		"lesson=3&from=nowhere":                  `got "nowhere"`,
		"lesson=3&from=case-0":                   `got "case-0"`,
		"lesson=3&from=case-99":                  `got "case-99"`,
		"lesson=3&from=case-9223372036854775808": `got "case-9223372036854775808"`,
		"grace=20":                               "the link builder has no field of this name",
		"model=1":                                "the link builder has no field of this name",
		"a;b":                                    "cannot be read",
	} {
		resp, body := c.get("/teach?"+query, answer.ClientHeader, "true")
		if resp.StatusCode != http.StatusBadRequest || !strings.Contains(body, part) {
			t.Errorf("%s answers %s: %s", query, resp.Status, body)
		}
	}
	// What a form without script sends: all its fields, some of them empty.
	c.page("/teach?lesson=1&step=grace-10&t=&height=")
}

func TestTheInstructorsPagesAreGuarded(t *testing.T) {
	c := startCourse(t)
	resp, page := c.get("/teach")
	if policy := resp.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "frame-src 'self'") || !strings.Contains(policy, "frame-ancestors 'none'") || !strings.Contains(policy, "default-src 'none'") {
		t.Errorf("the page for instructors has the policy %q", policy)
	}
	if fragment := c.page("/teach", answer.ClientHeader, "true"); !strings.HasPrefix(fragment, `<div id="teach-builder"`) || !strings.Contains(page, fragment) {
		t.Error("the page's script gets another link builder than the page has")
	}
	resp, doctor := c.get("/embed/doctor")
	if policy := resp.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "frame-ancestors *") {
		t.Errorf("the doctor has the policy %q", policy)
	}
	if resp.Header.Get("Set-Cookie") != "" || resp.Header.Get("X-Frame-Options") != "" || strings.Contains(doctor, "autofocus") {
		t.Errorf("the doctor sets a cookie, refuses frames or takes the focus: %v", resp.Header)
	}

	// Where only some hosts may frame lessons, the page names them and shows no
	// frame that would stay empty.
	c = start(t, Site{PublicURL: "https://drain.example", Frames: "https://lms.example https://wiki.example"}, toys()...)
	page = c.page("/teach")
	if !strings.Contains(page, "https://lms.example https://wiki.example") || strings.Contains(page, "<iframe") {
		t.Error("the page does not say who may frame a lesson, or shows a frame")
	}
	if !strings.Contains(page, `value="https://drain.example/lessons/toy?model=1"`) {
		t.Error("the link does not have the server's public address")
	}
	resp, _ = c.get("/embed/lessons/toy")
	if policy := resp.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "frame-ancestors https://lms.example https://wiki.example") {
		t.Errorf("a frame's policy is %q", policy)
	}
}

// A doctor of a course whose lessons have no sessions has no stream to try.
func TestTheDoctorTriesALessonOfTheCourse(t *testing.T) {
	c := startCourse(t)
	if page := c.page("/embed/doctor"); !strings.Contains(page, "/embed/lessons/drain") {
		t.Error("the doctor names no lesson to try")
	}
}

// The builder reads foreign text, and whatever it takes leads somewhere.
func FuzzTeachQuery(f *testing.F) {
	for _, seed := range []string{"", "lesson=1&step=grace-10&t=30&hide=text&lock=grace", "lesson=3&from=case-2", "lesson=3&from=kubernetes&height=700", "lock=all&predict=required",
		"lesson=late&start=few&was-start=opening&t=60", "lesson=2&start=far&was=counter&panel=log", "lesson=counter&start=far&was-start=few&t=120"} {
		f.Add(seed)
	}
	s := &Server{lessons: course.NewRegister(append(realLessons(f), coursetest.Counter{Number: 5})...)}
	f.Fuzz(func(t *testing.T, raw string) {
		query, err := answer.Query(raw)
		if err != nil {
			return
		}
		b, err := s.parseTaught(query)
		if err != nil {
			return
		}
		u, err := url.Parse("https://d.example" + b.link.Public())
		if err != nil {
			t.Fatal(err)
		}
		named, err := answer.Query(u.RawQuery)
		if err != nil {
			t.Fatal(err)
		}
		link, err := course.ParseLink(b.link.Lesson, named)
		if err != nil || link.Query() != b.link.Query() || u.Path != b.link.Lesson.About().Path() {
			t.Errorf("%s leads to %s (%v)", raw, link.Query(), err)
		}
	})
}
