package web

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drainlab/internal/course"
	"drainlab/web/answer"
)

// A lesson that is in the register answers at all of these.
func TestEveryAddressOfEveryLessonAnswers(t *testing.T) {
	c := startCourse(t)
	type address struct{ path, kind string }
	var all []address
	add := func(path, kind string) { all = append(all, address{path, kind}) }
	for _, path := range []string{"/", "/teach", "/embed/doctor"} {
		add(path, "text/html")
	}
	add("/card.png", "image/png")
	add("/api/v1/openapi.json", "application/json")
	add("/livez", "text/plain")
	add("/readyz", "text/plain")
	for _, l := range c.server.lessons.All() {
		a := l.About()
		path := a.Path()
		for _, page := range []string{path, path + "/parts", path + "/share", path + "/handout", path + "/handout/key", "/embed" + path, "/embed" + path + "/parts"} {
			add(page, "text/html")
		}
		for _, tab := range l.Tabs() {
			add(path+"?panel="+tab.ID, "text/html")
			add("/embed"+path+"?panel="+tab.ID, "text/html")
		}
		for _, step := range l.Steps() {
			add(path+"?"+step.Query, "text/html")
		}
		for _, start := range startsOf(l) {
			add(path+"?"+start.Query, "text/html")
			add("/teach?lesson="+a.ID+"&start="+start.ID, "text/html")
		}
		add(path+"/qr.svg", "image/svg+xml")
		add(path+"/card.png", "image/png")
		f := course.OpenLink(l).View.Run().Figure(0)
		if f.PNG != nil {
			add(path+"/picture.png", "image/png")
		}
		if f.SVG != nil {
			add(path+"/picture.svg", "image/svg+xml")
		}
		if _, told := l.(answer.Told); told {
			add(path+"/about", "text/html")
		}
		add("/oembed?url="+strings.ReplaceAll(c.url, ":", "%3A")+path, "application/json")
		if a.Sessions {
			id := c.newSession(a.ID, "")
			add("/sessions/"+string(id), "text/html")
			for _, stream := range []string{path + "/stream", "/embed" + path + "/stream", "/sessions/" + string(id) + "/stream"} {
				resp, _ := c.openStream(stream)
				if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
					t.Errorf("%s: %s", stream, resp.Status)
				}
				resp.Body.Close()
			}
		}
	}
	for _, a := range all {
		resp, body := c.get(a.path)
		if kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";"); resp.StatusCode != http.StatusOK || kind != a.kind || body == "" {
			t.Errorf("%s: %s, %s, %d bytes, want %s", a.path, resp.Status, kind, len(body), a.kind)
		}
		if resp, none := c.do(http.MethodHead, a.path, nil); resp.StatusCode != http.StatusOK || none != "" {
			t.Errorf("HEAD %s: %s, %d bytes", a.path, resp.Status, len(none))
		}
	}
	if len(all) < 150 {
		t.Errorf("%d addresses: the test looks at nothing", len(all))
	}
}

// Whatever a page of the course links to on this server is there.
func TestEveryWayOnAPageLeadsSomewhere(t *testing.T) {
	c := startCourse(t)
	seen := map[string]bool{}
	var paths []string
	add := func(path string) {
		path, _, _ = strings.Cut(path, "#")
		if !seen[path] && path != "" {
			seen[path] = true
			paths = append(paths, path)
		}
	}
	first := []string{"/", "/teach", "/embed/doctor"}
	for _, l := range c.server.lessons.All() {
		link := course.OpenLink(l)
		link.T = link.View.Run().End()
		first = append(first, link.Address(), link.At("share"), link.At("handout"), link.At("handout/key"))
		link.Embedded = true
		first = append(first, link.Address())
		if l.About().Sessions {
			first = append(first, "/sessions/"+string(c.newSession(l.About().ID, "")))
		}
	}
	for _, path := range first {
		page := c.page(path)
		for _, m := range regexp.MustCompile(`(?:href|src)="(/[^"]*)"`).FindAllStringSubmatch(page, -1) {
			add(html.UnescapeString(m[1]))
		}
	}
	for _, path := range paths {
		resp, body := c.get(path)
		if resp.StatusCode == http.StatusMovedPermanently || resp.StatusCode == http.StatusSeeOther {
			resp, body = c.get(resp.Header.Get("Location"))
		}
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s %.200s", path, resp.Status, words(body))
		}
	}
	t.Logf("%d ways", len(paths))
	if len(paths) < 100 {
		t.Errorf("%d ways: the test looks at nothing", len(paths))
	}
}

// ids are those of a page's elements, each of which must be there once.
func ids(t *testing.T, page string) []string {
	t.Helper()
	var list []string
	for _, m := range regexp.MustCompile(`\sid="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if slices.Contains(list, m[1]) {
			t.Errorf("the id %s is there twice", m[1])
		}
		list = append(list, m[1])
	}
	return list
}

// Every part is on the page once, in the place that its lesson gives it, so
// that whatever comes for it finds it.
func TestEachPartStandsInItsSlot(t *testing.T) {
	c := startCourse(t)
	for _, l := range c.server.lessons.All() {
		for _, embedded := range []bool{false, true} {
			link := course.OpenLink(l)
			link.Embedded, link.PanelNamed = embedded, true
			t.Run(link.Address(), func(t *testing.T) {
				page := c.of(t).page(link.Address())
				there := ids(t, page)
				run := link.View.Run()
				inPlay := 0
				for _, p := range append(run.Live(course.Frame{T: link.T, Until: link.T}), run.Own(link)...) {
					if p.Slot == course.Play {
						if inPlay++; embedded && inPlay > 1 { // a frame has room for one
							continue
						}
					}
					if !slices.Contains(there, p.ID) {
						t.Errorf("the part %s is not on the page", p.ID)
					}
					slot := sliceOf(t, page, p.Slot)
					if !strings.Contains(slot, ` id="`+p.ID+`"`) {
						t.Errorf("the part %s is not in %s", p.ID, p.Slot)
					}
				}
			})
		}
	}
}

// sliceOf is the piece of a page that begins with a slot's element and ends
// before the next one's.
func sliceOf(t *testing.T, page string, slot course.Slot) string {
	t.Helper()
	begins := map[course.Slot]string{course.Verdict: `<div id="verdict"`, course.Picture: `<div id="picture"`, course.Play: `<div id="play"`}[slot]
	if tab, ok := strings.CutPrefix(string(slot), "tab:"); ok {
		begins = `<div id="tab-` + tab + `"`
	}
	if tab, ok := strings.CutPrefix(string(slot), "stage:"); ok {
		begins = `<div class="stage-wide" data-stage="` + tab + `"`
	}
	_, rest, found := strings.Cut(page, begins)
	if !found || begins == "" {
		t.Errorf("the page has no slot %s", slot)
		return ""
	}
	_, rest, _ = strings.Cut(rest, ">")
	for _, next := range []string{`<div id="picture"`, `<div class="stage-wide"`, `<div id="play">`, `<section id="panel"`, `<div id="tab-`, `<div class="panel-foot">`} {
		rest, _, _ = strings.Cut(rest, next)
	}
	return rest
}

func TestAPageSaysItsView(t *testing.T) {
	c := startToys(t)
	page := c.page("/lessons/counter?model=3&count=9&t=4.5&speed=4&panel=table&lock=by,count&hide=trace,text&predict=required&guess=9")
	for name, want := range map[string]string{
		"data-lesson": "counter", "data-path": "/lessons/counter", "data-session": "", "data-end": "18", "data-panel": "table", "data-lock": "count,by", "data-hide": "trace text", "data-model": "3",
		"data-query":    "count=9&guess=9&t=4.5&speed=4&panel=table&predict=required&hide=trace,text&lock=count,by",
		"data-settings": "count=30&every=2&by=1",
	} {
		if got := attribute(t, page, `<div id="lesson"[^>]* `+name+`="([^"]*)"`); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	root := attribute(t, page, `(<div id="lesson"[^>]*>)`)
	for name, want := range map[string]bool{"data-sessions": true, "data-predict": true, "data-wait": false, "data-embed": false, "data-opens-at-end": false} {
		if got := regexp.MustCompile(` ` + name + `[ >]`).MatchString(root); got != want {
			t.Errorf("%s: %t in %s", name, got, root)
		}
	}
	// Each of its forms carries the view, so that commands keep it without script.
	if got := strings.Count(page, `name="view" value="count=9&amp;guess=9&amp;t=4.5&amp;speed=4&amp;panel=table&amp;predict=required&amp;hide=trace,text&amp;lock=count,by"`); got < 5 {
		t.Errorf("%d forms carry the view", got)
	}
	for _, want := range []string{`<p id="number">2</p>`, `<p id="dial">4.5 of 18 s</p>`, `<b id="now">4.5</b>`, `value="4.5" aria-valuetext="4.5 seconds"`, `<option value="4" selected>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	waiting := c.page("/lessons/counter?count=9&t=4.5&predict=required")
	if root := attribute(t, waiting, `(<div id="lesson"[^>]*>)`); !strings.Contains(root, " data-wait") {
		t.Errorf("it does not wait: %s", root)
	}
	for _, want := range []string{`<p id="number">0</p>`, `id="locked-note"`, `id="play-button" disabled`, `id="time" class="time" aria-label="Simulation time" data-seek form="f-none" min="0" max="18" step="0.1" value="0" aria-valuetext="0 seconds" autocomplete="off" disabled`} {
		if !strings.Contains(waiting, want) {
			t.Errorf("before the prediction the page lacks %s", want)
		}
	}
	// A lesson without time has no player.
	if page := c.page("/lessons/counter?count=0"); strings.Contains(page, `id="transport"`) || !strings.Contains(page, `data-end="0"`) {
		t.Error("a run that takes no time has a player")
	}
}

func TestTabsAreLinksAndOneIsOpen(t *testing.T) {
	c := startToys(t)
	for _, tc := range []struct {
		query string
		open  string // of the tabs
		wide  bool   // the open tab has the stage
		tabs  []string
	}{
		{"", "settings", false, []string{"settings", "log", "table"}},
		{"?panel=log", "log", false, []string{"settings", "log", "table"}},
		{"?panel=table", "table", true, []string{"settings", "log", "table"}},
		{"?hide=controls", "log", false, []string{"log", "table"}},
		{"?hide=trace&panel=log", "settings", false, []string{"settings", "table"}},
		{"?hide=controls,trace", "table", true, []string{"table"}},
	} {
		page := c.page("/lessons/counter" + tc.query)
		var tabs, open []string
		for _, m := range regexp.MustCompile(`(?s)<a id="tab-link-(\w+)"[^>]*href="([^"]*)"[^>]*>`).FindAllStringSubmatch(page, -1) {
			tabs = append(tabs, m[1])
			if strings.Contains(m[0], `aria-current="true"`) {
				open = append(open, m[1])
			}
			there := c.page(html.UnescapeString(m[2]))
			if got := attribute(t, there, `data-panel="([^"]*)"`); got != m[1] {
				t.Errorf("%s: the way to %s opens %s", tc.query, m[1], got)
			}
		}
		if !slices.Equal(tabs, tc.tabs) || !slices.Equal(open, []string{tc.open}) {
			t.Errorf("%s: the tabs are %v, open %v", tc.query, tabs, open)
		}
		for _, tab := range tc.tabs {
			if hidden := regexp.MustCompile(`<div id="tab-` + tab + `"[^>]* hidden`).MatchString(page); hidden != (tab != tc.open) {
				t.Errorf("%s: the tab %s is hidden: %t", tc.query, tab, hidden)
			}
		}
		if hidden := strings.Contains(page, `<div id="picture" hidden>`); hidden != tc.wide {
			t.Errorf("%s: the picture is hidden: %t", tc.query, hidden)
		}
		if strings.Contains(tc.query, "controls") && strings.Contains(page, `id="guess"`) {
			t.Errorf("%s: what is left out is there", tc.query)
		}
	}
	// All tabs that can be left out are left out; the rest of the page stays.
	for _, l := range startCourse(t).server.lessons.All() {
		for _, tab := range l.Tabs() {
			if tab.Hide != "" && !slices.Contains(course.Hideable(), tab.Hide) {
				t.Errorf("%s: the tab %s goes with %q, which no link can leave out", l.About().ID, tab.ID, tab.Hide)
			}
		}
	}
}

func TestAFrameShowsItsPanelWhereTheLinkNamesIt(t *testing.T) {
	c := startToys(t)
	for path, panel := range map[string]bool{"/embed/lessons/toy": false, "/embed/lessons/toy?limit=9": false, "/embed/lessons/toy?panel=guide": true, "/embed/lessons/toy?panel=settings": true, "/lessons/toy": true} {
		page := c.page(path)
		if got := strings.Contains(page, `<section id="panel"`); got != panel {
			t.Errorf("%s: the panel is there: %t", path, got)
		}
		embedded := strings.HasPrefix(path, "/embed")
		for _, around := range []string{`<header class="top">`, `id="share-dialog"`, `id="share-open"`} {
			if got := strings.Contains(page, around); got == embedded {
				t.Errorf("%s: %s is there: %t", path, around, got)
			}
		}
		if !embedded {
			continue
		}
		whole := attribute(t, page, `<p class="embed-foot">.*?<a href="([^"]*)" target="_blank"`)
		if !strings.HasPrefix(whole, "/lessons/toy?model=1") {
			t.Errorf("%s: the way to the whole lesson is %s", path, whole)
		}
		if strings.Contains(page, "autofocus") || strings.Contains(page, `id="together"`) {
			t.Errorf("%s: the frame takes the focus, or offers what only a page can", path)
		}
		// Its forms stay in the frame.
		for _, m := range regexp.MustCompile(`<form id="f-(set|play|speed|seek|own)" method="post" action="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			if m[2] != "/embed/lessons/toy" {
				t.Errorf("%s: the form %s posts to %s", path, m[1], m[2])
			}
		}
	}
}

// What the page's script fetches is what the page has of the parts that follow
// the link alone.
func TestOwnPartsAreThoseOfThePage(t *testing.T) {
	c := startCourse(t)
	for _, l := range c.server.lessons.All() {
		link := course.OpenLink(l)
		for _, embedded := range []bool{false, true} {
			link.Embedded, link.PanelNamed = embedded, true
			resp, parts := c.get(link.At("parts"), answer.ClientHeader, "true")
			page := c.page(link.Address())
			if resp.StatusCode != http.StatusOK {
				t.Fatalf("%s: %s", link.At("parts"), resp.Status)
			}
			for _, p := range link.View.Run().Own(link) {
				var b strings.Builder
				if err := p.Body.Render(t.Context(), &b); err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(parts, b.String()) || !strings.Contains(page, b.String()) {
					t.Errorf("%s: the part %s differs", link.Address(), p.ID)
				}
			}
			if got := resp.Header.Get("Access-Control-Allow-Origin"); got != map[bool]string{true: "*"}[embedded] {
				t.Errorf("%s is open to %q", link.At("parts"), got)
			}
		}
	}
	toys := startToys(t)
	resp, body := toys.get("/lessons/counter/parts?count=9&t=4&guess=3")
	if body != `<p id="guess">guessed: count=9&amp;guess=3</p>` || resp.Header.Get("Lesson-Settings") != "count=9" {
		t.Errorf("%q, %v", body, resp.Header)
	}
}

func TestASandboxedFrameMayStreamAndPost(t *testing.T) {
	c := startToys(t)
	for path, method := range map[string]string{"/embed/lessons/toy/parts": "GET", "/sessions/" + string(c.newSession("toy", "")): "POST"} {
		resp, _ := c.do(http.MethodOptions, path, nil, "Origin", "null", "Access-Control-Request-Method", method, "Access-Control-Request-Headers", strings.ToLower(answer.ClientHeader))
		h := resp.Header
		if resp.StatusCode != http.StatusNoContent || h.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(h.Get("Access-Control-Allow-Methods"), method) || !strings.EqualFold(h.Get("Access-Control-Allow-Headers"), answer.ClientHeader) {
			t.Errorf("%s: %s %v", path, resp.Status, h)
		}
	}
	for _, path := range []string{"/embed/lessons/toy/stream", "/sessions/" + string(c.newSession("toy", "")) + "/stream"} {
		resp, _ := c.openStream(path, "Origin", "null")
		if resp.Header.Get("Access-Control-Allow-Origin") != "*" || resp.Header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: %v", path, resp.Header)
		}
		resp.Body.Close()
	}
}

func TestASharedSessionsPageShowsTheSessionItself(t *testing.T) {
	c := startToys(t)
	id := c.newSession("counter", "count=9&t=4&speed=2")
	path := "/sessions/" + string(id)
	resp, page := c.get(path + "?guess=7&panel=log")
	if resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("it may be cached: %v", resp.Header)
	}
	for name, want := range map[string]string{"data-session": string(id), "data-query": "count=9&guess=7&t=4&speed=2&panel=log", "data-panel": "log"} {
		if got := attribute(t, page, `<div id="lesson"[^>]* `+name+`="([^"]*)"`); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, want := range []string{`<p id="number">2</p>`, `id="together-note"`, `href="/lessons/counter?model=3&amp;count=9&amp;guess=7&amp;t=4&amp;speed=2&amp;panel=log" id="own-copy"`,
		`href="` + path + `?guess=7&amp;panel=table"`, `href="` + path + `?guess=7"`, `action="` + path + `"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	// Who knows the address may drive it: it is told to nobody.
	for _, not := range []string{`og:url`, `rel="canonical"`, `oembed`, `id="together"`} {
		if strings.Contains(page, not) {
			t.Errorf("the page has %s", not)
		}
	}
	c.post(path, "command=set&count=3")
	if page := c.page(path); !strings.Contains(page, `data-query="count=3&amp;t=4&amp;speed=2"`) || !strings.Contains(page, `data-end="6"`) {
		t.Error("the page does not show the session as it stands")
	}
	// A playing one is shown where it stands.
	c.post(path, "command=play")
	if page := c.page(path); !strings.Contains(page, `value="pause"`) {
		t.Error("a playing session's page does not play")
	}
}

func TestOnlyAViewThatIsWholeCanBeOpenedTogether(t *testing.T) {
	c := startCourse(t)
	for path, want := range map[string]bool{"/lessons/drain": true, "/lessons/drain?grace=10&t=4": true, "/lessons/clocks": true, "/lessons/toy": true, "/lessons/ledgers": false,
		"/lessons/drain?lock=grace": false, "/lessons/drain?hide=text": false, "/lessons/drain?predict=required": false, "/embed/lessons/drain?panel=guide": false} {
		if got := strings.Contains(c.page(path), `id="together"`); got != want {
			t.Errorf("%s: it can be opened together: %t", path, got)
		}
	}
}

// The run is in the page itself, for who has no script.
func TestThePageWithoutScriptShowsTheRun(t *testing.T) {
	c := startCourse(t)
	page := c.page("/lessons/drain?t=60")
	strip := words(sliceOf(t, page, course.Verdict))
	for _, want := range []string{"FAIL", "4", "killed"} {
		if !strings.Contains(strings.ToLower(strip), strings.ToLower(want)) {
			t.Errorf("the strip lacks %q: %s", want, strip)
		}
	}
	if !strings.Contains(words(page), "killed") || !strings.Contains(sliceOf(t, page, course.Picture), "<svg") {
		t.Error("the page lacks the run")
	}
	for _, path := range []string{"/lessons/clocks", "/lessons/ledgers"} {
		if page := c.page(path); !strings.Contains(sliceOf(t, page, course.Picture), "<svg") {
			t.Errorf("%s has no picture", path)
		}
	}
}

// What lessons' own routes are given.
func TestALessonsOwnRoutes(t *testing.T) {
	c := start(t, Site{}, ownRoutes{toys()[0]})
	resp, page := c.get("/lessons/toy/other")
	if resp.StatusCode != http.StatusAccepted || resp.Header.Get("Cache-Control") != "no-store" || !strings.Contains(page, `<p id="strip">another strip</p>`) || strings.Contains(page, "Counted 0") ||
		!strings.Contains(page, `<p id="more">more</p>`) || !strings.Contains(page, `<noscript><meta http-equiv="refresh" content="3"></noscript>`) {
		t.Errorf("the page with parts of its own: %s %.2000s", resp.Status, page)
	}
	if resp, body := c.get("/embed/lessons/toy/open", "Accept-Encoding", "gzip"); resp.StatusCode != 200 || resp.Header.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(resp.Header.Get("Content-Security-Policy"), "frame-ancestors *") || body != c.url+"\n" {
		t.Errorf("framed: %s %v %q", resp.Status, resp.Header, body)
	}
	if resp, _ := c.do(http.MethodOptions, "/lessons/toy/open", nil); resp.StatusCode != http.StatusNoContent {
		t.Errorf("the preflight of what is open: %s", resp.Status)
	}
	if resp, _ := c.post("/lessons/toy/mine", "", "Origin", "https://elsewhere.example", "Sec-Fetch-Site", "cross-site"); resp.StatusCode != http.StatusForbidden {
		t.Errorf("sent from elsewhere: %s", resp.Status)
	}
	if resp, _ := c.post("/lessons/toy/mine", "", "Sec-Fetch-Site", "same-origin"); resp.StatusCode != http.StatusNoContent {
		t.Errorf("sent from our own page: %s", resp.Status)
	}
	if resp, _ := c.get("/lessons/toy/broken"); resp.StatusCode != http.StatusInternalServerError || !strings.Contains(c.log.String(), "upset") {
		t.Errorf("a handler that fails: %s", resp.Status)
	}
	if resp, _ := c.get("/lessons/toy/panics"); resp.StatusCode != http.StatusInternalServerError || !strings.Contains(c.log.String(), "panicked") {
		t.Errorf("a handler that panics: %s", resp.Status)
	}
	if resp, body := c.get("/lessons/toy/back"); resp.StatusCode != http.StatusConflict || !strings.Contains(body, `href="/somewhere">Somewhere else</a>`) {
		t.Errorf("an error with a way of its own: %s", resp.Status)
	}
}

// ownRoutes is a lesson with addresses of its own.
type ownRoutes struct{ course.Lesson }

func (l ownRoutes) Routes(tools answer.Tools) []answer.Route {
	at := func(method, below string, handle answer.Handler) answer.Route {
		return answer.Route{Method: method, Pattern: "/lessons/toy/" + below, Handle: handle}
	}
	other := at(http.MethodGet, "other", func(w http.ResponseWriter, r *http.Request) error {
		parts := []course.Part{{ID: "strip", Slot: course.Verdict, Body: bare(`<p id="strip">another strip</p>`)}, {ID: "more", Slot: course.InTab("guide"), Body: bare(`<p id="more">more</p>`)}}
		return tools.Render(w, r, http.StatusAccepted, course.OpenLink(l), answer.Extra{Parts: parts, Refresh: 3, NoStore: true})
	})
	open := at(http.MethodGet, "open", func(w http.ResponseWriter, r *http.Request) error {
		fmt.Fprintln(w, tools.Base(r))
		return nil
	})
	open.Open, open.Framed, open.Raw = true, true, true
	mine := at(http.MethodPost, "mine", func(w http.ResponseWriter, r *http.Request) error {
		w.WriteHeader(http.StatusNoContent)
		return nil
	})
	mine.Own = true
	return []answer.Route{other, open, mine,
		at(http.MethodGet, "broken", func(http.ResponseWriter, *http.Request) error { return fmt.Errorf("upset") }),
		at(http.MethodGet, "panics", func(http.ResponseWriter, *http.Request) error { panic("very upset") }),
		at(http.MethodGet, "back", func(http.ResponseWriter, *http.Request) error {
			return &answer.WayBack{Err: &answer.Error{Status: http.StatusConflict, Sentence: "Not now."}, Text: "Somewhere else", Href: "/somewhere"}
		}),
	}
}
