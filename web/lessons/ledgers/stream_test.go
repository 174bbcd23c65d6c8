package ledgers

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"drainlab/internal/fixture"
	"drainlab/web/wire"
)

// partIDs are the ids of the parts that a stream's events bring, in order.
func partIDs(stream string) []string {
	var list []string
	for _, event := range strings.Split(stream, "\n\n") {
		for _, m := range regexp.MustCompile(`(?m)^data: elements <div id="([a-z-]+)"|(?:</div>)<div id="(strip|timeline|run-status|steps|evidence|record)"`).FindAllStringSubmatch(event, -1) {
			list = append(list, m[1]+m[2])
		}
	}
	return list
}

func TestAStreamSendsWhatHasChangedAndEndsWithTheRun(t *testing.T) {
	d := heldDriller{begun: make(chan struct{}, 9), let: make(chan struct{})}
	s, _ := served(t, d)
	location := from(s, "1.1.1.1", http.MethodPost, "/api/v1/fixture-runs", "").Header().Get("Location")
	<-d.begun
	done := make(chan string)
	go func() {
		done <- from(s, "1.1.1.1", http.MethodGet, strings.Replace(location, "/api/v1/fixture-runs/", "/lessons/ledgers/runs/", 1)+"/stream", "").Body.String()
	}()
	d.let <- struct{}{}
	stream := <-done
	if !strings.HasSuffix(strings.TrimSpace(stream), `data: signals {"finished":true}`) {
		t.Errorf("it ends %q", stream[max(0, len(stream)-200):])
	}
	for _, id := range []string{"strip", "timeline", "run-status", "steps", "evidence", "record"} {
		if !strings.Contains(stream, `id="`+id+`"`) {
			t.Errorf("the stream lacks the part %s", id)
		}
	}
	// A run that is over is told once, each part once.
	again := from(s, "1.1.1.1", http.MethodGet, strings.Replace(location, "/api/v1/fixture-runs/", "/lessons/ledgers/runs/", 1)+"/stream", "").Body.String()
	if got := strings.Join(partIDs(again), " "); got != "strip timeline run-status steps evidence record" {
		t.Errorf("it brings %q", got)
	}
	if lost := from(s, "1.1.1.1", http.MethodGet, "/lessons/ledgers/runs/none/stream", "").Body.String(); !strings.Contains(lost, `{"lost":true}`) {
		t.Errorf("of an unknown run: %q", lost)
	}
	if head := from(s, "1.1.1.1", http.MethodHead, "/lessons/ledgers/runs/none/stream", ""); head.Code != http.StatusMethodNotAllowed {
		t.Errorf("HEAD: %d", head.Code)
	}
}

func TestPartsThatHaveNotChangedAreNotSentAgain(t *testing.T) {
	l := lesson(t)
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	out := wire.Open(timeless{w}, r, &wire.Packer{})
	h := handlers{lesson: l}
	sent := map[string]string{}
	run := fixtureRun{ID: someRun, State: runRunning, Settings: fixture.Reference(), Events: l.recorded.run.Events[:8]}
	send := func() string {
		w.Body.Reset()
		if !h.sendParts(r, out, shown{lesson: l, run: run, source: fromHere}, sent) {
			t.Fatal("the viewer is gone")
		}
		return strings.Join(partIDs(w.Body.String()), " ")
	}
	if got := send(); got != "strip timeline run-status steps evidence record" {
		t.Errorf("first it brings %q", got)
	}
	if got := send(); got != "run-status" { // the least that there is
		t.Errorf("without news it brings %q", got)
	}
	run.Events = l.recorded.run.Events[:9] // the short request is admitted
	if got := send(); got != "strip timeline evidence record" {
		t.Errorf("after one event it brings %q", got)
	}
}
