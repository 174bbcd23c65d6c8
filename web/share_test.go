package web

import (
	"encoding/xml"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drainlab/internal/course"
	"drainlab/web/answer"
)

// sharing is what the share dialog offers, read from its HTML.
type sharing struct {
	link, snippet, qr, handout, key string
	form                            url.Values // as it would be sent
	options                         url.Values // all that can be ticked
	files                           []string
}

func (c *served) share(path string) sharing {
	c.t.Helper()
	page := c.page(path, answer.ClientHeader, "true")
	s := sharing{
		link:    attribute(c.t, page, `id="share-link" readonly value="([^"]*)"`),
		snippet: attribute(c.t, page, `(?s)<textarea id="share-snippet"[^>]*>(.*?)</textarea>`),
		qr:      attribute(c.t, page, `<img src="([^"]*)" alt="QR code of the link"`),
		handout: attribute(c.t, page, `<a href="([^"]*)">Handout to print`),
		form:    url.Values{}, options: url.Values{},
	}
	if m := regexp.MustCompile(`<a href="([^"]*)">Answers to the handout`).FindStringSubmatch(page); m != nil {
		s.key = html.UnescapeString(m[1])
	}
	for _, input := range regexp.MustCompile(`<input [^>]*name="[^>]*>`).FindAllString(page, -1) {
		name, value := attribute(c.t, input, ` name="([^"]*)"`), attribute(c.t, input, ` value="([^"]*)"`)
		ticked := strings.Contains(input, " checked")
		if strings.Contains(input, `type="checkbox"`) {
			s.options[name] = append(s.options[name], value)
		}
		if ticked || strings.Contains(input, `type="hidden"`) {
			s.form[name] = append(s.form[name], value)
		}
	}
	for _, m := range regexp.MustCompile(`<a href="([^"]*)" download>`).FindAllStringSubmatch(page, -1) {
		s.files = append(s.files, html.UnescapeString(m[1]))
	}
	return s
}

func TestTheShareDialogMakesLinksOfTheViewAndItsOptions(t *testing.T) {
	c := startToys(t)
	for _, tc := range []struct{ query, link, frame string }{
		{"toy/share", "/lessons/toy?model=1", "/embed/lessons/toy?model=1"},
		{"toy/share?limit=9&t=4&speed=2", "/lessons/toy?model=1&limit=9", "/embed/lessons/toy?model=1&limit=9"},
		{"toy/share?limit=9&t=4&speed=2&at=1", "/lessons/toy?model=1&limit=9&t=4&speed=2", "/embed/lessons/toy?model=1&limit=9&t=4&speed=2"},
		{"toy/share?limit=9&hide=text&hide=trace&lock=limit", "/lessons/toy?model=1&limit=9&hide=trace,text&lock=limit", "/embed/lessons/toy?model=1&limit=9&hide=trace,text&lock=limit"},
		{"toy/share?lock=limit&lock=every", "/lessons/toy?model=1&lock=all", "/embed/lessons/toy?model=1&lock=all"},
		{"toy/share?panel=wide&t=3", "/lessons/toy?model=1&panel=wide", "/embed/lessons/toy?model=1&panel=wide"},
		{"late/share?t=4", "/lessons/late?model=3", "/embed/lessons/late?model=3"},
		{"late/share?t=4&at=1&count=9", "/lessons/late?model=3&count=9&t=4", "/embed/lessons/late?model=3&count=9&t=4"},
		{"late/share?t=60&at=1", "/lessons/late?model=3", "/embed/lessons/late?model=3"},
		{"counter/share?guess=7&t=4&at=1", "/lessons/counter?model=3&guess=7&t=4", "/embed/lessons/counter?model=3&guess=7&t=4"},
		{"counter/share?t=4&at=1&predict=required", "/lessons/counter?model=3&predict=required", "/embed/lessons/counter?model=3&predict=required"},
		{"counter/share?count=0", "/lessons/counter?model=3&count=0", "/embed/lessons/counter?model=3&count=0"},
	} {
		t.Run(tc.query, func(t *testing.T) {
			c := c.of(t)
			s := c.share("/lessons/" + tc.query)
			if s.link != c.url+tc.link {
				t.Errorf("the link is %s, want %s", s.link, tc.link)
			}
			frame := frameOf(t, members{"html": s.snippet})
			height := map[bool]string{false: "440", true: "900"}[strings.Contains(tc.frame, "panel=")]
			if frame["src"] != c.url+tc.frame || frame["height"] != height || !strings.HasPrefix(frame["title"], "Drainlab: ") {
				t.Errorf("the frame is %v, want %s %s px high", frame, tc.frame, height)
			}
			for _, path := range []string{tc.link, tc.frame, s.qr, s.handout} {
				c.page(path)
			}
			if s.key != "" {
				c.page(s.key)
			}
			if (s.key == "") != strings.Contains(tc.query, "predict") {
				t.Errorf("the answers are at %q", s.key)
			}
			if code, err := drawQR(s.link); err != nil || c.page(s.qr) != string(code) {
				t.Errorf("the QR code is not that of the link: %v", err)
			}
			// The dialog's own form says the same again.
			path, _, _ := strings.Cut(tc.query, "?")
			if again := c.share("/lessons/" + path + "?" + s.form.Encode()); again.link != s.link || again.snippet != s.snippet {
				t.Errorf("sent as it stands the form makes %s of %s", again.link, s.link)
			}
		})
	}
}

func TestTheShareDialogOffersWhatTheLessonHas(t *testing.T) {
	c := startCourse(t)
	for _, l := range c.server.lessons.All() {
		link := course.OpenLink(l)
		link.T = link.View.Run().End()
		s := c.share(link.At("share"))
		if !slices.Equal(s.options["hide"], course.Hideable()) {
			t.Errorf("%s: what can be left out is %v", l.About().ID, s.options["hide"])
		}
		var settings []string
		for _, info := range l.Settings() {
			settings = append(settings, info.Name)
		}
		if !slices.Equal(s.options["lock"], settings) {
			t.Errorf("%s: what can be locked is %v", l.About().ID, s.options["lock"])
		}
		if (s.options["predict"] != nil) != l.About().Predicts || (s.options["at"] != nil) != (link.T != course.OpenLink(l).T) {
			t.Errorf("%s: the options are %v", l.About().ID, s.options)
		}
		if _, offers := l.(answer.Offering); !offers && len(s.files) > 0 {
			t.Errorf("%s: the files are %v", l.About().ID, s.files)
		}
		for _, file := range s.files {
			c.page(file)
		}
		if id := l.About().ID; (id == "drain" || id == "clocks") && len(s.files) < 2 {
			t.Errorf("%s offers the files %v", id, s.files)
		}
		// The page for who has no script has the same, and a way back.
		page := c.page(link.At("share"))
		if !strings.Contains(page, html.EscapeString(s.link)) || !strings.Contains(page, `<a href="`+html.EscapeString(link.Address())+`">Back to the lesson</a>`) || !strings.Contains(page, `id="share-update"`) {
			t.Errorf("%s: the page lacks the link, the way back or its button", l.About().ID)
		}
	}
}

// A link that asks for a prediction takes none along, opens at 0, and the
// dialog keeps the time for when the demand is taken back.
func TestASharedDemandForAPredictionTakesNoneAlong(t *testing.T) {
	c := startCourse(t)
	s := c.share("/lessons/drain/share?t=30&at=1&p.completed=3&p.killed=4&predict=required")
	if strings.Contains(s.link, "&p.") || strings.Contains(s.link, "&t=") || !strings.HasSuffix(s.link, "?model=1&predict=required") {
		t.Errorf("the link is %s", s.link)
	}
	if s.form.Get("t") != "30" || s.form.Get("at") != "1" {
		t.Errorf("the form has lost the time: %v", s.form)
	}
	if len(s.files) > 0 || s.key != "" {
		t.Errorf("the answer is among %v, %s", s.files, s.key)
	}
	if s := c.share("/lessons/drain/share?t=30&at=1&p.completed=3"); !strings.Contains(s.link, "&t=30") || !strings.Contains(s.link, "p.completed=3") {
		t.Errorf("without the demand the link is %s", s.link)
	}
	for _, query := range []string{"predict=required&predict=required", "predict=yes"} {
		if resp, _ := c.get("/lessons/drain/share?" + query); resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %s", query, resp.Status)
		}
	}
}

func TestQRCodesAreWholePictures(t *testing.T) {
	for _, link := range []string{"https://d.example/", "https://d.example/lessons/drain?model=1&grace=10&p.dies=" + strings.Repeat("13,", 200)} {
		code, err := drawQR(link)
		if err != nil {
			t.Fatal(err)
		}
		var svg struct {
			ViewBox string `xml:"viewBox,attr"`
			Title   string `xml:"title"`
			Path    struct {
				D string `xml:"d,attr"`
			} `xml:"path"`
		}
		if err := xml.Unmarshal(code, &svg); err != nil {
			t.Fatal(err)
		}
		var size, other int
		if _, err := fmt.Sscanf(svg.ViewBox, "0 0 %d %d", &size, &other); err != nil || size != other || svg.Title == "" {
			t.Fatalf("the picture is %q, %q", svg.ViewBox, svg.Title)
		}
		// The three corners that a reader looks for, four modules from the edge.
		for _, corner := range []string{"M4 4h7", fmt.Sprintf("M%d 4h7", size-11), fmt.Sprintf("M4 %dh7", size-5)} {
			if !strings.Contains(svg.Path.D, corner) {
				t.Errorf("%.60s: the code lacks %s", link, corner)
			}
		}
	}
	if _, err := drawQR(strings.Repeat("x", 3000)); err == nil {
		t.Error("a link that no code can hold is drawn")
	}
}
