// Package picturetest is what tests of pictures share: it looks at them as data,
// and reads back what was written.
package picturetest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"

	"drainlab/internal/picture"
)

// Extent is the room that a form takes.
func Extent(fm picture.Form) (left, top, right, bottom float64) {
	around := func(points []picture.Point, margin float64) (float64, float64, float64, float64) {
		left, top, right, bottom := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
		for _, p := range points {
			left, right = min(left, p.X-margin), max(right, p.X+margin)
			top, bottom = min(top, p.Y-margin), max(bottom, p.Y+margin)
		}
		return left, top, right, bottom
	}
	switch fm := fm.(type) {
	case picture.Box:
		return fm.X, fm.Y, fm.X + fm.W, fm.Y + fm.H
	case picture.Hatch:
		return fm.X, fm.Y, fm.X + fm.W, fm.Y + fm.H
	case picture.Stroke:
		return around(fm.Points, fm.Width/2)
	case picture.Polygon:
		return around(fm.Points, 0)
	case picture.Text: // the fonts' letters are at most so high and so deep
		return fm.X, fm.Y - 0.78*fm.Font.Size, fm.X + fm.W, fm.Y + 0.22*fm.Font.Size
	}
	panic(fmt.Sprintf("a form %T", fm))
}

// Count counts the shapes of a part.
func Count(f *picture.Figure, part string) int {
	n := 0
	for _, s := range f.Shapes {
		if s.Part == part {
			n++
		}
	}
	return n
}

// Tidy finds texts that leave the picture or cover each other.
func Tidy(t testing.TB, what string, f *picture.Figure, set *picture.Typesetter) {
	t.Helper()
	type placed struct {
		picture.Text
		left, top, right, bottom float64
	}
	var texts []placed
	for _, sh := range f.Shapes {
		left, top, right, bottom := Extent(sh.Form)
		if left < 0 || top < 0 || right > float64(f.Width) || bottom > float64(f.Height) {
			t.Errorf("%s: %q lies at %.1f, %.1f – %.1f, %.1f, outside the %d × %d", what, sh.Part, left, top, right, bottom, f.Width, f.Height)
		}
		tx, ok := sh.Form.(picture.Text)
		if !ok {
			continue
		}
		if measured := set.Width(tx.Content, tx.Font); math.Abs(measured-tx.W) > 0.01 {
			t.Errorf("%s: %q is %.1f wide, the figure says %.1f", what, tx.Content, measured, tx.W)
		}
		const margin = 24
		if left < margin || right > float64(f.Width-margin) || top < 0.5*margin || bottom > float64(f.Height)-0.5*margin {
			t.Errorf("%s: %q lies at %.1f, %.1f – %.1f, %.1f, in the margin", what, tx.Content, left, top, right, bottom)
		}
		if tx.Font.Size < 9 {
			t.Errorf("%s: %q has a size of %v", what, tx.Content, tx.Font.Size)
		}
		texts = append(texts, placed{tx, left, top, right, bottom})
	}
	for i, a := range texts {
		for _, b := range texts[:i] {
			// Letters seldom fill all of a line: two may touch by a little.
			const slack = 2
			if a.left < b.right && b.left < a.right && a.top < b.bottom-slack && b.top < a.bottom-slack {
				t.Errorf("%s: %q covers %q", what, a.Content, b.Content)
			}
		}
	}
}

// Bytes are what write writes.
func Bytes(t testing.TB, write func(io.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Decode reads a PNG.
func Decode(t testing.TB, data []byte) image.Image {
	t.Helper()
	drawn, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return drawn
}

// Element is a part of a parsed SVG.
type Element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []Element  `xml:",any"`
}

// Attr is an attribute of that name, "" where there is none.
func (e Element) Attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// Walk visits the element and all in it.
func (e Element) Walk(visit func(Element)) {
	visit(e)
	for _, c := range e.Children {
		c.Walk(visit)
	}
}

// Parse reads an SVG document.
func Parse(t testing.TB, data []byte) Element {
	t.Helper()
	var e Element
	decoder := xml.NewDecoder(bytes.NewReader(data))
	if err := decoder.Decode(&e); err != nil {
		t.Fatal(err)
	}
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return e
		}
		if space, ok := token.(xml.CharData); err != nil || !ok || strings.TrimSpace(string(space)) != "" {
			t.Fatalf("after the SVG: %v, %v", token, err)
		}
	}
}
