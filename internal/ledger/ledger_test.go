package ledger_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"drainlab/internal/ledger"
)

// reference is the record of the published fixture's run in kind: three
// admitted, one rejected, one waiter cancelled whose work goes on.
const reference = `{"seq":1,"at":0.1,"kind":"state_changed","state":"RUNNING"}
{"seq":2,"at":1,"kind":"request_admitted","request":"1","class":"short"}
{"seq":3,"at":1,"kind":"request_admitted","request":"2","class":"stream","stream":true}
{"seq":4,"at":1,"kind":"request_admitted","request":"3","class":"block"}
{"seq":5,"at":1.001,"kind":"work_registered","work":"w1","request":"3","class":"block"}
{"seq":6,"at":1.01,"kind":"work_started","work":"w1","request":"3","class":"block"}
{"seq":7,"at":1.2,"kind":"request_completed","request":"1","class":"short"}
{"seq":8,"at":1.21,"kind":"work_heartbeat","work":"w1"}
{"seq":9,"at":1.3,"kind":"state_changed","state":"QUIESCING"}
{"seq":10,"at":1.31,"kind":"request_rejected","class":"late"}
{"seq":11,"at":1.4,"kind":"signal_received","detail":"terminated"}
{"seq":12,"at":2.4,"kind":"waiter_cancelled","work":"w1"}
{"seq":13,"at":2.401,"kind":"request_cancelled","request":"2","class":"stream"}
{"seq":14,"at":2.402,"kind":"request_cancelled","request":"3","class":"block"}
{"seq":15,"at":2.45,"kind":"cleanup_ran"}
{"seq":16,"at":2.59,"kind":"work_heartbeat","work":"w1"}
{"seq":17,"at":2.65,"kind":"process_ended"}
`

func read(t *testing.T, record string) ([]ledger.Event, []error) {
	t.Helper()
	events, skipped, err := ledger.Read(strings.NewReader(record))
	if err != nil {
		t.Fatal(err)
	}
	return events, skipped
}

func TestTheReferenceRecordFoldsIntoTwoLedgers(t *testing.T) {
	events, skipped := read(t, reference)
	if len(skipped) > 0 {
		t.Fatal(skipped)
	}
	check := func(r ledger.Report) {
		t.Helper()
		if want := (ledger.Requests{Admitted: 3, Completed: 1, Cancelled: 2, Rejected: 1}); r.Requests != want {
			t.Errorf("requests %+v, want %+v", r.Requests, want)
		}
		if want := (ledger.Work{Unknown: 1}); r.Work != want {
			t.Errorf("work %+v, want %+v", r.Work, want)
		}
		if r.IncompleteStreams != 1 || r.CleanupRan != 1 || r.UnfinishedAtCleanup != 1 || r.OldestOutstanding != 0 || len(r.Problems) > 0 {
			t.Errorf("report %+v", r)
		}
		if gap, ok := r.WorkEntries[0].HeartbeatAfterCancel(); !ok || gap != 190*time.Millisecond {
			t.Errorf("the heartbeat came %v after the cancel, %v", gap, ok)
		}
		if err := r.Requests.Check(); err != nil {
			t.Error(err)
		}
	}
	check(ledger.Fold(events, false)) // the record says itself that the process ended
	// In any order.
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		rng.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
		check(ledger.Fold(events, false))
	}
}

// kinds is a record of events of these kinds, one each tenth of a second, all
// of one piece of work; a word in capitals is a state that is entered.
func kinds(words string) []ledger.Event {
	var events []ledger.Event
	for i, word := range strings.Fields(words) {
		e := ledger.Event{At: ledger.Seconds(i * 1e8), Kind: ledger.Kind(word), Work: "w"}
		if word == strings.ToUpper(word) {
			e.Kind, e.State = ledger.StateChanged, word
		}
		events = append(events, e)
	}
	return events
}

func TestWorkEndsAsItsEvidenceSays(t *testing.T) {
	for _, tc := range []struct {
		name   string
		events string // kinds, one each tenth of a second
		ended  bool
		want   ledger.WorkOutcome
	}{
		{"registered only", "work_registered", true, ledger.NotStarted},
		{"started, the process alive", "work_started", false, ledger.Running},
		{"started, the process gone", "work_started", true, ledger.Unknown},
		{"finished", "work_started work_heartbeat work_finished", true, ledger.WorkCompleted},
		{"finished after its waiter had gone", "work_started waiter_cancelled work_finished", true, ledger.WorkCompleted},
		{"asked to stop, no answer", "work_started stop_requested", true, ledger.Unknown},
		{"asked to stop, acknowledged", "work_started stop_requested stop_acknowledged", true, ledger.ConfirmedStopped},
		{"a heartbeat and no start seen", "work_heartbeat", true, ledger.Unknown},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := ledger.Fold(kinds(tc.events), tc.ended).WorkEntries[0].Outcome; got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestAReportSaysWhatTheRecordSaysOfItself(t *testing.T) {
	for _, tc := range []struct {
		name, events string
		lost, ended  bool
	}{
		{"a record that says nothing of the kind", "signal_received cleanup_ran", false, false},
		{"evidence was lost", "evidence_lost", true, false},
		{"the process ended", "process_ended", false, true},
		{"evidence was lost, and the process ended", "evidence_lost process_ended", true, true},
	} {
		if r := ledger.Fold(kinds(tc.events), false); r.EvidenceLost != tc.lost || r.Ended != tc.ended {
			t.Errorf("%s: evidence lost %v, ended %v", tc.name, r.EvidenceLost, r.Ended)
		}
	}
}

func TestUnfinishedWorkIsCountedWhenTheProcessComesToCleanUp(t *testing.T) {
	for _, tc := range []struct {
		name, events string
		want         ledger.WorkCount
	}{
		{"at its cleanup, where there is no such state", "work_started cleanup_ran work_finished", 1},
		{"at the last cleanup", "work_started cleanup_ran work_finished cleanup_ran", 0},
		{"as the state is entered, whatever the cleanup waits for", "work_started RECORDING work_finished cleanup_ran", 1},
		{"as the state is entered first", "work_started RECORDING work_finished RECORDING", 1},
		{"in no other state", "work_started DRAINING work_finished RECORDING", 0},
	} {
		if r := ledger.Fold(kinds(tc.events), true); r.UnfinishedAtCleanup != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, r.UnfinishedAtCleanup, tc.want)
		}
	}
}

func TestARecordCutInTheMiddleIsUsedUpToThere(t *testing.T) {
	cut := reference[:strings.LastIndex(reference, `"process_ended"`)]
	events, skipped := read(t, cut)
	if len(events) != 16 || len(skipped) != 1 || !strings.Contains(skipped[0].Error(), "line 17: the record ends in the middle of a line") {
		t.Fatalf("%d events, skipped %v", len(events), skipped)
	}
	// Without the last line nobody says that the process is gone.
	if r := ledger.Fold(events, false); r.Work.Running != 1 || r.Work.Unknown != 0 {
		t.Errorf("work %+v", r.Work)
	}
	if r := ledger.Fold(events, true); r.Work.Unknown != 1 {
		t.Errorf("work of a process known to be gone %+v", r.Work)
	}
	// Every prefix of a record is a record, or none yet.
	for n := range len(reference) {
		events, _, err := ledger.Read(strings.NewReader(reference[:n]))
		if err != nil && !errors.Is(err, ledger.ErrEmpty) {
			t.Fatalf("after %d bytes: %v", n, err)
		}
		if err := ledger.Fold(events, true).Requests.Check(); err != nil {
			t.Fatalf("after %d bytes: %v", n, err)
		}
	}
}

func TestBadLinesAreToldAndTheRestIsUsed(t *testing.T) {
	record := "\n" + `{"at":1,"kind":"request_admitted","request":"1"}` + "\r\nnonsense\n" + `{"at":1,"kind":"flew"}` + "\n" +
		`{"at":"soon","kind":"cleanup_ran"}` + "\n" + strings.Repeat("x", 100<<10) + "\n" + `{"at":2,"kind":"request_completed","request":"1"}`
	events, skipped := read(t, record)
	if len(events) != 2 || len(skipped) != 4 {
		t.Fatalf("%d events, skipped %v", len(events), skipped)
	}
	for i, part := range []string{"line 3: not an event", `line 4: not an event: unknown kind "flew"`, "line 5: not an event", "line 6: longer than 65536 bytes"} {
		if !strings.HasPrefix(skipped[i].Error(), part) {
			t.Errorf("skipped %q, want %q", skipped[i], part)
		}
	}
	if r := ledger.Fold(events, true); r.Requests != (ledger.Requests{Admitted: 1, Completed: 1}) {
		t.Errorf("requests %+v", r.Requests)
	}
	if _, _, err := ledger.Read(strings.NewReader("")); !errors.Is(err, ledger.ErrEmpty) {
		t.Errorf("an empty record: %v", err)
	}
	if _, _, err := ledger.Read(iotest.ErrReader(errors.New("gone"))); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("a reader that fails: %v", err)
	}
}

func TestContradictionsAreProblemsAndFreezeARelease(t *testing.T) {
	events, _ := read(t, `{"at":1,"kind":"request_admitted","request":"1"}
{"at":2,"kind":"request_completed","request":"1"}
{"at":3,"kind":"request_cancelled","request":"1"}
{"at":3,"kind":"request_completed","request":"2"}
{"at":3,"kind":"request_admitted","request":"1"}
{"at":4,"kind":"work_finished","work":"w"}
{"at":5,"kind":"work_heartbeat","work":"w"}
{"at":6,"kind":"requests_before_drain","counts":{"admitted":3,"completed":1}}
`)
	r := ledger.Fold(events, true)
	want := []string{`request "1" is completed and cancelled`, `request "2" is completed and was never admitted`,
		`request "1" was admitted twice`, `work "w" is completed, and then work_heartbeat`, "before the drain: request ledger: admitted 3 is not"}
	if len(r.Problems) != len(want) {
		t.Fatalf("problems %q", r.Problems)
	}
	for i := range want {
		if !strings.HasPrefix(r.Problems[i], want[i]) {
			t.Errorf("problem %q, want %q", r.Problems[i], want[i])
		}
	}
	if d := (ledger.Policy{}).Decide(r); d.Promote || len(d.Reasons) != len(want) {
		t.Errorf("decision %+v", d)
	}
}

func TestAPolicyPromotesAtItsLimitsAndFreezesPastThem(t *testing.T) {
	policy := ledger.Policy{IncompleteStreams: 1, OutstandingAge: 2 * time.Second, UnaccountedWork: 1}
	for _, tc := range []struct {
		name   string
		report ledger.Report
		reason string
	}{
		{"nothing", ledger.Report{}, ""},
		{"at every limit", ledger.Report{IncompleteStreams: 1, OldestOutstanding: 2 * time.Second, Work: ledger.Work{Unknown: 1}}, ""},
		{"one stream more", ledger.Report{IncompleteStreams: 2}, "incomplete streams: 2, allowed 1"},
		{"older", ledger.Report{OldestOutstanding: 3 * time.Second}, "the oldest outstanding request is 3s old, allowed 2s"},
		{"running and unknown together", ledger.Report{Work: ledger.Work{Running: 1, Unknown: 1}}, "unaccounted work: 2, allowed 1"},
		{"stopped work is accounted for", ledger.Report{Work: ledger.Work{ConfirmedStopped: 9, Completed: 9, NotStarted: 9}}, ""},
		{"evidence lost", ledger.Report{EvidenceLost: true}, "evidence was lost"},
	} {
		d := policy.Decide(tc.report)
		if d.Promote != (tc.reason == "") || tc.reason != strings.Join(d.Reasons, "; ") {
			t.Errorf("%s: %+v, want %q", tc.name, d, tc.reason)
		}
	}
}

func TestTheRequestsOfBeforeTheDrainAreCountedWithTheRest(t *testing.T) {
	events, _ := read(t, `{"at":9,"kind":"requests_before_drain","counts":{"admitted":10,"completed":8,"failed":1,"cancelled":1}}
{"at":1,"kind":"request_admitted","request":"11","stream":true}
{"at":10,"kind":"request_rejected"}
{"at":12,"kind":"state_changed","state":"RECORDING"}
`)
	r := ledger.Fold(events, true)
	if want := (ledger.Requests{Admitted: 11, Completed: 8, Failed: 1, Cancelled: 1, Outstanding: 1, Rejected: 1}); r.Requests != want {
		t.Errorf("requests %+v, want %+v", r.Requests, want)
	}
	if r.OldestOutstanding != 11*time.Second || r.IncompleteStreams != 1 {
		t.Errorf("oldest %v, incomplete streams %d", r.OldestOutstanding, r.IncompleteStreams)
	}
}

func TestARecorderCountsWithoutGapsUnderManyWriters(t *testing.T) {
	r := ledger.NewRecorder(time.Now)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			for j := range 20 {
				r.Record(ledger.Event{Kind: ledger.RequestAdmitted, Request: fmt.Sprintf("%d-%d", i, j)})
			}
		})
	}
	wg.Wait()
	events := r.Since(0)
	if len(events) != 1000 || len(r.Since(990)) != 10 || r.Since(1000) != nil {
		t.Fatalf("%d events", len(events))
	}
	var record []byte
	for i, e := range events {
		if e.Seq != uint64(i+1) || i > 0 && e.At < events[i-1].At {
			t.Fatalf("event %d is %+v after %+v", i, e, events[max(0, i-1)])
		}
		record = e.Append(record)
	}
	again, skipped, err := ledger.Read(bytes.NewReader(record))
	if err != nil || len(skipped) > 0 || len(again) != 1000 || again[999].Request != events[999].Request {
		t.Errorf("read back: %d events, %v, %v", len(again), skipped, err)
	}
}

func FuzzRecord(f *testing.F) {
	f.Add([]byte(reference))
	f.Add([]byte(`{"at":1e300,"kind":"work_started","work":"\u0000"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		events, _, err := ledger.Read(bytes.NewReader(data))
		if err != nil && !errors.Is(err, ledger.ErrEmpty) {
			t.Fatal(err)
		}
		r := ledger.Fold(events, true)
		if err := r.Requests.Check(); err != nil {
			t.Fatal(err)
		}
		if got := r.Work.NotStarted + r.Work.Running + r.Work.ConfirmedStopped + r.Work.Completed + r.Work.Unknown; int(got) != len(r.WorkEntries) || r.Work.Running != 0 {
			t.Fatalf("%d entries of work, ledger %+v", len(r.WorkEntries), r.Work)
		}
	})
}
