package picture

import (
	"image"
	"image/color"
	"math"
	"testing"
)

func TestStripesLieInTheirRectangle(t *testing.T) {
	for _, h := range []Hatch{{X: 10, Y: 20, W: 80, H: 15, Pitch: 6, Line: 1.8}, {X: 3.5, Y: 7, W: 2, H: 40, Pitch: 6, Line: 1.8}, {X: 5, Y: 5, W: 43, H: 30.3, Pitch: 9, Line: 3}} {
		covered := 0.0
		for _, p := range stripes(h) {
			area := 0.0
			for i, a := range p.points {
				if a.X < h.X-1e-9 || a.Y < h.Y-1e-9 || a.X > h.X+h.W+1e-9 || a.Y > h.Y+h.H+1e-9 {
					t.Fatalf("%+v: a stripe has the corner %v", h, a)
				}
				b := p.points[(i+1)%len(p.points)]
				area += (a.X*b.Y - b.X*a.Y) / 2
			}
			if area < 0 { // then it would take away where it meets another
				t.Fatalf("%+v: a stripe is drawn the other way round", h)
			}
			covered += area
		}
		want := 0.0 // counted on a grid
		const step = 0.05
		for x := h.X + step/2; x < h.X+h.W; x += step {
			for y := h.Y + step/2; y < h.Y+h.H; y += step {
				if across := (x + y) / math.Sqrt2; across-math.Floor(across/h.Pitch)*h.Pitch < h.Line {
					want += step * step
				}
			}
		}
		if math.Abs(covered-want) > 0.5 {
			t.Errorf("%+v: stripes cover %.1f square pixels, want %.1f", h, covered, want)
		}
	}
}

func TestColoursAreKept(t *testing.T) {
	few := image.NewRGBA(image.Rect(0, 0, 16, 16))
	for i := range 256 {
		few.SetRGBA(i%16, i/16, color.RGBA{uint8(i), uint8(3 * i), 7, 255})
	}
	got := indexed(few)
	for i := range 256 {
		if want := few.RGBAAt(i%16, i/16); color.RGBAModel.Convert(got.At(i%16, i/16)) != want {
			t.Fatalf("pixel %d: %v, want %v", i, got.At(i%16, i/16), want)
		}
	}
	// 256 colours twice, and a shade between two of them once.
	many := image.NewRGBA(image.Rect(0, 0, 16, 33))
	for i := range 512 {
		many.SetRGBA(i%16, i/16, color.RGBA{uint8(i % 256), 0, 0, 255})
	}
	for i := range 16 {
		many.SetRGBA(i, 32, color.RGBA{200, 1, 0, 255})
	}
	many.SetRGBA(0, 32, color.RGBA{100, 0, 2, 255})
	got = indexed(many)
	if len(got.Palette) != 256 {
		t.Errorf("%d colours", len(got.Palette))
	}
	if c := color.RGBAModel.Convert(got.At(0, 32)); c != (color.RGBA{100, 0, 0, 255}) {
		t.Errorf("the shade became %v", c)
	}
}
