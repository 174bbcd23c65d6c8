package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A link that asks for a prediction takes none along, opens at 0, and the
// dialog keeps the time for when the demand is taken back.
func TestASharedDemandForAPredictionTakesNoneAlong(t *testing.T) {
	server := newServer(t, nil)
	share := func(query string) string {
		r := httptest.NewRequest(http.MethodGet, "/lessons/drain/share?"+query, nil)
		r.Header.Set(clientHeader, "true")
		w := httptest.NewRecorder()
		server.ServeHTTP(timeless{w}, r)
		if w.Code != http.StatusOK {
			t.Fatalf("%s answers %d: %.200s", query, w.Code, w.Body)
		}
		return w.Body.String()
	}
	link := func(page string) string {
		_, rest, _ := strings.Cut(page, `id="share-link" readonly value="`)
		value, _, _ := strings.Cut(rest, `"`)
		return value
	}
	page := share("t=30&at=1&p.completed=3&p.killed=4&predict=required")
	if got := link(page); strings.Contains(got, "p.") || !strings.Contains(got, "&amp;t=0&amp;") || !strings.HasSuffix(got, "predict=required") {
		t.Errorf("the link is %s", got)
	}
	if !strings.Contains(page, `name="t" value="30"`) {
		t.Error("the form has lost the time")
	}
	if got := link(share("t=30&at=1&p.completed=3")); !strings.Contains(got, "&amp;t=30&amp;") || !strings.Contains(got, "p.completed=3") {
		t.Errorf("without the demand the link is %s", got)
	}
}
