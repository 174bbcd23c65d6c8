package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"drainlab/internal/sim"
)

func TestWorkedCasesAgainstTheOpeningRun(t *testing.T) {
	cases := []struct {
		name, a, b string
		want       []string
	}{
		{"grace 20", "", "grace=20", []string{
			"The runs differ in Grace period (0 s and 20 s).",
			"Both runs are the same up to event 29, at 30 s; then in the first run, at 30 s, request 13 was killed in its prepare stage, and in the second run, at 31 s, request 6 completed.",
			"The second run counts 7 completed instead of 3 (+4) and 0 killed instead of 4 (−4).",
			"Requests 6, 13, 14 and 15 were killed in the first run and completed in the second.",
			"The gate's verdict is FAIL for both.",
		}},
		{"grace 20 against the handler off", "grace=20", "grace=20&handler=0", []string{
			"The runs differ in Handle SIGTERM and stop admission (on and off).",
			"Both runs are the same up to event 28, at 30 s; then in the first run, at 30 s, worker 1 began to drain, and in the second run, at 31 s, request 6 completed.",
			"The second run counts 8 admitted instead of 7 (+1), 12 rejected instead of 13 (−1) and 1 killed instead of 0 (+1).",
			"Request 16 was rejected in the first run and was killed in the second.",
			"The gate's verdict is FAIL for both.",
		}},
		{"the passing case", "", worked, []string{
			"The runs differ in Invocation duration (20 s and 8 s), Grace period (0 s and 10 s) and Boot one replacement at signal time (off and on).",
			"Both runs are the same up to event 5, at 7 s; then in the first run, at 9 s, request 5 was admitted by worker 1 in slot 3, and in the second run, at 7.7 s, request 3 began its model stage.",
			"The second run counts 16 admitted instead of 7 (+9), 4 rejected instead of 13 (−9), 16 completed instead of 3 (+13) and 0 killed instead of 4 (−4).",
			"Requests 6, 13, 14 and 15 were killed in the first run and completed in the second.",
			"Requests 7 to 12, 18, 19 and 20 were rejected in the first run and completed in the second.",
			"The gate's verdict is FAIL for the first and PASS for the second.",
		}},
		{"other traffic", "interval=10", "interval=8&signal=60&duration=40", []string{
			"The runs differ in Request interval (10 s and 8 s), Invocation duration (20 s and 40 s) and Signal worker 1 at (30 s and 60 s).",
			"Both runs are the same up to event 2, at 4 s; then in the first run, at 11 s, request 2 was admitted by worker 1 in slot 1, and in the second run, at 9 s, request 2 was admitted by worker 1 in slot 1.",
			"The second run counts 5 arrivals instead of 4 (+1), 4 admitted instead of 2 (+2), 1 rejected instead of 2 (−1) and 2 completed instead of 0 (+2).",
			"Requests 2 and 3 were killed in the first run and completed in the second.",
			"Request 4 was rejected in the first run and was killed in the second.",
			"Request 5 did not arrive in the first run and was killed in the second.",
			"The gate's verdict is FAIL for both.",
		}},
		{"only the allowance", "", "allowance=65", []string{
			"The runs differ in Fixture rejection allowance (20 % and 65 %).",
			"Their traces are the same.",
			"The gate's verdict is FAIL for both.",
		}},
		{"one fate has become several", "", "ready_only=0&workers=2&replacement=1&startup=10", []string{
			"The runs differ in Initial workers (1 and 2), Startup duration (4 s and 10 s), Boot one replacement at signal time (off and on) and Route only to ready workers (on and off).",
			"Both runs are the same up to event 0, at 0 s; then in the first run, at 1 s, request 1 was rejected because no worker was ready, and in the second run, at 0 s, worker 2 began to boot.",
			"The second run counts 8 admitted instead of 7 (+1), 12 rejected instead of 13 (−1) and 4 completed instead of 3 (+1).",
			"Requests 3, 4 and 5 completed in the first run and were rejected in the second.",
			"Requests 7, 9 and 11 were rejected in the first run and completed in the second.",
			"Requests 8, 10 and 12 were rejected in the first run and were killed in the second.",
			"Request 13 was killed in the first run and completed in the second.",
			"Requests 14 and 15 were killed in the first run and were rejected in the second.",
			"The gate's verdict is FAIL for both.",
		}},
		{"one trace goes on", "handler=0&signal=60&allowance=65", "handler=0&signal=60&allowance=65&grace=5", []string{
			"The runs differ in Grace period (0 s and 5 s).",
			"Both runs are the same up to event 46, at 60 s; then in the first run, at 60 s, worker 1 was killed, and in the second run nothing more happened.",
			"The gate's verdict is PASS for both.",
		}},
		{"nothing", "grace=5", "grace=5", []string{"The two runs are the same."}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := sim.Compare(sim.Simulate(settings(t, c.a)), sim.Simulate(settings(t, c.b))).Sentences()
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

func TestGrace20AgainstTheOpeningRunAsData(t *testing.T) {
	got := sim.Compare(sim.Simulate(sim.Opening()), sim.Simulate(settings(t, "grace=20")))
	want := sim.Difference{
		Settings: []sim.SettingDifference{{Setting: "grace", Label: "Grace period", A: 0, B: 200}},
		Account:  []sim.CountDifference{{Field: "completed", A: 3, B: 7, By: 4}, {Field: "killed", A: 4, B: 0, By: -4}},
		A:        sim.Fail, B: sim.Fail,
		Parting: &sim.Parting{A: 30, B: 30, At: 300, Sentence: got.Parting.Sentence},
	}
	for _, n := range []int{6, 13, 14, 15} {
		want.Fates = append(want.Fates, sim.FateDifference{Request: n, A: sim.FateKilled, B: sim.FateCompleted})
	}
	if g, w := plainDifference(got), plainDifference(want); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

// plainDifference prints all of a difference but the text.
func plainDifference(d sim.Difference) string {
	p := sim.Parting{}
	if d.Parting != nil {
		p = *d.Parting
		p.Sentence, d.Parting = "", nil
	}
	return fmt.Sprintf("%+v %+v", d, p)
}

// swapped is the difference the other way round.
func swapped(d sim.Difference) sim.Difference {
	o := sim.Difference{A: d.B, B: d.A}
	for _, s := range d.Settings {
		s.A, s.B = s.B, s.A
		o.Settings = append(o.Settings, s)
	}
	for _, c := range d.Account {
		o.Account = append(o.Account, sim.CountDifference{Field: c.Field, A: c.B, B: c.A, By: -c.By})
	}
	for _, f := range d.Fates {
		o.Fates = append(o.Fates, sim.FateDifference{Request: f.Request, A: f.B, B: f.A})
	}
	if d.Parting != nil {
		o.Parting = &sim.Parting{A: d.Parting.B, B: d.Parting.A, At: d.Parting.At}
	}
	return o
}

// near changes one setting, so that two runs share a part of their traces.
func near(n int, s sim.Settings) sim.Settings {
	other := randomSettings(random(-n - 1))
	c := sim.Controls()[n%len(sim.Controls())]
	c.Set(&s, c.Amount(other))
	return s
}

func TestRandomRunsCompared(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for n := range 2_000 {
		s := randomSettings(random(n))
		o := near(n, s)
		if n%4 == 0 {
			o = randomSettings(random(-n - 1))
		}
		a, b := sim.Simulate(s), sim.Simulate(o)
		d := sim.Compare(a, b)
		if err := checkDifference(a, b, d, seen); err != nil {
			t.Fatalf("seed %d, case %d, settings %s and %s: %v", *seed, n, s.AppendQuery(nil), o.AppendQuery(nil), err)
		}
		if got, want := plainDifference(sim.Compare(b, a)), plainDifference(swapped(d)); got != want {
			t.Fatalf("seed %d, case %d: the other way round\n%s, want\n%s", *seed, n, got, want)
		}
		self := sim.Compare(a, sim.Simulate(s))
		if !self.Same() || len(self.Settings)+len(self.Account)+len(self.Fates) > 0 || self.Parting != nil || self.A != self.B {
			t.Fatalf("seed %d, case %d: a run differs from itself: %+v", *seed, n, self)
		}
	}
	for _, what := range []string{"same trace", "one trace ended", "other verdict", "no_arrival", "rejected", "completed", "killed", "running"} {
		if seen[what] == 0 {
			t.Errorf("no comparison with %s", what)
		}
	}
}

func checkDifference(a, b *sim.Run, d sim.Difference, seen map[string]int) error {
	text := d.Sentences()
	for _, sentence := range text {
		if err := wantSentence(sentence); err != nil {
			return err
		}
	}
	named := namedIn(strings.Join(text, " "))
	for _, c := range sim.Controls() {
		same := c.Amount(a.Settings) == c.Amount(b.Settings)
		if told := slices.ContainsFunc(d.Settings, func(s sim.SettingDifference) bool { return s.Setting == c.Name }); told == same {
			return fmt.Errorf("%s: told %v", c.Name, told)
		}
	}
	if d.Same() != (a.Settings == b.Settings) {
		return fmt.Errorf("same: %v", d.Same())
	}
	// The account b is the account a and the differences.
	counts := map[string]int{}
	for _, c := range d.Account {
		if c.By != c.B-c.A || c.By == 0 {
			return fmt.Errorf("count %+v", c)
		}
		counts[c.Field] = c.By
	}
	x, y := a.Account(), b.Account()
	x.Arrivals += counts["arrivals"]
	x.Admitted += counts["admitted"]
	x.Rejected += counts["rejected"]
	x.Completed += counts["completed"]
	x.Killed += counts["killed"]
	x.Running += counts["running"]
	if x != y {
		return fmt.Errorf("counts %+v", d.Account)
	}
	if (d.A == sim.Pass) != a.Account().Passes(a.Settings.Allowance) || (d.B == sim.Pass) != y.Passes(b.Settings.Allowance) {
		return fmt.Errorf("verdicts %v, %v", d.A, d.B)
	}
	if d.A != d.B {
		seen["other verdict"]++
	}
	next := 0
	for n := 1; n <= max(a.Account().Arrivals, y.Arrivals)+1; n++ {
		fa, fb := a.Why(n).Fate, b.Why(n).Fate
		if fa == fb {
			continue
		}
		if next == len(d.Fates) || d.Fates[next] != (sim.FateDifference{Request: n, A: fa, B: fb}) {
			return fmt.Errorf("request %d: %v and %v, fates %+v", n, fa, fb, d.Fates)
		}
		next++
		seen[fa.String()]++
		seen[fb.String()]++
		if !named[n] {
			return fmt.Errorf("request %d is not in %q", n, text)
		}
	}
	if next != len(d.Fates) {
		return fmt.Errorf("fates %+v", d.Fates)
	}
	if d.Parting == nil {
		seen["same trace"]++
		if !slices.Equal(a.Trace, b.Trace) {
			return fmt.Errorf("the traces part")
		}
		return nil
	}
	if err := wantSentence(d.Parting.Sentence); err != nil {
		return err
	}
	pa, pb := d.Parting.A, d.Parting.B
	at := int(max(pa, pb))
	if !slices.Equal(a.Trace[:at], b.Trace[:at]) || pa < 0 && len(a.Trace) != at || pb < 0 && len(b.Trace) != at ||
		pa >= 0 && pb >= 0 && (pa != pb || a.Trace[at] == b.Trace[at]) {
		return fmt.Errorf("parting %+v", d.Parting)
	}
	if pa < 0 || pb < 0 {
		seen["one trace ended"]++
		return nil
	}
	if d.Parting.At != min(a.Trace[at].At, b.Trace[at].At) {
		return fmt.Errorf("parting %+v", d.Parting)
	}
	// What the sentence says of the two is not the same.
	_, then, _ := strings.Cut(d.Parting.Sentence, "; then in the first run, ")
	first, second, ok := strings.Cut(strings.TrimSuffix(then, "."), ", and in the second run, ")
	if !ok || first == second {
		return fmt.Errorf("%s", d.Parting.Sentence)
	}
	return nil
}
