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
func writeSVG(w io.Writer, f *figure, title, desc string) error {
	b := markup{patterns: map[hatch]string{}}
	fmt.Fprintf(&b.out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" `+
		// The first is what the PNG has; others are about as wide.
		`font-family="Go, 'DejaVu Sans', 'Segoe UI', 'Helvetica Neue', Arial, sans-serif">`+"\n", f.width, f.height)
	b.element("title", title)
	b.element("desc", desc)
	for _, s := range f.shapes {
		if h, ok := s.form.(hatch); ok {
			b.pattern(h)
		}
	}
	b.tag("rect", "paper")
	b.number("width", float64(f.width))
	b.number("height", float64(f.height))
	b.colour("fill", f.paper)
	b.end()
	for _, s := range f.shapes {
		b.shape(s)
	}
	b.out.WriteString("</svg>\n")
	_, err := w.Write(b.out.Bytes())
	return err
}

type markup struct {
	out      bytes.Buffer
	patterns map[hatch]string // the ids, by a hatch without its place
}

// kindOf is what the hatches of one pattern have in common.
func kindOf(h hatch) hatch { return hatch{pitch: h.pitch, line: h.line, ink: h.ink} }

// pattern defines the hatch's pattern where it is the first of its kind.
func (b *markup) pattern(h hatch) {
	h = kindOf(h)
	if b.patterns[h] != "" {
		return
	}
	id := "drainlab-hatch-" + strconv.Itoa(len(b.patterns)+1)
	b.patterns[h] = id
	// Turned by 45° the pattern's own x is (x+y)/√2, by which the other
	// backend places the stripes too.
	fmt.Fprintf(&b.out, `<defs><pattern id="%s" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"`, id)
	b.number("width", h.pitch)
	b.number("height", h.pitch)
	b.out.WriteString(">")
	b.tag("rect", "")
	b.number("width", h.line)
	b.number("height", h.pitch)
	b.colour("fill", h.ink)
	b.out.WriteString("/></pattern></defs>\n")
}

func (b *markup) shape(s shape) {
	switch fm := s.form.(type) {
	case box:
		if fm.edge.A > 0 { // SVG draws an outline half outside
			half := edgeWidth / 2
			fm.x, fm.y, fm.w, fm.h, fm.radius = fm.x+half, fm.y+half, fm.w-2*half, fm.h-2*half, max(fm.radius-half, 0)
		}
		b.place("rect", s.part, fm.x, fm.y, fm.w, fm.h)
		if fm.radius > 0 {
			b.number("rx", fm.radius)
		}
		b.colour("fill", fm.fill)
		if fm.edge.A > 0 {
			b.colour("stroke", fm.edge)
			b.number("stroke-width", edgeWidth)
		}
		b.end()
	case hatch:
		b.place("rect", s.part, fm.x, fm.y, fm.w, fm.h)
		fmt.Fprintf(&b.out, ` fill="url(#%s)"`, b.patterns[kindOf(fm)])
		b.end()
	case stroke:
		b.tag("polyline", s.part)
		b.points(fm.points)
		b.out.WriteString(` fill="none"`)
		b.colour("stroke", fm.ink)
		b.number("stroke-width", fm.width)
		if fm.dash > 0 {
			b.number("stroke-dasharray", fm.dash)
		} else {
			b.out.WriteString(` stroke-linecap="round" stroke-linejoin="round"`)
		}
		b.end()
	case polygon:
		b.tag("polygon", s.part)
		b.points(fm.points)
		b.colour("fill", fm.fill)
		b.end()
	case text:
		b.tag("text", s.part)
		b.number("x", fm.x)
		b.number("y", fm.y)
		b.number("font-size", fm.font.size)
		if fm.font.bold {
			b.out.WriteString(` font-weight="700"`)
		}
		// Whatever font the viewer has, the text takes the room that the
		// layout gave it.
		b.number("textLength", fm.w)
		b.out.WriteString(` lengthAdjust="spacingAndGlyphs"`)
		b.colour("fill", fm.ink)
		b.out.WriteString(">")
		b.escape(fm.content)
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

func (b *markup) points(points []point) {
	b.out.WriteString(` points="`)
	for i, p := range points {
		if i > 0 {
			b.out.WriteByte(' ')
		}
		b.out.WriteString(decimal(p.x) + "," + decimal(p.y))
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
