package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/sync/singleflight"

	"drainlab/internal/clocks"
	"drainlab/internal/fixture"
	"drainlab/internal/picture"
	"drainlab/internal/sim"
)

// The bounds of the pictures that are kept and drawn. A card takes some 30 kB
// and 10 MB while it is drawn.
const (
	mostCards     = 256
	mostCardBytes = 8 << 20
	cardsAtOnce   = 2                // that are drawn: a share of the cores is left to the rooms
	cardWait      = 10 * time.Second // for a place to draw
)

// cardCache keeps the pictures that were drawn last. Equal keys stand for equal
// pictures, so that nothing in it gets old.
type cardCache struct {
	places  chan struct{} // one for each picture that is being drawn
	flights singleflight.Group
	most    int // bytes

	mu    sync.Mutex
	kept  *simplelru.LRU[string, []byte]
	bytes int // of all that is kept
	drawn int // pictures so far
}

func newCardCache() *cardCache { return newBoundedCards(mostCards, mostCardBytes) }

// newBoundedCards returns a cache of at most so many pictures, at least one,
// and so many bytes.
func newBoundedCards(entries, most int) *cardCache {
	c := &cardCache{places: make(chan struct{}, cardsAtOnce), most: most}
	var err error
	c.kept, err = simplelru.NewLRU(entries, func(_ string, data []byte) { c.bytes -= len(data) })
	if err != nil {
		panic(err) // only of a number below one
	}
	return c
}

// get returns the picture of that key, drawn if it is not kept. Who comes while
// all places to draw are taken waits until ctx ends, at most cardWait. A
// drawing itself is short, and goes on for those who come after.
func (c *cardCache) get(ctx context.Context, key string, draw func(io.Writer) error) ([]byte, error) {
	if data, ok := c.find(key); ok {
		return data, nil
	}
	ctx, cancel := context.WithTimeout(ctx, cardWait)
	defer cancel()
	select {
	case c.places <- struct{}{}:
		defer func() { <-c.places }()
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for a place to draw: %w", ctx.Err())
	}
	drawn, err, _ := c.flights.Do(key, func() (any, error) {
		if data, ok := c.find(key); ok { // drawn while this one waited
			return data, nil
		}
		var b bytes.Buffer
		if err := draw(&b); err != nil {
			return nil, fmt.Errorf("drawing a picture: %w", err)
		}
		c.keep(key, b.Bytes())
		return b.Bytes(), nil
	})
	if err != nil {
		return nil, err
	}
	return drawn.([]byte), nil
}

func (c *cardCache) find(key string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept.Get(key)
}

// keep adds a picture that is not in the cache; those that were not asked for
// the longest make room for it.
func (c *cardCache) keep(key string, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drawn++
	if len(data) > c.most {
		return
	}
	c.bytes += len(data)
	c.kept.Add(key, data)
	for c.bytes > c.most {
		c.kept.RemoveOldest()
	}
}

// drawing is a picture to be: what it shows, as a key of the cache, and how to
// draw it.
type drawing struct {
	key  string
	draw func(io.Writer) error
}

// sendPicture answers with a picture that everybody may keep for a day.
func sendPicture(w http.ResponseWriter, kind string, data []byte) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.Itoa(len(data))) // HEAD has it too
	h.Set("Cache-Control", apiCache)
	w.Write(data)
}

// card answers with the card of the page beside it, which other sites show with
// a link to the page: of a lesson's view, or of the course.
func (s *Server) card(w http.ResponseWriter, r *http.Request) error {
	var d drawing
	var err error
	switch strings.TrimSuffix(r.URL.Path, "/card.png") {
	case drainPath:
		d, err = drainCardDrawing(r)
	case clocksPath:
		d, err = clocksCardDrawing(r)
	case ledgersPath:
		d, err = s.ledgersCardDrawing(r)
	default:
		d = s.courseCardDrawing()
	}
	if err != nil {
		return err
	}
	data, err := s.cards.get(r.Context(), d.key, d.draw)
	if err != nil {
		return err
	}
	w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
	sendPicture(w, "image/png", data)
	return nil
}

// cardTime is the instant that the view's card shows: the view's own, and the
// whole run for a view that opens at its beginning, where a card would be
// empty. Where a prediction is asked for, the card gives no answer away.
func (v view) cardTime() sim.Time {
	if v.T == 0 && !v.Predict {
		return sim.Horizon
	}
	return v.T
}

func drainCardDrawing(r *http.Request) (drawing, error) {
	v, err := readView(r)
	if err != nil {
		return drawing{}, err
	}
	return snapshotDrawing("card", v.Settings, v.cardTime(), func(w io.Writer, snap sim.Snapshot) error {
		return picture.Card(w, snap, drainTitle)
	}), nil
}

// snapshotDrawing is a picture of lesson 1's run at an instant. What else a
// view says does not show in it, so that all such views share it.
func snapshotDrawing(name string, s sim.Settings, t sim.Time, draw func(io.Writer, sim.Snapshot) error) drawing {
	return drawing{
		key:  name + "?" + string(s.AppendQuery(nil)) + "&t=" + t.String(),
		draw: func(w io.Writer) error { return draw(w, sim.Simulate(s).At(t)) },
	}
}

func clocksCardDrawing(r *http.Request) (drawing, error) {
	v, err := readClocksView(r)
	if err != nil {
		return drawing{}, err
	}
	v.Axes = clocksAxes // which the card does not show
	return drawing{key: "clocks?" + v.canonical(), draw: func(w io.Writer) error {
		subtitle, lines := clocksCardText(v)
		return picture.TextCard(w, clocksTitle, subtitle, lines)
	}}, nil
}

// clocksCardText is what a card says of a view of lesson 3: the verdict, and
// then the figures that make it.
func clocksCardText(v clocksView) (subtitle string, lines []string) {
	run := clocks.Simulate(v.Settings)
	on := ""
	if v.Platform != nil {
		on = " on " + v.Platform.Name
	}
	a, b, kill := run.Account, run.Budget, run.Instants.Kill
	lines = []string{fmt.Sprintf("Grace %s s%s: the kill is at %s s", v.Settings.Grace, on, kill)}
	switch {
	case b.Need == clocks.Never:
		lines = append(lines, "The signal is not handled: there is no plan")
	case b.Slack < 0:
		lines = append(lines, fmt.Sprintf("The plan needs %s s: an overrun of %s s", b.Need, -b.Slack))
	default:
		lines = append(lines, fmt.Sprintf("The plan needs %s s: %s s to spare", b.Need, b.Slack))
	}
	if b.Need != clocks.Never {
		lines = append(lines, fmt.Sprintf("Hook and delivery %s s, drain %s s, cleanup %s s, margin %s s", b.Term, b.Remaining, b.Cleanup, b.Margin))
	}
	lines = append(lines, fmt.Sprintf("%s admitted, %d completed; %d rejected", count(a.Admitted, "request", "requests"), a.Completed, a.Rejected))
	if run.Passes() {
		return "PASS: nothing admitted is lost, and the process leaves by itself at " + run.End.String() + " s", lines
	}
	losses := lossTexts(run)
	for _, loss := range losses[1:] {
		lines = append(lines, strings.ToUpper(loss[:1])+loss[1:])
	}
	return "FAIL: " + losses[0], lines
}

func (s *Server) ledgersCardDrawing(r *http.Request) (drawing, error) {
	query, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		return drawing{}, err
	}
	// The settings are those of the next run, which nobody has made yet.
	if _, err := fixture.ParseValues(query); err != nil {
		return drawing{}, err
	}
	return drawing{key: "ledgers", draw: func(w io.Writer) error {
		q, work := s.recorded.Result.Report.Requests, s.recorded.Result.Report.Work
		return picture.TextCard(w, ledgersTitle, "A real server is started, loaded, drained and signalled. What became of its requests, and apart from that, of its work?", []string{
			fmt.Sprintf("Requests: %d admitted, %d completed, %d cancelled, %d rejected", q.Admitted, q.Completed, q.Cancelled, q.Rejected),
			fmt.Sprintf("Their work: %d completed, %d confirmed stopped, %d unknown", work.Completed, work.ConfirmedStopped, work.Unknown),
			"Recorded on " + s.recordedOn,
			"Run it with settings of your own",
		})
	}}, nil
}

func (s *Server) courseCardDrawing() drawing {
	return drawing{key: "course", draw: func(w io.Writer) error {
		var lines []string
		for _, l := range s.page("", "").Lessons {
			lines = append(lines, fmt.Sprintf("Lesson %d: %s", l.Number, l.Name))
		}
		return picture.TextCard(w, "Shut services down without losing accepted work", "A course on graceful shutdown: simulators and real servers in the browser.", lines)
	}}
}

// lanesPNG answers with the view's lanes at its time, to keep.
func (s *Server) lanesPNG(w http.ResponseWriter, r *http.Request) error {
	return s.sendLanes(w, r, "png", "image/png", picture.PNG)
}

// lanesSVG answers with the same lanes as an SVG document.
func (s *Server) lanesSVG(w http.ResponseWriter, r *http.Request) error {
	return s.sendLanes(w, r, "svg", "image/svg+xml", picture.SVG)
}

func (s *Server) sendLanes(w http.ResponseWriter, r *http.Request, ending, kind string, draw func(io.Writer, sim.Snapshot) error) error {
	v, err := readView(r)
	if err != nil {
		return err
	}
	d := snapshotDrawing("lanes."+ending, v.Settings, v.T, draw)
	data, err := s.cards.get(r.Context(), d.key, d.draw)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="drainlab-lanes-at-%ss.%s"`, v.T, ending))
	sendPicture(w, kind, data)
	return nil
}
