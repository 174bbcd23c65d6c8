package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Prediction is what a person expects of a run before it is seen. Each part
// can be left unsaid; the zero Prediction says nothing.
type Prediction struct {
	Completed Guess
	Killed    Guess
	// Dies are the requests expected to be killed, ascending, each once. Nil says
	// nothing, an empty list that none is killed.
	Dies    []int
	Verdict Verdict // Pending says nothing
}

// Guess is a count that was said, or not.
type Guess struct {
	Said bool
	N    int
}

// Say returns the guess n.
func Say(n int) Guess { return Guess{Said: true, N: n} }

// noneDies is how a URL says that no request is killed.
const noneDies = "none"

// The names of a prediction's parts in a URL all begin with predictionPrefix,
// which no setting's name does.
const (
	predictionPrefix = "p."
	nameCompleted    = predictionPrefix + "completed"
	nameKilled       = predictionPrefix + "killed"
	nameDies         = predictionPrefix + "dies"
	nameVerdict      = predictionPrefix + "verdict"
)

// ParsePrediction reads a prediction of a run of s, which must be valid, from a
// query's or a form's values. It reads the names that begin with "p.", all
// others are not its own: p.completed and p.killed are whole numbers from 0 to
// the requests that arrive; p.dies is "none" or numbers of requests that
// arrive, each once, in any order, with commas between or in several values as
// checkboxes send them; p.verdict is "pass" or "fail". What is left out is not
// said, nor what is empty, as a form sends a field that was not filled in.
// Anything else is a *[SettingError], of several the first in this order,
// unknown names last.
func ParsePrediction(s Settings, values map[string][]string) (Prediction, error) {
	var p Prediction
	arrivals := s.arrivals()
	single := func(name, label, allowed string, take func(string) bool) error {
		given := values[name]
		switch {
		case len(given) > 1:
			return &SettingError{Setting: name, Label: label, Got: strings.Join(given, ", "), Allowed: "one value"}
		case len(given) == 1 && given[0] != "" && !take(given[0]):
			return &SettingError{Setting: name, Label: label, Got: given[0], Allowed: allowed}
		}
		return nil
	}
	for _, part := range []struct {
		name, label string
		guess       *Guess
	}{{nameCompleted, "Predicted completed", &p.Completed}, {nameKilled, "Predicted killed", &p.Killed}} {
		allowed := fmt.Sprintf("a whole number from 0 to %d, the requests that arrive", arrivals)
		if err := single(part.name, part.label, allowed, func(text string) (ok bool) {
			*part.guess, ok = parseGuess(text, arrivals)
			return ok
		}); err != nil {
			return Prediction{}, err
		}
	}
	if slices.ContainsFunc(values[nameDies], func(list string) bool { return list != "" }) {
		var ok bool
		if p.Dies, ok = parseDies(values[nameDies], arrivals); !ok {
			return Prediction{}, &SettingError{Setting: nameDies, Label: "Requests predicted to die", Got: strings.Join(values[nameDies], ","),
				Allowed: fmt.Sprintf("numbers of requests that arrive, from 1 to %d, each once, with commas between, or %s", arrivals, noneDies)}
		}
	}
	if err := single(nameVerdict, "Predicted verdict", "pass or fail", func(text string) bool {
		switch text {
		case Pass.String():
			p.Verdict = Pass
		case Fail.String():
			p.Verdict = Fail
		}
		return p.Verdict != Pending
	}); err != nil {
		return Prediction{}, err
	}
	if err := unknownPart(values); err != nil {
		return Prediction{}, err
	}
	return p, nil
}

func parseGuess(text string, most int) (Guess, bool) {
	v, err := ParseTime(text)
	if err != nil || v%whole != 0 || int(v/whole) > most {
		return Guess{}, false
	}
	return Say(int(v / whole)), true
}

func parseDies(given []string, most int) ([]int, bool) {
	dies := []int{}
	if len(given) == 1 && given[0] == noneDies {
		return dies, true
	}
	for _, list := range given {
		if list == "" { // says nothing, as everywhere
			continue
		}
		for text := range strings.SplitSeq(list, ",") {
			g, ok := parseGuess(text, most)
			if !ok || g.N == 0 || slices.Contains(dies, g.N) {
				return nil, false // the list is never longer than the requests
			}
			dies = append(dies, g.N)
		}
	}
	slices.Sort(dies)
	return dies, true
}

func unknownPart(values map[string][]string) error {
	var unknown []string
	for name := range values {
		switch name {
		case nameCompleted, nameKilled, nameDies, nameVerdict:
		default:
			if strings.HasPrefix(name, predictionPrefix) {
				unknown = append(unknown, name)
			}
		}
	}
	if unknown == nil {
		return nil
	}
	name := slices.Min(unknown)
	return &SettingError{Setting: name, Got: strings.Join(values[name], ", "),
		Allowed: "no part of a prediction; there are " + strings.Join([]string{nameCompleted, nameKilled, nameDies, nameVerdict}, ", ")}
}

// AppendQuery appends what is said as a URL query, in the order
// "p.completed=3&p.killed=4&p.dies=6,13,14,15&p.verdict=fail", and nothing
// where nothing is said. Equal predictions give equal bytes, and
// [ParsePrediction] reads them back.
func (p Prediction) AppendQuery(b []byte) []byte {
	start := len(b)
	part := func(name, text string) {
		if len(b) > start {
			b = append(b, '&')
		}
		b = append(append(append(b, name...), '='), text...)
	}
	if p.Completed.Said {
		part(nameCompleted, strconv.Itoa(p.Completed.N))
	}
	if p.Killed.Said {
		part(nameKilled, strconv.Itoa(p.Killed.N))
	}
	if p.Dies != nil {
		list := noneDies
		for i, n := range p.marks() {
			if i == 0 {
				list = strconv.Itoa(n)
				continue
			}
			list += "," + strconv.Itoa(n)
		}
		part(nameDies, list)
	}
	if p.Verdict != Pending {
		part(nameVerdict, p.Verdict.String())
	}
	return b
}

// marks are Dies in the form that they should have.
func (p Prediction) marks() []int {
	dies := slices.Clone(p.Dies)
	slices.Sort(dies)
	return slices.Compact(dies)
}

// Said reports whether any part of the prediction is said.
func (p Prediction) Said() bool {
	return p.Completed.Said || p.Killed.Said || p.Dies != nil || p.Verdict != Pending
}
