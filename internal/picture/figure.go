package picture

import "image/color"

// Figure is a picture as data: shapes in the order in which they are drawn, on
// a ground of paper. Places and sizes are in pixels from the left top corner.
type Figure struct {
	Width, Height int
	Paper         Colour
	Shapes        []Shape
}

// Shape is a form and what it stands for, "bar killed" or "label", in words
// that the SVG gives as its class.
type Shape struct {
	Part string
	Form Form
}

// Form is one of [Box], [Hatch], [Stroke], [Polygon] and [Text]; each backend draws all.
type Form interface{ isForm() }

// Box is a rectangle. With a radius of half its side it is a disc. A zero edge
// is none; an edge lies within the box and is one and a half pixels wide.
type Box struct {
	X, Y, W, H, Radius float64
	Fill, Edge         Colour
}

// EdgeWidth is that of a box's edge in pixels.
const EdgeWidth = 1.5

// Hatch fills a rectangle with stripes that rise to the right. The stripes'
// places are those of the whole figure, so that neighbours' stripes meet.
type Hatch struct {
	X, Y, W, H  float64
	Pitch, Line float64 // across the stripes
	Ink         Colour
}

// Stroke is a line through points, with round ends and joints. Where dash is
// set, it is broken into pieces and gaps of that length, and its ends are flat.
type Stroke struct {
	Points      []Point
	Width, Dash float64
	Ink         Colour
}

// Polygon is a filled convex form, its points in clockwise order.
type Polygon struct {
	Points []Point
	Fill   Colour
}

// Text is one line of text. x is its left end, y its baseline, w its measured
// width.
type Text struct {
	X, Y, W float64
	Content string
	Font    Style
	Ink     Colour
}

// Point is a place in pixels.
type Point struct{ X, Y float64 }

// Colour is a colour with its opacity.
type Colour = color.NRGBA

func (Box) isForm()     {}
func (Hatch) isForm()   {}
func (Stroke) isForm()  {}
func (Polygon) isForm() {}
func (Text) isForm()    {}

// Add draws one more shape, over all before it.
func (f *Figure) Add(part string, fm Form) { f.Shapes = append(f.Shapes, Shape{part, fm}) }

// Vertical draws a straight line of whole pixels down from top to bottom.
func (f *Figure) Vertical(part string, x, top, bottom, width float64, ink Colour) {
	f.Add(part, Box{X: x - width/2, Y: top, W: width, H: bottom - top, Fill: ink})
}

// The marks of the pages, of radius r about a centre: none is told from another
// by its colour alone.

// Cross is two strokes.
func (f *Figure) Cross(part string, x, y, r, width float64, ink Colour) {
	f.Add(part, Stroke{Points: []Point{{x - r, y - r}, {x + r, y + r}}, Width: width, Ink: ink})
	f.Add(part+" other", Stroke{Points: []Point{{x + r, y - r}, {x - r, y + r}}, Width: width, Ink: ink})
}

// Check is a tick.
func (f *Figure) Check(part string, x, y, r, width float64, ink Colour) {
	f.Add(part, Stroke{Points: []Point{{x - r, y + 0.1*r}, {x - 0.3*r, y + 0.75*r}, {x + r, y - 0.75*r}}, Width: width, Ink: ink})
}

// Disc is a filled circle.
func (f *Figure) Disc(part string, x, y, r float64, ink Colour) {
	f.Add(part, Box{X: x - r, Y: y - r, W: 2 * r, H: 2 * r, Radius: r, Fill: ink})
}

// Ring is a circle's line of that width, on a ground.
func (f *Figure) Ring(part string, x, y, r, width float64, ink, ground Colour) {
	f.Disc(part, x, y, r, ink)
	f.Disc(part+" inside", x, y, r-width, ground)
}

// Square is a filled square.
func (f *Figure) Square(part string, x, y, r float64, ink Colour) {
	f.Add(part, Box{X: x - r, Y: y - r, W: 2 * r, H: 2 * r, Fill: ink})
}

// Triangle is filled, and points up.
func (f *Figure) Triangle(part string, x, y, r float64, ink Colour) {
	f.Add(part, Polygon{Points: []Point{{x, y - r}, {x + r, y + 0.8*r}, {x - r, y + 0.8*r}}, Fill: ink})
}

// Hex is an opaque colour.
func Hex(rgb uint32) Colour {
	return Colour{R: uint8(rgb >> 16), G: uint8(rgb >> 8), B: uint8(rgb), A: 0xff}
}

// Faint is c at an opacity of percent.
func Faint(c Colour, percent int) Colour {
	c.A = uint8((255*percent + 50) / 100)
	return c
}

// Palette holds the light colours of the page's style sheet, by its names; the
// hues are Okabe and Ito's, which colour-blind people tell apart.
type Palette struct {
	Paper, Card, Sunk, Ink, Quiet, Rule, Edge        Colour
	Prepare, Model, Tool, OnPrepare, OnTool          Colour
	Good, GoodFill, GoodTint, Bad, BadFill, BadTint  Colour
	Warn, WarnLine, WarnTint, Ready, Window, Darkest Colour
	Away, Signal, Deadline                           Colour // a ring; the lines of a shutdown
}

// Colours are the pages' light ones.
func Colours() Palette {
	return Palette{
		Paper: Hex(0xf5f4ef), Card: Hex(0xffffff), Sunk: Hex(0xf3f1ea), Ink: Hex(0x1a1d23), Quiet: Hex(0x5a606b),
		Rule: Hex(0xdedbd2), Edge: Hex(0x8b8f97),
		Prepare: Hex(0xc3e3f5), Model: Hex(0x6cb7e2), Tool: Hex(0x0072b2), OnPrepare: Hex(0x10222e), OnTool: Hex(0xffffff),
		Good: Hex(0x007a5a), GoodFill: Hex(0x00845f), GoodTint: Hex(0xd5f0e6),
		Bad: Hex(0xb23c00), BadFill: Hex(0xd55e00), BadTint: Hex(0xfbe0d0),
		Warn: Hex(0x7a5300), WarnLine: Hex(0xd48f00), WarnTint: Hex(0xfde7b9),
		Ready: Hex(0xdcefda), Window: Faint(Hex(0xe69f00), 13), Darkest: Hex(0x0f172a),
		Away: Hex(0x7c828c), Signal: Hex(0x8a5a00), Deadline: Hex(0x8f2f00),
	}
}
