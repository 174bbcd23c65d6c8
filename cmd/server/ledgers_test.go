package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// ledgerCounts reads both ledgers from the page.
func (b lesson) ledgerCounts() string {
	b.t.Helper()
	return eval[string](b.tab, `["requests", "work"].map(l => [...document.querySelectorAll("#ledger-" + l + " .ledger-row")].filter(r => r.querySelector("dd").textContent !== "0")
		.map(r => r.querySelector("dt").textContent + " " + r.querySelector("dd").textContent).join(", ")).join(" | ")`)
}

// runBegins waits until a run is under way, runEnds until it is over.
func (b lesson) runBegins() {
	b.t.Helper()
	b.wait(`document.querySelector("#run-status").dataset.run`)
}

func (b lesson) runEnds() {
	b.t.Helper()
	b.wait(`!document.querySelector("#run-status").dataset.run && document.querySelector("#run-note")?.textContent.startsWith("A real server did this on ") && document.readyState === "complete"`)
}

func TestTheFixtureIsRunAndBothLedgersReadByKeyboardAlone(t *testing.T) {
	server := startServer(t)
	b := openLesson(t, server.url+"/lessons/ledgers")
	// Before any run: the recorded one, said to be so with its date.
	if got := b.text("#run-note"); got != "A recorded run of the reference settings, of 30 November 2026." {
		t.Errorf("the note says %q", got)
	}
	b.keys("#run", kb.Enter)
	// It is streamed: the state machine lights up while the process lives.
	b.wait(`document.querySelector("#run-text").innerText.trim() === "A real process is running: it drains."`)
	b.wait(`document.querySelector(".ledgers-states [aria-current=step]")?.textContent.includes("DRAINING")`)
	b.runEnds()
	const reference = "admitted 3, completed 1, cancelled 2, rejected before admission 1 | unknown 1"
	if got := b.ledgerCounts(); got != reference {
		t.Errorf("the ledgers say %q", got)
	}
	if got := b.text("#strip"); !strings.Contains(got, "3 admitted =") || !strings.Contains(got, "1 unknown") || !strings.Contains(got, "exit −15") || !strings.Contains(got, "by SIGTERM") {
		t.Errorf("the strip says %q", got)
	}
	b.tabOpen("evidence")
	if differ := eval[[]string](b.tab, `[...document.querySelectorAll("#report tbody tr")].filter(r => !r.innerText.includes("same")).map(r => r.innerText)`); len(differ) > 0 {
		t.Errorf("against the reference: %v", differ)
	}
	b.tabOpen("guide")
	if !eval[bool](b.tab, `document.querySelector("#step-reference").classList.contains("step-shown")`) {
		t.Error("the step is not checked off")
	}
	// The same clients, the opposite work ledger.
	b.keys("#run-join", kb.Enter)
	b.runBegins()
	b.runEnds()
	if got := b.ledgerCounts(); got != "admitted 3, completed 1, cancelled 2, rejected before admission 1 | completed 1" {
		t.Errorf("with the work joined the ledgers say %q", got)
	}
	b.keys("#run-store", kb.Enter)
	b.runBegins()
	b.runEnds()
	b.tabOpen("evidence")
	if got := b.text("#decision"); !strings.Contains(got, "freeze") || !strings.Contains(got, "evidence was lost") {
		t.Errorf("the decision is %q", got)
	}
	// By the settings: a stop token, set by keyboard. What is seen stays until it is run.
	b.tabOpen("settings")
	b.keys("#c-store_fails", " ")
	b.keys("#c-stop_token", " ")
	b.keys("#c-graceful_timeout", kb.ArrowLeft+kb.ArrowLeft)
	if got := eval[string](b.tab, `document.querySelector("#n-graceful_timeout").value`); got != "0.8" {
		t.Errorf("the field follows its slider to %s", got)
	}
	b.wait(`document.querySelector("#start").innerText.includes("next: graceful timeout 0.8 s, cooperative stop token on, 1 more")`)
	if got := b.ledgerCounts(); !strings.HasSuffix(got, "| unknown 1") {
		t.Errorf("before the run the ledgers say %q", got)
	}
	b.keys("#run", kb.Enter)
	b.runBegins()
	b.runEnds()
	if got := b.ledgerCounts(); !strings.HasSuffix(got, "| confirmed stopped 1") {
		t.Errorf("with a stop token the ledgers say %q", got)
	}
	if q := b.query(); q.Get("graceful_timeout") != "0.8" || q.Get("stop_token") != "1" || q.Get("run") == "" || q.Get("panel") != "settings" {
		t.Errorf("the address is %v", q)
	}

	// The record can be taken away and drawn again.
	record := eval[string](b.tab, `document.querySelector("#record-link").getAttribute("href")`)
	resp, err := http.Get(server.url + record)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	file, err := os.CreateTemp(t.TempDir(), "*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.ReadFrom(resp.Body); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(file, `{"at":9,"kind":"work_fin`) // torn
	file.Close()
	b.tabOpen("record")
	b.run(chromedp.SetUploadFiles(chromedp.CSS("#record-file"), []string{file.Name()}), chromedp.Click(chromedp.CSS(".bring button")))
	b.wait(`document.querySelector("#run-note")?.textContent.startsWith("A record that was brought here")`)
	if got := b.ledgerCounts(); !strings.HasPrefix(got, "admitted 3, completed 1, cancelled 2, rejected before admission 1") || !strings.HasSuffix(got, "| confirmed stopped 1") {
		t.Errorf("the record drawn says %q", got)
	}
	if got := b.text("#run-note"); !strings.Contains(got, "Lines that could not be read: line ") {
		t.Errorf("the note says %q", got)
	}
}

func TestAStepBackShowsTheRunBefore(t *testing.T) {
	server := startServer(t)
	b := openLesson(t, server.url+"/lessons/ledgers?blocking_work=0.5&stream_chunks=2")
	b.keys("#run", kb.Enter)
	b.runBegins()
	b.runEnds()
	first := b.query().Get("run")
	b.keys("#run-token", kb.Enter)
	b.runBegins()
	b.runEnds()
	if got := b.ledgerCounts(); !strings.HasSuffix(got, "| confirmed stopped 1") {
		t.Errorf("the ledgers say %q", got)
	}
	b.run(chromedp.Func(goBack))
	b.wait(`document.querySelector("#ledger-work .ledger-completed dd").textContent === "1"`)
	if got := b.query().Get("run"); got != first {
		t.Errorf("the address names run %s, want %s", got, first)
	}
	b.run(chromedp.Func(goBack)) // to before any run of this page's
	b.wait(`document.querySelector("#run-note")?.textContent.startsWith("The last run of these settings on this server, of ")`)
}

func TestTheLedgersLessonWorksWithoutScript(t *testing.T) {
	server := startServer(t)
	b := lesson{newTab(t)}
	call(b.tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.open(server.url + "/lessons/ledgers?join_work=1&panel=settings")
	if eval[bool](b.tab, `document.querySelector("#c-graceful_timeout").checkVisibility()`) {
		t.Error("a slider that needs script is shown")
	}
	b.run(chromedp.SetValue(chromedp.CSS("#n-blocking_work"), "0.5"), chromedp.SetValue(chromedp.CSS("#n-stream_chunks"), "2"))
	b.run(chromedp.Click(chromedp.CSS("#run")))
	b.wait(`location.pathname.startsWith("/lessons/ledgers/runs/")`)
	// The page asks for itself again until the run is over.
	b.runEnds()
	if got := b.ledgerCounts(); got != "admitted 3, completed 3, rejected before admission 1 | completed 1" {
		t.Errorf("the ledgers say %q", got)
	}
	// Its tabs stay with the run.
	b.run(chromedp.Click(chromedp.CSS("#tab-link-evidence")))
	b.wait(`location.search.includes("panel=evidence") && document.querySelector("#decision").checkVisibility()`)
	if got := b.text("#run-note"); !strings.HasPrefix(got, "A real server did this on ") {
		t.Errorf("the note says %q", got)
	}
	// And the lesson's page has it as the last run of these settings.
	b.open(server.url + "/lessons/ledgers?join_work=1&blocking_work=0.5&stream_chunks=2")
	if got := b.text("#run-note"); !strings.HasPrefix(got, "The last run of these settings on this server, of ") {
		t.Errorf("the note says %q", got)
	}
}

// The whole picture is in sight at every size, whatever tab is open.
func TestTheLedgersPictureFitsItsStage(t *testing.T) {
	server := startServer(t)
	b := openLesson(t, server.url+"/lessons/ledgers")
	fits := `JSON.stringify((() => {
		const inside = (el, box) => { const r = el.getBoundingClientRect(); return r.top >= box.top - 1 && r.bottom <= box.bottom + 1 && r.left >= box.left - 1 && r.right <= box.right + 1; };
		const problems = [], stage = document.querySelector("#stage").getBoundingClientRect(), rows = document.querySelector(".run-rows");
		if (document.documentElement.scrollWidth > innerWidth) problems.push("sideways scroll of " + document.documentElement.scrollWidth);
		if (rows.scrollHeight > rows.clientHeight + 1) problems.push("rows of " + rows.scrollHeight + " in " + rows.clientHeight);
		for (const el of document.querySelectorAll(".strip-cell, .run-row, .run-name b, .run-outcome b, #start, #run-status"))
			if (!inside(el, stage)) problems.push(el.className + el.id + " " + el.textContent.trim() + " is outside the stage");
		for (const row of document.querySelectorAll(".run-row")) if (row.getBoundingClientRect().height < 17) problems.push("a row of " + row.getBoundingClientRect().height);
		if (stage.bottom > innerHeight + 1) problems.push("the stage ends at " + stage.bottom);
		return problems;
	})())`
	for _, size := range [][2]int64{{1440, 900}, {1440, 789}, {1280, 720}, {1024, 768}, {390, 844}, {360, 640}} {
		b.size(size[0], size[1])
		for _, tab := range []string{"guide", "settings", "evidence", "record"} {
			b.tabOpen(tab)
			if got := eval[string](b.tab, fits); got != "[]" {
				t.Errorf("%d × %d, %s: %s", size[0], size[1], tab, got)
			}
			if high := eval[int](b.tab, "document.documentElement.scrollHeight"); size[0] >= 900 && high > int(size[1]) {
				t.Errorf("%d × %d, %s: the page is %d px high", size[0], size[1], tab, high)
			}
		}
	}
	for _, size := range [][2]int64{{640, 440}, {340, 520}} {
		b.size(size[0], size[1])
		b.open(server.url + "/embed/lessons/ledgers")
		b.connected()
		if got := eval[string](b.tab, fits); got != "[]" {
			t.Errorf("a frame of %d × %d: %s", size[0], size[1], got)
		}
	}
}

// SIGKILL of the server in the middle of a run leaves no child behind.
func TestNoFixtureOutlivesAKilledServer(t *testing.T) {
	server := startServer(t)
	resp, err := http.Post(server.url+"/api/v1/fixture-runs", "application/json", strings.NewReader(`{"blocking_work": 8, "graceful_timeout": 5}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	var children []string
	for len(children) == 0 { // the process is started at once
		list, err := os.ReadDir("/proc")
		if err != nil {
			t.Skip("no procfs: ", err)
		}
		for _, p := range list {
			stat, err := os.ReadFile("/proc/" + p.Name() + "/stat")
			if err != nil {
				continue
			}
			_, rest, _ := strings.Cut(string(stat), ") ")
			if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == fmt.Sprint(server.cmd.Process.Pid) {
				children = append(children, p.Name())
			}
		}
	}
	server.kill()
	for _, pid := range children {
		for {
			stat, err := os.ReadFile("/proc/" + pid + "/stat")
			_, rest, _ := strings.Cut(string(stat), ") ")
			if err != nil || strings.HasPrefix(rest, "Z") {
				break
			}
		}
	}
}
