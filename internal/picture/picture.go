// Package picture draws pictures that stand alone: cards for links that are
// shared, and files to download.
//
// A picture is laid out once, as a list of shapes in pixels, and two backends
// draw that list: PNG and SVG. Colours and marks are those of the pages, in
// their light dress. Equal input gives equal bytes. The package knows no
// model, page, route or store: a lesson lays out its own picture.
package picture

import (
	"io"
	"math"
	"strings"
)

// The size of a card in pixels, which is what sites that show links ask for.
const (
	CardWidth  = 1200
	CardHeight = 630
)

// CardMargin is left free on all sides of a card's contents.
const CardMargin = 44

// TextCard writes a PNG of 1200 by 630 pixels that says in words what a page
// has. The title takes at most two lines, the subtitle three and
// each of lines one; whatever is longer is cut with an ellipsis. Of lines, as
// many are shown as there is room for: five or more. The error is w's.
func TextCard(w io.Writer, title, subtitle string, lines []string) error {
	return WritePNG(w, func(set *Typesetter) *Figure { return textCard(set, title, subtitle, lines) })
}

// WritePNG lays a picture out and writes it as a PNG. The error is w's, or a
// font's.
func WritePNG(w io.Writer, layout func(*Typesetter) *Figure) error {
	f, set, err := LayOut(layout)
	if err != nil {
		return err
	}
	return writePNG(w, f, set.faces)
}

// WriteSVG lays a picture out and writes it as an SVG document that needs no
// other file, and whose title and desc say what it shows. The error is w's, or
// a font's.
func WriteSVG(w io.Writer, title, desc string, layout func(*Typesetter) *Figure) error {
	f, _, err := LayOut(layout)
	if err != nil {
		return err
	}
	return writeSVG(w, f, title, desc)
}

// LayOut returns a picture as data, and what has set its texts, for who looks
// at it in a test.
func LayOut(layout func(*Typesetter) *Figure) (*Figure, *Typesetter, error) {
	fc, err := newFaces()
	if err != nil {
		return nil, nil, err
	}
	set := &Typesetter{faces: fc}
	f := layout(set)
	return f, set, set.err
}

// Middle is the baseline of a text that stands in the middle of a row. The
// fonts' figures and capitals are about 0.72 of the size high.
func Middle(top, height, size float64) float64 { return math.Round(top + height/2 + 0.36*size) }

// Clamp keeps v within least and most.
func Clamp(v, least, most float64) float64 { return max(least, min(v, most)) }

// words are those of a foreign text, without line breaks and tabs, which no
// font draws. Of a text that is longer than any card can show, only the
// beginning is looked at, so that the time that a card takes has a bound.
func words(content string) []string {
	const most = 1000 // letters
	n := 0
	for i := range content {
		if n++; n > most {
			content = content[:i]
			break
		}
	}
	return strings.Fields(content)
}

func oneLine(content string) string { return strings.Join(words(content), " ") }

// CardHead sets a card's title, on one line of at most size, and the product's
// name beside it.
func CardHead(f *Figure, set *Typesetter, title string, size, least float64) {
	c, brand := Colours(), Style{26, true}
	width := BrandWidth(set, brand)
	BrandMark(f, set, CardWidth-CardMargin-width, 66, brand)
	content, font := set.Shrink(oneLine(title), Style{size, true}, least, CardWidth-2*CardMargin-width-32)
	f.Add("title", set.Place(content, CardMargin, 0, 70, font, c.Ink))
}

// BrandMark draws the product's icon and name from x on.
func BrandMark(f *Figure, set *Typesetter, x, base float64, font Style) {
	c := Colours()
	side := math.Round(1.3 * font.Size)
	y := math.Round(base - 0.36*font.Size - side/2)
	unit := side / 32 // the icon is drawn on a square of 32
	part := func(left, top, w, h, radius float64, fill Colour) {
		f.Add("brand", Box{X: x + left*unit, Y: y + top*unit, W: w * unit, H: h * unit, Radius: radius * unit, Fill: fill})
	}
	part(0, 0, 32, 32, 7, c.Darkest)
	part(6, 8, 14, 4, 1, Hex(0x56b4e9))
	part(6, 14, 18, 4, 1, Hex(0x0072b2))
	part(6, 20, 9, 4, 1, Hex(0x009e73))
	part(21, 5, 2, 22, 0, Hex(0xe69f00))
	f.Add("brand", set.Place("drainlab", x+side+0.4*font.Size, 0, base, font, c.Ink))
}

// BrandWidth is how wide the product's icon and name are.
func BrandWidth(set *Typesetter, font Style) float64 {
	return math.Round(1.3*font.Size) + 0.4*font.Size + set.Width("drainlab", font)
}

// textCard is a card of words.
func textCard(set *Typesetter, title, subtitle string, lines []string) *Figure {
	const inner = CardWidth - 2*CardMargin
	c := Colours()
	f := &Figure{Width: CardWidth, Height: CardHeight, Paper: c.Paper}
	brand := Style{30, true}
	BrandMark(f, set, CardMargin, 84, brand)

	y := 168.0
	head := Style{56, true}
	titleWords := words(title)
	for head.Size > 40 && len(set.Wrap(titleWords, " ", head, inner, 3)) > 2 {
		head.Size--
	}
	for _, line := range set.Balance(titleWords, head, inner, 2) {
		f.Add("title", set.Place(line, CardMargin, 0, y, head, c.Ink))
		y += math.Round(1.2 * head.Size)
	}
	y -= 10
	sub := Style{Size: 28}
	for _, line := range set.Balance(words(subtitle), sub, inner, 3) {
		f.Add("subtitle", set.Place(line, CardMargin, 0, y, sub, c.Quiet))
		y += 38
	}
	if len(lines) == 0 {
		return f
	}
	panel := Box{X: 28, Y: y - 8, W: CardWidth - 56, Radius: 14, Fill: c.Card, Edge: c.Rule}
	panel.H = CardHeight - 28 - panel.Y
	f.Add("panel", panel)
	room := panel.H - 24
	pitch := Clamp(math.Floor(room/float64(len(lines))), 34, 60)
	shown := lines[:min(len(lines), int(room/pitch))]
	font := Style{Size: min(math.Round(0.6*pitch), 28)}
	top := math.Round(panel.Y + (panel.H-pitch*float64(len(shown)))/2)
	for _, line := range shown {
		f.Disc("bullet", CardMargin+8, top+pitch/2, 5, c.Tool)
		f.Add("line", set.Place(set.Cut(oneLine(line), font, inner-28), CardMargin+28, 0, Middle(top, pitch, font.Size), font, c.Ink))
		top += pitch
	}
	return f
}
