package main

import (
	"bytes"
	"cmp"
	"flag"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	const wide, high = 1440, 900
	b := newTab(t)
	for _, p := range []struct {
		name, path    string
		width, height int64
		theme         string
	}{
		{"home-wide", "/", wide, high, "light"},
		{"home-phone", "/", 390, 844, "dark"},
		{"lesson1-wide", "/lessons/drain?grace=10&t=60&panel=settings", wide, high, "light"},
		{"lesson1-dark", "/lessons/drain?grace=20&replacement=1&t=47&panel=inspect", wide, high, "dark"},
		{"lesson1-small", "/lessons/drain?grace=10&t=60&panel=why", 1024, 768, "light"},
		{"lesson1-phone", "/lessons/drain?grace=10&t=29.9", 390, 844, "light"},
		{"lesson1-crowd", "/lessons/drain?workers=4&slots=8&interval=0.5&replacement=1&t=60&panel=trace", 1280, 720, "light"},
		{"lesson1-compare", "/lessons/drain?a.grace=10&grace=20&replacement=1&t=60&panel=compare", wide, high, "light"},
		{"lesson1-sweep", "/lessons/drain?t=60&panel=sweep", wide, high, "light"},
		{"lesson2-wide", "/lessons/ledgers", wide, high, "light"},
		{"lesson2-dark", "/lessons/ledgers?panel=evidence", wide, high, "dark"},
		{"lesson2-phone", "/lessons/ledgers", 390, 844, "light"},
		{"lesson3-wide", "/lessons/clocks?platform=kubernetes&server_timeout=60&long=40", wide, high, "light"},
		{"lesson3-dark", "/lessons/clocks?platform=kubernetes&server_timeout=60&long=40&panel=budget", wide, high, "dark"},
		{"lesson3-phone", "/lessons/clocks", 390, 844, "light"},
		{"lesson3-owners", "/lessons/clocks?panel=owners", wide, high, "light"},
		{"lesson3-map", "/lessons/clocks?panel=map", wide, high, "light"},
		{"frame-wide", "/embed/lessons/drain?grace=10&t=60", 640, 440, "light"},
		{"frame-tall", "/embed/lessons/drain?grace=10&t=60", 340, 520, "light"},
		{"share", "/lessons/drain/share?grace=10", wide, high, "light"},
		{"teach", "/teach", wide, high, "light"},
		{"handout", "/lessons/drain/handout?grace=10", 1024, 768, "light"},
		{"handout-key", "/lessons/drain/handout/key?grace=10", 1024, 768, "light"},
	} {
		b.size(p.width, p.height)
		b.media(&emulation.MediaFeature{Name: "prefers-color-scheme", Value: p.theme})
		b.open(server.url + p.path)
		if strings.Contains(p.path, "/lessons/") && !strings.Contains(p.path, "share") && !strings.Contains(p.path, "handout") {
			lesson{b}.connected()
		}
		file := filepath.Join(*screenshots, p.name+".png")
		if err := os.WriteFile(file, slim(t, b.picture()), 0o644); err != nil {
			t.Fatal(err)
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
