package clocks_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"drainlab/internal/clocks"
)

// Another seed tests other settings; the default keeps a plain `go test`
// repeatable. A failure prints its seed, case and settings.
var seed = flag.Uint64("seed", 1, "seed of the random settings")

const (
	randomRuns = 22_000
	shards     = 2 // the engine has no shared state; the race detector watches over that here

	// Of every so many documents one is read by encoding/json too.
	everyParse = 50
)

// random returns the generator of one case: each is repeatable on its own.
func random(n int) *rand.Rand { return rand.New(rand.NewPCG(*seed, uint64(n))) }

func randomSettings(rng *rand.Rand) clocks.Settings {
	var s clocks.Settings
	switch n := rng.IntN(400); {
	case n == 0:
		s = extremeSettings(rng)
	case n < 30:
		s = uniformSettings(rng)
	case n < 120:
		s = smallSettings(rng)
	default:
		s = tiedSettings(rng)
	}
	if s.Long > 0 && s.LongAge >= s.Long {
		s.LongAge %= s.Long
	}
	return s
}

// span is any amount of a range, its ends included and drawn more often.
func span(rng *rand.Rand, low, high clocks.Time) clocks.Time {
	switch rng.IntN(16) {
	case 0:
		return low
	case 1:
		return high
	}
	return low + clocks.Time(rng.IntN(int(high-low)+1))
}

func bound(rng *rand.Rand, high clocks.Time) clocks.Time {
	if rng.IntN(5) == 0 {
		return clocks.None
	}
	return span(rng, 0, high)
}

func coin(rng *rand.Rand) bool { return rng.IntN(2) == 1 }

// uniformSettings takes every setting from its whole range in tenths, but for
// the shortest intervals, which cost the most.
func uniformSettings(rng *rand.Rand) clocks.Settings {
	return clocks.Settings{
		Grace: span(rng, 0, 36000), HookInGrace: coin(rng), Prestop: span(rng, 0, 6000), SignalDelay: span(rng, 0, 600),
		SignalHandled: rng.IntN(8) > 0, Withdraw: span(rng, 0, 600), Propagation: span(rng, 0, 3000),
		Gate: clocks.GateClosing(rng.IntN(3)), ServerTimeout: bound(rng, 36000),
		Cleanup: span(rng, 0, 600), CleanupBudget: bound(rng, 600), Interval: span(rng, 20, 100), Request: span(rng, 1, 6000),
		Long: span(rng, 0, 36000), LongAge: span(rng, 0, 36000), Deadline: span(rng, 0, 36000),
		Cooperative: coin(rng), StopCheck: span(rng, 1, 600), Margin: span(rng, 0, 600),
	}
}

// extremeSettings takes ends of the ranges alone.
func extremeSettings(rng *rand.Rand) clocks.Settings {
	end := func(ends ...clocks.Time) clocks.Time { return ends[rng.IntN(len(ends))] }
	return clocks.Settings{
		Grace: end(0, 36000), HookInGrace: coin(rng), Prestop: end(0, 6000), SignalDelay: end(0, 600),
		SignalHandled: coin(rng), Withdraw: end(0, 600), Propagation: end(0, 3000), Gate: clocks.GateClosing(rng.IntN(3)),
		ServerTimeout: end(0, 36000, clocks.None), Cleanup: end(0, 600), CleanupBudget: end(0, 600, clocks.None),
		Interval: end(1, 100), Request: end(1, 6000), Long: end(0, 1, 36000), LongAge: end(0, 35999, 36000), Deadline: end(0, 1, 36000),
		Cooperative: coin(rng), StopCheck: end(1, 600), Margin: end(0, 600),
	}
}

// smallSettings takes amounts of a few tenths up to a few seconds.
func smallSettings(rng *rand.Rand) clocks.Settings {
	return clocks.Settings{
		Grace: span(rng, 0, 120), HookInGrace: coin(rng), Prestop: span(rng, 0, 40), SignalDelay: span(rng, 0, 15),
		SignalHandled: rng.IntN(8) > 0, Withdraw: span(rng, 0, 20), Propagation: span(rng, 0, 60),
		Gate: clocks.GateClosing(rng.IntN(3)), ServerTimeout: bound(rng, 80),
		Cleanup: span(rng, 0, 20), CleanupBudget: bound(rng, 20), Interval: span(rng, 3, 20), Request: span(rng, 1, 80),
		Long: span(rng, 0, 120), LongAge: span(rng, 0, 60), Deadline: span(rng, 0, 90),
		Cooperative: coin(rng), StopCheck: span(rng, 1, 20), Margin: span(rng, 0, 20),
	}
}

// tiedSettings makes things fall on the same tenth, where the page's order
// decides: amounts from a small set, and instants derived from one another.
func tiedSettings(rng *rand.Rand) clocks.Settings {
	s := smallSettings(rng)
	from := func(set ...clocks.Time) clocks.Time { return set[rng.IntN(len(set))] }
	s.Prestop, s.SignalDelay = from(0, 5, 10, 20, 50), from(0, 0, 0, 5, 10)
	s.Withdraw, s.Propagation = from(0, 0, 5, 10), from(0, 5, 10, 20, 50, 70)
	s.Interval, s.Request = from(5, 5, 10, 20), from(1, 5, 10, 15, 20, 40, 60)
	s.Long, s.LongAge = from(0, 1, 10, 50, 80, 200), from(0, 0, 5, 10, 50)
	s.Cleanup, s.CleanupBudget = from(0, 5, 10, 20), from(0, 5, 10, 20, clocks.None)
	s.ServerTimeout, s.Deadline = from(0, 5, 10, 20, 40, clocks.None), from(0, 0, 5, 10, 20, 40, 60)
	s.StopCheck = from(1, 5, 10, 20)

	term := s.Prestop + s.SignalDelay
	kill := from(0, 5, 10, term, term+5, term+10, term+20, term+50, 300)
	finish := -s.LongAge + s.Long
	switch rng.IntN(12) {
	case 0:
		kill = term + max(s.ServerTimeout, 0)
	case 1:
		kill = finish
	case 2:
		kill = finish + s.Cleanup
	case 3:
		kill = s.Interval*from(0, 1, 2, 3) + s.Request // a regular one's end
	case 4:
		s.Deadline = s.Request
	case 5:
		s.Deadline = s.Long
	case 6:
		if s.ServerTimeout != clocks.None { // the long one's deadline as the server gives up
			s.Deadline = term + s.ServerTimeout + s.LongAge
		}
	case 7:
		if at := kill - term; at >= 0 {
			s.ServerTimeout = at
		}
	case 8:
		if at := finish - term; at >= 0 {
			s.ServerTimeout = at
		}
	case 9:
		if s.ServerTimeout != clocks.None { // the last acknowledgement at the kill
			kill = term + s.ServerTimeout + s.StopCheck
		}
	}
	kill = max(kill, 0)
	s.Grace = kill
	if !s.HookInGrace {
		s.Grace = max(kill-s.Prestop, 0)
	}
	return s
}

func TestEngineAgreesWithTheReferenceByHand(t *testing.T) {
	t.Logf("seed %d (-seed)", *seed)
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		seen  = make(map[string]int)
	)
	for shard := range shards {
		group.Go(func() {
			var want, got []byte
			situations := make(map[string]int)
			for n := shard; n < randomRuns && !t.Failed(); n += shards {
				s := randomSettings(random(n))
				r := byHand(s)
				var err error
				if want, got, err = r.compare(want, got, n%everyParse == 0); err != nil {
					t.Errorf("seed %d, case %d, settings %s\n%v", *seed, n, s.AppendQuery(nil), err)
					return
				}
				for name := range r.situations() {
					situations[name]++
				}
			}
			mu.Lock()
			defer mu.Unlock()
			for name, count := range situations {
				seen[name] += count
			}
		})
	}
	group.Wait()
	if t.Failed() {
		return
	}
	// The random settings are worth what they provoke.
	for _, name := range allSituations() {
		t.Logf("%6d × %s", seen[name], name)
		if seen[name] < 20 {
			t.Errorf("seed %d: %q came up %d times in %d runs; the random settings no longer provoke it", *seed, name, seen[name], randomRuns)
		}
	}
	for name := range seen {
		if !slices.Contains(allSituations(), name) {
			t.Errorf("%q is counted and not in the list", name)
		}
	}
}

// compare holds the engine's run of the same settings against the reference,
// as one document. It works in the two buffers and returns them.
func (r *reference) compare(want, got []byte, parse bool) ([]byte, []byte, error) {
	want, got = want[:0], got[:0]
	if err := r.s.Validate(); err != nil {
		return want, got, fmt.Errorf("the generator made settings that are not valid: %w", err)
	}
	run := clocks.Simulate(r.s)
	want, got = r.appendJSON(want), run.AppendJSON(got)
	rest, same := bytes.CutPrefix(got, want)
	if !same {
		at := 0
		for at < len(want) && at < len(got) && want[at] == got[at] {
			at++
		}
		around := func(b []byte) []byte { return b[min(max(at-80, 0), len(b)):min(at+80, len(b))] }
		return want, got, fmt.Errorf("the documents differ at byte %d\nreference …%s\nengine    …%s", at, around(want), around(got))
	}
	if none := string(rest) == "]}"; none != r.passes() {
		return want, got, fmt.Errorf("passes: %v, and the reasons end in %s", r.passes(), rest)
	}
	if parse {
		var view struct{ Reasons []string }
		if err := json.Unmarshal(got, &view); err != nil {
			return want, got, fmt.Errorf("the engine's document: %w", err)
		}
		if slices.Contains(view.Reasons, "") {
			return want, got, fmt.Errorf("an empty reason in %q", view.Reasons)
		}
	}
	if run.Gap() != clocks.Time(r.gap()) {
		return want, got, fmt.Errorf("the gap is %v, want %d tenths", run.Gap(), r.gap())
	}
	return want, got, nil
}

// situations names what came up in the run: what a random choice seldom hits
// and the page's order decides.
func (r *reference) situations() map[string]bool {
	here := make(map[string]bool)
	note := func(name string, is bool) {
		if is {
			here[name] = true
		}
	}
	for _, q := range r.requests {
		here["request "+q.outcome] = true
		here["work "+q.work] = true
		if q.long {
			here["the long one "+q.outcome] = true
			note("the long one with a regular one at its arrival", r.count(func(o refRequest) bool { return o.arrival == q.arrival }) == 2)
		}
		note("arrives at the signal", q.arrival == r.term && q.arrival < r.kill)
		note("arrives at the kill", q.arrival == r.kill && q.arrival < r.term)
		note("arrives as the gate closes at the signal", q.arrival == r.gate && r.gate == r.term)
		if !q.admitted {
			continue
		}
		limit, cancel := r.deadlineOf(q), r.cancelling()
		first := min(q.finish, limit, cancel, r.kill)
		note("completed at its deadline", q.finish == limit && q.finish == first)
		note("completed as the server gives up", q.finish == cancel && q.finish == first)
		note("completed at the kill", q.finish == r.kill && q.finish == first)
		note("deadline as the server gives up", limit == cancel && limit == first && limit < q.finish)
		note("deadline at the kill", limit == r.kill && limit == first && limit < q.finish)
		note("cancelled at the kill", cancel == r.kill && cancel == first && cancel < q.finish && cancel < limit)
		note("failed at its deadline before 0", q.outcome == "deadline" && q.endedAt < 0)
		early := q.outcome == "deadline" || q.outcome == "cancelled"
		note("work stopped as the process ends", early && r.s.Cooperative && q.endedAt+int(r.s.StopCheck) == r.end)
		note("work not stopped by the process's end", early && r.s.Cooperative && q.endedAt+int(r.s.StopCheck) > r.end)
		note("work completed after its waiter ended", early && !r.s.Cooperative && q.work == "completed")
		note("work unknown, deaf to cancellation", early && !r.s.Cooperative && q.work == "unknown")
	}
	here["cleanup "+r.cleanup+", ended by "+r.ended] = true
	note("signal not handled", r.term == never)
	note("signal at the kill", r.term == r.kill)
	note("signal at the kill and exit", r.term == r.kill && r.exit == r.kill)
	note("signal after the kill", r.term != never && r.term > r.kill)
	note("signal at 0", r.term == 0)
	note("kill at 0", r.kill == 0)
	note("drained at the signal", r.drained == r.term && r.term <= r.kill)
	note("drained at the kill, cleanup left", r.drained == r.kill && r.exit == never)
	note("exit at the kill", r.exit == r.kill)
	note("exit at the kill, no cleanup allowed", r.exit == r.kill && r.drained == r.kill && r.cleanup == "cut")
	note("one tenth too late for the exit", r.exit == never && r.drained != never && r.drained+r.cleaning() == r.kill+1)
	note("no server timeout", r.s.ServerTimeout == clocks.None)
	note("no cleanup budget", r.s.CleanupBudget == clocks.None)
	note("no deadline", r.s.Deadline == 0)
	note("no long request", r.s.Long == 0)
	note("no request at all", len(r.requests) == 0)
	note("routers stop at 0", r.routerStop == 0)
	note("routers stop at the signal", r.routerStop == r.term)
	note("slack below 0", r.budget.slack < 0)
	note("slack of 0", r.budget.slack == 0)
	note("nothing left at the signal", r.term != never && r.budget.remaining == 0)
	note("a gap", r.gap() > 0)
	note("passes", r.passes())
	note("passes with rejections", r.passes() && r.outcomes("rejected") > 0)
	note("the exit alone keeps it from passing", r.ended == "kill" && len(r.requests) == r.outcomes("completed")+r.outcomes("rejected"))
	return here
}

func allSituations() []string {
	names := []string{
		"arrives at the signal", "arrives at the kill", "arrives as the gate closes at the signal",
		"the long one with a regular one at its arrival", "completed at its deadline", "completed as the server gives up",
		"completed at the kill", "deadline as the server gives up", "deadline at the kill", "cancelled at the kill",
		"failed at its deadline before 0", "work stopped as the process ends", "work not stopped by the process's end",
		"work completed after its waiter ended", "work unknown, deaf to cancellation",
		"cleanup complete, ended by exit", "cleanup cut, ended by exit", "cleanup cut, ended by kill", "cleanup not_begun, ended by kill",
		"signal not handled", "signal at the kill", "signal at the kill and exit", "signal after the kill", "signal at 0", "kill at 0",
		"drained at the signal", "drained at the kill, cleanup left", "exit at the kill", "exit at the kill, no cleanup allowed",
		"one tenth too late for the exit", "no server timeout", "no cleanup budget", "no deadline", "no long request", "no request at all",
		"routers stop at 0", "routers stop at the signal", "slack below 0", "slack of 0", "nothing left at the signal", "a gap",
		"passes", "passes with rejections", "the exit alone keeps it from passing",
	}
	for _, outcome := range []string{"completed", "deadline", "cancelled", "killed", "rejected", "refused"} {
		names = append(names, "request "+outcome, "the long one "+outcome)
	}
	for _, work := range []string{"completed", "confirmed_stopped", "unknown", "not_started"} {
		names = append(names, "work "+work)
	}
	return names
}
