// Package templates prints the pages and their fragments. Each takes a view
// struct that says everything it prints: a screen decides nothing.
package templates

import (
	"slices"

	"drainlab/internal/sim"
)

// Page is what every page has around its own content.
type Page struct {
	Title       string
	Description string
	Assets      Assets
	Lessons     []LessonLink
	// Refresh makes a page without script load itself again after so many
	// seconds; 0: never.
	Refresh int
	Card    Card
	Whole   string // of a framed page, the way to the whole one
}

// Card is what other sites are told of a page; addresses are absolute. The
// zero Card tells nothing.
type Card struct {
	URL, Description, Image, Alt string
	JSON, XML                    string // oEmbed
}

// Assets are the URLs of the static files. Client is empty where the bundle
// was not built; the page then works by forms and links.
type Assets struct {
	CSS, Client, Theme, Icon string
}

// LessonLink is one lesson in the course's navigation.
type LessonLink struct {
	Number  int
	Name    string
	Href    string
	Summary string
	Here    bool
}

// Home is the front page.
type Home struct {
	Page
	Lanes Lanes
	Gate  Gate
	Story Story
}

// Problem is an error page: what is wrong, and a way on.
type Problem struct {
	Page
	Status   int
	Heading  string
	Sentence string
	LinkText string
	Href     string
}

// Drain is the page of lesson 1.
type Drain struct {
	Page
	// Query is the page's view as a canonical query: settings, t, speed.
	Query string
	// SettingsQuery is the settings alone.
	SettingsQuery string
	Path          string // of views of the lesson: that of the page, or of its frame
	Hide          []string
	Lock          string // names of the settings that cannot be changed, by commas
	Alone         bool   // it cannot be opened together: a session has no locks, hidden parts or required predictions
	Waits         bool   // the player is locked until a prediction is committed
	Embed         bool   // shown in a host's frame
	Share         string // the way to links and frames of this view
	// Action is where the page's forms post to.
	Action   string
	Analysis Analysis
	// Session is the id of the session shown, empty for a view of one's own.
	Session string
	Frame   Frame
	Story   Story
	Kinds   []KindOption
}

// Shows reports whether a part of the page is shown.
func (v Drain) Shows(part string) bool { return !slices.Contains(v.Hide, part) }

// KindOption is one choice of the trace's filter.
type KindOption struct {
	Kind sim.Kind
	Name string
}

// Frame holds the fragments of one frame of lesson 1.
type Frame struct {
	Lanes       Lanes
	Inspector   Inspector
	Account     Account
	Gate        Gate
	Results     Results
	Trace       Trace
	Controls    Controls
	Transport   Transport
	Experiments Experiments
}

// Lanes is the picture of the run up to T. Horizontal places are percentages
// of the plot's width, so that it fits any; vertical ones are pixels.
type Lanes struct {
	T         string
	Summary   string
	Width     string // class of the plot's least width
	Height    int    // of the whole picture
	Top       int    // of the plot
	Bottom    int    // of the plot
	Playhead  string
	Ticks     []Tick
	ArrivalsY int
	Arrivals  []Arrival
	Workers   []LaneWorker
	Bands     []Band
	Bars      []Bar
	BarHeight int
	Marks     []Mark
	Signal    *Line
	Deadline  *Line
	Window    *Span // the grace window
	Part      *Line // where the run parts from the one that it is compared with
}

// Tick is a labelled line of the time axis.
type Tick struct{ X, Label, Anchor string }

// Line is a labelled vertical line.
type Line struct {
	X, Label, Anchor string
	DX               int
	Reached          bool
}

// Span is a stretch of the time axis.
type Span struct{ X, W string }

// Arrival is the mark of a request's arrival.
type Arrival struct {
	Request       int
	X, HitX, HitW string
	Admitted      bool
	Tip, Anchor   string
	First         bool
}

// LaneWorker is the left-hand name of a worker's lanes.
type LaneWorker struct {
	Name, State string
	Y           int // of its band
	Rows        []SlotRow
	RowHeight   int
}

// SlotRow is one slot's row.
type SlotRow struct{ N, Y int }

// Band is a stretch of a worker's life in one state.
type Band struct {
	Span
	Y     int
	State string
	Label string
}

// Bar is one invocation.
type Bar struct {
	Y       int
	Request int
	X       string
	Stages  []StageSpan
	Whole   Span
	Killed  bool
	Tip     string
}

// StageSpan is one stage of a bar.
type StageSpan struct {
	Span
	Stage string
}

// Mark is the end of an invocation or a worker: "ok", "killed", "exited", "failed".
type Mark struct {
	X     string
	Y     int
	Kind  string
	Label string
	// Anchor and DX place the label beside the mark.
	Anchor string
	DX     int
}

// Inspector is the panel of every worker; which one is seen is chosen in the
// browser.
type Inspector struct {
	Chosen  int
	Workers []InspectedWorker
}

// InspectedWorker is all there is to say of one worker.
type InspectedWorker struct {
	ID      int
	Booted  bool
	Title   string
	State   string
	Since   string
	Facts   []Fact
	Owned   []OwnedInvocation
	Ended   []EndedInvocation
	Waiting string // for a worker that has not booted: when it will
}

// Fact is a name and what it is.
type Fact struct{ Name, Value string }

// OwnedInvocation occupies a slot now.
type OwnedInvocation struct {
	Slot, Request int
	Stage         string
	Percent       int
	Admitted      string
	Ends          string
}

// EndedInvocation is one that the worker owned.
type EndedInvocation struct {
	Request int
	Outcome string
	At      string
	Killed  bool
}

// Account is the counts so far.
type Account struct {
	sim.Account
	Percent  string
	Segments []Segment
}

// Segment is one part of the account bar.
type Segment struct {
	Span
	Kind  string
	Count int
}

// Gate is the verdict or, before the end, how things stand.
type Gate struct {
	Verdict   string
	Reasons   []string
	Announce  string
	Allowance int
	T         string
}

// Results are the committed sums, newest first.
type Results struct{ Rows []Result }

// Result is one committed sum.
type Result struct {
	Request    int
	Terms      string
	Sum        int
	At         string
	Worker     int
	WorkerGone string
}

// Trace is every event up to now, newest first.
type Trace struct {
	Events []TraceEvent
}

// TraceEvent is one event as a sentence.
type TraceEvent struct {
	Seq  int32
	At   string
	Kind sim.Kind
	Who  string
	Word string
	Tone string
	Rest string
}

// Controls are the settings' form controls.
type Controls struct{ Groups []ControlGroup }

// ControlGroup is a heading and its controls.
type ControlGroup struct {
	Name     string
	Controls []Control
}

// Control is one slider with its number field, or one toggle.
type Control struct {
	Name, Label, Unit, UnitName string
	Toggle                      bool
	On                          bool
	Value, Min, Max, Step       string
	FieldStep                   string
	Text                        string // the value with its unit in words
	Allowed                     string // what the field takes, in words
	Locked                      bool   // it cannot be changed
	None                        bool   // the field takes "none" too
	Choices                     []Option
	// Of a slider over stops: their values by spaces, the place of the nearest
	// one, and of the last.
	Stops, Stop, StopMax string
}

// Transport is the player's controls.
type Transport struct {
	T        string // "47.0"
	Exact    string // "47"
	Spoken   string
	Playing  bool
	AtEnd    bool
	Speeds   []SpeedChoice
	AtStart  bool
	Max      string
	Locked   bool // until a prediction is committed
	SpeedNow string
}

// SpeedChoice is one speed of the player.
type SpeedChoice struct {
	Value string
	Name  string
	Now   bool
}

// Experiments are the guided steps.
type Experiments struct {
	Steps []Step
	Done  int
}

// Step is one guided step.
type Step struct {
	N        int
	ID       string
	Title    string
	Ask      string
	Outcome  string // what the run shows, told once it has
	Applied  bool
	Shown    bool
	ShownHow string
}

// Story holds the figures that the lesson's prose quotes. Each comes from a
// run of the model.
type Story struct {
	Opening, Grace10, Grace20, HandlerOff, Replacement, Gate StoryRun
	// Intro describes the opening run.
	Intro StoryIntro
	// OffGrace is the least grace with which the handler-off run kills nothing.
	OffGrace string
	// LastArrival is when the last request arrives.
	LastArrival string
	// Gap is how long after the signal the replacement is ready.
	Gap string
	// LateAdmissions are the requests that the replacement admits.
	LateAdmissions string
	// After is the request that the worker admits after the signal with the
	// handler off, and when.
	After   string
	AfterAt string
}

// StoryIntro is the opening run in its own figures.
type StoryIntro struct {
	Slots                                            int
	Startup, Interval, First, Last, Duration, Signal string
}

// StoryRun is one worked case.
type StoryRun struct {
	sim.Account
	Percent    string
	Gone       string // when worker 1 is gone
	KilledList string
	Saved      string // the request that completes last before a forced stop
	SavedAt    string
	Verdict    string
}
