package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"drainlab/internal/course"
	"drainlab/internal/session"
	"drainlab/web/answer"
	"drainlab/web/lessons/drain"
	"drainlab/web/wire"
)

func TestPiecesMakeOneValidGzipStream(t *testing.T) {
	c := startToys(t)
	id := c.newSession("toy", "limit=20&t=5")
	plainResp, _ := c.openStream("/sessions/" + string(id) + "/stream")
	zippedResp, _ := c.openStream("/sessions/"+string(id)+"/stream", "Accept-Encoding", "gzip")
	if plainResp.Header.Get("Content-Encoding") != "" || zippedResp.Header.Get("Content-Encoding") != "gzip" {
		t.Fatal("the encodings are wrong")
	}
	var raw bytes.Buffer
	unzipped, err := gzip.NewReader(io.TeeReader(zippedResp.Body, &raw))
	if err != nil {
		t.Fatal(err)
	}
	plain, zipped := readEvents(plainResp.Body), readEvents(unzipped)
	// Each event comes out as soon as it has come in, without an end of the stream.
	until(t, zipped, func(k clock) bool { return k.T == 5 })
	until(t, plain, func(k clock) bool { return k.T == 5 })
	for i := 1; i < 20; i++ {
		c.post("/sessions/"+string(id), fmt.Sprintf("command=set&limit=%d", i), answer.ClientHeader, "true")
	}
	const want = "limit=19"
	if got := c.state(id).Query; got != want {
		t.Fatalf("the session shows %q", got)
	}
	fromZip := until(t, zipped, func(k clock) bool { return k.Query == want })
	fromPlain := until(t, plain, func(k clock) bool { return k.Query == want })
	if a, b := lastOf(fromZip, "controls"), lastOf(fromPlain, "controls"); a != b || !strings.Contains(a, `value="19"`) {
		t.Errorf("the viewers got different fragments:\n%.200s\n%.200s", a, b)
	}
	// At the drain the stream ends as gzip wants it, after a last event.
	c.server.Drain()
	var end []sentEvent
	for ev := range zipped {
		end = append(end, ev)
	}
	if len(end) == 0 || !strings.Contains(end[len(end)-1].data, `"reconnect":true`) {
		t.Errorf("the last events are %v", end)
	}
	gunzip := exec.Command("gzip", "-dc")
	gunzip.Stdin = &raw
	out, err := gunzip.Output()
	if err != nil || !bytes.Contains(out, []byte(`"reconnect":true`)) {
		t.Errorf("gzip -dc: %v, %d bytes", err, len(out))
	}
}

func TestALateViewerGetsTheWholePictureAtOnce(t *testing.T) {
	c := startCourse(t)
	for _, l := range c.server.lessons.All() {
		a := l.About()
		if !a.Sessions {
			continue
		}
		link := course.OpenLink(l)
		end := link.View.Run().End()
		id := c.newSession(a.ID, "t="+end.String())
		for range 2 {
			resp, _ := c.openStream("/sessions/" + string(id) + "/stream")
			events := until(t, readEvents(resp.Body), func(k clock) bool { return k.T == float64(end)/10 && k.End == k.T && !k.Playing })
			parts := []string{"transport"}
			for _, p := range link.View.Run().Live(course.Frame{T: end, Until: end}) {
				parts = append(parts, p.ID)
			}
			for _, part := range parts {
				got := lastOf(events, part)
				first, _, _ := strings.Cut(got, ">")
				if !strings.HasPrefix(got, "elements <") || !strings.Contains(first, `id="`+part+`"`) {
					t.Errorf("%s: the first frame lacks %s", a.ID, part)
				}
			}
		}
	}
}

// The id, and the view with each viewer's choices, come before any part: the
// page's commands go to that session.
func TestAStreamSaysItsSessionFirst(t *testing.T) {
	c := startToys(t)
	resp, _ := c.openStream("/lessons/toy/stream?limit=7&t=3&speed=4")
	first := <-readEvents(resp.Body)
	id, _, _ := strings.Cut(strings.TrimPrefix(first.data, `signals {"session":"`), `"`)
	parsed, err := session.ParseID(id)
	if err != nil {
		t.Fatalf("the first event is %q", first)
	}
	if s := c.state(parsed); s.Lesson != "toy" || s.Query != "limit=7" || s.Clock.At != 30 || s.Clock.Speed != course.Four || s.Clock.Playing || s.Clock.End != 70 {
		t.Errorf("the session is %+v", s)
	}
	if resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("the stream's headers are %v", resp.Header)
	}
}

func TestALostSessionIsMadeAgainUnderItsIDFromTheViewersView(t *testing.T) {
	c := startToys(t)
	id := session.NewID()
	resp, body := c.get("/sessions/" + string(id) + "/stream")
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("without a view: %s %s", resp.Status, body)
	}
	resp, body = c.get("/sessions/" + string(id) + "/stream?lesson=counter&limit=7")
	if resp.StatusCode != http.StatusBadRequest || !strings.Contains(body, "limit") {
		t.Errorf("from another lesson's view: %s %.300s", resp.Status, body)
	}
	stream, _ := c.openStream("/sessions/" + string(id) + "/stream?lesson=counter&every=7.5&t=12&speed=2&playing=1")
	until(t, readEvents(stream.Body), func(k clock) bool { return k.T >= 12 && k.Playing && k.End == 225 })
	if s := c.state(id); s.Lesson != "counter" || s.Query != "every=7.5" || s.Clock.Speed != course.Double {
		t.Errorf("made again as %+v", s)
	}
	// Where it is there, what a viewer had last does not change it.
	other, _ := c.openStream("/sessions/" + string(id) + "/stream?lesson=counter&every=3&t=1&playing=0")
	until(t, readEvents(other.Body), func(k clock) bool { return k.Query == "every=7.5" })
}

// Two lessons' sessions live side by side, each by its own rules.
func TestSessionsOfDifferentLessonsDoNotMix(t *testing.T) {
	c := startToys(t)
	first, second := c.newSession("toy", ""), c.newSession("late", "")
	c.post("/sessions/"+string(first), "command=set&limit=9")
	c.post("/sessions/"+string(second), "command=set&count=3")
	if resp, body := c.post("/sessions/"+string(second), "command=set&limit=9"); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("another lesson's setting: %s %.200s", resp.Status, body)
	}
	if a, b := c.state(first), c.state(second); a.Query != "limit=9" || b.Query != "count=3" || b.Clock.At != 60 {
		t.Errorf("the sessions are %+v and %+v", a, b)
	}
}

func TestALessonWithoutSessionsHasNoStream(t *testing.T) {
	c := startCourse(t)
	for _, path := range []string{"/lessons/ledgers/stream", "/embed/lessons/ledgers/stream"} {
		if resp, _ := c.get(path); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
	if resp, body := c.post("/sessions", "lesson=ledgers"); resp.StatusCode != http.StatusBadRequest || !strings.Contains(body, "drain clocks toy") {
		t.Errorf("a session of it: %s %.300s", resp.Status, body)
	}
}

func TestViewersThatGoAwayAreNoErrors(t *testing.T) {
	c := startCourse(t)
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+"/lessons/drain/stream?t=60", nil)
		if err != nil {
			t.Fatal(err)
		}
		go cancel()
		if resp, err := c.client.Do(r); err == nil {
			resp.Body.Close()
		}
		cancel()
	}
	c.server.Drain()
	if err := c.server.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	if log := c.log.String(); strings.Contains(log, "level=ERROR") || strings.Contains(log, "level=WARN") {
		t.Errorf("the log:\n%s", log)
	}
}

// BenchmarkFrame is what one frame of a busy run costs for all viewers of a
// session together.
func BenchmarkFrame(b *testing.B) {
	d := drawer{&wire.Packer{}}
	lesson := drain.New()
	link, err := course.ParseLink(lesson, url.Values{"workers": {"4"}, "interval": {"1"}, "duration": {"8"}, "replacement": {"1"}, "t": {"45"}})
	if err != nil {
		b.Fatal(err)
	}
	state := session.New(link, false, time.Now())
	run := link.View.Run()
	var size, packed int
	for b.Loop() {
		pieces, err := d.Render(state.FrameAt(run, time.Now()))
		if err != nil {
			b.Fatal(err)
		}
		size, packed = 0, 0
		for i := range pieces {
			d.Pack(&pieces[i])
			size += len(pieces[i].Plain)
			packed += len(pieces[i].Packed)
		}
	}
	b.ReportMetric(float64(size), "B/frame")
	b.ReportMetric(float64(packed), "B/frame_packed")
}
