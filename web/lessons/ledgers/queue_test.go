package ledgers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"drainlab/internal/fixture"
)

func TestRunsAreBoundedAndQueuedWithTheirPlace(t *testing.T) {
	d := heldDriller{begun: make(chan struct{}, 100), let: make(chan struct{})}
	s, l := served(t, d)
	start := func(address string) *httptest.ResponseRecorder {
		return from(s, address, http.MethodPost, "/api/v1/fixture-runs", `{"blocking_work": 1.5}`)
	}
	// One address may have two runs; the server makes two at once.
	var locations []string
	for i := range 5 {
		w := start(fmt.Sprintf("10.0.0.%d", i/2))
		if w.Code != http.StatusAccepted {
			t.Fatalf("run %d: %d %s", i, w.Code, w.Body)
		}
		locations = append(locations, w.Header().Get("Location"))
	}
	if w := start("10.0.0.0"); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "Your address has 2 runs") {
		t.Errorf("a third run of one address: %d %v %s", w.Code, w.Header(), w.Body)
	}
	<-d.begun
	<-d.begun
	for i, want := range []string{"running 0", "running 0", "queued 1", "queued 2", "queued 3"} {
		run := look(t, s, locations[i])
		if got := fmt.Sprint(run.State, " ", run.Place); got != want || run.Settings.BlockingWork != fixture.Seconds(1500*time.Millisecond) {
			t.Errorf("run %d is %s with %+v, want %s", i, got, run.Settings, want)
		}
	}
	described := schema(t, s, "FixtureRun")
	for _, location := range locations {
		wantValid(t, described, from(s, "1.1.1.1", http.MethodGet, location, "").Body.Bytes())
	}
	reference, err := json.Marshal(l.recorded.run.json())
	if err != nil {
		t.Fatal(err)
	}
	wantValid(t, described, reference)
	if run := look(t, s, locations[0]); run.Requests.Admitted != 1 || run.Requests.Outstanding != 1 {
		t.Errorf("under way it says %+v", run.Requests)
	}
	// As many wait as may.
	for i := range runsWaiting - 3 {
		if w := start(fmt.Sprintf("10.0.1.%d", i)); w.Code != http.StatusAccepted {
			t.Fatalf("waiting run %d: %d %s", i, w.Code, w.Body)
		}
	}
	if w := start("10.0.2.1"); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
		t.Errorf("one too many: %d %s", w.Code, w.Body)
	}
	// When one ends the next begins, and the rest move up.
	d.let <- struct{}{}
	<-d.begun
	if got := look(t, s, locations[2]); got.State != "running" {
		t.Errorf("the first in the queue is %s", got.State)
	}
	if got := look(t, s, locations[4]); got.Place != 2 {
		t.Errorf("the third in the queue is at place %d", got.Place)
	}
	// The page shows the place too, and asks for itself again without script.
	page := from(s, "1.1.1.1", http.MethodGet, strings.Replace(locations[4], "/api/v1/fixture-runs/", "/lessons/ledgers/runs/", 1), "")
	if !strings.Contains(page.Body.String(), "Waiting: place 2 in the queue.") || !strings.Contains(page.Body.String(), `http-equiv="refresh"`) || page.Header().Get("Cache-Control") != "no-store" {
		t.Error("the page does not show the place")
	}
	// Going away starts nothing more and ends what runs.
	s.Drain()
	if w := start("10.0.3.1"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("in the drain a new one: %d", w.Code)
	}
	if err := s.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	clean := 0
	for i := range 5 {
		run := look(t, s, locations[i])
		if run.State != "finished" {
			t.Errorf("after the end run %d is %s", i, run.State)
		}
		if run.Problem == "" {
			clean++
		}
	}
	if clean != 1 { // the one that was let go
		t.Errorf("after the end %d runs have no problem", clean)
	}
	if len(d.begun) != 0 {
		t.Errorf("%d runs were begun in the drain", len(d.begun))
	}
}
