package drain

import (
	"io"
	"testing"

	"drainlab/internal/sim"
)

func BenchmarkPictures(b *testing.B) {
	opening, most := at(sim.Opening(), sim.Horizon), at(extremeSettings(), sim.Horizon)
	for _, c := range []struct {
		name  string
		write func() error
	}{
		{"Card/opening", func() error { return Card(io.Discard, opening, "Graceful shutdown") }},
		{"Card/most", func() error { return Card(io.Discard, most, "Graceful shutdown") }},
		{"PNG/opening", func() error { return PNG(io.Discard, opening) }},
		{"PNG/most", func() error { return PNG(io.Discard, most) }},
		{"SVG/opening", func() error { return SVG(io.Discard, opening) }},
		{"SVG/most", func() error { return SVG(io.Discard, most) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.write(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
