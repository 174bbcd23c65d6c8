package sim_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"drainlab/internal/sim"
)

// prediction reads a prediction of a run of these settings.
func prediction(t testing.TB, s sim.Settings, query string) sim.Prediction {
	t.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	p, err := sim.ParsePrediction(s, values)
	if err != nil {
		t.Fatalf("prediction %q: %v", query, err)
	}
	return p
}

func TestPredictionsAreJudged(t *testing.T) {
	const (
		off  = "grace=20&handler=0"
		late = "grace=12&handler=0"    // 8 admitted: 4 completed; 13, 14, 15 killed, and 16, admitted after the signal
		busy = "duration=40&workers=4" // 16 admitted: 6 completed, 4 killed, 6 running
	)
	cases := []struct {
		name, change, said string
		mistake            sim.Mistake
		want               string
	}{
		{"nothing is said", "", "", sim.NothingSaid, "You have predicted nothing."},
		{"all is right", "", "p.completed=3&p.killed=4&p.dies=6,13,14,15&p.verdict=fail", sim.NoMistake, "All that you predicted is right."},
		{"all of the passing case is right", worked, "p.completed=16&p.killed=0&p.dies=none&p.verdict=pass", sim.NoMistake, "All that you predicted is right."},

		{"nobody dies at grace 0", "", "p.dies=none", sim.GraceTooShort,
			"You expected requests 6, 13, 14 and 15 to survive, but they had 1 s to 19 s of work left when SIGTERM came at 30 s, and the grace of 0 s left no time."},
		{"one of them survives", "", "p.dies=6,13,14&p.killed=3", sim.GraceTooShort,
			"You expected request 15 to survive, but it had 19 s of work left when SIGTERM came at 30 s, and the grace of 0 s left no time."},
		{"grace 10 saves all", "grace=10", "p.dies=none", sim.GraceTooShort,
			"You expected requests 13, 14 and 15 to survive, but they had 15 s to 19 s of work left when SIGTERM came at 30 s, and the grace was 10 s."},
		{"grace 10 saves none", "grace=10", "p.dies=6,13,14,15", sim.EarlyEnough,
			"You expected request 6 to die, but it was admitted early enough to complete by 31 s, and the deadline was at 40 s."},
		{"all invocations die", "", "p.dies=3,4,5,6,13,14,15", sim.EarlyEnough,
			"You expected requests 3, 4 and 5 to die, but they were admitted early enough to complete by 29 s, and the deadline was at 30 s."},
		{"what arrives after the kill dies", "", "p.dies=6,13,14,15,16,17", sim.RejectedNotKilled,
			"You counted requests 16 and 17 as killed, but they were rejected at arrival: a rejected request has no invocation to kill."},
		{"the handler is thought on", off, "p.dies=none", sim.AfterSignal,
			"You expected request 16 to survive, but with the handler off, worker 1 admitted it after SIGTERM at 30 s, and the deadline at 50 s came 1 s too early."},
		{"at a tie the first kind of mistake is told", "", "p.dies=6,13,14,16", sim.GraceTooShort,
			"You expected request 15 to survive, but it had 19 s of work left when SIGTERM came at 30 s, and the grace of 0 s left no time."},
		{"the replacement is thought signalled too", "grace=20&replacement=1", "p.dies=18,19", sim.OtherWorker,
			"You expected requests 18 and 19 to die, but they ran on worker 2: SIGTERM concerns worker 1 alone."},
		{"what runs at the end is thought killed", busy, "p.dies=3,7,11,15,16", sim.StillRunning,
			"You expected request 16 to die, but no forced stop met it: it was still running when the run ended at 60 s."},

		{"more complete than slots allow", "", "p.completed=12&p.killed=4", sim.MoreThanAdmitted,
			"You expected 12 completed and 4 killed, but only 7 of 20 requests were admitted: of the 13 rejected, 6 met full slots between 13 s and 23 s."},
		{"all complete", "", "p.completed=20", sim.MoreThanAdmitted,
			"You expected 20 completed, but only 7 of 20 requests were admitted: of the 13 rejected, 6 met full slots between 13 s and 23 s."},
		{"the marks are right, too many are thought to complete", "", "p.completed=5&p.dies=6,13,14,15", sim.MoreThanAdmitted,
			"You expected 5 completed and 4 killed, but only 7 of 20 requests were admitted: of the 13 rejected, 6 met full slots between 13 s and 23 s."},
		{"more than arrive", "workers=4&startup=0&duration=5&signal=60", "p.completed=20&p.killed=1", sim.MoreThanAdmitted,
			"You expected 20 completed and 1 killed, but only 20 requests arrive."},
		{"rejected ones are counted as killed", "", "p.completed=3&p.killed=17", sim.RejectedNotKilled,
			"You expected 17 killed, but 4 were: the 13 rejected requests have no invocation to kill."},
		{"too few killed", "", "p.killed=2", sim.GraceTooShort,
			"You expected 2 killed, but 4 were: requests 6, 13, 14 and 15 had 1 s to 19 s of work left when SIGTERM came at 30 s, and the grace of 0 s left no time."},
		{"none killed with the handler off", off, "p.killed=0", sim.AfterSignal,
			"You expected 0 killed, but 1 was: with the handler off, worker 1 admitted request 16 after SIGTERM at 30 s, and the deadline at 50 s came 1 s too early."},
		{"all that is admitted completes with the handler off", off, "p.completed=8", sim.AfterSignal,
			"You expected 8 completed, but 7 were: with the handler off, worker 1 admitted request 16 after SIGTERM at 30 s, and the deadline at 50 s came 1 s too early."},
		{"fewer killed than were admitted before the signal", late, "p.killed=1", sim.GraceTooShort,
			"You expected 1 killed, but 4 were: requests 13, 14 and 15 had 15 s to 19 s of work left when SIGTERM came at 30 s, and the grace was 12 s."},
		{"as many killed as were admitted before the signal", late, "p.killed=3", sim.AfterSignal,
			"You expected 3 killed, but 4 were: with the handler off, worker 1 admitted request 16 after SIGTERM at 30 s, and the deadline at 42 s came 9 s too early."},
		{"more killed than were admitted before the signal, and fewer than all", "grace=12&handler=0&slots=8", "p.killed=5", sim.AfterSignal,
			"You expected 5 killed, but 8 were: with the handler off, worker 1 admitted requests 16 to 20 after SIGTERM at 30 s, and the deadline at 42 s came 9 s to 17 s too early."},
		{"one more completes than was admitted early enough", late, "p.completed=5", sim.AfterSignal,
			"You expected 5 completed, but 4 were: with the handler off, worker 1 admitted request 16 after SIGTERM at 30 s, and the deadline at 42 s came 9 s too early."},
		{"many more complete than were admitted early enough", late, "p.completed=8", sim.GraceTooShort,
			"You expected 8 completed, but 4 were: requests 13, 14 and 15 had 15 s to 19 s of work left when SIGTERM came at 30 s, and the grace was 12 s."},
		{"exactly the rejected ones are counted as killed too", "duration=8&grace=5&replacement=1", "p.killed=5", sim.RejectedNotKilled,
			"You expected 5 killed, but 1 was: the 4 rejected requests have no invocation to kill."},
		{"exactly the running ones are counted as killed too", busy, "p.killed=10", sim.StillRunning,
			"You expected 10 killed, but 4 were: requests 12, 13, 14, 16, 17 and 18 were still running when the run ended at 60 s."},
		{"all that is admitted completes", "", "p.completed=7", sim.GraceTooShort,
			"You expected 7 completed, but 3 were: requests 6, 13, 14 and 15 had 1 s to 19 s of work left when SIGTERM came at 30 s, and the grace of 0 s left no time."},
		{"too many killed", "grace=20", "p.completed=5&p.killed=2", sim.EarlyEnough,
			"You expected 2 killed, but none was: worker 1 completed 7 of its invocations, and the deadline was at 50 s."},
		{"too few complete", "", "p.completed=2&p.killed=4", sim.EarlyEnough,
			"You expected 2 completed, but 3 were: so many were admitted early enough."},
		{"work of other workers is thought killed", "workers=2&duration=8&grace=10&fail_init=1", "p.killed=1", sim.OtherWorker,
			"You expected 1 killed, but none was: SIGTERM concerns worker 1 alone, and 18 completed on other workers."},
		{"running ones are counted as killed", busy, "p.completed=6&p.killed=10", sim.StillRunning,
			"You expected 10 killed, but 4 were: requests 12, 13, 14, 16, 17 and 18 were still running when the run ended at 60 s."},
		{"running ones are counted as completed", busy, "p.completed=12&p.killed=4", sim.StillRunning,
			"You expected 12 completed, but 6 were: requests 12, 13, 14, 16, 17 and 18 were still running when the run ended at 60 s."},
		{"the marks are right and their count is not", "", "p.killed=3&p.dies=6,13,14,15", sim.CountsAndMarks,
			"You marked exactly the requests that are killed, 4 of them, but said that 3 are."},
		{"none is marked, rightly, and one counted", "grace=20", "p.killed=1&p.dies=none", sim.CountsAndMarks,
			"You said that no request dies, which is right, but also that 1 is killed."},

		{"the allowance is forgotten", "grace=20", "p.completed=7&p.verdict=pass", sim.GateRule,
			"You expected PASS, but the gate fails: 65 % rejected is more than the allowance of 20 %."},
		{"the gate is thought laxer", busy, "p.verdict=pass", sim.GateRule,
			"You expected PASS, but the gate fails: 4 were killed and 6 were still running at 60 s."},
		{"the gate is thought stricter", worked, "p.verdict=fail", sim.GateRule,
			"You expected FAIL, but the gate passes: none was killed, none is running, and 20 % rejected is within the allowance of 20 %."},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := settings(t, c.change)
			j := prediction(t, s, c.said).Judge(sim.Simulate(s))
			if j.Mistake != c.mistake || j.Sentence != c.want || j.Right() != (c.mistake == sim.NoMistake) {
				t.Errorf("got %v, right %v: %s\nwant %v: %s", j.Mistake, j.Right(), j.Sentence, c.mistake, c.want)
			}
		})
	}
}

// TestEveryPartIsJudged holds the truth that stands beside what was said.
func TestEveryPartIsJudged(t *testing.T) {
	s := sim.Opening()
	r := sim.Simulate(s)
	j := prediction(t, s, "p.completed=3&p.killed=5&p.dies=3,6,13,16&p.verdict=fail").Judge(r)
	if want := (sim.GuessJudgement{Guess: sim.Say(3), Truth: 3, Right: true}); j.Completed != want {
		t.Errorf("completed %+v, want %+v", j.Completed, want)
	}
	if want := (sim.GuessJudgement{Guess: sim.Say(5), Truth: 4}); j.Killed != want {
		t.Errorf("killed %+v, want %+v", j.Killed, want)
	}
	if want := (sim.VerdictJudgement{Said: sim.Fail, Truth: sim.Fail, Right: true}); j.Verdict != want {
		t.Errorf("verdict %+v, want %+v", j.Verdict, want)
	}
	if !j.Dies.Said || j.Dies.Right || !slices.Equal(j.Dies.Truth, []int{6, 13, 14, 15}) {
		t.Errorf("dies %+v", j.Dies)
	}
	want := []struct {
		request       int
		marked, right bool
		fate          sim.Fate
		chain         []sim.Kind
	}{
		{3, true, false, sim.FateCompleted, []sim.Kind{sim.RequestAdmitted, sim.InvocationCompleted, sim.WorkerSignaled}},
		{6, true, true, sim.FateKilled, []sim.Kind{sim.RequestAdmitted, sim.WorkerSignaled, sim.InvocationKilled}},
		{13, true, true, sim.FateKilled, []sim.Kind{sim.RequestAdmitted, sim.WorkerSignaled, sim.InvocationKilled}},
		{14, false, false, sim.FateKilled, []sim.Kind{sim.RequestAdmitted, sim.WorkerSignaled, sim.InvocationKilled}},
		{15, false, false, sim.FateKilled, []sim.Kind{sim.RequestAdmitted, sim.WorkerSignaled, sim.InvocationKilled}},
		{16, true, false, sim.FateRejected, []sim.Kind{sim.WorkerKilled, sim.RequestRejected}},
	}
	if len(j.Dies.Marks) != len(want) {
		t.Fatalf("%d marks, want %d", len(j.Dies.Marks), len(want))
	}
	for i, w := range want {
		m := j.Dies.Marks[i]
		if m.Request != w.request || m.Marked != w.marked || m.Right != w.right || m.Fate != w.fate {
			t.Errorf("mark %+v, want %+v", m, w)
		}
		wantChain(t, r, m.Ending, w.chain...)
	}
	// Two that died unmarked outweigh one of each other kind.
	if j.Mistake != sim.GraceTooShort {
		t.Errorf("mistake %v", j.Mistake)
	}
}

func TestAMarkOfARequestThatDoesNotArriveIsWrong(t *testing.T) {
	j := sim.Prediction{Dies: []int{99, 15, 14, 13, 6, 6, 99}}.Judge(sim.Simulate(sim.Opening()))
	if want := "You marked request 99, but only 20 requests arrive."; j.Mistake != sim.NeverArrives || j.Sentence != want {
		t.Errorf("%v: %s", j.Mistake, j.Sentence)
	}
	last := j.Dies.Marks[len(j.Dies.Marks)-1]
	if len(j.Dies.Marks) != 5 || last.Request != 99 || last.Right || last.Fate != sim.NoArrival || last.Chain != nil {
		t.Errorf("marks %+v", j.Dies.Marks)
	}
}

func TestMarksNeedNoOrder(t *testing.T) {
	p := sim.Prediction{Dies: []int{15, 6, 14, 6, 13}}
	if j := p.Judge(sim.Simulate(sim.Opening())); !j.Right() || len(j.Dies.Marks) != 4 {
		t.Errorf("%+v", j)
	}
	if got, want := string(p.AppendQuery(nil)), "p.dies=6,13,14,15"; got != want {
		t.Errorf("written %s, want %s", got, want)
	}
	if !slices.Equal(p.Dies, []int{15, 6, 14, 6, 13}) {
		t.Errorf("the prediction has become %v", p.Dies)
	}
}

func TestFourInARowAreNamedAsOne(t *testing.T) {
	r := sim.Simulate(sim.Opening())
	for want, marks := range map[string][]int{
		"You marked requests 21, 22 and 23, but only 20 requests arrive.":       {21, 22, 23},
		"You marked requests 21 to 24, but only 20 requests arrive.":            {21, 22, 23, 24},
		"You marked requests 21, 23 to 26 and 28, but only 20 requests arrive.": {21, 23, 24, 25, 26, 28},
	} {
		if got := (sim.Prediction{Dies: append(marks, 6, 13, 14, 15)}).Judge(r).Sentence; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// randomPrediction is near the truth as often as not.
func randomPrediction(rng *rand.Rand, r *sim.Run) sim.Prediction {
	var p sim.Prediction
	a := r.Account()
	near := func(truth int) sim.Guess {
		switch rng.IntN(4) {
		case 0:
			return sim.Guess{}
		case 1:
			return sim.Say(truth)
		case 2:
			return sim.Say(max(0, truth+rng.IntN(5)-2))
		}
		return sim.Say(rng.IntN(a.Arrivals + 1))
	}
	p.Completed, p.Killed = near(a.Completed), near(a.Killed)
	p.Verdict = sim.Verdict(rng.IntN(3))
	if rng.IntN(3) > 0 {
		p.Dies = []int{}
		for n := range a.Arrivals {
			fate := r.Why(n + 1).Fate
			if fate == sim.FateKilled && rng.IntN(8) > 0 || fate != sim.FateKilled && rng.IntN(2*a.Arrivals) == 0 {
				p.Dies = append(p.Dies, n+1)
			}
		}
		if rng.IntN(50) == 0 {
			p.Dies = append(p.Dies, a.Arrivals+1)
		}
	}
	return p
}

func TestRandomPredictionsAreJudged(t *testing.T) {
	t.Parallel()
	seen := map[sim.Mistake]int{}
	for n := range 4_000 {
		rng := random(n)
		r := sim.Simulate(randomSettings(rng))
		p := randomPrediction(rng, r)
		j := p.Judge(r)
		if err := checkJudgement(r, p, j); err != nil {
			t.Fatalf("seed %d, case %d, settings %s, prediction %s: %v", *seed, n, r.Settings.AppendQuery(nil), p.AppendQuery(nil), err)
		}
		seen[j.Mistake]++
	}
	names := map[string]bool{}
	for m := sim.NothingSaid; m <= sim.GateRule; m++ {
		if name := m.String(); name == "" || names[name] {
			t.Errorf("mistake %d is called %q", m, name)
		}
		names[m.String()] = true
		if seen[m] == 0 {
			t.Errorf("no prediction shows %v", m)
		}
	}
}

func checkJudgement(r *sim.Run, p sim.Prediction, j sim.Judgement) error {
	if err := wantSentence(j.Sentence); err != nil {
		return err
	}
	a := r.Account()
	killed := requests(r, sim.KilledInvocation)
	slices.Sort(killed)
	dies := slices.Compact(slices.Sorted(slices.Values(p.Dies)))
	parts := []struct {
		what              string
		said, right, want bool
	}{
		{"completed", p.Completed.Said, j.Completed.Right, p.Completed == sim.Say(a.Completed)},
		{"killed", p.Killed.Said, j.Killed.Right, p.Killed == sim.Say(a.Killed)},
		{"dies", p.Dies != nil, j.Dies.Right, p.Dies != nil && slices.Equal(dies, killed)},
		{"verdict", p.Verdict != sim.Pending, j.Verdict.Right, (p.Verdict == sim.Pass) == a.Passes(r.Settings.Allowance) && p.Verdict != sim.Pending},
	}
	said, all := false, true
	for _, part := range parts {
		if part.right != part.want {
			return fmt.Errorf("%s: right %v", part.what, part.right)
		}
		said = said || part.said
		all = all && part.right == part.said
	}
	if said != p.Said() || j.Right() != (said && all) || (j.Mistake == sim.NothingSaid) == said {
		return fmt.Errorf("said %v, all right %v, judged %v", said, all, j.Mistake)
	}
	if j.Completed.Truth != a.Completed || j.Killed.Truth != a.Killed || j.Dies.Said != (p.Dies != nil) || !slices.Equal(j.Dies.Truth, killed) {
		return fmt.Errorf("truth %+v", j)
	}
	if p.Dies == nil {
		if j.Dies.Marks != nil {
			return errors.New("marks where none were said")
		}
		return nil
	}
	wrong := map[sim.Fate][]int{}
	var told []int
	for _, m := range j.Dies.Marks {
		told = append(told, m.Request)
		died := slices.Contains(killed, m.Request)
		if m.Marked != slices.Contains(dies, m.Request) || m.Right != (m.Marked && died) || !m.Marked && !died {
			return fmt.Errorf("mark %+v", m)
		}
		if m.Fate == sim.NoArrival {
			if err := wantSentence(m.Sentence, m.Request); err != nil || m.Request <= a.Arrivals || m.Chain != nil {
				return fmt.Errorf("mark %+v: %w", m, err)
			}
		} else if err := checkEnding(r, m.Ending); err != nil {
			return err
		}
		if !m.Right {
			wrong[m.Fate] = append(wrong[m.Fate], m.Request)
		}
	}
	if want := slices.Compact(slices.Sorted(slices.Values(slices.Concat(dies, killed)))); !slices.Equal(told, want) {
		return fmt.Errorf("marks of %v, want %v", told, want)
	}
	if j.Dies.Right {
		return nil
	}
	// The mistake is one that wrong marks show, and its sentence names some.
	of, ok := map[sim.Mistake]sim.Fate{
		sim.AfterSignal: sim.FateKilled, sim.GraceTooShort: sim.FateKilled, sim.EarlyEnough: sim.FateCompleted, sim.OtherWorker: sim.FateCompleted,
		sim.RejectedNotKilled: sim.FateRejected, sim.StillRunning: sim.FateRunning, sim.NeverArrives: sim.NoArrival,
	}[j.Mistake]
	named := slices.ContainsFunc(wrong[of], func(n int) bool { return wantSentence(j.Sentence, n) == nil })
	if !ok || !named {
		return fmt.Errorf("%v: %s; wrong marks %v", j.Mistake, j.Sentence, wrong)
	}
	return nil
}

func TestPredictionsAreRead(t *testing.T) {
	s := sim.Opening()
	cases := []struct {
		name, query string
		want        sim.Prediction
		canonical   string
	}{
		{"nothing", "", sim.Prediction{}, ""},
		{"settings are not its own", "grace=20&t=30", sim.Prediction{}, ""},
		{"everything", "p.completed=3&p.killed=4&p.dies=6,13,14,15&p.verdict=fail",
			sim.Prediction{Completed: sim.Say(3), Killed: sim.Say(4), Dies: []int{6, 13, 14, 15}, Verdict: sim.Fail},
			"p.completed=3&p.killed=4&p.dies=6,13,14,15&p.verdict=fail"},
		{"none dies", "p.dies=none&p.verdict=pass", sim.Prediction{Dies: []int{}, Verdict: sim.Pass}, "p.dies=none&p.verdict=pass"},
		{"0 is said", "p.killed=0", sim.Prediction{Killed: sim.Say(0)}, "p.killed=0"},
		{"empty fields of a form say nothing", "p.completed=&p.killed=&p.dies=&p.verdict=", sim.Prediction{}, ""},
		{"marks in any order", "p.dies=15,6,20,1", sim.Prediction{Dies: []int{1, 6, 15, 20}}, "p.dies=1,6,15,20"},
		{"checkboxes", "p.dies=6&p.dies=13&p.dies=", sim.Prediction{Dies: []int{6, 13}}, "p.dies=6,13"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := prediction(t, s, c.query)
			if fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", c.want) {
				t.Errorf("got %#v, want %#v", got, c.want)
			}
			if text := string(got.AppendQuery([]byte("x"))); text != "x"+c.canonical {
				t.Errorf("written %q, want %q", text, c.canonical)
			}
		})
	}
}

func TestPredictionsAreRefused(t *testing.T) {
	const (
		count = "a whole number from 0 to 20, the requests that arrive"
		marks = "numbers of requests that arrive, from 1 to 20, each once, with commas between, or none"
	)
	cases := []struct{ query, setting, got, allowed string }{
		{"p.completed=21", "p.completed", "21", count},
		{"p.completed=-1", "p.completed", "-1", count},
		{"p.completed=1.5", "p.completed", "1.5", count},
		{"p.killed=1e1", "p.killed", "1e1", count},
		{"p.killed=%2B4", "p.killed", "+4", count},
		{"p.killed=4&p.killed=4", "p.killed", "4, 4", "one value"},
		{"p.dies=0", "p.dies", "0", marks},
		{"p.dies=21", "p.dies", "21", marks},
		{"p.dies=6,6", "p.dies", "6,6", marks},
		{"p.dies=6&p.dies=6", "p.dies", "6,6", marks},
		{"p.dies=6,", "p.dies", "6,", marks},
		{"p.dies=,", "p.dies", ",", marks},
		{"p.dies=6,+7", "p.dies", "6, 7", marks},
		{"p.dies=none,6", "p.dies", "none,6", marks},
		{"p.dies=none&p.dies=6", "p.dies", "none,6", marks},
		{"p.verdict=pending", "p.verdict", "pending", "pass or fail"},
		{"p.verdict=FAIL", "p.verdict", "FAIL", "pass or fail"},
		{"p.verdict=pass&p.verdict=fail", "p.verdict", "pass, fail", "one value"},
		{"p.completed=3&p.running=1&p.alive=2", "p.alive", "2", "no part of a prediction; there are p.completed, p.killed, p.dies, p.verdict"},
		{"p.verdict=no&p.dies=99&p.alive=2", "p.dies", "99", marks},
	}
	for _, c := range cases {
		values, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		p, err := sim.ParsePrediction(sim.Opening(), values)
		if p.Said() {
			t.Errorf("%s: refused, and gives %+v", c.query, p)
		}
		wantRefusal(t, err, c.setting, strconv.Quote(c.got), c.allowed)
	}
	// What arrives depends on the settings.
	if p := prediction(t, settings(t, "interval=0.5"), "p.dies=79&p.completed=79"); p.Dies[0] != 79 {
		t.Errorf("%+v", p)
	}
}

func FuzzParsePrediction(f *testing.F) {
	for _, query := range []string{
		"", "p.completed=3&p.killed=4&p.dies=6,13,14,15&p.verdict=fail", "p.dies=none", "p.dies=&p.killed=", "p.dies=6&p.dies=13", "p.dies=1,2,2",
		"p.dies=,", "p.completed=20.0", "p.killed=21", "p.verdict=pending", "p.x=1", "p.=1", "p.dies=" + strings.Repeat("1,", 200), "grace=1", "p.dies=%00",
	} {
		f.Add(query)
	}
	r := sim.Simulate(sim.Opening())
	f.Fuzz(func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		p, err := sim.ParsePrediction(r.Settings, values)
		if err != nil {
			wantReadableRefusal(t, err)
			return
		}
		if !slices.IsSorted(p.Dies) || len(slices.Compact(slices.Clone(p.Dies))) != len(p.Dies) ||
			len(p.Dies) > 0 && (p.Dies[0] < 1 || p.Dies[len(p.Dies)-1] > 20) {
			t.Fatalf("%q marks %v", query, p.Dies)
		}
		for _, g := range []sim.Guess{p.Completed, p.Killed} {
			if g.N < 0 || g.N > 20 || !g.Said && g.N != 0 {
				t.Fatalf("%q guesses %+v", query, g)
			}
		}
		text := string(p.AppendQuery(nil))
		if again := prediction(t, r.Settings, text); fmt.Sprintf("%#v", again) != fmt.Sprintf("%#v", p) || string(again.AppendQuery(nil)) != text {
			t.Fatalf("%q gives %#v, which comes back from %q as %#v", query, p, text, again)
		}
		if err := checkJudgement(r, p, p.Judge(r)); err != nil {
			t.Fatalf("%q: %v", query, err)
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	s := sim.Opening()
	r, p := sim.Simulate(s), prediction(b, s, "p.completed=3&p.killed=5&p.dies=3,6,13,16&p.verdict=fail")
	b.ReportAllocs()
	for b.Loop() {
		p.Judge(r)
	}
}
