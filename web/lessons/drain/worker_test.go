package drain

import (
	"net/url"
	"testing"
)

// In a session anyone may take away the worker that somebody looks at: that is
// no error of theirs.
func TestAWorkerThatTheseSettingsDoNotBootIsTheFirst(t *testing.T) {
	l := New()
	for _, c := range []struct {
		link   string
		worker int // 0: refused
	}{
		{"", 1}, {"worker=1", 1}, {"worker=2&replacement=1", 2}, {"worker=2", 1}, {"worker=5&workers=4&replacement=1", 5}, {"worker=5", 1},
		{"worker=6&workers=4&replacement=1", 0}, {"worker=0", 0}, {"worker=02&replacement=1", 0}, {"worker=two", 0},
	} {
		values, err := url.ParseQuery(c.link)
		if err != nil {
			t.Fatal(err)
		}
		v, err := parseView(l, values)
		if c.worker == 0 {
			if err == nil {
				t.Errorf("%q opens", c.link)
			}
			continue
		}
		if err != nil || v.worker != c.worker {
			t.Errorf("%q: worker %v, %v; want %d", c.link, v, err, c.worker)
		}
	}
}
