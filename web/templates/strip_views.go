package templates

// Strip is the verdict strip above the picture: a cell for each account, and
// one for the verdict.
type Strip struct {
	ID    string // of the part
	Cells []StripCell
	// Announce is told to screen readers when it changes: the verdict, once.
	Announce string
}

// StripCell is one account: figures, and a bar of their parts.
type StripCell struct {
	Label   string
	Figures []StripFigure
	Note    string // small and quiet, behind the figures
	Bar     []BarPart
	// Verdict makes it the cell of the verdict.
	Verdict string // "pass", "fail", "near", "open"; empty for an account
	Text    string // of the verdict: "FAIL", "not yet"
}

// StripFigure is a count with its word: 4 kept.
type StripFigure struct {
	ID   string // of the element with the number; empty for none
	N    string
	Word string
	// Short stands in place of the cell's label where there is no room for it.
	Short string
	Tone  Tone
}

// Tone is what a figure, a part of a bar or a word is of.
type Tone string

// The tones of the course: what was accepted is kept, lost or still running;
// what was turned away before it was accepted was not lost.
const (
	Kept    Tone = "kept"
	Lost    Tone = "lost"
	Running Tone = "running"
	Away    Tone = "away"
	Plain   Tone = "plain"
	Work    Tone = "work" // of a second ledger
)

// BarPart is a part of a bar, in percent of its width.
type BarPart struct {
	X, W string // "12.5%"
	Tone Tone
}

// mark is the sign that tells a verdict without its colour.
func (c StripCell) mark() string {
	switch c.Verdict {
	case "pass":
		return "✓"
	case "fail":
		return "✕"
	case "near":
		return "!"
	}
	return ""
}
