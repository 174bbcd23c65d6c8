package picture

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"
)

// writeSVG draws the figure as one SVG document that needs nothing else: no
// style sheet, no font and no picture. title and desc are what it says to
// those who do not see it.
func writeSVG(w io.Writer, f *Figure, title, desc string) error {
	b := markup{patterns: map[Hatch]string{}}
	fmt.Fprintf(&b.out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" `+
		// The first is what the PNG has; others are about as wide.
		`font-family="Go, 'DejaVu Sans', 'Segoe UI', 'Helvetica Neue', Arial, sans-serif">`+"\n", f.Width, f.Height)
	b.element("title", title)
	b.element("desc", desc)
	for _, s := range f.Shapes {
		if h, ok := s.Form.(Hatch); ok {
			b.pattern(h)
		}
	}
	b.tag("rect", "paper")
	b.number("width", float64(f.Width))
	b.number("height", float64(f.Height))
	b.colour("fill", f.Paper)
	b.end()
	for _, s := range f.Shapes {
		b.shape(s)
	}
	b.out.WriteString("</svg>\n")
	_, err := w.Write(b.out.Bytes())
	return err
}

type markup struct {
	out      bytes.Buffer
	patterns map[Hatch]string // the ids, by a hatch without its place
}

// kindOf is what the hatches of one pattern have in common.
func kindOf(h Hatch) Hatch { return Hatch{Pitch: h.Pitch, Line: h.Line, Ink: h.Ink} }

// pattern defines the hatch's pattern where it is the first of its kind.
func (b *markup) pattern(h Hatch) {
	h = kindOf(h)
	if b.patterns[h] != "" {
		return
	}
	id := "drainlab-hatch-" + strconv.Itoa(len(b.patterns)+1)
	b.patterns[h] = id
	// Turned by 45° the pattern's own x is (x+y)/√2, by which the other
	// backend places the stripes too.
	fmt.Fprintf(&b.out, `<defs><pattern id="%s" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"`, id)
	b.number("width", h.Pitch)
	b.number("height", h.Pitch)
	b.out.WriteString(">")
	b.tag("rect", "")
	b.number("width", h.Line)
	b.number("height", h.Pitch)
	b.colour("fill", h.Ink)
	b.out.WriteString("/></pattern></defs>\n")
}

func (b *markup) shape(s Shape) {
	switch fm := s.Form.(type) {
	case Box:
		if fm.Edge.A > 0 { // SVG draws an outline half outside
			half := EdgeWidth / 2
			fm.X, fm.Y, fm.W, fm.H, fm.Radius = fm.X+half, fm.Y+half, fm.W-2*half, fm.H-2*half, max(fm.Radius-half, 0)
		}
		b.place("rect", s.Part, fm.X, fm.Y, fm.W, fm.H)
		if fm.Radius > 0 {
			b.number("rx", fm.Radius)
		}
		b.colour("fill", fm.Fill)
		if fm.Edge.A > 0 {
			b.colour("stroke", fm.Edge)
			b.number("stroke-width", EdgeWidth)
		}
		b.end()
	case Hatch:
		b.place("rect", s.Part, fm.X, fm.Y, fm.W, fm.H)
		fmt.Fprintf(&b.out, ` fill="url(#%s)"`, b.patterns[kindOf(fm)])
		b.end()
	case Stroke:
		b.tag("polyline", s.Part)
		b.points(fm.Points)
		b.out.WriteString(` fill="none"`)
		b.colour("stroke", fm.Ink)
		b.number("stroke-width", fm.Width)
		if fm.Dash > 0 {
			b.number("stroke-dasharray", fm.Dash)
		} else {
			b.out.WriteString(` stroke-linecap="round" stroke-linejoin="round"`)
		}
		b.end()
	case Polygon:
		b.tag("polygon", s.Part)
		b.points(fm.Points)
		b.colour("fill", fm.Fill)
		b.end()
	case Text:
		b.tag("text", s.Part)
		b.number("x", fm.X)
		b.number("y", fm.Y)
		b.number("font-size", fm.Font.Size)
		if fm.Font.Bold {
			b.out.WriteString(` font-weight="700"`)
		}
		// Whatever font the viewer has, the text takes the room that the
		// layout gave it.
		b.number("textLength", fm.W)
		b.out.WriteString(` lengthAdjust="spacingAndGlyphs"`)
		b.colour("fill", fm.Ink)
		b.out.WriteString(">")
		b.escape(fm.Content)
		b.out.WriteString("</text>\n")
	}
}

func (b *markup) tag(name, part string) {
	b.out.WriteString("<" + name)
	if part != "" {
		b.out.WriteString(` class="`)
		b.escape(part)
		b.out.WriteString(`"`)
	}
}

func (b *markup) place(name, part string, x, y, w, h float64) {
	b.tag(name, part)
	b.number("x", x)
	b.number("y", y)
	b.number("width", w)
	b.number("height", h)
}

func (b *markup) end() { b.out.WriteString("/>\n") }

func (b *markup) element(name, content string) {
	b.out.WriteString("<" + name + ">")
	b.escape(content)
	b.out.WriteString("</" + name + ">\n")
}

func (b *markup) number(name string, v float64) {
	fmt.Fprintf(&b.out, ` %s="%s"`, name, decimal(v))
}

// decimal prints v to a hundredth of a pixel.
func decimal(v float64) string {
	v = math.Round(v*100) / 100
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func (b *markup) points(points []Point) {
	b.out.WriteString(` points="`)
	for i, p := range points {
		if i > 0 {
			b.out.WriteByte(' ')
		}
		b.out.WriteString(decimal(p.X) + "," + decimal(p.Y))
	}
	b.out.WriteByte('"')
}

func (b *markup) colour(name string, c color.NRGBA) {
	fmt.Fprintf(&b.out, ` %s="#%02x%02x%02x"`, name, c.R, c.G, c.B)
	if c.A < 0xff {
		fmt.Fprintf(&b.out, ` %s-opacity="%s"`, name, decimal(float64(c.A)/0xff))
	}
}

// escape writes foreign text; what XML cannot hold becomes U+FFFD.
func (b *markup) escape(content string) {
	xml.EscapeText(&b.out, []byte(content)) // a buffer takes everything
}
