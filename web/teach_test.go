package web

import (
	"encoding/xml"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"drainlab/internal/clocks"
	"drainlab/internal/sim"
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
	server := newAPIServer(t)
	for _, query := range []string{"lesson=1&step=gate&t=60", "lesson=3&from=case-2"} {
		page := get(t, server.URL+"/teach?"+query)
		m := regexp.MustCompile(`(?s)<textarea id="snippet-markdown"[^>]*>\[!\[.*?\]\((.*?)\)\]`).FindSubmatch(page.body)
		if m == nil {
			t.Fatal("the page has no Markdown")
		}
		card := get(t, html.UnescapeString(string(m[1])))
		card.wantType(t, http.StatusOK, "image/png")
	}
}

// Each link that the form can build opens the view with all that was chosen.
func TestALinkThatIsBuiltOpensWhatWasChosen(t *testing.T) {
	s := newAPIHandler(t)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	r := seeded(t)
	some := func(all []string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(string) bool { return r.IntN(2) == 0 })
	}
	steps := sim.Experiments()
	for range 60 {
		step := steps[r.IntN(len(steps))]
		at, predict, height := sim.Time(r.IntN(601)), r.IntN(3) == 0, lowestFrame+r.IntN(highestFrame-lowestFrame)
		hide, lock := some(hideable), some(names(sim.Table()))
		query := url.Values{"lesson": {"1"}, "step": {step.ID}, "t": {at.String()}, "height": {strconv.Itoa(height)}, "from": {"case-1"}}
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
		page := get(t, server.URL+"/teach?"+query.Encode())
		link, frame, plain, preview := results(t, string(page.body))
		for _, address := range []string{link, frame} {
			u, err := url.Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			named := u.Query()
			if named.Get("model") != strconv.Itoa(sim.Model) || named.Get("t") != at.String() || u.Fragment != "" {
				t.Errorf("%s names no model or another time than %s, or has a fragment", address, at)
			}
			v, err := parseView(named)
			if err != nil {
				t.Fatalf("%s: %v", address, err)
			}
			if v.Settings != step.Settings || v.T != at || v.Predict != predict || !slices.Equal(v.Hide, hide) || !slices.Equal(v.Lock, lock) {
				t.Fatalf("%s opens %+v; chosen: %v", address, v, query)
			}
			if shown := get(t, address); shown.StatusCode != http.StatusOK || strings.Contains(string(shown.body), `id="trace-panel"`) == slices.Contains(hide, "trace") {
				t.Fatalf("%s answers %d, or has the wrong parts", address, shown.StatusCode)
			}
		}
		if server.URL+preview != frame {
			t.Errorf("the preview shows %s, the snippet %s", preview, frame)
		}
		f := parseSnippet(t, plain).find("iframe")[0]
		if f.attr("src") != frame || f.attr("height") != strconv.Itoa(height) {
			t.Errorf("the snippet is %s", plain)
		}
	}

	// Lesson 3: each starting point.
	starts := map[string]clocks.Settings{"opening": clocks.Opening()}
	for _, p := range clocks.Platforms() {
		starts[p.ID] = p.On(clocks.Opening())
	}
	for i := range s.clockCases {
		starts[fmt.Sprintf("case-%d", i+1)] = clockCase(i).Settings
	}
	for from, want := range starts {
		page := get(t, server.URL+"/teach?lesson=3&t=7&hide=text&from="+from)
		link, frame, _, _ := results(t, string(page.body))
		for _, address := range []string{link, frame} {
			u, _ := url.Parse(address)
			v, err := parseClocksView(u.Query())
			if err != nil || v.Settings != want {
				t.Errorf("%s leads to %s: %+v (%v)", from, address, v.Settings, err)
			}
			if _, isPlatform := clocks.FindPlatform(from); isPlatform && (v.Platform == nil || v.Platform.ID != from) {
				t.Errorf("%s leads to the platform %v", from, v.Platform)
			}
			if shown := get(t, address); shown.StatusCode != http.StatusOK {
				t.Errorf("%s answers %d", address, shown.StatusCode)
			}
		}
		if !regexp.MustCompile(`<option value="` + from + `" selected`).Match(page.body) {
			t.Errorf("the form does not show that it starts with %s", from)
		}
	}
}

func TestTheLinkBuilderSaysWhatItDoesNotTake(t *testing.T) {
	server := newAPIServer(t)
	for query, part := range map[string]string{
		"lesson=2":                               `got "2"; allowed: 1 or 3`,
		"lesson=1&lesson=3":                      `got "1, 3"; allowed: one value`,
		"step=nowhere":                           `got "nowhere"; allowed: one of the guided steps`,
		"t=61":                                   `got "61"; allowed: a plain decimal number`,
		"predict=1":                              `got "1"; allowed: required`,
		"hide=everything":                        `got "everything"`,
		"lock=colour":                            `got "colour"`,
		"height=100":                             `Height of the frame: got "100"; allowed: a whole number from 200 to 12000`,
		"height=7.5":                             `got "7.5"`,
		"lesson=3&from=nowhere":                  `got "nowhere"`,
		"lesson=3&from=case-0":                   `got "case-0"`,
		"lesson=3&from=case-99":                  `got "case-99"`,
		"lesson=3&from=case-9223372036854775808": `got "case-9223372036854775808"`,
		"grace=20":                               "the link builder has no field of this name",
	} {
		a := ask(t, http.MethodGet, server.URL+"/teach?"+query, http.Header{clientHeader: {"true"}}, nil)
		if a.StatusCode != http.StatusBadRequest || !strings.Contains(string(a.body), part) {
			t.Errorf("%s answers %d: %s", query, a.StatusCode, a.body)
		}
	}
	// What a form without script sends: all its fields, some of them empty.
	if a := get(t, server.URL+"/teach?lesson=1&step=grace-10&t=&height="); a.StatusCode != http.StatusOK {
		t.Errorf("empty fields answer %d", a.StatusCode)
	}
}

func TestTheInstructorsPagesAreGuarded(t *testing.T) {
	server := newAPIServer(t)
	policy := get(t, server.URL+"/teach").Header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "frame-src 'self'") || !strings.Contains(policy, "frame-ancestors 'none'") || !strings.Contains(policy, "default-src 'none'") {
		t.Errorf("the page for instructors has the policy %q", policy)
	}
	doctor := get(t, server.URL+"/embed/doctor")
	if policy := doctor.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "frame-ancestors *") {
		t.Errorf("the doctor has the policy %q", policy)
	}
	if doctor.Header.Get("Set-Cookie") != "" || doctor.Header.Get("X-Frame-Options") != "" || strings.Contains(string(doctor.body), "autofocus") {
		t.Errorf("the doctor sets a cookie, refuses frames or takes the focus: %v", doctor.Header)
	}

	// Where only some hosts may frame lessons, the page names them and shows no
	// frame that would stay empty.
	s, err := New(noSessions{}, noSessions{}, noFixture{}, Site{PublicURL: "https://drain.example", Frames: "https://lms.example https://wiki.example"}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Drain)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/teach", nil))
	page := w.Body.String()
	if !strings.Contains(page, "https://lms.example https://wiki.example") || strings.Contains(page, "<iframe") {
		t.Error("the page does not say who may frame a lesson, or shows a frame")
	}
	if !strings.Contains(page, `value="https://drain.example/lessons/drain?model=1&amp;`) {
		t.Error("the link does not have the server's public address")
	}
}

// The builder reads foreign text, and whatever it takes leads somewhere.
func FuzzTeachQuery(f *testing.F) {
	for _, seed := range []string{"", "lesson=1&step=grace-10&t=30&hide=text&lock=grace", "lesson=3&from=case-2", "lesson=3&from=kubernetes&height=700", "lock=all&predict=required"} {
		f.Add(seed)
	}
	cases := buildClockCases()
	f.Fuzz(func(t *testing.T, raw string) {
		query, err := parseQuery(raw)
		if err != nil {
			return
		}
		b, err := parseTaught(query, cases)
		if err != nil {
			return
		}
		u, err := url.Parse("https://d.example" + b.link(true))
		if err != nil {
			t.Fatal(err)
		}
		if b.lesson == 1 {
			v, err := parseView(u.Query())
			if err != nil || v.canonical() != b.drain.canonical() {
				t.Errorf("%s leads to %s (%v)", raw, v.canonical(), err)
			}
			return
		}
		v, err := parseClocksView(u.Query())
		if err != nil || v.canonical() != b.clocks.canonical() {
			t.Errorf("%s leads to %s (%v)", raw, v.canonical(), err)
		}
	})
}
