package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
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
	pages := []struct {
		name, path string
		few        bool // the widest light and the narrowest dark alone
	}{
		{"lesson1", "/lessons/drain?grace=20&replacement=1&t=47", false},
		{"lesson2", "/lessons/ledgers", false},
		{"lesson3", "/lessons/clocks?platform=kubernetes&server_timeout=60&long=40", false},
		{"compare", "/lessons/drain?grace=10&b.grace=20&b.replacement=1&t=60", true},
		{"predict", "/lessons/drain?t=60&p.completed=4&p.killed=3&p.dies=6,13,17&p.verdict=fail", true},
		{"teach", "/teach", true},
		{"home", "/", false},
	}
	b := newTab(t)
	for _, p := range pages {
		for _, width := range []int64{1440, 1024, 768, 390} {
			for _, theme := range []string{"light", "dark"} {
				if p.few && (width != 1440 || theme != "light") && (width != 390 || theme != "dark") {
					continue
				}
				b.size(width, 1000)
				b.media(&emulation.MediaFeature{Name: "prefers-color-scheme", Value: theme})
				b.open(server.url + p.path)
				if p.name == "lesson1" {
					b.wait(`document.querySelector("#lesson.started") && location.search.includes("t=47")`)
				}
				file := filepath.Join(*screenshots, fmt.Sprintf("%s-%d-%s.png", p.name, width, theme))
				if err := os.WriteFile(file, slim(t, b.picture()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// slim keeps a picture's most frequent colours, 256 that can be told apart: a
// page has few, and the file is a third of the size.
func slim(t *testing.T, data []byte) []byte {
	t.Helper()
	full, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[color.RGBA]int{}
	bounds := full.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			counts[color.RGBAModel.Convert(full.At(x, y)).(color.RGBA)]++
		}
	}
	often := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int {
		return cmp.Or(counts[b]-counts[a], cmp.Compare(uint32(a.R)<<16|uint32(a.G)<<8|uint32(a.B), uint32(b.R)<<16|uint32(b.G)<<8|uint32(b.B)))
	})
	var palette color.Palette
	for _, c := range often {
		if len(palette) < 256 && !slices.ContainsFunc(palette, func(p color.Color) bool { return near(p.(color.RGBA), c) }) {
			palette = append(palette, c)
		}
	}
	few := image.NewPaletted(bounds, palette)
	draw.Draw(few, bounds, full, bounds.Min, draw.Src)
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, few); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func near(a, b color.RGBA) bool {
	d := func(x, y uint8) int { return max(int(x)-int(y), int(y)-int(x)) }
	return d(a.R, b.R)+d(a.G, b.G)+d(a.B, b.B) < 10
}
