package drain

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"drainlab/internal/sim"
	"drainlab/web/templates"
)

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

// A cell is what a run of its settings comes to.
func TestTheCellsOfTheMapAgreeWithSingleRuns(t *testing.T) {
	rng := seeded(t)
	for n := range 12 {
		v := randomView(rng)
		if n == 0 {
			v = viewIn(linkOf(t, ""))
		}
		v.pinned, v.prediction = nil, sim.Prediction{}
		link := linkOf(t, v.Query()+"&panel=sweep")
		s := buildSweep(link, viewIn(link))
		cells := cellsOf(t, s)
		for range 25 {
			col, row := rng.IntN(s.Columns), rng.IntN(s.Rows)
			settings := v.settings
			change := map[string][]string{s.X.Name: {strings.Fields(s.X.Amounts)[col]}, s.Y.Name: {strings.Fields(s.Y.Amounts)[row]}}
			if err := settings.Change(change); err != nil {
				t.Fatal(err)
			}
			snap := sim.Simulate(settings).At(sim.Horizon)
			want := "rejected"
			switch {
			case snap.Account.Killed > 0:
				want = "killed"
			case snap.Account.Running > 0:
				want = "running"
			case snap.Gate().Verdict == sim.Pass:
				want = "pass"
			}
			if got := cells[[2]int{col, row}]; got != want {
				t.Errorf("%s: the cell is %s, the run %s", settings.AppendQuery(nil), got, want)
			}
		}
		here := cells[[2]int{s.HereX, s.Rows - 1 - s.HereY}]
		if i := judge()(v.settings); cellKinds[i].ID != here || !strings.HasSuffix(s.Here, cellKinds[i].Name) {
			t.Errorf("the settings' own cell is %s: %s", here, s.Here)
		}
	}
}

// Its form leads to the view with other axes.
func TestTheMapsFormCarriesTheViewAlong(t *testing.T) {
	link := linkOf(t, "grace=10&x=slots&y=workers&t=30&panel=sweep&hide=text")
	carry := fmt.Sprint(buildSweep(link, viewIn(link)).Carry)
	if carry != "[{grace 10} {t 30} {panel sweep} {hide text}]" {
		t.Error(carry)
	}
	if s := buildSweep(linkOf(t, "panel=trace"), viewIn(linkOf(t, ""))); !s.Held {
		t.Error("the map is drawn for who does not look at it")
	}
}

func BenchmarkSweep(b *testing.B) {
	link := linkOf(b, "duration=8&replacement=1&x=signal&y=grace&panel=sweep")
	for b.Loop() {
		buildSweep(link, viewIn(link))
	}
}

// BenchmarkFrame is what one frame of a busy run costs for all viewers of a
// session together.
func BenchmarkFrame(b *testing.B) {
	r := linkOf(b, "workers=4&interval=1&duration=8&replacement=1").View.Run()
	size := 0
	for b.Loop() {
		size = len(partsHTML(b, r.Live(frameAt(450))))
	}
	b.ReportMetric(float64(size), "B/frame")
}
