package clocks

import (
	"fmt"
	"strconv"
)

// Reasons says in words what keeps the run from passing; none where it passes.
func (r *Run) Reasons() []string {
	list := make([]string, 0, 4)
	for _, l := range r.Losses() {
		list = append(list, r.reason(l))
	}
	return list
}

func (r *Run) reason(l Loss) string {
	a := r.Account
	switch l {
	case LostKilled:
		return fmt.Sprintf("killed %d > 0", a.Killed)
	case LostCancelled:
		return fmt.Sprintf("cancelled %d > 0", a.Cancelled)
	case LostDeadline:
		return fmt.Sprintf("failed at their deadline %d > 0", a.Deadline)
	case LostRefused:
		return fmt.Sprintf("refused %d > 0", a.Refused)
	case LostUnknown:
		return fmt.Sprintf("backend work unknown %d > 0", r.Work.Unknown)
	case LostCleanup:
		if r.Cleanup == CleanupNotBegun {
			return "cleanup not begun"
		}
		return "cleanup cut"
	case LostExit:
		return "ended by the kill"
	case NoLoss:
	}
	return ""
}

// Verdict is "pass" or "fail".
func (r *Run) Verdict() string {
	if r.Passes() {
		return "pass"
	}
	return "fail"
}

// Ended is how the process ended: "exit" or "kill".
func (r *Run) Ended() string {
	if r.Exited {
		return "exit"
	}
	return "kill"
}

// AppendJSON appends the run as the API's JSON object, in the contract's order
// of names. Equal settings give equal bytes.
func (r *Run) AppendJSON(b []byte) []byte {
	b = r.appendCounts(append(b, '{'))
	b = append(b, `,"requests":[`...)
	b = r.appendRequests(b)
	return append(r.appendEnd(append(b, `],`...)), '}')
}

// AppendJSONWithoutRequests is [Run.AppendJSON] without the list of requests,
// which may be a megabyte.
func (r *Run) AppendJSONWithoutRequests(b []byte) []byte {
	b = r.appendCounts(append(b, '{'))
	return append(r.appendEnd(append(b, ',')), '}')
}

// appendCounts appends the members before the requests.
func (r *Run) appendCounts(b []byte) []byte {
	b = append(b, `"model":`...)
	b = strconv.AppendInt(b, Model, 10)
	b = append(b, `,"settings":`...)
	b = r.Settings.AppendJSON(b)
	b = append(b, `,"instants":{`...)
	i := &r.Instants
	b = instants(b, []named{{"gate", i.Gate}, {"term", i.Term}, {"listener_closed", i.ListenerClosed}, {"router_stop", i.RouterStop},
		{"drained", i.Drained}, {"exit", i.Exit}, {"kill", i.Kill}})
	a := &r.Account
	b = append(b, `},"account":{`...)
	b = counts(b, []counted{{"arrivals", a.Arrivals}, {"admitted", a.Admitted}, {"completed", a.Completed}, {"deadline", a.Deadline},
		{"cancelled", a.Cancelled}, {"killed", a.Killed}, {"rejected", a.Rejected}, {"refused", a.Refused}})
	w := &r.Work
	b = append(b, `},"work":{`...)
	b = counts(b, []counted{{"completed", w.Completed}, {"confirmed_stopped", w.ConfirmedStopped}, {"unknown", w.Unknown}, {"not_started", w.NotStarted}})
	return append(b, '}')
}

func (r *Run) appendRequests(b []byte) []byte {
	first := true
	for q := range r.Requests() {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(b, `{"arrival":`...)
		b = q.Arrival.Append(b)
		b = append(b, `,"long":`...)
		b = strconv.AppendBool(b, q.Long)
		b = append(b, `,"outcome":"`...)
		b = append(b, q.Outcome.String()...)
		b = append(b, `","ended_at":`...)
		b = q.EndedAt.Append(b)
		b = append(b, `,"work":"`...)
		b = append(b, q.Work.String()...)
		b = append(b, `","work_ended_at":`...)
		b = instant(b, q.WorkEndedAt)
		b = append(b, '}')
	}
	return b
}

// appendEnd appends the members after the requests.
func (r *Run) appendEnd(b []byte) []byte {
	b = append(b, `"ended":"`...)
	b = append(b, r.Ended()...)
	b = append(b, `","end":`...)
	b = r.End.Append(b)
	b = append(b, `,"cleanup":"`...)
	b = append(b, cleanupNames[r.Cleanup]...)
	u := &r.Budget
	b = append(b, `","budget":{`...)
	b = instants(b, []named{{"term", u.Term}, {"remaining", u.Remaining}, {"cleanup", u.Cleanup}, {"margin", u.Margin}, {"need", u.Need}, {"slack", u.Slack}})
	b = append(b, `},"verdict":"`...)
	b = append(b, r.Verdict()...)
	b = append(b, `","reasons":[`...)
	for i, reason := range r.Reasons() {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, reason...) // reasons hold no character that JSON escapes
		b = append(b, '"')
	}
	return append(b, ']')
}

type named struct {
	name string
	at   Time
}

func instants(b []byte, list []named) []byte {
	for i, n := range list {
		b = key(b, i, n.name)
		b = instant(b, n.at)
	}
	return b
}

type counted struct {
	name  string
	count int
}

func counts(b []byte, list []counted) []byte {
	for i, n := range list {
		b = key(b, i, n.name)
		b = strconv.AppendInt(b, int64(n.count), 10)
	}
	return b
}

func key(b []byte, i int, name string) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	b = append(b, '"')
	b = append(b, name...)
	return append(b, `":`...)
}

func instant(b []byte, t Time) []byte {
	if t == Never {
		return append(b, "null"...)
	}
	return t.Append(b)
}
