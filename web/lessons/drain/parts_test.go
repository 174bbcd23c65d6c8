package drain

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"drainlab/internal/course"
	"drainlab/internal/sim"
)

var update = flag.Bool("update", false, "write the golden files anew")

// page is all parts of a link's page as it stands.
func page(t testing.TB, query string) string {
	t.Helper()
	link := linkOf(t, query)
	r := link.View.Run()
	return partsHTML(t, r.Live(course.Frame{T: link.T, Until: link.T, Shown: r.Shown(link.T)})) + partsHTML(t, r.Own(link))
}

func TestPartsLookAsTheyDid(t *testing.T) {
	for _, tc := range []struct {
		name, query string
		playing     bool
	}{
		{"opening-30", "t=30", false},
		{"replacement-47-playing", "grace=20&replacement=1&t=47", true},
		{"handler-off-any-worker-60", "handler=0&ready_only=0&fail_init=1&workers=2&grace=5&t=60", false},
	} {
		link := linkOf(t, tc.query)
		r := link.View.Run()
		f := course.Frame{T: link.T, Until: link.T, Playing: tc.playing, Shown: r.Shown(link.T)}
		if tc.playing {
			f.Until = r.Next(link.T)
		}
		got := strings.ReplaceAll(partsHTML(t, r.Live(f))+partsHTML(t, r.Own(link)), "><", ">\n<") + "\n"
		file := filepath.Join("testdata", tc.name+".html")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs from %s; -update writes it anew", tc.name, file)
		}
	}
}

// A stream replaces parts by their ids: they are the same in every frame, and
// stand in tabs that there are.
func TestPartsAreTheSameInEveryFrame(t *testing.T) {
	slots := map[course.Slot]bool{course.Verdict: true, course.Picture: true, course.Play: true}
	for _, tab := range New().Tabs() {
		slots[course.InTab(tab.ID)] = true
		if tab.Wide {
			slots[course.InStage(tab.ID)] = true
		}
	}
	var live, own []string
	r := seeded(t)
	for i := range 20 {
		link := linkOf(t, randomView(r).Query())
		link.T = sim.Time(r.IntN(int(sim.Horizon) + 1))
		run := link.View.Run()
		var ids [2][]string
		for k, parts := range [][]course.Part{run.Live(course.Frame{T: link.T, Until: link.T}), run.Own(link)} {
			for _, p := range parts {
				ids[k] = append(ids[k], p.ID)
				if !slots[p.Slot] {
					t.Fatalf("%s stands in %s, which is nowhere", p.ID, p.Slot)
				}
			}
		}
		if i == 0 {
			live, own = ids[0], ids[1]
		}
		if !slices.Equal(ids[0], live) || !slices.Equal(ids[1], own) {
			t.Fatalf("%s has the parts %v", link.Query(), ids)
		}
	}
}

func TestNoTwoElementsOfAPageHaveOneID(t *testing.T) {
	for _, query := range []string{"", "t=60", "predict=required", "p.dies=6&t=60", "t=33&panel=compare&b.grace=20", "t=60&panel=sweep", "replacement=1&workers=4&t=60&worker=3"} {
		seen := map[string]bool{}
		for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page(t, query), -1) {
			if seen[m[1]] {
				t.Errorf("%s: two elements are %s", query, m[1])
			}
			seen[m[1]] = true
		}
		if len(seen) < 60 {
			t.Errorf("%s: only %d ids are looked at", query, len(seen))
		}
	}
}

// Parts are cut out of pages by scripts and tests: they must be whole.
func TestPartsAreWellFormed(t *testing.T) {
	for _, query := range []string{"", "t=60", "predict=required", "p.dies=6&p.verdict=pass&t=60", "t=33&panel=compare&b.grace=20", "t=60&panel=sweep", "duration=8&grace=10&replacement=1&t=60&panel=why"} {
		void := regexp.MustCompile(`<(input|br|img)\b([^>]*?)/?>`)
		bare := regexp.MustCompile(` (checked|disabled|selected|required|hidden|open|reversed|data-[a-z-]+)([ >/])`)
		text := void.ReplaceAllString(page(t, query), "<$1$2/>")
		for range 3 {
			text = bare.ReplaceAllString(text, ` $1=""$2`)
		}
		d := xml.NewDecoder(strings.NewReader("<p>" + text + "</p>"))
		d.Entity = xml.HTMLEntity
		for {
			if _, err := d.Token(); err != nil {
				if !errors.Is(err, io.EOF) {
					t.Errorf("%s: %v", query, err)
				}
				break
			}
		}
	}
}

// What a sighted person sees in the picture is said in words.
func TestThePictureIsSaidInWords(t *testing.T) {
	for query, want := range map[string]string{
		"": "At 0.0 s: worker 1 starting since 0.0 s. 0 requests have arrived: 0 admitted, 0 turned away. SIGTERM for worker 1 is at 30.0 s, its deadline at 30.0 s.",
		"t=29.9": "At 29.9 s: worker 1 ready since 4.0 s. 15 requests have arrived: 7 admitted, 8 turned away. " +
			"Running: request 6 in slot 4 of worker 1, stage tool; request 13 in slot 1 of worker 1, stage prepare; request 14 in slot 2 of worker 1, stage prepare; request 15 in slot 3 of worker 1, stage prepare. " +
			"Kept: requests 3, 4 and 5. Turned away: requests 1, 2 and 7 to 12. SIGTERM for worker 1 is at 30.0 s, its deadline at 30.0 s.",
		"t=60": "At 60.0 s: worker 1 killed since 30.0 s. 20 requests have arrived: 7 admitted, 13 turned away. Kept: requests 3, 4 and 5. " +
			"Lost, killed at 30.0 s: requests 6, 13, 14 and 15. Turned away: requests 1, 2, 7 to 12 and 16 to 20. SIGTERM for worker 1 is at 30.0 s, its deadline at 30.0 s.",
		"grace=20&handler=0&t=60": "At 60.0 s: worker 1 killed since 50.0 s. 20 requests have arrived: 8 admitted, 12 turned away. Kept: requests 3 to 6, 13, 14 and 15. " +
			"Lost, killed at 50.0 s: request 16. Turned away: requests 1, 2, 7 to 12 and 17 to 20. SIGTERM for worker 1 is at 30.0 s, its deadline at 50.0 s.",
	} {
		link := linkOf(t, query)
		if got := summary(viewIn(link).compute().At(link.T)); got != want {
			t.Errorf("%s\nsays %s\nwant %s", query, got, want)
		}
		if !strings.Contains(page(t, query), `<p class="sr">`+want+"</p>") {
			t.Errorf("%s: the picture has other words", query)
		}
		if f := link.View.Run().Figure(link.T); !strings.Contains(f.Alt, want) {
			t.Errorf("%s: the image has other words: %s", query, f.Alt)
		}
	}
}

// Each request is said to be what it is, at every instant, once.
func TestTheWordsOfThePictureCountEachRequestOnce(t *testing.T) {
	r := seeded(t)
	for range 200 {
		snap := sim.Simulate(randomSettings(r)).At(sim.Time(r.IntN(int(sim.Horizon) + 1)))
		kept, lost, away := fates(snap)
		running := strings.Count(runningWords(snap), "request ")
		all := slices.Sorted(slices.Values(slices.Concat(kept, lost, away)))
		if len(slices.Compact(all)) != len(kept)+len(lost)+len(away) || len(all)+running != snap.Account.Arrivals {
			t.Fatalf("%s at %s s: %v %v %v and %d running of %d", snap.Settings.AppendQuery(nil), snap.T, kept, lost, away, running, snap.Account.Arrivals)
		}
	}
}

// SIGTERM and the deadline are sliders from the beginning on, and what they
// say is where they stand.
func TestTheSignalAndTheDeadlineAreSliders(t *testing.T) {
	r := seeded(t)
	for range 100 {
		s := randomSettings(r)
		whole := sim.Simulate(s)
		at := sim.Time(r.IntN(int(sim.Horizon) + 1))
		v := buildLanes(whole, whole.At(at), at)
		if v.signal.x != x(s.Signal) || v.signal.now != s.Signal.String() || v.signal.base != "0" || v.signal.setting != "signal" || v.signal.min != "0" || v.signal.max != "60" {
			t.Fatalf("%+v", v.signal)
		}
		if v.deadline.x != x(min(s.Deadline(), sim.Horizon)) || v.deadline.now != s.Grace.String() || v.deadline.base != s.Signal.String() || v.deadline.setting != "grace" || v.deadline.max != "30" {
			t.Fatalf("%+v", v.deadline)
		}
		text := html(t, lanesPart(v.asPart()))
		for _, want := range []string{`id="handle-signal"`, `id="handle-grace"`, `aria-label="SIGTERM to worker 1"`, `aria-label="Deadline, the end of the grace period"`, `data-scale data-from="0" data-to="60"`} {
			if strings.Count(text, want) != 1 {
				t.Fatalf("%s is there %d times", want, strings.Count(text, want))
			}
		}
		if strings.Count(text, `role="slider"`) != 2 || (s.Deadline() > sim.Horizon) != strings.Contains(text, "→") {
			t.Fatal("the sliders are not two, or a deadline beyond the end does not say so")
		}
	}
}

// The handles' pills lie beside each other, whatever the settings: at the least
// width that shows pills, and at wide ones.
func TestTheHandlesNeverLieOverEachOther(t *testing.T) {
	for signal := sim.Time(0); signal <= 600; signal += 5 {
		for grace := sim.Time(0); grace <= 300; grace += 5 {
			s := sim.Opening()
			s.Signal, s.Grace = signal, grace
			snap := sim.Simulate(s).At(0)
			a, b := handlesOf(snap)
			for _, width := range []float64{504, 700, 784, 1000, 1500} {
				at := func(h handle) (left, right float64) {
					place := h.places[0]
					if width >= 784 {
						place = h.places[len(h.places)-1]
					}
					percent, err := strconv.ParseFloat(strings.TrimSuffix(place.x, "%"), 64)
					if err != nil {
						t.Fatal(err)
					}
					left = percent*width/100 + float64(place.left)
					return left, left + float64(h.pill)
				}
				aLeft, aRight := at(a)
				bLeft, bRight := at(b)
				if aRight > bLeft && aLeft < bRight {
					t.Fatalf("signal %s s, grace %s s, %v pixels: SIGTERM %.0f to %.0f, deadline %.0f to %.0f", signal, grace, width, aLeft, aRight, bLeft, bRight)
				}
				if bRight > width+12 {
					t.Fatalf("signal %s s, grace %s s, %v pixels: the deadline reaches to %.0f", signal, grace, width, bRight)
				}
			}
		}
	}
}

// The arrivals are one stop, and so are the dots of a prediction: at most six
// between the tabs and Play.
func TestThePictureHasFewTabStops(t *testing.T) {
	for _, query := range []string{"", "t=60", "predict=required", "interval=0.5&workers=4&slots=8&t=60", "p.dies=6&t=60"} {
		link := linkOf(t, query)
		r := link.View.Run()
		stops := 0
		for _, p := range append(r.Live(course.Frame{T: link.T, Until: link.T}), r.Own(link)...) {
			if p.Slot == course.Picture || p.Slot == course.Verdict {
				stops += strings.Count(html(t, p.Body), `tabindex="0"`)
			}
		}
		if stops > 4 || stops < 2 {
			t.Errorf("%s: %d stops", query, stops)
		}
	}
}

func TestTheDotsOfAPredictionAreButtonsWithNames(t *testing.T) {
	text := page(t, "predict=required")
	for i, at := range arrivalTimes(sim.Opening()) {
		want := fmt.Sprintf(`role="button" aria-pressed="false" aria-label="Request %d, arrives at %s s" data-mark="%[1]d"`, i+1, at)
		if !strings.Contains(text, want) || !strings.Contains(text, fmt.Sprintf(`id="p-dies-%d"`, i+1)) {
			t.Errorf("request %d has no button or no box", i+1)
		}
	}
	// Judged, each says what came of it.
	text = page(t, "p.dies=6,7,13&t=60")
	for _, want := range []string{"Request 6, arrives at 11 s: you say that it dies, and it does", "Request 7, arrives at 13 s: you say that it dies, and it does not",
		"Request 14, arrives at 27 s: it dies, and you did not say so"} {
		if !strings.Contains(text, `aria-label="`+want+`"`) {
			t.Errorf("no dot says %q", want)
		}
	}
	if strings.Contains(text, "data-mark") {
		t.Error("what is judged can still be pressed")
	}
}

// What was turned away is a ring, what was lost a cross on its ground, what was
// kept a tick: nothing has two of them.
func TestLostAndTurnedAwayAreUnlikeInShape(t *testing.T) {
	link := linkOf(t, "t=60")
	text := html(t, lanesPart(buildLanes(viewIn(link).compute(), viewIn(link).compute().At(link.T), link.T).asPart()))
	for symbol, want := range map[string]int{"s-admitted": 7, "s-away": 13, "s-kept": 3, "s-lost": 4, "s-killed": 1, "s-rejected": 0} {
		if got := strings.Count(text, `href="#`+symbol+`"`); got != want {
			t.Errorf("%d of %s, want %d", got, symbol, want)
		}
	}
	strip := words(partsHTML(t, link.View.Run().Live(course.Frame{T: link.T, Until: link.T})[:1]))
	if want := "Accepted work: 7 admitted 3 kept 4 lost 0 running Turned away before acceptance 13"; !strings.HasPrefix(strip, want) {
		t.Errorf("the strip says %s", strip)
	}
	if !strings.Contains(strip, "Fixture gate, at 60 s ✕ FAIL killed 4 &gt; 0, rejected 65 % &gt; 20 %") {
		t.Errorf("the strip says %s", strip)
	}
	for _, want := range []string{"not yet"} {
		if strip := words(page(t, "t=59.9")); !strings.Contains(strip, want) {
			t.Errorf("before the end it does not say %q", want)
		}
	}
}

func TestWordsAreExplainedWhereTheyFirstStand(t *testing.T) {
	text := words(page(t, ""))
	for _, want := range []string{"The fixture gate is the check that this made-up service has to pass", "Committed-output fixture A fixture stands for something real",
		"Common baseline settings The opening values, from which every case of this lesson starts."} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not said", want)
		}
	}
}

// Every figure in the lesson's prose comes from a run; here stand the right ones.
func TestTheProseQuotesTheRuns(t *testing.T) {
	text := words(page(t, "")) + words(html(t, New().AboutPage(linkOf(t, ""))))
	for _, want := range []string{
		"In the opening run a worker boots for 4 s, then takes requests into its 4 slots . A request comes every 2 s from 1 s to 39 s.",
		"it holds a slot for 20 s and, when it completes, commits its result. At 30 s worker 1 gets SIGTERM",
		"of 20 that arrive only 7 get in. At 30 s comes SIGTERM",
		"3 invocations have committed, and requests 6, 13, 14 and 15 die unfinished",
		"Here a grace of 21 s would save it",
		"Request 6 commits at 31 s, and 3 still die at 40 s",
		"Give it 20 s and all 7 commit; the worker leaves by itself at 49 s",
		"it takes request 16 at 31 s, after it was told to stop, and that one is killed at 50 s. 8 admitted, 7 completed",
		"the new worker is ready 4 s after the signal and admits requests 18, 19 and 20: 10 complete",
		"with 4 killed and 65 % rejected",
		"complete 16 of 20 and reject 20 %: PASS",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the prose lacks %q", want)
		}
	}
}

func TestTheGuideTellsAStepOnceItIsShown(t *testing.T) {
	r := linkOf(t, "grace=10").View.Run()
	before := words(html(t, stepsPart(buildSteps(r.(run).Run, course.Frame{T: 300, Until: 300}))))
	after := words(html(t, stepsPart(buildSteps(r.(run).Run, course.Frame{T: 600, Until: 600, Shown: r.Shown(600)}))))
	const outcome = "7 admitted, 4 completed, requests 13, 14 and 15 killed. Worker 1 killed at 40 s. FAIL."
	if strings.Contains(before, outcome) || !strings.Contains(before, "0 of 6 shown") {
		t.Errorf("before it is shown: %s", before)
	}
	if !strings.Contains(after, outcome) || !strings.Contains(after, "1 of 6 shown") || r.Shown(600) != 2 {
		t.Errorf("once it is shown: %s", after)
	}
	own := sim.Experiments()[5].Settings
	own.Allowance = 15
	own.Workers = 2
	passing := sim.Simulate(own)
	if !passing.Account().Passes(own.Allowance) {
		t.Fatal("the run of one's own does not pass")
	}
	if text := words(html(t, stepsPart(buildSteps(passing, course.Frame{T: sim.Horizon, Until: sim.Horizon, Shown: 1 << 5})))); !strings.Contains(text, outcomeOf(passing)) {
		t.Errorf("a run of one's own that passes: %s", text)
	}
	if text := words(html(t, stepsPart(buildSteps(passing, course.Frame{T: 10, Until: 10, Shown: 1 << 5})))); !strings.Contains(text, "A run of yours has passed.") {
		t.Errorf("and later: %s", text)
	}
}

// frameAt is a frame of a player that stands.
func frameAt(t sim.Time) course.Frame { return course.Frame{T: t, Until: t} }

func outcomeOf(r *sim.Run) string { return words(outcome(r)) }

// What a link locks or hides is not offered.
func TestALinkLeavesOut(t *testing.T) {
	for query, leaves := range map[string][]string{
		"hide=text": {"INITIALIZE"}, "lock=grace&t=60&panel=why": {`data-set="grace=`, `id="pin"`, `id="f-sweep"`}, "hide=controls": {},
		"lock=all&a.grace=20&panel=compare": {`id="swap"`},
	} {
		text := page(t, query)
		for _, part := range leaves {
			if strings.Contains(text, part) {
				t.Errorf("%s has %s", query, part)
			}
		}
	}
	if text := page(t, "hide=controls"); !regexp.MustCompile(`<section id="predict"[^>]* hidden`).MatchString(text) {
		t.Error("without controls the prediction is there")
	}
	if text := page(t, "hide=controls&predict=required"); regexp.MustCompile(`<section id="predict"[^>]* hidden`).MatchString(text) {
		t.Error("a prediction that is required is not there")
	}
	if text := page(t, "lock=grace&t=60&panel=why"); !strings.Contains(text, `data-set="`) && strings.Contains(text, "One change that passes") {
		t.Error("nothing is offered that is not locked")
	}
}

func TestSheetsAreForPaper(t *testing.T) {
	l := New()
	link := linkOf(t, "grace=10")
	asked, key := l.Sheet(link, "https://lessons.test")
	questions, answers := html(t, asked), html(t, key)
	if n := strings.Count(questions, "<li>"); n != 5 || strings.Count(questions, `class="blank"`) < n {
		t.Errorf("%d questions, %d rows to write in", n, strings.Count(questions, `class="blank"`))
	}
	for _, want := range []string{"7 admitted, 4 completed, 3 killed, 0 still running, 13 rejected.", "Killed: 13, 14 and 15.",
		"Worker 1 is killed at 40 s, when the grace of 10 s ends: it still owned requests 13, 14 and 15.", "The gate says FAIL.", "No single change of one setting passes."} {
		if !strings.Contains(words(answers), want) {
			t.Errorf("the answers lack %q: %s", want, words(answers))
		}
		if strings.Contains(words(questions), want) {
			t.Errorf("the questions have the answer %q", want)
		}
	}
	_, key = l.Sheet(linkOf(t, "duration=8&grace=10&replacement=1"), "")
	if text := words(html(t, key)); !strings.Contains(text, "It passes as it is.") || !strings.Contains(text, "Worker 1 exits at 37 s") {
		t.Errorf("a run that passes: %s", text)
	}
	_, key = l.Sheet(linkOf(t, "fail_init=1"), "")
	if text := words(html(t, key)); !strings.Contains(text, "Worker 1's boot fails at 4 s; it takes no signal.") && !strings.Contains(text, "Worker 1&#39;s boot fails") {
		t.Errorf("a boot that fails: %s", text)
	}
}

func TestFiguresDifferWhereWhatTheyShowDiffers(t *testing.T) {
	keys := map[string]string{}
	for i, same := range [][]string{
		{"", "grace=0&speed=4", "hide=text&lock=grace&x=slots", "b.grace=0&grace=20"}, {"grace=10", "grace=10.0&worker=1"}, {"grace=10&t=30"}, {"grace=10&t=30.1"},
	} {
		for _, query := range same {
			link := linkOf(t, query)
			f := link.View.Run().Figure(link.T)
			if other, ok := keys[f.Key]; ok && other != fmt.Sprint(i) {
				t.Errorf("%s has the key of another picture", query)
			}
			keys[f.Key] = fmt.Sprint(i)
			if query == same[0] {
				var card, want bytes.Buffer
				if err := f.Card(&card); err != nil {
					t.Fatal(err)
				}
				if err := Card(&want, viewIn(link).compute().At(link.T), "Graceful shutdown: stop admitting, then drain"); err != nil || !bytes.Equal(card.Bytes(), want.Bytes()) {
					t.Errorf("%s: another card, %v", query, err)
				}
			}
		}
	}
	if len(keys) != 4 {
		t.Errorf("%d keys", len(keys))
	}
}
