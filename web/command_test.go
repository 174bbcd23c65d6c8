package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"drainlab/internal/course"
	"drainlab/internal/session"
	"drainlab/web/answer"
)

func TestBadFormsGetAnErrorAndNeverChangeTheSession(t *testing.T) {
	c := startCourse(t)
	id := c.newSession("drain", "grace=3&t=4")
	before := c.state(id)
	path := "/sessions/" + string(id)
	long := strings.Repeat("x", 60<<10)
	cases := []struct {
		name, body string
		status     int
		says       string
	}{
		{"an empty form", "", 400, `"command": got "nothing"`},
		{"an unknown command", "command=fly", 400, `"command": got "fly"`},
		{"a command twice", "command=play&command=pause", 400, `"command"`},
		{"a setting out of range", "command=set&grace=31", 400, `Grace period: got "31"; allowed: a plain decimal number from 0 to 30 s`},
		{"a setting finer than a tenth", "command=set&grace=1.05", 400, `Grace period: got "1.05"`},
		{"an exponent", "command=set&grace=1e1", 400, `Grace period: got "1e1"`},
		{"an unknown setting", "command=set&gracee=1", 400, `"gracee": got "1"; allowed: no setting of this name`},
		{"a setting twice", "command=set&grace=1&grace=2", 400, `Grace period`},
		{"one good and one bad setting", "command=set&signal=10&grace=31", 400, `Grace period`},
		{"a whole form that lacks nothing but is wrong", "command=apply&workers=9&slots=4&startup=4&interval=2&duration=20&signal=30&grace=0&allowance=20", 400, `Initial workers: got "9"; allowed: a whole number from 1 to 4`},
		{"a whole form that lacks a slider", "command=apply&workers=2", 400, `Invocation slots per worker: got "nothing"`},
		{"play with something beside it", "command=play&x=1", 400, `"x"`},
		{"a time past the end", "t=60.1", 400, `"t": got "60.1"`},
		{"a time that is none", "t=now", 400, `"t": got "now"`},
		{"a time twice", "t=1&t=2", 400, `"t"`},
		{"an unknown speed", "speed=3", 400, `"speed": got "3"; allowed: 0.5, 1, 2, 4 or 8`},
		{"an unknown step", "step=none", 400, `"step"`},
		{"an unknown step by its older name", "experiment=none", 400, `"experiment"`},
		{"open without a query", "command=open", 400, `"query"`},
		{"open with something beside it", "command=open&query=grace%3D1&t=3", 400, `"query"`},
		{"open with a hostile query", "command=open&query=" + url.QueryEscape("grace=<script>&t=\r\n"), 400, ""},
		{"a worker that is not there", "command=own&worker=9", 400, `"worker": got "9"`},
		{"a choice that there is not", "command=own&colour=red", 400, `"colour"`},
		{"a bad escape", "command=%zz", 400, "cannot be read"},
		{"a semicolon", "command=set;grace=1", 400, "cannot be read"},
		{"carriage returns and markup", "command=set&grace=" + url.QueryEscape("\r\n\r\ndata: x<b>\"'"), 400, `\r\n\r\ndata: x<b>`},
		{"60 kB of nonsense", "command=" + long, 400, "(61440 bytes)"},
		{"more than 64 kB", "command=" + long + long, 413, "65536 bytes"},
		{"1 MB of bytes", strings.Repeat("\x00\xff", 512<<10), 413, ""},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c := c.of(t)
			resp, body := c.post(path, tc.body, answer.ClientHeader, "true")
			if resp.StatusCode != tc.status || !strings.Contains(body, tc.says) {
				t.Errorf("got %s %.300s, want %d … %s", resp.Status, body, tc.status, tc.says)
			}
			if len(body) > 2000 {
				t.Errorf("the answer has %d bytes", len(body))
			}
			resp, body = c.post(path, tc.body, "Accept", "text/html")
			if resp.StatusCode != tc.status || !strings.Contains(resp.Header.Get("Content-Type"), "text/html") || strings.Contains(body, "<b>\"") || strings.Contains(body, "<script>&") {
				t.Errorf("as a page: %s %.300s", resp.Status, body)
			}
			resp, body = c.post(path, tc.body, "Accept", "application/json")
			if resp.StatusCode != tc.status || !json.Valid([]byte(body)) {
				t.Errorf("as JSON: %s %.300s", resp.Status, body)
			}
			// The page's own form, without script, gets the same answer.
			for _, page := range []string{"/lessons/drain", "/embed/lessons/drain"} {
				if resp, body := c.post(page, "view=grace%3D3&"+tc.body); resp.StatusCode != tc.status {
					t.Errorf("%s without script: %s %.300s", page, resp.Status, body)
				}
			}
		})
	}
	for name, headers := range map[string][]string{"JSON": {"Content-Type", "application/json"}, "of a file": {"Content-Type", "multipart/form-data; boundary=x"}} {
		if resp, _ := c.post(path, "command=play", headers...); resp.StatusCode != http.StatusUnsupportedMediaType {
			t.Errorf("a form as %s: %s", name, resp.Status)
		}
	}
	if after := c.state(id); after != before {
		t.Errorf("the session has changed: %+v, before %+v", after, before)
	}
}

// Each command leads, without script, to the view that it makes, from the page
// and from its frame.
func TestCommandsWithoutScriptLeadToTheNextView(t *testing.T) {
	c := startToys(t)
	for _, tc := range []struct{ name, lesson, view, form, want string }{
		{"set", "toy", "", "command=set&limit=9", "limit=9"},
		{"set keeps the rest", "toy", "every=2&t=4&speed=2&panel=wide&hide=text&lock=every", "command=set&limit=9", "limit=9&every=2&t=4&speed=2&panel=wide&hide=text&lock=every"},
		{"set back to the opening value", "toy", "limit=9", "command=set&limit=5", ""},
		{"apply", "toy", "t=2", "command=apply&limit=9&every=0.5", "limit=9&every=0.5&t=2"},
		{"the opening settings", "toy", "limit=9&every=2&t=7&panel=settings", "command=baseline", "t=5&panel=settings"},
		{"a step of the guide", "toy", "every=2&t=4", "step=far", "limit=20"},
		{"a step by its older name", "counter", "", "experiment=few", "count=10"},
		{"seek", "toy", "limit=9", "t=4.5", "limit=9&t=4.5"},
		{"seek to the end", "toy", "", "t=5", "t=5"},
		{"a step of time", "toy", "t=4.5", "command=step", "t=5"},
		{"a step back", "toy", "t=0.5", "command=back", ""},
		{"restart", "toy", "t=4", "command=restart", ""},
		{"speed", "toy", "t=1", "speed=0.5", "t=1&speed=0.5"},
		{"another view", "toy", "t=4&panel=wide", "command=open&query=" + url.QueryEscape("limit=7&t=6&speed=4"), "limit=7&t=6&speed=4&panel=wide"},
		{"a choice of one's own", "counter", "count=9", "command=own&guess=8", "count=9&guess=8"},
		{"a choice taken back", "counter", "count=9&guess=8", "command=own&guess=", "count=9"},
		{"a tab", "counter", "t=4", "command=own&panel=log", "t=4&panel=log"},
		{"a guess of another run goes", "counter", "guess=8", "command=set&count=9", "count=9"},
		{"a guess of the same run stays", "counter", "guess=8", "command=step", "guess=8&t=1"},
		{"the end stays the end", "late", "count=9", "command=set&count=10", "count=10"},
		{"the end of a shorter run", "late", "t=50", "command=set&count=10", "count=10"},
		{"the beginning of a run that opens at its end", "late", "", "command=restart", "t=0"},
		{"a step that changes nothing locked", "toy", "lock=every", "step=far", "limit=20&lock=every"},
		{"before the prediction", "counter", "predict=required", "command=own&guess=8", "guess=8&predict=required"},
		{"after the prediction", "counter", "predict=required&guess=8", "t=4", "guess=8&t=4&predict=required"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := c.of(t)
			for _, under := range []string{"", "/embed"} {
				path := under + "/lessons/" + tc.lesson
				resp, body := c.post(path, "view="+url.QueryEscape(tc.view)+"&"+tc.form)
				want := path
				if tc.want != "" {
					want += "?" + tc.want
				}
				if got := resp.Header.Get("Location"); resp.StatusCode != http.StatusSeeOther || got != want && !(under != "" && strings.HasPrefix(got, path)) {
					t.Errorf("%s: %s to %q, want %q; %.300s", path, resp.Status, got, want, body)
				}
				c.page(resp.Header.Get("Location"))
			}
		})
	}
}

func TestCommandsWithoutScriptKeepToWhatTheLinkAllows(t *testing.T) {
	c := startToys(t)
	for _, tc := range []struct{ name, lesson, view, form, says string }{
		{"a locked setting", "toy", "lock=limit", "command=set&limit=9", "this link locks it"},
		{"a locked setting in a whole form", "toy", "lock=limit", "command=apply&limit=9&every=1", "this link locks it"},
		{"the opening settings where something is locked", "toy", "limit=9&lock=limit", "command=baseline", "this link locks it"},
		{"a step that changes what is locked", "toy", "lock=limit", "step=far", "this link locks it"},
		{"a locked setting by a choice of one's own", "toy", "lock=limit", "command=own&limit=9", "no such choice of one's own"},
		{"a locked setting by another view", "toy", "lock=limit", "command=open&query=limit%3D9", "this link locks it"},
		{"play before the prediction", "counter", "predict=required", "command=play", "before the prediction"},
		{"time before the prediction", "counter", "predict=required", "t=4", "before the prediction"},
		{"settings before the prediction", "counter", "predict=required", "command=set&count=4", "before the prediction"},
		{"no view", "toy", "", "command=play", `got "nothing"; allowed: the page's view`},
		{"two views", "toy", "", "view=t%3D1&view=t%3D2&command=play", "one view"},
		{"another lesson's view", "toy", "", "view=count%3D3&command=play", "count"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			form := tc.form
			if tc.view != "" {
				form = "view=" + url.QueryEscape(tc.view) + "&" + form
			}
			resp, body := c.of(t).post("/lessons/"+tc.lesson, form)
			if resp.StatusCode != http.StatusBadRequest || !strings.Contains(words(body), tc.says) {
				t.Errorf("%s to %s; %s, want %s", resp.Status, resp.Header.Get("Location"), words(body), tc.says)
			}
			if back := `href="/lessons/toy?`; strings.Contains(tc.says, "locks") && (!strings.Contains(body, back) || strings.Contains(body, back+"limit=9&amp;lock") && !strings.HasPrefix(tc.view, "limit=9")) {
				t.Errorf("the way back is missing, or past the lock: %s", attribute(t, body, `<a class="button" href="([^"]*)"`))
			}
		})
	}
	resp, _ := c.post("/lessons/toy", "view=lock%3Dlimit&command=apply&limit=5&every=2")
	if got := resp.Header.Get("Location"); got != "/lessons/toy?every=2&lock=limit" {
		t.Errorf("a whole form with the locked setting as it is leads to %q", got)
	}
}

func TestCommandsToASessionChangeItForAllAndKeepEachViewersChoices(t *testing.T) {
	c := startToys(t)
	id := c.newSession("counter", "count=9&t=4")
	path := "/sessions/" + string(id)
	for _, tc := range []struct {
		name, form, location, query string
		t                           float64
		playing                     bool
	}{
		{"set", "command=set&count=10", path, "count=10", 4, false},
		{"set, with a tab open", "view=panel%3Dlog&command=set&count=12", path + "?panel=log", "count=12", 4, false},
		{"a guess of the run stays", "view=count%3D12%26guess%3D8%26panel%3Dlog&command=step", path + "?guess=8&panel=log", "count=12", 5, false},
		{"a guess of another run goes", "view=count%3D12%26guess%3D8&command=set&count=11", path, "count=11", 5, false},
		{"a choice of one's own", "view=panel%3Dlog&command=own&guess=7", path + "?guess=7&panel=log", "count=11", 5, false},
		{"a choice taken back", "view=panel%3Dlog%26guess%3D7&command=own&guess=", path + "?panel=log", "count=11", 5, false},
		{"seek", "t=6", path, "count=11", 6, false},
		{"a step of the guide", "step=far", path, "every=4", 0, false},
		{"play", "command=play", path, "every=4", 0, true},
		{"pause", "command=pause", path, "every=4", 0, false},
		{"the opening settings", "command=baseline", path, "", 0, false},
		{"another view, as the address bar has it", "command=open&query=" + url.QueryEscape("model=3&count=5&t=3&guess=4&panel=log"), path, "count=5", 3, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := c.of(t)
			resp, body := c.post(path, tc.form)
			if got := resp.Header.Get("Location"); resp.StatusCode != http.StatusSeeOther || got != tc.location {
				t.Fatalf("%s to %q, want %q; %s", resp.Status, got, tc.location, words(body))
			}
			s := c.state(id)
			if s.Query != tc.query || int(s.Clock.At)/10 != int(tc.t) || s.Clock.Playing != tc.playing {
				t.Errorf("the session is %+v", s)
			}
			c.page(tc.location)
		})
	}
	for _, form := range []string{"command=own&count=3", "command=own&t=3", "command=own&speed=2", "command=own&lock=all"} {
		if resp, body := c.post(path, form); resp.StatusCode != http.StatusBadRequest || !strings.Contains(body, "the same for all its viewers") {
			t.Errorf("%s: %s to %s", form, resp.Status, resp.Header.Get("Location"))
		}
	}
	for query, says := range map[string]string{"count=3": "the same for all its viewers", "t=1": "the same for all", "hide=text": "the same for all", "predict=required": "the same for all", "guess=x": "guess", "a;b": "cannot be read"} {
		resp, body := c.get(path + "?" + query)
		if resp.StatusCode != http.StatusBadRequest || !strings.Contains(body, says) {
			t.Errorf("?%s: %s %.300s", query, resp.Status, words(body))
		}
		if says != "cannot be read" && !strings.Contains(body, fmt.Sprintf(`href="%s"`, path)) {
			t.Errorf("?%s: no way back to the session", query)
		}
	}
	resp, _ := c.post(path, "command=play", answer.ClientHeader, "true")
	if resp.StatusCode != http.StatusNoContent {
		t.Errorf("the page's script gets %s", resp.Status)
	}
}

func TestASessionIsMadeOfALessonAndAView(t *testing.T) {
	c := startToys(t)
	for form, want := range map[string]session.State{
		"":                            {Lesson: "toy", Clock: session.Clock{End: 50}},
		"lesson=counter":              {Lesson: "counter", Clock: session.Clock{End: 600}},
		"lesson=late":                 {Lesson: "late", Clock: session.Clock{End: 600, At: 600}},
		"lesson=toy&command=together": {Lesson: "toy", Clock: session.Clock{End: 50}},
		"lesson=counter&view=count%3D9%26t%3D4%26guess%3D3%26panel%3Dlog": {Lesson: "counter", Query: "count=9", Clock: session.Clock{End: 180, At: 40}},
	} {
		resp, _ := c.post("/sessions", form)
		id, err := session.ParseID(strings.TrimPrefix(resp.Header.Get("Location"), "/sessions/"))
		if resp.StatusCode != http.StatusSeeOther || err != nil {
			t.Errorf("%s: %s", form, resp.Status)
			continue
		}
		s := c.state(id)
		if s.Lesson != want.Lesson || s.Query != want.Query || s.Clock.End != want.Clock.End || s.Clock.At != want.Clock.At || s.Clock.Playing || s.Clock.Speed != course.Single {
			t.Errorf("%s makes %+v", form, s)
		}
	}
	for form, says := range map[string]string{
		"lesson=none":               "one of toy counter late",
		"lesson=toy&lesson=late":    "lesson",
		"lesson=toy&x=1":            "nothing beside it",
		"lesson=toy&command=play":   "nothing beside it",
		"lesson=toy&view=count%3D9": "count",
		"view=t%3D1&view=t%3D2":     "one view",
	} {
		if resp, body := c.post("/sessions", form); resp.StatusCode != http.StatusBadRequest || !strings.Contains(body, says) {
			t.Errorf("%s: %s %.300s", form, resp.Status, words(body))
		}
	}
}
