package setting

import "iter"

// Amounts yields every amount that the control allows but the one given, the
// nearest to it first, of two as near the lower one. No bound lies beyond the
// largest number. Of words those before and after have no distance: they come
// in their order. Numbers stop at most, where most lies within the range and
// is not [Never]; whatever lies beyond it is left out, no bound too.
func (c *Control[S]) Amounts(from, most Time) iter.Seq[Time] {
	return func(yield func(Time) bool) {
		switch {
		case c.Toggle:
			yield(On - from)
			return
		case c.Words != nil:
			for i := range c.Words {
				if Time(i) != from && !yield(Time(i)) {
					return
				}
			}
			return
		}
		top, unbounded := c.Max, c.None
		if most != Never && most >= c.Min && most <= c.Max {
			top, unbounded = most-most%c.Grain, false
		}
		least := c.Min
		if c.OrZero {
			least = 0
		}
		low, high := from-c.Grain, max(from+c.Grain, c.Min)
		if c.None && from == None {
			low, high = top, top+c.Grain
			unbounded = false
		}
		if low > top {
			low = top
		}
		for low >= least || high <= top {
			if low < c.Min { // nothing lies between it and 0
				low = min(low, least)
			}
			if low >= least && (high > top || from-low <= high-from || from == None) {
				if !yield(low) {
					return
				}
				low -= c.Grain
				continue
			}
			if !yield(high) {
				return
			}
			high += c.Grain
		}
		if unbounded && from != None {
			yield(None)
		}
	}
}

// Nearest returns the amount of the control that is nearest to its value in s
// and with which passes is true, all other settings left as they are. It looks
// at every amount that the control allows up to most, see [Control.Amounts],
// until one passes.
func (c *Control[S]) Nearest(s S, most Time, passes func(S) bool) (Time, bool) {
	for v := range c.Amounts(c.Amount(s), most) {
		c.Set(&s, v)
		if passes(s) {
			return v, true
		}
	}
	return 0, false
}

// Grid is a sweep: what became of s with each of xs for one setting and each
// of ys for another, all others left as they are. A cell of settings that are
// not valid together is judged by the judge like any other.
func Grid[S, R any](s S, x, y *Control[S], xs, ys []Time, judge func(S) R) []R {
	cells := make([]R, 0, len(xs)*len(ys))
	for _, vy := range ys {
		y.Set(&s, vy)
		for _, vx := range xs {
			x.Set(&s, vx)
			cells = append(cells, judge(s))
		}
	}
	return cells
}

// Stops are the amounts that a control's slider and a sweep's axis stop at, in
// rising order: every step where the range is short, wider apart the larger
// they are where it is long (the step of a slider where it is wider). A range
// with no bound ends in [None].
func (c *Control[S]) Stops() []Time {
	var stops []Time
	switch {
	case c.Toggle:
		return []Time{Off, On}
	case c.Words != nil:
		for i := range c.Words {
			stops = append(stops, Time(i))
		}
		return stops
	}
	if c.OrZero {
		stops = append(stops, 0)
	}
	for v := c.Min; v < c.Max; {
		stops = append(stops, v)
		width := c.Step
		if c.Max-c.Min > 60*c.Step { // too many for a hand
			width = max(c.Step, spacing(v))
		}
		if v%width != 0 { // an odd start
			v += width - v%width
			continue
		}
		v += width
	}
	stops = append(stops, c.Max)
	if c.None {
		stops = append(stops, None)
	}
	return stops
}

// spacing is how far apart the stops of a long range are from v on.
func spacing(v Time) Time {
	for _, part := range []struct{ below, width Time }{
		{Second, Tenth}, {10 * Second, 5 * Tenth}, {30 * Second, Second}, {60 * Second, 5 * Second}, {120 * Second, 10 * Second},
		{300 * Second, 30 * Second}, {600 * Second, 60 * Second},
	} {
		if v < part.below {
			return part.width
		}
	}
	return 300 * Second
}
