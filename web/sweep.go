package web

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"drainlab/internal/clocks"
	"drainlab/internal/setting"
	"drainlab/internal/sim"
	"drainlab/web/templates"
)

// axes are the two settings of a sweep, by name.
type axes struct{ X, Y string }

// takeAxes takes a sweep's axes out of a query; what is not named is as in def.
func takeAxes[S any](query map[string][]string, table setting.Table[S], def axes) (axes, error) {
	a := def
	for _, axis := range []struct {
		name string
		to   *string
	}{{"x", &a.X}, {"y", &a.Y}} {
		err := takeParam(query, axis.name, func(text string) error {
			if _, ok := table.Find(text); !ok {
				return &setting.Error{Setting: axis.name, Got: text, Allowed: "the name of a setting: " + strings.Join(names(table), ", ")}
			}
			*axis.to = text
			return nil
		})
		if err != nil {
			return a, err
		}
	}
	if a.X == a.Y {
		return a, &setting.Error{Setting: "y", Got: a.Y, Allowed: "another setting than x"}
	}
	return a, nil
}

func names[S any](table setting.Table[S]) []string {
	list := make([]string, len(table))
	for i, c := range table {
		list[i] = c.Name
	}
	return list
}

// appendTo appends the axes to a query where they are not those of def.
func (a axes) appendTo(query string, def axes) string {
	if a.X != def.X {
		query += "&x=" + a.X
	}
	if a.Y != def.Y {
		query += "&y=" + a.Y
	}
	return query
}

// cellKind is a kind of a sweep's cells.
type cellKind struct{ id, name string }

// The lessons' sweeps, and the kinds of their cells.
var (
	drainAxes  = axes{X: "grace", Y: "duration"}
	clocksAxes = axes{X: "grace", Y: "prestop"}
	drainCells = []cellKind{{"pass", "PASS"}, {"killed", "killed"}, {"running", "still running"}, {"rejected", "too many rejected"}}
	clockCells = []cellKind{{"killed", "killed"}, {"cancelled", "cancelled"}, {"deadline", "failed at the deadline"}, {"refused", "refused"},
		{"unknown", "work unknown"}, {"cleanup", "cleanup cut or not begun"}, {"kill", "ended by the kill"}, {"pass", "PASS"}, {"impossible", "not possible"}}
)

// judgeDrain returns a judge of lesson 1's settings: a place in drainCells.
func judgeDrain() func(sim.Settings) int {
	var run sim.Run
	return func(s sim.Settings) int {
		run.Reset(s)
		switch a := run.Account(); {
		case a.Killed > 0:
			return 1
		case a.Running > 0:
			return 2
		case !a.Passes(s.Allowance):
			return 3
		}
		return 0
	}
}

// judgeClocks returns a judge of lesson 3's settings: a place in clockCells.
func judgeClocks() func(clocks.Settings) int {
	var run clocks.Run
	return func(s clocks.Settings) int {
		loss, possible := clocks.Gravity(&run, s)
		if !possible {
			return len(clockCells) - 1
		}
		return int(loss)
	}
}

// buildSweep runs s with each pair of the axes' stops, and its own values.
func buildSweep[S any](table setting.Table[S], s S, a axes, page, query string, kinds []cellKind, judge func(S) int) templates.Sweep {
	x, _ := table.Find(a.X)
	y, _ := table.Find(a.Y)
	xs, hereX := stopsWith(&x, x.Amount(s))
	ys, hereY := stopsWith(&y, y.Amount(s))
	cells := setting.Grid(s, &x, &y, xs, ys, judge)
	v := templates.Sweep{Page: page, Columns: len(xs), Rows: len(ys), HereX: hereX, HereY: len(ys) - 1 - hereY,
		X: sweepAxis(&x, xs), Y: sweepAxis(&y, ys)}
	v.Height = min(max(6*v.Rows, 96), 372)
	for i := range v.X.Ticks {
		v.X.Ticks[i].Anchor = "middle"
	}
	v.X.Ticks[len(v.X.Ticks)-1].Anchor = "end"
	slices.Reverse(v.Y.Ticks)
	for i := range v.Y.Ticks { // upwards
		v.Y.Ticks[i].At = flip(v.Y.Ticks[i].At)
	}
	for _, c := range table {
		v.Settings = append(v.Settings, templates.Option{Value: c.Name, Name: c.Label})
	}
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		v.Carry = append(v.Carry, templates.Carried{Name: name, Value: value})
	}
	for k, kind := range kinds {
		v.Kinds = append(v.Kinds, sweepKind(kind, k, cells, len(xs), len(ys)))
	}
	here := kinds[cells[hereY*len(xs)+hereX]]
	v.Here = fmt.Sprintf("%s %s, %s %s: %s", y.Label, y.Say(ys[hereY]), x.Label, x.Say(xs[hereX]), here.name)
	pass := slices.IndexFunc(kinds, func(k cellKind) bool { return k.id == "pass" })
	if v.Kinds[pass].Count == 0 {
		v.NoPass = "No pair of these two passes while the other settings stay as they are."
	}
	for row := len(ys) - 1; row >= 0; row-- {
		v.Lines = append(v.Lines, templates.SweepLine{Y: y.Say(ys[row]), Text: passText(&x, xs, cells[row*len(xs):][:len(xs)], pass)})
	}
	return v
}

// stopsWith returns a control's stops with one more where the amount is not
// among them, and the amount's place.
func stopsWith[S any](c *setting.Control[S], amount setting.Time) ([]setting.Time, int) {
	stops := c.Stops()
	at, found := slices.BinarySearchFunc(stops, amount, func(a, b setting.Time) int { return order(a) - order(b) })
	if !found {
		stops = slices.Insert(stops, at, amount)
	}
	return stops, at
}

// order has no bound come after all numbers.
func order(t setting.Time) int {
	if t == setting.None {
		return 1 << 30
	}
	return int(t)
}

func sweepAxis[S any](c *setting.Control[S], stops []setting.Time) templates.SweepAxis {
	a := templates.SweepAxis{Name: c.Name, Label: c.Label}
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
		a.Ticks = append(a.Ticks, templates.SweepTick{At: percent(2*i+1, 2*len(stops)), Label: label})
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
func sweepKind(kind cellKind, k int, cells []int, columns, rows int) templates.SweepKind {
	v := templates.SweepKind{ID: kind.id, Name: kind.name}
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
			strokes = append(strokes, templates.SweepStrokes(kind.id, start, top, col-start)...)
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
	if len(parts) == 0 {
		return "no PASS"
	}
	return "PASS at " + sentenceList(parts)
}
