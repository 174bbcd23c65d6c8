package clocks

import (
	"encoding/json"
	"math/rand/v2"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	model "drainlab/internal/clocks"
	"drainlab/internal/course"
	"drainlab/internal/setting"
	"drainlab/web/templates"
)

// cellsOf reads a map's cells back from what it draws: kinds by column and row
// from the bottom.
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

// fateOf is what the API says of a cell's settings, as a kind of cell.
func fateOf(t *testing.T, data []byte) string {
	t.Helper()
	var r struct {
		Verdict, Cleanup, Ended, Error string
		Account, Work                  map[string]float64
	}
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatalf("%v: %.200s", err, data)
	}
	switch {
	case r.Error != "":
		return "impossible"
	case r.Account["killed"] > 0:
		return "killed"
	case r.Account["cancelled"] > 0:
		return "cancelled"
	case r.Account["deadline"] > 0:
		return "deadline"
	case r.Account["refused"] > 0:
		return "refused"
	case r.Work["unknown"] > 0:
		return "unknown"
	case r.Cleanup != "complete":
		return "cleanup"
	case r.Ended != "exit":
		return "kill"
	}
	return r.Verdict
}

// anyStops draws settings of which some stand at other stops of their sliders.
func anyStops(r *rand.Rand) model.Settings {
	s := model.Opening()
	table := model.Table()
	for range 4 {
		c := &table[r.IntN(len(table))]
		stops := c.Stops()
		next := s
		c.Set(&next, stops[r.IntN(len(stops))])
		if next.Validate() == nil {
			s = next
		}
	}
	s.Interval = max(s.Interval, setting.Second) // the API lists every request
	return s
}

// A cell is what the API says of the same settings.
func TestTheMapsCellsAgreeWithSingleRuns(t *testing.T) {
	srv := served(t)
	r := seeded(t)
	for n := range 12 {
		v := opening()
		if n > 0 {
			axes := anyView(r)
			v = newView(anyStops(r), nil, axes.x, axes.y)
		}
		link := course.Link{Lesson: New(), View: v, T: v.run().End()}
		sweep := newMap(v.run(), link)
		cells := cellsOf(t, sweep)
		for range 25 {
			col, row := r.IntN(sweep.Columns), r.IntN(sweep.Rows)
			q, err := url.ParseQuery(string(v.settings.AppendQuery(nil)))
			if err != nil {
				t.Fatal(err)
			}
			q.Set(sweep.X.Name, strings.Fields(sweep.X.Amounts)[col])
			q.Set(sweep.Y.Name, strings.Fields(sweep.Y.Amounts)[row])
			if got, want := cells[[2]int{col, row}], fateOf(t, get(t, srv, "/api/v1/clocks?"+q.Encode()).body); got != want {
				t.Errorf("%s: the cell is %s, the run %q", q.Encode(), got, want)
			}
		}
		here := cells[[2]int{sweep.HereX, sweep.Rows - 1 - sweep.HereY}]
		if i := judge()(v.settings); cellKinds[i].ID != here || !strings.HasSuffix(sweep.Here, cellKinds[i].Name) {
			t.Errorf("the settings' own cell is %s: %s", here, sweep.Here)
		}
	}
}

// Without script the axes' form leads to the view with other axes.
func TestTheAxesFormCarriesTheWholeView(t *testing.T) {
	link := linkOf(t, "platform=docker&grace=12&x=long&y=margin&hide=text&lock=margin&panel=owners")
	v := newMap(link.View.(View).run(), link)
	var carried []string
	for _, c := range v.Carry {
		carried = append(carried, c.Name+"="+c.Value)
	}
	if got := strings.Join(carried, "&"); v.Page != "/lessons/clocks" || got != "platform=docker&grace=12&panel=map&hide=text&lock=margin" {
		t.Errorf("the form leads to %s with %s", v.Page, got)
	}
}
