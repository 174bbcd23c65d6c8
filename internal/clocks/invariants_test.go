package clocks_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"drainlab/internal/clocks"
)

// checkRun returns the first breach of what must hold in every run, nil where
// all holds. It is no third model: it asks of each request whether what is
// said of it may be, and of the sums whether they are sums.
func checkRun(r *clocks.Run) error {
	if err := checkInstants(r); err != nil {
		return err
	}
	var (
		account  clocks.Account
		fates    [clocks.Refused + 1]int
		works    [clocks.NotStarted + 1]int
		longs    int
		regulars []clocks.Time
		last     = clocks.Request{Arrival: clocks.Never}
		latest   = r.Instants.Term
	)
	for q := range r.Requests() {
		if err := checkRequest(r, q); err != nil {
			return fmt.Errorf("%+v: %w", q, err)
		}
		if q.Arrival < last.Arrival || q.Arrival == last.Arrival && !(last.Long && !q.Long) {
			return fmt.Errorf("%+v comes after %+v", q, last)
		}
		last = q
		account.Arrivals++
		if admitted(q) {
			account.Admitted++
			latest = max(latest, q.EndedAt)
		}
		fates[q.Outcome]++
		works[q.Work]++
		if q.Long {
			longs++
		} else {
			regulars = append(regulars, q.Arrival)
		}
	}
	if err := checkArrivals(r, longs, regulars); err != nil {
		return err
	}
	account.Completed, account.Deadline, account.Cancelled = fates[clocks.Completed], fates[clocks.Deadline], fates[clocks.Cancelled]
	account.Killed, account.Rejected, account.Refused = fates[clocks.Killed], fates[clocks.Rejected], fates[clocks.Refused]
	work := clocks.Work{Completed: works[clocks.WorkCompleted], ConfirmedStopped: works[clocks.ConfirmedStopped],
		Unknown: works[clocks.Unknown], NotStarted: works[clocks.NotStarted]}
	a, w := r.Account, r.Work
	switch {
	case account != a:
		return fmt.Errorf("the account is %+v, its requests make %+v", a, account)
	case work != w:
		return fmt.Errorf("the work is %+v, its requests make %+v", w, work)
	case a.Arrivals != a.Admitted+a.Rejected+a.Refused, a.Admitted != a.Completed+a.Deadline+a.Cancelled+a.Killed:
		return fmt.Errorf("the account does not add up: %+v", a)
	case a.Arrivals != w.Completed+w.ConfirmedStopped+w.Unknown+w.NotStarted, w.NotStarted != a.Rejected+a.Refused:
		return fmt.Errorf("the work does not add up: %+v of %+v", w, a)
	case r.Instants.Drained != clocks.Never && (r.Instants.Drained != latest || a.Killed > 0):
		return fmt.Errorf("drained at %v, and the last of the admitted ends at %v, %d killed", r.Instants.Drained, latest, a.Killed)
	}
	return errors.Join(checkPlan(r), checkVerdict(r))
}

func admitted(q clocks.Request) bool {
	return q.Outcome != clocks.Rejected && q.Outcome != clocks.Refused
}

func checkInstants(r *clocks.Run) error {
	s, i := r.Settings, r.Instants
	for _, at := range []clocks.Time{i.Gate, i.Term, i.ListenerClosed, i.Drained, i.Exit, r.End} {
		if at != clocks.Never && (at < 0 || at > i.Kill) {
			return fmt.Errorf("an instant before 0 or after the kill: %+v, end %v", i, r.End)
		}
	}
	switch {
	case i.ListenerClosed != i.Term:
		return fmt.Errorf("the listener closes at %v, the signal comes at %v", i.ListenerClosed, i.Term)
	case s.Gate == clocks.GateAtTerm && i.Gate != i.Term, s.Gate == clocks.GateAtPrestop && i.Gate != 0, s.Gate == clocks.GateNever && i.Gate != clocks.Never:
		return fmt.Errorf("the gate (%v) closes at %v", s.Gate, i.Gate)
	case !s.SignalHandled && i.Term != clocks.Never:
		return fmt.Errorf("a signal that is not handled at %v", i.Term)
	case i.Drained != clocks.Never && (i.Term == clocks.Never || i.Drained < i.Term):
		return fmt.Errorf("drained at %v, the signal comes at %v", i.Drained, i.Term)
	case i.Exit != clocks.Never && (i.Drained == clocks.Never || i.Exit < i.Drained || i.Exit-i.Drained > s.Cleanup):
		return fmt.Errorf("drained at %v, exit at %v, the cleanup needs %v", i.Drained, i.Exit, s.Cleanup)
	case r.Exited != (i.Exit != clocks.Never), r.Exited && r.End != i.Exit, !r.Exited && r.End != i.Kill:
		return fmt.Errorf("exited %v, end %v, %+v", r.Exited, r.End, i)
	case r.Cleanup == clocks.CleanupComplete && (!r.Exited || i.Exit-i.Drained != s.Cleanup):
		return fmt.Errorf("the cleanup is complete, exited %v, %+v", r.Exited, i)
	case r.Cleanup == clocks.CleanupCut && (i.Drained == clocks.Never || r.End-i.Drained >= s.Cleanup):
		return fmt.Errorf("the cleanup is cut, end %v, %+v", r.End, i)
	case r.Cleanup == clocks.CleanupNotBegun && (r.Exited || i.Drained != clocks.Never && i.Drained != i.Kill):
		return fmt.Errorf("the cleanup is not begun, exited %v, %+v", r.Exited, i)
	}
	return nil
}

func checkRequest(r *clocks.Run, q clocks.Request) error {
	s, i := r.Settings, r.Instants
	finish := q.Arrival + q.Duration
	before := func(limit clocks.Time) bool { return limit == clocks.Never || q.Arrival < limit }
	if q.Arrival < 0 && !admitted(q) {
		return errors.New("it came before 0")
	}
	switch served := before(i.Term) && before(i.Kill); {
	case q.Outcome == clocks.Refused && served:
		return errors.New("refused while the process listened")
	case q.Outcome == clocks.Rejected && (!served || before(i.Gate)):
		return errors.New("rejected at an open gate or by no process")
	case admitted(q) && q.Arrival >= 0 && !(served && before(i.Gate)):
		return errors.New("admitted after the gate, the listener or the process")
	case !admitted(q) && (q.EndedAt != q.Arrival || q.Work != clocks.NotStarted):
		return errors.New("it was not admitted")
	case admitted(q) && q.Work == clocks.NotStarted:
		return errors.New("it was admitted")
	case admitted(q) && (q.EndedAt < q.Arrival || q.EndedAt > r.End || q.EndedAt > finish):
		return errors.New("it ends outside its time or after the process")
	}
	var rightEnd bool
	switch q.Outcome {
	case clocks.Completed:
		rightEnd = q.EndedAt == finish && q.Work == clocks.WorkCompleted
	case clocks.Deadline:
		rightEnd = q.EndedAt == q.Arrival+s.Deadline && q.EndedAt < finish
	case clocks.Cancelled:
		rightEnd = i.Term != clocks.Never && s.ServerTimeout != clocks.None && q.EndedAt == i.Term+s.ServerTimeout && q.EndedAt < finish
	case clocks.Killed:
		rightEnd = q.EndedAt == i.Kill && q.EndedAt < finish && q.Work == clocks.Unknown && !r.Exited
	case clocks.Rejected, clocks.Refused:
		rightEnd = true
	}
	if !rightEnd {
		return errors.New("not the end of such an outcome")
	}
	if s.Deadline > 0 && admitted(q) && q.EndedAt > q.Arrival+s.Deadline {
		return errors.New("it outlasts its deadline")
	}
	switch q.Work {
	case clocks.Unknown, clocks.NotStarted:
		rightEnd = q.WorkEndedAt == clocks.Never
	case clocks.WorkCompleted:
		rightEnd = q.WorkEndedAt == finish
	case clocks.ConfirmedStopped:
		rightEnd = s.Cooperative && q.WorkEndedAt == q.EndedAt+s.StopCheck && q.Outcome != clocks.Completed
	}
	if !rightEnd || q.WorkEndedAt > r.End || s.Cooperative && q.Work == clocks.WorkCompleted && q.Outcome != clocks.Completed {
		return errors.New("not the end of such work")
	}
	return nil
}

func checkArrivals(r *clocks.Run, longs int, regulars []clocks.Time) error {
	s := r.Settings
	if (longs == 1) != (s.Long > 0) || longs > 1 {
		return fmt.Errorf("%d long requests of %v", longs, s.Long)
	}
	first, next := -s.Interval, clocks.Time(0) // before the first, and after the last
	if len(regulars) > 0 {
		first, next = regulars[0]-s.Interval, regulars[len(regulars)-1]+s.Interval
	}
	for n, at := range regulars {
		if at != first+clocks.Time(n+1)*s.Interval || at%s.Interval != 0 || at+s.Request <= 0 || at >= r.Instants.RouterStop {
			return fmt.Errorf("a request arrives at %v, the first at %v, one every %v", at, regulars[0], s.Interval)
		}
	}
	if first+s.Request > 0 || next < r.Instants.RouterStop {
		return fmt.Errorf("one that arrives at %v or at %v is missing", first, next)
	}
	return nil
}

func checkPlan(r *clocks.Run) error {
	s, b := r.Settings, r.Budget
	if !s.SignalHandled {
		if (b != clocks.Budget{Term: clocks.Never, Cleanup: b.Cleanup, Margin: s.Margin, Need: clocks.Never, Slack: clocks.Never}) {
			return fmt.Errorf("a plan without a signal: %+v", b)
		}
		return nil
	}
	fits := b.Slack+b.Margin >= 0
	switch {
	case b.Need != b.Term+b.Remaining+b.Cleanup+b.Margin, b.Slack != r.Instants.Kill-b.Need, b.Margin != s.Margin, b.Remaining < 0:
		return fmt.Errorf("the plan does not add up: %+v", b)
	case s.ServerTimeout != clocks.None && b.Remaining > s.ServerTimeout, b.Cleanup > s.Cleanup, s.CleanupBudget != clocks.None && b.Cleanup > s.CleanupBudget:
		return fmt.Errorf("the plan outlasts its bounds: %+v", b)
	case fits && !r.Exited:
		return fmt.Errorf("the plan fits without its margin (%+v) and the process is killed", b)
	case s.Deadline == 0 && r.Exited != fits:
		return fmt.Errorf("without deadlines the plan (%+v) is the run, and exited is %v", b, r.Exited)
	case r.Exited && r.Instants.Exit > b.Need-b.Margin, s.Deadline == 0 && r.Exited && r.Instants.Exit != b.Need-b.Margin:
		return fmt.Errorf("the plan is %+v, the exit at %v", b, r.Instants.Exit)
	}
	return nil
}

func checkVerdict(r *clocks.Run) error {
	losses, reasons := r.Losses(), r.Reasons()
	gravest := clocks.NoLoss
	if len(losses) > 0 {
		gravest = losses[0]
	}
	wantVerdict := map[bool]string{true: "pass", false: "fail"}[r.Passes()]
	wantEnded := map[bool]string{true: "exit", false: "kill"}[r.Exited]
	a := r.Account
	clean := a.Completed == a.Admitted && a.Refused == 0 && r.Work.Unknown == 0 && r.Cleanup == clocks.CleanupComplete && r.Exited
	switch {
	case r.Passes() != clean, r.Passes() != (len(losses) == 0), len(losses) != len(reasons), r.Gravest() != gravest:
		return fmt.Errorf("passes %v, losses %v, gravest %v, reasons %q", r.Passes(), losses, r.Gravest(), reasons)
	case r.Verdict() != wantVerdict, r.Ended() != wantEnded:
		return fmt.Errorf("verdict %q, ended by %q", r.Verdict(), r.Ended())
	case !slices.IsSorted(losses) || slices.Contains(losses, clocks.NoLoss):
		return fmt.Errorf("losses %v", losses)
	case r.Gap() < 0 || r.Gap() > r.Instants.RouterStop:
		return fmt.Errorf("a gap of %v, routers stop at %v", r.Gap(), r.Instants.RouterStop)
	}
	return nil
}

// What one setting must and must not change, whatever the others are.
var relations = []struct {
	name   string
	change func(*clocks.Settings) bool // false: these settings have no such change
	holds  func(before, after *clocks.Run) bool
}{
	{"the margin is of the plan alone",
		func(s *clocks.Settings) bool { s.Margin = (s.Margin + 77) % 601; return true },
		func(before, after *clocks.Run) bool {
			return sameOutcomes(before, after) && sameWork(before, after) && before.End == after.End && before.Verdict() == after.Verdict() &&
				(before.Budget.Slack == clocks.Never && after.Budget.Slack == clocks.Never ||
					before.Budget.Slack+before.Budget.Margin == after.Budget.Slack+after.Budget.Margin)
		}},
	{"a hook beside the grace is a longer grace that includes it",
		func(s *clocks.Settings) bool {
			if s.HookInGrace || s.Grace+s.Prestop > 36000 {
				return false
			}
			s.Grace, s.HookInGrace = s.Grace+s.Prestop, true
			return true
		},
		func(before, after *clocks.Run) bool {
			return bytes.Equal(afterSettings(before), afterSettings(after))
		}},
	{"more grace keeps a passing run as it is",
		func(s *clocks.Settings) bool { s.Grace++; return s.Grace <= 36000 },
		func(before, after *clocks.Run) bool {
			return !before.Passes() || after.Passes() && sameOutcomes(before, after) && sameWork(before, after) && before.End == after.End
		}},
	{"what becomes of the work changes nothing for the requests",
		func(s *clocks.Settings) bool {
			s.Cooperative, s.StopCheck = !s.Cooperative, 1+s.StopCheck%600
			return true
		},
		func(before, after *clocks.Run) bool {
			return sameOutcomes(before, after) && before.End == after.End && before.Cleanup == after.Cleanup && before.Budget == after.Budget
		}},
	{"the cleanup changes nothing for the requests",
		func(s *clocks.Settings) bool {
			s.Cleanup, s.CleanupBudget = (s.Cleanup+123)%601, clocks.None
			return true
		},
		func(before, after *clocks.Run) bool {
			return sameOutcomes(before, after) && before.Instants.Drained == after.Instants.Drained
		}},
	{"the long request changes nothing for the others",
		func(s *clocks.Settings) bool { s.Long = 0; return true },
		func(before, after *clocks.Run) bool {
			without := slices.DeleteFunc(outcomes(before), func(q clocks.Request) bool { return q.Long })
			return slices.Equal(without, outcomes(after)) && after.End <= before.End
		}},
}

// outcomes lists the requests without what became of their work.
func outcomes(r *clocks.Run) []clocks.Request {
	list := slices.Collect(r.Requests())
	for i := range list {
		list[i].Work, list[i].WorkEndedAt = 0, 0
	}
	return list
}

func sameOutcomes(a, b *clocks.Run) bool { return slices.Equal(outcomes(a), outcomes(b)) }

func sameWork(a, b *clocks.Run) bool {
	return slices.Equal(slices.Collect(a.Requests()), slices.Collect(b.Requests()))
}

func afterSettings(r *clocks.Run) []byte {
	_, rest, _ := bytes.Cut(r.AppendJSON(nil), []byte(`"instants":`))
	return rest
}

func TestEveryRunKeepsTheInvariants(t *testing.T) {
	const runs = 4_000
	t.Logf("seed %d (-seed)", *seed)
	applied := make([]int, len(relations))
	for n := range runs {
		rng := random(1_000_000 + n)
		s := randomSettings(rng)
		if rng.IntN(10) == 0 {
			s = uniformSettings(rng)
			s.Interval = span(rng, 1, 100)
			s.LongAge = s.LongAge % max(s.Long, 1)
		}
		r := clocks.Simulate(s)
		if err := checkRun(r); err != nil {
			t.Fatalf("seed %d, case %d, settings %s\n%v", *seed, n, s.AppendQuery(nil), err)
		}
		if !bytes.Equal(r.AppendJSON(nil), clocks.Simulate(s).AppendJSON(nil)) || r.Settings != s {
			t.Fatalf("seed %d, case %d, settings %s: two runs of them differ", *seed, n, s.AppendQuery(nil))
		}
		rel := relations[n%len(relations)]
		changed := s
		if !rel.change(&changed) {
			continue
		}
		applied[n%len(relations)]++
		if after := clocks.Simulate(changed); !rel.holds(r, after) {
			t.Fatalf("seed %d, case %d: %s; it does not hold for\n%s and\n%s", *seed, n, rel.name, s.AppendQuery(nil), changed.AppendQuery(nil))
		}
	}
	for i, count := range applied {
		if count < 50 {
			t.Errorf("%q was looked at %d times", relations[i].name, count)
		}
	}
}

// The checker is worth what it refuses.
func TestTheCheckerRefusesAWrongRun(t *testing.T) {
	for name, spoil := range map[string]func(*clocks.Run){
		"a request too many":               func(r *clocks.Run) { r.Account.Arrivals++; r.Account.Admitted++; r.Account.Completed++ },
		"work lost":                        func(r *clocks.Run) { r.Work.Completed-- },
		"an exit after the kill":           func(r *clocks.Run) { r.Instants.Exit, r.End = 301, 301 },
		"a signal that nobody handles":     func(r *clocks.Run) { r.Settings.SignalHandled = false },
		"an end that is not the exit":      func(r *clocks.Run) { r.End-- },
		"a cleanup too good":               func(r *clocks.Run) { r.Settings.Cleanup = 20 },
		"drained too early":                func(r *clocks.Run) { r.Instants.Drained -= 10; r.Instants.Exit -= 10; r.End -= 10 },
		"a plan that does not add up":      func(r *clocks.Run) { r.Budget.Need++ },
		"slack that is not there":          func(r *clocks.Run) { r.Budget.Slack++ },
		"a plan that the run does not use": func(r *clocks.Run) { r.Settings.Deadline = 0; r.Budget.Remaining++; r.Budget.Need++; r.Budget.Slack-- },
		"arrivals too far apart":           func(r *clocks.Run) { r.Settings.Interval = 7 },
		"a gate that was open":             func(r *clocks.Run) { r.Settings.Gate, r.Instants.Gate = clocks.GateNever, clocks.Never },
		"a deadline that is outlasted":     func(r *clocks.Run) { r.Settings.Deadline = 1 },
	} {
		r := clocks.Simulate(clocks.Opening())
		if err := checkRun(r); err != nil {
			t.Fatalf("the opening run: %v", err)
		}
		spoil(r)
		if checkRun(r) == nil {
			t.Errorf("%s: the checker takes it", name)
		}
	}
}
