package templates

import (
	"slices"
	"strings"
)

// Clocks is the page of lesson 3.
type Clocks struct {
	Page
	Frame         ClocksFrame
	Start         string // settings in which a clock cuts
	Path          string // of views of the lesson: that of the page, or of its frame
	Embed, Locked bool
	Hide          []string
	Cases         []ClockCase
	// Presets are the platforms' figures as the documentation has them.
	Presets  []PlatformRow
	LookedUp string
	Story    ClocksStory
}

// ClocksFrame is what follows from the settings: everything that changes as
// one of them does.
type ClocksFrame struct {
	Query     string // the page's view, canonical
	Locked    bool   // some settings cannot be changed
	Settings  string // of it, the settings alone
	Picture   ClockPicture
	Verdict   string
	Announce  string
	Reasons   []string
	Strip     string
	Counts    []ClockCount
	Work      []ClockCount
	Gap       string
	Budget    BudgetBar
	Fix       FixList
	Platforms []PlatformChoice
	Platform  *PlatformNote // nil where none is chosen
	Groups    []ControlGroup
	Sweep     Sweep
	Steps     []ClockStep
	Requests  []ClockRequestRow
	Head      []string
	Matrix    [][]string
	Downloads []Download
	Exports   []ExportText
}

// ClockCount is one figure of the account or of the work.
type ClockCount struct {
	Name, Kind string
	Count      int
}

// ClockPicture is the termination on one axis. Places are percentages, heights
// and rows pixels.
type ClockPicture struct {
	Summary     string
	Height      int
	Top, Bottom int
	Rows        []ClockRow
	Ticks       []ClockTick
	Zero        string
	ZeroAnchor  string
	Kill        *ClockLine // nil where it lies beyond the picture
	KillBeyond  string
	Bars        []ClockBar
	Marks       []ClockMark
	Note        string
}

// ClockRow names a row and its clock's owner.
type ClockRow struct {
	Name, Owner string
	Y, Height   int
}

// ClockTick is a line of the grid.
type ClockTick struct{ X, Label string }

// ClockLine is a line over all rows.
type ClockLine struct {
	X, Label, Kind, Anchor string
}

// ClockBar is a span of time.
type ClockBar struct {
	X, W, Kind string
	Y, H       int
	Hatch      string // id of a pattern over it
	Label      string
	LabelX     string
	Anchor     string
	DX         int
}

// ClockMark is a moment.
type ClockMark struct {
	X, Symbol, Kind string
	Y               int
	Label           string
	Anchor          string
	DX              int
}

// BudgetBar is the planning rule as parts of one bar.
type BudgetBar struct {
	Parts     []BudgetPart
	Kill      string // place of the outer deadline
	KillText  string
	KillRight bool
	Text      string
	Sum       string // the rule as an addition
	None      string // why there is no plan
}

// BudgetPart is one part of the plan.
type BudgetPart struct {
	Name, Kind, Value string
	X, W              string
	Room              string // class: how wide the bar must be for the words in the part; "" where they never fit
}

// FixList is what would make a run pass, or fail.
type FixList struct {
	Heading, Lead string
	Changes       []FixRow
	Workload      []FixRow // of what comes in, which one does not set
	Pairs         []FixRow
	None          []string // settings of which no value does
	NoneText      string
}

// FixRow is a change that was found.
type FixRow struct {
	ID, Text, Verdict, Kind, Href string
}

// PlatformChoice is one preset.
type PlatformChoice struct {
	ID, Name, Href string
	Now            bool
}

// PlatformNote says what the chosen platform's documentation says.
type PlatformNote struct {
	ID, Name, Text, Document, URL, LookedUp string
	Differs                                 string // where the settings are no longer its defaults
	Reset                                   string
}

// PlatformRow is a platform in the table of all.
type PlatformRow struct {
	Name, Signal, Grace, Most, Includes, Document, URL, Setting string
}

// ClockStep is a moment of the termination in words.
type ClockStep struct{ At, Text, Kind string }

// ClockRequestRow is a group of requests that shared a fate.
type ClockRequestRow struct{ Who, Arrival, Outcome, Work, Kind string }

// Download is a file made of the values on the page.
type Download struct{ Name, Href string }

// ExportText is the values in a platform's own words.
type ExportText struct {
	ID, Name, Href, Text, Note string
	Open                       bool
}

// ClockCase is a worked case: settings to open, and what they lead to.
type ClockCase struct {
	Title, Ask, Href, Outcome string
}

// ClocksStory is the figures that the prose quotes; all are computed.
type ClocksStory struct {
	Refused, Lag, HookEnough                string
	BudgetExit, BudgetLong                  string
	CutKill, CutLeft                        string
	StreamTimeout, StreamCancel, StreamStop string
	StreamLong, StreamExit                  string
	OpeningNeed, OpeningKill, OpeningSlack  string
	OpeningRemaining, OpeningTerm           string
	OpeningRejected                         int
}

func upper(text string) string { return strings.ToUpper(text) }

func joinNames(names []string) string { return strings.Join(names, " · ") }

func killAnchor(right bool) string {
	if right {
		return "end"
	}
	return "start"
}

func killDX(right bool) string {
	if right {
		return "-4"
	}
	return "4"
}

// Shows reports whether a part of the page is shown.
func (v Clocks) Shows(part string) bool { return !slices.Contains(v.Hide, part) }
