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
