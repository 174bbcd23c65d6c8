package setting_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"drainlab/internal/setting"
)

// every lists all amounts that a control allows, none last.
func every(c *setting.Control[tea]) []setting.Time {
	var list []setting.Time
	for v := setting.Time(-5); v <= max(c.Max, 20); v++ {
		if v != setting.None && c.InRange(v) {
			list = append(list, v)
		}
	}
	if c.None {
		list = append(list, setting.None)
	}
	return list
}

// byDistance is the order in which a search looks at the amounts of a control,
// worked out by sorting all of them.
func byDistance(c *setting.Control[tea], from, most setting.Time) []setting.Time {
	list := every(c)
	limited := !c.Toggle && c.Words == nil && most != setting.Never && most >= c.Min && most <= c.Max
	list = slices.DeleteFunc(list, func(v setting.Time) bool {
		return v == from || limited && (v > most || v == setting.None)
	})
	if c.Toggle || c.Words != nil {
		return list
	}
	distance := func(v setting.Time) setting.Time {
		at := func(v setting.Time) setting.Time {
			if v == setting.None {
				return 1 << 20
			}
			return v
		}
		return max(at(v)-at(from), at(from)-at(v))
	}
	slices.SortFunc(list, func(a, b setting.Time) int {
		return cmp.Or(cmp.Compare(distance(a), distance(b)), cmp.Compare(a, b))
	})
	return list
}

// limits are bounds of a search, within the range and not.
func limits(c *setting.Control[tea]) []setting.Time {
	list := []setting.Time{setting.Never, -10, c.Max + c.Grain, c.Max + 1000}
	for _, v := range every(c) {
		if v == setting.None {
			continue
		}
		list = append(list, v)
	}
	return list
}

func TestTheAmountsComeInOrderOfDistance(t *testing.T) {
	for i := range pot {
		c := &pot[i]
		for _, from := range every(c) {
			for _, most := range limits(c) {
				got := slices.Collect(c.Amounts(from, most))
				if want := byDistance(c, from, most); !slices.Equal(got, want) {
					t.Fatalf("%s from %v up to %v:\n got %v\nwant %v", c.Name, from, most, got, want)
				}
			}
		}
	}
}

func TestTheAmountsOfSomeControlsByHand(t *testing.T) {
	find := func(name string) *setting.Control[tea] {
		c, ok := pot.Find(name)
		if !ok {
			t.Fatalf("no control %q", name)
		}
		return &c
	}
	short := setting.Control[tea]{None: true, Max: 4, Grain: 1, Field: func(s *tea) any { return &s.Cool }}
	for _, c := range []struct {
		what       string
		control    *setting.Control[tea]
		from, most setting.Time
		want       []setting.Time
	}{
		{"of two as near the lower first", find("cups"), 30, setting.Never, []setting.Time{20, 40, 10, 50, 60}},
		{"from the least", find("cups"), 10, setting.Never, []setting.Time{20, 30, 40, 50, 60}},
		{"from the greatest", find("cups"), 60, setting.Never, []setting.Time{50, 40, 30, 20, 10}},
		{"no further than most", find("cups"), 20, 40, []setting.Time{10, 30, 40}},
		{"from beyond most", find("cups"), 60, 30, []setting.Time{30, 20, 10}},
		{"no bound is the farthest", &short, 1, setting.Never, []setting.Time{0, 2, 3, 4, setting.None}},
		{"from no bound the greatest is the nearest", &short, setting.None, setting.Never, []setting.Time{4, 3, 2, 1, 0}},
		{"a limit leaves no bound out", &short, 1, 3, []setting.Time{0, 2, 3}},
		{"from no bound up to a limit", &short, setting.None, 2, []setting.Time{2, 1, 0}},
		{"0 below the least", find("sugar"), 20, setting.Never, []setting.Time{30, 0, 40, 50, 60, 70, 80}},
		{"from that 0", find("sugar"), 0, setting.Never, []setting.Time{20, 30, 40, 50, 60, 70, 80}},
		{"a toggle that is on", find("lid"), setting.On, setting.Never, []setting.Time{setting.Off}},
		{"a toggle that is off", find("lid"), setting.Off, setting.Never, []setting.Time{setting.On}},
		{"words in their order", find("leaf"), 1, setting.Never, []setting.Time{0, 2}},
	} {
		if got := slices.Collect(c.control.Amounts(c.from, c.most)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}

// A search may stop looking at any amount.
func TestTheAmountsStopWhenNobodyLooks(t *testing.T) {
	for i := range pot {
		c := &pot[i]
		for _, from := range every(c) {
			want := byDistance(c, from, setting.Never)
			for n := range want {
				seen := 0
				for v := range c.Amounts(from, setting.Never) {
					if v != want[seen] {
						t.Fatalf("%s from %v: amount %d is %v, want %v", c.Name, from, seen, v, want[seen])
					}
					if seen++; seen == n+1 {
						break
					}
				}
			}
		}
	}
}

func TestTheNearestThatPassesIsTheNearestOfAll(t *testing.T) {
	const seed = 1
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	found := 0
	for n := range 3_000 {
		c := &pot[n%len(pot)]
		s := randomTea(rng)
		most := setting.Never
		if all := limits(c); rng.IntN(2) == 0 {
			most = all[rng.IntN(len(all))]
		}
		// Which amounts pass is drawn; and nothing passes once another setting
		// has changed.
		passing := make(map[setting.Time]bool)
		for _, v := range every(c) {
			passing[v] = rng.IntN(1+n%30) == 0
		}
		rest := func(s tea) tea { c.Set(&s, c.Opening); return s }
		before := s
		got, ok := c.Nearest(s, most, func(next tea) bool { return rest(next) == rest(before) && passing[c.Amount(next)] })
		var want setting.Time
		wantOK := false
		for _, v := range byDistance(c, c.Amount(s), most) {
			if passing[v] {
				want, wantOK = v, true
				break
			}
		}
		if got != want || ok != wantOK || s != before {
			t.Fatalf("seed %d, case %d: %s of %+v up to %v: %v, %v, want %v, %v", seed, n, c.Name, before, most, got, ok, want, wantOK)
		}
		if ok {
			found++
		}
	}
	if found < 500 || found > 2_900 {
		t.Errorf("found %d of 3000: the draw is no test", found)
	}
}

// shapes are ranges of every kind that a page has: of counts and of seconds,
// short ones and long ones, with odd ends.
func shapes() []setting.Control[tea] {
	list := slices.Clone(pot)
	for _, low := range []setting.Time{0, 1, 3, 5, 10, 50} {
		for _, high := range []setting.Time{60, 99, 100, 101, 600, 603, 3000, 6000, 36000} {
			for _, step := range []setting.Time{1, 5, 10} {
				for _, none := range []bool{false, true} {
					list = append(list, setting.Control[tea]{Name: "seconds", None: none, Min: low, Max: high, Step: step, Grain: setting.Tenth})
				}
			}
		}
	}
	for _, high := range []setting.Time{20, 40, 100, 640, 1000, 10000} {
		for _, step := range []setting.Time{10, 50} {
			list = append(list, setting.Control[tea]{Name: "count", Min: 10, Max: high, Step: step, Grain: setting.Whole},
				setting.Control[tea]{Name: "count or 0", OrZero: true, Min: 20, Max: high + 10, Step: step, Grain: setting.Whole})
		}
	}
	return list
}

func TestTheStopsAreAllowedRisingAndFew(t *testing.T) {
	for _, c := range shapes() {
		if c.Toggle || c.Words != nil {
			continue
		}
		stops := c.Stops()
		numbers := stops
		if c.None {
			if stops[len(stops)-1] != setting.None {
				t.Errorf("%s %v–%v: the stops end in %v, want none", c.Name, c.Min, c.Max, stops[len(stops)-1])
			}
			numbers = stops[:len(stops)-1]
		}
		for i, v := range numbers {
			if !c.InRange(v) || i > 0 && v <= numbers[i-1] {
				t.Errorf("%s %v–%v by %v: a stop at %v: %v", c.Name, c.Min, c.Max, c.Step, v, stops)
				break
			}
		}
		if !slices.Contains(numbers, c.Min) || numbers[len(numbers)-1] != c.Max || (numbers[0] != c.Min && !c.OrZero) || (c.OrZero && numbers[0] != 0) {
			t.Errorf("%s %v–%v by %v stops from %v to %v", c.Name, c.Min, c.Max, c.Step, numbers[0], numbers[len(numbers)-1])
		}
		if len(stops) > 130 {
			t.Errorf("%s %v–%v by %v has %d stops", c.Name, c.Min, c.Max, c.Step, len(stops))
		}
		// Where a hand can reach every step, it stops at every step.
		if c.Max-c.Min <= 60*c.Step {
			for v := c.Min; v <= c.Max; v++ {
				if v%c.Step == 0 && !slices.Contains(numbers, v) {
					t.Errorf("%s %v–%v by %v does not stop at %v", c.Name, c.Min, c.Max, c.Step, v)
				}
			}
		}
		// They lie wider apart the larger they are, but for the two ends.
		for i := 2; i+2 < len(numbers) && !c.OrZero; i++ {
			if numbers[i+1]-numbers[i] < numbers[i]-numbers[i-1] {
				t.Errorf("%s %v–%v by %v: closer together at %v: %v", c.Name, c.Min, c.Max, c.Step, numbers[i], numbers)
				break
			}
		}
	}
}

func TestTheStopsByHand(t *testing.T) {
	for name, want := range map[string][]setting.Time{
		"cups":  {10, 20, 30, 40, 50, 60},
		"steep": {3, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 100, 105, 110, 115, 120},
		"cool":  {0, 5, 10, 15, 20, 25, 30, setting.None},
		"lid":   {setting.Off, setting.On},
		"leaf":  {0, 1, 2},
		"sugar": {0, 20, 30, 40, 50, 60, 70, 80},
	} {
		c, _ := pot.Find(name)
		if got := c.Stops(); !slices.Equal(got, want) {
			t.Errorf("%s stops at %v, want %v", name, got, want)
		}
	}
	long := setting.Control[tea]{Max: 36000, Step: setting.Second, Grain: setting.Tenth}
	for _, want := range []setting.Time{0, 10, 290, 300, 350, 600, 700, 1200, 1500, 3000, 3600, 6000, 9000, 36000} {
		if !slices.Contains(long.Stops(), want) {
			t.Errorf("a long range does not stop at %v: %v", want, long.Stops())
		}
	}
}

func TestAGridGoesRowByRow(t *testing.T) {
	x, _ := pot.Find("steep")
	y, _ := pot.Find("leaf")
	s := tea{Cups: 5, Steep: 45, Cool: 7, Lid: true, Leaf: 1, Sugar: 4}
	before := s
	got := setting.Grid(s, &x, &y, []setting.Time{10, 120, 30}, []setting.Time{2, 0}, func(s tea) tea { return s })
	var want []tea
	for _, leaf := range []uint8{2, 0} {
		for _, steep := range []setting.Time{10, 120, 30} {
			want = append(want, tea{Cups: 5, Steep: steep, Cool: 7, Lid: true, Leaf: leaf, Sugar: 4})
		}
	}
	if !slices.Equal(got, want) || s != before {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if got := setting.Grid(s, &x, &y, nil, []setting.Time{0, 1}, func(tea) int { return 1 }); len(got) != 0 {
		t.Errorf("no columns give %v", got)
	}
}
