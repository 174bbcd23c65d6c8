package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"drainlab/internal/drill"
	"drainlab/internal/fixture"
	"drainlab/internal/ledger"
)

// heldDriller makes runs that last until they are let go.
type heldDriller struct {
	begun chan struct{}
	let   chan struct{}
}

func (d heldDriller) Drill(ctx context.Context, _ fixture.Settings, observe func(drill.Event)) (drill.Result, error) {
	e := drill.Event{Event: ledger.Event{Seq: 1, Kind: ledger.RequestAdmitted, Request: "1", Class: "short"}}
	observe(e)
	d.begun <- struct{}{}
	select {
	case <-d.let:
		return drill.Result{Report: ledger.Fold([]ledger.Event{e.Event}, true), Events: []drill.Event{e}}, nil
	case <-ctx.Done():
		return drill.Result{}, ctx.Err()
	}
}

// from sends a request as if it came from this address.
func from(h http.Handler, address, method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.RemoteAddr = address + ":1"
	w := httptest.NewRecorder()
	h.ServeHTTP(timeless{w}, r)
	return w
}

// timeless is a recorder to which deadlines may be set, as to a connection.
type timeless struct{ *httptest.ResponseRecorder }

func (timeless) SetReadDeadline(time.Time) error  { return nil }
func (timeless) SetWriteDeadline(time.Time) error { return nil }

func TestRunsAreBoundedAndQueuedWithTheirPlace(t *testing.T) {
	d := heldDriller{begun: make(chan struct{}, 100), let: make(chan struct{})}
	s, err := New(noSessions{}, noSessions{}, d, Site{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	start := func(address string) *httptest.ResponseRecorder {
		return from(s, address, http.MethodPost, "/api/v1/fixture-runs", `{"blocking_work": 1.5}`)
	}
	look := func(location string) (run struct {
		State    string
		Place    int
		Problem  string
		Settings fixture.Settings
		Requests ledger.Requests
	}) {
		t.Helper()
		w := from(s, "1.1.1.1", http.MethodGet, location, "")
		if err := json.Unmarshal(w.Body.Bytes(), &run); w.Code != http.StatusOK || err != nil {
			t.Fatalf("%d %s: %v", w.Code, w.Body, err)
		}
		return run
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
		run := look(locations[i])
		if got := fmt.Sprint(run.State, " ", run.Place); got != want || run.Settings.BlockingWork != fixture.Seconds(1500*time.Millisecond) {
			t.Errorf("run %d is %s with %+v, want %s", i, got, run.Settings, want)
		}
	}
	schema := compileSchemas(t)["FixtureRun"]
	for _, location := range locations {
		wantValid(t, schema, from(s, "1.1.1.1", http.MethodGet, location, "").Body.Bytes())
	}
	recorded, err := json.Marshal(s.recorded.json())
	if err != nil {
		t.Fatal(err)
	}
	wantValid(t, schema, recorded)
	if run := look(locations[0]); run.Requests.Admitted != 1 || run.Requests.Outstanding != 1 {
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
	if got := look(locations[2]); got.State != "running" {
		t.Errorf("the first in the queue is %s", got.State)
	}
	if got := look(locations[4]); got.Place != 2 {
		t.Errorf("the third in the queue is at place %d", got.Place)
	}
	// The page shows the place too.
	if page := from(s, "1.1.1.1", http.MethodGet, strings.Replace(locations[4], "/api/v1/fixture-runs/", "/lessons/ledgers/runs/", 1), ""); !strings.Contains(page.Body.String(), "Waiting: place 2 in the queue.") {
		t.Error("the page does not show the place")
	}
	// Going away starts nothing more and ends what runs.
	s.Drain()
	if err := s.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	clean := 0
	for i := range 5 {
		run := look(locations[i])
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
	if w := start("10.0.3.1"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("after the end a new one: %d", w.Code)
	}
}

func TestWrongRunSettingsAreRefused(t *testing.T) {
	s, err := New(noSessions{}, noSessions{}, heldDriller{}, Site{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for body, says := range map[string]string{
		`{"blocking_work": 9}`:                   `\"blocking_work\": got \"9\"; allowed: a plain decimal number from 0.5 to 8 s in steps of 0.1 s`,
		`{"blocking_work": 1.55}`:                `got \"1.55\"`,
		`{"blocking_work": 1e0}`:                 `got \"1e0\"`,
		`{"blocking_work": "1"}`:                 `got \"the text \\\"1\\\"\"; allowed: a plain decimal number`,
		`{"stop_token": 1}`:                      `allowed: true or false`,
		`{"second_signal": 0.1}`:                 `or 0 for none`,
		`{"speed": 1}`:                           `no setting of this name`,
		`{"stop_check": 0.2, "stop_check": 0.3}`: `one value`,
		`[]`:                                     `not a JSON object`,
		`{} {}`:                                  `more than one`,
		`{"stop_check"`:                          `ends too early`,
		`{"blocking_work": {"a": "` + "\\u0000" + `"}}`: `blocking_work`,
	} {
		if w := from(s, "1.1.1.1", http.MethodPost, "/api/v1/fixture-runs", body); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), says) {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	if w := from(s, "1.1.1.1", http.MethodPost, "/api/v1/fixture-runs", strings.Repeat("x", formLimit+1)); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a large body: %d", w.Code)
	}
	if w := from(s, "1.1.1.1", http.MethodGet, "/api/v1/fixture-runs/none", ""); w.Code != http.StatusNotFound {
		t.Errorf("an unknown run: %d", w.Code)
	}
	if w := from(s, "1.1.1.1", http.MethodGet, "/lessons/ledgers?graceful_timeout=9", ""); w.Code != http.StatusBadRequest {
		t.Errorf("a wrong setting in the page's address: %d", w.Code)
	}
}

// The prose of lesson 2 quotes the recorded run, which is of the reference
// run's categories.
func TestTheLedgersProseQuotesTheRecordedRun(t *testing.T) {
	s, err := New(noSessions{}, noSessions{}, heldDriller{}, Site{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range buildReport(*s.recorded.Result) {
		if !row.Matches {
			t.Errorf("the recorded run differs from the reference: %+v", row)
		}
	}
	if s.recorded.Settings != fixture.Reference() {
		t.Errorf("the recorded run is of %+v", s.recorded.Settings)
	}
	r := s.recorded.Result
	if r.Report.IncompleteStreams != 1 || r.Report.Work.Unknown != 1 || r.HeartbeatAfter <= 0 || r.HeartbeatAfter > 400*time.Millisecond {
		t.Errorf("the recorded run: %+v, heartbeat after %v", r.Report, r.HeartbeatAfter)
	}
	page := from(s, "1.1.1.1", http.MethodGet, "/lessons/ledgers", "").Body.String()
	text := regexp.MustCompile(`\s+`).ReplaceAllString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, ""), " ")
	for _, want := range []string{
		"A recorded run of the reference settings, of 30 November 2026.",
		"3 requests were admitted, 1 completed, 2 were cancelled at the graceful timeout and 1 was rejected at the gate",
		"1 piece of work was still going when the process cleaned up",
		fmt.Sprintf("a sign of life %.2f s after its waiter had been cancelled, during a cleanup of 0.2 s", r.HeartbeatAfter.Seconds()),
		"a short one of 0.2 s; a stream that sends a chunk every 0.1 s and ends with a marker",
		"A Go server answers the blocking request with a status of its own, 500",
		"What comes after it closed gets 503 with Retry-After, before any work.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the prose lacks %q", want)
		}
	}
}

// brought posts a record as a form does.
func brought(t *testing.T, h http.Handler, record string) *httptest.ResponseRecorder {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	if err := form.WriteField("record", record); err != nil {
		t.Fatal(err)
	}
	form.Close()
	r := httptest.NewRequest(http.MethodPost, "/lessons/ledgers/record", &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	w := httptest.NewRecorder()
	h.ServeHTTP(timeless{w}, r)
	return w
}

func TestWhateverRecordIsBroughtIsDrawnOrRefused(t *testing.T) {
	s, err := New(noSessions{}, noSessions{}, heldDriller{}, Site{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	many := strings.Builder{}
	for i := range 12_000 {
		fmt.Fprintf(&many, `{"at":%d,"kind":"request_admitted","request":"%d"}`+"\n", i, i)
	}
	for name, tc := range map[string]struct {
		record string
		status int
		says   string
	}{
		"empty":                  {"", 400, "holds no event"},
		"nonsense":               {"\x00\xff<script>", 400, "holds no event"},
		"one event":              {`{"at":1,"kind":"cleanup_ran"}`, 200, "events read: 1."},
		"only work":              {`{"at":-5,"kind":"work_started","work":"<script>"}` + "\r\n" + `{"at":9,"kind":"work_heartbeat","work":"<script>"}`, 200, "? unknown"},
		"times at both ends":     {`{"at":-315000000,"kind":"request_admitted","request":"1"}` + "\n" + `{"at":315000000,"kind":"request_completed","request":"1"}`, 200, "completed"},
		"markup in every field":  {`{"at":1,"kind":"request_admitted","request":"<b>","class":"<img src=x>","detail":"\r\n</ol><script>"}`, 200, "&lt;img src=x&gt;"},
		"twelve thousand events": {many.String(), 200, "rows more are not drawn"},
		"a contradiction":        {`{"at":1,"kind":"request_completed","request":"ghost"}`, 200, "was never admitted"},
		"counts that would wrap": {`{"at":1,"kind":"requests_before_drain","counts":{"admitted":0,"completed":4611686018427387904,"failed":4611686018427387904,"cancelled":4611686018427387904,"outstanding":4611686018427387904}}`, 200, "before the drain"},
		"many heartbeats":        {strings.Repeat(`{"at":1,"kind":"work_heartbeat","work":"w"}`+"\n", 20_000), 200, "events more"},
		"many signals":           {strings.Repeat(`{"at":1,"kind":"signal_received"}`+"\n", 20_000), 200, "events more"},
		"over a megabyte":        {strings.Repeat(" ", recordLimit+1), 413, "allowed: 1048576"},
	} {
		w := brought(t, s, tc.record)
		page := w.Body.String()
		if w.Code != tc.status || !strings.Contains(page, tc.says) {
			t.Errorf("%s: %d, lacks %q: %.300s", name, w.Code, tc.says, page)
		}
		if strings.Contains(page, "<img") || strings.Contains(page, "<b>") || len(page) > 400_000 {
			t.Errorf("%s: the page has %d bytes, or foreign markup", name, len(page))
		}
		for _, m := range regexp.MustCompile(`(?:x|x1|x2|width)="([-0-9.e+]+)%"`).FindAllStringSubmatch(page, -1) {
			if v, err := strconv.ParseFloat(m[1], 64); err != nil || v < 0 || v > 100 {
				t.Errorf("%s: a place at %s %%", name, m[1])
			}
		}
	}
}
