package ledgers

import "drainlab/internal/ledger"

// phase is one state of the application's state machine.
type phase struct {
	state string // as the record names it
	class string // in the style
	name  string // in the picture
	what  string // it does
	now   string // what the process does in it, in a word
}

// phases are the states in their order.
func phases() []phase {
	return []phase{
		{"RUNNING", "running", "running", "admits", "runs"},
		{"QUIESCING", "quiescing", "quiescing", "the gate is closed, readiness is false", "gate closed"},
		{"DRAINING", "draining", "draining", "admitted requests finish", "drains"},
		{"RECORDING", "recording", "recording", "cleans up, writes outcomes", "records"},
		{"EXIT", "exit", "exit", "released", "leaves"},
	}
}

// phaseOf is the state that an event enters.
func phaseOf(e ledger.Event) (phase, bool) {
	if e.Kind == ledger.StateChanged {
		for _, p := range phases() {
			if p.state == e.State {
				return p, true
			}
		}
	}
	return phase{}, false
}
