package picture

import "image/color"

// figure is a picture as data: shapes in the order in which they are drawn, on
// a ground of paper. Places and sizes are in pixels from the left top corner.
type figure struct {
	width, height int
	paper         colour
	shapes        []shape
}

// shape is a form and what it stands for, "bar killed" or "label", in words
// that the SVG gives as its class.
type shape struct {
	part string
	form form
}

// form is one of box, hatch, stroke, polygon and text; each backend draws all.
type form interface{ isForm() }

// box is a rectangle. With a radius of half its side it is a disc. A zero edge
// is none; an edge lies within the box and is one and a half pixels wide.
type box struct {
	x, y, w, h, radius float64
	fill, edge         colour
}

const edgeWidth = 1.5

// hatch fills a rectangle with stripes that rise to the right. The stripes'
// places are those of the whole figure, so that neighbours' stripes meet.
type hatch struct {
	x, y, w, h  float64
	pitch, line float64 // across the stripes
	ink         colour
}

// stroke is a line through points, with round ends and joints. Where dash is
// set, it is broken into pieces and gaps of that length, and its ends are flat.
type stroke struct {
	points      []point
	width, dash float64
	ink         colour
}

// polygon is a filled convex form, its points in clockwise order.
type polygon struct {
	points []point
	fill   colour
}

// text is one line of text. x is its left end, y its baseline, w its measured
// width.
type text struct {
	x, y, w float64
	content string
	font    style
	ink     colour
}

type point struct{ x, y float64 }

type colour = color.NRGBA

func (box) isForm()     {}
func (hatch) isForm()   {}
func (stroke) isForm()  {}
func (polygon) isForm() {}
func (text) isForm()    {}

func (f *figure) add(part string, fm form) { f.shapes = append(f.shapes, shape{part, fm}) }

// vertical draws a straight line of whole pixels down from top to bottom.
func (f *figure) vertical(part string, x, top, bottom, width float64, ink colour) {
	f.add(part, box{x: x - width/2, y: top, w: width, h: bottom - top, fill: ink})
}

// cross, check, square and triangle are the marks of the page, of radius r
// about a centre: none is told from another by its colour alone.
func (f *figure) cross(part string, x, y, r, width float64, ink colour) {
	f.add(part, stroke{points: []point{{x - r, y - r}, {x + r, y + r}}, width: width, ink: ink})
	f.add(part+" other", stroke{points: []point{{x + r, y - r}, {x - r, y + r}}, width: width, ink: ink})
}

func (f *figure) check(part string, x, y, r, width float64, ink colour) {
	f.add(part, stroke{points: []point{{x - r, y + 0.1*r}, {x - 0.3*r, y + 0.75*r}, {x + r, y - 0.75*r}}, width: width, ink: ink})
}

func (f *figure) disc(part string, x, y, r float64, ink colour) {
	f.add(part, box{x: x - r, y: y - r, w: 2 * r, h: 2 * r, radius: r, fill: ink})
}

func (f *figure) square(part string, x, y, r float64, ink colour) {
	f.add(part, box{x: x - r, y: y - r, w: 2 * r, h: 2 * r, fill: ink})
}

func (f *figure) triangle(part string, x, y, r float64, ink colour) {
	f.add(part, polygon{points: []point{{x, y - r}, {x + r, y + 0.8*r}, {x - r, y + 0.8*r}}, fill: ink})
}

// hex is an opaque colour.
func hex(rgb uint32) colour {
	return colour{R: uint8(rgb >> 16), G: uint8(rgb >> 8), B: uint8(rgb), A: 0xff}
}

// faint is c at an opacity of percent.
func faint(c colour, percent int) colour {
	c.A = uint8((255*percent + 50) / 100)
	return c
}

// palette holds the light colours of the page's style sheet, by its names; the
// hues are Okabe and Ito's, which colour-blind people tell apart.
type palette struct {
	paper, card, sunk, ink, quiet, rule, edge        colour
	prepare, model, tool, onPrepare, onTool          colour
	good, goodFill, goodTint, bad, badFill, badTint  colour
	warn, warnLine, warnTint, ready, window, darkest colour
}

func colours() palette {
	return palette{
		paper: hex(0xf5f4ef), card: hex(0xffffff), sunk: hex(0xf3f1ea), ink: hex(0x1a1d23), quiet: hex(0x5a606b),
		rule: hex(0xdedbd2), edge: hex(0x8b8f97),
		prepare: hex(0xc3e3f5), model: hex(0x6cb7e2), tool: hex(0x0072b2), onPrepare: hex(0x10222e), onTool: hex(0xffffff),
		good: hex(0x007a5a), goodFill: hex(0x00845f), goodTint: hex(0xd5f0e6),
		bad: hex(0xb23c00), badFill: hex(0xd55e00), badTint: hex(0xfbe0d0),
		warn: hex(0x7a5300), warnLine: hex(0xd48f00), warnTint: hex(0xfde7b9),
		ready: hex(0xd8ecf8), window: faint(hex(0xe69f00), 13), darkest: hex(0x0f172a),
	}
}
