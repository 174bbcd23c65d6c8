package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"image/png"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// members are an oEmbed answer's names and values, whatever its format. Whole
// numbers are ints, all else is text.
type members map[string]any

// What the specification (oEmbed 1.0, section 2.3.4) calls the members that it
// knows, by the kind of their values, and what each type must have.
var (
	oembedTexts    = []string{"type", "version", "title", "author_name", "author_url", "provider_name", "provider_url", "thumbnail_url", "url", "html"}
	oembedNumbers  = []string{"cache_age", "thumbnail_width", "thumbnail_height", "width", "height"}
	oembedURLs     = []string{"author_url", "provider_url", "thumbnail_url", "url"}
	oembedRequired = map[string][]string{"photo": {"url", "width", "height"}, "video": {"html", "width", "height"}, "rich": {"html", "width", "height"}, "link": {}}
)

// readOEmbedJSON reads one object of texts and whole numbers, each name once.
func readOEmbedJSON(data string) (members, error) {
	decoder := json.NewDecoder(strings.NewReader(data))
	decoder.UseNumber()
	if first, err := decoder.Token(); err != nil || first != json.Delim('{') {
		return nil, fmt.Errorf("begins with %v, %w", first, err)
	}
	m := members{}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		value, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		if number, ok := value.(json.Number); ok {
			n, err := strconv.Atoi(number.String())
			if err != nil {
				return nil, fmt.Errorf("%v: %v is no whole number", name, value)
			}
			value = n
		}
		if _, twice := m[name.(string)]; twice {
			return nil, fmt.Errorf("%v is there twice", name)
		}
		m[name.(string)] = value
	}
	if _, err := decoder.Token(); err != nil {
		return nil, err
	}
	if rest, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%v comes after the object", rest)
	}
	return m, nil
}

// readOEmbedXML reads the specification's document: an element oembed, in it
// one element with text for each member.
func readOEmbedXML(data string) (members, error) {
	rest, ok := strings.CutPrefix(data, `<?xml version="1.0" encoding="utf-8" standalone="yes"?>`)
	if !ok {
		return nil, fmt.Errorf("begins with %.60q", data)
	}
	decoder := xml.NewDecoder(strings.NewReader(rest))
	m := members{}
	depth, name, text := 0, "", ""
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		switch x := token.(type) {
		case xml.StartElement:
			depth++
			name, text = x.Name.Local, ""
			if len(x.Attr) > 0 || x.Name.Space != "" || depth > 2 || (depth == 1) != (name == "oembed") || depth == 1 && len(m) > 0 {
				return nil, fmt.Errorf("<%s> at depth %d, attributes %v", name, depth, x.Attr)
			}
		case xml.EndElement:
			if depth == 2 {
				if _, twice := m[name]; twice {
					return nil, fmt.Errorf("<%s> is there twice", name)
				}
				m[name] = text
				if n, err := strconv.Atoi(text); err == nil && slices.Contains(oembedNumbers, name) {
					m[name] = n
				}
			}
			depth--
		case xml.CharData:
			if text += string(x); depth != 2 && strings.TrimSpace(string(x)) != "" {
				return nil, fmt.Errorf("text %q between the members", x)
			}
		default:
			return nil, fmt.Errorf("%T in the document", token)
		}
	}
	return m, nil
}

// problems holds an answer against the specification. A maximum of 0 was not
// given.
func (m members) problems(maxWidth, maxHeight int) []string {
	var list []string
	wrong := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	for _, name := range oembedTexts {
		if value, ok := m[name]; ok {
			if text, ok := value.(string); !ok || text == "" {
				wrong("%s is %v, and no text", name, value)
			}
		}
	}
	for _, name := range oembedNumbers {
		if value, ok := m[name]; ok {
			if n, ok := value.(int); !ok || n < 1 {
				wrong("%s is %v, and no positive whole number", name, value)
			}
		}
	}
	for _, name := range oembedURLs {
		if text, ok := m[name].(string); ok {
			if u, err := url.Parse(text); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
				wrong("%s is %q, and no full URL", name, text)
			}
		}
	}
	if m["version"] != "1.0" {
		wrong("version is %v", m["version"])
	}
	kind, _ := m["type"].(string)
	required, ok := oembedRequired[kind]
	if !ok {
		wrong("type is %v", m["type"])
	}
	for _, name := range required {
		if _, ok := m[name]; !ok {
			wrong("%s is missing, which %s must have", name, kind)
		}
	}
	thumbnail := 0
	for _, name := range []string{"thumbnail_url", "thumbnail_width", "thumbnail_height"} {
		if _, ok := m[name]; ok {
			thumbnail++
		}
	}
	if thumbnail != 0 && thumbnail != 3 {
		wrong("%d of the thumbnail's three members are there", thumbnail)
	}
	for name, most := range map[string]int{"width": maxWidth, "thumbnail_width": maxWidth, "height": maxHeight, "thumbnail_height": maxHeight} {
		if n, ok := m[name].(int); ok && most > 0 && n > most {
			wrong("%s is %d, over the maximum %d", name, n, most)
		}
	}
	return list
}

func TestTheOEmbedValidatorSeesWhatBreaksTheSpecification(t *testing.T) {
	const good = `"version":"1.0","type":"rich","html":"<p>","width":3,"height":4`
	const thumb = `,"thumbnail_url":"https://x.example/y","thumbnail_width":5,"thumbnail_height":6`
	for text, says := range map[string]string{
		`{` + good + `}`:                                        "",
		`{` + good + thumb + `,"cache_age":1}`:                  "",
		`{"version":"1.0","type":"link"}`:                       "",
		`{` + good + `} {}`:                                     "after the object",
		`[]`:                                                    "begins with",
		`{` + good + `,"type":"rich"}`:                          "twice",
		`{` + good + `,"cache_age":1.5}`:                        "no whole number",
		`{` + good + `,"cache_age":"1"}`:                        "cache_age is 1, and no",
		`{` + good + `,"cache_age":null}`:                       "cache_age is <nil>",
		`{` + good + `,"title":7}`:                              "title is 7, and no text",
		`{` + good + `,"provider_url":"/"}`:                     "no full URL",
		`{"version":1,"type":"link"}`:                           "version is 1",
		`{"version":"1.0","type":"lesson"}`:                     "type is lesson",
		`{"version":"1.0","type":"rich","width":9}`:             "html is missing",
		`{"version":"1.0","type":"photo"}`:                      "url is missing",
		`{` + good + `,"thumbnail_width":1}`:                    "1 of the thumbnail's",
		strings.Replace(`{`+good+`}`, "3", "11", 1):             "width is 11, over",
		strings.Replace(`{`+good+`}`, "4", "21", 1):             "height is 21, over",
		strings.Replace(`{`+good+`}`, "4", "0", 1):              "height is 0, and no",
		`{` + good + strings.Replace(thumb, "6", "21", 1) + `}`: "thumbnail_height is 21, over",
	} {
		m, err := readOEmbedJSON(text)
		got := fmt.Sprint(m.problems(10, 20), err)
		if says == "" && got != "[] <nil>" || !strings.Contains(got, says) {
			t.Errorf("%s: %s, want %q", text, got, says)
		}
	}
	const head = `<?xml version="1.0" encoding="utf-8" standalone="yes"?>`
	const inside = `<version>1.0</version><type>rich</type><html>&lt;p&gt;</html><width>3</width><height>4</height>`
	for text, says := range map[string]string{
		head + "\n<oembed>\n" + inside + "</oembed>\n":                           "",
		head + `<oembed>` + inside:                                               "EOF",
		`<oembed>` + inside + `</oembed>`:                                        "begins with",
		head + `<embed>` + inside + `</embed>`:                                   "<embed> at depth 1",
		head + `<oembed v="1">` + inside + `</oembed>`:                           "attributes",
		head + `<oembed>` + inside + `<a><b/></a></oembed>`:                      "<b> at depth 3",
		head + `<oembed>` + inside + `<width>3</width></oembed>`:                 "twice",
		head + `<oembed>x` + inside + `</oembed>`:                                "between",
		head + `<oembed>` + strings.Replace(inside, "3", "3px", 1) + `</oembed>`: "width is 3px, and no",
	} {
		m, err := readOEmbedXML(text)
		got := fmt.Sprint(m.problems(10, 20), err)
		if says == "" && got != "[] <nil>" || !strings.Contains(got, says) {
			t.Errorf("%s: %s, want %q", text, got, says)
		}
	}
}

// askOEmbed gets an answer in both formats and holds it against the
// specification.
func (c *served) askOEmbed(link string, maxWidth, maxHeight int) members {
	c.t.Helper()
	query := url.Values{"url": {link}}
	if maxWidth > 0 {
		query.Set("maxwidth", strconv.Itoa(maxWidth))
	}
	if maxHeight > 0 {
		query.Set("maxheight", strconv.Itoa(maxHeight))
	}
	var answers []members
	for _, format := range []struct {
		name, kind string
		read       func(string) (members, error)
	}{{"", "application/json", readOEmbedJSON}, {"json", "application/json", readOEmbedJSON}, {"xml", "text/xml", readOEmbedXML}} {
		query.Del("format")
		if format.name != "" {
			query.Set("format", format.name)
		}
		path := "/oembed?" + query.Encode()
		resp, body := c.get(path)
		if kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";"); resp.StatusCode != http.StatusOK || kind != format.kind {
			c.t.Fatalf("%s: %s, %s: %.300s", path, resp.Status, kind, body)
		}
		m, err := format.read(body)
		if err != nil {
			c.t.Fatalf("%s: %v in %s", path, err, body)
		}
		for _, problem := range m.problems(maxWidth, maxHeight) {
			c.t.Errorf("%s: %s", path, problem)
		}
		answers = append(answers, m)
	}
	for _, other := range answers[1:] {
		if !maps.Equal(answers[0], other) {
			c.t.Errorf("%s: the formats differ: %v and %v", link, answers[0], other)
		}
	}
	return answers[0]
}

// frameOf reads the one element of an answer's html as the browser does.
func frameOf(t *testing.T, m members) map[string]string {
	t.Helper()
	text := fmt.Sprint(m["html"])
	whole := regexp.MustCompile(`^<iframe((?: [a-z]+="[^"<>]*")+)></iframe>$`).FindStringSubmatch(text)
	if whole == nil {
		t.Fatalf("no frame: %s", text)
	}
	attributes := map[string]string{}
	for _, a := range regexp.MustCompile(` ([a-z]+)="([^"]*)"`).FindAllStringSubmatch(whole[1], -1) {
		attributes[a[1]] = html.UnescapeString(a[2])
	}
	return attributes
}

func TestOEmbedAnswersKeepToTheSpecification(t *testing.T) {
	c := startCourse(t)
	titles := map[string]string{}
	for _, l := range c.server.lessons.All() {
		titles[l.About().ID] = l.About().Title
	}
	maxima := [][2]int{{0, 0}, {1, 1}, {320, 0}, {0, 400}, {600, 500}, {1200, 630}, {1199, 0}, {0, 629}, {639, 0}, {640, 0}, {639, 519}, {1200, 0}, {5000, 100_000}}
	for lesson, views := range map[string][]string{
		"drain": {"", "?grace=10&t=42", "?model=1&workers=2&worker=2&speed=4&x=slots&y=workers", "?hide=text,trace&lock=all&predict=required",
			"?grace=5&b.grace=20&p.completed=5&p.dies=none&t=60", "?hide=controls,trace,results,inspector,text", "?panel=settings", "?panel=guide"},
		"clocks":  {"", "?model=1&platform=kubernetes&x=margin&y=long", "?server_timeout=none&cleanup_budget=none&gate=term", "?panel=map&t=3"},
		"ledgers": {"", "?stop_token=1&graceful_timeout=2.5", "?panel=record"},
		"toy":     {"", "?limit=9&panel=wide&t=4"},
	} {
		for _, view := range views {
			for _, under := range []string{"", "/embed"} {
				link := c.url + under + "/lessons/" + lesson + view
				for _, most := range maxima {
					m := c.askOEmbed(link, most[0], most[1])
					if m["type"] != "rich" || m["title"] != titles[lesson] || m["provider_name"] != "Drainlab" || m["provider_url"] != c.url+"/" || m["cache_age"] != 86400 {
						t.Errorf("%s: %v", link, m)
					}
					fits := (most[0] == 0 || most[0] >= 1200) && (most[1] == 0 || most[1] >= 630)
					if _, there := m["thumbnail_url"]; there != fits {
						t.Errorf("%s within %v: a thumbnail is %v", link, most, there)
					}
					frame := frameOf(t, m)
					if frame["title"] != "Drainlab: "+titles[lesson] || frame["height"] != fmt.Sprint(m["height"]) || frame["loading"] != "lazy" || frame["width"] != "100%" {
						t.Errorf("%s: the frame is %v", link, frame)
					}
					if bounded := strings.Contains(frame["style"], fmt.Sprintf("max-width:%dpx", m["width"])); bounded != (most[0] > 0) {
						t.Errorf("%s within %v: the frame's style is %s", link, most, frame["style"])
					}
					if !strings.HasPrefix(frame["src"], c.url+"/embed/lessons/"+lesson) || !c.sameView(frame["src"], link) {
						t.Errorf("%s: the frame shows %s", link, frame["src"])
					}
					if named := strings.Contains(view, "panel="); strings.Contains(frame["src"], "panel=") != named {
						t.Errorf("%s: the frame shows %s", link, frame["src"])
					}
					if width := m["width"].(int); width != min(960, cmp.Or(most[0], 960)) {
						t.Errorf("%s within %v is %d wide", link, most, width)
					}
					// The stage alone is 440 high, in a narrow column 520; with a panel the
					// frame has room for both.
					height := 440
					switch {
					case strings.Contains(view, "panel="):
						height = 900
					case most[0] > 0 && most[0] < 640:
						height = 520
					}
					if got := m["height"].(int); got != min(height, cmp.Or(most[1], height)) {
						t.Errorf("%s within %v is %d high", link, most, got)
					}
				}
			}
		}
	}
}

func TestWhatAnOEmbedAnswerNamesIsThere(t *testing.T) {
	c := startCourse(t)
	for _, link := range []string{"/lessons/drain?grace=10&t=42&hide=text", "/lessons/drain?predict=required", "/lessons/clocks?platform=kubernetes", "/lessons/ledgers?join_work=1"} {
		m := c.askOEmbed(c.url+link, 0, 0)
		for what, address := range map[string]string{"frame": frameOf(t, m)["src"], "thumbnail": m["thumbnail_url"].(string), "provider": m["provider_url"].(string)} {
			path, ours := strings.CutPrefix(address, c.url)
			resp, body := c.get(path)
			if !ours || resp.StatusCode != http.StatusOK {
				t.Errorf("%s: the %s is %s, %s", link, what, address, resp.Status)
			}
			switch what {
			case "frame":
				if policy := resp.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "frame-ancestors *") {
					t.Errorf("%s: the frame's policy is %s", link, policy)
				}
			case "thumbnail":
				size, err := png.DecodeConfig(strings.NewReader(body))
				if err != nil || size.Width != m["thumbnail_width"] || size.Height != m["thumbnail_height"] {
					t.Errorf("%s: the thumbnail is %v, %v", link, size, err)
				}
			}
		}
	}
	_, given := c.get("/lessons/drain/card.png?grace=10&t=42")
	if _, card := c.get(strings.TrimPrefix(c.askOEmbed(c.url+"/lessons/drain?grace=10&t=42", 0, 0)["thumbnail_url"].(string), c.url)); card != given {
		t.Error("the thumbnail is not the view's card")
	}
}

func TestOEmbedTakesALessonsAddressHoweverItIsWritten(t *testing.T) {
	c := startCourse(t)
	host := strings.TrimPrefix(c.url, "http://")
	want := c.askOEmbed(c.url+"/lessons/drain?grace=10", 0, 0)
	for _, link := range []string{"https://" + host + "/lessons/drain?grace=10", "HTTP://" + host + "/lessons/drain?grace=10", c.url + "/lessons/drain?grace=10#?secret=abc",
		c.url + "/lessons/drain?grace=10#%zz", c.url + "/embed/lessons/drain?grace=10.0&t=0&speed=1&model=1"} {
		if got := c.askOEmbed(link, 0, 0); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", link, got, want)
		}
	}
	// A host's own parameters are none of ours.
	resp, _ := c.get("/oembed?dnt=1&_embed&callback=x&url=" + url.QueryEscape(c.url+"/lessons/drain"))
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Cache-Control") != "public, max-age=86400" || resp.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("with parameters of the host's own: %s %v", resp.Status, resp.Header)
	}
	if head, _ := c.do(http.MethodHead, "/oembed?url="+url.QueryEscape(c.url+"/lessons/drain"), nil); head.StatusCode != http.StatusOK {
		t.Errorf("HEAD: %s", head.Status)
	}

	c.server.site.PublicURL = "https://Drainlab.example"
	want = c.askOEmbed("https://drainlab.example/lessons/clocks?grace=20", 0, 0)
	if src := frameOf(t, want)["src"]; src != "https://Drainlab.example/embed/lessons/clocks?model=1&grace=20" {
		t.Errorf("under the public URL the frame is %s", src)
	}
	for _, link := range []string{"https://DRAINLAB.EXAMPLE:443/lessons/clocks?grace=20", "http://drainlab.example:80/lessons/clocks?grace=20", "http://drainlab.example/embed/lessons/clocks?grace=20"} {
		if got := c.askOEmbed(link, 0, 0); !maps.Equal(got, want) {
			t.Errorf("%s: %v", link, got)
		}
	}
	if resp, _ := c.get("/oembed?url=" + url.QueryEscape(c.url+"/lessons/clocks")); resp.StatusCode != http.StatusNotFound {
		t.Errorf("not under the public URL: %s", resp.Status)
	}
}

func TestOEmbedRefusesWhatItCannotAnswer(t *testing.T) {
	c := startCourse(t)
	host := strings.TrimPrefix(c.url, "http://")
	good := "url=" + url.QueryEscape(c.url+"/lessons/drain")
	for query, want := range map[string]struct {
		status int
		says   string
	}{
		"":                                       {400, `"url": got "nothing"`},
		"url=":                                   {400, `"url": got "nothing"`},
		good + "&" + good:                        {400, `"url": got`},
		good + "&a;b":                            {400, "cannot be read"},
		good + "&format=yaml":                    {501, `"format": got "yaml"`},
		good + "&format=JSON":                    {501, `"format": got "JSON"`},
		good + "&format=":                        {501, `"format": got ""`},
		good + "&maxwidth=0":                     {400, `"maxwidth": got "0"; allowed: a whole number of pixels, 1 or more`},
		good + "&maxwidth=-1":                    {400, `"maxwidth": got "-1"`},
		good + "&maxwidth=%2B5":                  {400, `"maxwidth": got "+5"`},
		good + "&maxwidth=abc":                   {400, `"maxwidth": got "abc"`},
		good + "&maxwidth=600px":                 {400, `"maxwidth": got "600px"`},
		good + "&maxheight=1.5":                  {400, `"maxheight": got "1.5"`},
		good + "&maxheight=1e3":                  {400, `"maxheight": got "1e3"`},
		good + "&maxheight=":                     {400, `"maxheight": got ""`},
		good + "&maxheight=1&maxheight=2":        {400, `"maxheight": got "1, 2"`},
		good + "&maxheight=99999999999999999999": {400, `"maxheight": got`},
	} {
		c.expectRefusal("/oembed?"+query, want.status, want.says)
	}
	for link, says := range map[string]string{
		"https://elsewhere.example/lessons/drain":                  "this server is " + c.url,
		c.url + ".elsewhere.example/lessons/drain":                 "no URL",
		"http://" + host + "1/lessons/drain":                       "",
		"http://x@" + host + "/lessons/drain":                      "this server is",
		"http://" + strings.Split(host, ":")[0] + "/lessons/drain": "this server is",
		"ftp://" + host + "/lessons/drain":                         "this server is",
		"//" + host + "/lessons/drain":                             "this server is",
		"http:" + host + "/lessons/drain":                          "",
		"/lessons/drain":                                           "this server is",
		"::":                                                       "no URL",
		c.url:                                                      "can be embedded",
		c.url + "/":                                                "can be embedded",
		c.url + "/lessons/drain/":                                  "can be embedded",
		c.url + "/lessons/drain/card.png":                          "can be embedded",
		c.url + "/Lessons/drain":                                   "can be embedded",
		c.url + "/lessons%2Fdrain":                                 "can be embedded",
		c.url + "/embed/embed/lessons/drain":                       "can be embedded",
		c.url + "/embed/doctor":                                    "can be embedded",
		c.url + "/lessons/ledgers/runs/x":                          "can be embedded",
		c.url + "/lessons/drain?grace=31":                          `"grace": got "31"`,
		c.url + "/lessons/drain?graze=3":                           `"graze"`,
		c.url + "/lessons/drain?model=2":                           `"model"`,
		c.url + "/lessons/drain?grace=1;t=2":                       "cannot be read",
		c.url + "/lessons/drain?grace=%zz":                         "cannot be read",
		c.url + "/lessons/clocks?platform=mainframe":               `"platform"`,
		c.url + "/lessons/clocks?t=3000":                           `"t"`,
		c.url + "/lessons/ledgers?t=3":                             `"t"`,
		c.url + "/lessons/toy?predict=required":                    `"predict"`,
		c.url + "/lessons/drain?panel=none":                        `"panel"`,
		c.url + "/lessons/drain/share?grace=3":                     "can be embedded",
		c.url + "/lessons/ledgers?join_work=2":                     `"join_work"`,
		c.url + "/sessions/abc":                                    "can be embedded",
		c.url + "/lessons/drain?x=" + strings.Repeat("y", 9000):    "There is no lesson",
	} {
		c.expectRefusal("/oembed?url="+url.QueryEscape(link), http.StatusNotFound, says)
		c.expectRefusal("/oembed?format=xml&url="+url.QueryEscape(link), http.StatusNotFound, says)
	}
}

func (c *served) expectRefusal(path string, status int, says string) {
	c.t.Helper()
	resp, body := c.get(path, "Accept", "application/json")
	var e struct{ Error string }
	if err := json.Unmarshal([]byte(body), &e); err != nil || resp.StatusCode != status || !strings.Contains(e.Error, says) || e.Error == "" || len(e.Error) > 1000 {
		c.t.Errorf("%.200s: %s %.300q, want %d with %q", path, resp.Status, e.Error, status, says)
	}
	if got := resp.Header.Get("Cache-Control"); got != "no-store" {
		c.t.Errorf("%.200s: Cache-Control is %q", path, got)
	}
}

// A host reads a page's head and finds there where to ask for its embedding.
func TestAPageLeadsToItsOwnEmbedding(t *testing.T) {
	c := startCourse(t)
	links := regexp.MustCompile(`<link rel="alternate" type="([^"]*)" href="([^"]*)" title="([^"]*)">`)
	for _, page := range []string{"/lessons/drain", "/lessons/drain?grace=10&t=42&worker=1", "/lessons/drain?hide=text&lock=grace,handler&predict=required",
		"/lessons/drain?grace=5&b.grace=20&p.killed=3&t=60&x=slots", "/lessons/clocks", "/lessons/clocks?platform=docker&x=long&hide=text&lock=grace", "/lessons/ledgers", "/lessons/ledgers?join_work=1", "/lessons/toy?limit=9&t=4&panel=wide"} {
		_, body := c.get(page)
		head, _, found := bytes.Cut([]byte(body[:min(len(body), 150_000)]), []byte("</head>"))
		if !found {
			t.Errorf("%s: the head does not end within 150 kB", page)
		}
		seen := map[string]int{}
		for _, link := range links.FindAllSubmatch(head, -1) {
			kind, address := string(link[1]), html.UnescapeString(string(link[2]))
			read := map[string]func(string) (members, error){"application/json+oembed": readOEmbedJSON, "text/xml+oembed": readOEmbedXML}[kind]
			if read == nil {
				continue
			}
			seen[kind]++
			path, full := strings.CutPrefix(address, c.url+"/")
			if !full || len(link[3]) == 0 {
				t.Errorf("%s: the address of %s is %q, its title %q", page, kind, address, link[3])
				continue
			}
			resp, answer := c.get("/" + path)
			m, err := read(answer)
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Errorf("%s: %s answers %s, %v", page, address, resp.Status, err)
				continue
			}
			if problems := m.problems(0, 0); problems != nil {
				t.Errorf("%s: %v", page, problems)
			}
			if src := frameOf(t, m)["src"]; !c.sameView(src, page) {
				t.Errorf("%s leads to a frame of %s", page, src)
			}
		}
		if seen["application/json+oembed"] != 1 || seen["text/xml+oembed"] != 1 {
			t.Errorf("%s: the head has %v", page, seen)
		}
	}
}
