package setting

import "slices"

// Pair is a change of two settings at once.
type Pair[S any] struct {
	First, Second Change[S]
	Settings      S // with both
	cost          int
}

// Change is another amount of one setting.
type Change[S any] struct {
	Control  Control[S]
	From, To Time
}

// Pairs returns changes of two settings with which passes is true, for where
// no change of one does: for each two settings the pair that is the fewest
// stops of their sliders away, its amounts then brought as near to those of s
// as either still can be; of all these the nearest, at most so many. limit
// names the largest amount that is tried of a setting, [Never] for its range.
func (t Table[S]) Pairs(s S, limit func(name string) Time, atMost int, passes func(S) bool) []Pair[S] {
	stops := make([][]Stop, len(t))
	for i := range t {
		stops[i] = t[i].StopsFrom(s, limit(t[i].Name))
	}
	const none = 1 << 30
	var list []Pair[S]
	for i := range t {
		for j := i + 1; j < len(t); j++ {
			best := Pair[S]{cost: none}
			if len(stops[i]) == 0 || len(stops[j]) == 0 {
				continue
			}
			for _, a := range stops[i] {
				if a.Away+stops[j][0].Away >= best.cost {
					break // as all that follow
				}
				next := s
				t[i].Set(&next, a.Amount)
				for _, b := range stops[j] {
					if a.Away+b.Away >= best.cost {
						break
					}
					t[j].Set(&next, b.Amount)
					if passes(next) {
						best.cost, best.First.To, best.Second.To = a.Away+b.Away, a.Amount, b.Amount
					}
				}
			}
			if best.cost != none {
				list = append(list, best.between(s, &t[i], &t[j], limit, passes))
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Pair[S]) int { return a.cost - b.cost })
	return list[:min(len(list), atMost)]
}

// between fills a pair of amounts found at the stops: first the one setting,
// then the other is brought back towards s as far as the settings still pass.
func (p Pair[S]) between(s S, x, y *Control[S], limit func(string) Time, passes func(S) bool) Pair[S] {
	with := s
	y.Set(&with, p.Second.To)
	if v, ok := x.Nearest(with, limit(x.Name), passes); ok { // it is there: a stop has passed
		p.First.To = v
	}
	with = s
	x.Set(&with, p.First.To)
	if v, ok := y.Nearest(with, limit(y.Name), passes); ok {
		p.Second.To = v
	}
	p.Settings = with
	y.Set(&p.Settings, p.Second.To)
	p.First.Control, p.First.From = *x, x.Amount(s)
	p.Second.Control, p.Second.From = *y, y.Amount(s)
	return p
}

// Stop is an amount that a search by stops looks at, and how many stops it is
// away from where the setting stands. A toggle or a word is as far as three
// stops: it changes the design.
type Stop struct {
	Amount Time
	Away   int
}

// StopsFrom returns the control's stops but for its value in s, the nearest
// first, none over most unless that is [Never].
func (c *Control[S]) StopsFrom(s S, most Time) []Stop {
	from := c.Amount(s)
	all := c.Stops()
	here, _ := slices.BinarySearchFunc(all, from, func(a, b Time) int { return int(a.place() - b.place()) })
	var list []Stop
	for i, v := range all {
		if v == from || most != Never && v.place() > most {
			continue
		}
		away := max(1, i-here, here-i)
		if c.Toggle || c.Words != nil {
			away = 3
		}
		list = append(list, Stop{v, away})
	}
	slices.SortStableFunc(list, func(a, b Stop) int { return a.Away - b.Away })
	return list
}

// place orders amounts with no bound as the largest.
func (t Time) place() Time {
	if t == None {
		return 1 << 30
	}
	return t
}
