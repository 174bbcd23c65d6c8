package clocks_test

import (
	"encoding/json"
	"net/url"
	"testing"

	"drainlab/internal/clocks"
)

// parse reads settings as a link writes them.
func parse(t testing.TB, query string) clocks.Settings {
	t.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	s, err := clocks.ParseValues(clocks.Opening(), values)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheOpeningRunIsTheContractsOwn(t *testing.T) {
	got := clocks.Simulate(clocks.Opening())
	var view struct {
		Model                           int
		Instants, Account, Work, Budget map[string]float64
		Ended, Cleanup, Verdict         string
		End                             float64
		Reasons                         []string
		Requests                        []struct {
			Arrival     float64
			Long        bool
			Outcome     string
			EndedAt     float64 `json:"ended_at"`
			Work        string
			WorkEndedAt *float64 `json:"work_ended_at"`
		}
	}
	if err := json.Unmarshal(got.AppendJSON(nil), &view); err != nil {
		t.Fatal(err)
	}
	same := func(what string, got map[string]float64, want map[string]float64) {
		t.Helper()
		if len(got) != len(want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
		for name, v := range want {
			if got[name] != v {
				t.Errorf("%s.%s = %v, want %v", what, name, got[name], v)
			}
		}
	}
	same("instants", view.Instants, map[string]float64{"gate": 0, "term": 5, "listener_closed": 5, "router_stop": 2, "drained": 15, "exit": 16, "kill": 30})
	same("account", view.Account, map[string]float64{"arrivals": 12, "admitted": 8, "completed": 8, "deadline": 0, "cancelled": 0, "killed": 0, "rejected": 4, "refused": 0})
	same("work", view.Work, map[string]float64{"completed": 8, "confirmed_stopped": 0, "unknown": 0, "not_started": 4})
	same("budget", view.Budget, map[string]float64{"term": 5, "remaining": 10, "cleanup": 1, "margin": 2, "need": 18, "slack": 12})
	if view.Model != 1 || view.Ended != "exit" || view.End != 16 || view.Cleanup != "complete" || view.Verdict != "pass" || len(view.Reasons) != 0 || view.Reasons == nil {
		t.Errorf("the rest: %+v", view)
	}
	q := view.Requests[0]
	if len(view.Requests) != 12 || q.Arrival != -5 || !q.Long || q.Outcome != "completed" || q.EndedAt != 15 || q.Work != "completed" || q.WorkEndedAt == nil || *q.WorkEndedAt != 15 {
		t.Errorf("of %d requests the first is %+v", len(view.Requests), q)
	}
}

func TestTheWorkedCasesOfTheContract(t *testing.T) {
	lag := "long=0&prestop=0&propagation=2&interval=0.1&request=0.1&gate=term"
	hook := "grace=30&prestop=10&server_timeout=30&long=25.1&long_age=0&propagation=0&gate=term"
	stream := "grace=660&prestop=15&server_timeout=30&long=60&long_age=0&deadline=0&gate=term"
	with := func(base, change string) string {
		values, _ := url.ParseQuery(base)
		changed, _ := url.ParseQuery(change)
		for name, v := range changed {
			values[name] = v
		}
		return values.Encode()
	}
	long := func(r *clocks.Run) clocks.Request {
		for q := range r.Requests() {
			if q.Long {
				return q
			}
		}
		return clocks.Request{}
	}
	for _, c := range []struct {
		name, query string
		holds       func(*clocks.Run) bool
	}{
		{"refusals while routes lag", lag, func(r *clocks.Run) bool { return r.Account.Refused == 20 }},
		{"a hook longer than the lag", with(lag, "prestop=3"), func(r *clocks.Run) bool { return r.Account.Refused == 0 && r.Account.Rejected == 0 }},
		{"the budget includes the hook", hook, func(r *clocks.Run) bool {
			q := long(r)
			return r.Account.Admitted == 8 && r.Account.Completed == 8 && q.Outcome == clocks.Completed && q.EndedAt == 251 && r.Instants.Exit == 261 && r.Passes()
		}},
		{"and cuts across it", with(hook, "long=35&cleanup=0"), func(r *clocks.Run) bool {
			q := long(r)
			return r.Account.Completed == 7 && q.Outcome == clocks.Killed && q.EndedAt == 300 && q.Arrival+q.Duration-r.Instants.Term == 250 && r.Work.Unknown == 1
		}},
		{"server timeout shorter than the stream", stream, func(r *clocks.Run) bool {
			q := long(r)
			return q.Outcome == clocks.Cancelled && q.EndedAt == 450 && q.Work == clocks.ConfirmedStopped && q.WorkEndedAt == 455 && !r.Passes()
		}},
		{"server timeout longer than the stream", with(stream, "server_timeout=600"), func(r *clocks.Run) bool {
			q := long(r)
			return q.Outcome == clocks.Completed && q.EndedAt == 600 && r.Instants.Exit == 610 && r.Passes()
		}},
	} {
		if r := clocks.Simulate(parse(t, c.query)); !c.holds(r) {
			t.Errorf("%s: %s", c.name, r.AppendJSON(nil))
		}
	}
}
