package templates

import "slices"

// Share offers links, frames and files of a view.
type Share struct {
	Page
	Action   string
	Carry    []Carried // the view, beside the form's own options
	Timed    bool      // the lesson has time: what follows too
	At       bool      // the link opens at the view's time
	T, Opens string    // that time, and where the lesson opens, in seconds
	Requires bool      // the lesson can ask for a prediction
	Require  bool      // and this link does
	Hide     []Option
	Lock     []Option
	Link     string // absolute
	Snippet  string
	QR       string // of a picture
	Files    []Download
	Handout  string
	Key      string // of the handout; "" where it would answer what the link asks
	Back     string
}

// linked reports whether the form has options of the link itself.
func (v Share) linked() bool { return v.timed() || v.Requires }

// timed reports whether it makes a difference where the link opens.
func (v Share) timed() bool { return v.Timed && (v.T != v.Opens || v.At) }

func anyChosen(options []Option) bool {
	return slices.ContainsFunc(options, func(o Option) bool { return o.Chosen })
}
