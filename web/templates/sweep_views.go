package templates

import (
	"strconv"
	"strings"
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
	Height       int // of the cells, in pixels
	Kinds        []SweepKind
	HereX, HereY int    // the cell of the settings themselves; row 0 is the top
	Here         string // what they lead to
	NoPass       string // said where no cell passes
	Held         bool   // it would answer a prediction that is still to be made
	Lines        []SweepLine
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

// Option is an entry of a select.
type Option struct {
	Value, Name string
	Chosen      bool
}

// Carried is a part of the page's query that a form takes along.
type Carried struct{ Name, Value string }

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
