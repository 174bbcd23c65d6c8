package sim

// Experiment is one guided step of lesson 1: settings to apply, and how to
// tell that a run has shown what the step is about.
type Experiment struct {
	ID       string
	Settings Settings
	// gate marks the step that any run reaches that passes the gate honestly.
	gate bool
}

// Experiments returns the guided steps in their order.
func Experiments() []Experiment {
	with := func(change func(*Settings)) Settings {
		s := Opening()
		change(&s)
		return s
	}
	return []Experiment{
		{ID: "opening", Settings: Opening()},
		{ID: "grace-10", Settings: with(func(s *Settings) { s.Grace = 10 * Second })},
		{ID: "grace-20", Settings: with(func(s *Settings) { s.Grace = 20 * Second })},
		{ID: "handler-off", Settings: with(func(s *Settings) { s.Grace, s.Handler = 20*Second, false })},
		{ID: "replacement", Settings: with(func(s *Settings) { s.Grace, s.Replacement = 20*Second, true })},
		{ID: "gate", gate: true, Settings: with(func(s *Settings) {
			s.Duration, s.Grace, s.Replacement = 8*Second, 10*Second, true
		})},
	}
}

// Shown reports whether the run r, seen up to t, shows the step: worker 1 is
// gone and the account has come to what it stays at. Once true it stays true
// for every later t. The gate step is shown by any run that was seen to the
// end and passes while worker 1 was signalled under traffic and the allowance
// is no laxer than the opening one.
func (e Experiment) Shown(r *Run, t Time) bool {
	if e.gate {
		return t == Horizon && r.Account().Passes(r.Settings.Allowance) &&
			r.Settings.Allowance <= e.Settings.Allowance && r.Settings.Signal <= LastArrival && r.Workers[0].SignalAt != Never
	}
	if r.Settings != e.Settings || r.Workers[0].ExitAt == Never || t < r.Workers[0].ExitAt {
		return false
	}
	now, end := r.At(t).Account, r.Account()
	return now.Admitted == end.Admitted && now.Completed == end.Completed && now.Killed == end.Killed
}
