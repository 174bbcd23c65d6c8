package sim

import (
	"cmp"
	"fmt"
	"slices"

	"drainlab/internal/setting"
)

// Fix is the smallest change of one setting that turns the gate's FAIL into
// PASS, all others left as they are.
type Fix struct {
	Setting  string // the control's URL name
	Label    string // and its label on the page
	Found    bool   // false: no value of this setting passes
	From     Time   // the amount as set, in tenths as those of a [Control]
	To       Time   // the nearest amount that passes; From where none does
	Account  Account
	Sentence string
}

// Fixes returns for every setting its smallest change that passes the gate:
// those that were found first, the smallest share of the setting's range
// before larger ones and a toggle counting as its whole range; of these the
// allowance comes last, as it changes what is asked and not what happens. Then
// come the settings that no value helps, in the contract's order. Each fix was
// run. The answer is nil where the gate passes s. Panics like [Simulate].
func Fixes(s Settings) []Fix {
	r := Simulate(s)
	passes := func(s Settings) bool {
		r.Reset(s)
		return r.verdict() == Pass
	}
	if r.verdict() == Pass {
		return nil
	}
	fixes := make([]Fix, len(controls))
	for i := range controls {
		c := &controls[i]
		f := &fixes[i]
		f.Setting, f.Label, f.From = c.Name, c.Label, c.Amount(s)
		f.To, f.Found = c.Nearest(s, Never, passes)
		if !f.Found {
			f.To = f.From
			f.Sentence = c.Label + ": no value makes the gate pass."
			if c.Toggle {
				f.Sentence = fmt.Sprintf("%s: switching it %s does not make the gate pass.", c.Label, c.Say(setting.On-f.From))
			}
			continue
		}
		f.Account = r.Account() // of the run that passed, the last one
		what := "all requests complete"
		if n := f.Account.Rejected; n > 0 {
			what = fmt.Sprintf("%d of %d requests %s and %d %s rejected", f.Account.Completed, f.Account.Arrivals,
				form(f.Account.Completed, "completes", "complete"), n, form(n, "is", "are"))
		}
		f.Sentence = fmt.Sprintf("%s: %s instead of %s passes the gate; %s.", c.Label, c.Say(f.To), c.Say(f.From), what)
	}
	slices.SortStableFunc(fixes, func(a, b Fix) int {
		if a.Found != b.Found {
			if a.Found {
				return -1
			}
			return 1
		}
		if !a.Found {
			return 0
		}
		return cmp.Compare(a.size(), b.size())
	})
	return fixes
}

// size orders fixes: the share of the range in thousandths, a laxer gate after
// all of them.
func (f *Fix) size() int {
	const toggled = 1000
	c, _ := FindControl(f.Setting)
	switch {
	case f.Setting == "allowance":
		return toggled + 1
	case c.Toggle:
		return toggled
	}
	return int(max(f.To-f.From, f.From-f.To)) * toggled / int(c.Max-c.Min)
}

// Pairs returns changes of two settings that pass the gate where no change of
// one does, the nearest first, at most so many; see [setting.Table.Pairs].
// Settings that would make the run easier by leaving the lesson out are not
// among them, unless nothing else passes: first the traffic, then also when
// worker 1 is signalled, whether it boots at all, and what the gate allows.
func Pairs(s Settings, atMost int) []setting.Pair[Settings] {
	var r Run
	whole := func(string) Time { return Never }
	passes := func(next Settings) bool {
		r.Reset(next)
		return r.verdict() == Pass
	}
	for _, without := range [][]string{{"signal", "fail_init", "allowance", "interval", "duration"}, {"signal", "fail_init", "allowance"}} {
		honest := slices.DeleteFunc(slices.Clone(controls), func(c Control) bool { return slices.Contains(without, c.Name) })
		if pairs := honest.Pairs(s, whole, atMost, passes); len(pairs) > 0 {
			return pairs
		}
	}
	return controls.Pairs(s, whole, atMost, passes)
}
