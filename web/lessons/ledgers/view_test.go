package ledgers

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"drainlab/internal/course"
	"drainlab/internal/fixture"
	"drainlab/internal/setting"
	"drainlab/web/answer"
)

const someRun = "0123456789abcdef0123456789abcdef"

func lesson(t testing.TB) *Lesson {
	t.Helper()
	_, l := served(t, heldDriller{})
	return l
}

func opened(t testing.TB, l *Lesson, query string) view {
	t.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	v, err := l.open(values)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

func TestAViewsQueryHoldsWhatIsNotAtItsOpeningValue(t *testing.T) {
	l := lesson(t)
	for query, want := range map[string]string{
		"":                                  "",
		"graceful_timeout=1&stop_token=0":   "",
		"stop_token=1&graceful_timeout=0.5": "graceful_timeout=0.5&stop_token=1",
		"run=" + someRun + "&join_work=1":   "join_work=1&run=" + someRun,
		"run=" + someRun:                    "run=" + someRun,
	} {
		if got := opened(t, l, query).Query(); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	for range 500 {
		v := view{lesson: l, settings: randomSettings(random)}
		if random.IntN(2) == 1 {
			v.run = someRun
		}
		if again := opened(t, l, v.Query()); again != v {
			t.Fatalf("seed %d: %s opens as %s", seed, v.Query(), again.Query())
		}
	}
}

func randomSettings(random *rand.Rand) fixture.Settings {
	s := fixture.Reference()
	table := fixture.Table()
	for i := range table {
		c := &table[i]
		stops := c.Stops()
		c.Set(&s, stops[random.IntN(len(stops))])
	}
	return s
}

func TestOtherSettingsAreTheNextRunsAndLeaveTheOneThatIsShown(t *testing.T) {
	l := lesson(t)
	v := opened(t, l, "stop_token=1&run="+someRun)
	next, err := v.Change(url.Values{"stop_token": {"0"}, "cleanup_hold": {"0.5"}})
	if err != nil || next.Query() != "cleanup_hold=0.5&run="+someRun || next.Shared() != "cleanup_hold=0.5" || next.Text("cleanup_hold") != "0.5" || next.Text("nothing") != "" {
		t.Errorf("%v %q %q", err, next.Query(), next.Shared())
	}
	for _, wrong := range []url.Values{{"cleanup_hold": {"9"}}, {"run": {someRun}}, {"speed": {"1"}}} {
		var refused *setting.Error
		if _, err := v.Change(wrong); !errors.As(err, &refused) {
			t.Errorf("%v: %v", wrong, err)
		}
	}
	for _, wrong := range []string{"none", strings.ToUpper(someRun), someRun[1:], someRun + "00", ""} {
		var refused *setting.Error
		if _, err := l.Open(url.Values{"run": {wrong}}); !errors.As(err, &refused) || refused.Setting != "run" {
			t.Errorf("run %q: %v", wrong, err)
		}
	}
}

func TestALinkToARunThatIsNotKeptSaysSo(t *testing.T) {
	s, _ := served(t, heldDriller{})
	page := words(from(s, "1.1.1.1", http.MethodGet, "/lessons/ledgers?run="+someRun, "").Body.String())
	if !strings.Contains(page, "The run of this link is not kept any more. This is the recorded run of the reference settings, of 30 November 2026.") {
		t.Error("it does not say so")
	}
}

func TestARunIsStartedByAFormAndShownOnThePageOfItsSettings(t *testing.T) {
	d := &recordedDriller{}
	s, l := served(t, d)
	d.lesson = l
	const whole = "form=whole&graceful_timeout=1&blocking_work=2&stream_chunks=100&stop_check=0.2&cleanup_hold=0.2&second_signal=0&request_deadline=0"
	for form, want := range map[string]struct{ settings, at string }{
		"":                      {"", ""},
		"step=join":             {"join_work=1", ""},
		"blocking_work=2":       {"blocking_work=2", ""},
		whole + "&stop_token=1": {"blocking_work=2&stop_token=1", ""},
		"view=join_work%3D1%26panel%3Devidence&" + whole:                                           {"blocking_work=2", "?panel=evidence"},
		"view=join_work%3D1%26blocking_work%3D3&cleanup_hold=0":                                    {"blocking_work=3&cleanup_hold=0&join_work=1", ""},
		"view=blocking_work%3D3%26lock%3Dblocking_work&" + whole:                                   {"blocking_work=3", "?lock=blocking_work"},
		"view=blocking_work%3D3%26lock%3Dblocking_work%26run%3D" + someRun + "&step=client":        {"graceful_timeout=3&blocking_work=3&client_leaves=1", "?lock=blocking_work"},
		"view=model%3D1%26stop_token%3D1%26hide%3Dtext&step=store&form=whole&graceful_timeout=0.5": {"store_fails=1", "?hide=text"},
	} {
		page := ended(t, s, form)
		path, at, _ := strings.Cut(page, "?")
		if at != strings.TrimPrefix(want.at, "?") {
			t.Errorf("%s leads to %s", form, page)
		}
		run, _, err := l.runs.look(strings.TrimPrefix(path, "/lessons/ledgers/runs/"))
		if err != nil || settingsQuery(run.Settings) != want.settings {
			t.Errorf("%s: %v, a run of %q, want %q", form, err, settingsQuery(run.Settings), want.settings)
		}
		own := from(s, "1.1.1.1", http.MethodGet, page, "")
		if own.Code != http.StatusOK || strings.Contains(own.Body.String(), "http-equiv") || !strings.Contains(own.Body.String(), "A real server did this on ") {
			t.Errorf("%s: the run's page: %d", form, own.Code)
		}
		// The link of that page's tabs and share name the run.
		if !strings.Contains(own.Body.String(), "run="+run.ID) {
			t.Errorf("%s: the page does not name its run", form)
		}
		latest := from(s, "1.1.1.1", http.MethodGet, "/lessons/ledgers?"+want.settings, "").Body.String()
		if !strings.Contains(latest, "The last run of these settings on this server, of ") {
			t.Errorf("%s: the lesson's page does not show the last run", form)
		}
	}
	for form, says := range map[string]string{
		"step=nothing": "one of the guided steps", "blocking_work=9": "from 0.5 to 8 s", "speed=1": "no setting of this name", "view=blocking_work%3D9": "from 0.5 to 8 s",
		"view=a%3Bb": "cannot be read", "view=&view=": "one value",
	} {
		if w := from(s, "1.1.1.1", http.MethodPost, "/lessons/ledgers/runs", form); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), says) {
			t.Errorf("%s: %d %.200s", form, w.Code, words(w.Body.String()))
		}
	}
}

func TestThePagesScriptIsToldTheRunAndItsView(t *testing.T) {
	d := &recordedDriller{}
	s, l := served(t, d)
	d.lesson = l
	r := httptest.NewRequest(http.MethodPost, "/lessons/ledgers/runs", strings.NewReader("step=token&view=panel%3Drecord"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set(answer.ClientHeader, "true")
	w := httptest.NewRecorder()
	s.ServeHTTP(timeless{w}, r)
	var told begun
	if err := json.Unmarshal(w.Body.Bytes(), &told); err != nil || w.Code != http.StatusAccepted || told.Query != "stop_token=1&run="+told.Run+"&panel=record" {
		t.Errorf("%d %v %s", w.Code, err, w.Body)
	}
}

func TestAFrameStartsNoRun(t *testing.T) {
	s, _ := served(t, heldDriller{})
	page := from(s, "1.1.1.1", http.MethodGet, "/lessons/ledgers?panel=record", "").Body.String()
	frame := from(s, "1.1.1.1", http.MethodGet, "/embed/lessons/ledgers?panel=record", "").Body.String()
	for _, id := range []string{`id="start"`, `id="bring-record"`} {
		if !strings.Contains(page, id) || strings.Contains(frame, id) {
			t.Errorf("%s is on the page: %v, in the frame: %v", id, strings.Contains(page, id), strings.Contains(frame, id))
		}
	}
	if !strings.Contains(frame, `id="run-note"`) || !strings.Contains(frame, `id="strip"`) {
		t.Error("the frame lacks the run")
	}
	foreign := httptest.NewRequest(http.MethodPost, "/lessons/ledgers/runs", strings.NewReader(""))
	foreign.Header.Set("Sec-Fetch-Site", "cross-site")
	w := httptest.NewRecorder()
	s.ServeHTTP(timeless{w}, foreign)
	if w.Code != http.StatusForbidden {
		t.Errorf("a page of another origin starts a run: %d", w.Code)
	}
}

func TestAStepIsShownByARunOfItsSettingsAlone(t *testing.T) {
	l := lesson(t)
	if bits := opened(t, l, "").show().Shown(0); bits != 0 {
		t.Errorf("the recorded run shows %b", bits)
	}
	own := shown{lesson: l, run: l.recorded.run, source: fromHere}
	if bits := own.Shown(0); bits != 1 {
		t.Errorf("a run of the reference settings shows %b", bits)
	}
	own.run.Settings.StopToken = true // and yet its work is unknown
	if bits := own.Shown(0); bits != 0 {
		t.Errorf("a run whose work did not stop shows %b", bits)
	}
	for i, s := range l.Steps() {
		if got := opened(t, l, s.Query).settings; got != steps()[i].settings {
			t.Errorf("step %s opens %+v", s.ID, got)
		}
	}
}

func TestAFigureIsOfAWholeRun(t *testing.T) {
	l := lesson(t)
	running := shown{lesson: l, run: fixtureRun{ID: someRun, State: runRunning}, source: fromHere}
	recorded := opened(t, l, "").show()
	if running.Figure(0).Key != recorded.Figure(0).Key || running.Figure(0).Alt != recorded.Figure(0).Alt {
		t.Errorf("a run under way is drawn as %q", running.Figure(0).Key)
	}
	mine := shown{lesson: l, run: l.recorded.run, source: fromHere}
	mine.run.ID = someRun
	if mine.Figure(0).Key == recorded.Figure(0).Key {
		t.Error("two runs share a picture")
	}
}

func TestLockedSettingsCannotBeChanged(t *testing.T) {
	l := lesson(t)
	link, err := course.ParseLink(l, url.Values{"lock": {"stop_token"}, "stop_token": {"1"}})
	if err != nil {
		t.Fatal(err)
	}
	set := buildSettings(link, link.View.(view))
	locked := 0
	for _, g := range set.Groups {
		for _, c := range g.Controls {
			if c.Locked {
				locked++
			}
		}
	}
	if locked != 1 || !set.Locked {
		t.Errorf("%d controls are locked", locked)
	}
}

func TestTheStartSaysWhatTheNextRunHasThatTheShownOneHasNot(t *testing.T) {
	l := lesson(t)
	for query, want := range map[string]string{
		"": "", "stop_token=1": "cooperative stop token on", "stop_check=0.5&second_signal=0.5": "checked every 0.5 s, second signal after (0: none) 0.5 s",
		"graceful_timeout=2&stop_token=1&join_work=1&cleanup_hold=0": "graceful timeout 2 s, cooperative stop token on, 2 more",
	} {
		v := opened(t, l, query)
		if got := v.show().start(v).Changed; got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}
