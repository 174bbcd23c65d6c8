package templates

// Teach is the instructors' page.
type Teach struct {
	Page
	Action   string
	Lessons  []Option
	Was      string // the lesson that the form is of: when another is chosen, what was said of this one goes
	WasStart string // and the starting point that its instant is of
	Starts   []OptionGroup
	Timed    bool   // the lesson has time
	T, Last  string // in seconds: where the link opens, and the run's end
	Requires bool   // the lesson can ask for a prediction
	Require  bool   // and this link does
	Hide     []Option
	Lock     []Option

	Whole, Lowest, Highest int    // heights of a frame, in CSS pixels
	GivenHeight            string // as it was asked for; "" for that at which it is complete

	Link, Frame, Snippet string
	Height               int    // of the snippet's frame
	OnlyFrom             string // hosts that this server lets frame a lesson; "" for all

	Preview, PreviewID, PreviewTitle string
	PreviewHeight                    int

	Hosts      []HostGuide
	Doctor     string // its snippet
	DoctorLink string
}

// HostGuide says how a lesson comes into one host.
type HostGuide struct {
	ID, Name string
	What     string // names the snippet
	Snippet  string
	Steps    []string
	Does     string // to the frame: strips, sizes
	Works    string
}

// Doctor is the page that checks a host.
type Doctor struct {
	Page
	Checks []DoctorCheck
	Teach  string // address of the instructors' page
	Lesson string // path of a frame that streams: it is tried out
}

// DoctorCheck is one thing that the page looks at.
type DoctorCheck struct{ ID, Name string }

// rowsOf is the height of a field that holds a snippet, in lines of about
// fifty letters. One that is longer scrolls.
func rowsOf(text string) int { return min(1+len(text)/50, 6) }

// copyName is the name of the button that copies a text.
func copyName(host, name string) string {
	if host == "" {
		return "Copy: " + name
	}
	return "Copy for " + host + ": " + name
}
