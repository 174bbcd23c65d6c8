package clocks_test

import (
	"testing"

	"drainlab/internal/clocks"
)

func BenchmarkOneRun(b *testing.B) {
	s := clocks.Opening()
	for b.Loop() {
		clocks.Simulate(s)
	}
}

// The search that finds nothing looks at every value of every setting.
func BenchmarkFixesWhereThereIsNone(b *testing.B) {
	s := parse(b, "signal_handled=0&long=3600&gate=none&cooperative=0&cleanup=60&cleanup_budget=1")
	for _, c := range clocks.Fixes(s, clocks.Never) {
		if c.Found {
			b.Fatalf("%s fixes it", c.Control.Name)
		}
	}
	for b.Loop() {
		clocks.Fixes(s, clocks.Never)
	}
}

// The densest traffic, 9,600 requests: counted by rows, and one by one as a
// list of them is.
func BenchmarkTheDensestTraffic(b *testing.B) {
	s := parse(b, "interval=0.1&request=600&withdraw=60&propagation=300&deadline=0&grace=3600&server_timeout=none")
	b.Run("counted", func(b *testing.B) {
		for b.Loop() {
			clocks.Simulate(s)
		}
	})
	b.Run("listed", func(b *testing.B) {
		r := clocks.Simulate(s)
		for b.Loop() {
			for q := range r.Requests() {
				if q.Duration == 0 {
					b.Fatal("a request without a duration")
				}
			}
		}
	})
}
