package clocks

import (
	"math/rand/v2"
	"net/url"
	"testing"

	model "drainlab/internal/clocks"
	"drainlab/internal/setting"
)

// randomClocks draws settings that the API takes, half of the amounts from the
// sliders' stops, most of which are small, the rest from the whole ranges.
func randomClocks(r *rand.Rand) model.Settings {
	s := model.Opening()
	for _, c := range model.Table() {
		stops := c.Stops()
		v := stops[r.IntN(len(stops))]
		if r.IntN(2) == 0 && !c.Toggle && c.Words == nil {
			v = c.Min + setting.Time(r.IntN(int(c.Max-c.Min)+1))
		}
		c.Set(&s, v)
	}
	if s.Long > 0 {
		s.LongAge %= s.Long
	}
	if err := s.Validate(); err != nil {
		panic(err)
	}
	return s
}

func clocksOf(t *testing.T, query string) model.Settings {
	t.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	s, err := model.ParseValues(model.Opening(), values)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// clocksRunOf is the line that answers the settings of a query.
func clocksRunOf(t *testing.T, query string) string {
	t.Helper()
	return string(append(model.Simulate(clocksOf(t, query)).AppendJSON(nil), '\n'))
}

// clocksLineOf is the same without the run's requests, as many runs are
// answered.
func clocksLineOf(t *testing.T, query string) string {
	t.Helper()
	return string(append(model.Simulate(clocksOf(t, query)).AppendJSONWithoutRequests(nil), '\n'))
}

// clocksAtTheEnds are queries whose runs together hold every word of the
// answer, and the ends of its ranges.
var clocksAtTheEnds = []string{
	"",
	"signal_handled=0", "signal_handled=0&grace=3", "deadline=5", "deadline=5&cooperative=0", "grace=15", "grace=0", "grace=12&deadline=2",
	"server_timeout=5&stop_check=20", "server_timeout=5", "cooperative=0&server_timeout=5", "cooperative=0&server_timeout=9&long=15&cleanup=3&cleanup_budget=none",
	"cleanup=3", "cleanup=10&cleanup_budget=none&grace=20", "gate=none&prestop=0&propagation=10", "gate=term&prestop=0", "gate=term&prestop=40",
	"interval=0.1&request=600&withdraw=60&propagation=300&gate=none&signal_handled=0&grace=3600&long=3600&long_age=0&deadline=0",
	"grace=3600&hook_in_grace=0&prestop=600&signal_delay=60&gate=none&server_timeout=none&long=3600&long_age=3599.9&deadline=0.1&stop_check=0.1",
	"grace=3600&hook_in_grace=0&prestop=600&signal_handled=0&gate=none&long=3600&long_age=0&deadline=3599.9&stop_check=60",
	"grace=3600&hook_in_grace=0&prestop=600&gate=none&server_timeout=none&long=3600&long_age=0&deadline=0&cleanup=60&cleanup_budget=none",
	"grace=0.1&prestop=600&signal_delay=60&gate=none&server_timeout=none&long=3600&long_age=0&cleanup=60&cleanup_budget=none&margin=60",
	"grace=3600&prestop=0&gate=none&server_timeout=none&long=3600&long_age=0.1&cleanup=0&margin=0",
	"grace=3600&prestop=0&request=0.1&propagation=0&long=0&cleanup=0&margin=0", "long=0&long_age=3600&request=0.1&propagation=0",
}

// anyTermination draws settings in which clocks come close to each other: most
// are small and many are alike.
func anyTermination(r *rand.Rand) model.Settings {
	s := model.Opening()
	pick := func(list ...setting.Time) setting.Time { return list[r.IntN(len(list))] }
	s.Grace = pick(0, 1, 20, 30, 50, 100, 300, setting.Time(r.IntN(400)))
	s.HookInGrace, s.SignalHandled, s.Cooperative = r.IntN(3) > 0, r.IntN(5) > 0, r.IntN(2) > 0
	s.Prestop = pick(0, 0, 20, 30, 50, setting.Time(r.IntN(200)))
	s.SignalDelay = pick(0, 0, 0, 10, setting.Time(r.IntN(100)))
	s.Withdraw, s.Propagation = pick(0, 0, 10, 30), pick(0, 20, 50, 100, setting.Time(r.IntN(300)))
	s.Gate = model.GateClosing(r.IntN(3))
	s.ServerTimeout = pick(setting.None, 0, 20, 200, setting.Time(r.IntN(300)))
	s.Cleanup, s.CleanupBudget = pick(0, 10, 30), pick(setting.None, 0, 20)
	s.Interval, s.Request = pick(1, 5, 10, 37, 100), pick(1, 10, 40, 200)
	s.Long = pick(0, 40, 200, 400)
	s.LongAge = pick(0, 0, 1, 39)
	s.Deadline = pick(0, 10, 30, 600)
	s.StopCheck = pick(1, 5, 50)
	if err := s.Validate(); err != nil {
		panic(err)
	}
	return s
}
