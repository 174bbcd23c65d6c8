package ledgers

import (
	"net/http"
	"strings"
	"testing"
)

func TestASheetAsksAndItsKeyAnswers(t *testing.T) {
	d := &recordedDriller{}
	s, l := served(t, d)
	d.lesson = l
	read := func(path string) string {
		t.Helper()
		w := from(s, "1.1.1.1", http.MethodGet, path, "")
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d", path, w.Code)
		}
		return words(w.Body.String())
	}
	before := read("/lessons/ledgers/handout?stop_token=1")
	for _, answer := range []string{"completed", "cancelled", "unknown", "exit −15", "freeze"} {
		if strings.Contains(before, answer) {
			t.Errorf("the questions say %q", answer)
		}
	}
	key := read("/lessons/ledgers/handout/key?stop_token=1")
	for _, want := range []string{"A recorded run of the reference settings, of 30 November 2026. It is of other settings than those above",
		"✕ cancelled200, but no end marker", "? unknown", "freeze, for incomplete streams: 1, allowed 0; unaccounted work: 1, allowed 0."} {
		if !strings.Contains(key, want) {
			t.Errorf("the key lacks %q: %s", want, key)
		}
	}
	ended(t, s, "step=token")
	if after := read("/lessons/ledgers/handout?stop_token=1"); after != before {
		t.Error("a run changes the questions")
	}
	if key := read("/lessons/ledgers/handout/key?stop_token=1"); !strings.Contains(key, "The last run of these settings on this server") || strings.Contains(key, "other settings") {
		t.Errorf("the key is not of the last run: %s", key)
	}
	if share := from(s, "1.1.1.1", http.MethodGet, "/lessons/ledgers/share?stop_token=1", "").Body.String(); !strings.Contains(share, "/record") {
		t.Error("the record is not offered")
	}
}
