package clocks_test

import (
	"testing"

	"drainlab/internal/clocks"
)

func TestTheMatrixSaysWhatBecameOfTheSignal(t *testing.T) {
	platform := func(id string) *clocks.Platform {
		p, ok := clocks.FindPlatform(id)
		if !ok {
			t.Fatalf("no platform %q", id)
		}
		return &p
	}
	for _, c := range []struct {
		name, query         string
		platform            *clocks.Platform
		value, starts, ends string
		hookEnds            string
	}{
		{"delivered", "signal_delay=1", nil, "1 s after the hook", "5 s", "6 s", "5 s"},
		{"not in time", "prestop=10&signal_delay=25", nil, "25 s after the hook", "10 s", "never: the kill comes first", "10 s"},
		{"at the kill itself", "prestop=30", nil, "0 s after the hook", "30 s", "30 s", "30 s"},
		{"never sent", "prestop=40", nil, "0 s after the hook", "never: the kill comes first", "never", "30 s, by the kill"},
		{"sent, not handled", "signal_handled=0", nil, "sent, not handled", "5 s", "never", "5 s"},
		{"neither", "prestop=40&signal_handled=0", nil, "not sent, nor handled", "never: the kill comes first", "never", "30 s, by the kill"},
		{"a platform that sends none", "signal_handled=0", platform("ec2-spot"), "none is sent: a notice to look for", "never", "never", "5 s"},
		{"where one looks for its notice", "", platform("ec2-spot"), "0 s after the hook", "5 s", "5 s", "5 s"},
		{"a platform whose signal is not handled", "signal_handled=0", platform("docker"), "sent, not handled", "5 s", "never", "5 s"},
	} {
		rows := clocks.Simulate(parse(t, c.query)).Matrix(c.platform)
		for _, o := range rows {
			switch o.Clock {
			case "Signal delivery":
				if o.Value != c.value || o.Starts != c.starts || o.Ends != c.ends {
					t.Errorf("%s: %q from %q to %q", c.name, o.Value, o.Starts, o.Ends)
				}
			case "preStop hook":
				if o.Ends != c.hookEnds {
					t.Errorf("%s: the hook ends %q", c.name, o.Ends)
				}
			}
		}
		if len(rows) != 9 || rows[1].Clock != "preStop hook" || rows[2].Clock != "Signal delivery" {
			t.Errorf("%s: the rows are %v", c.name, rows)
		}
	}
}
