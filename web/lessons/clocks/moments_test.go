package clocks

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	model "drainlab/internal/clocks"
	"drainlab/internal/setting"
)

var (
	rejectedWindow = regexp.MustCompile(`^The admission gate closes: what arrives from here until the (?:listener closes|kill) at ([\d.]+) s is rejected before any work\.$`)
	refusedWindow  = regexp.MustCompile(`what arrives from here on is refused\.$`)
	gapWindow      = regexp.MustCompile(`^Transition gap: ([\d.]+) s, from ([\d.]+) s to ([\d.]+) s\. Routers still send new requests here then, and this process turns them away: (.*)\.$`)
)

func secondsOf(t *testing.T, text string) setting.Time {
	t.Helper()
	v, err := setting.ParseTime(strings.TrimSuffix(text, " s"))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}

// checkWords compares what the words say of new requests with what became of
// each one.
func checkWords(t *testing.T, s model.Settings) {
	t.Helper()
	run := model.Simulate(s)
	steps := momentsOf(run)
	rejects := [2]setting.Time{}
	refuses, gap := setting.Time(1<<20), [2]setting.Time{}
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("%s: %s\n%+v\n%s", s.AppendQuery(nil), fmt.Sprintf(format, args...), steps, gapText(run))
	}
	longTold, longEnded, left := "", -1, -1
	for i, step := range steps {
		if found := rejectedWindow.FindStringSubmatch(step.text); found != nil {
			rejects = [2]setting.Time{step.at, secondsOf(t, found[1])}
		} else if strings.Contains(step.text, "rejected before") {
			fail("%q is in no known words", step.text)
		}
		if refusedWindow.MatchString(step.text) {
			refuses = min(refuses, step.at)
		} else if strings.Contains(step.text, "what arrives from here on") {
			fail("%q is in no known words", step.text)
		}
		switch {
		case strings.HasPrefix(step.text, "The long request arrives;"):
			longTold = "admitted"
		case strings.HasPrefix(step.text, "The long request arrives and is rejected"):
			longTold = "rejected"
		case strings.HasPrefix(step.text, "The long request arrives and is refused"):
			longTold = "refused"
		case strings.HasPrefix(step.text, "The long request:"):
			longEnded = i
		case step.text == "No admitted request is left.":
			left = i
		}
		if i > 0 && strings.HasPrefix(step.text, "The preStop hook ends") && strings.HasPrefix(steps[i-1].text, "The signal") {
			fail("the signal stands before the hook's end")
		}
	}
	if longEnded >= 0 && left >= 0 && longEnded > left {
		fail("the long request ends after none is left")
	}
	text := gapText(run)
	if found := gapWindow.FindStringSubmatch(text); found != nil {
		gap = [2]setting.Time{secondsOf(t, found[2]), secondsOf(t, found[3])}
		if secondsOf(t, found[1]) != gap[1]-gap[0] || gap[1] <= gap[0] || gap[1]-gap[0] != run.Gap() {
			fail("the gap does not add up")
		}
	} else if !strings.HasPrefix(text, "Transition gap: none. ") || run.Gap() != 0 {
		fail("the gap is in no known words")
	}
	counts := map[string]int{}
	for q := range run.Requests() {
		fate := "admitted"
		if q.Outcome > model.Killed {
			fate = q.Outcome.String()
			counts[fate]++
		}
		if q.Long {
			if fate != longTold {
				fail("the long request is %s, told as %s", fate, longTold)
			}
			if q.Arrival < gap[0] || q.Arrival >= gap[1] {
				if told := strings.Contains(text, "The long request, which arrives at 0 s whatever they do, is turned away."); told != (fate != "admitted") {
					fail("the long request is %s", fate)
				}
				continue
			}
		}
		told := "admitted"
		switch {
		case q.Arrival >= refuses:
			told = "refused"
		case q.Arrival >= rejects[0] && q.Arrival < rejects[1]:
			told = "rejected"
		}
		if told != fate {
			fail("the request at %v is %s, told as %s", q.Arrival, fate, told)
		}
		if in := q.Arrival >= gap[0] && q.Arrival < gap[1]; in != (fate != "admitted") {
			fail("the request at %v is %s", q.Arrival, fate)
		}
	}
	if gap[1] > 0 {
		var parts []string
		for _, fate := range []string{"rejected", "refused"} {
			if counts[fate] > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", counts[fate], fate))
			}
		}
		if want := strings.Join(parts, ", ") + "."; len(parts) > 0 && !strings.HasSuffix(text, ": "+want) || len(parts) == 0 && !strings.HasSuffix(text, ": none arrives in that time.") {
			fail("the gap does not tell %v", counts)
		}
	}
	if gap[1] == 0 && longTold == "" && len(counts) > 0 {
		fail("there is no gap, and %v", counts)
	}
	checkGateRow(t, s)
}

func TestTheWordsSayOfEachRequestWhatBecameOfIt(t *testing.T) {
	r := seeded(t)
	for range 3000 {
		checkWords(t, anyTermination(r))
	}
	for range 200 {
		checkWords(t, randomClocks(r))
	}
	for _, query := range clocksAtTheEnds {
		checkWords(t, clocksOf(t, query))
	}
}

func momentLines(list []moment) []string {
	var lines []string
	for _, m := range list {
		lines = append(lines, m.at.String()+" s: "+m.text)
	}
	return lines
}

func TestTheTerminationInWordsByHand(t *testing.T) {
	none := "Transition gap: none. While routers send new requests here, this process serves them."
	for _, c := range []struct {
		name, query string
		lines       []string // that it holds, in their order
		not         string
		gap         string
	}{
		{"the opening settings", "", []string{"0 s: Termination begins.", "0 s: The admission gate closes: what arrives from here until the listener closes at 5 s is rejected before any work.",
			"2 s: The last router stops sending new requests.", "5 s: The preStop hook ends.", "5 s: The signal has reached the application; the listener closes: what arrives from here on is refused.",
			"15 s: The long request: completed.", "15 s: No admitted request is left.", "16 s: The cleanup is complete; the process exits."}, "kill",
			"Transition gap: 2 s, from 0 s to 2 s. Routers still send new requests here then, and this process turns them away: 4 rejected."},
		{"refused, none rejected", "prestop=0&propagation=2&interval=0.1&request=0.1&gate=term&long=0",
			[]string{"0 s: The signal has reached the application; admission gate and listener close: what arrives from here on is refused."}, "rejected",
			"Transition gap: 2 s, from 0 s to 2 s. Routers still send new requests here then, and this process turns them away: 20 refused."},
		{"first rejected, then refused", "propagation=10", []string{"until the listener closes at 5 s is rejected", "5 s: The signal has reached the application; the listener closes"}, "admission gate and listener",
			"Transition gap: 10 s, from 0 s to 10 s. Routers still send new requests here then, and this process turns them away: 10 rejected, 10 refused."},
		{"a gap that begins later", "prestop=5&propagation=10&gate=term", nil, "rejected",
			"Transition gap: 5 s, from 5 s to 10 s. Routers still send new requests here then, and this process turns them away: 10 refused."},
		{"a gap in which none arrives", "propagation=5.2&gate=term&prestop=5.1", nil, "",
			"Transition gap: 0.1 s, from 5.1 s to 5.2 s. Routers still send new requests here then, and this process turns them away: none arrives in that time."},
		{"no grace", "grace=0&long=0", []string{"0 s: The admission gate closes, and the kill comes at once: nothing is rejected.",
			"0 s: The kill cuts the preStop hook: no signal was sent, nothing was drained or cleaned up.", "The process is gone: what arrives from here on is refused."}, "is rejected before",
			"Transition gap: 2 s, from 0 s to 2 s. Routers still send new requests here then, and this process turns them away: 4 refused."},
		{"rejected until the kill", "signal_handled=0&propagation=40&long=0",
			[]string{"until the kill at 30 s is rejected before any work.", "30 s: No signal was handled: nothing was drained or cleaned up.", "30 s: The kill. The cleanup was not begun. The process is gone: what arrives from here on is refused."}, "",
			"Transition gap: 40 s, from 0 s to 40 s. Routers still send new requests here then, and this process turns them away: 60 rejected, 20 refused."},
		{"no gap", "gate=term", nil, "rejected", none},
		{"a hook that the kill always cuts", "prestop=40", []string{"30 s: The kill cuts the preStop hook: no signal was sent"}, "hook ends", ""},
		{"a signal that comes too late", "signal_delay=60", []string{"5 s: The preStop hook ends.", "30 s: The signal has not reached the application: nothing was drained or cleaned up."}, "No signal", ""},
		{"a long request that the gate rejects", "long_age=0", []string{"0 s: Termination begins.", "0 s: The admission gate closes", "0 s: The long request arrives and is rejected at the gate, before any work."}, "would take", ""},
		{"… though no router sends", "long_age=0&propagation=0", []string{"0 s: The long request arrives and is rejected at the gate"}, "",
			none + " The long request, which arrives at 0 s whatever they do, is turned away."},
		{"a long request that is refused", "long_age=0&prestop=0&gate=none", []string{"0 s: The signal has reached the application; the listener closes", "0 s: The long request arrives and is refused: nothing listens here any more."}, "would take", ""},
		{"a long request that just gets in", "long_age=0&gate=none", []string{"0 s: Termination begins.", "0 s: The long request arrives; it would take 20 s.", "20 s: The long request: completed.", "20 s: No admitted request is left."}, "", ""},
		{"the timeout before whom it cancels", "server_timeout=5", []string{"10 s: The server's graceful timeout of 5 s ends: 1 cancelled.", "10 s: The long request: cancelled by the server's timeout.", "10.5 s: Its work: confirmed stopped."}, "none is left", ""},
		{"work that nothing is known of", "server_timeout=5&stop_check=20", []string{"10 s: The long request: cancelled by the server's timeout.", "11 s: What became of the long request's work is unknown."}, "Its work", ""},
	} {
		run := model.Simulate(clocksOf(t, c.query))
		text := strings.Join(momentLines(momentsOf(run)), "\n")
		rest := text
		for _, line := range c.lines {
			_, after, found := strings.Cut(rest, line)
			if !found {
				t.Errorf("%s: %q is missing, or out of order, in\n%s", c.name, line, text)
				break
			}
			rest = after
		}
		if c.not != "" && strings.Contains(text, c.not) {
			t.Errorf("%s: there is %q in\n%s", c.name, c.not, text)
		}
		if got := gapText(run); c.gap != "" && got != c.gap {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}
