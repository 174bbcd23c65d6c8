package templates

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"drainlab/internal/setting"
)

// Sweep is a picture of what two settings do to a verdict, all others left as
// they are: one cell for each pair of amounts.
type Sweep struct {
	Page         string // where its form leads
	X, Y         SweepAxis
	Settings     []Option // that can be an axis
	Carry        []Carried
	Columns      int
	Rows         int
	Kinds        []SweepKind
	HereX, HereY int    // the cell of the settings themselves; row 0 is the top
	Here         string // what they lead to
	NoPass       string // said where no cell passes
	Lines        []SweepLine
	// Held says that the map would answer what is still to be predicted;
	// HeldText says so to the reader.
	Held     bool
	HeldText string
}

// SweepAxis is one of the two settings.
type SweepAxis struct {
	Name, Label string
	Amounts     string // as a link writes them, by spaces, in rising order
	Ticks       []SweepTick
}

// SweepTick is a figure beside an axis.
type SweepTick struct{ At, Label, Anchor string }

// SweepKind is a kind of cell: its share of the picture as paths in cells,
// filled, and the strokes that tell it apart without colour.
type SweepKind struct {
	ID, Name, Fill, Strokes string
	Count                   int
}

// SweepLine is a row of the sweep in words.
type SweepLine struct{ Y, Text string }

// CellKind is a kind of a sweep's cells: "pass" are those that pass.
type CellKind struct{ ID, Name string }

// NewSweep runs s with each pair of the stops of the settings x and y, and its
// own values. judge returns a place in kinds. The names are of the table.
func NewSweep[S any](table setting.Table[S], s S, xName, yName string, kinds []CellKind, judge func(S) int) Sweep {
	x, _ := table.Find(xName)
	y, _ := table.Find(yName)
	xs, hereX := stopsWith(&x, x.Amount(s))
	ys, hereY := stopsWith(&y, y.Amount(s))
	cells := setting.Grid(s, &x, &y, xs, ys, judge)
	v := Sweep{Columns: len(xs), Rows: len(ys), HereX: hereX, HereY: len(ys) - 1 - hereY, X: sweepAxis(&x, xs), Y: sweepAxis(&y, ys)}
	for i := range v.X.Ticks {
		v.X.Ticks[i].Anchor = "middle"
	}
	v.X.Ticks[len(v.X.Ticks)-1].Anchor = "end"
	slices.Reverse(v.Y.Ticks)
	for i := range v.Y.Ticks { // upwards
		v.Y.Ticks[i].At = flip(v.Y.Ticks[i].At)
	}
	for _, c := range table {
		v.Settings = append(v.Settings, Option{Value: c.Name, Name: c.Label})
	}
	for k, kind := range kinds {
		v.Kinds = append(v.Kinds, sweepKind(kind, k, cells, len(xs), len(ys)))
	}
	here := kinds[cells[hereY*len(xs)+hereX]]
	v.Here = fmt.Sprintf("%s %s, %s %s: %s", y.Label, y.Say(ys[hereY]), x.Label, x.Say(xs[hereX]), here.Name)
	pass := slices.IndexFunc(kinds, func(k CellKind) bool { return k.ID == "pass" })
	if v.Kinds[pass].Count == 0 {
		v.NoPass = "No pair of these two passes while the other settings stay as they are."
	}
	for row := len(ys) - 1; row >= 0; row-- {
		v.Lines = append(v.Lines, SweepLine{Y: y.Say(ys[row]), Text: passText(&x, xs, cells[row*len(xs):][:len(xs)], pass)})
	}
	return v
}

// stopsWith returns a control's stops with one more where the amount is not
// among them, and the amount's place.
func stopsWith[S any](c *setting.Control[S], amount setting.Time) ([]setting.Time, int) {
	stops := c.Stops()
	at, found := slices.BinarySearchFunc(stops, amount, func(a, b setting.Time) int { return place(a) - place(b) })
	if !found {
		stops = slices.Insert(stops, at, amount)
	}
	return stops, at
}

func sweepAxis[S any](c *setting.Control[S], stops []setting.Time) SweepAxis {
	a := SweepAxis{Name: c.Name, Label: c.Label}
	texts := make([]string, len(stops))
	for i, v := range stops {
		texts[i] = c.TextOf(v)
	}
	a.Amounts = strings.Join(texts, " ")
	const most = 6 // figures beside an axis, the last one among them
	gaps := min(most-1, max(1, len(stops)-1))
	for n := range gaps + 1 {
		i := n * (len(stops) - 1) / gaps
		if i == 0 && n > 0 {
			break // there is one amount alone
		}
		label := texts[i]
		if c.Toggle {
			label = c.Say(stops[i])
		}
		a.Ticks = append(a.Ticks, SweepTick{At: Percent(2*i+1, 2*len(stops)), Label: label})
	}
	return a
}

// flip turns a place from the bottom into one from the top.
func flip(at string) string {
	v, err := strconv.ParseFloat(strings.TrimSuffix(at, "%"), 64)
	if err != nil {
		return at
	}
	return strconv.FormatFloat(100-v, 'f', -1, 64) + "%"
}

// sweepKind draws the cells of one kind: runs of neighbours as one rectangle.
func sweepKind(kind CellKind, k int, cells []int, columns, rows int) SweepKind {
	v := SweepKind{ID: kind.ID, Name: kind.Name}
	var fill, strokes []byte
	for row := range rows {
		top := rows - 1 - row
		for col := 0; col < columns; {
			if cells[row*columns+col] != k {
				col++
				continue
			}
			start := col
			for col < columns && cells[row*columns+col] == k {
				v.Count++
				col++
			}
			strokes = append(strokes, SweepStrokes(kind.ID, start, top, col-start)...)
			fill = fmt.Appendf(fill, "M%d %dh%dv1h-%dz", start, top, col-start, col-start)
		}
	}
	v.Fill, v.Strokes = string(fill), string(strokes)
	return v
}

// passText says where a row of cells passes.
func passText[S any](c *setting.Control[S], xs []setting.Time, row []int, pass int) string {
	var parts []string
	for i := 0; i < len(row); {
		if row[i] != pass {
			i++
			continue
		}
		start := i
		for i < len(row) && row[i] == pass {
			i++
		}
		if i-1 == start {
			parts = append(parts, c.Say(xs[start]))
		} else {
			parts = append(parts, c.Say(xs[start])+" to "+c.Say(xs[i-1]))
		}
	}
	switch last := len(parts) - 1; last {
	case -1:
		return "no PASS"
	case 0:
		return "PASS at " + parts[0]
	default:
		return "PASS at " + strings.Join(parts[:last], ", ") + " and " + parts[last]
	}
}

// SweepStrokes are the marks within a run of cells that tell their kind apart
// without colour; those that pass have none. Each ends where the next begins.
func SweepStrokes(kind string, col, row, cells int) string {
	mark := map[string]string{
		"killed": "m0 1l1 -1", "cancelled": "l1 1m0 -1", "deadline": "l1 1m0 -1", "running": "l1 1m0 -1",
		"refused": "m0 .5h1m0 -.5", "rejected": "m0 .5h1m0 -.5", "unknown": "m.5 0v1m.5 -1", "cleanup": "m.5 0v1m-.5 -.5h1m0 -.5", "kill": "m0 1h1m0 -1",
	}[kind]
	if mark == "" {
		return ""
	}
	return "M" + strconv.Itoa(col) + " " + strconv.Itoa(row) + strings.Repeat(mark, cells)
}
