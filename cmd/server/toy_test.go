package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A lesson is one folder and one line: the toy has all that every lesson has,
// and no other code knows it.
func TestALessonIsOneFolderAndOneLine(t *testing.T) {
	t.Setenv(toyVariable, "1")
	server := startServer(t)
	b := openLesson(t, server.url+"/lessons/toy")

	// Tabs, by the arrow keys; the open one is in the address.
	b.keys("#tab-link-guide", kb.ArrowRight)
	b.wait(`document.querySelector("#n-limit").checkVisibility() && location.search.includes("panel=settings")`)
	// A wide tab takes the stage in place of the picture.
	b.keys("#tab-link-settings", kb.ArrowRight)
	b.wait(`!document.querySelector("#picture").checkVisibility() && document.querySelector("#all").checkVisibility()`)
	b.keys("#tab-link-wide", kb.Home)
	b.wait(`document.querySelector("#picture").checkVisibility() && !document.querySelector("#all").checkVisibility()`)

	// It plays to its end, and the frames say what happens.
	b.choose("#speed", "8")
	b.press("Play")
	b.at("5.0")
	b.wait(`document.querySelector("#strip").innerText === "Counted 5 of 5"`)
	// A setting: the address has it, and what follows the link alone too.
	b.tabOpen("settings")
	b.replace("#n-limit", "7"+kb.Tab)
	b.wait(`document.querySelector("#strip").innerText === "Counted 7 of 7" && location.search.includes("limit=7")`)
	b.tabOpen("wide")
	b.wait(`document.querySelector("#all").innerText === "It will count to 7."`)
	// The guide's step, seen to its end.
	b.tabOpen("guide")
	b.press("Count far")
	b.at("0.0")
	b.press("Play")
	b.at("20.0")
	b.wait(`document.querySelector("#steps").innerText.includes("Step taken: true")`)

	// One run for two browsers.
	b.press("Open together")
	b.wait(`location.pathname.startsWith("/sessions/")`)
	b.connected()
	other := openLesson(t, eval[string](b.tab, "location.href"))
	other.tabOpen("settings")
	other.replace("#n-limit", "3"+kb.Tab)
	b.wait(`document.querySelector("#strip").innerText === "Counted 3 of 3"`)
}

func TestALessonWithoutScriptIsFormsAndLinks(t *testing.T) {
	t.Setenv(toyVariable, "1")
	server := startServer(t)
	b := lesson{newTab(t)}
	call(b.tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.open(server.url + "/lessons/toy")
	b.run(chromedp.Click(chromedp.CSS("#tab-link-settings"), chromedp.NodeVisible))
	b.wait(`location.search.includes("panel=settings") && document.querySelector("#n-limit").checkVisibility()`)
	b.replace("#n-limit", "9"+kb.Enter)
	b.wait(`location.search.includes("limit=9")`)
	b.run(chromedp.Click(chromedp.CSS("#step"), chromedp.NodeVisible))
	b.wait(`document.querySelector("#strip").innerText === "Counted 1 of 9"`)
}

func TestALessonIsSharedFramedAndPrinted(t *testing.T) {
	t.Setenv(toyVariable, "1")
	server := startServer(t)
	for address, want := range map[string]string{
		"/lessons/toy/share?limit=7":                 "lessons/toy?model=1&amp;limit=7",
		"/oembed?url=" + server.url + "/lessons/toy": `"title":"A toy"`,
		"/lessons/toy/handout":                       "Counts up to",
		"/lessons/toy/handout/key":                   "the count is 5 of 5",
		"/lessons/toy/card.png":                      "PNG",
		"/lessons/toy/qr.svg":                        "<svg",
		"/lessons/toy/parts?limit=4":                 "It will count to 4.",
		"/embed/lessons/toy":                         "Open the lesson",
		"/teach?lesson=toy&start=far":                "lessons/toy?model=1&amp;limit=20",
	} {
		response, err := http.Get(server.url + address)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("%s: %s, %v; it lacks %q", address, response.Status, err, want)
		}
	}
	// The questions do not hold the answers.
	response, err := http.Get(server.url + "/lessons/toy/handout")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if sheet, _ := io.ReadAll(response.Body); strings.Contains(string(sheet), "5 of 5") {
		t.Error("the sheet of questions tells the answer")
	}
	b := lesson{newTab(t)}
	b.size(640, 440)
	b.open(server.url + "/embed/lessons/toy")
	b.connected()
	if high := eval[int](b.tab, "document.documentElement.scrollHeight"); high > 440 {
		t.Errorf("the frame is %d px high", high)
	}
}
