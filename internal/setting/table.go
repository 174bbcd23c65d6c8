package setting

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Table is all settings of S in the order of their contract: JSON, canonical
// URLs and the API's documentation follow it.
type Table[S any] []Control[S]

// Opening returns the values of settings that are left out.
func (t Table[S]) Opening() S {
	var s S
	for i := range t {
		t[i].Set(&s, t[i].Opening)
	}
	return s
}

// Find returns the control with that URL name.
func (t Table[S]) Find(name string) (Control[S], bool) {
	i := slices.IndexFunc(t, func(c Control[S]) bool { return c.Name == name })
	if i < 0 {
		return Control[S]{}, false
	}
	return t[i], true
}

// Validate returns an *[Error] for the first setting out of its range.
func (t Table[S]) Validate(s S) error {
	for i := range t {
		c := &t[i]
		v := c.amount(&s)
		if c.InRange(v) {
			continue
		}
		got := v.String()
		if c.Words != nil {
			got = strconv.Itoa(int(v))
		}
		return c.Refuse(got)
	}
	return nil
}

// Parse reads settings from a query's or a form's values. A setting left out
// keeps its opening value. An unknown name, a name given twice or a value not
// allowed is an *[Error]. Of several faults the first in the contract's order
// is told, unknown names last.
func (t Table[S]) Parse(values map[string][]string) (S, error) {
	s := t.Opening()
	err := t.Change(&s, values)
	return s, err
}

// Change sets what values name and leaves the rest of s. On an error, of the
// same kinds as for [Table.Parse], s is unchanged.
func (t Table[S]) Change(s *S, values map[string][]string) error {
	next := *s
	known := 0
	for i := range t {
		c := &t[i]
		given, ok := values[c.Name]
		if !ok {
			continue
		}
		known++
		if len(given) != 1 {
			return &Error{Setting: c.Name, Label: c.Label, Got: strings.Join(given, ", "), Allowed: "one value"}
		}
		if err := c.Parse(&next, given[0]); err != nil {
			return err
		}
	}
	if known != len(values) {
		var unknown []string
		for name := range values {
			if _, ok := t.Find(name); !ok {
				unknown = append(unknown, name)
			}
		}
		slices.Sort(unknown)
		return t.unknown(unknown[0], strings.Join(values[unknown[0]], ", "))
	}
	*s = next
	return nil
}

func (t Table[S]) unknown(name, got string) error {
	names := make([]string, len(t))
	for i, c := range t {
		names[i] = c.Name
	}
	return &Error{Setting: name, Got: got, Allowed: "no setting of this name; there are " + strings.Join(names, ", ")}
}

// AppendQuery appends all settings in the contract's order as a URL query:
// "workers=1&slots=4&…". Equal settings give equal bytes.
func (t Table[S]) AppendQuery(b []byte, s S) []byte {
	for i := range t {
		c := &t[i]
		if i > 0 {
			b = append(b, '&')
		}
		b = append(b, c.Name...)
		b = append(b, '=')
		b = c.appendText(b, c.amount(&s))
	}
	return b
}

// AppendJSON appends the settings as a JSON object: numbers, toggles as true
// and false, words and "none" as text.
func (t Table[S]) AppendJSON(b []byte, s S) []byte {
	b = append(b, '{')
	for i := range t {
		c := &t[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, c.Name...)
		b = append(b, `":`...)
		switch v := c.amount(&s); {
		case c.Toggle:
			b = strconv.AppendBool(b, v == On)
		case c.Words != nil || c.None && v == None:
			b = append(b, '"')
			b = c.appendText(b, v)
			b = append(b, '"')
		default:
			b = v.Append(b)
		}
	}
	return append(b, '}')
}

// ParseJSON reads one JSON object of settings in the form that
// [Table.AppendJSON] writes, numbers in plain decimal notation. Settings left
// out keep their opening values; unknown, repeated or wrong ones are an
// *[Error], anything that is not one JSON object another error.
func (t Table[S]) ParseJSON(data []byte) (S, error) {
	s := t.Opening()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	tok, err := dec.Token()
	if err != nil {
		return s, jsonError(err)
	}
	if tok != json.Delim('{') {
		return s, errors.New("not a JSON object of settings")
	}
	seen := make(map[string]bool, len(t))
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return s, jsonError(err)
		}
		name := tok.(string) // the decoder allows nothing else for a key
		tok, err = dec.Token()
		if err != nil {
			return s, jsonError(err)
		}
		c, ok := t.Find(name)
		switch {
		case !ok:
			return s, t.unknown(name, fmt.Sprint(tok))
		case seen[name]:
			return s, &Error{Setting: name, Label: c.Label, Got: fmt.Sprint(tok) + " a second time", Allowed: "one value"}
		}
		seen[name] = true
		if err := c.parseToken(&s, tok); err != nil {
			return s, err
		}
	}
	if _, err := dec.Token(); err != nil { // the closing brace
		return s, jsonError(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return s, errors.New("more than one JSON value in the line")
	}
	return s, nil
}

func (c *Control[S]) parseToken(s *S, tok json.Token) error {
	got := fmt.Sprint(tok)
	switch v := tok.(type) {
	case nil:
		got = "null"
	case json.Delim:
		got = "an object or a list"
	case string:
		if c.Words != nil || c.None && v == NoBound {
			return c.Parse(s, v)
		}
		got = fmt.Sprintf("the text %q", v)
	case bool:
		if c.Toggle {
			if v {
				c.Set(s, On)
			} else {
				c.Set(s, Off)
			}
			return nil
		}
	case json.Number:
		if !c.Toggle && c.Words == nil {
			return c.Parse(s, v.String())
		}
	}
	if c.Toggle {
		return &Error{Setting: c.Name, Label: c.Label, Got: got, Allowed: "true or false"}
	}
	return c.Refuse(got)
}

func jsonError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON ends too early")
	}
	return fmt.Errorf("not JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
}

// Info is what there is to know of a setting without its model's type.
type Info struct {
	Name, Label, Unit string
	Toggle            bool
	Words             []string // where it is one of these
	Allowed           string   // in words
	Opening           string   // as a link writes it
}

// Infos describes the table's settings in its order.
func (t Table[S]) Infos() []Info {
	list := make([]Info, len(t))
	for i := range t {
		c := &t[i]
		list[i] = Info{Name: c.Name, Label: c.Label, Unit: c.Unit, Toggle: c.Toggle, Words: c.Words, Allowed: c.Allowed(), Opening: c.TextOf(c.Opening)}
	}
	return list
}

// AppendChanged appends as [Table.AppendQuery] does what is not at its opening
// value.
func (t Table[S]) AppendChanged(b []byte, s S) []byte {
	first := len(b)
	for i := range t {
		c := &t[i]
		v := c.amount(&s)
		if v == c.Opening {
			continue
		}
		if len(b) > first {
			b = append(b, '&')
		}
		b = append(b, c.Name...)
		b = append(b, '=')
		b = c.appendText(b, v)
	}
	return b
}

// Complete fills in what a whole form leaves out: a toggle that is off sends
// nothing. Any other setting that is missing is an *[Error].
func (t Table[S]) Complete(form map[string][]string) error {
	for i := range t {
		c := &t[i]
		if form[c.Name] != nil {
			continue
		}
		if !c.Toggle {
			return c.Refuse("nothing")
		}
		form[c.Name] = []string{"0"}
	}
	return nil
}
