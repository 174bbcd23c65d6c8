// Package setting describes what a model or a fixture can be set to, once: the
// names in URLs and JSON, the labels, the ranges, and what is said of a value
// that is not allowed. Pages, forms, links, the API and searches over a model
// all read the same table.
//
// It must not know what any setting means.
package setting

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Control describes one setting of S. Amounts are in tenths throughout, counts
// and percentages too (4 workers are 40), so that one arithmetic serves all.
type Control[S any] struct {
	Name  string
	Label string
	// Meaning says in a sentence what the setting is, of a toggle what holds
	// when it is on. Descriptions for programs have it; pages have the label.
	Meaning string
	Unit    string   // "s", "%" or "" for a count
	Toggle  bool     // on or off; amounts are then On and Off
	Words   []string // one of these; amounts are then their places, from 0
	None    bool     // "none" is taken beside the numbers; its amount is [None]
	OrZero  bool     // 0 is taken beside the numbers from Min on, and is for none
	Min     Time
	Max     Time
	Step    Time // of a slider
	Grain   Time // of what a URL or the API may say: 0.1 s, or 1 for counts
	// Opening is the value of a setting that is left out.
	Opening Time

	// Field points at the setting in an S: an *int, *Time, *bool, a [Quantity],
	// or for Words a *uint8.
	Field func(*S) any
}

// Quantity is a pointer to a number of another type than those of this package.
type Quantity interface {
	Amount() Time
	SetAmount(Time)
}

// The amounts of a toggle, and of a bound that is not set.
const (
	Tenth      = Time(1)
	Whole      = Second
	On         = Second
	Off        = Time(0)
	None  Time = -1
)

// NoBound is how URLs, forms and JSON write [None].
const NoBound = "none"

// Amount returns the control's value in s, in tenths.
func (c *Control[S]) Amount(s S) Time { return c.amount(&s) }

func (c *Control[S]) amount(s *S) Time {
	switch p := c.Field(s).(type) {
	case *int:
		const most = math.MaxInt32 / int(Whole) // larger ones are in no range and must not wrap into one
		return Time(min(max(*p, -most), most)) * Whole
	case *Time:
		return *p
	case *uint8:
		return Time(*p)
	case *bool:
		if *p {
			return On
		}
	case Quantity:
		return p.Amount()
	}
	return Off
}

// Set sets the control in s to an amount that it allows.
func (c *Control[S]) Set(s *S, v Time) {
	switch p := c.Field(s).(type) {
	case *int:
		*p = int(v / Whole)
	case *Time:
		*p = v
	case *uint8:
		*p = uint8(v)
	case *bool:
		*p = v == On
	case Quantity:
		p.SetAmount(v)
	}
}

// Text returns the control's value in s as a URL writes it: "4.5", "1", "0",
// "none", a word.
func (c *Control[S]) Text(s S) string { return c.TextOf(c.Amount(s)) }

// TextOf writes an amount that the control allows as a URL does.
func (c *Control[S]) TextOf(v Time) string { return string(c.appendText(nil, v)) }

// Say writes an amount for a person: "20 s", "25 %", "2", "on", "none".
func (c *Control[S]) Say(v Time) string {
	switch {
	case c.Toggle && v == On:
		return "on"
	case c.Toggle:
		return "off"
	case c.Unit == "" || c.None && v == None:
		return c.TextOf(v)
	}
	return c.TextOf(v) + " " + c.Unit
}

func (c *Control[S]) appendText(b []byte, v Time) []byte {
	switch {
	case c.Words != nil:
		return append(b, c.Words[v]...)
	case c.Toggle:
		if v == On {
			return append(b, '1')
		}
		return append(b, '0')
	case c.None && v == None:
		return append(b, NoBound...)
	}
	return v.Append(b)
}

// InRange reports whether the control allows the amount.
func (c *Control[S]) InRange(v Time) bool {
	switch {
	case c.Toggle:
		return v == On || v == Off
	case c.Words != nil:
		return v >= 0 && int(v) < len(c.Words)
	case c.None && v == None, c.OrZero && v == 0:
		return true
	}
	return v >= c.Min && v <= c.Max && v%c.Grain == 0
}

// Allowed says in words what the control takes.
func (c *Control[S]) Allowed() string {
	switch {
	case c.Toggle:
		return "1 (on) or 0 (off)"
	case c.Words != nil:
		return "one of " + strings.Join(c.Words, ", ")
	}
	unit := c.Unit
	if unit != "" {
		unit = " " + unit
	}
	text := fmt.Sprintf("a plain decimal number from %v to %v%s in steps of %v%s", c.Min, c.Max, unit, c.Grain, unit)
	if c.Grain == Whole {
		text = fmt.Sprintf("a whole number from %v to %v%s", c.Min, c.Max, unit)
	}
	if c.OrZero {
		text += ", or 0 for none"
	}
	if c.None {
		text += ", or " + NoBound
	}
	return text
}

// Parse reads text as a URL or a form gives it and sets the control in s.
// On an error, an *[Error], s is unchanged.
func (c *Control[S]) Parse(s *S, text string) error {
	v, ok := c.parse(text)
	if !ok {
		return c.Refuse(text)
	}
	c.Set(s, v)
	return nil
}

func (c *Control[S]) parse(text string) (Time, bool) {
	switch {
	case c.Toggle:
		return On * Time(len(strings.TrimPrefix(text, "0"))), text == "0" || text == "1"
	case c.Words != nil:
		i := slices.Index(c.Words, text)
		return Time(i), i >= 0
	case c.None && text == NoBound:
		return None, true
	}
	v, err := ParseTime(text)
	return v, err == nil && c.InRange(v)
}

// Refuse returns the *[Error] for a value that is not allowed.
func (c *Control[S]) Refuse(got string) error {
	return &Error{Setting: c.Name, Label: c.Label, Got: got, Allowed: c.Allowed()}
}

// Error refuses one setting: it names it, what came, and what is allowed.
type Error struct {
	Setting string
	Label   string // on the page; "" for what the page has no label for
	Got     string
	Allowed string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: got %s; allowed: %s", Quote(e.Setting), Quote(e.Got), e.Allowed)
}

// Sentence says the same to a person, with the label that the page has for the
// setting.
func (e *Error) Sentence() string {
	if e.Label == "" {
		return e.Error()
	}
	return fmt.Sprintf("%s: got %s; allowed: %s", e.Label, Quote(e.Got), e.Allowed)
}

// Quote prints foreign text on one line of bounded length: in double quotes,
// control characters escaped, cut after 80 bytes with the whole length told.
func Quote(text string) string {
	const most = 80
	if len(text) <= most {
		return fmt.Sprintf("%q", text)
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return fmt.Sprintf("%q… (%d bytes)", text[:cut], len(text))
}
