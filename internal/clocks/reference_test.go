package clocks_test

import (
	"math"
	"strconv"

	"drainlab/internal/clocks"
)

// reference is a second implementation of docs/clocks.md, kept naive on
// purpose: it lists the requests one by one, holds every instant against every
// other, and counts what it listed. It was written from the page without a
// look at the engine; where the two differ, one of them misreads the page.
type reference struct {
	s clocks.Settings

	// Instants in tenths; never lies after all others.
	gate, term, listenerClosed, routerStop, drained, exit, kill int

	requests []refRequest
	end      int
	ended    string
	cleanup  string
	budget   refBudget
}

type refRequest struct {
	arrival, finish      int // when it came and when it would be done
	long, admitted       bool
	outcome, work        string
	endedAt, workEndedAt int
}

type refBudget struct{ term, remaining, cleanup, margin, need, slack int }

const never = math.MaxInt

// byHand works out the whole of s in the order of the page.
func byHand(s clocks.Settings) *reference {
	r := &reference{s: s}
	r.setClocks()
	r.listRequests()
	r.endProcess()
	for i := range r.requests {
		r.endWork(&r.requests[i])
	}
	r.plan()
	return r
}

func (r *reference) setClocks() {
	r.kill = int(r.s.Grace)
	if !r.s.HookInGrace {
		r.kill = int(r.s.Prestop + r.s.Grace)
	}
	r.term, r.listenerClosed, r.gate, r.drained, r.exit = never, never, never, never, never
	if r.s.SignalHandled {
		r.term = int(r.s.Prestop + r.s.SignalDelay)
		r.listenerClosed = r.term
	}
	switch r.s.Gate.String() {
	case "prestop":
		r.gate = 0
	case "term":
		r.gate = r.term
	}
	r.routerStop = int(r.s.Withdraw + r.s.Propagation)
}

func (r *reference) listRequests() {
	first := 0
	for earlier := first - int(r.s.Interval); earlier+int(r.s.Request) > 0; earlier -= int(r.s.Interval) {
		first = earlier
	}
	long := r.s.Long > 0
	for at := first; at < r.routerStop; at += int(r.s.Interval) {
		if long && -int(r.s.LongAge) <= at {
			r.receive(-int(r.s.LongAge), int(r.s.Long), true)
			long = false
		}
		r.receive(at, int(r.s.Request), false)
	}
	if long {
		r.receive(-int(r.s.LongAge), int(r.s.Long), true)
	}
}

func (r *reference) receive(at, duration int, long bool) {
	q := refRequest{arrival: at, finish: at + duration, long: long}
	// The process may be gone by its own exit too; that comes after term.
	switch gone := at >= r.kill; {
	case at >= 0 && (gone || at >= r.term):
		q.outcome, q.endedAt = "refused", at
	case at >= 0 && at >= r.gate:
		q.outcome, q.endedAt = "rejected", at
	default:
		q.admitted = true
		q.outcome, q.endedAt = "completed", q.finish
		if limit := r.deadlineOf(q); limit < q.endedAt {
			q.outcome, q.endedAt = "deadline", limit
		}
		if limit := r.cancelling(); limit < q.endedAt {
			q.outcome, q.endedAt = "cancelled", limit
		}
		if r.kill < q.endedAt {
			q.outcome, q.endedAt = "killed", r.kill
		}
	}
	r.requests = append(r.requests, q)
}

func (r *reference) deadlineOf(q refRequest) int {
	if r.s.Deadline == 0 {
		return never
	}
	return q.arrival + int(r.s.Deadline)
}

// cancelling is when the server gives up on what still runs.
func (r *reference) cancelling() int {
	if r.term == never || r.s.ServerTimeout == clocks.None {
		return never
	}
	return r.term + int(r.s.ServerTimeout)
}

// cleaning is how long the cleanup may take.
func (r *reference) cleaning() int {
	if r.s.CleanupBudget != clocks.None && r.s.CleanupBudget < r.s.Cleanup {
		return int(r.s.CleanupBudget)
	}
	return int(r.s.Cleanup)
}

func (r *reference) count(is func(refRequest) bool) int {
	n := 0
	for _, q := range r.requests {
		if is(q) {
			n++
		}
	}
	return n
}

func (r *reference) outcomes(name string) int {
	return r.count(func(q refRequest) bool { return q.outcome == name })
}

func (r *reference) works(name string) int {
	return r.count(func(q refRequest) bool { return q.work == name })
}

func (r *reference) endProcess() {
	if r.term <= r.kill && r.outcomes("killed") == 0 {
		r.drained = r.term
		for _, q := range r.requests {
			if q.admitted && q.endedAt > r.drained {
				r.drained = q.endedAt
			}
		}
		if r.drained+r.cleaning() <= r.kill {
			r.exit = r.drained + r.cleaning()
		}
	}
	switch {
	case r.exit != never && r.cleaning() == int(r.s.Cleanup):
		r.end, r.ended, r.cleanup = r.exit, "exit", "complete"
	case r.exit != never:
		r.end, r.ended, r.cleanup = r.exit, "exit", "cut"
	case r.drained < r.kill:
		r.end, r.ended, r.cleanup = r.kill, "kill", "cut"
	default:
		r.end, r.ended, r.cleanup = r.kill, "kill", "not_begun"
	}
}

func (r *reference) endWork(q *refRequest) {
	settle := func(work string, at int) {
		q.work, q.workEndedAt = work, at
		if at > r.end { // nobody was there to see it
			q.work, q.workEndedAt = "unknown", never
		}
	}
	switch {
	case !q.admitted:
		q.work, q.workEndedAt = "not_started", never
	case q.outcome == "killed":
		q.work, q.workEndedAt = "unknown", never
	case q.outcome != "completed" && r.s.Cooperative:
		settle("confirmed_stopped", q.endedAt+int(r.s.StopCheck))
	default:
		settle("completed", q.finish)
	}
}

func (r *reference) plan() {
	b := refBudget{term: never, cleanup: r.cleaning(), margin: int(r.s.Margin), need: never, slack: never}
	if r.s.SignalHandled {
		b.term = r.term
		for _, q := range r.requests {
			if q.admitted && q.finish-r.term > b.remaining {
				b.remaining = q.finish - r.term
			}
		}
		if r.s.ServerTimeout != clocks.None && int(r.s.ServerTimeout) < b.remaining {
			b.remaining = int(r.s.ServerTimeout)
		}
		b.need = b.term + b.remaining + b.cleanup + b.margin
		b.slack = r.kill - b.need
	}
	r.budget = b
}

func (r *reference) passes() bool {
	return r.outcomes("deadline") == 0 && r.outcomes("killed") == 0 && r.outcomes("cancelled") == 0 && r.outcomes("refused") == 0 &&
		r.works("unknown") == 0 && r.cleanup == "complete" && r.ended == "exit"
}

// gap looks at every tenth at which routers still send: would a request then
// be served here?
func (r *reference) gap() int {
	without := 0
	for at := 0; at < r.routerStop; at++ {
		if at >= r.gate || at >= r.term || at >= r.kill {
			without++
		}
	}
	return without
}

// appendJSON writes the document of the page's "As JSON" up to the reasons,
// whose wording the page leaves open.
func (r *reference) appendJSON(b []byte) []byte {
	s := r.s
	text := func(words string) { b = append(b, words...) }
	seconds := func(name string, tenths int) {
		text(name)
		b = appendSeconds(b, tenths)
	}
	toggle := func(name string, on bool) {
		text(name)
		b = strconv.AppendBool(b, on)
	}
	bound := func(name string, limit clocks.Time) {
		text(name)
		if limit == clocks.None {
			text(`"none"`)
			return
		}
		b = appendSeconds(b, int(limit))
	}
	number := func(name string, n int) {
		text(name)
		b = strconv.AppendInt(b, int64(n), 10)
	}
	// An instant after the kill never comes.
	instant := func(name string, at int) {
		if at > r.kill {
			at = never
		}
		seconds(name, at)
	}

	seconds(`{"model":1,"settings":{"grace":`, int(s.Grace))
	toggle(`,"hook_in_grace":`, s.HookInGrace)
	seconds(`,"prestop":`, int(s.Prestop))
	seconds(`,"signal_delay":`, int(s.SignalDelay))
	toggle(`,"signal_handled":`, s.SignalHandled)
	seconds(`,"withdraw":`, int(s.Withdraw))
	seconds(`,"propagation":`, int(s.Propagation))
	text(`,"gate":"` + map[clocks.GateClosing]string{clocks.GateAtPrestop: "prestop", clocks.GateAtTerm: "term", clocks.GateNever: "none"}[s.Gate] + `"`)
	bound(`,"server_timeout":`, s.ServerTimeout)
	seconds(`,"cleanup":`, int(s.Cleanup))
	bound(`,"cleanup_budget":`, s.CleanupBudget)
	seconds(`,"interval":`, int(s.Interval))
	seconds(`,"request":`, int(s.Request))
	seconds(`,"long":`, int(s.Long))
	seconds(`,"long_age":`, int(s.LongAge))
	seconds(`,"deadline":`, int(s.Deadline))
	toggle(`,"cooperative":`, s.Cooperative)
	seconds(`,"stop_check":`, int(s.StopCheck))
	seconds(`,"margin":`, int(s.Margin))

	instant(`},"instants":{"gate":`, r.gate)
	instant(`,"term":`, r.term)
	instant(`,"listener_closed":`, r.listenerClosed)
	seconds(`,"router_stop":`, r.routerStop)
	instant(`,"drained":`, r.drained)
	instant(`,"exit":`, r.exit)
	seconds(`,"kill":`, r.kill)

	number(`},"account":{"arrivals":`, len(r.requests))
	number(`,"admitted":`, r.count(func(q refRequest) bool { return q.admitted }))
	number(`,"completed":`, r.outcomes("completed"))
	number(`,"deadline":`, r.outcomes("deadline"))
	number(`,"cancelled":`, r.outcomes("cancelled"))
	number(`,"killed":`, r.outcomes("killed"))
	number(`,"rejected":`, r.outcomes("rejected"))
	number(`,"refused":`, r.outcomes("refused"))
	number(`},"work":{"completed":`, r.works("completed"))
	number(`,"confirmed_stopped":`, r.works("confirmed_stopped"))
	number(`,"unknown":`, r.works("unknown"))
	number(`,"not_started":`, r.works("not_started"))

	text(`},"requests":[`)
	for i, q := range r.requests {
		if i > 0 {
			text(`,`)
		}
		seconds(`{"arrival":`, q.arrival)
		toggle(`,"long":`, q.long)
		text(`,"outcome":"` + q.outcome)
		seconds(`","ended_at":`, q.endedAt)
		text(`,"work":"` + q.work)
		seconds(`","work_ended_at":`, q.workEndedAt)
		text(`}`)
	}

	text(`],"ended":"` + r.ended)
	seconds(`","end":`, r.end)
	text(`,"cleanup":"` + r.cleanup)
	seconds(`","budget":{"term":`, r.budget.term)
	seconds(`,"remaining":`, r.budget.remaining)
	seconds(`,"cleanup":`, r.budget.cleanup)
	seconds(`,"margin":`, r.budget.margin)
	seconds(`,"need":`, r.budget.need)
	seconds(`,"slack":`, r.budget.slack)
	if r.passes() {
		text(`},"verdict":"pass"`)
	} else {
		text(`},"verdict":"fail"`)
	}
	text(`,"reasons":[`)
	return b
}

// appendSeconds prints tenths the other way round from the package: through a
// float.
func appendSeconds(b []byte, tenths int) []byte {
	if tenths == never {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, float64(tenths)/10, 'f', -1, 64)
}
