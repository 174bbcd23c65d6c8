package sim_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"drainlab/internal/sim"
)

// Another seed tests other settings; the default keeps a plain `go test`
// repeatable. A failure prints its seed, case and settings.
var seed = flag.Uint64("seed", 1, "seed of the random settings")

const (
	randomRuns = 21_000
	shards     = 2 // the engine has no shared state; the race detector watches over that here

	// Of every so many runs one is looked at more closely, to keep the whole
	// under the race detector within seconds.
	everySnapshot = 8
	everyDocument = 40
	everyInstant  = 80
)

// random returns the generator of one case: each is repeatable on its own.
func random(n int) *rand.Rand { return rand.New(rand.NewPCG(*seed, uint64(n))) }

func randomSettings(rng *rand.Rand) sim.Settings {
	switch rng.IntN(8) {
	case 0, 1:
		return uniformSettings(rng)
	case 2:
		return sliderSettings(rng)
	case 3:
		return busySettings(rng)
	}
	return tiedSettings(rng)
}

// uniformSettings takes every setting from its whole range in tenths.
func uniformSettings(rng *rand.Rand) sim.Settings {
	span := func(low, high sim.Time) sim.Time { return low + sim.Time(rng.IntN(int(high-low)+1)) }
	return sim.Settings{
		Workers: 1 + rng.IntN(4), Slots: 1 + rng.IntN(8),
		Startup: span(0, 200), Interval: span(5, 100), Duration: span(10, 400), Signal: span(0, 600), Grace: span(0, 300),
		Handler: rng.IntN(2) == 1, Replacement: rng.IntN(2) == 1, ReadyOnly: rng.IntN(2) == 1, FailInit: rng.IntN(2) == 1,
		Allowance: rng.IntN(101),
	}
}

// sliderSettings takes what a person can set on the page: steps of 0.5 s.
func sliderSettings(rng *rand.Rand) sim.Settings {
	s := uniformSettings(rng)
	for _, at := range []*sim.Time{&s.Startup, &s.Interval, &s.Duration, &s.Signal, &s.Grace} {
		*at -= *at % 5
	}
	return s
}

// busySettings keeps the slots taken and freed all the time.
func busySettings(rng *rand.Rand) sim.Settings {
	s := uniformSettings(rng)
	s.Startup, s.Interval, s.Duration = sim.Time(rng.IntN(40)), 5+sim.Time(rng.IntN(6)), 10+sim.Time(rng.IntN(80))
	s.FailInit = rng.IntN(8) == 0
	return s
}

// tiedSettings makes things fall on the same tenth, where the order within a
// step decides: ends of the ranges, and instants derived from one another.
func tiedSettings(rng *rand.Rand) sim.Settings {
	s := uniformSettings(rng)
	if rng.IntN(2) == 0 {
		s = busySettings(rng)
	}
	s.Handler, s.ReadyOnly, s.FailInit = rng.IntN(3) > 0, rng.IntN(3) > 0, rng.IntN(3) == 0
	if rng.IntN(2) == 0 {
		s.Duration = []sim.Time{10, 11, 12, s.Interval * 2, s.Interval * 3, s.Interval * sim.Time(s.Slots)}[rng.IntN(6)]
	}
	if rng.IntN(2) == 0 {
		s.Interval = []sim.Time{5, 5, 10, 100, s.Duration, s.Duration / 3}[rng.IntN(6)]
	}
	s.Duration, s.Interval = clamp(s.Duration, 10, 400), clamp(s.Interval, 5, 100)

	arrival := 10 + s.Interval*sim.Time(rng.IntN(int(390/s.Interval)+1))
	ends := sim.StageEnds(s.Duration)
	step := ends[rng.IntN(3)] // of the invocation admitted at that arrival

	switch rng.IntN(4) {
	case 0:
		s.Startup = 0
	case 1:
		s.Startup = arrival // ready as a request arrives
	}
	switch rng.IntN(8) {
	case 0:
		s.Signal = 0
	case 1:
		s.Signal = 600
	case 2:
		s.Signal = s.Startup // ready, or failed, at the signal
	case 3:
		s.Signal = arrival
	case 4, 5:
		s.Signal = arrival + step // on a stage's end or a completion
	}
	s.Startup, s.Signal = clamp(s.Startup, 0, 200), clamp(s.Signal, 0, 600)
	switch rng.IntN(8) {
	case 0, 1:
		s.Grace = 0
	case 2:
		s.Grace = s.Startup - s.Signal // still booting until the forced stop
	case 3, 4:
		s.Grace = arrival + step - s.Signal
	case 5:
		s.Grace = 600 - s.Signal
	case 6:
		s.Grace = s.Startup // the replacement is ready at the forced stop
	}
	s.Grace = clamp(s.Grace, 0, 300)
	return s
}

func clamp(t, low, high sim.Time) sim.Time { return min(max(t, low), high) }

func TestEngineAgreesWithTheTickByTickReference(t *testing.T) {
	t.Logf("seed %d (-seed)", *seed)
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		seen  = make(map[string]int)
	)
	for shard := range shards {
		group.Go(func() {
			reused := new(sim.Run)
			situations := make(map[string]int)
			for n := shard; n < randomRuns && !t.Failed(); n += shards {
				rng := random(n)
				s := randomSettings(rng)
				if err := checkSettings(rng, n, s, reused); err != nil {
					t.Errorf("seed %d, case %d, settings %s\n%v", *seed, n, s.AppendQuery(nil), err)
					return
				}
				countSituations(reused, situations)
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
}

func checkSettings(rng *rand.Rand, n int, s sim.Settings, reused *sim.Run) error {
	if err := s.Validate(); err != nil {
		return fmt.Errorf("the generator made settings that are not valid: %w", err)
	}
	want := tickByTick(s)
	fresh := sim.Simulate(s)
	if err := want.compareRun(fresh); err != nil {
		return fmt.Errorf("Simulate: %w", err)
	}
	reused.Reset(s)
	if err := want.compareRun(reused); err != nil {
		return fmt.Errorf("Reset after other settings: %w", err)
	}
	if err := want.compareRun(fresh); err != nil {
		return fmt.Errorf("a run changed as another was reset: %w", err)
	}
	if err := checkRun(fresh); err != nil {
		return fmt.Errorf("invariant: %w", err)
	}
	if n%everyInstant == 0 {
		if err := checkInstants(fresh); err != nil {
			return fmt.Errorf("invariant: %w", err)
		}
	}
	if n%everySnapshot == 0 {
		// Random instants, and those at which most happens.
		for _, at := range []sim.Time{
			sim.Time(rng.IntN(601)), sim.Time(rng.IntN(601)), s.Signal, min(s.Signal+s.Grace, 600),
		} {
			if err := tickByTickUntil(s, at).compareSnapshot(fresh.At(at)); err != nil {
				return fmt.Errorf("At(%v): %w", at, err)
			}
		}
		// A snapshot has its own workers and invocations: the run is as before.
		if err := want.compareRun(fresh); err != nil {
			return fmt.Errorf("At changed the run: %w", err)
		}
	}
	if n%everyDocument == 0 {
		at := sim.Time(rng.IntN(601))
		for _, stopped := range []*reference{want, tickByTickUntil(s, at)} {
			if err := stopped.compareDocuments(fresh.At(min(stopped.now, 600))); err != nil {
				return fmt.Errorf("at %v: %w", stopped.now, err)
			}
		}
	}
	return nil
}

// countSituations counts the runs in which something comes up that a random
// choice seldom hits and the order within a step decides.
func countSituations(r *sim.Run, seen map[string]int) {
	s := r.Settings
	deadline := s.Signal + s.Grace
	here := make(map[string]bool)
	var freed sim.Event // the last completion
	staged := make(map[int16]sim.Time)
	for _, e := range r.Trace {
		here["event "+e.Kind.String()] = true
		switch e.Kind {
		case sim.RequestRejected:
			here["rejected as "+e.Reason.String()] = true
		case sim.InvocationStage:
			staged[e.Request] = e.At
		case sim.InvocationKilled:
			here["killed in stage "+e.Stage.String()] = true
			here["killed in the step in which its stage began"] = here["killed in the step in which its stage began"] || staged[e.Request] == e.At
			here["killed at the horizon"] = here["killed at the horizon"] || e.At == sim.Horizon
		case sim.InvocationCompleted:
			freed = e
			here["completed at the deadline"] = here["completed at the deadline"] || e.Worker == 1 && e.At == deadline
			here["completed at the horizon"] = here["completed at the horizon"] || e.At == sim.Horizon
		case sim.RequestAdmitted:
			w := r.Workers[e.Worker-1]
			same := e.At == freed.At && e.Worker == freed.Worker && e.Slot == freed.Slot
			here["a slot freed and taken in one step"] = here["a slot freed and taken in one step"] || same
			here["admitted in the step in which the worker became ready"] = here["admitted in the step in which the worker became ready"] || e.At == w.ReadyAt
			here["admitted after the signal with the handler off"] = here["admitted after the signal with the handler off"] || e.Worker == 1 && e.At > s.Signal
			here["admitted by a replacement ready at once"] = here["admitted by a replacement ready at once"] || w.Replacement && e.At == w.BootAt
		}
	}
	w1 := r.Workers[0]
	taken := w1.SignalAt != sim.Never
	here["ready at the signal"] = taken && w1.ReadyAt == w1.SignalAt
	here["failed at the signal"] = w1.FailedAt == s.Signal
	here["failed after the signal, handler off"] = w1.FailedAt > s.Signal
	here["failed at the deadline"] = taken && w1.FailedAt == deadline
	here["drained while starting"] = w1.DrainAt != sim.Never && w1.ReadyAt == sim.Never
	here["killed while starting"] = w1.State == sim.Killed && w1.ReadyAt == sim.Never
	here["ready at the deadline and killed"] = w1.State == sim.Killed && w1.ReadyAt == w1.ExitAt
	here["exited at the deadline"] = w1.State == sim.Exited && w1.ExitAt == deadline
	here["killed at the signal"] = w1.State == sim.Killed && w1.ExitAt == s.Signal
	here["deadline past the horizon"] = !w1.State.Gone() && deadline > sim.Horizon
	here["running at the horizon"] = r.Account().Running > 0
	here["gate passes"] = r.At(sim.Horizon).Gate().Verdict == sim.Pass
	for name, is := range here {
		if is {
			seen[name]++
		}
	}
}

func allSituations() []string {
	names := []string{
		"killed in stage prepare", "killed in stage model", "killed in stage tool",
		"killed in the step in which its stage began", "killed at the horizon", "completed at the deadline",
		"completed at the horizon", "a slot freed and taken in one step", "admitted in the step in which the worker became ready",
		"admitted after the signal with the handler off", "admitted by a replacement ready at once",
		"ready at the signal", "failed at the signal", "failed after the signal, handler off", "failed at the deadline",
		"drained while starting", "killed while starting", "ready at the deadline and killed", "exited at the deadline",
		"killed at the signal", "deadline past the horizon", "running at the horizon", "gate passes",
	}
	for _, kind := range sim.Kinds() {
		names = append(names, "event "+kind.String())
	}
	for _, reason := range []sim.Reason{sim.NoReadyWorker, sim.WorkerStarting, sim.WorkerDraining, sim.SlotsFull} {
		names = append(names, "rejected as "+reason.String())
	}
	return names
}

// The document of docs/model.md's "Run as JSON", in its order of names, for
// encoding/json to write: a second encoder beside the package's own.
type (
	document struct {
		Model       int                  `json:"model"`
		Settings    documentSettings     `json:"settings"`
		Account     documentAccount      `json:"account"`
		Gate        documentGate         `json:"gate"`
		Workers     []documentWorker     `json:"workers"`
		Invocations []documentInvocation `json:"invocations"`
		Rejections  []documentRejection  `json:"rejections"`
		Results     []documentResult     `json:"results"`
		Trace       []documentEvent      `json:"trace"`
	}
	documentSettings struct {
		Workers     int         `json:"workers"`
		Slots       int         `json:"slots"`
		Startup     json.Number `json:"startup"`
		Interval    json.Number `json:"interval"`
		Duration    json.Number `json:"duration"`
		Signal      json.Number `json:"signal"`
		Grace       json.Number `json:"grace"`
		Handler     bool        `json:"handler"`
		Replacement bool        `json:"replacement"`
		ReadyOnly   bool        `json:"ready_only"`
		FailInit    bool        `json:"fail_init"`
		Allowance   int         `json:"allowance"`
	}
	documentAccount struct {
		Arrivals        int         `json:"arrivals"`
		Admitted        int         `json:"admitted"`
		Rejected        int         `json:"rejected"`
		Completed       int         `json:"completed"`
		Killed          int         `json:"killed"`
		Running         int         `json:"running"`
		RejectedPercent json.Number `json:"rejected_percent"`
	}
	documentGate struct {
		Verdict string   `json:"verdict"`
		Reasons []string `json:"reasons"`
	}
	documentWorker struct {
		ID          int          `json:"id"`
		Replacement bool         `json:"replacement"`
		BootAt      *json.Number `json:"boot_at"`
		ReadyAt     *json.Number `json:"ready_at"`
		FailedAt    *json.Number `json:"failed_at"`
		SignalAt    *json.Number `json:"signal_at"`
		DrainAt     *json.Number `json:"drain_at"`
		ExitAt      *json.Number `json:"exit_at"`
		State       string       `json:"state"`
	}
	documentInvocation struct {
		Request    int16        `json:"request"`
		Worker     uint8        `json:"worker"`
		Slot       uint8        `json:"slot"`
		AdmittedAt json.Number  `json:"admitted_at"`
		EndedAt    *json.Number `json:"ended_at"`
		Outcome    string       `json:"outcome"`
		Sum        *int         `json:"sum"`
	}
	documentRejection struct {
		Request int16       `json:"request"`
		At      json.Number `json:"at"`
		Reason  string      `json:"reason"`
	}
	documentResult struct {
		Request int16       `json:"request"`
		At      json.Number `json:"at"`
		Numbers [3]int      `json:"numbers"`
		Sum     int         `json:"sum"`
	}
	documentEvent struct {
		Seq     int32       `json:"seq"`
		At      json.Number `json:"at"`
		Kind    string      `json:"kind"`
		Worker  uint8       `json:"worker,omitempty"`
		Request int16       `json:"request,omitempty"`
		Slot    uint8       `json:"slot,omitempty"`
		Stage   string      `json:"stage,omitempty"`
		Reason  string      `json:"reason,omitempty"`
		Sum     int16       `json:"sum,omitempty"`
	}
)

// seconds prints tenths the other way round from the package: through a float.
func seconds(t sim.Time) json.Number {
	return json.Number(strconv.FormatFloat(float64(t)/10, 'f', -1, 64))
}

func secondsOrNull(t sim.Time) *json.Number {
	if t == sim.Never {
		return nil
	}
	n := seconds(t)
	return &n
}

// percent is the rejected share with at most two decimals, rounded half up.
func percent(a sim.Account) string {
	if a.Arrivals == 0 {
		return "0"
	}
	text := big.NewRat(int64(100*a.Rejected), int64(a.Arrivals)).FloatString(2)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

func (r *reference) document() document {
	s, a := r.settings, r.account()
	doc := document{
		Model: 1,
		Settings: documentSettings{
			Workers: s.Workers, Slots: s.Slots, Startup: seconds(s.Startup), Interval: seconds(s.Interval),
			Duration: seconds(s.Duration), Signal: seconds(s.Signal), Grace: seconds(s.Grace), Handler: s.Handler,
			Replacement: s.Replacement, ReadyOnly: s.ReadyOnly, FailInit: s.FailInit, Allowance: s.Allowance,
		},
		Account: documentAccount{
			Arrivals: a.Arrivals, Admitted: a.Admitted, Rejected: a.Rejected,
			Completed: a.Completed, Killed: a.Killed, Running: a.Running, RejectedPercent: json.Number(percent(a)),
		},
		Gate: documentGate{Reasons: []string{}},
		// Lists are [] where empty, never null.
		Workers: []documentWorker{}, Invocations: []documentInvocation{}, Rejections: []documentRejection{},
		Results: []documentResult{}, Trace: []documentEvent{},
	}
	switch r.verdict() {
	case sim.Pending:
		doc.Gate.Verdict = "pending"
	case sim.Pass:
		doc.Gate.Verdict = "pass"
	case sim.Fail:
		doc.Gate.Verdict = "fail"
		if a.Killed > 0 {
			doc.Gate.Reasons = append(doc.Gate.Reasons, fmt.Sprintf("killed %d > 0", a.Killed))
		}
		if a.Running > 0 {
			doc.Gate.Reasons = append(doc.Gate.Reasons, fmt.Sprintf("running %d > 0", a.Running))
		}
		if a.Rejected*100 > s.Allowance*a.Arrivals {
			doc.Gate.Reasons = append(doc.Gate.Reasons, fmt.Sprintf("rejected %s %% > %d %%", percent(a), s.Allowance))
		}
	}
	for _, w := range r.workers {
		doc.Workers = append(doc.Workers, documentWorker{
			ID: w.ID, Replacement: w.Replacement, BootAt: secondsOrNull(w.BootAt), ReadyAt: secondsOrNull(w.ReadyAt),
			FailedAt: secondsOrNull(w.FailedAt), SignalAt: secondsOrNull(w.SignalAt), DrainAt: secondsOrNull(w.DrainAt),
			ExitAt: secondsOrNull(w.ExitAt), State: w.State.String(),
		})
	}
	for _, inv := range r.invocations {
		entry := documentInvocation{
			Request: inv.Request, Worker: inv.Worker, Slot: inv.Slot, AdmittedAt: seconds(inv.AdmittedAt),
			EndedAt: secondsOrNull(inv.EndedAt), Outcome: inv.Outcome.String(),
		}
		if inv.Outcome == sim.Completed {
			sum := int(inv.Request) + 1 + 2
			entry.Sum = &sum
			doc.Results = append(doc.Results, documentResult{
				Request: inv.Request, At: seconds(inv.EndedAt), Numbers: [3]int{int(inv.Request), 1, 2}, Sum: sum,
			})
		}
		doc.Invocations = append(doc.Invocations, entry)
	}
	for _, rej := range r.rejections {
		doc.Rejections = append(doc.Rejections, documentRejection{Request: rej.Request, At: seconds(rej.At), Reason: rej.Reason.String()})
	}
	for _, e := range r.trace {
		doc.Trace = append(doc.Trace, documentEvent{
			Seq: e.Seq, At: seconds(e.At), Kind: e.Kind.String(), Worker: e.Worker, Request: e.Request,
			Slot: e.Slot, Stage: e.Stage.String(), Reason: e.Reason.String(), Sum: e.Sum,
		})
	}
	return doc
}

// compareDocuments holds the JSON, byte for byte, and the CSV to the reference.
func (r *reference) compareDocuments(got sim.Snapshot) error {
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false) // reasons are written with a plain ">"
	if err := enc.Encode(r.document()); err != nil {
		return err
	}
	if err := sameText(string(got.AppendJSON(nil))+"\n", want.String()); err != nil {
		return fmt.Errorf("JSON: %w", err)
	}
	table, err := csv.NewReader(bytes.NewReader(got.AppendCSV(nil))).ReadAll()
	if err != nil {
		return fmt.Errorf("CSV: %w", err)
	}
	return sameTable(table, r.table())
}

// table is one row for each request that has arrived.
func (r *reference) table() [][]string {
	a := r.account()
	rows := make([][]string, a.Arrivals+1)
	rows[0] = []string{"request", "arrived_at", "outcome", "reason", "worker", "slot", "admitted_at", "ended_at", "sum"}
	for _, rej := range r.rejections {
		rows[rej.Request] = []string{
			fmt.Sprint(rej.Request), string(seconds(rej.At)), "rejected", rej.Reason.String(), "", "", "", "", "",
		}
	}
	for _, inv := range r.invocations {
		at := string(seconds(inv.AdmittedAt))
		row := []string{fmt.Sprint(inv.Request), at, inv.Outcome.String(), "", fmt.Sprint(inv.Worker), fmt.Sprint(inv.Slot), at, "", ""}
		if inv.EndedAt != sim.Never {
			row[7] = string(seconds(inv.EndedAt))
		}
		if inv.Outcome == sim.Completed {
			row[8] = fmt.Sprint(inv.Request + 3)
		}
		rows[inv.Request] = row
	}
	return rows
}

func sameTable(got, want [][]string) error {
	if len(got) != len(want) {
		return fmt.Errorf("CSV: %d rows, want %d", len(got), len(want))
	}
	for i := range want {
		if strings.Join(got[i], ",") != strings.Join(want[i], ",") {
			return fmt.Errorf("CSV row %d: got %v, want %v", i, got[i], want[i])
		}
	}
	return nil
}

// sameText tells long texts apart at the first place they differ.
func sameText(got, want string) error {
	if got == want {
		return nil
	}
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	around := func(s string) string { return s[max(i-60, 0):min(i+60, len(s))] }
	return fmt.Errorf("differs at byte %d:\n got …%q…\nwant …%q…", i, around(got), around(want))
}
