package ledgers

import (
	"cmp"
	"slices"

	"drainlab/internal/ledger"
)

// mark is an instant that stands in the whole picture: the gate closes, a
// signal comes, the graceful timeout passes.
type mark struct {
	X      place
	Class  string // in the style
	Label  string // empty where another one at the same place says it
	Anchor string
	Right  bool // the label is at the line's left
	Line   int  // of the label, from 0
	told   string
}

// instant is a mark to be.
type instant struct {
	at          ledger.Seconds
	class, name string
}

// instants are what a record tells, and the graceful timeout that follows from
// the first signal; in order.
func (d drawing) instants(events []ledger.Event) []instant {
	var list []instant
	signals := 0
	for _, e := range events {
		switch {
		case e.Kind == ledger.StateChanged && e.State == "QUIESCING":
			list = append(list, instant{e.At, "gate", "gate closes"})
		case e.Kind == ledger.SignalReceived:
			signals++
			name := signalWord(e.Detail)
			if signals > 1 {
				name = "second " + name
			}
			list = append(list, instant{e.At, "signal", name})
		case e.Kind == ledger.EvidenceLost:
			list = append(list, instant{e.At, "loss", "✕ evidence lost"})
		}
	}
	if at, ok := firstSignal(events); ok && d.run.Settings.GracefulTimeout > 0 {
		list = append(list, instant{at + ledger.Seconds(d.run.Settings.GracefulTimeout), "timeout", "graceful timeout"})
	}
	slices.SortStableFunc(list, func(a, b instant) int { return cmp.Compare(a.at, b.at) })
	return list[:min(len(list), mostMarks)]
}

// signalWord is a signal as people name it: the record has the operating
// system's word for it.
func signalWord(detail string) string {
	switch detail {
	case "terminated":
		return "SIGTERM"
	case "interrupt":
		return "SIGINT"
	}
	return "signal"
}

// marks draws the instants. Those that are too near to each other to be told
// apart share a label; labels that would meet stand in lines of their own.
func (d drawing) marks(events []ledger.Event) []mark {
	const near = 0.02
	var list []mark
	var labels []int // places in list of those with a label
	for _, in := range d.instants(events) {
		share := d.scale.share(in.at)
		m := mark{X: place(share), Class: in.class, Label: in.name, Anchor: "start", told: in.name + " at " + d.scale.since(in.at)}
		if share > 0.55 {
			m.Anchor, m.Right = "end", true
		}
		if n := len(labels); n > 0 && share-float64(list[labels[n-1]].X) < near {
			list[labels[n-1]].Label += ", " + m.Label
			m.Label = ""
		} else {
			labels = append(labels, len(list))
		}
		list = append(list, m)
	}
	layLabels(list)
	return list
}

// layLabels gives each label the first line on which it meets no other. What a
// label takes is judged for a narrow picture. Of more lines than there is room
// for, the rest are not labelled: the record tells them.
func layLabels(list []mark) {
	const letter, most = 0.026, 3     // of the picture's width
	ends := [most]float64{-1, -1, -1} // a label may begin before the picture
	for i := range list {
		m := &list[i]
		if m.Label == "" {
			continue
		}
		x, w := float64(m.X), letter*float64(len([]rune(m.Label)))
		left, right := x, x+w
		if m.Right {
			left, right = x-w, x
		}
		m.Line = most
		for line, end := range ends {
			if end <= left {
				m.Line, ends[line] = line, right
				break
			}
		}
		if m.Line == most {
			m.Line, m.Label = 0, ""
		}
	}
}
