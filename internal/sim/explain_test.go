package sim_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"drainlab/internal/sim"
)

const worked = "duration=8&grace=10&replacement=1" // the worked case that passes

// TestWorkedCasesAreExplained holds the text of docs/model.md's worked cases,
// and of cases that show the other sentences.
func TestWorkedCasesAreExplained(t *testing.T) {
	const booting = "2 came while worker 1 was booting, at 1 s and 3 s"
	cases := []struct {
		name, change string
		want         []string
	}{
		{"opening", "", []string{
			"Request 6 was admitted at 11 s, so it needed until 31 s; SIGTERM came at 30 s and the grace of 0 s ended at 30 s: killed with 1 s of work left.",
			"Request 13 was admitted at 25 s, so it needed until 45 s; SIGTERM came at 30 s and the grace of 0 s ended at 30 s: killed with 15 s of work left.",
			"Request 14 was admitted at 27 s, so it needed until 47 s; SIGTERM came at 30 s and the grace of 0 s ended at 30 s: killed with 17 s of work left.",
			"Request 15 was admitted at 29 s, so it needed until 49 s; SIGTERM came at 30 s and the grace of 0 s ended at 30 s: killed with 19 s of work left.",
			"13 of 20 requests were rejected (65 %), more than the allowance of 20 %: 6 met full slots between 13 s and 23 s; 5 came after worker 1 was killed at 30 s; " + booting + ".",
		}},
		{"grace 10", "grace=10", []string{
			"Request 13 was admitted at 25 s, so it needed until 45 s; SIGTERM came at 30 s and the grace of 10 s ended at 40 s: killed with 5 s of work left.",
			"Request 14 was admitted at 27 s, so it needed until 47 s; SIGTERM came at 30 s and the grace of 10 s ended at 40 s: killed with 7 s of work left.",
			"Request 15 was admitted at 29 s, so it needed until 49 s; SIGTERM came at 30 s and the grace of 10 s ended at 40 s: killed with 9 s of work left.",
			"13 of 20 requests were rejected (65 %), more than the allowance of 20 %: 6 met full slots between 13 s and 23 s; 5 came while worker 1 was draining, from 30 s on; " + booting + ".",
		}},
		{"grace 20", "grace=20", []string{
			"13 of 20 requests were rejected (65 %), more than the allowance of 20 %: 6 met full slots between 13 s and 23 s; 5 came while worker 1 was draining, from 30 s on; " + booting + ".",
		}},
		{"grace 20, handler off", "grace=20&handler=0", []string{
			"Request 16 was admitted at 31 s, after SIGTERM at 30 s, because the handler is off; it needed until 51 s and the grace of 20 s ended at 50 s: killed with 1 s of work left.",
			"12 of 20 requests were rejected (60 %), more than the allowance of 20 %: 10 met full slots between 13 s and 39 s; " + booting + ".",
		}},
		{"grace 20, replacement", "grace=20&replacement=1", []string{
			"10 of 20 requests were rejected (50 %), more than the allowance of 20 %: 6 met full slots between 13 s and 23 s; " + booting +
				"; 2 came while worker 1 was draining, from 30 s on, before its replacement was ready.",
		}},
		{"the gate passes", worked, []string{
			"A grace of 7 s still passes, 3 s less than the 10 s set; with 6.9 s, request 15 would be killed with 0.1 s of work left.",
		}},
		{"the gate passes with nothing to spare", "duration=8&grace=7&replacement=1", []string{
			"No less grace than the 7 s set passes: with 6.9 s, request 15 would be killed with 0.1 s of work left.",
		}},
		{"the gate passes without grace", "workers=4&interval=10&duration=1&signal=40&grace=5&allowance=25", []string{
			"Even a grace of 0 s passes: worker 1 owned nothing when SIGTERM came at 40 s.",
		}},
		{"no grace is enough", "workers=4&interval=10&duration=1&signal=40&allowance=25", []string{
			"The grace of 0 s is enough: worker 1 owned nothing when SIGTERM came at 40 s.",
		}},
		{"worker 1 never takes the signal", "workers=4&interval=10&duration=1&fail_init=1&grace=3&allowance=25", []string{
			"Even a grace of 0 s passes: worker 1 failed to initialize at 4 s and never took SIGTERM.",
		}},
		{"with the handler off a grace between fails", "interval=10&duration=5&grace=16&handler=0&allowance=50", []string{
			"A grace of 0 s passes too, 16 s less than the 16 s set, but not every one between: with 5.9 s, request 4 would be killed with 0.1 s of work left.",
		}},
		{"many are told together", "interval=1&slots=8&startup=0&workers=2&grace=2&replacement=1&duration=40", []string{
			"Requests 1, 3, 5, 7, 9, 11, 13 and 15 were admitted between 1 s and 15 s, so they needed until 41 s to 55 s; SIGTERM came at 30 s and the grace of 2 s ended at 32 s: killed with 9 s to 23 s of work left.",
			"Requests 30 to 37 were admitted between 30 s and 37 s and need until 70 s to 77 s: still running when the run ended at 60 s, with 10 s to 17 s of work left.",
			"16 of 40 requests were rejected (40 %), more than the allowance of 20 %: 16 met full slots between 17 s and 40 s.",
		}},
		{"admitted in the step of the signal", "interval=10&handler=0&signal=31&grace=1&allowance=90", []string{
			"Request 3 was admitted at 21 s, so it needed until 41 s; SIGTERM came at 31 s and the grace of 1 s ended at 32 s: killed with 9 s of work left.",
			"Request 4 was admitted at 31 s, right after SIGTERM, because the handler is off; it needed until 51 s and the grace of 1 s ended at 32 s: killed with 19 s of work left.",
		}},
		{"still running at the end", "interval=10&signal=60&duration=30&grace=30&allowance=25", []string{
			"Request 4 was admitted at 31 s and needs until 61 s: still running when the run ended at 60 s, with 1 s of work left.",
		}},
		{"routed to workers that are not ready", "ready_only=0&workers=2&replacement=1&startup=10&grace=30&slots=1&duration=3", []string{
			"8 of 20 requests were rejected (40 %), more than the allowance of 20 %: 5 were routed to worker 1 while it was booting, between 1 s and 9 s; 3 were routed to worker 3 while it was booting, between 31 s and 39 s.",
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := sim.Simulate(settings(t, c.change))
			if got := r.Explain().Sentences(); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestTheOpeningRunsChains holds the data behind the sentences.
func TestTheOpeningRunsChains(t *testing.T) {
	r := sim.Simulate(sim.Opening())
	e := r.Explain()
	if e.Verdict != sim.Fail || e.Margin != nil || len(e.Groups) != 4 {
		t.Errorf("verdict %v, margin %v, %d groups", e.Verdict, e.Margin, len(e.Groups))
	}
	left := map[int]sim.Time{6: 10, 13: 150, 14: 170, 15: 190}
	if len(e.Endings) != len(left) {
		t.Fatalf("%d endings, want %d", len(e.Endings), len(left))
	}
	for _, got := range e.Endings {
		inv := invocation(t, r, int16(got.Request))
		if got.Fate != sim.FateKilled || got.Left != left[got.Request] || got.DueAt != inv.AdmittedAt+200 || got.EndedAt != 300 || got.Worker != 1 {
			t.Errorf("request %d: %+v", got.Request, got)
		}
		wantChain(t, r, got, sim.RequestAdmitted, sim.WorkerSignaled, sim.InvocationKilled)
	}
	wantCauses(t, e.Causes,
		sim.RejectionCause{Reason: sim.SlotsFull, Since: sim.Never, Requests: []int{7, 8, 9, 10, 11, 12}, At: []sim.Time{130, 150, 170, 190, 210, 230}},
		sim.RejectionCause{Reason: sim.NoReadyWorker, Worker: 1, State: sim.Killed, Since: 300, Requests: []int{16, 17, 18, 19, 20}, At: []sim.Time{310, 330, 350, 370, 390}},
		sim.RejectionCause{Reason: sim.NoReadyWorker, Worker: 1, State: sim.Starting, Requests: []int{1, 2}, At: []sim.Time{10, 30}})
}

func TestWithTheHandlerOffTheSignalComesFirstInTheChain(t *testing.T) {
	r := sim.Simulate(settings(t, "grace=20&handler=0"))
	endings := r.Explain().Endings
	if len(endings) != 1 || endings[0].Request != 16 || endings[0].Left != 10 {
		t.Fatalf("endings %+v, want request 16 with 1 s left", endings)
	}
	wantChain(t, r, endings[0], sim.WorkerSignaled, sim.RequestAdmitted, sim.InvocationKilled)
}

func TestARejectionNamesTheWorkersThatMadeIt(t *testing.T) {
	r := sim.Simulate(settings(t, "grace=20&replacement=1"))
	for request, want := range map[int][]sim.Kind{
		1:  {sim.WorkerStarted, sim.RequestRejected},
		7:  {sim.RequestRejected},
		16: {sim.WorkerDrained, sim.WorkerStarted, sim.RequestRejected},
	} {
		wantChain(t, r, r.Why(request), want...)
	}
	for request, want := range map[int]string{
		1:  "Request 1 was rejected at 1 s: worker 1 was still booting.",
		7:  "Request 7 was rejected at 13 s: all slots were taken.",
		16: "Request 16 was rejected at 31 s: worker 1 had been draining since 30 s and its replacement was still booting.",
		18: "Request 18 was admitted at 35 s and completed at 55 s, on worker 2: SIGTERM concerns worker 1 alone.",
		3:  "Request 3 was admitted at 5 s and completed at 25 s, before SIGTERM came at 30 s.",
		13: "Request 13 was admitted at 25 s and completed at 45 s, 5 s before the deadline at 50 s.",
		21: "Request 21 does not arrive: the last one is request 20, at 39 s.",
		0:  "Request 0 does not arrive: the last one is request 20, at 39 s.",
	} {
		if got := r.Why(request).Sentence; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	for change, want := range map[string]string{
		"grace=15&signal=10": "Request 3 was admitted at 5 s and completed at 25 s, exactly at the deadline, where a completion wins over the forced stop.",
		"grace=15&signal=25": "Request 3 was admitted at 5 s and completed at 25 s, in the step in which SIGTERM came, where completions come first.",
		"signal=25":          "Request 3 was admitted at 5 s and completed at 25 s, in the step in which SIGTERM came, where completions come first.",
	} {
		if got := sim.Simulate(settings(t, change)).Why(3).Sentence; got != want {
			t.Errorf("%s\ngot  %s\nwant %s", change, got, want)
		}
	}
}

func wantChain(t *testing.T, r *sim.Run, e sim.Ending, kinds ...sim.Kind) {
	t.Helper()
	var got []sim.Kind
	for _, seq := range e.Chain {
		got = append(got, r.Trace[seq].Kind)
	}
	if !slices.Equal(got, kinds) {
		t.Errorf("request %d: chain %v, want %v", e.Request, got, kinds)
	}
}

func wantCauses(t *testing.T, got []sim.RejectionCause, want ...sim.RejectionCause) {
	t.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("causes\n%s, want\n%s", g, w)
	}
}

var (
	aSentence    = regexp.MustCompile(`^[A-Z0-9][^\n]*[^ .]\.$`)
	someRequests = regexp.MustCompile(`\b[Rr]equests? (\d+(?: to \d+)?(?:(?:, | and )\d+(?: to \d+)?\b)*)`)
	oneOrRow     = regexp.MustCompile(`(\d+)(?: to (\d+))?`)
)

// wantSentence wants one sentence that names all of these requests.
func wantSentence(sentence string, requests ...int) error {
	if !aSentence.MatchString(sentence) || strings.Contains(sentence, "  ") || strings.Contains(sentence, "%!") || strings.Contains(sentence, "never s") {
		return fmt.Errorf("no sentence: %q", sentence)
	}
	if len(requests) == 0 {
		return nil
	}
	named := namedIn(sentence)
	for _, n := range requests {
		if !named[n] {
			return fmt.Errorf("no request %d in %q", n, sentence)
		}
	}
	return nil
}

// namedIn finds the requests that a text names, one by one or in rows.
func namedIn(text string) map[int]bool {
	named := map[int]bool{}
	for _, list := range someRequests.FindAllStringSubmatch(text, -1) {
		for _, m := range oneOrRow.FindAllStringSubmatch(list[1], -1) {
			low, _ := strconv.Atoi(m[1])
			high := low
			if m[2] != "" {
				high, _ = strconv.Atoi(m[2])
			}
			for n := low; n <= high; n++ {
				named[n] = true
			}
		}
	}
	return named
}

// checkEnding holds what is said of a request to the run.
func checkEnding(r *sim.Run, e sim.Ending) error {
	if !strings.HasPrefix(e.Sentence, fmt.Sprintf("Request %d ", e.Request)) {
		return fmt.Errorf("request %d: %q", e.Request, e.Sentence)
	}
	if err := wantSentence(e.Sentence); err != nil {
		return err
	}
	if len(e.Chain) == 0 {
		return fmt.Errorf("request %d: no chain", e.Request)
	}
	own := 0
	last := int32(-1)
	for _, seq := range e.Chain {
		if seq <= last || int(seq) >= len(r.Trace) {
			return fmt.Errorf("request %d: chain %v is not in order within %d events", e.Request, e.Chain, len(r.Trace))
		}
		last = seq
		switch ev := r.Trace[seq]; {
		case int(ev.Request) == e.Request:
			own++
		case ev.Request != 0:
			return fmt.Errorf("request %d: its chain has an event of request %d", e.Request, ev.Request)
		case e.Worker != 0 && int(ev.Worker) != e.Worker:
			return fmt.Errorf("request %d: ran on worker %d, its chain has an event of worker %d", e.Request, e.Worker, ev.Worker)
		}
	}
	// The fate from the trace, its events of this request alone.
	fate, at, ended := sim.NoArrival, sim.Never, sim.Never
	events := 0
	for _, ev := range r.Trace {
		if int(ev.Request) != e.Request {
			continue
		}
		switch ev.Kind {
		case sim.RequestRejected:
			fate, at = sim.FateRejected, ev.At
		case sim.RequestAdmitted:
			fate, at = sim.FateRunning, ev.At
		case sim.InvocationCompleted:
			fate, ended = sim.FateCompleted, ev.At
		case sim.InvocationKilled:
			fate, ended = sim.FateKilled, ev.At
		default:
			continue
		}
		events++
	}
	left := sim.Time(0)
	switch fate {
	case sim.FateKilled:
		left = at + r.Settings.Duration - ended
	case sim.FateRunning:
		left = at + r.Settings.Duration - sim.Horizon
	}
	if e.Fate != fate || e.ArrivedAt != at || e.EndedAt != ended || e.Left != left || own != events {
		return fmt.Errorf("request %d: %+v, the trace tells %v, at %v, ended %v, left %v in %d events", e.Request, e, fate, at, ended, left, events)
	}
	if left > 0 && !strings.Contains(e.Sentence, left.String()+" s of work left") {
		return fmt.Errorf("%v s left are not in %q", left, e.Sentence)
	}
	return nil
}

// checkCauses holds the causes of rejections to the workers as they stood.
func checkCauses(r *sim.Run, causes []sim.RejectionCause) error {
	seen := 0
	for i, c := range causes {
		seen += len(c.Requests)
		if len(c.Requests) == 0 || len(c.At) != len(c.Requests) || i > 0 && len(c.Requests) > len(causes[i-1].Requests) {
			return fmt.Errorf("cause %d of %+v", i, causes)
		}
		for k, n := range c.Requests {
			rejected := slices.IndexFunc(r.Rejections, func(rej sim.Rejection) bool { return int(rej.Request) == n })
			if rejected < 0 || r.Rejections[rejected].Reason != c.Reason || r.Rejections[rejected].At != c.At[k] {
				return fmt.Errorf("request %d is not of cause %+v", n, c)
			}
			workers := r.At(c.At[k]).Workers
			booting := len(workers) > r.Settings.Workers && workers[len(workers)-1].State == sim.Starting
			if c.Worker == 0 && c.Reason == sim.SlotsFull {
				continue
			}
			entered := slices.ContainsFunc(r.Why(n).Chain, func(seq int32) bool {
				return int(r.Trace[seq].Worker) == c.Worker && r.Trace[seq].At == c.Since
			})
			switch {
			case !entered:
				return fmt.Errorf("request %d: what became of worker %d at %v is not in its chain", n, c.Worker, c.Since)
			case workers[c.Worker-1].State != c.State || workers[c.Worker-1].Since() != c.Since:
				return fmt.Errorf("request %d: worker %d is %+v, cause %+v", n, c.Worker, workers[c.Worker-1], c)
			case c.ReplacementBooting && !booting:
				return fmt.Errorf("request %d: no replacement was booting", n)
			case c.Reason == sim.NoReadyWorker && c.State != sim.Starting && booting && !c.ReplacementBooting:
				return fmt.Errorf("request %d: the replacement was booting", n)
			case c.Reason == sim.NoReadyWorker && c.State == sim.Ready:
				return fmt.Errorf("request %d: worker %d was ready", n, c.Worker)
			}
		}
	}
	if seen != len(r.Rejections) {
		return fmt.Errorf("%d rejections have a cause, of %d", seen, len(r.Rejections))
	}
	return nil
}

// checkExplanation holds the explanation of a run, and of each request, to the
// run, and returns all of its text.
func checkExplanation(r *sim.Run) ([]string, error) {
	e := r.Explain()
	text := e.Sentences()
	if len(text) == 0 {
		return nil, fmt.Errorf("nothing is explained")
	}
	for _, sentence := range text {
		if err := wantSentence(sentence); err != nil {
			return nil, err
		}
	}
	if err := checkCauses(r, e.Causes); err != nil {
		return nil, err
	}
	a := r.Account()
	if passes := a.Passes(r.Settings.Allowance); passes != (e.Verdict == sim.Pass) || passes != (e.Margin != nil) {
		return nil, fmt.Errorf("verdict %v, margin %v, the account passes: %v", e.Verdict, e.Margin, passes)
	}
	if over := a.Rejected*100 > r.Settings.Allowance*a.Arrivals; over != (e.Rejected != "") {
		return nil, fmt.Errorf("rejected %s %% of %d %%: %q", a.RejectedPercent(), r.Settings.Allowance, e.Rejected)
	}
	if len(e.Endings) != a.Killed+a.Running {
		return nil, fmt.Errorf("%d endings, want %d killed and %d running", len(e.Endings), a.Killed, a.Running)
	}
	grouped := 0
	for _, g := range e.Groups {
		if err := wantSentence(g.Sentence, g.Requests...); err != nil {
			return nil, err
		}
		for _, n := range g.Requests {
			if grouped == len(e.Endings) || e.Endings[grouped].Request != n {
				return nil, fmt.Errorf("groups %+v of endings %+v", e.Groups, e.Endings)
			}
			grouped++
		}
	}
	if grouped != len(e.Endings) {
		return nil, fmt.Errorf("%d endings are told, of %d", grouped, len(e.Endings))
	}
	for i, ending := range e.Endings {
		kind := sim.InvocationKilled
		if ending.Fate == sim.FateRunning {
			kind = sim.RequestAdmitted
		}
		if ending.Fate != sim.FateKilled && ending.Fate != sim.FateRunning || r.Trace[ending.Chain[len(ending.Chain)-1]].Kind != kind {
			return nil, fmt.Errorf("ending %+v", ending)
		}
		if i > 0 && ending.Fate == e.Endings[i-1].Fate && ending.Request <= e.Endings[i-1].Request {
			return nil, fmt.Errorf("endings are not in order: %+v", e.Endings)
		}
	}
	for n := range a.Arrivals {
		ending := r.Why(n + 1)
		if err := checkEnding(r, ending); err != nil {
			return nil, err
		}
		text = append(text, ending.Sentence)
	}
	return text, nil
}

const explainedRuns = 2_000

func TestEverySentenceOfRandomRunsHolds(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for n := range explainedRuns {
		r := sim.Simulate(randomSettings(random(n)))
		text, err := checkExplanation(r)
		if err != nil {
			t.Fatalf("seed %d, case %d, settings %s: %v", *seed, n, r.Settings.AppendQuery(nil), err)
		}
		for _, words := range text {
			for _, s := range saidOf {
				if strings.Contains(words, s) {
					seen[s]++
				}
			}
		}
	}
	for _, s := range saidOf {
		if seen[s] == 0 {
			t.Errorf("no run of %d says %q", explainedRuns, s)
		}
	}
}

// saidOf are the turns of the sentences: each must come up.
var saidOf = []string{
	"right after SIGTERM, because the handler is off", "after SIGTERM at", "needed until", "still running", " were admitted between",
	"on worker", "before SIGTERM came", "in which SIGTERM came", "exactly at the deadline", "before the deadline",
	"met full slots", "routed to worker 1 while it was booting", "while it was draining", "came while worker 1 was booting",
	"while workers 1 and 2 were booting", "while workers 1 to 4 were booting", "came while worker 2 was booting",
	"was draining, from", "exited at", "was killed at", "failed to initialize at", ", before its replacement was ready",
	"all slots were taken", "it was routed to worker 2, which was still booting", "which had been draining since", "had been draining since", "had exited at", "had been killed at",
	"had failed to initialize at", "and its replacement was still booting",
	"Even a grace of 0 s passes", "The grace of 0 s is enough", "owned nothing when", "never took SIGTERM", "still passes", "passes too",
	"would be killed with",
}

// passes judges settings without the search that is tested.
func passes(s sim.Settings) bool { return sim.Simulate(s).Account().Passes(s.Allowance) }

func TestTheMarginIsTheLeastGraceThatPasses(t *testing.T) {
	t.Parallel()
	tried, gaps := 0, 0
	for n := 0; tried < 300; n++ {
		s := randomSettings(random(n))
		if !passes(s) {
			continue
		}
		tried++
		least, fails := sim.Never, sim.Never
		for g := sim.Time(0); g <= s.Grace; g++ {
			with := s
			with.Grace = g
			if !passes(with) {
				fails = g
			} else if least == sim.Never {
				least = g
			}
		}
		m := sim.Simulate(s).Explain().Margin
		if m.Grace != s.Grace || m.Least != least || m.Fails != fails {
			t.Errorf("seed %d, case %d, settings %s: %+v, want least %v, fails %v", *seed, n, s.AppendQuery(nil), m, least, fails)
		}
		if least > 0 && least < s.Grace && !strings.Contains(m.Sentence, fmt.Sprintf("A grace of %v s", least)) {
			t.Errorf("%v is not in %q", least, m.Sentence)
		}
		if fails != sim.Never {
			with := s
			with.Grace = fails
			if killed := requests(sim.Simulate(with), sim.KilledInvocation); !slices.Equal(killed, []int{m.Request}) {
				t.Errorf("settings %s: with a grace of %v requests %v are killed, want %d", s.AppendQuery(nil), fails, killed, m.Request)
			}
		}
		if fails > least {
			gaps++
		}
	}
	if gaps == 0 {
		t.Error("in no case does a grace fail between two that pass")
	}
}

// checkFixes searches every amount of every control for itself.
func checkFixes(s sim.Settings, fixes []sim.Fix) (found int, err error) {
	if len(fixes) != len(sim.Controls()) {
		return 0, fmt.Errorf("%d fixes", len(fixes))
	}
	size := func(f sim.Fix) float64 { // of the change
		c, _ := sim.FindControl(f.Setting)
		switch {
		case c.Name == "allowance":
			return 2
		case c.Toggle:
			return 1
		}
		return float64(int(abs(f.To-f.From))*1000/int(c.Max-c.Min)) / 1000
	}
	for i, f := range fixes {
		if err := wantSentence(f.Sentence); err != nil {
			return 0, err
		}
		c, ok := sim.FindControl(f.Setting)
		if !ok || f.Label != c.Label || f.From != c.Amount(s) {
			return 0, fmt.Errorf("fix %+v", f)
		}
		nearest, known := f.From, false
		amounts := []sim.Time{0, sim.Second}
		if !c.Toggle {
			amounts = nil
			for v := c.Min; v <= c.Max; v += c.Grain {
				amounts = append(amounts, v)
			}
		}
		for _, v := range amounts { // ascending: of two as near the lower stays
			with := s
			c.Set(&with, v)
			if v != f.From && (!known || abs(v-f.From) < abs(nearest-f.From)) && passes(with) {
				nearest, known = v, true
			}
		}
		if f.Found != known || f.To != nearest {
			return 0, fmt.Errorf("fix %+v, want found %v, to %v", f, known, nearest)
		}
		if known {
			found++
			with := s
			c.Set(&with, f.To)
			if f.Account != sim.Simulate(with).Account() {
				return 0, fmt.Errorf("%s: account %+v", f.Setting, f.Account)
			}
			if !c.Toggle && !strings.Contains(f.Sentence, fmt.Sprintf(": %v", f.To)) {
				return 0, fmt.Errorf("%v is not in %q", f.To, f.Sentence)
			}
		}
		if i == 0 {
			continue
		}
		last := fixes[i-1]
		place := func(name string) int {
			return slices.IndexFunc(sim.Controls(), func(c sim.Control) bool { return c.Name == name })
		}
		if !last.Found && f.Found || f.Found && size(f) < size(last) ||
			last.Found == f.Found && (!f.Found || size(f) == size(last)) && place(f.Setting) < place(last.Setting) {
			return 0, fmt.Errorf("%s comes after %s", f.Setting, last.Setting)
		}
	}
	return found, nil
}

func abs(t sim.Time) sim.Time { return max(t, -t) }

func TestEveryFixIsTheNearestThatPasses(t *testing.T) {
	t.Parallel()
	failing := []sim.Settings{sim.Opening(), settings(t, "grace=20"), settings(t, "duration=8&grace=5&replacement=1"), settings(t, "duration=8&grace=10&replacement=1&handler=0")}
	for n := 0; len(failing) < 60; n++ {
		if s := randomSettings(random(n)); !passes(s) {
			failing = append(failing, s)
		} else if sim.Fixes(s) != nil {
			t.Errorf("settings %s pass and are fixed", s.AppendQuery(nil))
		}
	}
	all := 0
	for _, s := range failing {
		found, err := checkFixes(s, sim.Fixes(s))
		if err != nil {
			t.Errorf("seed %d, settings %s: %v", *seed, s.AppendQuery(nil), err)
		}
		all += found
	}
	if all == 0 || all == len(failing)*len(sim.Controls()) {
		t.Errorf("%d fixes found", all)
	}
}

func TestFixesInWords(t *testing.T) {
	for change, want := range map[string][]string{
		"": { // no single setting is enough
			"Initial workers: no value makes the gate pass.",
			"Invocation slots per worker: no value makes the gate pass.",
			"Startup duration: no value makes the gate pass.",
			"Request interval: no value makes the gate pass.",
			"Invocation duration: no value makes the gate pass.",
			"Signal worker 1 at: no value makes the gate pass.",
			"Grace period: no value makes the gate pass.",
			"Handle SIGTERM and stop admission: switching it off does not make the gate pass.",
			"Boot one replacement at signal time: switching it on does not make the gate pass.",
			"Route only to ready workers: switching it off does not make the gate pass.",
			"Fail initialization of worker 1: switching it on does not make the gate pass.",
			"Fixture rejection allowance: no value makes the gate pass.",
		},
		"duration=8&grace=5&replacement=1": {
			"Invocation duration: 6 s instead of 8 s passes the gate; 16 of 20 requests complete and 4 are rejected.",
			"Grace period: 7 s instead of 5 s passes the gate; 16 of 20 requests complete and 4 are rejected.",
			"Request interval: 3.7 s instead of 2 s passes the gate; 9 of 11 requests complete and 2 are rejected.",
			"Signal worker 1 at: 42 s instead of 30 s passes the gate; 18 of 20 requests complete and 2 are rejected.",
		},
		"duration=8&grace=10&replacement=1&startup=0&handler=0": {
			"Signal worker 1 at: 35.1 s instead of 30 s passes the gate; all requests complete.",
		},
		"grace=20": {
			"Initial workers: 3 instead of 1 passes the gate; 18 of 20 requests complete and 2 are rejected.",
			"Fixture rejection allowance: 65 % instead of 20 % passes the gate; 7 of 20 requests complete and 13 are rejected.",
			"Invocation slots per worker: no value makes the gate pass.",
		},
	} {
		fixes := sim.Fixes(settings(t, change))
		for i, sentence := range want {
			if fixes[i].Sentence != sentence {
				t.Errorf("%s: fix %d\ngot  %s\nwant %s", change, i, fixes[i].Sentence, sentence)
			}
		}
	}
}

// Where nothing is a fix the search looks at every amount. These settings have
// most events in a run, requests that arrive while the workers boot, and kills:
// no one setting keeps both from happening.
const hopeless = "workers=4&slots=8&startup=2&interval=0.5&duration=2&signal=17.1&replacement=1&allowance=0"

const mostForFixes = 30 * time.Millisecond

func BenchmarkFixes(b *testing.B) {
	for _, m := range append(measured[:1:1], struct{ name, change string }{"hopeless", hopeless}) {
		b.Run(m.name, func(b *testing.B) {
			s := settings(b, m.change)
			b.ReportAllocs()
			best := time.Duration(1 << 62)
			for b.Loop() {
				start := time.Now()
				if fixes := sim.Fixes(s); fixes[0].Found {
					b.Fatalf("it is not hopeless: %s", fixes[0].Sentence)
				}
				best = min(best, time.Since(start))
			}
			if best > mostForFixes {
				b.Fatalf("the search takes %v, want at most %v", best, mostForFixes)
			}
		})
	}
}

func BenchmarkExplain(b *testing.B) {
	for _, m := range []struct{ name, change string }{measured[0], {"passing", worked}} {
		b.Run(m.name, func(b *testing.B) {
			r := sim.Simulate(settings(b, m.change))
			b.ReportAllocs()
			for b.Loop() {
				r.Explain()
			}
		})
	}
}
