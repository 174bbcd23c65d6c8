package web

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A part of the style whose file is in no layer would be served to nobody.
func TestEveryPartOfTheStyleIsServed(t *testing.T) {
	entries, err := staticFiles.ReadDir("static/style")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(styleLayers, strings.TrimSuffix(e.Name(), ".css")) {
			t.Errorf("static/style/%s is in none of the layers %v", e.Name(), styleLayers)
		}
	}
}

func TestLessonsStylesStandInTheirLayer(t *testing.T) {
	a, err := loadAssets(map[string]string{"lanes": "/* said */ .lane { fill: red; }\n", "clocks": ".clock { fill: blue; }\n"})
	if err != nil {
		t.Fatal(err)
	}
	served := func(name string) string { return string(a.byURL[a.urls[name]].plain) }
	style := served("style.css")
	if !strings.HasPrefix(style, "@layer tokens, base,") || !strings.Contains(style[:200], ", lesson, embed") {
		t.Errorf("the style begins with %.200q, want the order of its layers", style)
	}
	for name, want := range map[string]string{"lanes.css": "@layer lesson {\n.lane { fill: red; }\n}\n", "clocks.css": "@layer lesson {\n.clock { fill: blue; }\n}\n"} {
		if got := served(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if strings.Contains(style, "/*") {
		t.Error("the style is served with its comments")
	}
	if strings.Count(style, "{") != strings.Count(style, "}") {
		t.Error("the style's braces do not match")
	}
}

// A page loads the rules of the lessons that it shows something of, after those
// that all have, and no others.
func TestAPageLoadsTheRulesOfTheLessonsThatItShows(t *testing.T) {
	c := startCourse(t)
	for path, want := range map[string][]string{
		"/":                        {"style", "drain", "ledgers", "clocks"},
		"/teach":                   {"style"},
		"/nowhere":                 {"style"},
		"/lessons/drain":           {"style", "drain"},
		"/embed/lessons/clocks":    {"style", "clocks"},
		"/lessons/ledgers/handout": {"style", "ledgers"},
		"/lessons/clocks/about":    {"style", "clocks"},
		"/lessons/toy":             {"style"},
		"/sessions/" + string(c.newSession("clocks", "")): {"style", "clocks"},
	} {
		_, page := c.get(path)
		var got []string
		for _, m := range regexp.MustCompile(`<link rel="stylesheet" href="/static/(\w+)\.[0-9a-f]+\.css">`).FindAllStringSubmatch(page, -1) {
			got = append(got, m[1])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s loads %v, want %v", path, got, want)
		}
	}
}
