package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

var screenshots = flag.String("screenshots", "", "folder to write the pages' pictures to")

// TestScreenshots makes the pictures of docs/screenshots (make screenshots).
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("make screenshots runs it with -screenshots")
	}
	server := startServer(t)
	pages := []struct{ name, path string }{
		{"lesson1", "/lessons/drain?grace=20&replacement=1&t=47"},
		{"home", "/"},
	}
	b := newTab(t)
	for _, p := range pages {
		for _, width := range []int64{1440, 1024, 768, 390} {
			for _, theme := range []string{"light", "dark"} {
				b.size(width, 1000)
				b.media(&emulation.MediaFeature{Name: "prefers-color-scheme", Value: theme})
				b.open(server.url + p.path)
				if p.name == "lesson1" {
					b.wait(`document.querySelector("#lesson.started") && location.search.includes("t=47")`)
				}
				file := filepath.Join(*screenshots, fmt.Sprintf("%s-%d-%s.png", p.name, width, theme))
				if err := os.WriteFile(file, b.picture(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
