package clocks

import (
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	model "drainlab/internal/clocks"
	"drainlab/internal/course"
)

// viewOf is the view that a query says.
func viewOf(t testing.TB, query string) View {
	t.Helper()
	return linkOf(t, query).View.(View)
}

// anyView draws a view: settings, perhaps a platform, perhaps other axes.
func anyView(r *rand.Rand) View {
	v := newView(anyTermination(r), nil, openX, openY)
	if r.IntN(2) == 0 {
		p := model.Platforms()[r.IntN(len(model.Platforms()))]
		v = newView(v.settings, &p, v.x, v.y)
	}
	if names := settingNames(); r.IntN(2) == 0 {
		i, j := r.IntN(len(names)), r.IntN(len(names)-1)
		if j >= i {
			j++
		}
		v = newView(v.settings, v.platform, names[i], names[j])
	}
	return v
}

func TestAViewIsReadBackFromItsQuery(t *testing.T) {
	r := seeded(t)
	for range 2000 {
		v := anyView(r)
		got := viewOf(t, v.Query())
		if got.settings != v.settings || !same(got.platform, v.platform) || got.x != v.x || got.y != v.y || got.Query() != v.Query() {
			t.Fatalf("%q is read as %q", v.Query(), got.Query())
		}
		shared := viewOf(t, v.Shared())
		if shared.settings != v.settings || !same(shared.platform, v.platform) || shared.x != openX || shared.y != openY || shared.Query() != v.Shared() {
			t.Fatalf("%q is shared as %q", v.Query(), shared.Query())
		}
		// As links were written before: every setting, then platform and axes.
		old := string(v.settings.AppendQuery(nil))
		if v.platform != nil {
			old += "&platform=" + v.platform.ID
		}
		if old = old + "&x=" + v.x + "&y=" + v.y; viewOf(t, old).Query() != v.Query() {
			t.Fatalf("%q is read as %q", old, viewOf(t, old).Query())
		}
	}
}

func TestALinkSaysWhatIsNotAtItsOpening(t *testing.T) {
	for query, want := range map[string]string{
		"":                           "",
		"grace=30&prestop=5":         "",
		"platform=none&x=grace":      "",
		"platform=docker":            "platform=docker",
		"platform=docker&grace=10":   "platform=docker",
		"platform=docker&grace=30":   "platform=docker&grace=30",
		"grace=10&hook_in_grace=0":   "grace=10&hook_in_grace=0",
		"y=long&x=prestop&margin=3":  "margin=3&x=prestop&y=long",
		"hide=text&lock=margin&t=16": "hide=text&lock=margin",
		"t=3&speed=2":                "t=3&speed=2",
		"panel=guide&speed=1":        "",
		"panel=map":                  "panel=map",
	} {
		if got := linkOf(t, query).Query(); got != want {
			t.Errorf("%q is written as %q, want %q", query, got, want)
		}
	}
}

func TestALinkWithoutAnInstantShowsTheWholeRun(t *testing.T) {
	l := New()
	if link := course.OpenLink(l); !link.Seen() || link.T != 160 {
		t.Errorf("the lesson opens at %v", link.T)
	}
	if link := linkOf(t, "grace=5"); !link.Seen() || link.Query() != "grace=5" {
		t.Errorf("%q opens at %v", link.Query(), link.T)
	}
	link := linkOf(t, "t=0")
	if link.Seen() || link.Query() != "t=0" {
		t.Errorf("%q opens at %v", link.Query(), link.T)
	}
	// Who sees the whole of one run sees the whole of the next.
	longer := viewOf(t, "long=30")
	if next := course.OpenLink(l).With(longer); !next.Seen() || next.T <= 160 {
		t.Errorf("the longer run stands at %v", next.T)
	}
	if next := link.With(longer); next.T != 0 {
		t.Errorf("from 0 it stands at %v", next.T)
	}
}

func TestAPlatformSetsItsDefaultsOnceAndStands(t *testing.T) {
	change := func(v View, query string) View {
		t.Helper()
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		next, err := v.Change(values)
		if err != nil {
			t.Fatal(err)
		}
		return next.(View)
	}
	v := change(viewOf(t, "grace=77&long=33"), "platform=fly")
	if v.Query() != "platform=fly&long=33" || v.settings.Grace != 50 {
		t.Errorf("fly is %q", v.Query())
	}
	if v = change(v, "grace=9"); v.Query() != "platform=fly&grace=9&long=33" {
		t.Errorf("with another grace it is %q", v.Query())
	}
	// A whole form says the platform that stands, too.
	if v = change(v, "platform=fly&margin=3"); v.Query() != "platform=fly&grace=9&long=33&margin=3" {
		t.Errorf("with another margin it is %q", v.Query())
	}
	if v = change(v, "platform=ec2-spot&grace=60"); v.Text("platform") != "ec2-spot" || v.settings.Grace != 600 || v.settings.SignalHandled {
		t.Errorf("EC2 is %q", v.Query())
	}
	if v = change(v, "platform=none"); v.Text("platform") != "none" || v.settings.Grace != 600 {
		t.Errorf("without a platform it is %q", v.Query())
	}
}

func TestWhatALinkMayNotSayIsToldWithWhatIsAllowed(t *testing.T) {
	srv := served(t)
	for query, want := range map[string]string{
		"platform=mainframe": `&#34;platform&#34;: got &#34;mainframe&#34;; allowed: one of none, kubernetes, docker`,
		"x=nothing":          `&#34;x&#34;: got &#34;nothing&#34;; allowed: the name of a setting: grace, `,
		"y=grace":            "another setting than x",
		"x=prestop":          "another setting than x",
		"x=grace&x=grace":    "one value",
		"long=5&long_age=5":  "less than the 5 s",
		"predict=required":   "it asks for no prediction",
		"t=17":               "from 0 to 16 s",
		"grace=3601":         "from 0 to 3600 s",
		"pods=3":             "no setting of this name",
	} {
		for _, path := range []string{"/lessons/clocks", "/embed/lessons/clocks"} {
			a := get(t, srv, path+"?"+query)
			a.wantType(t, http.StatusBadRequest, "text/html")
			if !strings.Contains(string(a.body), want) {
				t.Errorf("%s?%s is told %.2000s", path, query, a.body)
			}
		}
	}
}

// Without script a form of which one value is refused loses nothing else.
func TestARefusedFormLeadsBackWithItsOtherValues(t *testing.T) {
	srv := served(t)
	link := regexp.MustCompile(`href="(/lessons/clocks\?[^"]+)"[^>]*>Back to lesson 3 with all other values<`)
	follow := func(name string, page reply, want ...string) {
		t.Helper()
		if page.StatusCode != http.StatusBadRequest {
			t.Fatalf("%s: status %d", name, page.StatusCode)
		}
		found := link.FindStringSubmatch(string(page.body))
		if found == nil {
			t.Fatalf("%s: there is no way back in %s", name, page.body)
		}
		_, query, _ := strings.Cut(strings.ReplaceAll(found[1], "&amp;", "&"), "?")
		pairs := strings.Split(query, "&")
		for _, pair := range want {
			if !slices.Contains(pairs, pair) {
				t.Errorf("%s: %s is missing in %s", name, pair, query)
			}
		}
		get(t, srv, "/lessons/clocks?"+query).wantType(t, http.StatusOK, "text/html")
	}
	base := clocksOf(t, "grace=40&long=30&signal_delay=3")
	form := func(changes string) url.Values {
		v, err := url.ParseQuery(string(base.AppendQuery(nil)))
		if err != nil {
			t.Fatal(err)
		}
		changed, err := url.ParseQuery(changes)
		if err != nil {
			t.Fatal(err)
		}
		for name := range changed {
			v[name] = changed[name]
		}
		delete(v, "cooperative") // a toggle that is off
		v.Set("command", "apply")
		v.Set("platform", "docker")
		v.Set("view", "platform=docker&grace=40&x=long&y=grace&hide=text&lock=margin")
		return v
	}
	for _, c := range []struct {
		changes string
		want    []string
	}{
		{"grace=9999", []string{"grace=40", "long=30", "signal_delay=3", "cooperative=0", "platform=docker", "x=long", "y=grace", "hide=text", "lock=margin"}},
		{"grace=50&prestop=x&cleanup=2", []string{"grace=50", "cleanup=2", "long=30"}},
		{"long=3&cleanup=4", []string{"signal_delay=3", "cleanup=4"}},
		{"long=3&long_age=2&margin=-1", []string{"long=3", "long_age=2"}},
		{"long=60&long_age=50&margin=-1", []string{"long=60", "long_age=50"}},
	} {
		page := ask(t, srv, http.MethodPost, "/lessons/clocks", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, strings.NewReader(form(c.changes).Encode()))
		follow(c.changes, page, c.want...)
	}
	follow("a link", get(t, srv, "/lessons/clocks?platform=fly&grace=9999&long=40&t=3&x=margin&hide=text&lock=grace&panel=map"),
		"platform=fly", "long=40", "t=3", "x=margin", "hide=text", "lock=grace", "panel=map")
}
