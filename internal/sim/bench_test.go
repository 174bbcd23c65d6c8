package sim_test

import (
	"testing"
	"time"

	"drainlab/internal/sim"
)

// The settings that are measured: the page's first run, and a fleet that is
// kept busy while worker 1 is replaced.
var measured = []struct{ name, change string }{
	{"opening", ""},
	{"busy", "workers=4&slots=4&interval=1&duration=8&grace=10&replacement=1"},
}

func BenchmarkFreshRun(b *testing.B) {
	for _, m := range measured {
		b.Run(m.name, func(b *testing.B) {
			s := settings(b, m.change)
			b.ReportAllocs()
			for b.Loop() {
				sim.Simulate(s)
			}
		})
	}
}

func BenchmarkReusedRun(b *testing.B) {
	for _, m := range measured {
		b.Run(m.name, func(b *testing.B) {
			s := settings(b, m.change)
			r := sim.Simulate(s)
			b.ReportAllocs()
			for b.Loop() {
				r.Reset(s)
			}
		})
	}
}

func BenchmarkReference(b *testing.B) {
	for _, m := range measured {
		b.Run(m.name, func(b *testing.B) {
			s := settings(b, m.change)
			b.ReportAllocs()
			for b.Loop() {
				tickByTick(s)
			}
		})
	}
}

func BenchmarkSnapshot(b *testing.B) {
	r := sim.Simulate(settings(b, measured[1].change))
	b.ReportAllocs()
	for b.Loop() {
		r.At(300)
	}
}

func BenchmarkJSON(b *testing.B) {
	snapshot := sim.Simulate(settings(b, measured[1].change)).At(sim.Horizon)
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = snapshot.AppendJSON(buf[:0])
	}
}

// What the engine promises; BenchmarkRatios fails below it.
const (
	leastTimesFaster   = 15 // than visiting every tick
	mostNanosPerEvent  = 10.0
	mostAllocsOnReused = 0
)

// BenchmarkRatios measures the engine, with its trace and reused memory,
// against the tick-by-tick reference in one run. The two take turns in short
// batches and the best batch of each counts: what else the machine does can
// only slow a batch down, so the ratio holds on a busy machine too.
func BenchmarkRatios(b *testing.B) {
	for _, m := range measured {
		b.Run(m.name, func(b *testing.B) {
			const (
				turns         = 20
				engineRuns    = 400
				referenceRuns = 20
			)
			s := settings(b, m.change)
			r := sim.Simulate(s)
			reset := func() { r.Reset(s) }
			tick := func() { tickByTick(s) }
			engine, reference := batch(engineRuns, reset), batch(referenceRuns, tick)
			for b.Loop() {
				for range turns {
					engine = min(engine, batch(engineRuns, reset))
					reference = min(reference, batch(referenceRuns, tick))
				}
			}
			faster := reference / engine
			perEvent := engine / float64(len(r.Trace))
			allocs := testing.AllocsPerRun(100, reset)
			b.ReportMetric(0, "ns/op") // of a whole loop of turns: tells nothing
			b.ReportMetric(faster, "x_faster_than_ticks")
			b.ReportMetric(perEvent, "ns/trace_event")
			b.ReportMetric(allocs, "allocs/reused_run")
			// A benchmark that fails prints no metrics, so the text has them all.
			if faster < leastTimesFaster || perEvent > mostNanosPerEvent || allocs > mostAllocsOnReused {
				b.Fatalf("%.1f times faster than ticks (want at least %d: the engine takes %.0f ns, the reference %.0f ns), "+
					"%.1f ns for each of %d events (want at most %.0f), %.0f allocations on a reused run (want %d)",
					faster, leastTimesFaster, engine, reference, perEvent, len(r.Trace), mostNanosPerEvent, allocs, mostAllocsOnReused)
			}
		})
	}
}

// batch times one batch and returns nanoseconds per run.
func batch(runs int, run func()) float64 {
	start := time.Now()
	for range runs {
		run()
	}
	return float64(time.Since(start).Nanoseconds()) / float64(runs)
}

// The promise that needs no stopwatch is kept in every test run.
func TestAReusedRunAllocatesNothing(t *testing.T) {
	for _, m := range measured {
		s := settings(t, m.change)
		r := sim.Simulate(s)
		if allocs := testing.AllocsPerRun(100, func() { r.Reset(s) }); allocs > mostAllocsOnReused {
			t.Errorf("%s: %.0f allocations on a reused run", m.name, allocs)
		}
	}
}
