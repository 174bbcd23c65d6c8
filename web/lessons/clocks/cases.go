package clocks

import (
	"fmt"
	"net/url"
	"strings"

	model "drainlab/internal/clocks"
)

// workedCase is one of the model's worked cases: a step of the guide, and the
// source of the figures that the prose quotes.
type workedCase struct{ id, title, ask, query string }

// The worked cases in the guide's order.
const (
	caseLag = iota
	caseHook
	caseBudget
	caseCut
	caseShort
	caseWhole
)

var cases = []workedCase{
	caseLag: {"lag", "Refusals while routes lag", "No hook, routers that need 2 s, a request every 0.1 s. How many callers find no listener?",
		"long=0&prestop=0&propagation=2&interval=0.1&request=0.1&gate=term"},
	caseHook: {"hook", "A hook longer than the lag", "The same with a hook of 3 s. Who pays for it, and with what?",
		"long=0&prestop=3&propagation=2&interval=0.1&request=0.1&gate=term"},
	caseBudget: {"budget", "The budget includes the hook", "A hook of 10 s in a grace of 30 s, a request of 25.1 s that begins at 0. Does it make it?",
		"grace=30&prestop=10&server_timeout=30&long=25.1&long_age=0&propagation=0&gate=term"},
	caseCut: {"cut", "… and the kill cuts across it", "The same with a request of 35 s and no cleanup. How much was left at the kill, and what of its work?",
		"grace=30&prestop=10&server_timeout=30&long=35&long_age=0&propagation=0&gate=term&cleanup=0"},
	caseShort: {"short", "Server timeout shorter than the stream", "Eleven minutes of grace, a stream of 60 s, a server that waits 30 s. Which clock wins?",
		"grace=660&prestop=15&server_timeout=30&long=60&long_age=0&deadline=0&gate=term"},
	caseWhole: {"whole", "Server timeout longer than the stream", "The same with a server that waits 600 s. When does the process leave?",
		"grace=660&prestop=15&server_timeout=600&long=60&long_age=0&deadline=0&gate=term"},
}

// view is the case's settings with no platform.
func (c workedCase) view() View {
	values, err := url.ParseQuery(c.query)
	if err != nil {
		panic(err) // the cases are constants, and opened by a test
	}
	v, err := parseView(values)
	if err != nil {
		panic(err)
	}
	return v
}

func (c workedCase) run() *model.Run { return model.Simulate(c.view().settings) }

// outcome tells in a sentence how a run ended.
func outcome(run *model.Run) string {
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
		return text + "; exit at " + run.End.String() + " s."
	}
	return text + "; killed at " + run.End.String() + " s."
}
