package templates

import "strconv"

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

// SweepStroke is the mark within one cell that tells its kind apart without
// colour; a cell that passes has none.
func SweepStroke(kind string, col, row int) string {
	at := "M" + strconv.Itoa(col) + " " + strconv.Itoa(row)
	switch kind {
	case "killed":
		return at + "m0 1l1 -1"
	case "cancelled", "deadline", "running":
		return at + "l1 1"
	case "refused", "rejected":
		return at + "m0 .5h1"
	case "unknown":
		return at + "m.5 0v1"
	case "cleanup":
		return at + "m.5 0v1m-.5 -.5h1"
	case "kill":
		return at + "m0 1h1"
	}
	return ""
}
