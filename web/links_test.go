package web

import (
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drainlab/internal/sim"
)

// goldenLinks are links of every kind that the course has ever handed out. What
// each shows is in testdata/links.golden, for good: a line there is added by
// -update, and never changed. A new kind of link gets a new line here.
var goldenLinks = []string{
	// As they were before links named their model.
	"/lessons/drain",
	"/lessons/drain?grace=10",
	"/lessons/drain?handler=0&t=60",
	"/lessons/drain?workers=2&worker=2&t=31.5&speed=4",
	"/lessons/drain?workers=1&slots=4&startup=4&interval=2&duration=20&signal=30&grace=20&handler=1&replacement=1&ready_only=1&fail_init=0&allowance=65&t=60&speed=1",
	"/lessons/drain?grace=007.50&signal=0.1&allowance=0",
	"/lessons/clocks",
	"/lessons/clocks?grace=20&prestop=10",
	"/lessons/ledgers?stop_token=1&graceful_timeout=0.5",
	// With it.
	"/lessons/drain?model=1",
	"/lessons/drain?model=1&workers=4&slots=8&interval=0.5&duration=7.5&grace=30&t=45.6",
	"/lessons/drain?model=1&replacement=1&ready_only=0&fail_init=1&startup=0&t=60",
	"/lessons/drain?model=1&replacement=1&grace=10&worker=2&t=35",
	// The sweep's axes.
	"/lessons/drain?model=1&x=slots&y=workers",
	"/lessons/drain?model=1&duration=8&grace=12&x=duration&y=grace",
	// An author's wishes.
	"/lessons/drain?model=1&hide=text,controls&grace=20&duration=12",
	"/lessons/drain?model=1&lock=grace,handler&interval=4",
	"/lessons/drain?model=1&lock=all&hide=controls,trace,results,inspector,text&duration=16",
	"/embed/lessons/drain?model=1&hide=inspector&lock=all&grace=15&t=60",
	// Predictions: asked for, and said.
	"/lessons/drain?model=1&predict=required&grace=5&t=40",
	"/lessons/drain?model=1&predict=required&grace=10&p.completed=7&p.killed=0&p.verdict=pass&t=60",
	"/lessons/drain?model=1&grace=10&p.dies=none&t=60",
	"/lessons/drain?model=1&p.completed=3&p.killed=4&p.dies=6,13,14,15&p.verdict=fail&t=60",
	// Comparisons.
	"/lessons/drain?model=1&b.grace=20&t=60",
	"/lessons/drain?model=1&grace=5&duration=12&b.grace=15&b.replacement=1&b.allowance=50&t=33&worker=2&p.killed=2",
	// Lesson 3.
	"/lessons/clocks?model=1&platform=kubernetes&server_timeout=60&long=40",
	"/lessons/clocks?model=1&platform=ecs&x=server_timeout&y=long",
	"/lessons/clocks?model=1&server_timeout=none&cleanup_budget=none&grace=60",
	"/lessons/clocks?model=1&gate=none&propagation=20&cooperative=0&stop_check=60&deadline=8",
	"/embed/lessons/clocks?model=1&gate=term&signal_handled=0&long=0&margin=5&hook_in_grace=0",
	"/embed/lessons/ledgers",
}

const goldenLinksFile = "testdata/links.golden"

// shownLink is a link and what it shows, a line for each fact.
type shownLink struct {
	link  string
	facts []string
}

// readGoldenLinks reads the file: a link, and what it shows on lines that a tab
// begins. Lines with # are comments.
func readGoldenLinks(text string) ([]shownLink, error) {
	var list []shownLink
	for i, line := range strings.Split(text, "\n") {
		switch fact, isFact := strings.CutPrefix(line, "\t"); {
		case line == "" || line[0] == '#':
		case !isFact && line[0] == '/':
			if slices.ContainsFunc(list, func(l shownLink) bool { return l.link == line }) {
				return nil, fmt.Errorf("line %d: %s is there twice", i+1, line)
			}
			list = append(list, shownLink{link: line})
		case isFact && len(list) > 0:
			last := &list[len(list)-1]
			last.facts = append(last.facts, fact)
		default:
			return nil, fmt.Errorf("line %d: %q is neither a link nor what one shows", i+1, line)
		}
	}
	for _, l := range list {
		if len(l.facts) < 2 {
			return nil, fmt.Errorf("%s: what it shows is missing", l.link)
		}
	}
	return list, nil
}

func (l shownLink) String() string {
	return "\n" + l.link + "\n\t" + strings.Join(l.facts, "\n\t") + "\n"
}

// differs says what of a golden link's facts is otherwise now. Views are equal
// where they open the same: a later setting, at its opening value, may be named
// in one and not in the other.
func (l shownLink) differs(t *testing.T, now shownLink) []string {
	t.Helper()
	var list []string
	for i := range max(len(l.facts), len(now.facts)) {
		was, is := "nothing", "nothing"
		if i < len(l.facts) {
			was = l.facts[i]
		}
		if i < len(now.facts) {
			is = now.facts[i]
		}
		viewWas, a := strings.CutPrefix(was, "view ")
		viewIs, b := strings.CutPrefix(is, "view ")
		if was != is && !(a && b && sameView(t, viewWas, viewIs)) {
			list = append(list, fmt.Sprintf("was   %s\n\tis    %s", was, is))
		}
	}
	return list
}

func TestLinksShowTheSameForGood(t *testing.T) {
	c := startCourse(t)
	data, err := os.ReadFile(goldenLinksFile)
	if err != nil {
		t.Fatal(err)
	}
	golden, err := readGoldenLinks(string(data))
	if err != nil {
		t.Fatalf("%s: %v", goldenLinksFile, err)
	}
	known := map[string]bool{}
	for _, l := range golden {
		known[l.link] = true
		t.Run(l.link, func(t *testing.T) {
			for _, difference := range l.differs(t, c.show(t, l.link)) {
				t.Errorf("This link has been handed out and must show the same for good; -update does not change it.\n\t%s", difference)
			}
		})
	}
	var missing strings.Builder
	for _, link := range goldenLinks {
		switch {
		case known[link]:
		case *update:
			missing.WriteString(c.show(t, link).String())
		default:
			t.Errorf("%s does not say what %s shows; go test ./web -run TestLinksShowTheSameForGood -update adds it", goldenLinksFile, link)
		}
	}
	if missing.Len() == 0 {
		return
	}
	file, err := os.OpenFile(goldenLinksFile, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(missing.String()); err != nil {
		t.Fatal(err)
	}
}

// show opens a link as a browser does, and asks the API for the figures.
func (c *course) show(t *testing.T, link string) shownLink {
	t.Helper()
	own := *c
	c, own.t = &own, t // of a subtest
	resp, page := c.get(link)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", link, resp.Status)
	}
	view := canonicalLink(t, link)
	path, query, _ := strings.Cut(view, "?")
	l := shownLink{link: link, facts: []string{"view " + view}}
	if path != "/lessons/ledgers" && !strings.Contains(page, html.EscapeString(query)) {
		t.Errorf("%s: the page does not have its view, %s", link, query)
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	switch path {
	case "/lessons/drain":
		l.facts = append(l.facts, c.showDrain(t, values)...)
	case "/lessons/clocks":
		l.facts = append(l.facts, c.showClocks(t, values)...)
	case "/lessons/ledgers":
		l.facts = append(l.facts, "a run of a real server, which has no figures before it is made")
	}
	return l
}

// runFigures are what the API tells of a run that links are held to.
type runFigures struct {
	Account struct {
		Arrivals, Admitted, Rejected, Completed, Killed, Running int
	}
	Gate    struct{ Verdict string }
	Results []json.RawMessage
	Trace   []json.RawMessage
}

func (f runFigures) String() string {
	a := f.Account
	return fmt.Sprintf("%s, %d arrived, %d admitted, %d rejected, %d completed, %d killed, %d running, %d results, %d events",
		f.Gate.Verdict, a.Arrivals, a.Admitted, a.Rejected, a.Completed, a.Killed, a.Running, len(f.Results), len(f.Trace))
}

// ask gets an answer of the API.
func (c *course) ask(t *testing.T, path string, query url.Values, into any) {
	t.Helper()
	resp, body := c.get(path + "?" + query.Encode())
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s?%s: %s %s", path, query.Encode(), resp.Status, body)
	}
	if err := json.Unmarshal([]byte(body), into); err != nil {
		t.Fatal(err)
	}
}

// showDrain tells the run at the view's time and at its end, that of a
// comparison's other run, an author's wishes, and how a prediction is judged.
func (c *course) showDrain(t *testing.T, values url.Values) []string {
	t.Helper()
	at, settings := values.Get("t"), url.Values{"model": {"1"}}
	other := maps.Clone(settings)
	for _, control := range sim.Controls() {
		settings[control.Name] = values[control.Name]
		if b := values["b."+control.Name]; b != nil {
			other[control.Name] = b
		}
	}
	var facts []string
	tell := func(name string, settings url.Values) {
		for _, t0 := range slices.Compact([]string{at, "60"}) {
			var f runFigures
			settings.Set("t", t0)
			c.ask(t, "/api/v1/run", settings, &f)
			facts = append(facts, fmt.Sprintf("%s at %s s: %s", name, t0, f))
		}
	}
	if len(other) == 1 {
		tell("run", settings)
	} else {
		tell("run A", settings)
		tell("run B", other)
	}
	v, err := parseView(values)
	if err != nil {
		t.Fatal(err)
	}
	var locked []string
	for _, control := range sim.Controls() {
		if v.locks(control.Name) {
			locked = append(locked, control.Name)
		}
	}
	if len(locked) == len(sim.Controls()) {
		locked = []string{"everything"} // later settings too
	}
	if len(locked) > 0 {
		facts = append(facts, "locked: "+strings.Join(locked, ", "))
	}
	if len(v.Hide) > 0 {
		facts = append(facts, "hidden: "+strings.Join(v.Hide, ", "))
	}
	if v.waits() {
		facts = append(facts, "waits for a prediction")
	}
	if v.Prediction.Said() {
		j := v.Prediction.Judge(sim.Simulate(v.Settings))
		fact := fmt.Sprintf("predicted: right %t", j.Right())
		for _, g := range []struct {
			name         string
			said, right  bool
			number, true int
		}{{"completed", j.Completed.Said, j.Completed.Right, j.Completed.N, j.Completed.Truth}, {"killed", j.Killed.Said, j.Killed.Right, j.Killed.N, j.Killed.Truth}} {
			if g.said {
				fact += fmt.Sprintf(", %s %d of truly %d", g.name, g.number, g.true)
			}
		}
		if j.Dies.Said {
			fact += fmt.Sprintf(", dies %v of truly %v", v.Prediction.Dies, j.Dies.Truth)
		}
		if j.Verdict.Said != sim.Pending {
			fact += fmt.Sprintf(", verdict %s of truly %s", j.Verdict.Said, j.Verdict.Truth)
		}
		facts = append(facts, fact)
	}
	return facts
}

func (c *course) showClocks(t *testing.T, values url.Values) []string {
	t.Helper()
	for _, name := range []string{"platform", "x", "y"} { // the page's, which the API does not know
		values.Del(name)
	}
	values.Set("model", "1")
	var f struct {
		Verdict, Ended string
		End            json.Number
		Account        struct {
			Arrivals, Admitted, Completed, Deadline, Cancelled, Killed, Rejected, Refused int
		}
		Work struct {
			Completed        int
			ConfirmedStopped int `json:"confirmed_stopped"`
			Unknown          int
			NotStarted       int `json:"not_started"`
		}
		Cleanup string
		Budget  struct{ Need, Slack *json.Number }
	}
	c.ask(t, "/api/v1/clocks", values, &f)
	number := func(n *json.Number) string {
		if n == nil {
			return "none"
		}
		return n.String()
	}
	a, w := f.Account, f.Work
	return []string{
		fmt.Sprintf("%s, %s at %s s, cleanup %s, plan %s s, slack %s s", f.Verdict, f.Ended, f.End, f.Cleanup, number(f.Budget.Need), number(f.Budget.Slack)),
		fmt.Sprintf("requests: %d arrived, %d admitted, %d completed, %d deadline, %d cancelled, %d killed, %d rejected, %d refused", a.Arrivals, a.Admitted, a.Completed, a.Deadline, a.Cancelled, a.Killed, a.Rejected, a.Refused),
		fmt.Sprintf("work: %d completed, %d confirmed stopped, %d unknown, %d not started", w.Completed, w.ConfirmedStopped, w.Unknown, w.NotStarted),
	}
}

func TestAGoldenLinkThatShowsSomethingElseIsSeen(t *testing.T) {
	const was = "view /lessons/drain?grace=10&t=0"
	l := shownLink{link: "/lessons/drain?grace=10", facts: []string{was, "run at 0 s: pending", "run at 60 s: fail"}}
	for name, now := range map[string]struct {
		facts   []string
		differs int
	}{
		"the same":                         {l.facts, 0},
		"the same view in other words":     {[]string{"view /lessons/drain?t=0&grace=10.0&allowance=20", l.facts[1], l.facts[2]}, 0},
		"another view":                     {[]string{"view /lessons/drain?grace=11&t=0", l.facts[1], l.facts[2]}, 1},
		"another lesson":                   {[]string{"view /lessons/clocks?grace=10", l.facts[1], l.facts[2]}, 1},
		"other figures":                    {[]string{was, l.facts[1], "run at 60 s: pass"}, 1},
		"a figure less":                    {[]string{was, l.facts[1]}, 1},
		"a figure more":                    {[]string{was, l.facts[1], l.facts[2], "predicted"}, 1},
		"other figures and no view at all": {[]string{"x", "y", "z"}, 3},
	} {
		if got := l.differs(t, shownLink{l.link, now.facts}); len(got) != now.differs {
			t.Errorf("%s: %q", name, got)
		}
	}
	for text, says := range map[string]string{"/a\n\tx\n\ty\n/a\n\tx\n\ty\n": "twice", "\tx\n": "neither", "a\n": "neither", "/a\n\tx\n": "missing"} {
		if _, err := readGoldenLinks(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
	back, err := readGoldenLinks("# a comment\n" + l.String())
	if err != nil || len(back) != 1 || back[0].String() != l.String() {
		t.Errorf("read back: %v, %v", back, err)
	}
}

// The page docs/embedding.md.

func TestTheAddressesOfTheEmbeddingPageAnswer(t *testing.T) {
	c := startCourse(t)
	c.server.site.PublicURL = "https://drainlab.example"
	doc := readDoc(t, "embedding.md")
	addresses := regexp.MustCompile("`(/(?:lessons|embed|oembed|teach|card)[^` ]*)`").FindAllStringSubmatch(doc, -1)
	if len(addresses) < 15 {
		t.Fatalf("%d addresses: the test looks at nothing", len(addresses))
	}
	for _, address := range addresses {
		if address[1] == "/embed" { // a prefix
			continue
		}
		if resp, _ := c.get(address[1]); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", address[1], resp.Status)
		}
	}
}

func TestTheEmbeddingPageNamesEveryParameter(t *testing.T) {
	doc := readDoc(t, "embedding.md")
	for _, name := range slices.Concat(hideable, []string{"t", "speed", "worker", "model", "x", "y", "p.completed", "p.killed", "p.dies", "p.verdict", "b.",
		"predict", "required", "hide", "lock", "all", "platform", "url", "maxwidth", "maxheight", "format", "json", "xml"}) {
		if !strings.Contains(doc, "`"+name+"`") && !strings.Contains(doc, "`"+name+"=") {
			t.Errorf("docs/embedding.md does not name %s", name)
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
		m := c.askOEmbed("https://drainlab.example/lessons/drain?grace=10", 0, 0)
		given, want := frameOf(t, members{"html": code}), frameOf(t, m)
		if !sameView(t, given["src"], want["src"]) {
			t.Errorf("the page's frame shows %s, what is handed out %s", given["src"], want["src"])
		}
		for _, name := range []string{"src", "height"} { // the height is the lesson's, whatever that is by now
			delete(given, name)
			delete(want, name)
		}
		if !maps.Equal(given, want) {
			t.Errorf("the page's frame is %v, what is handed out %v", given, want)
		}
		return
	}
	t.Error("the page has no frame")
}
