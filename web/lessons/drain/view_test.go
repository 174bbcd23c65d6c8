package drain

import (
	"errors"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"drainlab/internal/course"
	"drainlab/internal/setting"
	"drainlab/internal/sim"
)

// linkOf is the link of a query.
func linkOf(t testing.TB, query string) course.Link {
	t.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	link, err := course.ParseLink(New(), values)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return link
}

func viewIn(link course.Link) *view { return link.View.(*view) }

// randomView draws a view with whatever a reader may choose.
func randomView(r *rand.Rand) *view {
	v := &view{lesson: New(), worker: 1, axes: openingAxes}
	v.set(randomSettings(r))
	v.worker += r.IntN(v.settings.WorkersEver())
	if r.IntN(2) == 0 {
		pinned := randomSettings(r)
		if r.IntN(4) == 0 {
			pinned = sim.Opening()
		}
		v.pinned = &pinned
	}
	names := settingNames()
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	if r.IntN(2) == 0 {
		v.axes = axes{x: names[0], y: names[1]}
	}
	if r.IntN(2) == 0 {
		v.prediction.Killed = sim.Say(r.IntN(3))
		v.prediction.Dies = []int{1, 4}
	}
	return v
}

func TestAViewOpensAsItWasWritten(t *testing.T) {
	r := seeded(t)
	for range 300 {
		v := randomView(r)
		again := viewIn(linkOf(t, v.Query()))
		if again.settings != v.settings || again.worker != v.worker || again.axes != v.axes || again.Query() != v.Query() {
			t.Fatalf("%s\nopens as %s", v.Query(), again.Query())
		}
		if (again.pinned == nil) != (v.pinned == nil) || v.pinned != nil && *again.pinned != *v.pinned {
			t.Fatalf("%s: run A is %v", v.Query(), again.pinned)
		}
		if got := viewIn(linkOf(t, v.Shared())); got.settings != v.settings || got.Shared() != v.Shared() {
			t.Fatalf("%s: what is shared opens as %s", v.Shared(), got.Query())
		}
	}
}

// A link names what is not at its opening value, and nothing else.
func TestALinkIsShort(t *testing.T) {
	for query, want := range map[string]string{
		"": "", "grace=0&handler=1&workers=1": "", "grace=010.0&worker=1": "grace=10", "x=grace&y=slots": "y=slots",
		"b.grace=0": "a.grace=0", "grace=20&b.grace=0": "a.grace=20", "grace=5&b.grace=15&b.slots=2": "slots=2&grace=15&a.grace=5",
		"a.grace=0&grace=10": "grace=10&a.grace=0",
	} {
		if got := viewIn(linkOf(t, query)).Query(); got != want {
			t.Errorf("%q is written %q, want %q", query, got, want)
		}
	}
}

// Links that were handed out name all settings, of run B of a comparison under
// "b." beside those of run A.
func TestOlderLinksOpenAsTheyDid(t *testing.T) {
	r := seeded(t)
	for range 100 {
		a, b := randomSettings(r), randomSettings(r)
		older := string(a.AppendQuery(nil)) + "&b." + strings.ReplaceAll(string(b.AppendQuery(nil)), "&", "&b.") + "&t=12.5&speed=1"
		link := linkOf(t, older)
		if v := viewIn(link); v.settings != b || v.pinned == nil || *v.pinned != a || link.T != 125 {
			t.Fatalf("%s opens as %s", older, link.Query())
		}
		changed := linkOf(t, string(a.AppendQuery(nil))+"&b.grace=7")
		if v := viewIn(changed); v.settings.Grace != 70 || *v.pinned != a {
			t.Fatalf("one setting of run B: %s", changed.Query())
		}
	}
}

func TestWhatIsWrongInALinkIsNamed(t *testing.T) {
	for query, want := range map[string]string{
		"grace=31": "grace", "b.grace=31": "b.grace", "a.grace=31": "a.grace", "a.pods=1": "a.pods", "pods=1": "pods", "worker=6": "worker", "worker=01": "worker",
		"x=nothing": "x", "y=grace": "y", "x=grace&x=grace": "x", "p.killed=99": "p.killed", "p.x=1": "p.x",
		"a.grace=1&b.grace=1": "b.", "model=2": "model", "t=61": "t", "panel=nowhere": "panel",
	} {
		values, _ := url.ParseQuery(query)
		_, err := course.ParseLink(New(), values)
		var wrong *setting.Error
		if !errors.As(err, &wrong) || wrong.Setting != want {
			t.Errorf("%q: %v, want %s to be named", query, err, want)
		}
	}
	values, _ := url.ParseQuery("x=nothing")
	if _, err := course.ParseLink(New(), values); !strings.Contains(err.Error(), "allowed: the name of a setting: workers, slots") {
		t.Error(err)
	}
}

func TestAChangeTakesWithItWhatNoLongerFits(t *testing.T) {
	v := viewIn(linkOf(t, "replacement=1&worker=2&p.killed=1&x=slots&a.grace=5"))
	next, err := v.Change(url.Values{"grace": {"20"}})
	if err != nil || next.Query() != "grace=20&replacement=1&a.grace=5&worker=2&x=slots" {
		t.Errorf("another grace: %q, %v", next.Query(), err)
	}
	next, err = v.Change(url.Values{"replacement": {"0"}})
	if err != nil || next.Query() != "a.grace=5&x=slots" {
		t.Errorf("without the replacement: %q, %v", next.Query(), err)
	}
	if next, err = v.Change(url.Values{"grace": {"0"}}); err != nil || !next.Answered() {
		t.Errorf("no change has changed the prediction: %q, %v", next.Query(), err)
	}
	var wrong *setting.Error
	if _, err := v.Change(url.Values{"grace": {"31"}}); !errors.As(err, &wrong) {
		t.Errorf("a wrong value: %v", err)
	}
	if v.Text("replacement") != "1" || v.Text("grace") != "0" || v.Text("pods") != "" {
		t.Error("the settings are told wrongly")
	}
	if v.Query() != "replacement=1&a.grace=5&worker=2&p.killed=1&x=slots" {
		t.Errorf("the view itself has changed: %s", v.Query())
	}
}

func TestViewsOfEqualSettingsShareTheirRun(t *testing.T) {
	v := viewIn(linkOf(t, "grace=10"))
	same := v.with(v.settings)
	if v.compute() != same.compute() || v.compute() == v.with(sim.Opening()).compute() {
		t.Error("the runs are computed anew, or shared where they differ")
	}
}

func TestTheStepsOpenTheirSettings(t *testing.T) {
	l := New()
	for i, e := range sim.Experiments() {
		step := l.Steps()[i]
		if got := viewIn(linkOf(t, step.Query)).settings; step.ID != e.ID || got != e.Settings {
			t.Errorf("step %s opens %s", step.ID, got.AppendQuery(nil))
		}
	}
	if l.Poster().T != 34*sim.Second {
		t.Errorf("the poster stands at %s", l.Poster().T)
	}
	if names := settingNames(); len(l.Settings()) != len(names) || l.Settings()[6].Name != "grace" || slices.Contains(names, "") {
		t.Error("the settings are not the model's")
	}
}
