package ledgers

import (
	"net/http"
	"strings"
	"testing"

	"drainlab/internal/ledger"
	"drainlab/web/answer"
)

func TestWrongRunSettingsAreRefused(t *testing.T) {
	s, _ := served(t, heldDriller{})
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
	if w := from(s, "1.1.1.1", http.MethodPost, "/api/v1/fixture-runs", strings.Repeat("x", answer.FormLimit+1)); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a large body: %d", w.Code)
	}
	for _, path := range []string{"/api/v1/fixture-runs/none", "/api/v1/fixture-runs/none/record", "/lessons/ledgers/runs/none"} {
		if w := from(s, "1.1.1.1", http.MethodGet, path, ""); w.Code != http.StatusNotFound {
			t.Errorf("%s, an unknown run: %d", path, w.Code)
		}
	}
	if w := from(s, "1.1.1.1", http.MethodGet, "/lessons/ledgers?graceful_timeout=9", ""); w.Code != http.StatusBadRequest {
		t.Errorf("a wrong setting in the page's address: %d", w.Code)
	}
}

func TestARunsRecordIsTheServersOwnAndFoldsIntoTheSameLedgers(t *testing.T) {
	d := &recordedDriller{}
	s, l := served(t, d)
	d.lesson = l
	page := ended(t, s, "step=reference")
	api := strings.Replace(page, "/lessons/ledgers/runs/", "/api/v1/fixture-runs/", 1)
	w := from(s, "1.1.1.1", http.MethodGet, api+"/record", "")
	if w.Header().Get("Content-Type") != "application/x-ndjson" || strings.Contains(w.Body.String(), `"seen"`) {
		t.Errorf("%v %.200s", w.Header(), w.Body)
	}
	events, skipped, err := ledger.Read(w.Body)
	if err != nil || len(skipped) > 0 {
		t.Fatal(err, skipped)
	}
	if got, want := ledger.Fold(events, true).Requests, look(t, s, api).Requests; got != want {
		t.Errorf("the record says %+v, the run %+v", got, want)
	}
}
