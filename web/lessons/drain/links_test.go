package drain

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"drainlab/internal/course"
	"drainlab/internal/sim"
)

// goldenLinks are links of every kind that the lesson has ever handed out. What
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
	// Comparisons, with run B under "b.".
	"/lessons/drain?model=1&b.grace=20&t=60",
	"/lessons/drain?model=1&grace=5&duration=12&b.grace=15&b.replacement=1&b.allowance=50&t=33&worker=2&p.killed=2",
	// Links that name what is not at its opening value, run A under "a.", and
	// the open tab.
	"/lessons/drain?model=1&grace=20&a.grace=0&t=60&panel=compare",
	"/lessons/drain?model=1&duration=8&grace=10&replacement=1&t=60&panel=why",
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
// where they open the same.
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
		if was != is && !(a && b && opened(t, viewWas).Address() == opened(t, viewIs).Address()) {
			list = append(list, fmt.Sprintf("was   %s\n\tis    %s", was, is))
		}
	}
	return list
}

// opened is the link of an address of the lesson.
func opened(t *testing.T, address string) course.Link {
	t.Helper()
	path, query, _ := strings.Cut(address, "?")
	link := linkOf(t, query)
	link.Embedded = strings.HasPrefix(path, "/embed")
	if link.Path() != path {
		t.Fatalf("%s is no address of the lesson", address)
	}
	return link
}

func TestLinksShowTheSameForGood(t *testing.T) {
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
		for _, difference := range l.differs(t, show(t, l.link)) {
			t.Errorf("%s has been handed out and must show the same for good; -update does not change it.\n\t%s", l.link, difference)
		}
	}
	var missing strings.Builder
	for _, link := range goldenLinks {
		switch {
		case known[link]:
		case *update:
			missing.WriteString(show(t, link).String())
		default:
			t.Errorf("%s does not say what %s shows; -update adds it", goldenLinksFile, link)
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

func TestAGoldenLinkThatShowsSomethingElseIsSeen(t *testing.T) {
	was := shownLink{link: "/lessons/drain?grace=10", facts: []string{"view /lessons/drain?workers=1&grace=10&t=0", "run at 0 s: pending"}}
	for _, c := range []struct {
		view  string
		fact  string
		wrong int
	}{
		{"view /lessons/drain?grace=10", "run at 0 s: pending", 0}, {"view /lessons/drain?grace=11", "run at 0 s: pending", 1},
		{"view /lessons/drain?grace=10&t=1", "run at 0 s: pending", 1}, {"view /embed/lessons/drain?grace=10", "run at 0 s: pending", 1},
		{"view /lessons/drain?grace=10", "run at 0 s: fail", 1},
	} {
		if got := was.differs(t, shownLink{facts: []string{c.view, c.fact}}); len(got) != c.wrong {
			t.Errorf("%s, %s: %q", c.view, c.fact, got)
		}
	}
}

// show opens a link, and tells the run at the view's time and at its end, that
// of a comparison's other run, an author's wishes, and how a prediction is judged.
func show(t *testing.T, address string) shownLink {
	t.Helper()
	link := opened(t, address)
	link.Embedded = false // a frame shows the same view
	v := viewIn(link)
	l := shownLink{link: address, facts: []string{"view " + link.Address()}}
	tell := func(name string, s sim.Settings) {
		for _, at := range slices.Compact([]sim.Time{link.T, sim.Horizon}) {
			snap := sim.Simulate(s).At(at)
			a := snap.Account
			l.facts = append(l.facts, fmt.Sprintf("%s at %s s: %s, %d arrived, %d admitted, %d rejected, %d completed, %d killed, %d running, %d results, %d events",
				name, at, snap.Gate().Verdict, a.Arrivals, a.Admitted, a.Rejected, a.Completed, a.Killed, a.Running, len(buildResults(snap)), len(snap.Trace)))
		}
	}
	if v.pinned == nil {
		tell("run", v.settings)
	} else {
		tell("run A", *v.pinned)
		tell("run B", v.settings)
	}
	l.facts = append(l.facts, wishes(link)...)
	if v.prediction.Said() {
		l.facts = append(l.facts, judgementFact(v))
	}
	return l
}

func wishes(link course.Link) (facts []string) {
	if len(link.Lock) == len(sim.Controls()) {
		facts = append(facts, "locked: everything") // later settings too
	} else if len(link.Lock) > 0 {
		facts = append(facts, "locked: "+strings.Join(link.Lock, ", "))
	}
	if len(link.Hide) > 0 {
		facts = append(facts, "hidden: "+strings.Join(link.Hide, ", "))
	}
	if link.Waits() {
		facts = append(facts, "waits for a prediction")
	}
	return facts
}

func judgementFact(v *view) string {
	j := v.prediction.Judge(v.compute())
	fact := fmt.Sprintf("predicted: right %t", j.Right())
	for _, g := range []struct {
		name         string
		said         bool
		number, true int
	}{{"completed", j.Completed.Said, j.Completed.N, j.Completed.Truth}, {"killed", j.Killed.Said, j.Killed.N, j.Killed.Truth}} {
		if g.said {
			fact += fmt.Sprintf(", %s %d of truly %d", g.name, g.number, g.true)
		}
	}
	if j.Dies.Said {
		fact += fmt.Sprintf(", dies %v of truly %v", v.prediction.Dies, j.Dies.Truth)
	}
	if j.Verdict.Said != sim.Pending {
		fact += fmt.Sprintf(", verdict %s of truly %s", j.Verdict.Said, j.Verdict.Truth)
	}
	return fact
}

// The addresses that the lesson had before lead to those that it has.
func TestAddressesThatWereLeadOn(t *testing.T) {
	srv := startServer(t)
	for address, want := range map[string]string{"/lessons/drain/lanes.png?grace=10&t=30.5": "image/png", "/lessons/drain/lanes.svg?t=60&hide=text": "image/svg+xml",
		"/lessons/drain/analysis?b.grace=20&t=60": "text/html", "/lessons/drain/analysis": "text/html", "/lessons/drain/card.png?" + url.Values{"grace": {"10"}}.Encode(): "image/png"} {
		get(t, srv.URL+address).wantType(t, 200, want)
	}
	for _, address := range []string{"/lessons/drain/lanes.png?grace=31", "/lessons/drain/card.png?t=61", "/lessons/drain/lanes.svg?worker=9", "/lessons/drain/analysis?x=nothing", "/lessons/drain/compare?a.grace=31"} {
		if a := get(t, srv.URL+address); a.StatusCode != 400 {
			t.Errorf("%s: %s", address, a.Status)
		}
	}
	a := get(t, srv.URL+"/lessons/drain/compare?b.grace=20&t=35")
	a.wantType(t, 200, "text/html")
	if text := string(a.body); !strings.Contains(text, `id="compare-facts"`) || !strings.Contains(text, `id="compare-runs"`) {
		t.Errorf("the comparison is %.300s", text)
	}
}
