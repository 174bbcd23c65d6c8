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
	return eval[string](b.tab, `["requests", "work"].map(l => [...document.querySelectorAll("#ledger-" + l + " .ledger-row")].filter(r => r.querySelector("dd").innerText !== "0")
		.map(r => r.querySelector("dt").innerText + " " + r.querySelector("dd").innerText).join(", ")).join(" | ")`)
}

func (b lesson) runEnded() {
	b.t.Helper()
	b.wait(`location.pathname.startsWith("/lessons/ledgers/runs/") && document.querySelector("#report") && !document.querySelector("#ledgers").dataset.run && document.readyState === "complete"`)
}

func TestTheFixtureIsRunAndBothLedgersReadByKeyboardAlone(t *testing.T) {
	server := startServer(t)
	b := lesson{newTab(t)}
	b.open(server.url + "/lessons/ledgers")
	// Before any run: the recorded one, said to be so with its date.
	if got := b.text("#run-note"); !strings.Contains(got, "A recorded run of the reference settings, of 30 November 2026") {
		t.Errorf("the note says %q", got)
	}
	b.keys("#run", kb.Enter)
	// It is streamed: the state machine lights up while the process lives.
	b.wait(`document.querySelector("#run-status").innerText === "A real process is running."`)
	b.wait(`document.querySelector(".machine [aria-current=step]")?.innerText.includes("DRAINING")`)
	b.runEnded()
	const reference = "admitted 3, completed 1, cancelled 2, rejected before admission 1 | unknown 1"
	if got := b.ledgerCounts(); got != reference {
		t.Errorf("the ledgers say %q", got)
	}
	if differ := eval[[]string](b.tab, `[...document.querySelectorAll("#report tbody tr")].filter(r => !r.innerText.includes("same")).map(r => r.innerText)`); len(differ) > 0 {
		t.Errorf("against the reference: %v", differ)
	}
	if got := b.text("#run-status"); !strings.Contains(got, "code -15, by SIGTERM") {
		t.Errorf("the status says %q", got)
	}
	if !eval[bool](b.tab, `document.querySelector("#step-reference").classList.contains("step-shown")`) {
		t.Error("the step is not checked off")
	}
	// The same clients, the opposite work ledger.
	b.keys("#run-join", kb.Enter)
	b.wait(`document.querySelector("#ledgers").dataset.run`)
	b.runEnded()
	if got := b.ledgerCounts(); got != "admitted 3, completed 1, cancelled 2, rejected before admission 1 | completed 1" {
		t.Errorf("with the work joined the ledgers say %q", got)
	}
	b.keys("#run-store", kb.Enter)
	b.wait(`document.querySelector("#ledgers").dataset.run`)
	b.runEnded()
	if got := b.text("#decision"); !strings.Contains(got, "freeze") || !strings.Contains(got, "evidence was lost") {
		t.Errorf("the decision is %q", got)
	}
	// By the settings: a stop token, set by keyboard.
	b.keys("#c-store_fails", " ")
	b.keys("#c-stop_token", " ")
	b.keys("#c-graceful_timeout", kb.ArrowLeft+kb.ArrowLeft)
	if got := eval[string](b.tab, `document.querySelector("#n-graceful_timeout").value`); got != "0.8" {
		t.Errorf("the field follows its slider to %s", got)
	}
	b.keys("#run", kb.Enter)
	b.wait(`document.querySelector("#ledgers").dataset.run`)
	b.runEnded()
	if got := b.ledgerCounts(); !strings.HasSuffix(got, "| confirmed stopped 1") {
		t.Errorf("with a stop token the ledgers say %q", got)
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
	b.run(chromedp.SetUploadFiles(chromedp.CSS("#record-file"), []string{file.Name()}), chromedp.Click(chromedp.CSS(".bring button")))
	b.wait(`location.pathname === "/lessons/ledgers/record"`)
	if got := b.ledgerCounts(); !strings.HasPrefix(got, "admitted 3, completed 1, cancelled 2, rejected before admission 1") || !strings.HasSuffix(got, "| confirmed stopped 1") {
		t.Errorf("the record drawn says %q", got)
	}
	if got := b.text("#run-note"); !strings.Contains(got, "Lines that could not be read: line ") {
		t.Errorf("the note says %q", got)
	}
}

func TestTheLedgersLessonWorksWithoutScript(t *testing.T) {
	server := startServer(t)
	b := lesson{newTab(t)}
	call(b.tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.open(server.url + "/lessons/ledgers?join_work=1")
	if eval[bool](b.tab, `document.querySelector("#c-graceful_timeout").checkVisibility()`) {
		t.Error("a slider that needs script is shown")
	}
	b.run(chromedp.SetValue(chromedp.CSS("#n-blocking_work"), "0.5"), chromedp.SetValue(chromedp.CSS("#n-stream_chunks"), "2"))
	b.run(chromedp.Click(chromedp.CSS("#run")))
	b.wait(`location.pathname.startsWith("/lessons/ledgers/runs/")`)
	// The page asks for itself again until the run is over.
	b.runEnded()
	if got := b.ledgerCounts(); got != "admitted 3, completed 3, rejected before admission 1 | completed 1" {
		t.Errorf("the ledgers say %q", got)
	}
	// And the lesson's page has it as the last run of these settings.
	b.open(server.url + "/lessons/ledgers?join_work=1&blocking_work=0.5&stream_chunks=2")
	if got := b.text("#run-note"); !strings.HasPrefix(got, "The last run of these settings on this server, of ") {
		t.Errorf("the note says %q", got)
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
