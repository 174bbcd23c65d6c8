package web

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drainlab/internal/course"
	"drainlab/web/answer"
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
	// Run A under "a.", and the open tab.
	"/lessons/drain?model=1&grace=20&a.grace=0&t=60&panel=compare",
	"/lessons/drain?model=1&duration=8&grace=10&replacement=1&t=60&panel=why",
	// Lesson 3.
	"/lessons/clocks?model=1&platform=kubernetes&server_timeout=60&long=40",
	"/lessons/clocks?model=1&platform=ecs&x=server_timeout&y=long",
	"/lessons/clocks?model=1&server_timeout=none&cleanup_budget=none&grace=60",
	"/lessons/clocks?model=1&gate=none&propagation=20&cooperative=0&stop_check=60&deadline=8",
	"/embed/lessons/clocks?model=1&gate=term&signal_handled=0&long=0&margin=5&hook_in_grace=0",
	"/embed/lessons/ledgers",
	// Tabs, by their ids.
	"/lessons/drain?model=1&grace=10&t=40&panel=inspect&worker=1",
	"/lessons/drain?model=1&panel=sweep&x=slots&y=workers&replacement=1",
	"/embed/lessons/drain?model=1&grace=20&panel=guide",
	"/lessons/clocks?model=1&platform=kubernetes&panel=owners",
	"/lessons/ledgers?model=1&stop_token=1&panel=evidence",
	// Comparisons, whose plain settings are those of the run that plays.
	"/lessons/drain?model=1&grace=20&a.grace=5&a.duration=12&t=60&panel=compare",
	"/lessons/drain?model=1&grace=15&replacement=1&a.grace=0&t=33&p.killed=2",
	// Lesson 3 plays; lesson 2 has an author's wishes.
	"/lessons/clocks?model=1&long=40&t=12.5&speed=4",
	"/lessons/ledgers?model=1&lock=all&hide=text",
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
// where they open the same: what stands at its opening value may be named in
// one and not in the other.
func (c *served) differs(l, now shownLink) []string {
	c.t.Helper()
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
		if was != is && !(a && b && c.sameView(viewWas, viewIs)) {
			list = append(list, fmt.Sprintf("was   %s\n\tis    %s", was, is))
		}
	}
	return list
}

// readLink returns what a link to one of the course's lessons says.
func (c *served) readLink(address string) course.Link {
	c.t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		c.t.Fatal(err)
	}
	path := strings.TrimPrefix(u.Path, "/embed")
	lesson, ok := c.server.lessons.Find(strings.TrimPrefix(path, "/lessons/"))
	if !ok {
		c.t.Fatalf("%s is no lesson", address)
	}
	query, err := answer.Query(u.RawQuery)
	if err != nil {
		c.t.Fatalf("%s: %v", address, err)
	}
	link, err := course.ParseLink(lesson, query)
	if err != nil {
		c.t.Fatalf("%s: %v", address, err)
	}
	return link
}

// canonical is a link's lesson and view, written in one way. What is written
// must be all of the view: it is read back.
func (c *served) canonical(address string) string {
	c.t.Helper()
	once := c.readLink(address)
	again := c.readLink(once.Address())
	if again.Address() != once.Address() || again.T != once.T || again.Speed != once.Speed || again.Panel != once.Panel ||
		again.View.Shared() != once.View.Shared() || again.Predict != once.Predict || !slices.Equal(again.Hide, once.Hide) || !slices.Equal(again.Lock, once.Lock) {
		c.t.Errorf("%s: the view is %+v, and read back from %s %+v", address, once, once.Address(), again)
	}
	for _, info := range once.Lesson.Settings() {
		if a, b := once.View.Text(info.Name), again.View.Text(info.Name); a != b {
			c.t.Errorf("%s: %s is %s, and read back from %s %s", address, info.Name, a, once.Address(), b)
		}
	}
	return once.Address()
}

// sameView reports whether two links open the same view of one lesson.
func (c *served) sameView(a, b string) bool {
	c.t.Helper()
	return c.canonical(a) == c.canonical(b)
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
			c := c.of(t)
			for _, difference := range c.differs(l, c.show(l.link)) {
				t.Errorf("This link has been handed out and must show the same for good; -update does not change it.\n\t%s", difference)
			}
		})
	}
	var missing strings.Builder
	for _, link := range goldenLinks {
		switch {
		case known[link]:
		case *update:
			missing.WriteString(c.show(link).String())
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

// show opens a link as a browser does, reads the page as a person does, and
// asks the API for the figures.
func (c *served) show(address string) shownLink {
	c.t.Helper()
	page := c.page(address)
	view := c.canonical(address)
	l := shownLink{link: address, facts: []string{"view " + view}}
	link := c.readLink(address)
	if got := attribute(c.t, page, `data-query="([^"]*)"`); got != strings.TrimPrefix(strings.TrimPrefix(view, link.Path()), "?") && !strings.HasPrefix(address, "/embed") {
		c.t.Errorf("%s: the page has the view %s, want %s", address, got, view)
	}
	switch link.Lesson.About().ID {
	case "drain":
		l.facts = append(l.facts, c.showDrain(link, page)...)
	case "clocks":
		l.facts = append(l.facts, c.showClocks(link)...)
	case "ledgers":
		l.facts = append(l.facts, "a run of a real server, which has no figures before it is made")
	}
	if link.Lesson.About().ID != "drain" {
		l.facts = append(l.facts, readWishes(c.t, link, page)...)
	}
	if link.PanelNamed {
		l.facts = append(l.facts, "open: "+attribute(c.t, page, `data-panel="([^"]*)"`))
	}
	if now := regexp.MustCompile(`<b id="now">([^<]*)</b>`).FindStringSubmatch(page); link.Lesson.About().ID != "drain" && link.T != course.OpenLink(link.Lesson).With(link.View).T {
		l.facts = append(l.facts, fmt.Sprintf("stands at %s s", now[1]))
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
func (c *served) ask(path string, query url.Values, into any) {
	c.t.Helper()
	resp, body := c.get(path + "?" + query.Encode())
	if resp.StatusCode != http.StatusOK {
		c.t.Fatalf("%s?%s: %s %s", path, query.Encode(), resp.Status, body)
	}
	if err := json.Unmarshal([]byte(body), into); err != nil {
		c.t.Fatal(err)
	}
}

// settingsOfRun are the settings of a link's run, or with a prefix those of the
// run that it is compared with; nil where there is none.
func settingsOfRun(link course.Link, prefix string) url.Values {
	named, err := url.ParseQuery(link.View.Query())
	if err != nil {
		panic(err) // a link's own query
	}
	values := url.Values{"model": {"1"}}
	for _, info := range link.Lesson.Settings() {
		if given := named[prefix+info.Name]; given != nil {
			values[info.Name] = given
		}
	}
	if prefix != "" && len(values) == 1 {
		return nil
	}
	return values
}

// showDrain tells the run at the view's time and at its end, that of a
// comparison's other run, an author's wishes, and how a prediction is judged.
func (c *served) showDrain(link course.Link, page string) []string {
	c.t.Helper()
	var facts []string
	tell := func(name string, settings url.Values) {
		for _, at := range slices.Compact([]string{link.T.String(), "60"}) {
			var f runFigures
			settings.Set("t", at)
			c.ask("/api/v1/run", settings, &f)
			facts = append(facts, fmt.Sprintf("%s at %s s: %s", name, at, f))
		}
	}
	if a := settingsOfRun(link, "a."); a == nil {
		tell("run", settingsOfRun(link, ""))
	} else {
		tell("run A", a)
		tell("run B", settingsOfRun(link, ""))
	}
	facts = append(facts, readWishes(c.t, link, page)...)
	if fact := c.readJudgement(link); fact != "" {
		facts = append(facts, fact)
	}
	return facts
}

// readWishes reads from the page what its author asks: what cannot be changed,
// what is left out, and whether it waits.
func readWishes(t testing.TB, link course.Link, page string) []string {
	t.Helper()
	var facts []string
	locked := strings.FieldsFunc(attribute(t, page, `data-lock="([^"]*)"`), func(r rune) bool { return r == ',' })
	if len(locked) == len(link.Lesson.Settings()) {
		locked = []string{"everything"} // later settings too
	}
	if len(locked) > 0 {
		facts = append(facts, "locked: "+strings.Join(locked, ", "))
	}
	if hidden := strings.Fields(attribute(t, page, `data-hide="([^"]*)"`)); len(hidden) > 0 {
		facts = append(facts, "hidden: "+strings.Join(hidden, ", "))
		for _, tab := range link.Lesson.Tabs() {
			if slices.Contains(hidden, tab.Hide) && strings.Contains(page, `id="tab-`+tab.ID+`"`) {
				t.Errorf("the tab %s is there, though %s is hidden", tab.ID, tab.Hide)
			}
		}
	}
	if strings.Contains(page, `id="locked-note"`) && strings.Contains(page, `id="play-button" disabled`) {
		facts = append(facts, "waits for a prediction")
	}
	return facts
}

// readJudgement reads from the page, as it stands at the run's end, how the
// link's prediction is judged there; empty where it holds none.
func (c *served) readJudgement(link course.Link) string {
	c.t.Helper()
	if !link.View.Answered() {
		return ""
	}
	link.T = link.View.Run().End()
	_, section, _ := strings.Cut(c.page(link.Address()), `<section id="predict"`)
	section, _, _ = strings.Cut(section, "</section>")
	if !strings.Contains(section, "As you said") && !strings.Contains(section, "Not as you said") {
		c.t.Fatalf("%s: nothing is judged: %s", link.Address(), words(section))
	}
	fact := fmt.Sprintf("predicted: right %t", strings.Contains(section, "</span> As you said"))
	rows := regexp.MustCompile(`(?s)<tr>\s*<th scope="row">(.*?)</th>\s*<td>(.*?)</td>\s*<td>(.*?)</td>\s*<td class="tone-(?:kept|lost)">(.*?)</td>`).FindAllStringSubmatch(section, -1)
	for _, row := range rows {
		what, said, truth := html.UnescapeString(row[1]), row[2], row[3]
		if right := row[4] == "✓ right"; right != (said == truth) {
			c.t.Errorf("%s: %s was said, %s is true, and the page says %s", link.Address(), said, truth, row[4])
		}
		switch what {
		case "Complete":
			what = "completed"
		case "How many are killed":
			what = "killed"
		case "Which are killed":
			what, said, truth = "dies", listOf(said), listOf(truth)
		case "The gate":
			what, said, truth = "verdict", strings.ToLower(said), strings.ToLower(truth)
		default:
			c.t.Errorf("%s: what is %q?", link.Address(), what)
		}
		fact += fmt.Sprintf(", %s %s of truly %s", what, said, truth)
	}
	return fact
}

// listOf is a list in words as Go prints one: "none" as [], "6 and 13" as [6 13].
func listOf(said string) string {
	if said == "none" {
		return "[]"
	}
	return "[" + strings.NewReplacer(",", "", " and", "").Replace(said) + "]"
}

func (c *served) showClocks(link course.Link) []string {
	c.t.Helper()
	values := url.Values{"model": {"1"}}
	for _, info := range link.Lesson.Settings() {
		if info.Name != "platform" { // which the API does not know: its settings say it all
			values.Set(info.Name, link.View.Text(info.Name))
		}
	}
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
	c.ask("/api/v1/clocks", values, &f)
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
	c := startCourse(t)
	const was = "view /lessons/drain?grace=10&t=0"
	l := shownLink{link: "/lessons/drain?grace=10", facts: []string{was, "run at 0 s: pending", "run at 60 s: fail"}}
	for name, now := range map[string]struct {
		facts   []string
		differs int
	}{
		"the same":                         {l.facts, 0},
		"the same view in other words":     {[]string{"view /lessons/drain?t=0&grace=10.0&allowance=20", l.facts[1], l.facts[2]}, 0},
		"the same view in fewer words":     {[]string{"view /lessons/drain?grace=10", l.facts[1], l.facts[2]}, 0},
		"another view":                     {[]string{"view /lessons/drain?grace=11&t=0", l.facts[1], l.facts[2]}, 1},
		"another lesson":                   {[]string{"view /lessons/clocks?grace=10", l.facts[1], l.facts[2]}, 1},
		"other figures":                    {[]string{was, l.facts[1], "run at 60 s: pass"}, 1},
		"a figure less":                    {[]string{was, l.facts[1]}, 1},
		"a figure more":                    {[]string{was, l.facts[1], l.facts[2], "predicted"}, 1},
		"other figures and no view at all": {[]string{"x", "y", "z"}, 3},
	} {
		if got := c.differs(l, shownLink{l.link, now.facts}); len(got) != now.differs {
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
