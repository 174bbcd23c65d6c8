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
func writePNG(w io.Writer, f *figure, fc *faces) error {
	c := canvas{to: image.NewRGBA(image.Rect(0, 0, f.width, f.height)), faces: fc}
	draw.Draw(c.to, c.to.Bounds(), image.NewUniform(f.paper), image.Point{}, draw.Src)
	for _, s := range f.shapes {
		if err := c.draw(s.form); err != nil {
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

func (c *canvas) draw(fm form) error {
	switch fm := fm.(type) {
	case box:
		whole, sharp := fm.pixels()
		switch {
		case fm.edge.A > 0:
			c.paint(fm.edge, outline(fm.x, fm.y, fm.w, fm.h, fm.radius))
			in := edgeWidth
			c.paint(fm.fill, outline(fm.x+in, fm.y+in, fm.w-2*in, fm.h-2*in, max(fm.radius-in, 0)))
		case sharp:
			draw.Draw(c.to, whole, image.NewUniform(fm.fill), image.Point{}, draw.Over)
		default:
			c.paint(fm.fill, outline(fm.x, fm.y, fm.w, fm.h, fm.radius))
		}
	case hatch:
		c.paint(fm.ink, stripes(fm)...)
	case stroke:
		c.paint(fm.ink, segments(fm)...)
	case polygon:
		c.paint(fm.fill, straight(fm.points))
	case text:
		face, err := c.faces.face(fm.font)
		if err != nil {
			return err
		}
		d := font.Drawer{Dst: c.to, Src: image.NewUniform(fm.ink), Face: face,
			Dot: fixed.Point26_6{X: fixed.Int26_6(math.Round(fm.x * 64)), Y: fixed.Int26_6(math.Round(fm.y * 64))}}
		d.DrawString(fm.content)
	}
	return nil
}

// pixels are those that the box covers, and whether it covers each wholly, so
// that the rasterizer has nothing to work out. Most boxes do.
func (b box) pixels() (image.Rectangle, bool) {
	r := image.Rect(int(b.x), int(b.y), int(b.x+b.w), int(b.y+b.h))
	sharp := b.radius == 0 && float64(r.Min.X) == b.x && float64(r.Min.Y) == b.y && float64(r.Max.X) == b.x+b.w && float64(r.Max.Y) == b.y+b.h
	return r, sharp
}

// path is a closed outline in clockwise order.
type path struct {
	points []point
	round  bool // a start, then Bézier curves of three points each; else corners
}

func straight(points []point) path { return path{points: points} }

// outline is a rectangle's, its corners rounded.
func outline(x, y, w, h, radius float64) path {
	radius = min(radius, w/2, h/2)
	if radius <= 0 {
		return straight([]point{{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}})
	}
	// The control points of a cubic curve that is nearest to a quarter circle
	// lie at this part of the radius from its ends.
	const quarter = 0.5522847498
	near := radius * (1 - quarter)
	r, b := x+w, y+h
	line := func(from, to point) []point { return []point{from, to, to} }
	p := []point{{x + radius, y}}
	p = append(p, line(point{x + radius, y}, point{r - radius, y})...)
	p = append(p, point{r - near, y}, point{r, y + near}, point{r, y + radius})
	p = append(p, line(point{r, y + radius}, point{r, b - radius})...)
	p = append(p, point{r, b - near}, point{r - near, b}, point{r - radius, b})
	p = append(p, line(point{r - radius, b}, point{x + radius, b})...)
	p = append(p, point{x + near, b}, point{x, b - near}, point{x, b - radius})
	p = append(p, line(point{x, b - radius}, point{x, y + radius})...)
	p = append(p, point{x, y + near}, point{x + near, y}, point{x + radius, y})
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
			left, right = min(left, at.x), max(right, at.x)
			top, bottom = min(top, at.y), max(bottom, at.y)
		}
	}
	if left >= right || top >= bottom {
		return
	}
	// The rasterizer works through all of its area: it is given no more than
	// what the paths cover.
	area := image.Rect(int(math.Floor(left)), int(math.Floor(top)), int(math.Ceil(right)), int(math.Ceil(bottom)))
	c.fill.Reset(area.Dx(), area.Dy())
	at := func(p point) (float32, float32) {
		return float32(p.x - float64(area.Min.X)), float32(p.y - float64(area.Min.Y))
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
func stripes(h hatch) []path {
	pitch, line := h.pitch*math.Sqrt2, h.line*math.Sqrt2
	right, bottom := h.x+h.w, h.y+h.h
	var list []path
	for k := math.Floor((h.x + h.y) / pitch); k*pitch < right+bottom; k++ {
		from, to := max(k*pitch, h.x+h.y), min(k*pitch+line, right+bottom)
		if from >= to {
			continue
		}
		// Where x+y = sum enters the rectangle, by its top or its right side,
		// and where it leaves it, by its left side or its bottom.
		enter := func(sum float64) point { x := min(sum-h.y, right); return point{x, sum - x} }
		leave := func(sum float64) point { y := min(sum-h.x, bottom); return point{sum - y, y} }
		inside := func(sum float64) bool { return from < sum && sum < to }
		p := []point{enter(from)}
		if inside(right + h.y) {
			p = append(p, point{right, h.y})
		}
		p = append(p, enter(to), leave(to))
		if inside(h.x + bottom) {
			p = append(p, point{h.x, bottom})
		}
		list = append(list, straight(append(p, leave(from))))
	}
	return list
}

// segments are the outlines of a stroke's parts. All have one direction, so
// that they add up where they overlap.
func segments(s stroke) []path {
	var list []path
	half := s.width / 2
	for i, b := range s.points[1:] {
		a := s.points[i]
		length := math.Hypot(b.x-a.x, b.y-a.y)
		if length == 0 {
			continue
		}
		ux, uy := (b.x-a.x)/length, (b.y-a.y)/length
		nx, ny := uy*half, -ux*half
		step := length
		if s.dash > 0 {
			step = s.dash
		}
		for from := 0.0; from < length; from += 2 * step {
			to := min(from+step, length)
			p, q := point{a.x + ux*from, a.y + uy*from}, point{a.x + ux*to, a.y + uy*to}
			list = append(list, straight([]point{{p.x + nx, p.y + ny}, {q.x + nx, q.y + ny}, {q.x - nx, q.y - ny}, {p.x - nx, p.y - ny}}))
		}
	}
	if s.dash == 0 {
		for _, p := range s.points {
			list = append(list, outline(p.x-half, p.y-half, s.width, s.width, half))
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
