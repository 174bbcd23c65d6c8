package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"go.yaml.in/yaml/v3"

	"drainlab/internal/clocks"
)

// clocksTab is a tab with lesson 3 in it.
type clocksTab struct{ lesson }

func openClocks(t *testing.T, url string, expected ...string) clocksTab {
	t.Helper()
	b := clocksTab{lesson{newTab(t, expected...)}}
	b.open(url)
	return b
}

// shows waits until the page shows these settings and the verdict.
func (b clocksTab) shows(verdict string, settings ...string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`document.querySelector("#verdict").innerText === %q && %q.split("&").every(s => s === "" || ("&" + document.querySelector("#view").value + "&").includes("&" + s + "&"))`,
		verdict, strings.Join(settings, "&")))
}

// value is what a field shows.
func (b clocksTab) value(name string) string {
	b.t.Helper()
	return eval[string](b.tab, fmt.Sprintf(`document.querySelector("#n-%s").value`, name))
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

func TestEachPlatformGoesFromFailToPassByTheFixListAlone(t *testing.T) {
	server := startServer(t)
	b := openClocks(t, server.url+"/lessons/clocks")
	for _, p := range clocks.Platforms() {
		// From the page's own choice: its documented default, and the page it cites.
		b.open(server.url + "/lessons/clocks")
		b.run(chromedp.Click(chromedp.CSS("#platform-" + p.ID)))
		b.wait(fmt.Sprintf(`location.search.includes("platform=%s") && document.querySelector("#platform-%s").getAttribute("aria-current") === "true"`, p.ID, p.ID))
		if got := b.value("grace"); got != p.Grace.String() {
			t.Errorf("%s opens with a grace of %s", p.ID, got)
		}
		if got := eval[bool](b.tab, `document.querySelector("#c-hook_in_grace").checked`); got != p.HookInGrace {
			t.Errorf("%s: the hook is in the grace: %v", p.ID, got)
		}
		if note := b.text("#platform-note"); !strings.Contains(note, p.Document) || !strings.Contains(note, clocks.LookedUp) || !strings.Contains(note, "Default grace "+p.Grace.String()+" s") {
			t.Errorf("%s cites %q", p.ID, note)
		}
		// A stream that no default covers, in a server that does not cut it.
		b.open(server.url + "/lessons/clocks?platform=" + p.ID + "&long=2000&deadline=0&server_timeout=none&long_age=0.1")
		b.shows("FAIL")
		for step := 0; ; step++ {
			if step == 5 {
				t.Fatalf("%s: five fixes do not lead to PASS: %s", p.ID, b.text("#view"))
			}
			before := eval[string](b.tab, "location.search")
			b.run(chromedp.Click(chromedp.CSS("#clock-fixes a.fix")))
			b.wait(fmt.Sprintf(`location.search !== %q && "?" + document.querySelector("#view").value === location.search`, before))
			if b.text("#verdict") == "PASS" {
				break
			}
		}
		if p.Most != clocks.Never {
			s := eval[float64](b.tab, `Number(document.querySelector("#n-grace").value)`)
			if s*10 > float64(p.Most) {
				t.Errorf("%s: the fix goes to a grace of %v s, and the most is %s s", p.ID, s, p.Most)
			}
		}
		if got := b.text("#fix-h"); got != "What would break it" {
			t.Errorf("%s: after PASS the list is headed %q", p.ID, got)
		}
	}
}

func TestTheClocksFollowEveryControl(t *testing.T) {
	server := startServer(t)
	b := openClocks(t, server.url+"/lessons/clocks", "400 (Bad Request)")
	b.shows("PASS")
	if got := b.text(".budget-text"); got != "The plan needs 18 s of the 30 s until the kill: 12 s to spare." {
		t.Errorf("the budget says %q", got)
	}

	// By the slider, over its stops, by keyboard; the picture follows.
	b.keys(b.named("slider", "Outer termination grace"), strings.Repeat(kb.ArrowLeft, 15))
	b.shows("FAIL", "grace=15")
	if got := b.value("grace"); got != "15" {
		t.Errorf("the field shows %s", got)
	}
	if got := eval[string](b.tab, `document.querySelector("#c-grace").getAttribute("aria-valuetext")`); got != "15 seconds" {
		t.Errorf("the slider reads %q", got)
	}
	b.wait(`document.querySelector(".clock-kill").textContent.includes("SIGKILL at 15 s")`)
	if got := b.text("#clock-verdict .reasons"); got != "cleanup not begun\nthe process did not leave by itself" {
		t.Errorf("the reasons are %q", got)
	}
	if got := b.text(".budget-text"); got != "The plan needs 18 s, and the kill comes at 15 s: an overrun of 3 s." {
		t.Errorf("the budget says %q", got)
	}
	if got := eval[string](b.tab, "document.activeElement.id"); got != "c-grace" {
		t.Errorf("the focus is at %q", got)
	}
	// By the field, to a value between stops.
	b.type_("#n-grace", "15.9")
	b.shows("FAIL", "grace=15.9")
	b.type_("#n-grace", "16")
	b.shows("PASS", "grace=16")
	// Dragged by the mouse to the far end, the slider stays in the hand.
	x0, y := b.place("#c-prestop", `el.value`)
	x1, _ := b.place("#c-prestop", `el.max`)
	b.run(chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, x0, y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	b.run(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x1, y, chromedp.ButtonLeft))
	b.shows("FAIL", "prestop=600")
	if got := eval[bool](b.tab, `document.querySelector("#c-prestop").value === document.querySelector("#c-prestop").max`); !got {
		t.Error("the slider went back under the hand")
	}
	b.run(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, x1, y, chromedp.ButtonLeft, chromedp.ClickCount(1)))

	// Back and forward are steps of the history, one for a gesture.
	b.run(chromedp.Func(goBack))
	b.shows("PASS", "grace=16", "prestop=5")
	b.run(chromedp.Func(goForward))
	b.shows("FAIL", "prestop=600")
	b.run(chromedp.Click(chromedp.CSS("#opening-settings")))
	b.shows("PASS", "grace=30", "prestop=5")

	// Toggles, words, none.
	b.keys("#c-signal_handled", " ")
	b.shows("FAIL", "signal_handled=0")
	if got := b.text("#clock-budget"); !strings.Contains(got, "there is no plan") {
		t.Errorf("without the signal the budget says %q", got)
	}
	b.keys("#c-signal_handled", " ")
	b.shows("PASS", "signal_handled=1")
	b.keys(`input[name=gate][value=prestop]`, kb.ArrowRight)
	b.shows("PASS", "gate=term")
	b.wait(`document.querySelector("#clock-words").innerText.includes("admission gate and listener close")`)
	b.keys("#c-server_timeout", kb.End)
	b.shows("PASS", "server_timeout=none")
	if got := eval[string](b.tab, `document.querySelector("#c-server_timeout").getAttribute("aria-valuetext")`); got != "none" {
		t.Errorf("without a bound the slider reads %q", got)
	}
	b.type_("#n-server_timeout", "3")
	b.shows("FAIL", "server_timeout=3")
	if got := b.text("#clock-requests"); !strings.Contains(got, "cancelled by the server's timeout at 8 s") || !strings.Contains(got, "confirmed stopped at 8.5 s") {
		t.Errorf("the requests read %q", got)
	}

	// What is not allowed is told, and the run keeps what it had.
	b.type_("#n-server_timeout", "soon"+kb.Tab)
	b.wait(`document.querySelector("#note-server_timeout").innerText.includes("got soon; allowed:")`)
	b.type_("#n-server_timeout", "20")
	b.shows("PASS", "server_timeout=20")
	b.type_("#n-long_age", "25")
	b.wait(`document.querySelector("#note-long_age").innerText.includes("less than the 20 s")`)
	b.type_("#n-long_age", "7")
	b.shows("PASS", "long_age=7")
	b.wait(`document.querySelector("#note-long_age").innerText === ""`)
	if got := eval[string](b.tab, `document.querySelector("#clock-verdict [role=status]").textContent`); got != "Verdict: PASS" {
		t.Errorf("a screen reader hears %q", got)
	}

	// A reload and a shared link show the same.
	before := eval[string](b.tab, "location.search + document.querySelector('#clock-picture').innerHTML")
	b.run(chromedp.Reload())
	if after := eval[string](b.tab, "location.search + document.querySelector('#clock-picture').innerHTML"); after != before {
		t.Error("after a reload the picture is another one")
	}
	// Each case leads to what it says.
	for i := range 6 {
		outcome := eval[string](b.tab, fmt.Sprintf(`document.querySelectorAll("#cases-panel .outcome")[%d].textContent`, i))
		link := fmt.Sprintf("#cases-panel li:nth-child(%d) a", i+1)
		b.run(chromedp.Click(chromedp.CSS(link)))
		b.wait(fmt.Sprintf(`document.querySelector("#view").value === new URL(document.querySelector(%q).href).search.slice(1)`, link))
		b.shows(outcome[:4])
		admitted := eval[string](b.tab, `document.querySelector("#clock-counts dd").innerText`)
		if !strings.Contains(outcome, ": "+admitted+" admitted") {
			t.Errorf("case %d says %q, the page %s admitted", i+1, outcome, admitted)
		}
	}
}

func TestTheMapLeadsToItsCellsInBothLessons(t *testing.T) {
	server := startServer(t)
	b := openClocks(t, server.url+"/lessons/clocks?server_timeout=60&long=40")
	// cell is what the page's map draws at a place, read from its paths.
	cell := func() string {
		return eval[string](b.tab, `(() => {
			const el = document.querySelector("#sweep"), rows = el.dataset.ys.split(" ").length;
			const p = document.querySelector(".sweep-cells").createSVGPoint();
			p.x = Number(el.dataset.hereX) + 0.5; p.y = rows - 1 - Number(el.dataset.hereY) + 0.5;
			return [...document.querySelectorAll(".sweep-cells .cell")].filter(c => c.isPointInFill(p)).map(c => c.className.baseVal.replace("cell cell-", "")).join(" ");
		})()`)
	}
	if got := cell(); got != "killed" {
		t.Fatalf("the settings' own cell is %q", got)
	}
	// By keyboard from FAIL to PASS; the focus stays on the map.
	b.keys("#sweep-map", strings.Repeat(kb.ArrowRight, 2))
	b.shows("PASS", "grace=40")
	b.wait(`document.querySelector("#sweep-here").innerText === "preStop duration 5 s, Outer termination grace 40 s: PASS"`)
	if got := cell(); got != "pass" {
		t.Errorf("in a run that passes the cell is %q", got)
	}
	if got := eval[string](b.tab, "document.activeElement.id"); got != "sweep-map" {
		t.Errorf("the focus went to %q", got)
	}
	b.keys("#sweep-map", kb.ArrowUp)
	b.shows("PASS", "prestop=5.5", "grace=40")
	// By the mouse.
	click := func(share float64) {
		at := eval[[]float64](b.tab, fmt.Sprintf(`(() => { const el = document.querySelector(".sweep-cells"); el.scrollIntoView({block: "center", behavior: "instant"});
			const r = el.getBoundingClientRect(); return [r.left + r.width * %v, r.top + r.height * 0.5]; })()`, share))
		b.run(chromedp.MouseClickXY(at[0], at[1]))
	}
	click(0.9)
	b.wait(`Number(document.querySelector("#n-grace").value) >= 1500 && document.querySelector("#verdict").innerText === "PASS"`)
	// Other axes, of which one is in words.
	b.choose("#sweep-y", "gate")
	b.wait(`location.search.includes("y=gate") && document.querySelector("#sweep").dataset.ys === "prestop term none"`)

	// Lesson 1: the same map over a session.
	l := openLesson(t, server.url+"/lessons/drain?duration=8&replacement=1&t=60")
	b.lesson = l
	l.wait(`document.querySelector("#sweep-here").innerText.endsWith(": killed")`)
	l.keys("#sweep-map", strings.Repeat(kb.ArrowRight, 16))
	l.wait(`document.querySelector("#n-grace").value === "8" && document.querySelector("#gate .pill").innerText.includes("PASS")`)
	l.wait(`document.querySelector("#sweep-here").innerText === "Invocation duration 8 s, Grace period 8 s: PASS"`)
	if got := cell(); got != "pass" {
		t.Errorf("in lesson 1 the cell of a run that passes is %q", got)
	}
	l.choose("#sweep-x", "startup")
	l.wait(`location.search.includes("x=startup") && document.querySelector("#sweep").dataset.x === "startup"`)
	l.run(chromedp.Reload())
	l.connected()
	if got := eval[string](l.tab, `document.querySelector("#sweep-x").value`); got != "startup" {
		t.Errorf("after a reload the axis is %q", got)
	}
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
	shown := eval[[][]string](b.tab, `[...document.querySelectorAll(".matrix tr")].map(tr => [...tr.children].map(c => c.textContent))`)
	links := eval[map[string]string](b.tab, `Object.fromEntries([...document.querySelectorAll("#clock-matrix a[download]")].map(a => [a.href.match(/files\/([^?]+)/)[1], a.href]))`)
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
	for _, row := range shown {
		if line := "| " + strings.Join(row, " | ") + " |\n"; !strings.Contains(text, line) {
			t.Errorf("the Markdown lacks %q", line)
		}
	}
	text, _ = get(t, links["matrix.json"])
	var doc struct {
		Settings map[string]any
		Verdict  string
		Clocks   []map[string]string
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil || len(doc.Clocks) != 9 || doc.Settings["grace"] != 42.5 || doc.Settings["cleanup_budget"] != "none" {
		t.Errorf("the JSON holds %+v (%v)", doc, err)
	}
	for i, row := range doc.Clocks {
		if row["clock"] != shown[i+1][0] || row["value"] != shown[i+1][2] || row["ends"] != shown[i+1][4] {
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
}

func TestTheClocksLessonWorksWithoutScript(t *testing.T) {
	server := startServer(t)
	b := clocksTab{lesson{newTab(t)}}
	call(b.tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.open(server.url + "/lessons/clocks?platform=docker")
	b.wait(`document.querySelector("#verdict").innerText === "FAIL"`)
	if shown := eval[bool](b.tab, `document.querySelector("#c-grace").checkVisibility()`); shown {
		t.Error("a slider that does nothing is shown")
	}
	b.type_("#n-grace", "11")
	b.keys("#c-cooperative", " ")
	b.press("Apply settings")
	b.wait(`location.search.includes("grace=11&") && location.search.includes("cooperative=0") && location.search.includes("platform=docker") && document.querySelector("#verdict").innerText === "PASS"`)
	b.open(server.url + "/lessons/clocks?platform=docker")
	b.run(chromedp.Click(chromedp.CSS("#clock-fixes a.fix")))
	b.wait(`location.search.includes("grace=11&") && document.querySelector("#verdict").innerText === "PASS"`)
	// Other axes by the form's button.
	b.choose("#sweep-y", "long")
	b.press("Show")
	b.wait(`location.search.includes("y=long") && location.search.includes("platform=docker") && document.querySelector("#sweep-here").innerText.startsWith("One long request")`)
	b.open(server.url + "/lessons/drain?t=60")
	b.choose("#sweep-y", "interval")
	b.press("Show")
	b.wait(`location.search.includes("y=interval") && location.search.includes("t=60") && document.querySelector("#sweep-here").innerText.startsWith("Request interval")`)
}

// fetches lets a test stand between the page and the server: what is pushed to
// window.answers answers the next requests in place of the server.
const fetches = `(() => {
	const direct = window.fetch;
	window.answers = [];
	window.told = [];
	window.fetch = async (...args) => {
		const next = window.answers.shift();
		return next ? next(() => direct(...args)) : direct(...args);
	};
	new MutationObserver(() => window.told.push(document.querySelector("#problem").textContent)).observe(document.querySelector("#problem"), {childList: true, subtree: true, characterData: true});
	return true;
})()`

func TestTheClocksPageAndItsAddressNeverPart(t *testing.T) {
	server := startServer(t)
	b := openClocks(t, server.url+"/lessons/clocks")
	b.shows("PASS")
	eval[bool](b.tab, fetches)
	next := func(answer string) {
		t.Helper()
		eval[bool](b.tab, "window.answers.push("+answer+") > 0")
	}
	agree := func(settings ...string) {
		t.Helper()
		for _, s := range settings {
			b.wait(fmt.Sprintf(`("&" + location.search.slice(1) + "&").includes("&%s&") && "?" + document.querySelector("#view").value === location.search`, s))
		}
	}

	// Back while a change is under way: the change stays in the history, ahead.
	b.type_("#n-grace", "31")
	agree("grace=31")
	next(`async (go) => { await new Promise(done => window.letIn = done); return go(); }`)
	b.keys("#c-cooperative", " ")
	b.wait(`location.search.includes("cooperative=0") && window.letIn`)
	b.run(chromedp.Func(goBack))
	b.wait(`location.search.includes("cooperative=1")`)
	eval[bool](b.tab, `(window.letIn(), true)`)
	b.wait(`window.answers.length === 0 && document.querySelector("#c-cooperative").checked`)
	agree("cooperative=1", "grace=31")
	b.run(chromedp.Func(goForward))
	agree("cooperative=0", "grace=31")
	b.wait(`!document.querySelector("#c-cooperative").checked`)
	b.run(chromedp.Func(goBack))
	agree("cooperative=1", "grace=31")
	b.run(chromedp.Func(goBack))
	b.wait(`document.querySelector("#n-grace").value === "30"`)
	agree("grace=30")

	// An answer that breaks off, one that ends too early, an error page of a
	// proxy: each is asked for again, and nothing of it is shown.
	for i, trouble := range []struct{ answer, message string }{
		{`async (go) => { const whole = await (await go()).text(); let n = 0;
			return new Response(new ReadableStream({pull(c) { n++ ? c.error(new TypeError("gone")) : c.enqueue(new TextEncoder().encode(whole.slice(0, 9000))); }})); }`,
			"The server does not answer. Trying again…"},
		{`async (go) => { const whole = await (await go()).text(); return new Response(whole.slice(0, 9000)); }`, "The server's answer is not whole. Trying again…"},
		{`async () => new Response("<html><h1>Bad gateway</h1></html>", {status: 502, headers: {"Content-Type": "text/html"}})`, "The server is in trouble (502). Trying again…"},
		{`async () => { throw new TypeError("Failed to fetch"); }`, "The server does not answer. Trying again…"},
	} {
		eval[bool](b.tab, `(window.told = [], true)`)
		next(trouble.answer)
		grace := fmt.Sprint(16 + i)
		b.type_("#n-grace", grace)
		b.shows("PASS", "grace="+grace)
		agree("grace=" + grace)
		if got := eval[[]string](b.tab, `window.told`); !slices.Equal(got, []string{trouble.message, ""}) {
			t.Errorf("it says %q, want %q", got, trouble.message)
		}
	}
	// What asking again does not mend is told without the foreign page.
	next(`async () => new Response("<html><h1>Not here</h1></html>", {status: 404, headers: {"Content-Type": "text/html"}})`)
	b.keys("#c-cooperative", " ")
	b.wait(`document.querySelector("#problem").textContent === "The server does not take this (404)" && document.querySelector("#c-cooperative").checked`)
	agree("cooperative=1")
	b.keys("#c-cooperative", " ")
	agree("cooperative=0")
	b.wait(`document.querySelector("#problem").textContent === ""`)

	// Back while the focus is in a field: it shows what the run has, also where
	// the address does not name the setting.
	b.type_("#n-grace", "26")
	agree("grace=26")
	b.run(chromedp.Func(goBack))
	agree("cooperative=0", "grace=19")
	b.wait(`document.querySelector("#n-grace").value === "19" && document.activeElement.id === "n-grace"`)
	b.open(server.url + "/lessons/clocks")
	b.type_("#n-grace", "27")
	agree("grace=27")
	b.run(chromedp.Func(goBack))
	b.wait(`document.querySelector("#n-grace").value === "30" && document.activeElement.id === "n-grace"`)
	agree("grace=30")
	// … and with something half typed in it, which is not meant for that view.
	b.open(server.url + "/lessons/clocks")
	b.keys("#c-hook_in_grace", " ")
	agree("hook_in_grace=0")
	eval[bool](b.tab, fetches)
	next(`async (go) => { await new Promise(done => setTimeout(done, 600)); return go(); }`)
	b.type_("#n-grace", "28")
	b.run(chromedp.Func(goBack))
	agree("hook_in_grace=1", "grace=30")
	b.wait(`document.querySelector("#n-grace").value === "30"`)
	eval[bool](b.tab, `(window.since = performance.now(), true)`)
	b.wait(`performance.now() - window.since > 700`)
	agree("hook_in_grace=1", "grace=30")
	if got := b.value("grace"); got != "30" {
		t.Errorf("the field shows %s", got)
	}
	// The person may go on in it.
	b.type_("#n-grace", "29")
	agree("grace=29", "hook_in_grace=1")
}

func TestWhatTheClocksDoNotAllowIsToldBesideItsControl(t *testing.T) {
	server := startServer(t)
	b := openClocks(t, server.url+"/lessons/clocks", "400 (Bad Request)")
	b.shows("PASS")
	note := func(name, text string) {
		t.Helper()
		b.wait(fmt.Sprintf(`document.querySelector("#note-%s").innerText === %q && document.querySelector("#n-%s").getAttribute("aria-invalid") === "true" && document.querySelector("#problem").innerText === ""`, name, text, name))
	}
	fine := func(name, value string) {
		t.Helper()
		b.wait(fmt.Sprintf(`document.querySelector("#note-%s").innerText === "" && !document.querySelector("#n-%s").hasAttribute("aria-invalid") && document.querySelector("#n-%s").value === %q`, name, name, name, value))
	}
	// A slider goes to what does not go with the rest.
	x, y := b.place("#c-long", `el.dataset.stops.split(" ").indexOf("4")`)
	b.run(chromedp.MouseClickXY(x, y))
	note("long", `One long request lasts (0: none): got 4, which does not go with the rest. … and is this old at time 0: got "5"; allowed: less than the 4 s that the long request lasts (long), or no long request (long=0). The run keeps 20.`)
	b.shows("PASS", "long=20")
	b.wait(`location.search.includes("long=20&")`)
	if at := eval[string](b.tab, `document.querySelector("#c-long").getAttribute("aria-valuetext") + " " + document.querySelector("#n-long").value`); at != "4 seconds 4" {
		t.Errorf("slider and field went to %s", at)
	}
	// The other setting follows, and Enter sends what was not taken.
	b.type_("#n-long_age", "3")
	b.shows("PASS", "long_age=3", "long=20")
	b.keys("#n-long", kb.Enter)
	b.shows("PASS", "long_age=3", "long=4")
	fine("long", "4")
	b.type_("#n-long_age", "25")
	note("long_age", `… and is this old at time 0: got "25"; allowed: less than the 4 s that the long request lasts (long), or no long request (long=0). The run keeps 3.`)
	b.run(chromedp.Click(chromedp.CSS("#opening-settings")))
	fine("long_age", "5")
	b.shows("PASS", "long=20", "long_age=5")

	// A field that takes a word too has a range as well.
	for name, c := range map[string]struct{ bad, most, keeps string }{"server_timeout": {"4000", "3600", "20"}, "cleanup_budget": {"60.1", "60", "2"}} {
		b.type_("#n-"+name, c.bad+kb.Tab)
		label := eval[string](b.tab, fmt.Sprintf(`document.querySelector("#n-%s").dataset.label`, name))
		note(name, fmt.Sprintf("%s: got %s; allowed: a plain decimal number from 0 to %s s in steps of 0.1 s, or none. The run keeps %s.", label, c.bad, c.most, c.keeps))
		b.type_("#n-"+name, c.most)
		b.shows("PASS", name+"="+c.most)
		fine(name, c.most)
		b.type_("#n-"+name, "none")
		b.shows("PASS", name+"=none")
		fine(name, "none")
	}
	// The map goes where nothing is: it comes back, and says so.
	b.open(server.url + "/lessons/clocks?x=long&y=long_age")
	b.shows("PASS")
	b.keys("#sweep-map", kb.Home)
	b.shows("PASS", "long=0")
	b.keys("#sweep-map", kb.ArrowRight)
	b.wait(`document.querySelector("#problem").innerText.includes("allowed: less than the 1 s")`)
	b.wait(`document.querySelector(".cell-here").getAttribute("x") === "0"`)
	b.shows("PASS", "long=0")
	fine("long", "0")
}

func TestChoosingAPlatformKeepsTheFocusAndOpensItsExport(t *testing.T) {
	server := startServer(t)
	b := openClocks(t, server.url+"/lessons/clocks")
	open := func() string {
		t.Helper()
		return eval[string](b.tab, `[...document.querySelectorAll(".exports details[open]")].map(d => d.id).join(" ")`)
	}
	if got := open(); got != "export-kubernetes" {
		t.Errorf("at first %s is open", got)
	}
	b.run(chromedp.Click(chromedp.CSS("#platform-docker")))
	b.wait(`document.querySelector("#platform-docker").getAttribute("aria-current") === "true" && document.querySelector("#export-docker").open`)
	if got := open(); got != "export-docker" {
		t.Errorf("with Docker %s is open", got)
	}
	// What the person opens stays open through other changes.
	b.run(chromedp.Click(chromedp.CSS("#export-nomad summary")))
	b.type_("#n-grace", "11")
	b.shows("PASS", "grace=11", "platform=docker")
	if got := open(); got != "export-docker export-nomad" {
		t.Errorf("after a change %s is open", got)
	}
	// A link that goes away leaves the focus in its section.
	for _, press := range []string{"click", "Enter"} {
		b.type_("#n-grace", "12")
		b.wait(`document.querySelector(".differs a")`)
		if press == "click" {
			b.run(chromedp.Click(chromedp.CSS(".differs a")))
		} else {
			b.keys(".differs a", kb.Enter)
		}
		b.wait(`document.querySelector("#view").value.includes("grace=10&") && !document.querySelector(".differs a")`)
		if got := eval[string](b.tab, "document.activeElement.id"); got != "controls-panel" {
			t.Errorf("after %s the focus is at %q", press, got)
		}
	}
}

// What is written in the picture and in the budget's bar is whole, wherever
// the clocks stand, and nothing lies over it.
func TestTheClocksPictureCutsNoWords(t *testing.T) {
	server := startServer(t)
	b := openClocks(t, server.url+"/lessons/clocks")
	for _, query := range []string{
		"", "grace=3&prestop=210&withdraw=2.5&cleanup=1.5", "propagation=270", "hook_in_grace=0&propagation=14&cleanup=8&request=360&deadline=30",
		"withdraw=35&propagation=3&server_timeout=5&long_age=18&deadline=240", "prestop=11&grace=27", "platform=ec2-spot&long=0", "grace=0",
	} {
		b.open(server.url + "/lessons/clocks?" + query)
		for _, width := range []int64{390, 760, 1440} {
			b.size(width, 900)
			faults := eval[[]string](b.tab, `(() => {
				const faults = [];
				let words = 0;
				for (const svg of document.querySelectorAll(".plot-clocks, svg.budget")) {
					const all = [...svg.querySelectorAll("text")].filter(el => el.textContent !== "" && el.checkVisibility())
						.map(el => ({text: el.textContent, box: el.getBoundingClientRect(), part: el.classList.contains("part-text") ? el.previousElementSibling : svg}));
					words += all.length;
					all.forEach(({text, box, part}, i) => {
						const room = part.getBoundingClientRect();
						if (box.left < room.left - 1 || box.right > room.right + 1) faults.push(text + " is cut");
						for (const other of all.slice(0, i)) {
							if (box.left < other.box.right - 1 && other.box.left < box.right - 1 && box.top < other.box.bottom - 4 && other.box.top < box.bottom - 4) faults.push(text + " lies over " + other.text);
						}
					});
				}
				return words < 15 ? ["there are " + words + " words"] : faults;
			})()`)
			for _, fault := range faults {
				t.Errorf("%s at %d px: %s", query, width, fault)
			}
		}
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
