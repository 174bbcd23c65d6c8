package drill_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"drainlab/internal/drill"
	"drainlab/internal/fixture"
	"drainlab/internal/ledger"
)

// harnessVariable makes the test binary run one drill and print its server's
// process id, to be killed in the middle of it.
const harnessVariable = "DRAINLAB_TEST_BE_THE_HARNESS"

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(fixture.EnvSettings) != "":
		os.Exit(fixture.Main(os.Getenv, os.Stdout))
	case os.Getenv(harnessVariable) != "":
		p := plan(fixture.Reference())
		p.Observe = func(e drill.Event) {
			if e.Kind == ledger.WorkStarted {
				fmt.Println("work started")
			}
		}
		drill.Run(context.Background(), p)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func plan(s fixture.Settings) drill.Plan {
	settings, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return drill.Plan{
		Command:        []string{os.Args[0]},
		Env:            []string{fixture.EnvSettings + "=" + string(settings)},
		LedgerVariable: fixture.EnvLedger, StartVariable: fixture.EnvStart, TokenVariable: fixture.EnvToken,
		Token: "secret", EndMarker: fixture.EndMarker, Limit: 60 * time.Second,
		SecondSignal: time.Duration(s.SecondSignal), ClientLeaves: s.ClientLeaves,
	}
}

func runFixture(t *testing.T, change func(*fixture.Settings)) drill.Result {
	t.Helper()
	s := fixture.Reference()
	change(&s)
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	r, err := drill.Run(t.Context(), plan(s))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Report.Requests.Check(); err != nil {
		t.Error(err)
	}
	if len(r.Report.Problems) > 0 || len(r.Skipped) > 0 || r.Exit.Killed || r.Exit.Orphans {
		t.Errorf("problems %v, skipped %v, exit %+v", r.Report.Problems, r.Skipped, r.Exit)
	}
	if r.ReadyAfter != 503 || r.LiveAfter != 200 {
		t.Errorf("after the drain readiness %d, liveness %d", r.ReadyAfter, r.LiveAfter)
	}
	return r
}

func clients(r drill.Result) string {
	var words []string
	for _, c := range r.Clients {
		words = append(words, fmt.Sprintf("%s %d %s", c.Class, c.Status, c.Body))
	}
	return strings.Join(words, ", ")
}

// referenceClients is what the reference run's clients get from a Go server.
const referenceClients = "short 200 complete, stream 200 truncated, block 500 complete, late 503 complete"

func TestTheReferenceRunGivesTheReferenceCategories(t *testing.T) {
	for range 3 {
		r := runFixture(t, func(*fixture.Settings) {})
		if want := (ledger.Requests{Admitted: 3, Completed: 1, Cancelled: 2, Rejected: 1}); r.Report.Requests != want {
			t.Errorf("requests %+v, want %+v", r.Report.Requests, want)
		}
		if want := (ledger.Work{Unknown: 1}); r.Report.Work != want {
			t.Errorf("work %+v, want %+v", r.Report.Work, want)
		}
		if got := clients(r); got != referenceClients {
			t.Errorf("the clients got %s", got)
		}
		if r.Report.CleanupRan != 3 || r.Report.UnfinishedAtCleanup != 1 || r.Exit.Code != -15 || r.Exit.Signal != "SIGTERM" {
			t.Errorf("cleanup ran %d times, %d unfinished, exit %+v", r.Report.CleanupRan, r.Report.UnfinishedAtCleanup, r.Exit)
		}
		// The order, and a heartbeat within the hold and one beat: no fixed number.
		if hold := 200 * time.Millisecond; r.HeartbeatAfter <= 0 || r.HeartbeatAfter > hold+200*time.Millisecond {
			t.Errorf("the heartbeat came %v after the cancel", r.HeartbeatAfter)
		}
	}
}

func TestJoiningTheWorkChangesTheBackendLedgerAlone(t *testing.T) {
	r := runFixture(t, func(s *fixture.Settings) { s.JoinWork, s.BlockingWork = true, fixture.Seconds(2500*time.Millisecond) })
	if got := clients(r); got != referenceClients {
		t.Errorf("the clients got %s", got)
	}
	if want := (ledger.Work{Completed: 1}); r.Report.Work != want || r.Exit.Code != -15 {
		t.Errorf("work %+v, want %+v; exit %+v", r.Report.Work, want, r.Exit)
	}
}

func TestAStopTokenConfirmsThatTheWorkHasStopped(t *testing.T) {
	r := runFixture(t, func(s *fixture.Settings) { s.StopToken, s.StopCheck = true, fixture.Seconds(100*time.Millisecond) })
	if want := (ledger.Work{ConfirmedStopped: 1}); r.Report.Work != want {
		t.Errorf("work %+v, want %+v", r.Report.Work, want)
	}
	if got := clients(r); got != referenceClients {
		t.Errorf("the clients got %s", got)
	}
}

func TestAFailingStoreIsSaid(t *testing.T) {
	r := runFixture(t, func(s *fixture.Settings) { s.StoreFails = true })
	if !r.Report.EvidenceLost {
		t.Error("the loss of evidence is not said")
	}
	if d := (ledger.Policy{IncompleteStreams: 9, UnaccountedWork: 9}).Decide(r.Report); d.Promote {
		t.Error("a release whose evidence is lost was promoted")
	}
}

func TestASecondSignalEndsTheDrainEarly(t *testing.T) {
	r := runFixture(t, func(s *fixture.Settings) {
		s.GracefulTimeout, s.BlockingWork, s.SecondSignal = fixture.Seconds(5*time.Second), fixture.Seconds(8*time.Second), fixture.Seconds(300*time.Millisecond)
	})
	if want := (ledger.Requests{Admitted: 3, Completed: 1, Cancelled: 2, Rejected: 1}); r.Report.Requests != want {
		t.Errorf("requests %+v, want %+v", r.Report.Requests, want)
	}
	signals := 0
	for _, e := range r.Events {
		if e.Kind == ledger.SignalReceived {
			signals++
		}
	}
	if signals != 2 {
		t.Errorf("%d signals are in the record", signals)
	}
}

func TestAClientThatLeavesIsInTheLedgerAndNoFailureOfTheDrain(t *testing.T) {
	r := runFixture(t, func(s *fixture.Settings) {
		s.ClientLeaves, s.GracefulTimeout, s.BlockingWork = true, fixture.Seconds(3*time.Second), fixture.Seconds(time.Second)
	})
	if want := (ledger.Requests{Admitted: 3, Completed: 2, Cancelled: 1, Rejected: 1}); r.Report.Requests != want {
		t.Errorf("requests %+v, want %+v", r.Report.Requests, want)
	}
	if want := (ledger.Work{Completed: 1}); r.Report.Work != want {
		t.Errorf("work %+v, want %+v", r.Report.Work, want)
	}
}

func TestEverythingFinishesWhenThereIsTime(t *testing.T) {
	r := runFixture(t, func(s *fixture.Settings) {
		s.GracefulTimeout, s.BlockingWork, s.StreamChunks = fixture.Seconds(5*time.Second), fixture.Seconds(time.Second), 10
	})
	if want := (ledger.Requests{Admitted: 3, Completed: 3, Rejected: 1}); r.Report.Requests != want {
		t.Errorf("requests %+v, want %+v", r.Report.Requests, want)
	}
	if got := clients(r); got != "short 200 complete, stream 200 complete, block 200 complete, late 503 complete" {
		t.Errorf("the clients got %s", got)
	}
	if d := (ledger.Policy{}).Decide(r.Report); !d.Promote {
		t.Errorf("a clean run was not promoted: %v", d.Reasons)
	}
}

func TestARequestsDeadlineFailsItBeforeTheDrainDoes(t *testing.T) {
	r := runFixture(t, func(s *fixture.Settings) {
		s.RequestDeadline, s.GracefulTimeout = fixture.Seconds(time.Second), fixture.Seconds(5*time.Second)
	})
	if want := (ledger.Requests{Admitted: 3, Completed: 1, Failed: 2, Rejected: 1}); r.Report.Requests != want {
		t.Errorf("requests %+v, want %+v", r.Report.Requests, want)
	}
}

func TestARunOverItsLimitIsKilledAndSaysSo(t *testing.T) {
	s := fixture.Reference()
	s.GracefulTimeout, s.BlockingWork = fixture.Seconds(5*time.Second), fixture.Seconds(8*time.Second)
	p := plan(s)
	p.Limit = 1500 * time.Millisecond
	r, err := drill.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Exit.Killed || r.Exit.Signal != "SIGKILL" || r.Report.Work.Unknown != 1 || r.Report.Requests.Outstanding != 2 {
		t.Errorf("exit %+v, requests %+v, work %+v", r.Exit, r.Report.Requests, r.Report.Work)
	}
}

func TestSettingsAreRefusedWithWhatIsAllowed(t *testing.T) {
	for _, tc := range []struct {
		change func(*fixture.Settings)
		says   string
	}{
		{func(s *fixture.Settings) { s.GracefulTimeout = 0 }, `"graceful_timeout": got "0"; allowed: a plain decimal number from 0.2 to 5 s in steps of 0.1 s`},
		{func(s *fixture.Settings) { s.BlockingWork = fixture.Seconds(9 * time.Second) }, `"blocking_work": got "9"; allowed: a plain decimal number from 0.5 to 8 s in steps of 0.1 s`},
		{func(s *fixture.Settings) { s.SecondSignal = fixture.Seconds(100 * time.Millisecond) }, `"second_signal": got "0.1"; allowed: a plain decimal number from 0.2 to 2 s in steps of 0.1 s, or 0 for none`},
		{func(s *fixture.Settings) { s.StreamChunks = 101 }, `"stream_chunks": got "101"; allowed: a whole number from 1 to 100`},
	} {
		s := fixture.Reference()
		tc.change(&s)
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("got %v, want %s", err, tc.says)
		}
	}
}

// SIGKILL of the harness in the middle of a run leaves no process behind.
func TestNoOrphanIsLeftWhenTheHarnessIsKilled(t *testing.T) {
	harness := exec.Command(os.Args[0])
	harness.Env = append(os.Environ(), harnessVariable+"=1")
	stdout, err := harness.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := harness.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "work started\n" {
		t.Fatalf("the harness says %q, %v", line, err)
	}
	children := childrenOf(t, harness.Process.Pid)
	if len(children) != 1 {
		t.Fatalf("the harness has the children %v", children)
	}
	if err := harness.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	harness.Wait()
	deadline := time.Now().Add(20 * time.Second)
	for alive(children[0]) {
		if time.Now().After(deadline) {
			syscall.Kill(children[0], syscall.SIGKILL)
			t.Fatal("the fixture outlived its harness")
		}
	}
}

func childrenOf(t *testing.T, pid int) []int {
	t.Helper()
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Skip("no procfs: ", err)
	}
	var children []int
	for _, task := range tasks {
		list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		if err != nil {
			t.Skip("no list of children: ", err)
		}
		for _, word := range strings.Fields(string(list)) {
			child, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			children = append(children, child)
		}
	}
	return children
}

// alive reports whether the process is there and not just waiting to be reaped.
func alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}
