package clocks

import (
	"slices"
	"testing"

	"drainlab/internal/setting"
)

func TestTheBudgetsWordsAreThereWhereTheirPartHasRoom(t *testing.T) {
	for _, c := range []struct {
		query string
		rooms []string // hook and delivery, drain, cleanup, margin, to spare
	}{
		{"", []string{"", "room-320", "", "", "room-320"}},
		{"grace=3600", []string{"", "", "", "", "room-240"}},
		{"prestop=11&grace=27", []string{"room-480", "room-560", "", "", "room-320"}},
		{"prestop=0&grace=15", []string{"", "room-240", "", "room-800"}},
	} {
		var rooms []string
		for _, p := range budgetOf(t, c.query).Parts {
			rooms = append(rooms, p.Room)
		}
		if !slices.Equal(rooms, c.rooms) {
			t.Errorf("%s: %q", c.query, rooms)
		}
	}
}

// budgetOf is the plan of a query's run at its end.
func budgetOf(t *testing.T, query string) budget {
	t.Helper()
	v := viewOf(t, query)
	return newBudget(v.run(), v.run().End())
}

func TestTheSumsAddUp(t *testing.T) {
	r := seeded(t)
	for range 500 {
		s := anyTermination(r)
		if !s.SignalHandled {
			continue
		}
		run := newView(s, nil, openX, openY).run()
		v := newBudget(run, run.End())
		amounts := map[string]setting.Time{}
		for _, line := range v.Sums {
			amounts[line.Kind] = secondsOf(t, line.Value)
		}
		need := amounts["hook"] + amounts["drain"] + amounts["cleanup"] + amounts["margin"]
		if amounts["need"] != need || amounts["kill"] != run.Instants.Kill || amounts["kill"]-need != amounts["spare"]-amounts["over"] {
			t.Fatalf("%s: %+v", s.AppendQuery(nil), v.Sums)
		}
	}
}

func TestThePlanIsHeldAgainstTheRunAtItsEndAlone(t *testing.T) {
	run := viewOf(t, "").run()
	if v := newBudget(run, run.End()-1); !v.Waits || len(v.Parts) > 0 || v.Gap != "" {
		t.Errorf("%+v", v)
	}
}
