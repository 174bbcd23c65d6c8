package web

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drainlab/internal/course"
)

// The page docs/embedding.md.

func TestTheAddressesOfTheEmbeddingPageAnswer(t *testing.T) {
	c := startCourse(t)
	c.server.site.PublicURL = "https://drainlab.example"
	addresses := regexp.MustCompile("`(/(?:lessons|embed|oembed|teach|card)[^` ]*)`").FindAllStringSubmatch(readDoc(t, "embedding.md"), -1)
	if len(addresses) < 15 {
		t.Fatalf("%d addresses: the test looks at nothing", len(addresses))
	}
	for _, address := range addresses {
		if address[1] == "/embed" { // a prefix
			continue
		}
		resp, _ := c.get(address[1])
		if resp.StatusCode == http.StatusMovedPermanently {
			resp, _ = c.get(resp.Header.Get("Location"))
		}
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", address[1], resp.Status)
		}
	}
}

func TestTheEmbeddingPageNamesEveryParameter(t *testing.T) {
	c := startCourse(t)
	doc := readDoc(t, "embedding.md")
	names := slices.Concat(course.Hideable(), []string{"t", "speed", "panel", "worker", "model", "x", "y", "p.completed", "p.killed", "p.dies", "p.verdict", "a.", "run",
		"predict", "required", "hide", "lock", "all", "platform", "url", "maxwidth", "maxheight", "format", "json", "xml"})
	for _, l := range c.server.lessons.All() {
		if l.About().ID == "toy" {
			continue
		}
		for _, tab := range l.Tabs() {
			names = append(names, tab.ID)
		}
	}
	for _, name := range names {
		if !strings.Contains(doc, "`"+name+"`") && !strings.Contains(doc, "`"+name+"=") {
			t.Errorf("docs/embedding.md does not name %s", name)
		}
	}
}

// The page's table says which tabs go with which part.
func TestTheEmbeddingPageSaysWhatHideLeavesOut(t *testing.T) {
	c := startCourse(t)
	rows := map[string][]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (.*) \\|$").FindAllStringSubmatch(readDoc(t, "embedding.md"), -1) {
		if cells := strings.Split(m[2], "|"); slices.Contains(course.Hideable(), m[1]) && len(cells) == 3 {
			rows[m[1]] = cells
		}
	}
	if len(rows) != len(course.Hideable()) {
		t.Fatalf("the table has %v", slices.Sorted(maps.Keys(rows)))
	}
	for i, l := range c.server.lessons.All()[:3] {
		for _, tab := range l.Tabs() {
			for part, cells := range rows {
				says := slices.Contains(strings.Split(strings.TrimSpace(cells[i]), ", "), tab.Name)
				if says != (tab.Hide == part) && !(part == "text" && tab.ID == "guide") {
					t.Errorf("lesson %d: the page says that %s leaves out %s: %t", i+1, part, tab.Name, says)
				}
			}
		}
	}
}

func TestTheEmbeddingPagesFrameIsTheOneThatIsHandedOut(t *testing.T) {
	c := startCourse(t)
	c.server.site.PublicURL = "https://drainlab.example"
	for _, block := range fenced(readDoc(t, "embedding.md"), "html") {
		code := strings.TrimSpace(block)
		if !strings.HasPrefix(code, "<iframe") {
			continue
		}
		given, want := frameOf(t, members{"html": code}), frameOf(t, c.askOEmbed("https://drainlab.example/lessons/drain?grace=10", 0, 0))
		if !maps.Equal(given, want) {
			t.Errorf("the page's frame is %v, what is handed out %v", given, want)
		}
		return
	}
	t.Error("the page has no frame")
}

// The heights that the page tells are those of the frames.
func TestTheEmbeddingPageTellsTheHeightsOfFrames(t *testing.T) {
	doc := readDoc(t, "embedding.md")
	for _, height := range []int{frameHeight, tallHeight, panelHeight} {
		if !strings.Contains(doc, fmt.Sprint(height)) {
			t.Errorf("docs/embedding.md does not tell of %d px", height)
		}
	}
}
