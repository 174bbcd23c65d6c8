package picture

import (
	"strings"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
)

// Style is the size of a text, in pixels, and its weight.
type Style struct {
	Size float64
	Bold bool
}

type fonts struct{ regular, bold *opentype.Font }

// parsed are the two fonts, which many pictures may read at once.
var parsed = sync.OnceValues(func() (fonts, error) {
	regular, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return fonts{}, err
	}
	bold, err := opentype.Parse(gobold.TTF)
	return fonts{regular, bold}, err
})

// faces are the fonts at the sizes that one picture uses. A face is not for
// two goroutines at once: each picture has its own.
type faces struct {
	fonts fonts
	at    map[Style]font.Face
}

func newFaces() (*faces, error) {
	f, err := parsed()
	if err != nil {
		return nil, err
	}
	return &faces{f, map[Style]font.Face{}}, nil
}

func (f *faces) face(s Style) (font.Face, error) {
	if face, ok := f.at[s]; ok {
		return face, nil
	}
	source := f.fonts.regular
	if s.Bold {
		source = f.fonts.bold
	}
	face, err := opentype.NewFace(source, &opentype.FaceOptions{Size: s.Size, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		return nil, err
	}
	f.at[s] = face
	return face, nil
}

// Typesetter measures and places texts. It keeps the first error of a font,
// so that a layout need not look at one with each text.
type Typesetter struct {
	faces *faces
	err   error
}

// Width of the text in pixels.
func (t *Typesetter) Width(content string, s Style) float64 {
	face, err := t.faces.face(s)
	if err != nil {
		if t.err == nil {
			t.err = err
		}
		return 0
	}
	return float64(font.MeasureString(face, content)) / 64
}

// Place sets a text at x: its left end, its middle or its right end, as align
// is 0, 0.5 or 1. y is the baseline.
func (t *Typesetter) Place(content string, x, align, y float64, s Style, ink Colour) Text {
	w := t.Width(content, s)
	return Text{X: x - align*w, Y: y, W: w, Content: content, Font: s, Ink: ink}
}

// Cut shortens the text to at most limit pixels, an ellipsis in place of what
// is left out.
func (t *Typesetter) Cut(content string, s Style, limit float64) string {
	if t.Width(content, s) <= limit {
		return content
	}
	runes := []rune(content)
	// The widths grow with the length: halve the range of what may fit.
	fits, over := 0, len(runes)
	for over-fits > 1 {
		middle := (fits + over) / 2
		if t.Width(ellipsis(runes[:middle]), s) <= limit {
			fits = middle
		} else {
			over = middle
		}
	}
	if short := ellipsis(runes[:fits]); t.Width(short, s) <= limit {
		return short
	}
	return ""
}

func ellipsis(runes []rune) string { return strings.TrimRight(string(runes), " ·,;:") + "…" }

// Shrink finds the largest size from that of s down to least at which the text
// is within limit pixels; where none is, the text is cut at the least.
func (t *Typesetter) Shrink(content string, s Style, least, limit float64) (string, Style) {
	for s.Size > least && t.Width(content, s) > limit {
		s.Size = max(s.Size-1, least)
	}
	return t.Cut(content, s, limit), s
}

// Wrap sets the items, joined by glue, in at most rows lines of at most limit
// pixels. A line's end takes the place of a glue. What does not fit the last
// line is cut.
func (t *Typesetter) Wrap(items []string, glue string, s Style, limit float64, rows int) []string {
	var lines []string
	for len(items) > 0 {
		line, n := items[0], 1
		for n < len(items) && t.Width(line+glue+items[n], s) <= limit {
			line += glue + items[n]
			n++
		}
		if len(lines) == rows-1 {
			line, n = strings.Join(items, glue), len(items)
		}
		lines = append(lines, t.Cut(line, s, limit))
		items = items[n:]
	}
	return lines
}

// Balance wraps words in lines of about equal width, as few as they need.
func (t *Typesetter) Balance(words []string, s Style, limit float64, rows int) []string {
	lines := t.Wrap(words, " ", s, limit, rows)
	whole := strings.Join(words, " ")
	for narrow := 0.95 * limit; strings.Join(lines, " ") == whole && narrow > 0.4*limit; narrow -= 0.05 * limit {
		next := t.Wrap(words, " ", s, narrow, rows)
		if len(next) > len(lines) || strings.Join(next, " ") != whole {
			break
		}
		lines = next
	}
	return lines
}
