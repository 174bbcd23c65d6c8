package clocks

import "drainlab/internal/setting"

// Change is a change of one setting, and the settings that it leads to.
type Change struct {
	Control  Control
	From, To Time // amounts
	Found    bool // false: no value of this setting does what was looked for
	Settings Settings
}

// Fixes returns, for each setting in the contract's order, the smallest change
// of it alone with which a failing run passes. The search looks at every value
// that the setting may have, of the grace at those up to most, unless that is
// [Never]. Of a run that passes there are none to find.
func Fixes(s Settings, most Time) []Change {
	return search(s, most, func(r *Run) bool { return r.Passes() })
}

// Breaks returns, for each setting, the smallest change of it alone with which
// a passing run no longer passes.
func Breaks(s Settings) []Change {
	return search(s, Never, func(r *Run) bool { return !r.Passes() })
}

// Pair is a change of two settings at once.
type Pair = setting.Pair[Settings]

// Pairs returns, for where no single change makes a failing run pass, changes
// of two settings that do, the nearest first, at most so many; see
// [setting.Table.Pairs]. The grace stays at most, unless that is [Never].
func Pairs(s Settings, most Time, atMost int) []Pair {
	var run Run
	return table.Pairs(s, func(name string) Time { return limit(name, most) }, atMost, func(next Settings) bool {
		if !next.agree() {
			return false
		}
		run.compute(&next)
		return run.Passes()
	})
}

func limit(name string, most Time) Time {
	if name == "grace" {
		return most
	}
	return Never
}

// weights order what keeps a run from passing by how far it is from there. A
// process that the kill ends drains and cleans up nothing, which hides the
// rest: the end by the kill outweighs all that may come to light without it,
// cancelled, refused and unknown together.
var weights = [NoLoss]int64{LostKilled: 3, LostCancelled: 2, LostDeadline: 2, LostRefused: 1, LostUnknown: 1, LostCleanup: 1, LostExit: 5}

// Closest returns, for where no two changes make a failing run pass, the
// change of one setting to one of its slider's stops that leaves the lightest
// losses, and of these the fewest. Where none saves anything yet, it is the
// change that costs nothing and leaves the least time to win, see
// [Run.overrun]. Of several that do, it is the first setting in the contract's
// order at its nearest stop.
//
// Every failing run has such a change, so that one after the other they end in
// PASS: what is lost of the requests can be shortened until it is not, and where
// the kill is all that is left, the plan can be until the process exits, or
// would if it handled the signal.
func Closest(s Settings, most Time) (Change, bool) {
	if c, ok := least(s, most, (*Run).lost); ok {
		return c, ok
	}
	return least(s, most, func(r *Run) int64 { return r.lost()<<32 + r.overrun() })
}

// lost measures the losses: their weight, then their count.
func (r *Run) lost() int64 {
	a := &r.Account
	n := int64(a.Killed + a.Cancelled + a.Deadline + a.Refused + r.Work.Unknown + int(r.Cleanup))
	for l := range NoLoss {
		if r.has(l) {
			n += weights[l] << 20
		}
	}
	return n
}

// overrun measures in tenths what a change may win though nothing is saved yet:
// by how much the plan is longer than the time until the kill that ends the
// process, and for how long routers go on sending to where callers are refused.
// Without a handled signal there is no plan: that counts for more than any
// overrun, and to it comes the overrun of the plan with the signal handled.
func (r *Run) overrun() int64 {
	n, plan := Time(0), r
	if r.Account.Refused > 0 {
		n += r.Instants.RouterStop - r.listening
	}
	if !r.Settings.SignalHandled {
		n += endless
		handled := r.Settings
		handled.SignalHandled = true
		plan = new(Run)
		plan.compute(&handled)
	}
	if !plan.Exited { // who exits before the kill may still overrun by some of the margin
		n -= plan.Budget.Slack
	}
	return int64(n)
}

// least returns the change of one setting to one of its slider's stops that
// measures least, and less than s itself.
func least(s Settings, most Time, measure func(*Run) int64) (Change, bool) {
	var run Run
	run.compute(&s)
	n := measure(&run)
	var best Change
	for i := range table {
		c := &table[i]
		for _, stop := range c.StopsFrom(s, limit(c.Name, most)) {
			next := s
			c.Set(&next, stop.Amount)
			if !next.agree() {
				continue
			}
			run.compute(&next)
			if m := measure(&run); m < n {
				n, best = m, Change{Control: *c, From: c.Amount(s), To: stop.Amount, Found: true, Settings: next}
			}
		}
	}
	return best, best.Found
}

func search(s Settings, most Time, wanted func(*Run) bool) []Change {
	var run Run // one for all: a search looks at up to 200,000 runs
	holds := func(next Settings) bool {
		if !next.agree() {
			return false
		}
		run.compute(&next)
		return wanted(&run)
	}
	list := make([]Change, 0, len(table))
	for _, c := range table {
		change := Change{Control: c, From: c.Amount(s)}
		change.To, change.Found = c.Nearest(s, limit(c.Name, most), holds)
		if change.Found {
			change.Settings = s
			c.Set(&change.Settings, change.To)
		}
		list = append(list, change)
	}
	return list
}

// Gravity judges settings for a sweep: what weighs gravest in their run, and
// whether they go together at all.
func Gravity(run *Run, s Settings) (Loss, bool) {
	if !s.agree() {
		return NoLoss, false
	}
	run.compute(&s)
	return run.Gravest(), true
}
