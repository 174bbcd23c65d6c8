package web

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"drainlab/internal/course"
	"drainlab/internal/session"
	"drainlab/web/answer"
)

func TestWhatIsNotThereAndWhatIsNotAllowed(t *testing.T) {
	c := startCourse(t)
	unknown := string(session.NewID())
	for _, tc := range []struct {
		method, path string
		status       int
		says         string
	}{
		{"GET", "/sessions/" + unknown, 404, "Start a fresh session"},
		{"GET", "/sessions/" + strings.ToUpper(unknown), 404, "Start a fresh session"},
		{"GET", "/sessions/short", 404, "Start a fresh session"},
		{"GET", "/sessions/%0d%0a%3Cscript%3E", 404, "Start a fresh session"},
		{"POST", "/sessions/" + unknown, 404, "Start a fresh session"},
		{"GET", "/sessions/" + unknown + "/stream", 404, "Start a fresh session"},
		{"GET", "/nowhere", 404, "no such page"},
		{"GET", "/lessons/nowhere", 404, "no such page"},
		{"GET", "/embed/lessons/nowhere", 404, "no such page"},
		{"GET", "/lessons/drain/nowhere", 404, "no such page"},
		{"GET", "/lessons/toy/about", 404, "no such page"},
		{"GET", "/lessons/toy/picture.svg", 404, "no such page"},
		{"GET", "/static/none.js", 404, "no such file"},
		{"DELETE", "/lessons/drain", 405, "does not take &#34;DELETE&#34;"},
		{"PUT", "/sessions", 405, "does not take &#34;PUT&#34;"},
		{"GET", "/sessions", 405, "does not take &#34;GET&#34;"},
		{"HEAD", "/lessons/drain/stream", 405, ""},
		{"HEAD", "/sessions/" + unknown + "/stream", 405, ""},
		{"GET", "/lessons/drain?grace=31", 400, "from 0 to 30 s"},
		{"GET", "/lessons/drain?t=61", 400, "from 0 to 60 s"},
		{"GET", "/lessons/drain?worker=6", 400, "from 1 to 5"},
		{"GET", "/lessons/drain?model=2", 400, "model"},
		{"GET", "/lessons/drain?x=%zz", 400, "cannot be read"},
		{"GET", "/lessons/drain?grace=1;t=3", 400, "cannot be read"},
		{"GET", "/lessons/drain?panel=none", 400, "one of guide, settings"},
		{"GET", "/lessons/drain?predict=yes", 400, "required"},
		{"GET", "/lessons/clocks?predict=required", 400, "asks for no prediction"},
		{"GET", "/lessons/ledgers?predict=required", 400, "asks for no prediction"},
		{"GET", "/lessons/toy?predict=required", 400, "asks for no prediction"},
		{"GET", "/lessons/toy/share?predict=required", 400, "asks for no prediction"},
		{"GET", "/lessons/drain/share?at=0", 400, "at"},
		{"GET", "/lessons/toy?t=5.1", 400, "from 0 to 5 s"},
		{"GET", "/lessons/toy?limit=20&t=20.1", 400, "from 0 to 20 s"},
		{"GET", "/lessons/ledgers?t=9999", 400, "a plain decimal number from 0 to"},
		{"GET", "/lessons/ledgers?t=-1", 400, "a plain decimal number from 0 to"},
		{"GET", "/lessons/ledgers?t=now", 400, "a plain decimal number from 0 to"},
		{"GET", "/lessons/ledgers?t=1&t=2", 400, "one value"},
		{"GET", "/lessons/clocks?t=9999", 400, "a plain decimal number from 0 to"},
		{"GET", "/lessons/drain/stream?grace=31", 400, "from 0 to 30 s"},
		{"GET", "/lessons/drain/stream?playing=2", 400, "playing"},
		{"POST", "/lessons/drain", 400, "view"},
		{"POST", "/lessons/toy/parts", 405, ""},
	} {
		resp, body := c.do(tc.method, tc.path, nil, "Accept", "text/html")
		if resp.StatusCode != tc.status || !strings.Contains(body, tc.says) {
			t.Errorf("%s %s: got %s %.300s, want %d … %s", tc.method, tc.path, resp.Status, words(body), tc.status, tc.says)
		}
		if len(body) > 0 && !strings.Contains(body, `<a class="button" href="/`) {
			t.Errorf("%s %s: the error leads nowhere on", tc.method, tc.path)
		}
	}
	if resp, _ := c.post("/sessions/"+unknown, "command=play"); resp.StatusCode != 404 {
		t.Errorf("a command to no session: %s", resp.Status)
	}
}

// Whatever refuses a value says so alike at each address of a lesson.
func TestABadViewIsRefusedAtEachAddressOfALesson(t *testing.T) {
	c := startCourse(t)
	for _, l := range c.server.lessons.All() {
		id := l.About().ID
		for _, below := range []string{"", "/parts", "/share", "/handout", "/handout/key", "/qr.svg", "/card.png", "/picture.png", "/picture.svg", "/stream"} {
			if below == "/stream" && !l.About().Sessions {
				continue
			}
			for query, says := range map[string]string{"t=99999": "from 0 to", "model=99": "model", "colour=red": "colour", "speed=3": "0.5, 1, 2, 4 or 8", "a;b": "cannot be read", "t=1&t=1": "one value"} {
				resp, body := c.get("/lessons/"+id+below+"?"+query, "Accept", "application/json")
				if resp.StatusCode != http.StatusBadRequest || !strings.Contains(body, says) || !strings.HasPrefix(body, `{"error":`) {
					t.Errorf("%s%s?%s: %s %.300s", id, below, query, resp.Status, body)
				}
				if got := resp.Header.Get("Cache-Control"); got != "no-store" {
					t.Errorf("%s%s?%s: the error may be cached: %q", id, below, query, got)
				}
				if resp.Header.Get("Content-Disposition") != "" {
					t.Errorf("%s%s?%s: the error comes as a file", id, below, query)
				}
			}
		}
	}
}

func TestErrorsSuitWhoAsks(t *testing.T) {
	c := startCourse(t)
	for _, tc := range []struct{ accept, mediaType string }{
		{"", "text/html"},
		{"*/*", "text/html"},
		{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html"},
		{"text/html, application/json;q=0.5", "text/html"},
		{"application/json", "application/json"},
		{"application/json, text/plain;q=0.5", "application/json"},
	} {
		for path, status := range map[string]int{"/lessons/drain?grace=31": 400, "/lessons/drain?a;b": 400, "/nothing": 404, "/sessions": 405} {
			resp, body := c.get(path, "Accept", tc.accept)
			if got, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";"); resp.StatusCode != status || got != tc.mediaType {
				t.Errorf("%s for %q: %s, %s", path, tc.accept, resp.Status, got)
			}
			if !strings.HasPrefix(path, "/lessons/drain?grace") || tc.mediaType != "application/json" {
				continue
			}
			if e := readError(t, []byte(body)); orNone(e.Setting) != "grace" || orNone(e.Got) != "31" {
				t.Errorf("%q: %s", tc.accept, body)
			}
			if got := resp.Header.Get("Access-Control-Allow-Origin"); got != "" { // that is the API's
				t.Errorf("%s: open to %q", path, got)
			}
		}
	}
	resp, body := c.get("/lessons/drain?grace=31", answer.ClientHeader, "true")
	if resp.StatusCode != 400 || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") || !strings.HasPrefix(body, "Grace period: got") {
		t.Errorf("the page's script gets %s %s", resp.Status, body)
	}
	resp, body = c.post("/lessons/drain", "view="+strings.Repeat("a", answer.FormLimit), "Accept", "application/json")
	if resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a form that is too large: %s", resp.Status)
	}
	readError(t, []byte(body))
}

func TestEveryAnswerIsGuarded(t *testing.T) {
	c := startCourse(t)
	id := c.newSession("drain", "")
	paths := []string{"/", "/teach", "/sessions/" + string(id), "/nowhere", "/lessons/drain?grace=x", "/api/v1/openapi.json", "/livez"}
	for _, l := range c.server.lessons.All() {
		path := l.About().Path()
		paths = append(paths, path, path+"/parts", path+"/share", path+"/handout", path+"/handout/key", "/embed"+path)
		if _, told := l.(answer.Told); told {
			paths = append(paths, path+"/about")
		}
		for _, tab := range l.Tabs() {
			paths = append(paths, path+"?panel="+tab.ID, "/embed"+path+"?panel="+tab.ID)
		}
	}
	for _, path := range paths {
		resp, body := c.get(path)
		h := resp.Header
		framed := strings.HasPrefix(path, "/embed")
		ancestors := map[bool]string{false: "frame-ancestors 'none'", true: "frame-ancestors *"}[framed]
		if got := h.Get("Content-Security-Policy"); !strings.HasPrefix(got, "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:;") ||
			!strings.Contains(got, ancestors) {
			t.Errorf("%s: policy %q", path, got)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") == "" || h.Get("Set-Cookie") != "" || h.Get("X-Frame-Options") != "" {
			t.Errorf("%s: headers %v", path, h)
		}
		if strings.Contains(h.Get("Content-Type"), "html") {
			for _, wrong := range refersElsewhere(body, c.url) {
				t.Errorf("%s: %s", path, wrong)
			}
		}
	}
	if log := c.log.String(); strings.Contains(log, string(id)) || strings.Contains(log, "grace") || strings.Contains(log, "level=ERROR") {
		t.Errorf("the log holds ids, settings or errors:\n%s", log)
	}
}

// refersElsewhere says what in a page the policy would stop, and what leads or
// loads from elsewhere.
func refersElsewhere(page, base string) []string {
	var list []string
	// What a person copies is text, and no part of the page.
	page = regexp.MustCompile(`(?s)<textarea.*?</textarea>`).ReplaceAllString(page, "")
	page = regexp.MustCompile(`value="[^"]*"`).ReplaceAllString(page, "")
	for _, inline := range []string{" style=", "<style", " onclick=", "<script>", "javascript:"} {
		if strings.Contains(page, inline) {
			list = append(list, fmt.Sprintf("the page has %q", inline))
		}
	}
	// Only links that a person follows lead elsewhere.
	loads := regexp.MustCompile(`<a href="https://[^"]*" rel="external noreferrer">`).ReplaceAllString(page, "")
	for _, m := range regexp.MustCompile(`(?:src|href|action)="([^"#]*)[^"]*"`).FindAllStringSubmatch(loads, -1) {
		if m[1] != "" && !strings.HasPrefix(m[1], "/") && !strings.HasPrefix(m[1], base+"/") { // its own host in full, as oEmbed wants it
			list = append(list, fmt.Sprintf("the page refers to %q", m[1]))
		}
	}
	return list
}

func TestWhatRefersElsewhereIsSeen(t *testing.T) {
	const base = "http://here.example"
	for page, want := range map[string]int{
		`<a href="/x">x</a><img src="http://here.example/y">`:                             0,
		`<a href="https://there.example/" rel="external noreferrer">`:                     0,
		`<a href="https://there.example/">`:                                               1,
		`<img src="https://there.example/" >`:                                             1,
		`<form action="//there.example/">`:                                                0, // a path, as far as this sees
		`<p style="color:red">`:                                                           1,
		`<textarea><iframe style="border:0" src="https://x.example"></iframe></textarea>`: 0,
		`<a href="#main">`:                                                                0,
		`<a href="javascript:alert(1)">`:                                                  2,
	} {
		if got := refersElsewhere(page, base); len(got) != want {
			t.Errorf("%s: %q, want %d", page, got, want)
		}
	}
}

func TestProbes(t *testing.T) {
	c := startCourse(t)
	for path, want := range map[string]int{"/livez": 200, "/readyz": 200} {
		if resp, _ := c.get(path); resp.StatusCode != want {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
	c.server.Drain()
	for path, want := range map[string]int{"/livez": 200, "/readyz": 503, "/lessons/drain/stream": 503, "/lessons/drain": 200, "/": 200} {
		resp, _ := c.get(path)
		if resp.StatusCode != want {
			t.Errorf("%s while draining: %s", path, resp.Status)
		}
		if wait := resp.Header.Get("Retry-After"); strings.HasPrefix(path, "/lessons/drain/") && wait == "" {
			t.Errorf("%s does not say when to come again", path)
		}
	}
}

// A request is a page's, a command's, a stream's or a program's in the ledger.
func TestRequestsAreClassified(t *testing.T) {
	for _, tc := range []struct {
		method, path, class string
		stream              bool
	}{
		{"GET", "/", "page", false},
		{"GET", "/lessons/toy/parts", "page", false},
		{"GET", "/lessons/toy/stream", "stream", true},
		{"GET", "/embed/lessons/toy/stream", "stream", true},
		{"GET", "/sessions/x/stream", "stream", true},
		{"POST", "/sessions", "command", false},
		{"POST", "/lessons/toy", "command", false},
		{"POST", "/api/v1/runs", "api", false},
		{"GET", "/static/style.css", "static", false},
		{"HEAD", "/lessons/toy/stream", "page", false},
	} {
		r, err := http.NewRequest(tc.method, tc.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if class, stream := Classify(r); class != tc.class || stream != tc.stream {
			t.Errorf("%s %s is %s, a stream: %t", tc.method, tc.path, class, stream)
		}
	}
}

// The first load of each lesson: page, style, scripts, as they cross the wire.
func TestTheFirstLoadIsSmall(t *testing.T) {
	c := startCourse(t)
	if c.server.assets.urls["client.js"] == "" {
		t.Fatal("the client is not built: make generate")
	}
	const most = 45_000
	for _, path := range []string{"/lessons/drain?t=60", "/lessons/ledgers", "/lessons/clocks"} {
		resp, page := c.get(path, "Accept-Encoding", "gzip")
		if resp.Header.Get("Content-Encoding") != "gzip" {
			t.Fatal("the page is not compressed")
		}
		total := len(page)
		plain, err := gzip.NewReader(strings.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		html, err := io.ReadAll(plain)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?:src|href)="(/static/[^"]+)"`).FindAllStringSubmatch(string(html), -1) {
			resp, body := c.get(m[1], "Accept-Encoding", "gzip, br") // as browsers do
			if resp.StatusCode != 200 || !strings.Contains(resp.Header.Get("Cache-Control"), "immutable") {
				t.Errorf("%s: %s %v", m[1], resp.Status, resp.Header)
			}
			total += len(body)
		}
		t.Logf("%s: %d bytes, the page %d", path, total, len(page))
		if total > most {
			t.Errorf("%s: the first load has %d bytes, allowed: %d", path, total, most)
		}
	}
}

func TestAnswersAreCompressedForThoseWhoTakeIt(t *testing.T) {
	c := startCourse(t)
	for _, path := range []string{"/", "/teach", "/lessons/drain", "/lessons/drain/parts", "/lessons/drain/handout", "/embed/lessons/drain", "/lessons/drain/picture.svg", "/api/v1/run", "/api/v1/openapi.json", c.server.assets.urls["style.css"]} {
		for accept, want := range map[string]string{"": "", "identity": "", "gzip": "gzip", "br;q=0, gzip;q=0.5": "gzip", "gzip;q=0": "", "xgzip": ""} {
			headers := []string{}
			if accept != "" {
				headers = append(headers, "Accept-Encoding", accept)
			}
			resp, _ := c.get(path, headers...)
			if got := resp.Header.Get("Content-Encoding"); resp.StatusCode != 200 || got != want || !strings.Contains(strings.Join(resp.Header.Values("Vary"), ","), "Accept-Encoding") {
				t.Errorf("%s for %q: %s, encoding %q, vary %q", path, accept, resp.Status, got, resp.Header.Values("Vary"))
			}
		}
	}
}

// After a body that broke off, what follows is not read as a request.
func TestABrokenBodyEndsTheConnection(t *testing.T) {
	c := startCourse(t)
	for _, path := range []string{"/api/v1/runs", "/api/v1/clocks/runs"} {
		for _, chunk := range []string{"zz", "-1", "fffffffffffffffff", "3\r\n{}\nX"} {
			conn, err := net.Dial("tcp", strings.TrimPrefix(c.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n%s\r\nGET /livez HTTP/1.1\r\nHost: x\r\n\r\n", path, chunk)
			got, err := io.ReadAll(conn)
			conn.Close()
			if err != nil && !errors.Is(err, syscall.ECONNRESET) {
				t.Fatal(err)
			}
			if strings.Contains(string(got), "alive") || !strings.Contains(string(got), "200 OK") {
				t.Errorf("%s after the chunk size %q: %q", path, chunk, got)
			}
		}
	}
}

// A course that is put together wrongly does not start.
func TestARegisterNamesEachLessonOnceInItsPlace(t *testing.T) {
	for name, list := range map[string][]course.Lesson{"a lesson twice": {toys()[0], toys()[0]}, "a wrong place": {toys()[1]}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is taken", name)
				}
			}()
			course.NewRegister(list...)
		}()
	}
}
