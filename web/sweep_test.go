package web

import (
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"drainlab/internal/clocks"
	"drainlab/internal/setting"
	"drainlab/internal/sim"
	"drainlab/web/templates"
)

var sweepSeed = flag.Uint64("sweepseed", uint64(time.Now().UnixNano()), "seed of the sweeps' settings")

// cellsOf reads a sweep's cells back from what it draws: kinds by column and
// row from the bottom.
func cellsOf(t *testing.T, v templates.Sweep) map[[2]int]string {
	t.Helper()
	cells := map[[2]int]string{}
	run := regexp.MustCompile(`M(\d+) (\d+)h(\d+)v1h-(\d+)z`)
	for _, k := range v.Kinds {
		rest := k.Fill
		n := 0
		for _, m := range run.FindAllStringSubmatch(k.Fill, -1) {
			rest = strings.Replace(rest, m[0], "", 1)
			x, _ := strconv.Atoi(m[1])
			top, _ := strconv.Atoi(m[2])
			w, _ := strconv.Atoi(m[3])
			for i := range w {
				at := [2]int{x + i, v.Rows - 1 - top}
				if other, taken := cells[at]; taken {
					t.Fatalf("cell %v is %s and %s", at, other, k.ID)
				}
				cells[at] = k.ID
				n++
			}
		}
		if rest != "" || n != k.Count {
			t.Fatalf("%s: %d cells drawn, %d counted, %q left over", k.ID, n, k.Count, rest)
		}
	}
	if len(cells) != v.Columns*v.Rows {
		t.Fatalf("%d cells drawn of %d × %d", len(cells), v.Columns, v.Rows)
	}
	return cells
}

// A cell is what the API says of the same settings.
func TestTheCellsOfBothMapsAgreeWithSingleRuns(t *testing.T) {
	t.Logf("seed %d", *sweepSeed)
	rng := rand.New(rand.NewPCG(*sweepSeed, 3))
	server := newServer(t, nil)
	ask := func(path string, query url.Values) (answer struct {
		Verdict  string
		Gate     struct{ Verdict string }
		Account  map[string]float64
		Work     map[string]float64
		Cleanup  string
		Ended    string
		Settings map[string]any
		Error    string
	}) {
		rec := httptest.NewRecorder()
		server.ServeHTTP(timeless{rec}, httptest.NewRequest(http.MethodGet, path+"?"+query.Encode(), nil))
		if err := json.Unmarshal(rec.Body.Bytes(), &answer); err != nil {
			t.Fatalf("%s: %v: %s", query.Encode(), err, rec.Body)
		}
		return answer
	}
	with := func(query string, v templates.Sweep, col, row int) url.Values {
		values, _ := url.ParseQuery(query)
		values.Set(v.X.Name, strings.Fields(v.X.Amounts)[col])
		values.Set(v.Y.Name, strings.Fields(v.Y.Amounts)[row])
		return values
	}
	for n := range 12 {
		// Lesson 1.
		table := sim.Table()
		s := sim.Opening()
		if n > 0 {
			for range 4 {
				c := &table[rng.IntN(len(table))]
				stops := c.Stops()
				c.Set(&s, stops[rng.IntN(len(stops))])
			}
		}
		a := drainAxes
		if n > 0 {
			a = twoOf(rng, names(table))
		}
		v := buildSweep(table, s, a, "", "", drainCells, judgeDrain())
		cells := cellsOf(t, v)
		for range 25 {
			col, row := rng.IntN(v.Columns), rng.IntN(v.Rows)
			q := with(string(s.AppendQuery(nil)), v, col, row)
			r := ask("/api/v1/run", q)
			want := "rejected"
			switch {
			case r.Account["killed"] > 0:
				want = "killed"
			case r.Account["running"] > 0:
				want = "running"
			case r.Gate.Verdict == "pass":
				want = "pass"
			}
			if got := cells[[2]int{col, row}]; got != want {
				t.Errorf("lesson 1, %s: the cell is %s, the run %s", q.Encode(), got, want)
			}
		}
		here := cells[[2]int{v.HereX, v.Rows - 1 - v.HereY}]
		if i := judgeDrain()(s); drainCells[i].id != here || !strings.HasSuffix(v.Here, drainCells[i].name) {
			t.Errorf("the settings' own cell is %s: %s", here, v.Here)
		}

		// Lesson 3.
		clockTable := clocks.Table()
		cs := clocks.Opening()
		if n > 0 {
			for range 4 {
				c := &clockTable[rng.IntN(len(clockTable))]
				stops := c.Stops()
				next := cs
				c.Set(&next, stops[rng.IntN(len(stops))])
				if next.Validate() == nil {
					cs = next
				}
			}
			cs.Interval = max(cs.Interval, setting.Second) // the API lists every request
		}
		a = clocksAxes
		if n > 0 {
			a = twoOf(rng, names(clockTable))
		}
		v = buildSweep(clockTable, cs, a, "", "", clockCells, judgeClocks())
		cells = cellsOf(t, v)
		for range 25 {
			col, row := rng.IntN(v.Columns), rng.IntN(v.Rows)
			q := with(string(cs.AppendQuery(nil)), v, col, row)
			r := ask("/api/v1/clocks", q)
			want := ""
			switch {
			case r.Error != "":
				want = "impossible"
			case r.Account["killed"] > 0:
				want = "killed"
			case r.Account["cancelled"] > 0:
				want = "cancelled"
			case r.Account["deadline"] > 0:
				want = "deadline"
			case r.Account["refused"] > 0:
				want = "refused"
			case r.Work["unknown"] > 0:
				want = "unknown"
			case r.Cleanup != "complete":
				want = "cleanup"
			case r.Ended != "exit":
				want = "kill"
			case r.Verdict == "pass":
				want = "pass"
			}
			if got := cells[[2]int{col, row}]; got != want {
				t.Errorf("lesson 3, %s: the cell is %s, the run %q", q.Encode(), got, want)
			}
		}
	}
}

func twoOf(rng *rand.Rand, names []string) axes {
	x, y := rng.IntN(len(names)), rng.IntN(len(names)-1)
	if y >= x {
		y++
	}
	return axes{X: names[x], Y: names[y]}
}

func TestBadAxesAreToldWhatIsAllowed(t *testing.T) {
	server := newServer(t, nil)
	for _, path := range []string{"/lessons/drain", "/lessons/drain/analysis", "/lessons/clocks"} {
		for query, want := range map[string]string{
			"x=nothing": `&#34;x&#34;: got &#34;nothing&#34;; allowed: the name of a setting: `, "y=grace": "another setting than x", "x=grace&x=grace": "one value",
		} {
			rec := httptest.NewRecorder()
			server.ServeHTTP(timeless{rec}, httptest.NewRequest(http.MethodGet, path+"?"+query, nil))
			if rec.Code != http.StatusBadRequest || !strings.Contains(rec.Body.String(), want) {
				t.Errorf("%s?%s answers %d: %.300s", path, query, rec.Code, rec.Body)
			}
		}
	}
}

// 60 × 60 cells of either model, as the server answers them.
func BenchmarkSweep(b *testing.B) {
	server := newServer(b, nil)
	for _, c := range []struct{ name, path string }{
		{"lesson 1, 79 × 61 cells", "/lessons/drain/analysis?duration=8&replacement=1&x=signal&y=grace"},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				rec := httptest.NewRecorder()
				server.ServeHTTP(timeless{rec}, httptest.NewRequest(http.MethodGet, c.path, nil))
				if rec.Code != http.StatusOK {
					b.Fatal(rec.Body)
				}
			}
		})
	}
	b.Run("lesson 1, the runs alone", func(b *testing.B) {
		x, _ := sim.FindControl("signal")
		y, _ := sim.FindControl("grace")
		judge := judgeDrain()
		xs, ys := x.Stops(), y.Stops()
		for b.Loop() {
			setting.Grid(sim.Opening(), &x, &y, xs[:60], ys[:60], judge)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/3600, "ns/cell")
	})
	b.Run("lesson 3, the runs alone", func(b *testing.B) {
		x, _ := clocks.FindControl("grace")
		y, _ := clocks.FindControl("prestop")
		judge := judgeClocks()
		xs, ys := x.Stops(), y.Stops()
		for b.Loop() {
			setting.Grid(clocks.Opening(), &x, &y, xs[:60], ys[:60], judge)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/3600, "ns/cell")
	})
	for _, query := range []string{"", "server_timeout=60&long=40", "grace=0&long=200&server_timeout=10&deadline=3"} {
		b.Run(fmt.Sprintf("lesson 3, all fragments, %q", query), func(b *testing.B) {
			for b.Loop() {
				rec := httptest.NewRecorder()
				req := httptest.NewRequest(http.MethodGet, "/lessons/clocks?"+query, nil)
				req.Header.Set(clientHeader, "true")
				server.ServeHTTP(timeless{rec}, req)
				if rec.Code != http.StatusOK {
					b.Fatal(rec.Body)
				}
			}
		})
	}
}

func newServer(tb testing.TB, driller Driller) *Server {
	tb.Helper()
	s, err := New(noSessions{}, noSessions{}, driller, Site{}, slog.New(slog.DiscardHandler))
	if err != nil {
		tb.Fatal(err)
	}
	return s
}
