package clocks

import (
	"fmt"
	"strings"

	model "drainlab/internal/clocks"
	"drainlab/internal/setting"
)

func (p *painter) grace() {
	s, i := p.run.Settings, p.run.Instants
	owner := "the platform"
	if f := p.run.view.platform; f != nil {
		owner = f.Name
	}
	from, text := setting.Time(0), "hook included"
	if !s.HookInGrace {
		from, text = s.Prestop, "after the hook"
	}
	p.name("Platform grace", owner+", "+text)
	p.rail(from, i.Kill, "grace")
	p.bar(from, min(i.Kill, p.run.Run.End), "grace")
	if !p.run.Exited {
		p.mark(i.Kill, "lost")
	}
	p.handle("grace", from, "")
}

func (p *painter) hook() {
	s, i := p.run.Settings, p.run.Instants
	p.name("preStop hook", "before the signal")
	p.rail(0, s.Prestop, "hook")
	p.bar(0, min(s.Prestop, i.Kill), "hook")
	if i.Term != model.Never {
		p.rail(s.Prestop, i.Term, "delay")
		p.bar(s.Prestop, i.Term, "delay")
	}
	if s.Prestop > i.Kill {
		p.mark(i.Kill, "lost")
	}
	p.handle("prestop", 0, p.signal())
}

// signal says why no signal follows the hook; nothing where one does.
func (p *painter) signal() string {
	s, i, f := p.run.Settings, p.run.Instants, p.run.view.platform
	switch {
	case !s.SignalHandled && f != nil && !f.Handled:
		return "no signal: a notice to look for"
	case s.Prestop > i.Kill:
		return "no signal is sent: the kill comes first"
	case !s.SignalHandled:
		return "the signal is not handled"
	case i.Term == model.Never:
		return "the kill comes before the signal"
	case s.SignalDelay > 0:
		return "the signal " + s.SignalDelay.String() + " s later"
	}
	return ""
}

// routing draws until when routers still send, and which of what they sent was
// turned away.
func (p *painter) routing() {
	s, stop := p.run.Settings, p.run.Instants.RouterStop
	p.name("Routing", "proxies still send")
	p.rail(0, stop, "routes")
	p.bar(p.left, stop, "routes")
	var away []model.Request
	for q := range p.run.Requests() {
		if q.Outcome >= model.Rejected {
			away = append(away, q)
		}
	}
	marked := sample(away, p.mostMarks(away), func(a, b model.Request) bool { return a.Outcome == b.Outcome })
	for _, q := range marked {
		p.mark(q.Arrival, q.Outcome.String())
	}
	if len(marked) < len(away) && p.run.seen(p.t) {
		p.chart.Note = fmt.Sprintf("%d of the %d arrivals that were not admitted are marked, the first and the last of each kind among them. ", len(marked), len(away))
	}
	p.handle("propagation", s.Withdraw, "the last router stops at "+stop.String()+" s")
}

// mostMarks is how many of these arrivals can be told apart where they lie, the
// first and the last of each kind at the least.
func (p *painter) mostMarks(away []model.Request) int {
	if len(away) == 0 {
		return 0
	}
	return min(mostArrivals, max(4, p.share(away[0].Arrival, away[len(away)-1].Arrival)*5/6))
}

// gate draws what becomes of new requests at the application: admitted, then
// rejected, then met by no listener.
func (p *painter) gate() {
	p.name("Admission gate", "the application")
	closed, gone := turnedAway(p.run.Run)
	end := p.run.Run.End
	for _, span := range []struct {
		from, to   setting.Time
		kind, text string
	}{{p.left, closed, "open", "admits"}, {closed, gone, "closed", "rejects"}, {gone, end, "gone", "no listener"}} {
		if span.to <= span.from || span.from > p.t {
			continue
		}
		p.bar(span.from, span.to, span.kind)
		p.inside(span.from, min(span.to, p.until), span.kind, span.text)
	}
}

func (p *painter) drain() {
	s, i := p.run.Settings, p.run.Instants
	p.name("Server drain", "its graceful timeout")
	if i.Term == model.Never {
		if p.t >= i.Kill {
			p.beside(p.left, i.Kill, 8, "plain", "not begun")
		}
		return
	}
	drained, said := i.Drained, ""
	switch {
	case drained == model.Never:
		drained, said = i.Kill, "cut by the kill"
	case p.run.Account.Cancelled > 0:
		said = "cut by its own timeout"
	case drained == i.Term:
		said = "nothing to wait for"
	default:
		said = "waits " + (drained - i.Term).String() + " s"
	}
	p.bar(i.Term, drained, "drain")
	if p.t < drained {
		said = ""
	}
	if s.ServerTimeout == model.None {
		p.beside(p.left, max(min(drained, p.t), i.Term), 8, "plain", strings.TrimPrefix(said+", without a bound", ", "))
		return
	}
	p.rail(i.Term, i.Term+s.ServerTimeout, "drain")
	p.handle("server_timeout", i.Term, said)
}

// cleanup is drawn once it begins: when that is, no setting says.
func (p *painter) cleanup() {
	s, i := p.run.Settings, p.run.Instants
	p.name("Cleanup", "the application")
	if p.run.Cleanup == model.CleanupNotBegun || i.Drained == model.Never {
		if p.t >= i.Kill {
			p.beside(p.left, i.Kill, 8, "plain", "not begun")
		}
		return
	}
	if p.t < i.Drained {
		return
	}
	kind, said, end := "cleanup", "", p.run.Run.End
	if p.t >= end {
		said = "complete, exit at " + end.String() + " s"
		if p.run.Cleanup == model.CleanupCut {
			kind, said = "cleanup-cut", "cut"
		}
	}
	p.bar(i.Drained, end, kind)
	if kind == "cleanup-cut" {
		p.mark(end, "lost")
	}
	if s.CleanupBudget == model.None {
		p.beside(p.left, end, 10, "plain", strings.TrimPrefix(said+", without a budget", ", "))
		return
	}
	p.rail(i.Drained, i.Drained+s.CleanupBudget, "cleanup")
	p.handle("cleanup_budget", i.Drained, said)
}

// Bars take this much of a row's height, in hundredths; as the style has it.
const (
	laneTop    = 23
	laneHeight = 54
)

// others draws the short requests, one thin bar each.
func (p *painter) others() {
	var short []model.Request
	for _, q := range p.drawn {
		if !q.Long {
			short = append(short, q)
		}
	}
	p.name("Other requests", "their callers wait")
	n := setting.Time(len(short))
	last := p.left
	for i, q := range short {
		kind := "request"
		if q.EndedAt <= p.t && q.Outcome != model.Completed {
			kind = "request-lost"
		}
		had := len(p.row.Bars)
		p.bar(q.Arrival, q.EndedAt, kind)
		if len(p.row.Bars) > had {
			b := &p.row.Bars[had]
			b.Y, b.H = percent(laneTop*n+laneHeight*setting.Time(i), 100*n), percent(3*laneHeight, 400*n)
		}
		last = max(last, min(q.EndedAt, p.t))
	}
	if text := p.fates(); text != "" {
		p.beside(p.left, last, 8, "plain", text)
	}
}

// fates counts what became of the short requests by now.
func (p *painter) fates() string {
	var n [model.Killed + 1]int
	for q := range p.run.Requests() {
		if !q.Long && q.Outcome <= model.Killed && q.EndedAt <= p.t {
			n[q.Outcome]++
		}
	}
	var parts []string
	for o, k := range n {
		if k > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", k, shortOutcome(model.Outcome(o))))
		}
	}
	return strings.Join(parts, ", ")
}

// long draws the long request: how long it was waited for, and how long it
// would have taken.
func (p *painter) long() {
	q, _ := longRequest(p.run.Run)
	s := p.run.Settings
	owner := "its caller waits"
	if s.Deadline > 0 {
		owner = "its caller: " + s.Deadline.String() + " s at most"
	}
	p.name("The long request", owner)
	rail := "long"
	if q.Outcome != model.Completed && q.EndedAt <= p.t {
		rail = "left"
	}
	p.rail(q.Arrival, q.Arrival+q.Duration, rail)
	if s.Deadline > 0 && q.Arrival+s.Deadline < p.right {
		p.row.Rails = append(p.row.Rails, chartBar{Kind: "deadline", X: p.x(q.Arrival + s.Deadline)})
	}
	said := ""
	switch {
	case q.Outcome >= model.Rejected:
		p.mark(q.Arrival, q.Outcome.String())
		said = shortOutcome(q.Outcome)
	default:
		p.bar(q.Arrival, q.EndedAt, "request")
		kind := "kept"
		if q.Outcome != model.Completed {
			kind = "lost"
		}
		p.mark(q.EndedAt, kind)
		if q.Arrival < 0 {
			p.inside(q.Arrival, min(q.EndedAt, p.t), "request", "began at "+signed(q.Arrival)+" s")
		}
		if q.EndedAt <= p.t {
			said = longText(q)
		}
	}
	p.handle("long", q.Arrival, said)
}

func longText(q model.Request) string {
	text := shortOutcome(q.Outcome)
	if left := q.Arrival + q.Duration - q.EndedAt; left > 0 {
		text += ", " + left.String() + " s left"
	}
	return text
}

// work draws the backend's work for the long request.
func (p *painter) work() {
	q, _ := longRequest(p.run.Run)
	p.name("… its work", "a worker elsewhere")
	if q.Work == model.NotStarted {
		if p.t >= q.Arrival {
			p.beside(p.left, q.Arrival, 8, "plain", "not started")
		}
		return
	}
	ends, kind, said := q.WorkEndedAt, "kept", workText(q.Work)
	switch q.Work {
	case model.ConfirmedStopped:
		kind = "stopped"
		said += ", " + (q.WorkEndedAt - q.EndedAt).String() + " s later"
	case model.Unknown:
		ends, kind = p.run.Run.End, "unknown"
	case model.WorkCompleted, model.NotStarted:
	}
	p.bar(q.Arrival, ends, "work")
	p.mark(ends, kind)
	if ends <= p.t {
		p.beside(p.left, ends, 14, kind, said)
	}
}

// budget draws the plan: spent as time goes by, and whole at the end.
func (p *painter) budget() {
	b, kill := p.run.Budget, p.run.Instants.Kill
	seen := p.run.seen(p.t)
	p.name("Budget", "the plan")
	if b.Need == model.Never {
		p.beside(p.left, 0, 8, "plain", "no plan: the signal is not handled")
		return
	}
	if seen {
		p.row.Owner = fmt.Sprintf("needs %s s of %s s", b.Need, kill)
	}
	at := setting.Time(0)
	for _, part := range []struct {
		kind string
		span setting.Time
	}{{"hook", b.Term}, {"drain", b.Remaining}, {"cleanup", b.Cleanup}, {"margin", b.Margin}} {
		if seen { // the plan may go beyond what has happened
			p.rail(at, at+part.span, "part-"+part.kind)
		} else {
			p.bar(at, min(at+part.span, p.t), "part-"+part.kind)
		}
		at += part.span
	}
	if !seen {
		return
	}
	p.inside(0, b.Need, "budget", "needs "+b.Need.String()+" s")
	if b.Slack > 0 {
		p.rail(b.Need, kill, "spare")
		p.inside(b.Need, kill, "budget", b.Slack.String()+" s to spare")
	} else if b.Slack < 0 {
		p.beside(b.Need, b.Need, 8, "over", (-b.Slack).String()+" s too much")
	}
}
