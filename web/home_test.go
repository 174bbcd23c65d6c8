package web

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// What other sites read of a page's head.
func headOf(t testing.TB, page string) map[string]string {
	t.Helper()
	head, _, found := strings.Cut(page, "</head>")
	if !found {
		t.Fatal("the page has no head")
	}
	all := map[string]string{}
	for _, m := range regexp.MustCompile(`<meta (?:property|name)="([^"]*)" content="([^"]*)">`).FindAllStringSubmatch(head, -1) {
		if _, twice := all[m[1]]; twice && m[1] != "theme-color" {
			t.Errorf("%s is there twice", m[1])
		}
		all[m[1]] = html.UnescapeString(m[2])
	}
	if m := regexp.MustCompile(`<link rel="canonical" href="([^"]*)">`).FindStringSubmatch(head); m != nil {
		all["canonical"] = html.UnescapeString(m[1])
	}
	return all
}

func TestHomeLeadsToEveryLesson(t *testing.T) {
	c := startCourse(t)
	page := c.page("/")
	ids(t, page)
	minutes := 0
	for _, l := range c.server.lessons.All() {
		a := l.About()
		minutes += a.Minutes
		if !regexp.MustCompile(`<h3><a href="` + a.Path() + `"><span class="lesson-n">` + strconv.Itoa(a.Number) + `</span> ` + html.EscapeString(a.Title) + `</a></h3>`).MatchString(page) {
			t.Errorf("no way to lesson %d, %s", a.Number, a.Title)
		}
		if !strings.Contains(page, html.EscapeString(a.Lead)) || !strings.Contains(words(page), fmt.Sprintf("about %d minute", a.Minutes)) {
			t.Errorf("lesson %d is not announced", a.Number)
		}
	}
	if !strings.Contains(words(page), fmt.Sprintf("About %d minutes", minutes)) {
		t.Errorf("the course's %d minutes are not told", minutes)
	}
	if begin := attribute(t, page, `href="([^"]*)" id="begin"`); begin != c.server.lessons.All()[0].About().Path() {
		t.Errorf("it begins at %s", begin)
	}
	for _, m := range regexp.MustCompile(`<img [^>]*src="([^"]*)" alt="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		c.page(html.UnescapeString(m[1]))
	}
	toys := startToys(t)
	if page := toys.page("/"); !strings.Contains(page, `href="/lessons/toy"`) || !strings.Contains(page, `href="/lessons/late"`) {
		t.Error("a course of other lessons has another front page")
	}
}

func TestPagesTellOtherSitesWhatTheyAre(t *testing.T) {
	c := startCourse(t)
	paths := map[string]string{"/": "/"} // and the address that is told
	for _, l := range c.server.lessons.All() {
		a := l.About()
		model := "?model=" + strconv.Itoa(a.Model)
		paths[a.Path()] = a.Path() + model
		paths[a.Path()+"?lock=all&hide=text"] = a.Path() + model + "&hide=text&lock=all"
	}
	paths["/lessons/drain?grace=10&t=42"] = "/lessons/drain?model=1&grace=10&t=42"
	paths["/embed/lessons/drain?grace=10"] = "/lessons/drain?model=1&grace=10"
	for path, told := range paths {
		head := headOf(t, c.page(path))
		for _, name := range []string{"description", "og:title", "og:description", "og:image:alt", "viewport", "og:site_name"} {
			if head[name] == "" {
				t.Errorf("%s: no %s", path, name)
			}
		}
		for name, want := range map[string]string{"og:url": c.url + told, "canonical": c.url + told, "og:type": "article", "og:image:width": "1200", "og:image:height": "630", "og:image:type": "image/png", "twitter:card": "summary_large_image"} {
			if head[name] != want {
				t.Errorf("%s: %s is %q, want %q", path, name, head[name], want)
			}
		}
		image, ours := strings.CutPrefix(head["og:image"], c.url)
		if resp, _ := c.get(image); !ours || resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "image/png" {
			t.Errorf("%s: the image %s is %s", path, head["og:image"], resp.Status)
		}
	}
	// What is no view of a run tells nothing but its description.
	for _, path := range []string{"/teach", "/lessons/drain/share", "/lessons/drain/handout", "/lessons/drain/about", "/nowhere"} {
		_, page := c.get(path)
		if head := headOf(t, page); head["og:url"] != "" || head["canonical"] != "" {
			t.Errorf("%s is told as %v", path, head)
		}
	}
}

// The base of absolute addresses is the request's, or what the server is told.
func TestAddressesAreThoseThatTheWorldUses(t *testing.T) {
	c := startToys(t)
	for _, tc := range []struct{ proto, want string }{{"", "http://" + strings.TrimPrefix(c.url, "http://")}, {"https", "https://" + strings.TrimPrefix(c.url, "http://")}, {"HTTPS", "https://" + strings.TrimPrefix(c.url, "http://")}, {"gopher", c.url}} {
		if got := headOf(t, c.page("/lessons/toy", "X-Forwarded-Proto", tc.proto))["og:url"]; got != tc.want+"/lessons/toy?model=1" {
			t.Errorf("behind %q: %s", tc.proto, got)
		}
	}
	public := start(t, Site{PublicURL: "https://course.example"}, toys()...)
	if got := headOf(t, public.page("/lessons/toy"))["og:image"]; got != "https://course.example/lessons/toy/card.png" {
		t.Errorf("under its public address: %s", got)
	}
}
