package templates

import "strings"

// Analysis is what is said of a run as a whole: a prediction beside it, why
// the gate decided as it did, another run beside it, and the map of verdicts.
type Analysis struct {
	Held    bool // a prediction is required, and what would answer it is not told yet
	Predict Predict
	Explain Explain
	Compare Compare
	Sweep   Sweep
	// Story is the lesson's text, where a prediction was required; SettingsQuery
	// goes with it.
	Story         *Story
	SettingsQuery string
}

// Predict is a prediction: to be made, committed, or judged.
type Predict struct {
	Action    string // of the form
	Carry     []Carried
	Required  bool
	Committed bool
	Query     string // of the committed prediction, as a part of a link
	Most      string // requests that arrive
	Requests  []PredictRequest
	None      bool // it is said that none dies
	Completed string
	Killed    string
	Verdict   string
	Said      []string // a committed prediction in words
	Withdraw  string   // the view without the prediction
	Seen      bool     // the run has been seen, so that there is nothing to predict
	Run       string   // its settings in words
	// Judged, and what follows, once the run is seen to its end.
	Judged     bool
	Right      bool
	Sentence   string
	Rows       []PredictRow
	Wrong      []PredictWrong
	Strip      []PredictMark
	StripWidth string // class of its least width, that of the lanes
}

// PredictRequest is a request that can be marked.
type PredictRequest struct {
	N      int
	At     string
	Marked bool
}

// PredictRow is a part of a prediction beside the truth.
type PredictRow struct {
	What, Said, Truth, Judged, Kind string
}

// PredictWrong is a wrong mark and what decided it.
type PredictWrong struct {
	Sentence string
	Events   []TraceEvent
}

// PredictMark is a request on the strip under the lanes.
type PredictMark struct {
	N      int
	X      string
	Kind   string // open, marked, hit, missed, spared
	Symbol string
	Tip    string
}

// Explain is why the gate decided as it did.
type Explain struct {
	Decided   bool // else the run has not been seen to its end
	Heading   string
	Sentences []ExplainSentence
	Rejected  string
	Margin    string
	Fixes     []DrainFix
	Other     []DrainFix // of the traffic, or of what is asked
	Pairs     []DrainFix // of two settings, where no single one does
	None      []string
}

// ExplainSentence tells what became of some requests, with the events that
// decided it.
type ExplainSentence struct {
	Text   string
	Events []TraceEvent
}

// DrainFix is a change of one setting that passes the gate.
type DrainFix struct {
	Text, Sentence string
	Values         string // of the settings it changes, as a query
	Href           string
}

// Compare is another run beside the one that plays.
type Compare struct {
	On       bool
	Held     bool   // told once the prediction was seen against the run
	Pin      string // the view with the current run as run A
	End      string // the view without the comparison
	Swap     string
	Same     bool
	Pending  bool  // the runs have not been seen to their end
	Lanes    Lanes // of run A
	Settings []CompareRow
	Account  []CompareRow
	Parting  string
	PartAt   string // place on the axis
	PartText string
	Fates    []string
}

// CompareRow is a figure of both runs.
type CompareRow struct{ Name, A, B, By string }

// joinSentence joins parts of a sentence with semicolons.
func joinSentence(parts []string) string { return strings.Join(parts, "; ") }
