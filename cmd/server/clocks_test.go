package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"go.yaml.in/yaml/v3"

	"drainlab/internal/clocks"
	"drainlab/internal/setting"
)

// clocksPage is a tab with lesson 3 in it.
type clocksPage struct{ lesson }

func openClocks(t *testing.T, url string, expected ...string) clocksPage {
	t.Helper()
	return clocksPage{openLesson(t, url, expected...)}
}

// load opens another address in the tab.
func (b clocksPage) load(url string) {
	b.t.Helper()
	b.open(url)
	b.connected()
}

// shows waits until strip and address show this verdict and these settings; an
// empty value is one that the address does not name, which opens with it.
func (b clocksPage) shows(verdict string, settings ...string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`document.readyState === "complete" && document.querySelector("#strip .stamp").innerText.endsWith(%q)`, verdict))
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		b.addressed(name, value)
	}
}

// value is what a field shows.
func (b clocksPage) value(name string) string {
	b.t.Helper()
	return eval[string](b.tab, fmt.Sprintf(`document.querySelector("#n-%s").value`, name))
}

// expectNote waits until this is told beside a setting's field, and nowhere else.
func (b clocksPage) expectNote(name, text string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`document.querySelector("#note-%s").innerText === %q && document.querySelector("#n-%s").getAttribute("aria-invalid") === "true" && document.querySelector("#problem").innerText === ""`, name, text, name))
}

// expectFine waits until a field shows this, and nothing is told beside it.
func (b clocksPage) expectFine(name, value string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`document.querySelector("#note-%s").innerText === "" && !document.querySelector("#n-%s").hasAttribute("aria-invalid") && document.querySelector("#n-%s").value === %q`, name, name, name, value))
}

// get fetches an address of the server as a program does.
func get(t *testing.T, url string) (string, http.Header) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s answers %s: %s", url, resp.Status, data)
	}
	return string(data), resp.Header
}

var lookedUp = regexp.MustCompile(`, looked up (\d+ \w+ \d{4})\.`)

func TestEachPlatformGoesFromFailToPassByTheFixListAlone(t *testing.T) {
	server := startServer(t)
	b := openClocks(t, server.url+"/lessons/clocks")
	for _, p := range clocks.Platforms() {
		// From the page's own choice: its documented default, and the page it cites.
		b.load(server.url + "/lessons/clocks?panel=clocks")
		b.click("#platform-" + p.ID)
		b.addressed("platform", p.ID)
		b.wait(fmt.Sprintf(`document.querySelector("#platform-%s").getAttribute("aria-current") === "true" && document.querySelectorAll(".chips [aria-current]").length === 1`, p.ID))
		if got := b.value("grace"); got != p.Grace.String() {
			t.Errorf("%s opens with a grace of %s", p.ID, got)
		}
		if got := eval[bool](b.tab, `document.querySelector("#c-hook_in_grace").checked`); got != p.HookInGrace {
			t.Errorf("%s: the hook is in the grace: %v", p.ID, got)
		}
		note := b.text("#platform-note")
		if !strings.Contains(note, p.Document) || !strings.Contains(note, "Default grace "+p.Grace.String()+" s") {
			t.Errorf("%s cites %q", p.ID, note)
		}
		if got := eval[string](b.tab, `document.querySelector("#platform-note cite a").href`); got != p.URL {
			t.Errorf("%s cites %s, not %s", p.ID, got, p.URL)
		}
		if day := lookedUp.FindStringSubmatch(note); day == nil || day[1] != clocks.LookedUp {
			t.Errorf("%s does not say when it was looked up: %q", p.ID, note)
		} else if _, err := time.Parse("2 January 2006", day[1]); err != nil {
			t.Errorf("%s was looked up on no day: %v", p.ID, err)
		}
		// A stream that no default covers, in a server that does not cut it.
		b.load(server.url + "/lessons/clocks?platform=" + p.ID + "&long=2000&deadline=0&server_timeout=none&long_age=0.1&panel=budget")
		b.shows("FAIL", "platform="+p.ID)
		b.wait(`document.querySelector("#fix-h").innerText === "What would fix it"`)
		for step := 0; ; step++ {
			if step == 5 {
				t.Fatalf("%s: five fixes do not lead to PASS: %s", p.ID, b.query())
			}
			before, list := b.query().Encode(), b.text("#fixes")
			b.click("#fixes a.fix")
			b.wait(fmt.Sprintf(`document.querySelector("#fixes").innerText !== %q`, list))
			if b.query().Encode() == before {
				t.Fatalf("%s: the list is another one, and the address still %s", p.ID, before)
			}
			if strings.HasSuffix(b.text("#strip .stamp"), "PASS") {
				break
			}
		}
		if got := eval[float64](b.tab, `Number(document.querySelector("#n-grace").value)`); p.Most != clocks.Never && got*10 > float64(p.Most) {
			t.Errorf("%s: the fix goes to a grace of %v s, and the most is %s s", p.ID, got, p.Most)
		}
		if got := b.text("#fix-h"); got != "What would break it" {
			t.Errorf("%s: after PASS the list is headed %q", p.ID, got)
		}
	}
}

func TestTheClocksFollowEveryControl(t *testing.T) {
	server := startServer(t)
	b := openClocks(t, server.url+"/lessons/clocks?panel=clocks", "400 (Bad Request)")
	b.shows("PASS")
	budget := func(text string) {
		t.Helper()
		b.tabOpen("budget")
		b.wait(fmt.Sprintf(`document.querySelector("#budget").innerText.includes(%q)`, text))
		b.tabOpen("clocks")
	}
	budget("The plan needs 18 s of the 30 s until the kill: 12 s to spare.")

	// By the slider, over its stops, by keyboard; the picture follows.
	b.keys("#c-grace", strings.Repeat(kb.ArrowLeft, 15))
	b.shows("FAIL", "grace=15")
	if got := b.value("grace"); got != "15" {
		t.Errorf("the field shows %s", got)
	}
	if got := eval[string](b.tab, `document.querySelector("#c-grace").getAttribute("aria-valuetext")`); got != "15 seconds" {
		t.Errorf("the slider reads %q", got)
	}
	b.wait(`document.querySelector("#h-grace").getAttribute("aria-valuenow") === "15" && document.querySelector("#chart-told").textContent.includes("The grace of 15 s ends at 15 s")`)
	if got := eval[string](b.tab, "document.activeElement.id"); got != "c-grace" {
		t.Errorf("the focus is at %q", got)
	}
	budget("The plan needs 18 s, and the kill comes at 15 s: an overrun of 3 s.")
	b.tabOpen("trace")
	if got := b.text("#trace .reasons"); got != "cleanup not begun\nthe process did not leave by itself" {
		t.Errorf("the reasons are %q", got)
	}
	b.tabOpen("clocks")
	// By the field, to a value between stops.
	b.replace("#n-grace", "15.9")
	b.shows("FAIL", "grace=15.9")
	b.replace("#n-grace", "16")
	b.shows("PASS", "grace=16")
	// Dragged by the mouse to the far end, the slider stays in the hand.
	x0, y := b.thumb("#c-prestop", `el.value`)
	x1, _ := b.thumb("#c-prestop", `el.max`)
	b.mouse(input.DispatchMouseEventTypeMousePressed, x0, y)
	b.mouse(input.DispatchMouseEventTypeMouseMoved, x1, y)
	b.shows("FAIL", "prestop=600")
	if got := eval[bool](b.tab, `document.querySelector("#c-prestop").value === document.querySelector("#c-prestop").max`); !got {
		t.Error("the slider went back under the hand")
	}
	b.mouse(input.DispatchMouseEventTypeMouseReleased, x1, y)

	// Back and forward are steps of the history, one for a gesture.
	b.run(chromedp.Func(goBack))
	b.shows("PASS", "grace=16", "prestop=")
	b.run(chromedp.Func(goForward))
	b.shows("FAIL", "prestop=600")
	b.press("Opening settings")
	b.shows("PASS")
	b.wait(`location.search === "?model=1&panel=clocks"`)

	// Toggles, words, none.
	b.keys("#c-signal_handled", " ")
	b.shows("FAIL", "signal_handled=0")
	budget("there is no plan")
	b.keys("#c-signal_handled", " ")
	b.shows("PASS", "signal_handled=")
	b.keys("#c-gate-prestop", kb.ArrowRight)
	b.shows("PASS", "gate=term")
	b.wait(`document.querySelector("#trace").textContent.includes("admission gate and listener close")`)
	b.keys("#c-server_timeout", kb.End)
	b.shows("PASS", "server_timeout=none")
	if got := eval[string](b.tab, `document.querySelector("#c-server_timeout").getAttribute("aria-valuetext")`); got != "none" {
		t.Errorf("without a bound the slider reads %q", got)
	}
	b.wait(`!document.querySelector("#h-server_timeout")`) // a clock without an end has none to drag
	b.replace("#n-server_timeout", "3")
	b.shows("FAIL", "server_timeout=3")
	b.tabOpen("budget")
	if got := b.text("#requests"); !strings.Contains(got, "cancelled by the server's timeout at 8 s") || !strings.Contains(got, "confirmed stopped at 8.5 s") {
		t.Errorf("the requests read %q", got)
	}
	b.tabOpen("clocks")

	// What is not allowed is told, and the run keeps what it had.
	b.replace("#n-server_timeout", "soon"+kb.Tab)
	b.wait(`document.querySelector("#note-server_timeout").innerText.includes("got soon; allowed:")`)
	b.replace("#n-server_timeout", "20")
	b.shows("PASS", "server_timeout=")
	b.replace("#n-long_age", "25")
	b.wait(`document.querySelector("#note-long_age").innerText.includes("less than the 20 s")`)
	b.replace("#n-long_age", "7")
	b.shows("PASS", "long_age=7")
	b.wait(`document.querySelector("#note-long_age").innerText === ""`)
	if got := eval[string](b.tab, `document.querySelector("#strip [role=status]").textContent`); got != "Verdict: PASS" {
		t.Errorf("a screen reader hears %q", got)
	}

	// A reload and a shared link show the same.
	const whole = `location.search + document.querySelector("#stage").innerText + document.querySelector("#chart-told").textContent`
	before := eval[string](b.tab, whole)
	b.run(chromedp.Reload())
	b.connected()
	if after := eval[string](b.tab, whole); after != before {
		t.Errorf("after a reload the stage is another one: %q, before %q", after, before)
	}
	other := openClocks(t, eval[string](b.tab, "location.href"))
	if there := eval[string](other.tab, whole); there != before {
		t.Errorf("in another browser the stage is another one: %q, here %q", there, before)
	}
}

// Each worked case is opened whole, as the lesson is, and tells its outcome
// where it was seen.
func TestTheWorkedCasesLeadToWhatTheySay(t *testing.T) {
	server := startServer(t)
	b := openClocks(t, server.url+"/lessons/clocks")
	titles := eval[[]string](b.tab, `[...document.querySelectorAll(".case button")].map(el => el.getAttribute("aria-label"))`)
	if len(titles) != 6 || eval[bool](b.tab, `Boolean(document.querySelector(".outcome"))`) {
		t.Fatalf("the cases are %q, and none is told yet", titles)
	}
	for i, title := range titles {
		b.press(title)
		b.wait(fmt.Sprintf(`document.querySelector(".case-now button").getAttribute("aria-label") === %q && document.querySelector(".case-now .outcome")`, title))
		b.wait(fmt.Sprintf(`document.querySelector("#guide").innerText.includes("%d of 6 seen")`, i+1))
		b.click(".case-now summary")
		outcome := b.text(".case-now .outcome")
		b.shows(outcome[:4], "t=")
		// The callers' figures add up to those that were admitted.
		if admitted := eval[int](b.tab, `["completed", "killed", "cancelled", "deadline"].map(id => Number(document.getElementById(id)?.innerText ?? 0)).reduce((a, b) => a + b)`); !strings.Contains(outcome, fmt.Sprintf(": %d admitted", admitted)) {
			t.Errorf("%s says %q, the strip %d admitted", title, outcome, admitted)
		}
		if end := eval[string](b.tab, `document.querySelector("#time").max`); !strings.HasSuffix(outcome, " at "+end+" s.") && !strings.Contains(outcome, "refused") {
			t.Errorf("%s says %q, and the run ends at %s s", title, outcome, end)
		}
	}
	// What was seen stays seen; the verdict is told at the end alone.
	b.press("Restart")
	b.shows("not yet", "t=0")
	if got := eval[int](b.tab, `document.querySelectorAll(".case .outcome").length`); got != 6 {
		t.Errorf("at 0 s the outcomes of %d cases are told", got)
	}
}

// stands is the instant, in seconds, at which the middle of a handle lies on
// the chart's axis.
func (b clocksPage) stands(handle string) float64 {
	b.t.Helper()
	return eval[float64](b.tab, fmt.Sprintf(`(() => {
		const plot = document.querySelector("#chart [data-scale]"), box = plot.getBoundingClientRect(), r = document.querySelector("#h-%s .clocks-hit").getBoundingClientRect();
		const from = Number(plot.dataset.from), to = Number(plot.dataset.to);
		return from + (r.left + r.width / 2 - box.left) / box.width * (to - from);
	})()`, handle))
}

// A clock's end in the picture is a slider: by mouse and by keys.
func TestTheClocksAreDraggedInThePicture(t *testing.T) {
	server := startServer(t)
	b := openClocks(t, server.url+"/lessons/clocks?panel=clocks", "400 (Bad Request)")
	b.shows("PASS")
	// Each stands where its clock ends, and says what it is.
	for name, want := range map[string]struct {
		at    float64
		state string
	}{
		"grace": {30, "Outer termination grace,0,3600,30,30 seconds"}, "prestop": {5, "preStop duration,0,600,5,5 seconds"},
		"propagation": {2, "Routing propagation,0,300,2,2 seconds"}, "server_timeout": {25, "Server graceful timeout,0,3600,20,20 seconds"},
		"cleanup_budget": {17, "Cleanup budget,0,60,2,2 seconds"}, "long": {15, "Long request,0,3600,20,20 seconds"},
	} {
		if got := eval[string](b.tab, fmt.Sprintf(`["label", "valuemin", "valuemax", "valuenow", "valuetext"].map(n => document.querySelector("#h-%s[role=slider][tabindex='0']").getAttribute("aria-" + n)).join()`, name)); got != want.state {
			t.Errorf("the handle of %s reads %q", name, got)
		}
		if got := b.stands(name); math.Abs(got-want.at) > 0.2 {
			t.Errorf("the handle of %s stands at %.2f s", name, got)
		}
	}
	drag := func(name string, by ...float64) {
		t.Helper()
		second := eval[float64](b.tab, `(() => { const plot = document.querySelector("#chart [data-scale]"); return plot.getBoundingClientRect().width / (plot.dataset.to - plot.dataset.from); })()`)
		x, y := b.middle("#h-" + name + " .clocks-hit")
		b.mouse(input.DispatchMouseEventTypeMousePressed, x, y)
		for _, d := range by {
			b.mouse(input.DispatchMouseEventTypeMouseMoved, x+d*second, y)
		}
	}
	released := func() { t.Helper(); b.mouse(input.DispatchMouseEventTypeMouseReleased, 5, 5) }

	// By mouse: the run follows as one drags, and the control with it.
	drag("grace", -4, -15)
	b.shows("FAIL", "grace=15")
	b.wait(`document.querySelector("#n-grace").value === "15" && document.querySelector("#c-grace").getAttribute("aria-valuetext") === "15 seconds"`)
	x, y := b.middle("#h-grace .clocks-hit")
	released()
	if got := b.stands("grace"); math.Abs(got-15) > 0.2 {
		t.Errorf("the dragged handle stands at %.2f s", got)
	}
	// What moves when it has been let go moves nothing.
	b.mouse(input.DispatchMouseEventTypeMouseMoved, x+100, y)
	// One drag is one step of the history.
	b.run(chromedp.Func(goBack))
	b.shows("PASS", "grace=")
	b.wait(`document.querySelector("#h-grace").getAttribute("aria-valuenow") === "30" && document.querySelector("#n-grace").value === "30"`)
	b.run(chromedp.Func(goForward))
	b.shows("FAIL", "grace=15")
	b.press("Opening settings")
	b.shows("PASS", "grace=")
	// One that begins at the signal sets its own length, and the signal takes it along.
	drag("server_timeout", -8, -12)
	b.shows("FAIL", "server_timeout=8")
	released()
	drag("prestop", 5)
	b.shows("PASS", "prestop=10", "server_timeout=8")
	released()
	if got := b.stands("server_timeout"); math.Abs(got-18) > 0.3 {
		t.Errorf("with a hook of 10 s the server's timeout of 8 s ends at %.2f s", got)
	}
	b.press("Opening settings")
	b.shows("PASS", "prestop=")

	// By keys, as the control does; the focus stays while frames come.
	b.keys("#h-prestop", kb.ArrowRight)
	b.addressed("prestop", "5.5")
	b.run(chromedp.KeyEvent(kb.ArrowLeft + kb.ArrowDown))
	b.addressed("prestop", "4.5")
	b.run(chromedp.KeyEvent(kb.ArrowUp + kb.PageUp))
	b.addressed("prestop", "10")
	b.run(chromedp.KeyEvent(kb.PageDown + kb.Home))
	b.addressed("prestop", "0")
	b.run(chromedp.KeyEvent(kb.End))
	b.shows("FAIL", "prestop=600")
	b.wait(`document.activeElement.id === "h-prestop" && document.querySelector("#n-prestop").value === "600"`)
	b.keys("#h-grace", kb.End)
	b.shows("PASS", "grace=3600")
	b.press("Opening settings")
	b.shows("PASS", "prestop=", "grace=")

	// What does not go with the rest is told, beside its control or, where that
	// is not seen, on the page; the handle goes back to what the run has.
	const refused = `One long request lasts (0: none): got 4, which does not go with the rest. … and is this old at time 0: got "5"; allowed: less than the 4 s that the long request lasts (long), or no long request (long=0). The run keeps 20.`
	drag("long", -16)
	b.expectNote("long", refused)
	released()
	back := `document.querySelector("#h-long").getAttribute("aria-valuenow") === "20"`
	b.wait(back)
	b.shows("PASS", "long=")
	b.press("Opening settings")
	b.expectFine("long", "20")
	b.tabOpen("trace")
	drag("long", -16)
	b.wait(`document.querySelector("#problem").checkVisibility() && document.querySelector("#problem").innerText.includes("allowed: less than the 4 s")`)
	released()
	b.wait(back)
	b.keys("#h-long", kb.ArrowRight)
	b.shows("PASS", "long=21")
	b.wait(`document.querySelector("#problem").innerText === ""`)

	// Space plays from there, too.
	b.press("Restart")
	b.at("0.0")
	b.keys("#h-grace", " ")
	b.wait(`document.querySelector("#play-button").innerText.includes("Pause") && parseFloat(document.querySelector("#now").innerText) > 0`)
	b.press("Pause")

	// What a link locks is not moved in the picture either.
	b.load(server.url + "/lessons/clocks?lock=grace")
	b.wait(`document.querySelector("#h-grace").getAttribute("aria-disabled") === "true"`)
	b.keys("#h-grace", kb.End)
	drag("grace", -15)
	released()
	b.keys("#h-prestop", kb.ArrowRight)
	b.shows("PASS", "prestop=5.5", "grace=")
}

func TestTheClocksMapLeadsToItsCells(t *testing.T) {
	server := startServer(t)
	b := openClocks(t, server.url+"/lessons/clocks?server_timeout=60&long=40")
	// cell is what the page's map draws at a place, read from its paths.
	cell := func() string {
		t.Helper()
		return eval[string](b.tab, `(() => {
			const el = document.querySelector("#sweep"), rows = el.dataset.ys.split(" ").length;
			const p = document.querySelector(".sweep-cells").createSVGPoint();
			p.x = Number(el.dataset.hereX) + 0.5; p.y = rows - 1 - Number(el.dataset.hereY) + 0.5;
			return [...document.querySelectorAll(".sweep-cells .cell")].filter(c => c.isPointInFill(p)).map(c => c.className.baseVal.replace("cell cell-", "")).join(" ");
		})()`)
	}
	here := func(text string) {
		t.Helper()
		b.wait(fmt.Sprintf(`document.querySelector("#sweep-here").innerText === %q`, text))
	}
	// It comes when its tab is opened, and takes the stage.
	if eval[bool](b.tab, `Boolean(document.querySelector("#sweep-map"))`) {
		t.Error("the page brings the map of a tab that is not open")
	}
	b.tabOpen("map")
	b.wait(`document.querySelector("#sweep-map").checkVisibility() && !document.querySelector("#picture").checkVisibility()`)
	if got := cell(); got != "killed" {
		t.Fatalf("the settings' own cell is %q", got)
	}
	// By keyboard from FAIL to PASS; the focus stays on the map.
	b.keys("#sweep-map", strings.Repeat(kb.ArrowRight, 2))
	b.shows("PASS", "grace=40")
	here("preStop duration 5 s, Outer termination grace 40 s: PASS")
	if got := cell(); got != "pass" {
		t.Errorf("in a run that passes the cell is %q", got)
	}
	if got := eval[string](b.tab, "document.activeElement.id"); got != "sweep-map" {
		t.Errorf("the focus went to %q", got)
	}
	b.keys("#sweep-map", kb.ArrowUp)
	b.shows("PASS", "prestop=5.5", "grace=40")
	here("preStop duration 5.5 s, Outer termination grace 40 s: PASS")
	// By the mouse.
	at := eval[[]float64](b.tab, `(() => { const r = document.querySelector(".sweep-cells").getBoundingClientRect(); return [r.left + r.width * 0.9, r.top + r.height * 0.5]; })()`)
	b.run(chromedp.MouseClickXY(at[0], at[1]))
	b.wait(`Number(document.querySelector("#n-grace").value) >= 1500`)
	b.shows("PASS")
	b.wait(`document.querySelector("#sweep-here").innerText.endsWith("Outer termination grace " + document.querySelector("#n-grace").value + " s: PASS")`)
	if got := cell(); got != "pass" {
		t.Errorf("the cell that was clicked is %q", got)
	}
	// Other axes, of which one is in words: a choice of this viewer, in the address.
	b.choose("#sweep-y", "gate")
	b.addressed("y", "gate")
	b.wait(`document.querySelector("#sweep").dataset.ys === "prestop term none"`)
	b.run(chromedp.Reload())
	b.connected()
	b.wait(`document.querySelector("#sweep-y").value === "gate" && document.querySelector("#sweep").dataset.y === "gate"`)
}

// podManifest is what lesson 3 exports for Kubernetes.
type podManifest struct {
	Spec struct {
		Grace      int `yaml:"terminationGracePeriodSeconds"`
		Containers []struct {
			Name      string
			Lifecycle struct {
				PreStop struct {
					Sleep *struct{ Seconds int }
				} `yaml:"preStop"`
			}
		}
	}
}

// The downloads hold what the page shows, and the settings parse.
func TestTheMatrixIsTakenAwayAsItStands(t *testing.T) {
	server := startServer(t)
	b := openClocks(t, server.url+"/lessons/clocks?platform=kubernetes&grace=42.5&prestop=7.5&server_timeout=25&cleanup_budget=none")
	if eval[bool](b.tab, `Boolean(document.querySelector(".matrix, #exports pre"))`) {
		t.Error("the page brings the matrix of a tab that is not open")
	}
	b.tabOpen("owners")
	b.wait(`document.querySelector(".matrix").checkVisibility() && document.querySelector("#exports pre") && !document.querySelector("#picture").checkVisibility()`)
	shown := eval[[][]string](b.tab, `[...document.querySelectorAll(".matrix tr")].map(tr => [...tr.children].map(c => c.textContent))`)
	links := eval[map[string]string](b.tab, `Object.fromEntries([...document.querySelectorAll("#exports a[download]")].map(a => [a.href.match(/files\/([^?]+)/)[1], a.href]))`)
	if len(links) != 10 || len(shown) != 10 {
		t.Fatalf("%d downloads, %d rows: %v", len(links), len(shown), links)
	}
	text, header := get(t, links["matrix.csv"])
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || !slices.EqualFunc(rows, shown, slices.Equal[[]string]) {
		t.Errorf("the CSV holds %q, the page %q (%v)", rows, shown, err)
	}
	if !strings.Contains(header.Get("Content-Disposition"), `filename="matrix.csv"`) {
		t.Errorf("it is named %q", header.Get("Content-Disposition"))
	}
	text, _ = get(t, links["matrix.md"])
	var lines [][]string
	for line := range strings.Lines(text) {
		if cells := strings.Split(strings.TrimSpace(line), " | "); len(cells) == len(shown[0]) {
			cells[0], cells[len(cells)-1] = strings.TrimPrefix(cells[0], "| "), strings.TrimSuffix(cells[len(cells)-1], " |")
			if strings.Trim(cells[1], "-: ") != "" {
				lines = append(lines, cells)
			}
		}
	}
	if !slices.EqualFunc(lines, shown, slices.Equal[[]string]) {
		t.Errorf("the Markdown holds %q, the page %q", lines, shown)
	}
	text, _ = get(t, links["matrix.json"])
	var doc struct {
		Settings map[string]any
		Verdict  string
		Clocks   []map[string]string
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil || len(doc.Clocks) != 9 || doc.Settings["grace"] != 42.5 || doc.Settings["cleanup_budget"] != "none" {
		t.Fatalf("the JSON holds %+v (%v)", doc, err)
	}
	if !strings.HasSuffix(b.text("#strip .stamp"), strings.ToUpper(doc.Verdict)) {
		t.Errorf("the JSON says %s, the page %s", doc.Verdict, b.text("#strip .stamp"))
	}
	for i, row := range doc.Clocks {
		cells := []string{row["clock"], row["owner"], row["value"], row["starts"], row["ends"], row["does_not_promise"], row["evidence"]}
		if !slices.Equal(cells, shown[i+1]) {
			t.Errorf("the JSON's row %d is %v, the page's %v", i, row, shown[i+1])
		}
	}

	text, _ = get(t, links["kubernetes"])
	var manifest podManifest
	decoder := yaml.NewDecoder(strings.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&manifest); err != nil {
		t.Fatalf("the manifest does not parse: %v\n%s", err, text)
	}
	if manifest.Spec.Grace != 43 || len(manifest.Spec.Containers) != 1 || manifest.Spec.Containers[0].Lifecycle.PreStop.Sleep.Seconds != 8 || !strings.Contains(text, "42.5 s, rounded up") {
		t.Errorf("the manifest says %+v", manifest)
	}
	if !strings.Contains(text, "server graceful timeout: 25 s") {
		t.Errorf("the manifest does not name the application's own clocks:\n%s", text)
	}
	text, _ = get(t, links["ecs"])
	var task struct {
		ContainerDefinitions []struct{ StopTimeout int }
	}
	if err := json.Unmarshal([]byte(text), &task); err != nil || task.ContainerDefinitions[0].StopTimeout != 35 {
		t.Errorf("the task definition says %+v (%v)", task, err)
	}
	for file, line := range map[string]string{"docker": "docker stop -t 35 app\n", "systemd": "TimeoutStopSec=35s\n", "fly": "kill_timeout = 35\n",
		"nomad": "  kill_timeout = \"35s\" # more than the 30 s that Nomad takes unless the client's max_kill_timeout allows more\n", "render": "    maxShutdownDelaySeconds: 35\n"} {
		if text, _ := get(t, links[file]); !strings.Contains(text, line) {
			t.Errorf("%s lacks %q:\n%s", file, line, text)
		}
		if on := eval[string](b.tab, fmt.Sprintf(`document.querySelector("#export-%s code").textContent`, file)); !strings.Contains(on, line) {
			t.Errorf("the page shows for %s: %s", file, on)
		}
	}
	// Other settings, other files.
	b.tabOpen("clocks")
	b.replace("#n-grace", "50"+kb.Tab)
	b.addressed("grace", "50")
	b.tabOpen("owners")
	b.wait(`document.querySelector("#exports a[href*='files/kubernetes']").href.includes("grace=50")`)
	if text, _ := get(t, eval[string](b.tab, `document.querySelector("#exports a[href*='files/kubernetes']").href`)); !strings.Contains(text, "terminationGracePeriodSeconds: 51 # 50 s; ") {
		t.Errorf("with a grace of 50 s the manifest is %s", text)
	}
}

func TestWhatTheClocksDoNotAllowIsToldBesideItsControl(t *testing.T) {
	server := startServer(t)
	b := openClocks(t, server.url+"/lessons/clocks?panel=clocks", "400 (Bad Request)")
	b.shows("PASS")
	// A slider goes to what does not go with the rest.
	x, y := b.thumb("#c-long", `el.dataset.stops.split(" ").indexOf("4")`)
	b.run(chromedp.MouseClickXY(x, y))
	b.expectNote("long", `One long request lasts (0: none): got 4, which does not go with the rest. … and is this old at time 0: got "5"; allowed: less than the 4 s that the long request lasts (long), or no long request (long=0). The run keeps 20.`)
	b.shows("PASS", "long=")
	if at := eval[string](b.tab, `document.querySelector("#c-long").getAttribute("aria-valuetext") + " " + document.querySelector("#n-long").value`); at != "4 seconds 4" {
		t.Errorf("slider and field went to %s", at)
	}
	// The run goes on to other settings: the field shows again what it has.
	b.replace("#n-long_age", "3")
	b.shows("PASS", "long_age=3", "long=")
	b.expectFine("long", "20")
	// What goes with the rest now is sent by Enter, at once.
	b.replace("#n-long", "4"+kb.Enter)
	b.shows("PASS", "long_age=3", "long=4")
	b.expectFine("long", "4")
	b.replace("#n-long_age", "25")
	b.expectNote("long_age", `… and is this old at time 0: got "25"; allowed: less than the 4 s that the long request lasts (long), or no long request (long=0). The run keeps 3.`)
	b.press("Opening settings")
	b.expectFine("long", "20")
	b.expectFine("long_age", "5")
	b.shows("PASS", "long=", "long_age=")

	// A field that takes a word too has a range as well.
	for name, c := range map[string]struct{ bad, most, keeps string }{"server_timeout": {"4000", "3600", "20"}, "cleanup_budget": {"60.1", "60", "2"}} {
		b.replace("#n-"+name, c.bad+kb.Tab)
		label := eval[string](b.tab, fmt.Sprintf(`document.querySelector("#n-%s").dataset.label`, name))
		b.expectNote(name, fmt.Sprintf("%s: got %s; allowed: a plain decimal number from 0 to %s s in steps of 0.1 s, or none. The run keeps %s.", label, c.bad, c.most, c.keeps))
		b.replace("#n-"+name, c.most)
		b.shows("PASS", name+"="+c.most)
		b.expectFine(name, c.most)
		b.replace("#n-"+name, "none")
		b.shows("PASS", name+"=none")
		b.expectFine(name, "none")
	}
	// The map goes where nothing is: it comes back, and says so.
	b.load(server.url + "/lessons/clocks?x=long&y=long_age&panel=map")
	b.shows("PASS")
	b.keys("#sweep-map", kb.Home)
	b.shows("PASS", "long=0")
	b.wait(`document.querySelector(".cell-here").getAttribute("x") === "0"`)
	b.keys("#sweep-map", kb.ArrowRight)
	b.wait(`document.querySelector("#problem").innerText.includes("allowed: less than the 1 s")`)
	b.wait(`document.querySelector(".cell-here").getAttribute("x") === "0"`)
	b.shows("PASS", "long=0")
	b.tabOpen("clocks")
	b.expectFine("long", "0")
	// An address that asks for it is refused in the same words.
	resp, err := http.Get(server.url + "/lessons/clocks?long=4")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), "allowed: less than the 4 s that the long request lasts") {
		t.Errorf("the address is answered by %s: %s", resp.Status, body)
	}
}

// frames notes what a person reads after every frame, once its pieces are all there.
const frames = `(() => {
	window.frames_ = [];
	let timer;
	const read = () => {
		const frame = JSON.stringify({
			now: document.querySelector("#now").innerText,
			told: document.querySelector("#chart-told").textContent,
			chart: [...document.querySelectorAll("#chart .clocks-words")].map(el => el.textContent).join("\n"),
			stamp: document.querySelector("#strip .stamp").innerText.trim(),
			note: document.querySelector("#strip .strip-note")?.innerText ?? "",
			announced: document.querySelector("#strip [role=status]").textContent,
			figures: Object.fromEntries([...document.querySelectorAll("#strip .figure b")].map(el => [el.id, Number(el.innerText)]).filter(([, n]) => n > 0)),
			trace: [...document.querySelectorAll("#trace .words li")].map(el => [...el.children].map(c => c.innerText).join(" ")),
			verdict: document.querySelector("#trace .verdict")?.innerText ?? "",
			reasons: document.querySelector("#trace .reasons")?.innerText ?? "",
		});
		if (window.frames_.at(-1) !== frame) window.frames_.push(frame);
	};
	new MutationObserver(() => { clearTimeout(timer); timer = setTimeout(read, 25); }).observe(document.querySelector("#lesson"), {childList: true, subtree: true, characterData: true});
	read();
	return true;
})()`

type clocksFrame struct {
	Now, Told, Chart, Stamp, Note, Announced, Verdict, Reasons string
	Figures                                                    map[string]int
	Trace                                                      []string
}

// accountAt counts by the model what has become of requests and of their work
// by t, by the ids of the strip's figures.
func accountAt(run *clocks.Run, t clocks.Time) map[string]int {
	n := map[string]int{}
	for q := range run.Requests() {
		switch {
		case q.Arrival > t:
			continue
		case q.Outcome == clocks.Rejected || q.Outcome == clocks.Refused:
			n[q.Outcome.String()]++
			continue
		case q.EndedAt > t:
			n["open"]++
		default:
			n[q.Outcome.String()]++
		}
		switch {
		case q.Work == clocks.Unknown && run.End <= t:
			n["work-unknown"]++
		case q.Work == clocks.Unknown || q.WorkEndedAt > t:
			n["work-going"]++
		case q.Work == clocks.ConfirmedStopped:
			n["work-stopped"]++
		default:
			n["work-completed"]++
		}
	}
	return n
}

// Played from 0 to its end, the lesson tells at no instant what comes after it.
func TestTheClocksPlayAndTellNothingAhead(t *testing.T) {
	server := startServer(t)
	for _, c := range []struct {
		query string
		fate  clocks.Time // the long request's end
	}{
		{"prestop=3&propagation=5&server_timeout=8&long=25&cleanup=3&cleanup_budget=1&deadline=0", 11 * clocks.Second},
		{"grace=10&server_timeout=60&long=40&propagation=6&cooperative=0", 10 * clocks.Second},
		{"grace=18&propagation=1", 15 * clocks.Second},
	} {
		values, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		settings, err := clocks.ParseValues(clocks.Opening(), values)
		if err != nil {
			t.Fatal(err)
		}
		run := clocks.Simulate(settings)
		b := openClocks(t, server.url+"/lessons/clocks?"+c.query+"&t=0&speed=2&panel=budget")
		b.at("0.0")
		// What tells of the whole waits for its end.
		b.wait(`document.querySelector("#fixes").innerText.includes("Told at the run's end.") && document.querySelector("#budget").innerText.includes("held against the run at its end")`)
		b.tabOpen("owners")
		b.wait(`document.querySelector("#owners").innerText.includes("told at the run's end") && document.querySelector("#exports").innerText.includes("told at the run's end")`)
		b.tabOpen("map")
		b.wait(`document.querySelector("#sweep").innerText.includes("told at the run's end") && !document.querySelector("#sweep-map")`)
		b.tabOpen("trace")

		eval[bool](b.tab, frames)
		b.press("Play")
		b.shows(strings.ToUpper(run.Verdict()), "t=")
		b.wait(`document.querySelector("#play-button").innerText.includes("Play")`)
		var all []clocksFrame
		for _, text := range eval[[]string](b.tab, "window.frames_") {
			var f clocksFrame
			if err := json.Unmarshal([]byte(text), &f); err != nil {
				t.Fatal(err)
			}
			all = append(all, f)
		}
		last := all[len(all)-1]
		end := max(run.End, run.Instants.RouterStop)
		whole := 0
		for _, f := range all {
			now, err := setting.ParseTime(f.Now)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(f.Told, fmt.Sprintf("Termination at %s s of %s s.", now, end)) {
				continue // between two frames
			}
			whole++
			// Every moment up to now, and none after.
			var trace []string
			for _, moment := range last.Trace {
				at, text, _ := strings.Cut(moment, " s ")
				if when, err := setting.ParseTime(strings.TrimPrefix(at, "−")); err != nil {
					t.Fatalf("%q: %v", moment, err)
				} else if strings.HasPrefix(at, "−") || when <= now {
					trace = append(trace, moment)
				} else if strings.Contains(f.Told, strings.TrimSuffix(text, ".")) {
					t.Errorf("%s: at %s s the picture's text tells %q", c.query, f.Now, moment)
				}
			}
			if !slices.Equal(f.Trace, trace) {
				t.Errorf("%s: at %s s the trace tells %q, want %q", c.query, f.Now, f.Trace, trace)
			}
			if want := accountAt(run, now); fmt.Sprint(f.Figures) != fmt.Sprint(want) {
				t.Errorf("%s: at %s s the strip counts %v, the model %v", c.query, f.Now, f.Figures, want)
			}
			ahead := f.Stamp != "not yet" || f.Note != "" || f.Announced != "" || f.Verdict != "" || f.Reasons != "" || strings.Contains(f.Told, "Verdict")
			if now < end && ahead || now >= end && (f.Verdict != strings.ToUpper(run.Verdict()) || f.Announced != "Verdict: "+f.Verdict) {
				t.Errorf("%s: at %s s of %s s the verdict is %q %q %q %q", c.query, f.Now, end, f.Stamp, f.Note, f.Announced, f.Verdict)
			}
			if fate := regexp.MustCompile(`killed|cancelled|completed, |stopped|unknown|cut|too much|to spare|left`).FindString(f.Chart); now < c.fate && fate != "" && !strings.Contains(fmt.Sprint(f.Figures), fate) {
				t.Errorf("%s: at %s s the picture says %q: %s", c.query, f.Now, fate, f.Chart)
			}
		}
		if whole < 8 || len(last.Trace) < 5 {
			t.Fatalf("%s: %d of %d frames were whole, the trace has %d moments", c.query, whole, len(all), len(last.Trace))
		}
		// Now it is all told.
		b.tabOpen("budget")
		b.wait(`document.querySelectorAll("#fixes a.fix").length > 0 && document.querySelector(".budget-text")`)
		b.tabOpen("owners")
		b.wait(`document.querySelectorAll(".matrix tr").length === 10`)
		b.tabOpen("map")
		b.wait(`document.querySelector("#sweep-map")`)
	}
}

// Whatever the settings, the manifests are YAML of the fields that they name,
// and Kubernetes takes the hook: it is positive and no longer than the grace.
func TestPlatformManifestsParseWhateverTheSettings(t *testing.T) {
	for _, query := range []string{"", "prestop=40", "grace=0", "grace=0&prestop=0", "prestop=30", "prestop=4.1", "prestop=7.5&grace=42.5", "grace=3.3&hook_in_grace=0&prestop=600", "prestop=0.1&grace=0.1", "grace=3600&prestop=0"} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		s, err := clocks.ParseValues(clocks.Opening(), values)
		if err != nil {
			t.Fatal(err)
		}
		run := clocks.Simulate(s)
		parse := func(id string, into any) string {
			e, _ := run.Export(id)
			d := yaml.NewDecoder(strings.NewReader(string(e.Content)))
			d.KnownFields(true)
			if err := d.Decode(into); err != nil {
				t.Fatalf("%s: %s: %v\n%s", query, id, err, e.Content)
			}
			return string(e.Content)
		}
		var pod podManifest
		text := parse("kubernetes", &pod)
		if len(pod.Spec.Containers) != 1 || pod.Spec.Containers[0].Name != "app" {
			t.Fatalf("%s: %+v", query, pod)
		}
		hook := pod.Spec.Containers[0].Lifecycle.PreStop.Sleep
		switch fits := s.Prestop <= run.Instants.Kill; {
		case (hook == nil) != (s.Prestop == 0 || pod.Spec.Grace == 0), hook != nil && (hook.Seconds <= 0 || hook.Seconds > pod.Spec.Grace):
			t.Errorf("%s: Kubernetes does not take\n%s", query, text)
		case !fits && !strings.Contains(text, "# not the ") && !strings.Contains(text, "# no preStop hook: "):
			t.Errorf("%s: nothing says that the hook does not fit\n%s", query, text)
		}
		var blueprint struct {
			Services []struct {
				Type, Name string
				Delay      int `yaml:"maxShutdownDelaySeconds"`
			}
		}
		if text := parse("render", &blueprint); len(blueprint.Services) != 1 || blueprint.Services[0].Delay < 1 {
			t.Errorf("%s: Render does not take\n%s", query, text)
		}
	}
}
