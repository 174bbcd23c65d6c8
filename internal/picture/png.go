package picture

import (
	"cmp"
	"encoding/binary"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"maps"
	"math"
	"slices"

	"golang.org/x/image/font"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// writePNG draws the figure as a PNG of exactly its size.
func writePNG(w io.Writer, f *Figure, fc *faces) error {
	c := canvas{to: image.NewRGBA(image.Rect(0, 0, f.Width, f.Height)), faces: fc}
	draw.Draw(c.to, c.to.Bounds(), image.NewUniform(f.Paper), image.Point{}, draw.Src)
	for _, s := range f.Shapes {
		if err := c.draw(s.Form); err != nil {
			return err
		}
	}
	// The best compression takes twice the time for a few percent.
	return png.Encode(w, indexed(c.to))
}

// canvas draws forms on pixels.
type canvas struct {
	to    *image.RGBA
	faces *faces
	fill  vector.Rasterizer
}

func (c *canvas) draw(fm Form) error {
	switch fm := fm.(type) {
	case Box:
		whole, sharp := fm.pixels()
		switch {
		case fm.Edge.A > 0:
			c.paint(fm.Edge, outline(fm.X, fm.Y, fm.W, fm.H, fm.Radius))
			in := EdgeWidth
			c.paint(fm.Fill, outline(fm.X+in, fm.Y+in, fm.W-2*in, fm.H-2*in, max(fm.Radius-in, 0)))
		case sharp:
			draw.Draw(c.to, whole, image.NewUniform(fm.Fill), image.Point{}, draw.Over)
		default:
			c.paint(fm.Fill, outline(fm.X, fm.Y, fm.W, fm.H, fm.Radius))
		}
	case Hatch:
		c.paint(fm.Ink, stripes(fm)...)
	case Stroke:
		c.paint(fm.Ink, segments(fm)...)
	case Polygon:
		c.paint(fm.Fill, straight(fm.Points))
	case Text:
		face, err := c.faces.face(fm.Font)
		if err != nil {
			return err
		}
		d := font.Drawer{Dst: c.to, Src: image.NewUniform(fm.Ink), Face: face,
			Dot: fixed.Point26_6{X: fixed.Int26_6(math.Round(fm.X * 64)), Y: fixed.Int26_6(math.Round(fm.Y * 64))}}
		d.DrawString(fm.Content)
	}
	return nil
}

// pixels are those that the box covers, and whether it covers each wholly, so
// that the rasterizer has nothing to work out. Most boxes do.
func (b Box) pixels() (image.Rectangle, bool) {
	r := image.Rect(int(b.X), int(b.Y), int(b.X+b.W), int(b.Y+b.H))
	sharp := b.Radius == 0 && float64(r.Min.X) == b.X && float64(r.Min.Y) == b.Y && float64(r.Max.X) == b.X+b.W && float64(r.Max.Y) == b.Y+b.H
	return r, sharp
}

// path is a closed outline in clockwise order.
type path struct {
	points []Point
	round  bool // a start, then Bézier curves of three points each; else corners
}

func straight(points []Point) path { return path{points: points} }

// outline is a rectangle's, its corners rounded.
func outline(x, y, w, h, radius float64) path {
	radius = min(radius, w/2, h/2)
	if radius <= 0 {
		return straight([]Point{{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}})
	}
	// The control points of a cubic curve that is nearest to a quarter circle
	// lie at this part of the radius from its ends.
	const quarter = 0.5522847498
	near := radius * (1 - quarter)
	r, b := x+w, y+h
	line := func(from, to Point) []Point { return []Point{from, to, to} }
	p := []Point{{x + radius, y}}
	p = append(p, line(Point{x + radius, y}, Point{r - radius, y})...)
	p = append(p, Point{r - near, y}, Point{r, y + near}, Point{r, y + radius})
	p = append(p, line(Point{r, y + radius}, Point{r, b - radius})...)
	p = append(p, Point{r, b - near}, Point{r - near, b}, Point{r - radius, b})
	p = append(p, line(Point{r - radius, b}, Point{x + radius, b})...)
	p = append(p, Point{x + near, b}, Point{x, b - near}, Point{x, b - radius})
	p = append(p, line(Point{x, b - radius}, Point{x, y + radius})...)
	p = append(p, Point{x, y + near}, Point{x + near, y}, Point{x + radius, y})
	return path{points: p, round: true}
}

// paint fills the union of the paths.
func (c *canvas) paint(ink color.NRGBA, paths ...path) {
	if ink.A == 0 {
		return
	}
	left, top, right, bottom := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, p := range paths {
		for _, at := range p.points {
			left, right = min(left, at.X), max(right, at.X)
			top, bottom = min(top, at.Y), max(bottom, at.Y)
		}
	}
	if left >= right || top >= bottom {
		return
	}
	// The rasterizer works through all of its area: it is given no more than
	// what the paths cover.
	area := image.Rect(int(math.Floor(left)), int(math.Floor(top)), int(math.Ceil(right)), int(math.Ceil(bottom)))
	c.fill.Reset(area.Dx(), area.Dy())
	at := func(p Point) (float32, float32) {
		return float32(p.X - float64(area.Min.X)), float32(p.Y - float64(area.Min.Y))
	}
	for _, p := range paths {
		c.fill.MoveTo(at(p.points[0]))
		rest := p.points[1:]
		for len(rest) > 0 {
			if p.round {
				ax, ay := at(rest[0])
				bx, by := at(rest[1])
				cx, cy := at(rest[2])
				c.fill.CubeTo(ax, ay, bx, by, cx, cy)
				rest = rest[3:]
			} else {
				c.fill.LineTo(at(rest[0]))
				rest = rest[1:]
			}
		}
		c.fill.ClosePath()
	}
	c.fill.Draw(c.to, area, image.NewUniform(ink), image.Point{})
}

// stripes are the parts of the hatch's stripes that lie in its rectangle. A
// stripe is all points whose x+y is in one range.
func stripes(h Hatch) []path {
	pitch, line := h.Pitch*math.Sqrt2, h.Line*math.Sqrt2
	right, bottom := h.X+h.W, h.Y+h.H
	var list []path
	for k := math.Floor((h.X + h.Y) / pitch); k*pitch < right+bottom; k++ {
		from, to := max(k*pitch, h.X+h.Y), min(k*pitch+line, right+bottom)
		if from >= to {
			continue
		}
		// Where x+y = sum enters the rectangle, by its top or its right side,
		// and where it leaves it, by its left side or its bottom.
		enter := func(sum float64) Point { x := min(sum-h.Y, right); return Point{x, sum - x} }
		leave := func(sum float64) Point { y := min(sum-h.X, bottom); return Point{sum - y, y} }
		inside := func(sum float64) bool { return from < sum && sum < to }
		p := []Point{enter(from)}
		if inside(right + h.Y) {
			p = append(p, Point{right, h.Y})
		}
		p = append(p, enter(to), leave(to))
		if inside(h.X + bottom) {
			p = append(p, Point{h.X, bottom})
		}
		list = append(list, straight(append(p, leave(from))))
	}
	return list
}

// segments are the outlines of a stroke's parts. All have one direction, so
// that they add up where they overlap.
func segments(s Stroke) []path {
	var list []path
	half := s.Width / 2
	for i, b := range s.Points[1:] {
		a := s.Points[i]
		length := math.Hypot(b.X-a.X, b.Y-a.Y)
		if length == 0 {
			continue
		}
		ux, uy := (b.X-a.X)/length, (b.Y-a.Y)/length
		nx, ny := uy*half, -ux*half
		step := length
		if s.Dash > 0 {
			step = s.Dash
		}
		for from := 0.0; from < length; from += 2 * step {
			to := min(from+step, length)
			p, q := Point{a.X + ux*from, a.Y + uy*from}, Point{a.X + ux*to, a.Y + uy*to}
			list = append(list, straight([]Point{{p.X + nx, p.Y + ny}, {q.X + nx, q.Y + ny}, {q.X - nx, q.Y - ny}, {p.X - nx, p.Y - ny}}))
		}
	}
	if s.Dash == 0 {
		for _, p := range s.Points {
			list = append(list, outline(p.X-half, p.Y-half, s.Width, s.Width, half))
		}
	}
	return list
}

// indexed is the picture in at most 256 colours, which is a third of the bytes
// of a PNG and a third of the time to pack them. The figures' own colours are
// few; what is beyond the 256 most frequent ones are shades at the rims of
// forms, and takes the nearest of these.
func indexed(from *image.RGBA) *image.Paletted {
	counts := map[uint32]int{}
	eachRun(from, func(rgba uint32, _, n int) { counts[rgba] += n })
	order := slices.SortedFunc(maps.Keys(counts), func(a, b uint32) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	kept := order[:min(len(order), 256)]
	index := make(map[uint32]uint8, len(order))
	to := image.NewPaletted(from.Rect, make(color.Palette, len(kept)))
	for i, rgba := range kept {
		index[rgba] = uint8(i)
		to.Palette[i] = color.NRGBA{R: uint8(rgba), G: uint8(rgba >> 8), B: uint8(rgba >> 16), A: 0xff}
	}
	for _, rgba := range order[len(kept):] {
		index[rgba] = nearest(kept, rgba)
	}
	eachRun(from, func(rgba uint32, at, n int) {
		row, i := to.Pix[at:at+n], index[rgba]
		for k := range row {
			row[k] = i
		}
	})
	return to
}

// eachRun calls use for each row of n pixels of one colour that begins at
// pixel at; red is the colour's lowest byte. The picture is opaque, and its
// rows follow one another.
func eachRun(from *image.RGBA, use func(rgba uint32, at, n int)) {
	for rest := from.Pix; len(rest) > 0; {
		rgba, end := binary.LittleEndian.Uint32(rest), 4
		for end < len(rest) && binary.LittleEndian.Uint32(rest[end:]) == rgba {
			end += 4
		}
		use(rgba, (len(from.Pix)-len(rest))/4, end/4)
		rest = rest[end:]
	}
}

// nearest is the place among kept of the colour that is nearest to rgba.
func nearest(kept []uint32, rgba uint32) uint8 {
	part := func(c uint32, shift int) int { return int(c >> shift & 0xff) }
	best, least := 0, math.MaxInt
	for i, k := range kept {
		r, g, b := part(k, 0)-part(rgba, 0), part(k, 8)-part(rgba, 8), part(k, 16)-part(rgba, 16)
		if d := r*r + g*g + b*b; d < least {
			best, least = i, d
		}
	}
	return uint8(best)
}
