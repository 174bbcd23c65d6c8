package web

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"drainlab/internal/course"
	"drainlab/internal/course/coursetest"
	"drainlab/internal/setting"
	"drainlab/web/answer"
)

// drawn is how many pictures the course has drawn.
func (c *served) drawn() int {
	c.server.pictures.mu.Lock()
	defer c.server.pictures.mu.Unlock()
	return c.server.pictures.drawn
}

func TestACardIsAPictureOf1200By630ThatOtherSitesMayShow(t *testing.T) {
	c := startCourse(t)
	for _, path := range []string{"/card.png", "/lessons/drain/card.png", "/lessons/drain/card.png?grace=10&t=42&worker=1",
		"/lessons/drain/card.png?workers=4&slots=8&interval=0.5&b.grace=30&p.killed=3&hide=text&lock=all",
		"/lessons/ledgers/card.png", "/lessons/ledgers/card.png?stop_token=1", "/lessons/clocks/card.png", "/lessons/toy/card.png?limit=9&panel=wide",
		"/lessons/clocks/card.png?platform=kubernetes&server_timeout=60&long=40&x=margin"} {
		resp, body := c.get(path)
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s %.300s", path, resp.Status, body)
			continue
		}
		for name, want := range map[string]string{"Content-Type": "image/png", "Cache-Control": "public, max-age=86400",
			"Cross-Origin-Resource-Policy": "cross-origin", "Content-Length": strconv.Itoa(len(body))} {
			if got := resp.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		image, err := png.Decode(strings.NewReader(body))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if size := image.Bounds().Size(); size.X != 1200 || size.Y != 630 {
			t.Errorf("%s is of %v", path, size)
		}
		head, none := c.do(http.MethodHead, path, nil)
		if head.StatusCode != http.StatusOK || none != "" || head.ContentLength != int64(len(body)) || head.Header.Get("Content-Type") != "image/png" {
			t.Errorf("HEAD %s: %s, %d bytes, %v", path, head.Status, len(none), head.Header)
		}
	}
}

func TestCardsDifferWhereWhatTheyShowDiffers(t *testing.T) {
	c := startCourse(t)
	seen := map[string]string{}
	for i, same := range [][]string{
		{"/lessons/drain/card.png", "/lessons/drain/card.png?t=60", "/lessons/drain/card.png?model=1&grace=0&speed=4", "/lessons/drain/card.png?hide=text&lock=grace&x=slots",
			"/lessons/drain/card.png?predict=required&p.killed=4&t=60", "/lessons/drain/card.png?b.grace=0&grace=20"},
		{"/lessons/drain/card.png?predict=required", "/lessons/drain/card.png?predict=required&t=60", "/lessons/drain/card.png?predict=required&p.killed=4"},
		{"/lessons/drain/card.png?grace=10", "/lessons/drain/card.png?grace=10.0&t=0"},
		{"/lessons/drain/card.png?grace=10&t=30"},
		{"/lessons/drain/card.png?grace=10&t=30.1"},
		{"/lessons/clocks/card.png", "/lessons/clocks/card.png?x=margin&model=1"},
		{"/lessons/clocks/card.png?grace=20"},
		{"/lessons/clocks/card.png?platform=kubernetes"},
		{"/lessons/toy/card.png", "/lessons/toy/card.png?t=5", "/lessons/toy/card.png?panel=wide&speed=2&lock=all&hide=text"},
		{"/lessons/toy/card.png?t=1"},
		{"/lessons/toy/card.png?limit=6"},
		{"/card.png", "/card.png?anything"},
	} {
		first := ""
		for _, path := range same {
			resp, body := c.get(path)
			if resp.StatusCode != http.StatusOK {
				t.Fatalf("%s: %s", path, resp.Status)
			}
			if first == "" {
				first = body
			}
			if body != first {
				t.Errorf("%s is not the picture of %s", path, same[0])
			}
		}
		if other, twice := seen[first]; twice {
			t.Errorf("%s is the picture of %s", same[0], other)
		}
		seen[first] = same[0]
		if got := c.drawn(); got != i+1 {
			t.Fatalf("%d pictures drawn for %d that differ, after %s", got, i+1, same[0])
		}
	}
}

// painted is a counter with pictures, which say what they are of.
type painted struct{ coursetest.Counter }

func (p painted) Open(values url.Values) (course.View, error) {
	v, err := p.Counter.Open(values)
	return paintedView{v}, err
}

type paintedView struct{ course.View }

func (v paintedView) Change(values url.Values) (course.View, error) {
	next, err := v.View.Change(values)
	return paintedView{next}, err
}

func (v paintedView) Run() course.Run { return paintedRun{v.View.Run()} }

type paintedRun struct{ course.Run }

func (r paintedRun) Figure(t setting.Time) course.Figure {
	f := r.Run.Figure(t)
	f.Key = fmt.Sprint(r.End(), " ", t)
	draw := func(kind string) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "%s at %s of %s", kind, t, r.End())
			return err
		}
	}
	f.Card, f.PNG, f.SVG = draw("card"), draw("png"), draw("svg")
	return f
}

func TestACardThatOpensAtTheBeginningShowsTheWholeRunUnlessAPredictionIsAskedFor(t *testing.T) {
	c := start(t, Site{}, painted{})
	for query, want := range map[string]string{
		"": "60 of 60", "t=0": "60 of 60", "t=0.1": "0.1 of 60", "t=42": "42 of 60", "t=60": "60 of 60", "count=9": "18 of 18", "guess=3": "60 of 60",
		"predict=required&guess=3&t=60": "60 of 60", // it is seen, so that all of it may be told
		"predict=required":              "0 of 60", "predict=required&guess=3": "0 of 60", "predict=required&t=42": "0 of 60", "predict=required&guess=3&t=42": "0 of 60", "predict=required&guess=3&t=59.9": "0 of 60",
	} {
		if got := c.page("/lessons/counter/card.png?" + query); got != "card at "+want {
			t.Errorf("%q: the card is the %s, want %s", query, got, want)
		}
		alt := c.page("/lessons/counter?" + query)
		n, err := strconv.ParseFloat(strings.Fields(want)[0], 64)
		if err != nil {
			t.Fatal(err)
		}
		if said := attribute(t, alt, `<meta property="og:image:alt" content="([^"]*)">`); said != fmt.Sprintf("The number %d", int(n/2)) {
			t.Errorf("%q: the card is said to show %q", query, said)
		}
	}
}

// A picture to keep is the run's at exactly the link's instant; where a
// prediction is asked for and not judged yet, at its beginning.
func TestPicturesCanBeDownloaded(t *testing.T) {
	c := start(t, Site{}, painted{}, painted{coursetest.Counter{ID: "late", Number: 2, OpensAtEnd: true}})
	for address, want := range map[string]struct{ says, at string }{
		"counter/picture.%s":                               {"0 of 60", "0"},
		"counter/picture.%s?count=9&t=4.5&hide=text":       {"4.5 of 18", "4.5"},
		"counter/picture.%s?t=60":                          {"60 of 60", "60"},
		"counter/picture.%s?predict=required&t=42":         {"0 of 60", "0"},
		"counter/picture.%s?predict=required&guess=3&t=42": {"0 of 60", "0"},
		"counter/picture.%s?predict=required&guess=3&t=60": {"60 of 60", "60"},
		"late/picture.%s":                                  {"60 of 60", "60"},
		"late/picture.%s?t=0":                              {"0 of 60", "0"},
	} {
		for ending, kind := range map[string]string{"png": "image/png", "svg": "image/svg+xml"} {
			path := "/lessons/" + fmt.Sprintf(address, ending)
			id, _, _ := strings.Cut(address, "/")
			resp, body := c.get(path)
			h := resp.Header
			if resp.StatusCode != http.StatusOK || body != ending+" at "+want.says {
				t.Errorf("%s: %s, %q, want %s", path, resp.Status, body, want.says)
			}
			if h.Get("Content-Type") != kind || !strings.HasSuffix(h.Get("Content-Disposition"), `; filename="drainlab-`+id+"-at-"+want.at+"s."+ending+`"`) || h.Get("Cache-Control") != "public, max-age=86400" {
				t.Errorf("%s: %v", path, h)
			}
			if head, _ := c.do(http.MethodHead, path, nil); head.StatusCode != http.StatusOK {
				t.Errorf("HEAD %s: %s", path, head.Status)
			}
		}
	}
	// The real ones are what their names say.
	real := startCourse(t)
	for _, l := range real.server.lessons.All() {
		link := course.OpenLink(l)
		f := link.View.Run().Figure(link.T)
		if f.SVG != nil {
			if err := wellFormed(real.page(link.At("picture.svg"))); err != nil {
				t.Errorf("%s: %v", link.At("picture.svg"), err)
			}
		}
		if f.PNG != nil {
			if _, err := png.Decode(strings.NewReader(real.page(link.At("picture.png")))); err != nil {
				t.Errorf("%s: %v", link.At("picture.png"), err)
			}
		}
	}
}

func TestACardOfABadViewIsRefused(t *testing.T) {
	c := startCourse(t)
	for _, path := range []string{"/lessons/drain/card.png?grace=31", "/lessons/drain/card.png?t=61", "/lessons/drain/card.png?model=2", "/lessons/drain/card.png?at=1",
		"/lessons/drain/card.png?a;b", "/lessons/clocks/card.png?platform=mainframe", "/lessons/clocks/card.png?long=5&long_age=6", "/lessons/ledgers/card.png?join_work=2",
		"/lessons/drain/picture.png?grace=31", "/lessons/drain/picture.svg?worker=9", "/lessons/toy/card.png?limit=21"} {
		resp, body := c.get(path, "Accept", "application/json")
		h := resp.Header
		if resp.StatusCode != http.StatusBadRequest || !strings.Contains(body, `"error"`) {
			t.Errorf("%s: %s %.200s", path, resp.Status, body)
		}
		if h.Get("Content-Disposition") != "" || h.Get("Cache-Control") != "no-store" || !strings.HasPrefix(h.Get("Content-Type"), "application/json") {
			t.Errorf("%s: the error comes as a picture: %v", path, h)
		}
	}
	if n := c.drawn(); n != 0 {
		t.Errorf("%d pictures drawn", n)
	}
	if resp, _ := c.get("/lessons/other/card.png"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a card of nothing: %s", resp.Status)
	}
}

func wellFormed(document string) error {
	decoder := xml.NewDecoder(strings.NewReader(document))
	for {
		if _, err := decoder.Token(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// paint draws so many bytes.
func paint(n int) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(make([]byte, n))
		return err
	}
}

func (c *pictureCache) mustGet(t *testing.T, key string, n int) {
	t.Helper()
	data, err := c.get(t.Context(), key, paint(n))
	if err != nil || len(data) != n {
		t.Fatalf("%s: %d bytes, %v", key, len(data), err)
	}
}

func TestCardsAreKeptWithinBoundsLeastRecentlyUsedOut(t *testing.T) {
	kept := func(c *pictureCache) string { return strings.Join(c.kept.Keys(), " ") }
	expect := func(c *pictureCache, keys string, bytes, drawn int) {
		t.Helper()
		if kept(c) != keys || c.bytes != bytes || c.drawn != drawn {
			t.Errorf("kept %q, %d bytes, %d drawn; want %q, %d, %d", kept(c), c.bytes, c.drawn, keys, bytes, drawn)
		}
	}
	c := newBoundedPictures(3, 1000)
	for _, key := range []string{"a", "b", "c", "a", "d"} { // a is used again, so that b is the oldest
		c.mustGet(t, key, 10)
	}
	expect(c, "c a d", 30, 4)
	c.mustGet(t, "b", 20)
	expect(c, "a d b", 40, 5)

	c = newBoundedPictures(100, 100)
	for _, key := range []string{"a", "b", "c"} {
		c.mustGet(t, key, 30)
	}
	expect(c, "a b c", 90, 3)
	c.mustGet(t, "a", 30)
	c.mustGet(t, "d", 65) // needs the room of b and c
	expect(c, "a d", 95, 4)
	c.mustGet(t, "e", 100)
	expect(c, "e", 100, 5)
	c.mustGet(t, "f", 101) // larger than all of it: drawn, not kept
	expect(c, "e", 100, 6)
	c.mustGet(t, "f", 101)
	expect(c, "e", 100, 7)
}

func TestTheServersCardsHaveBounds(t *testing.T) {
	c := newPictureCache()
	for i := range 2000 {
		c.mustGet(t, strconv.Itoa(i), 1+i%100_000*40)
		if c.kept.Len() > mostPictures || c.bytes > mostPictureBytes {
			t.Fatalf("%d pictures, %d bytes", c.kept.Len(), c.bytes)
		}
	}
	held := 0
	for _, key := range c.kept.Keys() {
		data, _ := c.kept.Peek(key)
		held += len(data)
	}
	if held != c.bytes || held == 0 {
		t.Errorf("holds %d bytes, counts %d", held, c.bytes)
	}
}

// gauge is a drawing that takes a while, and notes how many go on at once.
type gauge struct {
	now, most, begun atomic.Int32
}

func (g *gauge) draw(takes time.Duration) func(io.Writer) error {
	return func(w io.Writer) error {
		n := g.now.Add(1)
		g.begun.Add(1)
		for most := g.most.Load(); n > most && !g.most.CompareAndSwap(most, n); most = g.most.Load() {
		}
		time.Sleep(takes)
		g.now.Add(-1)
		_, err := io.WriteString(w, "drawn")
		return err
	}
}

func TestAHundredAtOnceDrawAtMostTwoAtOnce(t *testing.T) {
	for name, views := range map[string]int{"each another view": 100, "ten views": 10, "one view": 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newPictureCache()
				var g gauge
				start := time.Now()
				var all sync.WaitGroup
				for i := range 100 {
					all.Go(func() {
						data, err := c.get(t.Context(), strconv.Itoa(i%views), g.draw(100*time.Millisecond))
						if err != nil || string(data) != "drawn" {
							t.Errorf("%q, %v", data, err)
						}
					})
				}
				all.Wait()
				if int(g.begun.Load()) != views || int(g.most.Load()) != min(views, 2) {
					t.Errorf("%d views drawn %d times, up to %d at once", views, g.begun.Load(), g.most.Load())
				}
				if took, most := time.Since(start), time.Duration(views)*100*time.Millisecond; took > most {
					t.Errorf("took %s", took)
				}
			})
		})
	}
}

func TestWhoWaitsToDrawWaitsNoLongerThanTheRequestAndTheBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newPictureCache()
		c.mustGet(t, "kept", 5)
		var g gauge
		var slow sync.WaitGroup
		for i := range drawnAtOnce {
			slow.Go(func() { c.get(t.Context(), fmt.Sprint("slow ", i), g.draw(time.Minute)) })
		}
		synctest.Wait()

		leaving, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if _, err := c.get(leaving, "new", g.draw(0)); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("who left after 1 s: %v after %s", err, time.Since(start))
		}
		start = time.Now()
		_, err := c.get(t.Context(), "new", g.draw(0))
		if e := answer.Explain(err, nil); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != drawWait || e.Status != http.StatusServiceUnavailable {
			t.Errorf("who stayed: %v after %s", err, time.Since(start))
		}
		c.mustGet(t, "kept", 5) // needs no place
		slow.Wait()
		if g.begun.Load() != drawnAtOnce {
			t.Errorf("%d drawn, though nobody waited for all of them", g.begun.Load())
		}
		c.mustGet(t, "new", 7)
	})
}

func TestADrawingThatFailsIsNotKeptAndFreesItsPlace(t *testing.T) {
	c := newPictureCache()
	broken := errors.New("no ink")
	for range 2 * drawnAtOnce {
		if _, err := c.get(t.Context(), "a", func(w io.Writer) error { w.Write([]byte("half")); return broken }); !errors.Is(err, broken) {
			t.Fatal(err)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is lost")
				}
			}()
			c.get(t.Context(), "a", func(io.Writer) error { panic("upset") })
		}()
	}
	c.mustGet(t, "a", 3)
	if c.drawn != 1 {
		t.Errorf("%d drawn", c.drawn)
	}
}

func TestPicturesOfAllRoutesWaitForAPlace(t *testing.T) {
	c := startCourse(t)
	for range drawnAtOnce {
		c.server.pictures.places <- struct{}{}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	paths := []string{"/card.png", "/lessons/drain/card.png", "/lessons/clocks/card.png", "/lessons/ledgers/card.png", "/lessons/toy/card.png", "/lessons/drain/picture.png", "/lessons/drain/picture.svg"}
	for _, path := range paths {
		w := httptest.NewRecorder()
		c.server.ServeHTTP(w, httptest.NewRequestWithContext(gone, http.MethodGet, path, nil))
		if w.Body.Len() > 0 {
			t.Errorf("%s: %d bytes without a place to draw", path, w.Body.Len())
		}
	}
	if c.drawn() != 0 {
		t.Errorf("%d drawn", c.drawn())
	}
	for range drawnAtOnce {
		<-c.server.pictures.places
	}
	for range 2 {
		for _, path := range paths {
			if resp, _ := c.get(path); resp.StatusCode != http.StatusOK {
				t.Errorf("%s: %s", path, resp.Status)
			}
		}
		if c.drawn() != len(paths) {
			t.Errorf("%d drawn", c.drawn())
		}
	}
}

func TestAHundredRequestsForFourViewsDrawFour(t *testing.T) {
	c := startCourse(t)
	var all sync.WaitGroup
	bodies := make([]string, 100)
	for i := range bodies {
		all.Go(func() {
			w := httptest.NewRecorder()
			c.server.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("/lessons/drain/card.png?grace=%d", i%4), nil))
			if w.Code != http.StatusOK {
				t.Errorf("%d", w.Code)
			}
			bodies[i] = w.Body.String()
		})
	}
	all.Wait()
	for i, body := range bodies {
		if body != bodies[i%4] {
			t.Errorf("request %d got another picture than request %d", i, i%4)
		}
	}
	if c.drawn() != 4 {
		t.Errorf("%d drawn", c.drawn())
	}
}
