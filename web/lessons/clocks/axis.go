package clocks

import (
	"fmt"
	"unicode/utf8"

	model "drainlab/internal/clocks"
	"drainlab/internal/setting"
)

// axis places instants on the chart. What lies beyond its ends stands at them.
type axis struct{ left, right setting.Time }

// newAxis fits the axis to what happens, and to the clocks that are not so far
// off that they would press all the rest together. It ends at a tick, so that
// a clock that is dragged does not move it at every step.
func newAxis(r *Run, drawn []model.Request) axis {
	right := max(r.end, setting.Second)
	far := right
	for _, t := range clockEnds(r.Run) {
		if 2*t <= 5*right {
			far = max(far, t)
		}
	}
	left := leftEnd(drawn, far)
	step := tickStep(far - left)
	far += (far - left) / 8 // room for words
	return axis{left, (far + step - 1) / step * step}
}

// clockEnds are when the clocks end that are settings, whether or not anything
// comes of it.
func clockEnds(run *model.Run) []setting.Time {
	s, i := run.Settings, run.Instants
	ends := []setting.Time{i.Kill, s.Prestop}
	if i.Term != model.Never && s.ServerTimeout != model.None {
		ends = append(ends, i.Term+s.ServerTimeout)
	}
	if i.Drained != model.Never && s.CleanupBudget != model.None {
		ends = append(ends, i.Drained+s.CleanupBudget)
	}
	if s.Long > 0 {
		ends = append(ends, s.Long-s.LongAge)
	}
	if need := run.Budget.Need; need != model.Never {
		ends = append(ends, need)
	}
	return ends
}

// leftEnd shows from when the drawn requests came, but not long before 0 what
// was over by then.
func leftEnd(drawn []model.Request, right setting.Time) setting.Time {
	left := setting.Time(0)
	for _, q := range drawn {
		left = min(left, q.Arrival)
	}
	left = max(left, -right/2)
	from := setting.Time(0)
	for _, q := range drawn {
		if q.EndedAt > left {
			from = min(from, q.Arrival)
		}
	}
	left = min(max(left, from), -right/12)
	return min(left-right/40, -setting.Tenth)
}

// tickStep is the round span of which at most nine fit.
func tickStep(span setting.Time) setting.Time {
	if span <= 2*setting.Second {
		return 4 * setting.Tenth
	}
	for _, seconds := range []setting.Time{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900} {
		if step := seconds * setting.Second; span <= 9*step {
			return step
		}
	}
	return 1800 * setting.Second
}

func (a axis) within(t setting.Time) setting.Time { return min(max(t, a.left), a.right) }

// x is where t lies: "62.5%".
func (a axis) x(t setting.Time) string { return percent(a.within(t)-a.left, a.right-a.left) }

// width is how much of a span lies within the chart.
func (a axis) width(from, to setting.Time) string {
	return percent(max(0, a.within(to)-a.within(from)), a.right-a.left)
}

// share is how much of the chart lies between two instants, in hundredths.
func (a axis) share(from, to setting.Time) int {
	return int(100 * (a.within(to) - a.within(from)) / (a.right - a.left))
}

// The widths of the plot in pixels at which the style shows more words.
var widths = []int{240, 320, 400, 480, 560, 640, 720, 800}

// pixels is how wide words are at most.
func pixels(words string) int { return 7 * utf8.RuneCountInString(words) }

// room is the class of words that have so many hundredths of the chart: how
// wide it must be for them to fit; "" where they never do.
func room(words string, share int) string {
	for _, width := range widths {
		if pixels(words)+18 <= width*share/100 {
			return fmt.Sprintf("room-%d", width)
		}
	}
	return ""
}

// narrowest is the width in pixels of the narrowest plot.
const narrowest = 340

// needs is how many hundredths of the narrowest plot a line's label takes.
func needs(label string) int { return 100 * (pixels(label) + 16) / narrowest }

// ticks are the lines of the grid.
func (a axis) ticks() []tick {
	var list []tick
	step := tickStep(a.right - a.left)
	for t := a.left - a.left%step; t <= a.right; t += step {
		if at := a.share(a.left, t); t >= a.left && at >= 2 {
			mark := tick{X: a.x(t), Label: signed(t), Anchor: "middle"}
			if t+step > a.right { // at the plot's end, where the picture ends soon
				mark.Label, mark.Anchor, mark.DX = mark.Label+" s", "end", 10
			}
			list = append(list, mark)
		}
	}
	return list
}

// tick is a line of the grid and its instant; the last one has the unit.
type tick struct {
	X, Label, Anchor string
	DX               int
}
