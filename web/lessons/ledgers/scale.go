package ledgers

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"drainlab/internal/ledger"
)

// scale maps the instants of a record to shares of the picture's width.
type scale struct {
	from ledger.Seconds
	span time.Duration
}

// scaleOf is the scale of a run: from its first event to its last one, or to
// where the graceful timeout and the cleanup after it would end, so that the
// picture of a run under way does not shrink as it grows. A little room is left
// at the right for what goes on past the end.
func scaleOf(run fixtureRun, events []ledger.Event) scale {
	from, to := events[0].At, events[0].At
	signal := events[0].At + ledger.Seconds(200*time.Millisecond) // about when it comes, until it is known
	for _, e := range events {
		from, to = min(from, e.At), max(to, e.At)
	}
	if at, ok := firstSignal(events); ok {
		signal = at
	}
	if g := run.Settings.GracefulTimeout; g > 0 {
		planned := signal + ledger.Seconds(g)
		if !run.ended() {
			planned += ledger.Seconds(run.Settings.CleanupHold)
		}
		to = max(to, planned)
	}
	span := max(time.Duration(to-from), time.Millisecond)
	return scale{from: from, span: span + span/25}
}

// margin is the room at the right.
func (s scale) margin() time.Duration { return s.span / 26 }

func firstSignal(events []ledger.Event) (ledger.Seconds, bool) {
	first, found := ledger.Seconds(0), false
	for _, e := range events {
		if e.Kind == ledger.SignalReceived && (!found || e.At < first) {
			first, found = e.At, true
		}
	}
	return first, found
}

// share is where t stands, from 0 to 1.
func (s scale) share(t ledger.Seconds) float64 {
	return min(max(time.Duration(t-s.from).Seconds()/s.span.Seconds(), 0), 1)
}

func (s scale) at(t ledger.Seconds) place { return place(s.share(t)) }

// between is the span from a to b, at least as wide as can be seen.
func (s scale) between(a, b ledger.Seconds) span {
	const least = 0.004
	x := min(s.share(a), 1-least)
	return span{X: place(x), W: place(min(max(s.share(b)-x, least), 1-x))}
}

// ticks are the axis: at most eight, in steps that people count in.
func (s scale) ticks() []tick {
	const most = 8
	step := time.Second / 10
	for i := 0; s.span/step >= most; i++ {
		if i%3 == 1 { // 1, 2, 5, 10, …
			step = step / 2 * 5
		} else {
			step *= 2
		}
	}
	var list []tick
	for t := time.Duration(0); t <= s.span; t += step {
		v := tick{X: place(t.Seconds() / s.span.Seconds()), Label: strconv.FormatFloat(t.Seconds(), 'f', -1, 64), Anchor: "middle"}
		switch {
		case t == 0:
			v.Anchor = "start"
		case t+step > s.span && s.span-t < s.span/20:
			v.Anchor = "end"
		}
		list = append(list, v)
	}
	for i := len(list) - 2; i >= 0; i -= 2 {
		list[i].Minor = true
	}
	list[len(list)-1].Label += " s"
	return list
}

// place is a share of a width, from 0 to 1.
type place float64

// String writes it as SVG takes it: "12.5%".
func (p place) String() string {
	text := strconv.FormatFloat(min(max(float64(p), 0), 1)*100, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".") + "%"
}

// since writes an instant as the picture's axis counts it.
func (s scale) since(t ledger.Seconds) string {
	return fmt.Sprintf("%.2f s", time.Duration(t-s.from).Seconds())
}
