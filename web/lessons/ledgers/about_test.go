package ledgers

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"drainlab/internal/fixture"
)

// The prose of the lesson quotes the recorded run, which is of the reference
// run's categories.
func TestTheProseQuotesTheRecordedRun(t *testing.T) {
	s, l := served(t, heldDriller{})
	for _, row := range compare(*l.recorded.run.Result) {
		if !row.Matches {
			t.Errorf("the recorded run differs from the reference: %+v", row)
		}
	}
	if l.recorded.run.Settings != fixture.Reference() {
		t.Errorf("the recorded run is of %+v", l.recorded.run.Settings)
	}
	r := l.recorded.run.Result
	if r.Report.IncompleteStreams != 1 || r.Report.Work.Unknown != 1 || r.HeartbeatAfter <= 0 || r.HeartbeatAfter > 400*time.Millisecond {
		t.Errorf("the recorded run: %+v, heartbeat after %v", r.Report, r.HeartbeatAfter)
	}
	page := words(from(s, "1.1.1.1", http.MethodGet, "/lessons/ledgers", "").Body.String())
	if want := "A recorded run of the reference settings, of 30 November 2026."; !strings.Contains(page, want) {
		t.Errorf("the page lacks %q", want)
	}
	prose := words(from(s, "1.1.1.1", http.MethodGet, "/lessons/ledgers/about", "").Body.String())
	for _, want := range []string{
		"recorded on 30 November 2026",
		"3 requests were admitted, 1 completed, 2 were cancelled at the graceful timeout and 1 was rejected at the gate",
		"1 piece of work was still going when the process cleaned up",
		fmt.Sprintf("a sign of life %.2f s after its waiter had been cancelled, during a cleanup of 0.2 s", r.HeartbeatAfter.Seconds()),
		"a short one of 0.2 s; a stream that sends a chunk every 0.1 s and ends with a marker",
		"A Go server answers the blocking request with a status of its own, 500",
		"What comes after it closed gets 503 with Retry-After, before any work.",
	} {
		if !strings.Contains(prose, want) {
			t.Errorf("the prose lacks %q", want)
		}
	}
}
