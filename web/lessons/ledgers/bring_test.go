package ledgers

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// bringing posts a record as a form does.
func bringing(t *testing.T, h http.Handler, record string) *httptest.ResponseRecorder {
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
	s, _ := served(t, heldDriller{})
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
		"markup in every field":  {`{"at":1,"kind":"request_admitted","request":"<i>","class":"<img src=x>","detail":"\r\n</ol><script>"}`, 200, "&lt;img src=x&gt;"},
		"twelve thousand events": {many.String(), 200, "rows more are not drawn"},
		"a contradiction":        {`{"at":1,"kind":"request_completed","request":"ghost"}`, 200, "was never admitted"},
		"counts that would wrap": {`{"at":1,"kind":"requests_before_drain","counts":{"admitted":0,"completed":4611686018427387904,"failed":4611686018427387904,"cancelled":4611686018427387904,"outstanding":4611686018427387904}}`, 200, "before the drain"},
		"many heartbeats":        {strings.Repeat(`{"at":1,"kind":"work_heartbeat","work":"w"}`+"\n", 20_000), 200, "events more"},
		"many signals":           {strings.Repeat(`{"at":1,"kind":"signal_received"}`+"\n", 20_000), 200, "events more"},
		"many rejections":        {strings.Repeat(`{"at":1,"kind":"request_rejected"}`+"\n", 20_000), 200, "20000 turned away"},
		"many states":            {strings.Repeat(`{"at":1,"kind":"state_changed","state":"DRAINING"}`+"\n", 20_000), 200, "events more"},
		"over a megabyte":        {strings.Repeat(" ", recordLimit+1), 413, "allowed: 1048576"},
	} {
		w := bringing(t, s, tc.record)
		page := w.Body.String()
		if w.Code != tc.status || !strings.Contains(page, tc.says) {
			t.Errorf("%s: %d, lacks %q: %.300s", name, w.Code, tc.says, page)
		}
		if strings.Contains(page, "<img") || strings.Contains(page, "<i>") || strings.Contains(page, "</ol><script>") || len(page) > 400_000 {
			t.Errorf("%s: the page has %d bytes, or foreign markup", name, len(page))
		}
		for _, m := range regexp.MustCompile(`(?:x|cx|x1|x2|width)="([-0-9.e+]+)%"`).FindAllStringSubmatch(page, -1) {
			if v, err := strconv.ParseFloat(m[1], 64); err != nil || v < 0 || v > 100 {
				t.Errorf("%s: a place at %s %%", name, m[1])
			}
		}
	}
}

func TestABroughtRecordIsShownInPlaceOfTheRun(t *testing.T) {
	s, l := served(t, heldDriller{})
	var lines []byte
	for _, e := range l.recorded.run.record() {
		lines = e.Append(lines)
	}
	w := bringing(t, s, string(lines)+`{"at":9,"kind":"work_fin`) // torn
	page := words(w.Body.String())
	for _, want := range []string{
		"A record that was brought here, events read: 27. Lines that could not be read: line 28: the record ends in the middle of a line.",
		"3 admitted = 1 completed + 2 cancelled", "a record holds no exit code",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "A recorded run of the reference settings") || !strings.Contains(w.Body.String(), `data-panel="record"`) {
		t.Error("the page shows another run, or another tab")
	}
}
