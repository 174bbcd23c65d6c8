package ledgers

import (
	"time"

	"drainlab/internal/drill"
	"drainlab/internal/fixture"
)

// step is one step of the guide: settings to run, a question to answer first,
// and how a run shows the answer.
type step struct {
	id, title, ask string
	settings       fixture.Settings
	shown          func(drill.Result) bool
}

// steps are the guide's, in their order.
func steps() []step {
	with := func(change func(*fixture.Settings)) fixture.Settings {
		s := fixture.Reference()
		change(&s)
		return s
	}
	const second = fixture.Seconds(time.Second)
	return []step{
		{"reference", "The reference run", "Two callers are cancelled. What does each ledger say of the third request?", fixture.Reference(),
			func(r drill.Result) bool { return r.Report.Requests.Cancelled == 2 && r.Report.Work.Unknown == 1 }},
		{"token", "With a stop token", "The work looks at a token between two units. Which ledger changes?", with(func(s *fixture.Settings) { s.StopToken = true }),
			func(r drill.Result) bool { return r.Report.Work.ConfirmedStopped == 1 }},
		{"join", "Join the work before the exit", "The same clients. What does the process do differently, and what does it cost?", with(func(s *fixture.Settings) { s.JoinWork = true }),
			func(r drill.Result) bool { return r.Report.Requests.Cancelled == 2 && r.Report.Work.Completed == 1 }},
		{"store", "The outcome store fails", "Everything else is as before. May this release go on?", with(func(s *fixture.Settings) { s.StoreFails = true }),
			func(r drill.Result) bool { return r.Report.EvidenceLost }},
		{"second", "A second signal", "There are 5 s to drain, and somebody presses the button again. Who decides how long the drain is?",
			with(func(s *fixture.Settings) { s.GracefulTimeout, s.SecondSignal = 5*second, second/2 }),
			func(r drill.Result) bool { return r.Report.Requests.Cancelled == 2 && r.Exit.After < 4 }},
		{"client", "The client disconnects", "One caller leaves by itself, and there is time for the rest. Did the drain fail?",
			with(func(s *fixture.Settings) { s.ClientLeaves, s.GracefulTimeout, s.BlockingWork = true, 3*second, second }),
			func(r drill.Result) bool {
				return r.Report.Requests.Cancelled == 1 && r.Report.Requests.Completed == 2 && r.Report.Work.Unaccounted() == 0
			}},
	}
}

func findStep(id string) (step, bool) {
	for _, s := range steps() {
		if s.id == id {
			return s, true
		}
	}
	return step{}, false
}
