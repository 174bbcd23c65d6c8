package templates

// Ledgers is the page of lesson 2.
type Ledgers struct {
	Page
	Embed    bool // shown in a host's frame, from which no run can be started
	Controls []ControlGroup
	// Run is the id of the run shown, empty where it is an older or a recorded
	// one, or a record that somebody brought.
	Run  string
	Live bool // more is to come
	// Note says what is shown, such as a recorded run with its date.
	Note  string
	Steps []LedgerStep
	Frame LedgerFrame
	// Claims are figures of the recorded reference run that the prose quotes.
	Claims LedgerClaims
}

// LedgerClaims are the prose's figures.
type LedgerClaims struct {
	Admitted, Completed, Cancelled, Rejected, Unfinished int
	Heartbeat, Hold                                      string
	Date                                                 string
	Short, Chunk                                         string // the fixture's measures in seconds
	BlockStatus, LateStatus                              int
}

// LedgerStep is one guided step of lesson 2.
type LedgerStep struct {
	ID, Title, Ask, Outcome string
	Shown, Applied          bool
	ShownHow                string
	N                       int
}

// LedgerFrame is a run as it stands.
type LedgerFrame struct {
	Status  string
	Machine []MachineState
	Picture RunPicture
	// Problems are contradictions in the record.
	Problems []string
	Requests []LedgerRow
	Work     []LedgerRow
	Report   []ReportRow
	Decide   string // what a policy of zero tolerance says
	Events   []RunEvent
	// EventsLeft is how many more the record has.
	EventsLeft int
	Checks     []CheckRow
	Record     string // address of the record, empty where there is none yet
}

// MachineState is one state of the application's state machine.
type MachineState struct {
	Name, What, At string
	Now, Passed    bool
}

// RunPicture is requests and work on one axis. Places are percentages.
type RunPicture struct {
	Summary string
	Height  int
	Bottom  int
	Ticks   []Tick
	Rows    []RunRow
	Left    int // rows that are not drawn
	Lines   []Line
}

// RunRow is one request's or one piece of work's row.
type RunRow struct {
	Name, Kind string
	Y          int
	Bar        *Span
	Class      string // of the bar
	Beats      []string
	Mark       string // x of the mark that belongs to no bar
	End        string // what became of it
	EndX       string
	EndAnchor  string
	EndDX      int
	Tip        string
}

// LedgerRow is one count of a ledger.
type LedgerRow struct {
	Name  string
	Count int
	Kind  string
}

// ReportRow compares a category with the reference run's.
type ReportRow struct {
	Category, Measured, Reference string
	Matches                       bool
}

// RunEvent is one line of the record.
type RunEvent struct{ At, Text, Tone string }

// CheckRow is one point of the acceptance checklist.
type CheckRow struct {
	Text  string
	Shown bool
	How   string
}
