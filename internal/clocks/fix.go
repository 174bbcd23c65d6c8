package clocks

import "slices"

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
type Pair struct {
	First, Second Change
	Settings      Settings
	cost          int
}

// Pairs returns, for where no single change makes a failing run pass, changes
// of two settings that do: for each two settings the pair that is fewest stops
// of their sliders away, its values then brought as near to those of s as
// either still can be; of all these the nearest, at most so many. The grace
// stays at most, unless that is [Never].
func Pairs(s Settings, most Time, atMost int) []Pair {
	var run Run
	passes := func(next Settings) bool {
		if !next.agree() {
			return false
		}
		run.compute(&next)
		return run.Passes()
	}
	stops := make([][]stop, len(table))
	for i := range table {
		stops[i] = stopsFrom(&table[i], s, most)
	}
	var list []Pair
	for i := range table {
		for j := i + 1; j < len(table); j++ {
			best := Pair{cost: 1 << 30}
			for _, a := range stops[i] {
				if a.cost+stops[j][0].cost >= best.cost {
					break // as all that follow
				}
				next := s
				table[i].Set(&next, a.amount)
				for _, b := range stops[j] {
					if a.cost+b.cost >= best.cost {
						break
					}
					table[j].Set(&next, b.amount)
					if passes(next) {
						best.cost, best.First.To, best.Second.To = a.cost+b.cost, a.amount, b.amount
					}
				}
			}
			if best.cost == 1<<30 {
				continue
			}
			list = append(list, best.between(s, &table[i], &table[j], most, passes))
		}
	}
	slices.SortStableFunc(list, func(a, b Pair) int { return a.cost - b.cost })
	return list[:min(len(list), atMost)]
}

// Closest returns, for where no two changes make a failing run pass, the
// change of one setting to one of its slider's stops that leaves the fewest
// kinds of loss, and of these the fewest things lost.
func Closest(s Settings, most Time) (Change, bool) {
	var run Run
	weight := func() int {
		a := &run.Account
		n := a.Killed + a.Cancelled + a.Deadline + a.Refused + run.Work.Unknown + int(run.Cleanup)
		return len(run.Losses())<<20 + n
	}
	run.compute(&s)
	least := weight()
	var best Change
	for i := range table {
		c := &table[i]
		for _, stop := range stopsFrom(c, s, most) {
			next := s
			c.Set(&next, stop.amount)
			if !next.agree() {
				continue
			}
			run.compute(&next)
			if w := weight(); w < least {
				least, best = w, Change{Control: *c, From: c.Amount(s), To: stop.amount, Found: true, Settings: next}
			}
		}
	}
	return best, best.Found
}

// between fills a pair of amounts found at the stops: first the one setting,
// then the other is brought back towards s as far as the run still passes.
func (p Pair) between(s Settings, x, y *Control, most Time, passes func(Settings) bool) Pair {
	limit := func(c *Control) Time {
		if c.Name == "grace" {
			return most
		}
		return Never
	}
	with := s
	y.Set(&with, p.Second.To)
	if v, ok := x.Nearest(with, limit(x), passes); ok { // it is there: a stop has passed
		p.First.To = v
	}
	with = s
	x.Set(&with, p.First.To)
	if v, ok := y.Nearest(with, limit(y), passes); ok {
		p.Second.To = v
	}
	p.Settings = with
	y.Set(&p.Settings, p.Second.To)
	p.First.Control, p.First.From, p.First.Found = *x, x.Amount(s), true
	p.Second.Control, p.Second.From, p.Second.Found = *y, y.Amount(s), true
	return p
}

// stop is an amount that a search by stops looks at, and how many stops it is
// away. A toggle or a word is as far as three stops: it changes the design.
type stop struct {
	amount Time
	cost   int
}

func stopsFrom(c *Control, s Settings, most Time) []stop {
	from := c.Amount(s)
	all := c.Stops()
	here, _ := slices.BinarySearchFunc(all, from, func(a, b Time) int { return int(place(a) - place(b)) })
	var list []stop
	for i, v := range all {
		if v == from || c.Name == "grace" && most != Never && v > most {
			continue
		}
		cost := max(1, i-here, here-i)
		if c.Toggle || c.Words != nil {
			cost = 3
		}
		list = append(list, stop{v, cost})
	}
	slices.SortStableFunc(list, func(a, b stop) int { return a.cost - b.cost })
	return list
}

// place orders amounts with no bound as the largest.
func place(t Time) Time {
	if t == None {
		return endless
	}
	return t
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
		limit := Never
		if c.Name == "grace" {
			limit = most
		}
		change := Change{Control: c, From: c.Amount(s)}
		change.To, change.Found = c.Nearest(s, limit, holds)
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
