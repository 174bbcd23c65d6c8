package web

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drainlab/internal/clocks"
	"drainlab/internal/setting"
	"drainlab/web/templates"
)

// anyTermination draws settings in which clocks come close to each other: most
// are small and many are alike.
func anyTermination(r *rand.Rand) clocks.Settings {
	s := clocks.Opening()
	pick := func(list ...setting.Time) setting.Time { return list[r.IntN(len(list))] }
	s.Grace = pick(0, 1, 20, 30, 50, 100, 300, setting.Time(r.IntN(400)))
	s.HookInGrace, s.SignalHandled, s.Cooperative = r.IntN(3) > 0, r.IntN(5) > 0, r.IntN(2) > 0
	s.Prestop = pick(0, 0, 20, 30, 50, setting.Time(r.IntN(200)))
	s.SignalDelay = pick(0, 0, 0, 10, setting.Time(r.IntN(100)))
	s.Withdraw, s.Propagation = pick(0, 0, 10, 30), pick(0, 20, 50, 100, setting.Time(r.IntN(300)))
	s.Gate = clocks.GateClosing(r.IntN(3))
	s.ServerTimeout = pick(setting.None, 0, 20, 200, setting.Time(r.IntN(300)))
	s.Cleanup, s.CleanupBudget = pick(0, 10, 30), pick(setting.None, 0, 20)
	s.Interval, s.Request = pick(1, 5, 10, 37, 100), pick(1, 10, 40, 200)
	s.Long = pick(0, 40, 200, 400)
	s.LongAge = pick(0, 0, 1, 39)
	s.Deadline = pick(0, 10, 30, 600)
	s.StopCheck = pick(1, 5, 50)
	if err := s.Validate(); err != nil {
		panic(err)
	}
	return s
}

var (
	rejectedWindow = regexp.MustCompile(`^The admission gate closes: what arrives from here until the (?:listener closes|kill) at ([\d.]+) s is rejected before any work\.$`)
	refusedWindow  = regexp.MustCompile(`what arrives from here on is refused\.$`)
	gapWindow      = regexp.MustCompile(`^Transition gap: ([\d.]+) s, from ([\d.]+) s to ([\d.]+) s\. Routers still send new requests here then, and this process turns them away: (.*)\.$`)
)

func secondsOf(t *testing.T, text string) setting.Time {
	t.Helper()
	v, err := setting.ParseTime(strings.TrimSuffix(text, " s"))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}

// checkWords compares what the words say of new requests with what became of
// each one.
func checkWords(t *testing.T, s clocks.Settings) {
	t.Helper()
	run := clocks.Simulate(s)
	steps := clockSteps(run)
	rejects := [2]setting.Time{}
	refuses, gap := setting.Time(1<<20), [2]setting.Time{}
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("%s: %s\n%+v\n%s", s.AppendQuery(nil), fmt.Sprintf(format, args...), steps, gapText(run))
	}
	longTold, longEnded, left := "", -1, -1
	for i, step := range steps {
		if found := rejectedWindow.FindStringSubmatch(step.Text); found != nil {
			rejects = [2]setting.Time{secondsOf(t, step.At), secondsOf(t, found[1])}
		} else if strings.Contains(step.Text, "rejected before") {
			fail("%q is in no known words", step.Text)
		}
		if refusedWindow.MatchString(step.Text) {
			refuses = min(refuses, secondsOf(t, step.At))
		} else if strings.Contains(step.Text, "what arrives from here on") {
			fail("%q is in no known words", step.Text)
		}
		switch {
		case strings.HasPrefix(step.Text, "The long request arrives;"):
			longTold = "admitted"
		case strings.HasPrefix(step.Text, "The long request arrives and is rejected"):
			longTold = "rejected"
		case strings.HasPrefix(step.Text, "The long request arrives and is refused"):
			longTold = "refused"
		case strings.HasPrefix(step.Text, "The long request:"):
			longEnded = i
		case step.Text == "No admitted request is left.":
			left = i
		}
		if i > 0 && strings.HasPrefix(step.Text, "The preStop hook ends") && strings.HasPrefix(steps[i-1].Text, "The signal") {
			fail("the signal stands before the hook's end")
		}
	}
	if longEnded >= 0 && left >= 0 && longEnded > left {
		fail("the long request ends after none is left")
	}
	text := gapText(run)
	if found := gapWindow.FindStringSubmatch(text); found != nil {
		gap = [2]setting.Time{secondsOf(t, found[2]), secondsOf(t, found[3])}
		if secondsOf(t, found[1]) != gap[1]-gap[0] || gap[1] <= gap[0] || gap[1]-gap[0] != run.Gap() {
			fail("the gap does not add up")
		}
	} else if !strings.HasPrefix(text, "Transition gap: none. ") || run.Gap() != 0 {
		fail("the gap is in no known words")
	}
	counts := map[string]int{}
	for q := range run.Requests() {
		fate := "admitted"
		if q.Outcome > clocks.Killed {
			fate = q.Outcome.String()
			counts[fate]++
		}
		if q.Long {
			if fate != longTold {
				fail("the long request is %s, told as %s", fate, longTold)
			}
			if q.Arrival < gap[0] || q.Arrival >= gap[1] {
				if told := strings.Contains(text, "The long request, which arrives at 0 s whatever they do, is turned away."); told != (fate != "admitted") {
					fail("the long request is %s", fate)
				}
				continue
			}
		}
		told := "admitted"
		switch {
		case q.Arrival >= refuses:
			told = "refused"
		case q.Arrival >= rejects[0] && q.Arrival < rejects[1]:
			told = "rejected"
		}
		if told != fate {
			fail("the request at %v is %s, told as %s", q.Arrival, fate, told)
		}
		if in := q.Arrival >= gap[0] && q.Arrival < gap[1]; in != (fate != "admitted") {
			fail("the request at %v is %s", q.Arrival, fate)
		}
	}
	if gap[1] > 0 {
		var parts []string
		for _, fate := range []string{"rejected", "refused"} {
			if counts[fate] > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", counts[fate], fate))
			}
		}
		if want := strings.Join(parts, ", ") + "."; len(parts) > 0 && !strings.HasSuffix(text, ": "+want) || len(parts) == 0 && !strings.HasSuffix(text, ": none arrives in that time.") {
			fail("the gap does not tell %v", counts)
		}
	}
	if gap[1] == 0 && longTold == "" && len(counts) > 0 {
		fail("there is no gap, and %v", counts)
	}
	checkGateRow(t, s)
}

// checkGateRow compares the picture's row of the gate with the same windows.
func checkGateRow(t *testing.T, s clocks.Settings) {
	t.Helper()
	run := clocks.Simulate(s)
	v := buildClockPicture(run, nil)
	var label string
	drawn := map[string]bool{}
	for _, b := range v.Bars {
		drawn[b.Kind] = true
	}
	y := 0
	for _, row := range v.Rows {
		if row.Name == "Admission gate" {
			y = row.Y
		}
	}
	for _, m := range v.Marks {
		if m.Y == y+14 && m.Label != "" {
			label += m.Label
		}
	}
	closed, gone := turnedAway(run)
	want := map[[3]bool]string{ // rejects, listens no more, has a gate
		{true, true, true}: "rejects, then no listener", {true, false, true}: "closed: rejects before work", {false, true, true}: "closes with the listener",
		{false, false, true}: "closes with the process", {false, true, false}: "open, then no listener", {false, false, false}: "never closes",
	}[[3]bool{closed < gone, gone < run.End, run.Instants.Gate != clocks.Never}]
	if drawn["closed"] != (closed < gone) || drawn["gone"] != (gone < run.End) || label != want || want == "" {
		t.Fatalf("%s: the gate's row is drawn with %v and says %q, want %q", s.AppendQuery(nil), drawn, label, want)
	}
}

func TestTheWordsSayOfEachRequestWhatBecameOfIt(t *testing.T) {
	r := seeded(t)
	for range 3000 {
		checkWords(t, anyTermination(r))
	}
	for range 200 {
		checkWords(t, randomClocks(r))
	}
	for _, query := range clocksAtTheEnds {
		checkWords(t, clocksOf(t, query))
	}
}

func stepLines(steps []templates.ClockStep) []string {
	var lines []string
	for _, s := range steps {
		lines = append(lines, s.At+": "+s.Text)
	}
	return lines
}

func TestTheTerminationInWordsByHand(t *testing.T) {
	none := "Transition gap: none. While routers send new requests here, this process serves them."
	for _, c := range []struct {
		name, query string
		lines       []string // that it holds, in their order
		not         string
		gap         string
	}{
		{"the opening settings", "", []string{"0 s: Termination begins.", "0 s: The admission gate closes: what arrives from here until the listener closes at 5 s is rejected before any work.",
			"2 s: The last router stops sending new requests.", "5 s: The preStop hook ends.", "5 s: The signal has reached the application; the listener closes: what arrives from here on is refused.",
			"15 s: The long request: completed.", "15 s: No admitted request is left.", "16 s: The cleanup is complete; the process exits."}, "kill",
			"Transition gap: 2 s, from 0 s to 2 s. Routers still send new requests here then, and this process turns them away: 4 rejected."},
		{"refused, none rejected", "prestop=0&propagation=2&interval=0.1&request=0.1&gate=term&long=0",
			[]string{"0 s: The signal has reached the application; admission gate and listener close: what arrives from here on is refused."}, "rejected",
			"Transition gap: 2 s, from 0 s to 2 s. Routers still send new requests here then, and this process turns them away: 20 refused."},
		{"first rejected, then refused", "propagation=10", []string{"until the listener closes at 5 s is rejected", "5 s: The signal has reached the application; the listener closes"}, "admission gate and listener",
			"Transition gap: 10 s, from 0 s to 10 s. Routers still send new requests here then, and this process turns them away: 10 rejected, 10 refused."},
		{"a gap that begins later", "prestop=5&propagation=10&gate=term", nil, "rejected",
			"Transition gap: 5 s, from 5 s to 10 s. Routers still send new requests here then, and this process turns them away: 10 refused."},
		{"a gap in which none arrives", "propagation=5.2&gate=term&prestop=5.1", nil, "",
			"Transition gap: 0.1 s, from 5.1 s to 5.2 s. Routers still send new requests here then, and this process turns them away: none arrives in that time."},
		{"no grace", "grace=0&long=0", []string{"0 s: The admission gate closes, and the kill comes at once: nothing is rejected.",
			"0 s: The kill cuts the preStop hook: no signal was sent, nothing was drained or cleaned up.", "The process is gone: what arrives from here on is refused."}, "is rejected before",
			"Transition gap: 2 s, from 0 s to 2 s. Routers still send new requests here then, and this process turns them away: 4 refused."},
		{"rejected until the kill", "signal_handled=0&propagation=40&long=0",
			[]string{"until the kill at 30 s is rejected before any work.", "30 s: No signal was handled: nothing was drained or cleaned up.", "30 s: The kill. The cleanup was not begun. The process is gone: what arrives from here on is refused."}, "",
			"Transition gap: 40 s, from 0 s to 40 s. Routers still send new requests here then, and this process turns them away: 60 rejected, 20 refused."},
		{"no gap", "gate=term", nil, "rejected", none},
		{"a hook that the kill always cuts", "prestop=40", []string{"30 s: The kill cuts the preStop hook: no signal was sent"}, "hook ends", ""},
		{"a signal that comes too late", "signal_delay=60", []string{"5 s: The preStop hook ends.", "30 s: The signal has not reached the application: nothing was drained or cleaned up."}, "No signal", ""},
		{"a long request that the gate rejects", "long_age=0", []string{"0 s: Termination begins.", "0 s: The admission gate closes", "0 s: The long request arrives and is rejected at the gate, before any work."}, "would take", ""},
		{"… though no router sends", "long_age=0&propagation=0", []string{"0 s: The long request arrives and is rejected at the gate"}, "",
			none + " The long request, which arrives at 0 s whatever they do, is turned away."},
		{"a long request that is refused", "long_age=0&prestop=0&gate=none", []string{"0 s: The signal has reached the application; the listener closes", "0 s: The long request arrives and is refused: nothing listens here any more."}, "would take", ""},
		{"a long request that just gets in", "long_age=0&gate=none", []string{"0 s: Termination begins.", "0 s: The long request arrives; it would take 20 s.", "20 s: The long request: completed.", "20 s: No admitted request is left."}, "", ""},
		{"the timeout before whom it cancels", "server_timeout=5", []string{"10 s: The server's graceful timeout of 5 s ends: 1 cancelled.", "10 s: The long request: cancelled by the server's timeout.", "10.5 s: Its work: confirmed stopped."}, "none is left", ""},
		{"work that nothing is known of", "server_timeout=5&stop_check=20", []string{"10 s: The long request: cancelled by the server's timeout. What became of its work is unknown."}, "Its work", ""},
	} {
		run := clocks.Simulate(clocksOf(t, c.query))
		text := strings.Join(stepLines(clockSteps(run)), "\n")
		rest := text
		for _, line := range c.lines {
			_, after, found := strings.Cut(rest, line)
			if !found {
				t.Errorf("%s: %q is missing, or out of order, in\n%s", c.name, line, text)
				break
			}
			rest = after
		}
		if c.not != "" && strings.Contains(text, c.not) {
			t.Errorf("%s: there is %q in\n%s", c.name, c.not, text)
		}
		if got := gapText(run); c.gap != "" && got != c.gap {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

func TestThePictureMarksTheFirstAndTheLastOfEachKind(t *testing.T) {
	for _, c := range []struct {
		query, note string
		at          map[string][2]setting.Time // first and last mark
	}{
		{"prestop=12&propagation=12.1&interval=0.1&long=0", "40 of the 121 arrivals that were not admitted are marked, the first and the last of each kind among them. ",
			map[string][2]setting.Time{"rejected": {0, 119}, "refused": {120, 120}}},
		{"prestop=7&propagation=20&interval=0.1&long=0", "40 of the 200 arrivals", map[string][2]setting.Time{"rejected": {0, 69}, "refused": {70, 199}}},
		{"prestop=2&propagation=4&long=0", "", map[string][2]setting.Time{"rejected": {0, 15}, "refused": {20, 35}}},
	} {
		run := clocks.Simulate(clocksOf(t, c.query))
		v := buildClockPicture(run, nil)
		axis := clockScale(run, sampleRequests(admittedRequests(run)))
		marks, total := map[string][]string{}, 0
		for _, m := range v.Marks {
			if m.Symbol == "rejected" || m.Symbol == "refused" {
				marks[m.Symbol] = append(marks[m.Symbol], m.X)
				total++
			}
		}
		for kind, at := range c.at {
			if x := marks[kind]; len(x) == 0 || x[0] != axis.x(at[0]) || x[len(x)-1] != axis.x(at[1]) {
				t.Errorf("%s: of the %s there are marks at %v, want them from %s to %s", c.query, kind, x, axis.x(at[0]), axis.x(at[1]))
			}
		}
		if all := run.Account.Rejected + run.Account.Refused; (total == all) != (c.note == "") || !strings.HasPrefix(v.Note, c.note) || c.note == "" && strings.Contains(v.Note, "marked") {
			t.Errorf("%s: %d of %d are marked, the note is %q", c.query, total, all, v.Note)
		}
	}
}

// What the note under the picture counts is what is drawn.
func TestTheNoteUnderThePictureCountsWhatIsDrawn(t *testing.T) {
	r := seeded(t)
	drawn := regexp.MustCompile(`(\d+) of the (\d+) admitted requests that run within the picture are drawn`)
	over := regexp.MustCompile(`(\d+) admitted requests? (?:was|were) over before the picture begins\.$`)
	seen := map[bool]int{}
	for range 1500 {
		s := anyTermination(r)
		run := clocks.Simulate(s)
		v := buildClockPicture(run, nil)
		bars := 0
		for _, b := range v.Bars {
			if b.Kind == "request" || b.Kind == "request-lost" {
				bars++
			}
		}
		within, before := run.Account.Admitted, 0
		if found := over.FindStringSubmatch(v.Note); found != nil {
			fmt.Sscan(found[1], &before)
			within -= before
		}
		shown, of := within, within
		if found := drawn.FindStringSubmatch(v.Note); found != nil {
			fmt.Sscan(found[1], &shown)
			fmt.Sscan(found[2], &of)
		}
		if bars != shown || of != within || strings.Contains(v.Note, "of them") {
			t.Fatalf("%s: %d are drawn of %d; %q", s.AppendQuery(nil), bars, run.Account.Admitted, v.Note)
		}
		seen[before > 0]++
	}
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("the draw is no test: %v", seen)
	}
}

// Without script a form of which one value is refused loses nothing else.
func TestARefusedFormLeadsBackWithItsOtherValues(t *testing.T) {
	srv := newAPIServer(t)
	link := regexp.MustCompile(`href="(/lessons/clocks\?[^"]+)"[^>]*>Back to lesson 3 with all other values<`)
	follow := func(name string, page answer, want ...string) {
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
		get(t, srv.URL+"/lessons/clocks?"+query).wantType(t, http.StatusOK, "text/html")
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
		v.Set("view", "platform=docker&grace=40&x=long&y=grace")
		return v
	}
	for _, c := range []struct {
		changes string
		want    []string
	}{
		{"grace=9999", []string{"grace=40", "long=30", "signal_delay=3", "cooperative=0", "platform=docker", "x=long", "y=grace"}},
		{"grace=50&prestop=x&cleanup=2", []string{"grace=50", "prestop=5", "cleanup=2", "long=30"}},
		{"long=3&margin=4", []string{"long=20", "long_age=5", "margin=4"}},
		{"long=3&long_age=2&margin=-1", []string{"long=3", "long_age=2", "margin=2"}},
		{"long=60&long_age=50&margin=-1", []string{"long=60", "long_age=50", "margin=2"}},
	} {
		page := ask(t, http.MethodPost, srv.URL+"/lessons/clocks", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, strings.NewReader(form(c.changes).Encode()))
		follow(c.changes, page, c.want...)
	}
	follow("a link", get(t, srv.URL+"/lessons/clocks?platform=fly&grace=9999&long=40&t=3&x=margin"), "platform=fly", "grace=5", "long=40", "x=margin")
}

func TestTheBudgetsWordsAreThereWhereTheirPartHasRoom(t *testing.T) {
	for _, c := range []struct {
		query string
		rooms []string // hook and delivery, drain, cleanup, margin, to spare
	}{
		{"", []string{"", "room-320", "", "", "room-320"}},
		{"grace=3600", []string{"", "", "", "", "room-240"}},
		{"prestop=11&grace=27", []string{"room-480", "room-640", "", "", "room-320"}},
		{"prestop=0&grace=15", []string{"", "room-240", "", "room-800"}},
	} {
		var rooms []string
		for _, p := range buildBudget(clocks.Simulate(clocksOf(t, c.query))).Parts {
			rooms = append(rooms, p.Room)
		}
		if !slices.Equal(rooms, c.rooms) {
			t.Errorf("%s: %q", c.query, rooms)
		}
	}
}
