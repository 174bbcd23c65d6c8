package clocks

import "drainlab/internal/setting"

// trace is the termination in words, up to an instant.
type trace struct {
	Steps   []traceStep
	Verdict string // "", pass or fail
	Reasons []string
	Note    string // what the picture leaves out
}

// traceStep is a moment in words.
type traceStep struct{ At, Text, Kind string }

func newTrace(r *Run, t setting.Time, note string) trace {
	v := trace{Note: note}
	for _, m := range r.moments {
		if m.at <= t {
			v.Steps = append(v.Steps, traceStep{At: signed(m.at) + " s", Text: m.text, Kind: m.kind})
		}
	}
	if r.seen(t) {
		v.Verdict, v.Reasons = r.Verdict(), lossTexts(r.Run)
	}
	return v
}
