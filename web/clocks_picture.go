package web

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"drainlab/internal/clocks"
	"drainlab/internal/setting"
	"drainlab/web/templates"
)

// The requests of a picture that are drawn one by one, and the arrivals that
// are marked, are at most so many.
const (
	mostDrawn    = 14
	mostArrivals = 40
)

// scale places instants on the picture's axis.
type scale struct{ left, right setting.Time }

func (c scale) x(t setting.Time) string {
	return percent(int(min(max(t, c.left), c.right)-c.left), int(c.right-c.left))
}

// width is how much of a span lies within the picture.
func (c scale) width(from, to setting.Time) string {
	return percent(int(max(0, min(to, c.right)-max(from, c.left))), int(c.right-c.left))
}

// percentOf is how far along the axis t lies, 0–100.
func (c scale) percentOf(t setting.Time) int {
	return int(100 * (min(max(t, c.left), c.right) - c.left) / (c.right - c.left))
}

type clockPainter struct {
	scale
	run  *clocks.Run
	view *templates.ClockPicture
	y    int
}

// buildClockPicture draws a termination: one row for each owner of a clock.
func buildClockPicture(run *clocks.Run, platform *clocks.Platform) templates.ClockPicture {
	owner := "platform"
	if platform != nil {
		owner = platform.Name
	}
	all := admittedRequests(run)
	v := templates.ClockPicture{Top: 20}
	p := &clockPainter{scale: clockScale(run, sampleRequests(all)), run: run, view: &v, y: 26}
	seen := slices.DeleteFunc(slices.Clone(all), p.before)
	drawn := sampleRequests(seen)
	p.ticks()
	v.Zero, v.ZeroAnchor = p.x(0), p.around(0, "termination begins")

	s, i := run.Settings, run.Instants
	end := run.End
	grace := setting.Time(0)
	graceText := s.Grace.String() + " s, hook included"
	if !s.HookInGrace {
		grace, graceText = min(s.Prestop, i.Kill), s.Grace.String()+" s, after the hook"
	}
	p.row("Platform grace", owner, 30)
	p.bar(grace, i.Kill, "grace", 16, "", graceText)
	p.next(34)

	p.row("preStop hook", "before the signal", 30)
	p.bar(0, min(s.Prestop, i.Kill), "hook", 16, "", s.Prestop.String()+" s")
	p.next(34)

	p.row("Signal", owner, 30)
	switch {
	case !s.SignalHandled && platform != nil && !platform.Handled:
		p.label(min(s.Prestop, i.Kill), "none: a notice to look for")
	case s.Prestop > i.Kill:
		p.mark(i.Kill, "rejected", "rejected", "never sent: the kill comes first")
	case !s.SignalHandled:
		p.mark(s.Prestop, "rejected", "rejected", "not handled")
	case i.Term == clocks.Never:
		p.mark(i.Kill, "rejected", "rejected", "the kill comes first")
	default:
		if s.SignalDelay > 0 {
			p.bar(s.Prestop, i.Term, "delay", 16, "hatch-soft", "")
		}
		p.mark(i.Term, "signal", "signal", "TERM at "+i.Term.String()+" s")
	}
	p.next(34)

	p.row("Admission gate", "application", 30)
	p.gate()
	p.next(34)

	p.row("Routing", "proxies", 30)
	p.bar(p.left, i.RouterStop, "routes", 16, "", "")
	p.arrivals(i.RouterStop)
	p.next(34)

	p.row("Server drain", "server", 30)
	if i.Term != clocks.Never {
		drained := i.Drained
		text := "waits " + (min(end, max(drained, i.Term)) - i.Term).String() + " s"
		switch {
		case drained == clocks.Never:
			drained, text = i.Kill, "cut by the kill"
		case run.Account.Cancelled > 0:
			text = "cut by its own " + s.ServerTimeout.String() + " s timeout"
		case drained == i.Term:
			text = "nothing to wait for"
		}
		p.bar(i.Term, drained, "drain", 16, "", text)
	} else {
		p.label(i.Kill, "not begun")
	}
	p.next(34)

	p.row("Cleanup", "application", 30)
	switch {
	case run.Cleanup == clocks.CleanupNotBegun:
		p.label(i.Kill, "not begun")
	case run.Cleanup == clocks.CleanupCut:
		p.bar(i.Drained, end, "cleanup-cut", 16, "hatch-bad", "cut")
	default:
		p.bar(i.Drained, end, "cleanup", 16, "", "complete, exit at "+end.String()+" s")
	}
	p.next(34)

	p.row("Deadlines", "callers", 30)
	p.deadline(drawn)
	p.next(42)

	p.requests(drawn)
	p.work(drawn)

	v.Bottom = p.y
	v.Height = p.y + 36
	switch {
	case i.Kill > p.right:
		v.KillBeyond = "the kill would come at " + i.Kill.String() + " s →"
	default:
		end := "SIGKILL"
		if platform != nil && !platform.Handled {
			end = "interruption"
		}
		line := &templates.ClockLine{X: p.x(i.Kill), Label: end + " at " + i.Kill.String() + " s"}
		if run.Exited {
			line.Kind, line.Label = "spared", "the kill would come at "+i.Kill.String()+" s"
		}
		line.Anchor = p.around(i.Kill, line.Label)
		v.Kill = line
	}
	if len(drawn) < len(seen) {
		v.Note += fmt.Sprintf("%d of the %d admitted requests that run within the picture are drawn, the first and the last of each fate among them. ", len(drawn), len(seen))
	}
	if over := len(all) - len(seen); over > 0 {
		v.Note += count(over, "admitted request was", "admitted requests were") + " over before the picture begins."
	}
	v.Summary = clockSummary(run)
	return v
}

// clockSummary says what the picture shows.
func clockSummary(run *clocks.Run) string {
	var parts []string
	for _, step := range clockSteps(run) {
		parts = append(parts, step.At+": "+strings.TrimSuffix(step.Text, "."))
	}
	return strings.Join(parts, "; ") + ". Verdict: " + strings.ToUpper(run.Verdict()) + "."
}

func admittedRequests(run *clocks.Run) []clocks.Request {
	var list []clocks.Request
	for q := range run.Requests() {
		if q.Outcome <= clocks.Killed {
			list = append(list, q)
		}
	}
	return list
}

// sampleRequests returns those of the requests that are drawn: all, or of each
// fate in a row the first and the last, and evenly some between.
func sampleRequests(all []clocks.Request) []clocks.Request {
	return sample(all, mostDrawn, func(a, b clocks.Request) bool {
		return a.Long == b.Long && a.Outcome == b.Outcome && a.Work == b.Work
	})
}

// sample returns the whole list, or of each row of alike ones the first and the
// last, and evenly as many between as make up most.
func sample(all []clocks.Request, most int, alike func(a, b clocks.Request) bool) []clocks.Request {
	if len(all) <= most {
		return all
	}
	keep := map[int]bool{0: true, len(all) - 1: true}
	for i := 1; i < len(all); i++ {
		if !alike(all[i-1], all[i]) {
			keep[i-1], keep[i] = true, true
		}
	}
	for n := range most {
		if len(keep) >= most {
			break
		}
		keep[n*(len(all)-1)/(most-1)] = true
	}
	var list []clocks.Request
	for i, q := range all {
		if keep[i] {
			list = append(list, q)
		}
	}
	return list
}

// clockScale fits the axis to what happens; the kill may lie beyond it.
func clockScale(run *clocks.Run, drawn []clocks.Request) scale {
	i := run.Instants
	right := max(run.End, i.RouterStop, setting.Second)
	for _, q := range drawn {
		right = max(right, q.EndedAt)
		if q.WorkEndedAt != clocks.Never {
			right = max(right, q.WorkEndedAt)
		}
	}
	if 2*i.Kill <= 5*right { // a kill far off would press all the rest together
		right = max(right, i.Kill)
	}
	left := setting.Time(0)
	for _, q := range drawn {
		left = min(left, q.Arrival)
	}
	left = max(left, -right/2)
	drawnFrom := setting.Time(0) // a request that was over long before is not worth the room
	for _, q := range drawn {
		if q.EndedAt > left {
			drawnFrom = min(drawnFrom, q.Arrival)
		}
	}
	left = max(left, drawnFrom)
	left = min(left, -right/12)
	left -= right / 40
	return scale{left, right + (right-left)*22/100} // room for words
}

func (p *clockPainter) ticks() {
	span := p.right - p.left
	step := 3600 * setting.Second
	for _, seconds := range []int{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900, 1800} {
		if s := setting.Time(seconds) * setting.Second; span <= 10*s {
			step = s
			break
		}
	}
	if span <= 2*setting.Second {
		step = 2 * setting.Tenth
	}
	for t := p.left - p.left%step; t <= p.right; t += step {
		if at := p.percentOf(t); t >= p.left && at >= 1 && at <= 99 {
			tick := templates.ClockTick{X: p.x(t), Label: signed(t)}
			if p.around(t, tick.Label) != "middle" { // it would be cut
				tick.Label = ""
			}
			p.view.Ticks = append(p.view.Ticks, tick)
		}
	}
}

func (p *clockPainter) row(name, owner string, height int) {
	p.view.Rows = append(p.view.Rows, templates.ClockRow{Name: name, Owner: owner, Y: p.y, Height: height})
}

func (p *clockPainter) next(height int) { p.y += height }

// bar draws a span in the row at hand, with words in it or after it.
func (p *clockPainter) bar(from, to setting.Time, kind string, height int, hatch, label string) {
	if to < from {
		return
	}
	b := templates.ClockBar{X: p.x(from), Y: p.y + 6, H: height, Kind: kind, Hatch: hatch, Label: label,
		W: p.width(from, to)}
	p.place(&b, from, to)
	p.view.Bars = append(p.view.Bars, b)
}

// narrowest is the width in pixels that the plot has at least, as the style has it.
const narrowest = 480

// pixels is how wide words are at most.
func pixels(words string) int { return 7 * utf8.RuneCountInString(words) }

// fits reports whether words fit so many hundredths of the narrowest plot.
func fits(words string, percent int) bool {
	const around = 16
	return pixels(words)+around <= narrowest*percent/100
}

// around is the anchor of words at a line: its middle, or a side where they
// would be cut.
func (p *clockPainter) around(at setting.Time, words string) string {
	half := (pixels(words) + 1) / 2
	switch place := narrowest * p.percentOf(at) / 100; {
	case place < half:
		return "start"
	case narrowest-place < half:
		return "end"
	}
	return "middle"
}

// spot is where words about a span go: into it, where it may have them in it,
// after it or before it, whichever has room for them in the narrowest plot; else
// across it, at the picture's right edge.
func (p *clockPainter) spot(words string, from, to setting.Time, within bool, off int) (x, anchor string, dx int) {
	switch first, last := p.percentOf(from), p.percentOf(to); {
	case within && fits(words, last-first):
		return p.x(from), "start", off
	case fits(words, 100-last):
		return p.x(to), "start", off
	case fits(words, first):
		return p.x(from), "end", -off
	}
	return "100%", "end", -2
}

// place puts a bar's words into it where they fit, else beside it.
func (p *clockPainter) place(b *templates.ClockBar, from, to setting.Time) {
	b.LabelX, b.Anchor, b.DX = p.spot(b.Label, from, to, true, 6)
}

// placeAtEnd puts a bar's words after its end, where there is room for them,
// else before it.
func (p *clockPainter) placeAtEnd(b *templates.ClockBar, end setting.Time) {
	b.LabelX, b.Anchor, b.DX = p.spot(b.Label, end, end, false, 6)
}

// caption says something about a span of the row at hand.
func (p *clockPainter) caption(from, to setting.Time, text string) {
	m := templates.ClockMark{Y: p.y + 14, Kind: "plain", Label: text}
	m.X, m.Anchor, m.DX = p.spot(text, from, to, true, 6)
	p.view.Marks = append(p.view.Marks, m)
}

// label says something at an instant of the row at hand.
func (p *clockPainter) label(at setting.Time, text string) {
	p.mark(at, "", "plain", text)
}

// mark draws a symbol at an instant of the row at hand, and says something
// beside it or where there is room.
func (p *clockPainter) mark(at setting.Time, symbol, kind, text string) {
	if symbol != "" && at <= p.right {
		p.view.Marks = append(p.view.Marks, templates.ClockMark{X: p.x(at), Y: p.y + 14, Symbol: symbol, Kind: kind})
	}
	m := templates.ClockMark{Y: p.y + 14, Kind: kind, Label: text}
	m.X, m.Anchor, m.DX = p.spot(text, at, at, false, 10)
	p.view.Marks = append(p.view.Marks, m)
}

// gate draws what becomes of new requests at the application: admitted, then
// rejected, then met by no listener.
func (p *clockPainter) gate() {
	never, end := p.run.Instants.Gate == clocks.Never, p.run.End
	closed, gone := turnedAway(p.run)
	p.bar(p.left, closed, "open", 16, "", "")
	if closed < gone {
		p.bar(closed, gone, "closed", 16, "", "")
	}
	if gone < end {
		p.bar(gone, end, "gone", 16, "", "")
	}
	text := "closes with the process"
	switch {
	case closed < gone && gone < end:
		text = "rejects, then no listener"
	case closed < gone:
		text = "closed: rejects before work"
	case never && gone < end:
		text = "open, then no listener"
	case never:
		text = "never closes"
	case gone < end:
		text = "closes with the listener"
	}
	p.caption(closed, end, text)
}

// arrivals marks on the routing row what was not admitted.
func (p *clockPainter) arrivals(stop setting.Time) {
	var at []clocks.Request
	for q := range p.run.Requests() {
		if q.Outcome == clocks.Rejected || q.Outcome == clocks.Refused {
			at = append(at, q)
		}
	}
	text := "last router stops at " + stop.String() + " s"
	marked := sample(at, mostArrivals, func(a, b clocks.Request) bool { return a.Outcome == b.Outcome })
	for _, q := range marked {
		kind := "rejected"
		if q.Outcome == clocks.Refused {
			kind = "refused"
		}
		p.view.Marks = append(p.view.Marks, templates.ClockMark{X: p.x(q.Arrival), Y: p.y + 14, Symbol: kind, Kind: kind})
	}
	if len(marked) < len(at) {
		p.view.Note = fmt.Sprintf("%d of the %d arrivals that were not admitted are marked, the first and the last of each kind among them. ", len(marked), len(at))
	}
	if fits(text, 100-p.percentOf(stop)) {
		p.label(stop, text)
		return
	}
	// Before the end it would lie over the marks.
	p.view.Marks = append(p.view.Marks, templates.ClockMark{X: "100%", Y: p.y + 14, Kind: "plain", Label: "until " + stop.String() + " s", Anchor: "end", DX: -2})
}

// deadline draws the clock of the long request's caller, or of the last
// admitted request's.
func (p *clockPainter) deadline(drawn []clocks.Request) {
	s := p.run.Settings
	if s.Deadline == 0 {
		p.label(0, "none: callers wait as long as it takes")
		return
	}
	if len(drawn) == 0 {
		p.label(0, s.Deadline.String()+" s for each request; none is admitted")
		return
	}
	q := drawn[len(drawn)-1]
	whose := "the last request's"
	if i := slices.IndexFunc(drawn, func(q clocks.Request) bool { return q.Long }); i >= 0 {
		q, whose = drawn[i], "the long request's"
	}
	text := fmt.Sprintf("%s s each; %s at %s s", s.Deadline, whose, signed(q.Arrival+s.Deadline))
	p.bar(q.Arrival, q.Arrival+s.Deadline, "deadline", 6, "", "")
	p.view.Bars[len(p.view.Bars)-1].Y += 5
	if q.Arrival+s.Deadline > p.right {
		text += " →"
	}
	p.labelOver(max(q.Arrival, 0), text)
}

// labelOver says something about what is drawn in the row at hand, over it.
func (p *clockPainter) labelOver(at setting.Time, text string) {
	m := templates.ClockMark{Y: p.y + 24, Kind: "over", Label: text}
	m.X, m.Anchor, m.DX = p.spot(text, at, at, false, 2)
	p.view.Marks = append(p.view.Marks, m)
}

var outcomeMarks = [...]string{"✓", "✕", "✕", "✕"}

func (p *clockPainter) requests(drawn []clocks.Request) {
	p.row("Requests", "callers", 0)
	for i, q := range drawn {
		if p.before(q) {
			continue
		}
		b := templates.ClockBar{X: p.x(q.Arrival), W: p.width(q.Arrival, q.EndedAt),
			Y: p.y, H: 6, Kind: "request", LabelX: p.x(q.EndedAt), Anchor: "start", DX: 5}
		if q.Outcome != clocks.Completed {
			b.Kind = "request-lost"
		}
		switch {
		case q.Long:
			b.H = 12
			b.Label = outcomeMarks[q.Outcome] + " " + longText(q)
			if q.EndedAt <= p.left {
				b.Label = "← at " + signed(q.EndedAt) + " s: " + b.Label
			}
		case q.Outcome != clocks.Completed && (i == 0 || drawn[i-1].Long || q.Outcome != drawn[i-1].Outcome): // the first of its fate
			b.Label = outcomeMarks[q.Outcome] + " " + shortOutcome(q.Outcome)
		}
		if b.Label != "" {
			b.H = max(b.H, 10)
			p.y += 2
			b.Y = p.y
			p.placeAtEnd(&b, q.EndedAt)
		}
		p.view.Bars = append(p.view.Bars, b)
		p.y += b.H + 3
	}
	if len(drawn) == 0 {
		p.label(0, "none is admitted")
	}
	p.y = max(p.y, p.view.Rows[len(p.view.Rows)-1].Y+30) + 8
}

// before reports whether a request was over before the picture begins; the
// long one is told all the same.
func (p *clockPainter) before(q clocks.Request) bool { return !q.Long && q.EndedAt <= p.left }

func longText(q clocks.Request) string {
	text := shortOutcome(q.Outcome)
	if left := q.Arrival + q.Duration - q.EndedAt; left > 0 {
		text += ", " + left.String() + " s left"
	}
	return text
}

func shortOutcome(o clocks.Outcome) string {
	return [...]string{"completed", "deadline", "cancelled", "killed"}[o]
}

func (p *clockPainter) work(drawn []clocks.Request) {
	p.row("Backend work", "workers", 0)
	for i, q := range drawn {
		if p.before(q) {
			continue
		}
		first := q.Long || i == 0 || drawn[i-1].Long || q.Work != drawn[i-1].Work
		ends := q.WorkEndedAt
		b := templates.ClockBar{X: p.x(q.Arrival), Y: p.y, H: 5, Kind: "work", Anchor: "start", DX: 5}
		if q.Long {
			b.H = 10
		}
		switch q.Work {
		case clocks.WorkCompleted:
		case clocks.ConfirmedStopped:
			b.Kind = "work-stopped"
			b.Label = "confirmed stopped"
		case clocks.Unknown, clocks.NotStarted:
			b.Kind, ends = "work-unknown", p.run.End
			b.Label = "? unknown"
		}
		if q.Long && b.Label == "" {
			b.Label = "✓ completed"
		}
		if !first {
			b.Label = ""
		}
		if b.Label != "" {
			b.H = max(b.H, 10)
			p.y += 2
			b.Y = p.y
		}
		b.W = p.width(q.Arrival, ends)
		b.LabelX = p.x(ends)
		p.placeAtEnd(&b, ends)
		p.view.Bars = append(p.view.Bars, b)
		p.y += b.H + 3
	}
	p.y = max(p.y, p.view.Rows[len(p.view.Rows)-1].Y+30) + 8
}

// The worked cases of the model, as steps and as the prose's figures.
var clockCaseTexts = []struct{ title, ask, query string }{
	{"Refusals while routes lag", "No hook, routers that need 2 s, a request every 0.1 s. How many callers find no listener?",
		"long=0&prestop=0&propagation=2&interval=0.1&request=0.1&gate=term"},
	{"A hook longer than the lag", "The same with a hook of 3 s. Who pays for it, and with what?",
		"long=0&prestop=3&propagation=2&interval=0.1&request=0.1&gate=term"},
	{"The budget includes the hook", "A hook of 10 s in a grace of 30 s, a request of 25.1 s that begins at 0. Does it make it?",
		"grace=30&prestop=10&server_timeout=30&long=25.1&long_age=0&propagation=0&gate=term"},
	{"… and the kill cuts across it", "The same with a request of 35 s and no cleanup. How much was left at the kill, and what of its work?",
		"grace=30&prestop=10&server_timeout=30&long=35&long_age=0&propagation=0&gate=term&cleanup=0"},
	{"Server timeout shorter than the stream", "Eleven minutes of grace, a stream of 60 s, a server that waits 30 s. Which clock wins?",
		"grace=660&prestop=15&server_timeout=30&long=60&long_age=0&deadline=0&gate=term"},
	{"Server timeout longer than the stream", "The same with a server that waits 600 s. When does the process leave?",
		"grace=660&prestop=15&server_timeout=600&long=60&long_age=0&deadline=0&gate=term"},
}

func clockCase(i int) *clocks.Run {
	query, err := parseQuery(clockCaseTexts[i].query)
	if err != nil {
		panic(err)
	}
	s, err := clocks.ParseValues(clocks.Opening(), query)
	if err != nil {
		panic(err) // the cases are constants, and opened by a test
	}
	return clocks.Simulate(s)
}

func buildClockCases() []templates.ClockCase {
	var list []templates.ClockCase
	for i, c := range clockCaseTexts {
		run := clockCase(i)
		a := run.Account
		text := fmt.Sprintf("%s: %d admitted, %d completed", strings.ToUpper(run.Verdict()), a.Admitted, a.Completed)
		for _, part := range []struct {
			n    int
			name string
		}{{a.Killed, "killed"}, {a.Cancelled, "cancelled"}, {a.Deadline, "failed at the deadline"}, {a.Rejected, "rejected"}, {a.Refused, "refused"}, {run.Work.Unknown, "work unknown"}} {
			if part.n > 0 {
				text += fmt.Sprintf(", %d %s", part.n, part.name)
			}
		}
		if run.Exited {
			text += "; exit at " + run.End.String() + " s."
		} else {
			text += "; killed at " + run.End.String() + " s."
		}
		list = append(list, templates.ClockCase{Title: c.title, Ask: c.ask, Outcome: text,
			Href: clocksView{Axes: clocksAxes}.with(run.Settings)})
	}
	return list
}

func buildClocksStory() templates.ClocksStory {
	long := func(r *clocks.Run) clocks.Request {
		for q := range r.Requests() {
			if q.Long {
				return q
			}
		}
		return clocks.Request{}
	}
	open := clocks.Simulate(clocks.Opening())
	lag, hook, fits, cut, short, whole := clockCase(0), clockCase(1), clockCase(2), clockCase(3), clockCase(4), clockCase(5)
	b := open.Budget
	return templates.ClocksStory{
		OpeningNeed: b.Need.String(), OpeningKill: open.Instants.Kill.String(), OpeningSlack: b.Slack.String(), OpeningTerm: b.Term.String(),
		OpeningRemaining: b.Remaining.String(), OpeningRejected: open.Account.Rejected,
		Refused: strconv.Itoa(lag.Account.Refused), Lag: lag.Instants.RouterStop.String(), HookEnough: hook.Settings.Prestop.String(),
		BudgetExit: fits.End.String(), BudgetLong: fits.Settings.Long.String(),
		CutKill: cut.End.String(), CutLeft: (long(cut).Arrival + long(cut).Duration - cut.End).String(),
		StreamTimeout: short.Settings.ServerTimeout.String(), StreamCancel: long(short).EndedAt.String(), StreamStop: long(short).WorkEndedAt.String(),
		StreamLong: long(whole).EndedAt.String(), StreamExit: whole.End.String(),
	}
}
