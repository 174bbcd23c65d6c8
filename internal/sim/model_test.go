package sim_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drainlab/internal/sim"
)

var update = flag.Bool("update", false, "write the golden files anew")

// settings reads a query of changes to the opening values.
func settings(t testing.TB, query string) sim.Settings {
	t.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sim.ParseValues(values)
	if err != nil {
		t.Fatalf("settings %q: %v", query, err)
	}
	return s
}

// TestWorkedCases is the table of docs/model.md's "Worked cases", every figure of it.
func TestWorkedCases(t *testing.T) {
	cases := []struct {
		name, change                          string
		admitted, completed, killed, rejected int
		state                                 sim.State
		endedAt                               sim.Time
		more                                  func(t *testing.T, r *sim.Run)
	}{
		{
			name:   "the opening values lose four invocations to a forced stop at the signal",
			change: "", admitted: 7, completed: 3, killed: 4, rejected: 13, state: sim.Killed, endedAt: 300,
			more: func(t *testing.T, r *sim.Run) {
				if got, want := requests(r, sim.KilledInvocation), []int{6, 13, 14, 15}; !slices.Equal(got, want) {
					t.Errorf("killed requests %v, want %v", got, want)
				}
				if first := r.Invocations[0]; first.Request != 3 || first.AdmittedAt != 50 {
					t.Errorf("admitted first: request %d at %v, want request 3 at 5", first.Request, first.AdmittedAt)
				}
				if got := r.Account().RejectedPercent(); got != "65" {
					t.Errorf("rejected %s %%, want 65", got)
				}
				wantVerdict(t, r, sim.Fail, "killed 4 > 0", "rejected 65 % > 20 %")
			},
		},
		{
			name:   "a grace of 10 s saves one of the four",
			change: "grace=10", admitted: 7, completed: 4, killed: 3, rejected: 13, state: sim.Killed, endedAt: 400,
			more: func(t *testing.T, r *sim.Run) {
				if inv := invocation(t, r, 6); inv.Outcome != sim.Completed || inv.EndedAt != 310 {
					t.Errorf("request 6 is %v at %v, want completed at 31", inv.Outcome, inv.EndedAt)
				}
			},
		},
		{
			name:   "a grace of 20 s lets the worker drain and exit by itself",
			change: "grace=20", admitted: 7, completed: 7, killed: 0, rejected: 13, state: sim.Exited, endedAt: 490,
		},
		{
			name:   "without the handler the worker admits after the signal and loses that request",
			change: "grace=20&handler=0", admitted: 8, completed: 7, killed: 1, rejected: 12, state: sim.Killed, endedAt: 500,
			more: func(t *testing.T, r *sim.Run) {
				inv := invocation(t, r, 16)
				if inv.AdmittedAt != 310 || inv.Outcome != sim.KilledInvocation || inv.EndedAt != 500 {
					t.Errorf("request 16 admitted at %v, %v at %v, want admitted at 31, killed at 50", inv.AdmittedAt, inv.Outcome, inv.EndedAt)
				}
				if w := r.Workers[0]; w.SignalAt != 300 || w.DrainAt != sim.Never {
					t.Errorf("signal at %v, drain at %v, want 30 and never", w.SignalAt, w.DrainAt)
				}
			},
		},
		{
			name:   "a replacement takes the requests that arrive once it is ready",
			change: "grace=20&replacement=1", admitted: 10, completed: 10, killed: 0, rejected: 10, state: sim.Exited, endedAt: 490,
			more: func(t *testing.T, r *sim.Run) {
				if w := r.Workers[1]; w.ID != 2 || !w.Replacement || w.BootAt != 300 || w.ReadyAt != 340 {
					t.Errorf("replacement %+v, want worker 2, booted at 30 and ready at 34", w)
				}
				var admitted []int
				for _, inv := range r.Invocations {
					if inv.Worker == 2 {
						admitted = append(admitted, int(inv.Request))
					}
				}
				if want := []int{18, 19, 20}; !slices.Equal(admitted, want) {
					t.Errorf("the replacement admits %v, want %v", admitted, want)
				}
			},
		},
		{
			name:   "short invocations, enough grace and a replacement pass the gate",
			change: "duration=8&grace=10&replacement=1", admitted: 16, completed: 16, killed: 0, rejected: 4, state: sim.Exited, endedAt: 370,
			more: func(t *testing.T, r *sim.Run) {
				if got := r.Account().RejectedPercent(); got != "20" {
					t.Errorf("rejected %s %%, want 20", got)
				}
				wantVerdict(t, r, sim.Pass)
			},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := sim.Simulate(settings(t, c.change))
			want := sim.Account{Arrivals: 20, Admitted: c.admitted, Rejected: c.rejected, Completed: c.completed, Killed: c.killed}
			if got := r.Account(); got != want {
				t.Errorf("account %+v, want %+v", got, want)
			}
			if w := r.Workers[0]; w.State != c.state || w.ExitAt != c.endedAt {
				t.Errorf("worker 1 %v at %v, want %v at %v", w.State, w.ExitAt, c.state, c.endedAt)
			}
			if c.more != nil {
				c.more(t, r)
			}
			// The table was worked out by hand: it holds the reference too.
			if got := tickByTick(r.Settings).account(); got != want {
				t.Errorf("account of the reference %+v, want %+v", got, want)
			}
		})
	}
}

func requests(r *sim.Run, outcome sim.Outcome) []int {
	var ns []int
	for _, inv := range r.Invocations {
		if inv.Outcome == outcome {
			ns = append(ns, int(inv.Request))
		}
	}
	return ns
}

func invocation(t *testing.T, r *sim.Run, request int16) sim.Invocation {
	t.Helper()
	for _, inv := range r.Invocations {
		if inv.Request == request {
			return inv
		}
	}
	t.Fatalf("request %d was not admitted", request)
	return sim.Invocation{}
}

func wantVerdict(t *testing.T, r *sim.Run, verdict sim.Verdict, reasons ...string) {
	t.Helper()
	if got := r.At(sim.Horizon).Gate(); got.Verdict != verdict || !slices.Equal(got.Reasons, reasons) {
		t.Errorf("gate %v %q, want %v %q", got.Verdict, got.Reasons, verdict, reasons)
	}
	// Before the last step the gate is pending, whatever the account says.
	if got := r.At(sim.Horizon - 1).Gate(); got.Verdict != sim.Pending || len(got.Reasons) > 0 {
		t.Errorf("gate at 59.9: %v %q, want pending", got.Verdict, got.Reasons)
	}
}

// TestOrderWithinOneStep holds the rules that decide at a tie, one by one.
func TestOrderWithinOneStep(t *testing.T) {
	cases := []struct {
		name, change string
		at           sim.Time
		want         []string // the events of that step
	}{
		{
			name:   "a completion exactly at the deadline wins over the kill",
			change: "signal=25&grace=0&slots=1", at: 250,
			want: []string{"invocation_completed worker=1 request=3 slot=1 sum=6", "worker_signaled worker=1", "worker_draining worker=1",
				"worker_exited worker=1", "request_rejected request=13 reason=no_ready_worker"},
		},
		{
			name:   "a slot freed serves the request that arrives at the same time",
			change: "slots=1&duration=8", at: 130,
			want: []string{"invocation_completed worker=1 request=3 slot=1 sum=6", "request_admitted worker=1 request=7 slot=1"},
		},
		{
			name:   "a worker that becomes ready serves the request that arrives at the same time",
			change: "startup=5", at: 50,
			want: []string{"worker_ready worker=1", "request_admitted worker=1 request=3 slot=1"},
		},
		{
			name:   "a boot that ends at the signal is told before the signal",
			change: "startup=5&signal=5", at: 50,
			want: []string{"worker_ready worker=1", "worker_signaled worker=1", "worker_draining worker=1", "worker_exited worker=1",
				"request_rejected request=3 reason=no_ready_worker"},
		},
		{
			name:   "a worker that fails at the signal ignores it",
			change: "startup=5&signal=5&fail_init=1&replacement=1", at: 50,
			want: []string{"worker_failed worker=1", "worker_starting worker=2", "request_rejected request=3 reason=no_ready_worker"},
		},
		{
			name:   "a replacement with no startup is ready for the request that arrives at the signal",
			change: "startup=0&signal=1&replacement=1&grace=10", at: 10,
			want: []string{"worker_signaled worker=1", "worker_draining worker=1", "worker_starting worker=2", "worker_ready worker=2",
				"worker_exited worker=1", "request_admitted worker=2 request=1 slot=1"},
		},
		{
			name:   "at 0 all initial workers boot before the first is ready",
			change: "startup=0&workers=2&signal=0&replacement=1&handler=0", at: 0,
			want: []string{"worker_starting worker=1", "worker_starting worker=2", "worker_ready worker=1", "worker_ready worker=2",
				"worker_signaled worker=1", "worker_starting worker=3", "worker_ready worker=3", "worker_killed worker=1"},
		},
		{
			name:   "a forced stop kills in the order of the slots and tells the stage",
			change: "duration=6&signal=11&startup=0&slots=3", at: 110,
			want: []string{"invocation_stage worker=1 request=4 slot=1 stage=tool", "invocation_stage worker=1 request=5 slot=2 stage=model",
				"invocation_completed worker=1 request=3 slot=3 sum=6",
				"worker_signaled worker=1", "worker_draining worker=1", "invocation_killed worker=1 request=4 slot=1 stage=tool",
				"invocation_killed worker=1 request=5 slot=2 stage=model", "worker_killed worker=1",
				"request_rejected request=6 reason=no_ready_worker"},
		},
		{
			name:   "without the handler a worker is killed while it starts, at the deadline",
			change: "handler=0&startup=20&signal=2&grace=4", at: 60,
			want: []string{"worker_killed worker=1"},
		},
		{
			name:   "a boot that ends at the forced stop is ready and then killed",
			change: "handler=0&startup=6&signal=2&grace=4", at: 60,
			want: []string{"worker_ready worker=1", "worker_killed worker=1"},
		},
		{
			name:   "the step at the horizon is the last and does all that is due",
			change: "signal=60&grace=0&duration=40&slots=1&startup=20", at: 600,
			want: []string{"worker_signaled worker=1", "worker_draining worker=1",
				"invocation_killed worker=1 request=11 slot=1 stage=tool", "worker_killed worker=1"},
		},
		{
			name:   "without ready_only a starting worker draws the request and turns it away",
			change: "ready_only=0", at: 10,
			want: []string{"request_rejected worker=1 request=1 reason=worker_starting"},
		},
		{
			name:   "without ready_only a draining worker draws the request as it owns least",
			change: "ready_only=0&workers=2&slots=1&startup=0&signal=2&grace=30&interval=1&duration=30", at: 30,
			// Both own one; at a tie the lowest number is picked.
			want: []string{"request_rejected worker=1 request=3 reason=worker_draining"},
		},
		{
			name:   "a full worker is named with its rejection",
			change: "workers=2&slots=1&startup=0&interval=1", at: 30,
			want: []string{"request_rejected worker=1 request=3 reason=slots_full"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, e := range sim.Simulate(settings(t, c.change)).Trace {
				if e.At == c.at {
					got = append(got, describe(e))
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("at %v:\n got %s\nwant %s", c.at, strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
			}
		})
	}
}

// describe prints an event as the JSON names it, but for seq and at.
func describe(e sim.Event) string {
	b := []byte(e.Kind.String())
	number := func(name string, v int) {
		if v != 0 {
			b = fmt.Appendf(b, " %s=%d", name, v)
		}
	}
	word := func(name, v string) {
		if v != "" {
			b = fmt.Appendf(b, " %s=%s", name, v)
		}
	}
	number("worker", int(e.Worker))
	number("request", int(e.Request))
	number("slot", int(e.Slot))
	word("stage", e.Stage.String())
	word("reason", e.Reason.String())
	number("sum", int(e.Sum))
	return string(b)
}

// Every duration that the API takes: the stages begin at the first tenth with
// 3·elapsed ≥ k·duration, in the trace and in StageAt alike.
func TestStagesOfEveryDuration(t *testing.T) {
	for duration := sim.Time(10); duration <= 400; duration++ {
		s := sim.Opening()
		s.Duration, s.Startup, s.Signal, s.Interval = duration, 0, 600, 100
		begins := map[sim.Stage]sim.Time{}
		for _, e := range sim.Simulate(s).Trace {
			if e.Kind == sim.InvocationStage && e.Request == 1 {
				begins[e.Stage] = e.At - 10
			}
		}
		for elapsed := range duration {
			want := stageOf(elapsed, duration)
			if got := s.StageAt(elapsed); got != want {
				t.Fatalf("duration %v: StageAt(%v) = %v, want %v", duration, elapsed, got, want)
			}
			if before := stageOf(max(elapsed-1, 0), duration); before != want && begins[want] != elapsed {
				t.Fatalf("duration %v: stage %v begins after %v, want %v", duration, want, begins[want], elapsed)
			}
		}
		if ends := sim.StageEnds(duration); ends != [3]sim.Time{begins[sim.ModelCall], begins[sim.Tool], duration} {
			t.Fatalf("duration %v: StageEnds = %v, the trace has %v", duration, ends, begins)
		}
	}
}

func TestTheGateCountsInWholeNumbers(t *testing.T) {
	for _, c := range []struct {
		account   sim.Account
		allowance int
		passes    bool
	}{
		{sim.Account{Arrivals: 20, Admitted: 16, Completed: 16, Rejected: 4}, 20, true},
		{sim.Account{Arrivals: 20, Admitted: 16, Completed: 16, Rejected: 4}, 19, false},
		{sim.Account{Arrivals: 79, Admitted: 72, Completed: 72, Rejected: 7}, 8, false}, // 8.86 %
		{sim.Account{Arrivals: 79, Admitted: 72, Completed: 72, Rejected: 7}, 9, true},
		{sim.Account{Arrivals: 4, Rejected: 4}, 100, true},
		{sim.Account{Arrivals: 4, Admitted: 4, Completed: 4}, 0, true},
		{sim.Account{Arrivals: 4, Admitted: 4, Completed: 3, Killed: 1}, 100, false},
		{sim.Account{Arrivals: 4, Admitted: 4, Completed: 3, Running: 1}, 100, false},
	} {
		if got := c.account.Passes(c.allowance); got != c.passes {
			t.Errorf("%+v with an allowance of %d %% passes: %v, want %v", c.account, c.allowance, got, c.passes)
		}
	}
}

// Every share there can be prints with at most two decimals, rounded half up,
// and one above the allowance never prints as equal to it.
func TestEveryRejectedShare(t *testing.T) {
	if got := (sim.Account{}).RejectedPercent(); got != "0" {
		t.Errorf("no arrivals: %s %%, want 0", got)
	}
	for arrivals := 1; arrivals <= 79; arrivals++ {
		for rejected := range arrivals + 1 {
			a := sim.Account{Arrivals: arrivals, Rejected: rejected}
			got := a.RejectedPercent()
			if got != percent(a) {
				t.Fatalf("%d of %d: %s %%, want %s", rejected, arrivals, got, percent(a))
			}
			if whole := rejected * 100 / arrivals; rejected*100 > whole*arrivals && got == fmt.Sprint(whole) {
				t.Fatalf("%d of %d is above %d %% and prints as %s %%", rejected, arrivals, whole, got)
			}
		}
	}
}

func TestSinceTellsWhenTheStateWasEntered(t *testing.T) {
	for _, c := range []struct {
		change string
		at     sim.Time
		state  sim.State
		since  sim.Time
	}{
		{"", 39, sim.Starting, 0},
		{"", 40, sim.Ready, 40},
		{"grace=20", 400, sim.Draining, 300},
		{"grace=20", 600, sim.Exited, 490},
		{"", 300, sim.Killed, 300},
		{"fail_init=1", 600, sim.Failed, 40},
	} {
		s := settings(t, c.change)
		if w := sim.Simulate(s).At(c.at).Workers[0]; w.State != c.state || w.Since() != c.since {
			t.Errorf("%q at %v: %v since %v, want %v since %v", c.change, c.at, w.State, w.Since(), c.state, c.since)
		}
	}
}

func TestSettingsOutOfRangeCannotRun(t *testing.T) {
	s := sim.Opening()
	s.Allowance = 101 // would do no harm, unlike a ninth slot: the check itself must refuse it
	if s.Validate() == nil {
		t.Error("an allowance of 101 % is valid")
	}
	for name, run := range map[string]func(){
		"Simulate": func() { sim.Simulate(s) },
		"Reset":    func() { sim.Simulate(sim.Opening()).Reset(s) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, "allowance") {
					t.Errorf("%s takes an allowance of 101 %%; it panics with %s", name, got)
				}
			}()
			run()
		}()
	}
}

// Validate knows the ranges of the table, at both ends of each.
func TestValidateKnowsTheRanges(t *testing.T) {
	fields := map[string]func(*sim.Settings, int){
		"workers":   func(s *sim.Settings, v int) { s.Workers = v / 10 },
		"slots":     func(s *sim.Settings, v int) { s.Slots = v / 10 },
		"startup":   func(s *sim.Settings, v int) { s.Startup = sim.Time(v) },
		"interval":  func(s *sim.Settings, v int) { s.Interval = sim.Time(v) },
		"duration":  func(s *sim.Settings, v int) { s.Duration = sim.Time(v) },
		"signal":    func(s *sim.Settings, v int) { s.Signal = sim.Time(v) },
		"grace":     func(s *sim.Settings, v int) { s.Grace = sim.Time(v) },
		"allowance": func(s *sim.Settings, v int) { s.Allowance = v / 10 },
	}
	for name, set := range fields {
		c, ok := sim.FindControl(name)
		if !ok {
			t.Fatalf("no control %q", name)
		}
		for _, v := range []sim.Time{c.Min - c.Grain, c.Min, c.Max, c.Max + c.Grain} {
			s := sim.Opening()
			set(&s, int(v))
			err := s.Validate()
			var refused *sim.SettingError
			switch inside := v == c.Min || v == c.Max; {
			case inside && err != nil:
				t.Errorf("%s %v: %v", name, v, err)
			case !inside && !errors.As(err, &refused):
				t.Errorf("%s %v: %v, want a SettingError", name, v, err)
			case !inside && (refused.Setting != name || refused.Allowed != c.Allowed()):
				t.Errorf("%s %v: %v", name, v, err)
			}
		}
	}
}

// The table of docs/model.md's "Settings".
var settingsTable = []struct {
	label, name   string
	toggle        bool
	min, max      string
	unit, step    string
	grain         string // what a URL may say: a multiple of 0.1 s, a whole count
	opening       string
	openingInJSON string
}{
	{"Initial workers", "workers", false, "1", "4", "", "1", "1", "1", "1"},
	{"Invocation slots per worker", "slots", false, "1", "8", "", "1", "1", "4", "4"},
	{"Startup duration", "startup", false, "0", "20", "s", "0.5", "0.1", "4", "4"},
	{"Request interval", "interval", false, "0.5", "10", "s", "0.5", "0.1", "2", "2"},
	{"Invocation duration", "duration", false, "1", "40", "s", "0.5", "0.1", "20", "20"},
	{"Signal worker 1 at", "signal", false, "0", "60", "s", "0.5", "0.1", "30", "30"},
	{"Grace period", "grace", false, "0", "30", "s", "0.5", "0.1", "0", "0"},
	{"Handle SIGTERM and stop admission", "handler", true, "", "", "", "", "", "1", "true"},
	{"Boot one replacement at signal time", "replacement", true, "", "", "", "", "", "0", "false"},
	{"Route only to ready workers", "ready_only", true, "", "", "", "", "", "1", "true"},
	{"Fail initialization of worker 1", "fail_init", true, "", "", "", "", "", "0", "false"},
	{"Fixture rejection allowance", "allowance", false, "0", "100", "%", "1", "1", "20", "20"},
}

func TestControlsAreTheTableOfTheModel(t *testing.T) {
	controls := sim.Controls()
	if len(controls) != len(settingsTable) {
		t.Fatalf("%d controls, want %d", len(controls), len(settingsTable))
	}
	var query, members []string
	for i, want := range settingsTable {
		c := controls[i]
		if c.Name != want.name || c.Label != want.label || c.Toggle != want.toggle || c.Unit != want.unit {
			t.Errorf("control %d: %q, %q, toggle %v, unit %q, want %+v", i+1, c.Name, c.Label, c.Toggle, c.Unit, want)
		}
		if !c.Toggle && (c.Min.String() != want.min || c.Max.String() != want.max || c.Step.String() != want.step || c.Grain.String() != want.grain) {
			t.Errorf("%s: %v–%v, step %v, grain %v, want %+v", c.Name, c.Min, c.Max, c.Step, c.Grain, want)
		}
		if c.Opening.String() != want.opening || c.Text(sim.Opening()) != want.opening || c.Amount(sim.Opening()) != c.Opening {
			t.Errorf("%s opens with %v (%s), want %s", c.Name, c.Opening, c.Text(sim.Opening()), want.opening)
		}
		if found, ok := sim.FindControl(want.name); !ok || found.Label != want.label {
			t.Errorf("FindControl(%q) finds %q, %v", want.name, found.Label, ok)
		}
		query = append(query, want.name+"="+want.opening)
		members = append(members, `"`+want.name+`":`+want.openingInJSON)
	}
	// The contract's order in a URL and in JSON.
	if got, want := string(sim.Opening().AppendQuery(nil)), strings.Join(query, "&"); got != want {
		t.Errorf("query of the opening values:\n got %s\nwant %s", got, want)
	}
	if got, want := string(sim.Opening().AppendJSON(nil)), "{"+strings.Join(members, ",")+"}"; got != want {
		t.Errorf("JSON of the opening values:\n got %s\nwant %s", got, want)
	}
	if _, ok := sim.FindControl("t"); ok {
		t.Error("the replay's t is no setting of a run")
	}
	// A caller's copy is its own.
	controls[0].Name = "changed"
	if sim.Controls()[0].Name != "workers" {
		t.Error("Controls hands out the package's own table")
	}
}

func TestSettingsLeftOutHaveTheirOpeningValues(t *testing.T) {
	want := sim.Settings{
		Workers: 1, Slots: 4, Startup: 40, Interval: 20, Duration: 200, Signal: 300, Grace: 0,
		Handler: true, Replacement: false, ReadyOnly: true, FailInit: false, Allowance: 20,
	}
	if got := sim.Opening(); got != want {
		t.Errorf("Opening() = %+v, want %+v", got, want)
	}
	if got := settings(t, ""); got != want {
		t.Errorf("the empty query gives %+v", got)
	}
	if got, err := sim.ParseJSON([]byte(" {} \n")); err != nil || got != want {
		t.Errorf("the empty object gives %+v, %v", got, err)
	}
	want.Grace, want.Handler, want.Startup = 105, false, 1
	if got := settings(t, "grace=10.5&handler=0&startup=0.1"); got != want {
		t.Errorf("three settings give %+v, want %+v", got, want)
	}
	if got, err := sim.ParseJSON([]byte(`{"startup":0.1,"grace":10.5,"handler":false}`)); err != nil || got != want {
		t.Errorf("three settings in JSON give %+v, %v, want %+v", got, err, want)
	}
}

// What each control allows, in the words that a refusal must carry.
const (
	allowedWorkers   = "a whole number from 1 to 4"
	allowedSlots     = "a whole number from 1 to 8"
	allowedStartup   = "a plain decimal number from 0 to 20 s in steps of 0.1 s"
	allowedInterval  = "a plain decimal number from 0.5 to 10 s in steps of 0.1 s"
	allowedDuration  = "a plain decimal number from 1 to 40 s in steps of 0.1 s"
	allowedSignal    = "a plain decimal number from 0 to 60 s in steps of 0.1 s"
	allowedGrace     = "a plain decimal number from 0 to 30 s in steps of 0.1 s"
	allowedAllowance = "a whole number from 0 to 100 %"
	allowedToggle    = "1 (on) or 0 (off)"
	allowedBool      = "true or false"
)

func TestAQueryRefuses(t *testing.T) {
	cases := []struct {
		name, query, setting, got, allowed string
	}{
		{"an exponent", "startup=1e1", "startup", `"1e1"`, allowedStartup},
		{"a hexadecimal number", "startup=0x4", "startup", `"0x4"`, allowedStartup},
		{"not-a-number", "startup=NaN", "startup", `"NaN"`, allowedStartup},
		{"infinity", "signal=Inf", "signal", `"Inf"`, allowedSignal},
		{"a negative number", "grace=-1", "grace", `"-1"`, allowedGrace},
		{"negative zero", "grace=-0", "grace", `"-0"`, allowedGrace},
		{"a plus sign", "startup=%2B1", "startup", `"+1"`, allowedStartup},
		{"an empty value", "startup=", "startup", `""`, allowedStartup},
		{"a name alone", "startup", "startup", `""`, allowedStartup},
		{"a leading space", "startup=%204", "startup", `" 4"`, allowedStartup},
		{"a trailing space", "startup=4+", "startup", `"4 "`, allowedStartup},
		{"a line break", "startup=4%0A", "startup", `"4\n"`, allowedStartup},
		{"finer than a tenth", "startup=4.05", "startup", `"4.05"`, allowedStartup},
		{"no digit before the point", "startup=.5", "startup", `".5"`, allowedStartup},
		{"no digit after the point", "startup=5.", "startup", `"5."`, allowedStartup},
		{"a point alone", "startup=.", "startup", `"."`, allowedStartup},
		{"two points", "startup=1.2.3", "startup", `"1.2.3"`, allowedStartup},
		{"a comma", "startup=4,5", "startup", `"4,5"`, allowedStartup},
		{"a digit separator", "signal=1_0", "signal", `"1_0"`, allowedSignal},
		{"a unit", "startup=4s", "startup", `"4s"`, allowedStartup},
		{"digits of another script", "startup=%D9%A4", "startup", `"٤"`, allowedStartup},
		{"a number that overflows", "startup=99999999999999999999", "startup", `"99999999999999999999"`, allowedStartup},
		{"a number that wraps to 4 in 32 bits", "startup=4294967300", "startup", `"4294967300"`, allowedStartup},

		{"no worker", "workers=0", "workers", `"0"`, allowedWorkers},
		{"five workers", "workers=5", "workers", `"5"`, allowedWorkers},
		{"half a worker more", "workers=1.5", "workers", `"1.5"`, allowedWorkers},
		{"no slot", "slots=0", "slots", `"0"`, allowedSlots},
		{"nine slots", "slots=9", "slots", `"9"`, allowedSlots},
		{"a tenth of a slot more", "slots=4.1", "slots", `"4.1"`, allowedSlots},
		{"a startup above 20 s", "startup=20.1", "startup", `"20.1"`, allowedStartup},
		{"an interval below 0.5 s", "interval=0.4", "interval", `"0.4"`, allowedInterval},
		{"an interval above 10 s", "interval=10.1", "interval", `"10.1"`, allowedInterval},
		{"a duration below 1 s", "duration=0.9", "duration", `"0.9"`, allowedDuration},
		{"a duration above 40 s", "duration=40.1", "duration", `"40.1"`, allowedDuration},
		{"a signal after the horizon", "signal=60.1", "signal", `"60.1"`, allowedSignal},
		{"a grace above 30 s", "grace=30.1", "grace", `"30.1"`, allowedGrace},
		{"an allowance above 100 %", "allowance=101", "allowance", `"101"`, allowedAllowance},
		{"an allowance between percents", "allowance=20.5", "allowance", `"20.5"`, allowedAllowance},

		{"true for a toggle", "handler=true", "handler", `"true"`, allowedToggle},
		{"2 for a toggle", "replacement=2", "replacement", `"2"`, allowedToggle},
		{"on for a toggle", "ready_only=on", "ready_only", `"on"`, allowedToggle},
		{"1.0 for a toggle", "fail_init=1.0", "fail_init", `"1.0"`, allowedToggle},
		{"nothing for a toggle", "handler=", "handler", `""`, allowedToggle},

		{"an unknown name", "pods=3", "pods", `"3"`, "no setting of this name; there are workers, slots, startup"},
		{"a name in capitals", "Workers=3", "Workers", `"3"`, "no setting of this name"},
		{"the empty name", "=3", "", `"3"`, "no setting of this name"},
		{"a name given twice", "grace=1&grace=2", "grace", `"1, 2"`, "one value"},
		{"a name given twice with one value", "grace=1&grace=1", "grace", `"1, 1"`, "one value"},

		{"of several faults the first in the contract's order", "zzz=1&grace=x&slots=y", "slots", `"y"`, allowedSlots},
		{"an unknown name after a wrong value", "aaa=1&allowance=x", "allowance", `"x"`, allowedAllowance},
		{"of unknown names the first in the alphabet", "b=1&a=2&c=3", "a", `"2"`, "no setting of this name"},
		{"a long text, cut", "startup=" + strings.Repeat("9", 5000), "startup", `"` + strings.Repeat("9", 80) + `"… (5000 bytes)`, allowedStartup},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			values, err := url.ParseQuery(c.query)
			if err != nil {
				t.Fatal(err)
			}
			s, err := sim.ParseValues(values)
			wantRefusal(t, err, c.setting, c.got, c.allowed)
			if s != sim.Opening() {
				t.Errorf("a refused query changed the settings: %+v", s)
			}
		})
	}
}

func TestAJSONObjectRefuses(t *testing.T) {
	cases := []struct {
		name, text, setting, got, allowed string
	}{
		{"text for a number", `{"startup":"4"}`, "startup", `"the text \"4\""`, allowedStartup},
		{"a number with an exponent", `{"startup":1e1}`, "startup", `"1e1"`, allowedStartup},
		{"a number with a capital exponent", `{"workers":1E0}`, "workers", `"1E0"`, allowedWorkers},
		{"a negative number", `{"grace":-1}`, "grace", `"-1"`, allowedGrace},
		{"negative zero", `{"grace":-0}`, "grace", `"-0"`, allowedGrace},
		{"finer than a tenth", `{"startup":4.05}`, "startup", `"4.05"`, allowedStartup},
		{"out of range", `{"workers":5}`, "workers", `"5"`, allowedWorkers},
		{"half a slot", `{"slots":1.5}`, "slots", `"1.5"`, allowedSlots},
		{"null for a number", `{"startup":null}`, "startup", `"null"`, allowedStartup},
		{"null for a toggle", `{"handler":null}`, "handler", `"null"`, allowedBool},
		{"true for a number", `{"workers":true}`, "workers", `"true"`, allowedWorkers},
		{"1 for a toggle", `{"handler":1}`, "handler", `"1"`, allowedBool},
		{"text for a toggle", `{"handler":"true"}`, "handler", `"the text \"true\""`, allowedBool},
		{"an object for a number", `{"startup":{"s":4}}`, "startup", `"an object or a list"`, allowedStartup},
		{"a list for a number", `{"startup":[4]}`, "startup", `"an object or a list"`, allowedStartup},
		{"a list for a toggle", `{"handler":[]}`, "handler", `"an object or a list"`, allowedBool},
		{"a name twice", `{"grace":1,"grace":2}`, "grace", `"2 a second time"`, "one value"},
		{"a name twice with one value", `{"grace":1,"grace":1}`, "grace", `"1 a second time"`, "one value"},
		{"an unknown name", `{"pods":3}`, "pods", `"3"`, "no setting of this name; there are workers, slots"},
		{"a name in capitals", `{"Workers":3}`, "Workers", `"3"`, "no setting of this name"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := sim.ParseJSON([]byte(c.text))
			wantRefusal(t, err, c.setting, c.got, c.allowed)
		})
	}
}

// wantRefusal wants an error that names the setting, what came and what is allowed.
func wantRefusal(t *testing.T, err error, setting, got, allowed string) {
	t.Helper()
	var refused *sim.SettingError
	if !errors.As(err, &refused) {
		t.Fatalf("error %v, want a SettingError", err)
	}
	if refused.Setting != setting {
		t.Errorf("the error is about %q, want %q", refused.Setting, setting)
	}
	if text := err.Error(); !strings.HasPrefix(text, fmt.Sprintf("%q: got %s; allowed: %s", setting, got, allowed)) {
		t.Errorf("error %s\nwant it to begin %q: got %s; allowed: %s", text, setting, got, allowed)
	}
}

func TestWhatIsNoJSONObjectIsRefused(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"nothing", ""},
		{"white space", " \n"},
		{"a number", "4"},
		{"null", "null"},
		{"a list", "[]"},
		{"a list of settings", `[{"workers":1}]`},
		{"a text", `"workers=1"`},
		{"a word", "workers"},
		{"cut after the brace", "{"},
		{"cut after the name", `{"workers"`},
		{"cut after the colon", `{"workers":`},
		{"cut after the value", `{"workers":1`},
		{"cut after the comma", `{"workers":1,`},
		{"a comma too many", `{"workers":1,}`},
		{"a comma first", `{,"workers":1}`},
		{"no comma", `{"workers":1 "slots":2}`},
		{"no colon", `{"workers" 1}`},
		{"a name without quotes", `{workers:1}`},
		{"single quotes", `{'workers':1}`},
		{"a plus sign", `{"workers":+1}`},
		{"a hexadecimal number", `{"workers":0x1}`},
		{"a leading zero", `{"startup":04}`},
		{"no digit before the point", `{"startup":.5}`},
		{"no digit after the point", `{"startup":5.}`},
		{"not-a-number", `{"startup":NaN}`},
		{"another object after it", `{"workers":1}{"workers":2}`},
		{"a word after it", `{"workers":1} x`},
		{"a brace after it", `{"workers":1}}`},
		{"a bracket for the brace", `{"workers":1]`},
		{"a comment", `{"workers":1} // one`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if s, err := sim.ParseJSON([]byte(c.text)); err == nil || err.Error() == "" {
				t.Errorf("%s is taken as %+v", c.text, s)
			}
		})
	}
}

func TestPlainNumbersAreTaken(t *testing.T) {
	for text, want := range map[string]sim.Time{"0": 0, "4": 40, "4.0": 40, "4.5": 45, "4.50": 45, "0.1": 1, "19.9": 199, "20": 200, "007": 70} {
		if s := settings(t, "startup="+text); s.Startup != want {
			t.Errorf("startup=%s gives %v, want %v", text, s.Startup, want)
		}
	}
}

func TestAChangeKeepsTheRest(t *testing.T) {
	s := settings(t, "workers=3&grace=12.3")
	if err := s.Change(map[string][]string{"handler": {"0"}, "grace": {"7"}}); err != nil {
		t.Fatal(err)
	}
	if want := settings(t, "workers=3&grace=7&handler=0"); s != want {
		t.Errorf("changed to %+v, want %+v", s, want)
	}
	before := s
	if err := s.Change(map[string][]string{"workers": {"1"}, "grace": {"31"}}); err == nil {
		t.Error("a grace of 31 s is taken")
	}
	if s != before {
		t.Errorf("a refused change left %+v, want %+v", s, before)
	}
}

func TestSettingsComeBackFromQueryAndJSON(t *testing.T) {
	t.Logf("seed %d (-seed)", *seed)
	for n := range 5_000 {
		s := uniformSettings(random(n))
		if err := roundTrip(s); err != nil {
			t.Fatalf("seed %d, case %d: %v", *seed, n, err)
		}
	}
}

// roundTrip writes settings as a query and as JSON and reads them again.
func roundTrip(s sim.Settings) error {
	query := string(s.AppendQuery(nil))
	values, err := url.ParseQuery(query)
	if err != nil {
		return err
	}
	if got, err := sim.ParseValues(values); err != nil || got != s {
		return fmt.Errorf("query %s comes back as %+v, %v", query, got, err)
	}
	text := s.AppendJSON(nil)
	if got, err := sim.ParseJSON(text); err != nil || got != s {
		return fmt.Errorf("JSON %s comes back as %+v, %v", text, got, err)
	}
	// Inside other JSON settings keep that form.
	inside, err := json.Marshal([]sim.Settings{s})
	if err != nil || string(inside) != "["+string(text)+"]" {
		return fmt.Errorf("JSON %s stands in a list as %s, %v", text, inside, err)
	}
	var list []sim.Settings
	if err := json.Unmarshal(inside, &list); err != nil || len(list) != 1 || list[0] != s {
		return fmt.Errorf("JSON %s comes back from a list as %+v, %v", inside, list, err)
	}
	// A canonical query says every setting once, in the contract's order.
	var names []string
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		names = append(names, name)
	}
	for i, row := range settingsTable {
		if len(names) != len(settingsTable) || names[i] != row.name {
			return fmt.Errorf("query %s: want %s in place %d of %d", query, row.name, i+1, len(settingsTable))
		}
	}
	return nil
}

func TestTimePrintsInSeconds(t *testing.T) {
	for _, c := range []struct {
		time          sim.Time
		short, always string
	}{
		{0, "0", "0.0"}, {1, "0.1", "0.1"}, {10, "1", "1.0"}, {45, "4.5", "4.5"}, {600, "60", "60.0"}, {-5, "-0.5", "-0.5"},
	} {
		if got := c.time.String(); got != c.short {
			t.Errorf("String of %d tenths is %s, want %s", int(c.time), got, c.short)
		}
		if got := c.time.Fixed(); got != c.always {
			t.Errorf("Fixed of %d tenths is %s, want %s", int(c.time), got, c.always)
		}
	}
	if got := sim.Never.String(); got != "never" {
		t.Errorf("Never prints as %s", got)
	}
}

// The opening run is the page's first picture and the API's example. The file
// holds the exact bytes of the answer: same settings, same bytes.
func TestTheOpeningRunIsAsItWas(t *testing.T) {
	run := sim.Simulate(sim.Opening())
	golden(t, "opening.json", run.At(sim.Horizon).AppendJSON(nil))
	golden(t, "opening_t30.json", run.At(300).AppendJSON(nil))
	golden(t, "opening.csv", run.At(sim.Horizon).AppendCSV(nil))
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := sameText(string(got), string(want)); err != nil {
		t.Errorf("%s (go test -update writes it anew): %v", name, err)
	}
}

// The example of docs/model.md's "Run as JSON" shows the first entry of each
// list. It holds the golden file too, which -update would overwrite.
func TestTheOpeningRunIsTheExampleOfTheModel(t *testing.T) {
	example := []string{
		`{"model": 1, "settings": {"workers": 1, "slots": 4, "startup": 4, "interval": 2, "duration": 20, "signal": 30, "grace": 0,
		 "handler": true, "replacement": false, "ready_only": true, "fail_init": false, "allowance": 20},`,
		`"account": {"arrivals": 20, "admitted": 7, "rejected": 13, "completed": 3, "killed": 4, "running": 0, "rejected_percent": 65},`,
		`"gate": {"verdict": "fail", "reasons": ["killed 4 > 0", "rejected 65 % > 20 %"]},`,
		`"workers": [{"id": 1, "replacement": false, "boot_at": 0, "ready_at": 4, "failed_at": null, "signal_at": 30,
		 "drain_at": 30, "exit_at": 30, "state": "killed"}`,
		`"invocations": [{"request": 3, "worker": 1, "slot": 1, "admitted_at": 5, "ended_at": 25, "outcome": "completed", "sum": 6}`,
		`"rejections": [{"request": 1, "at": 1, "reason": "no_ready_worker"}`,
		`"results": [{"request": 3, "at": 25, "numbers": [3, 1, 2], "sum": 6}`,
		`"trace": [{"seq": 0, "at": 0, "kind": "worker_starting", "worker": 1}`,
	}
	// The example is set with spaces after colons and commas, the answer without.
	compact := strings.NewReplacer(": ", ":", ", ", ",", ",\n\t\t ", ",")
	rest := string(sim.Simulate(sim.Opening()).At(sim.Horizon).AppendJSON(nil))
	for _, part := range example {
		_, after, found := strings.Cut(rest, compact.Replace(part))
		if !found {
			t.Fatalf("not found in its place: %s", compact.Replace(part))
		}
		rest = after
	}
}
