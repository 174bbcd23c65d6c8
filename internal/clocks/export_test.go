package clocks_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"drainlab/internal/clocks"
)

// exported is the text of one export of these settings.
func exported(t testing.TB, s clocks.Settings, id string) string {
	t.Helper()
	e, ok := clocks.Simulate(s).Export(id)
	if !ok {
		t.Fatalf("there is no export %q", id)
	}
	return string(e.Content)
}

func TestAnExportSaysWhatAPlatformCannotTake(t *testing.T) {
	for _, c := range []struct {
		name, query, id string
		lines           []string // that it holds, in their order
		not             string
	}{
		{"the opening settings", "", "kubernetes", []string{"  terminationGracePeriodSeconds: 30\n", "            seconds: 5\n"}, "rounded"},
		{"a hook longer than the grace is cut to it", "prestop=40", "kubernetes",
			[]string{"  terminationGracePeriodSeconds: 30\n", "            seconds: 30 # not the 40 s of the settings: Kubernetes takes no hook longer than the grace, and nothing is left for the drain\n"}, "40\n"},
		{"no hook fits no grace", "grace=0", "kubernetes", []string{"  terminationGracePeriodSeconds: 0\n", "      # no preStop hook: 5 s do not fit a grace of 0 s\n"}, "lifecycle"},
		{"a hook as long as the grace", "prestop=30", "kubernetes",
			[]string{"  terminationGracePeriodSeconds: 30\n", "            seconds: 30 # all of the grace: nothing is left for the drain\n"}, "rounded"},
		{"rounding the hook does not eat the drain", "prestop=4.1", "kubernetes",
			[]string{"  terminationGracePeriodSeconds: 31 # 30 s; the hook and what is left after it are each rounded up to whole seconds\n", "            seconds: 5 # 4.1 s, rounded up to whole seconds\n"}, ""},
		{"what adds up to the grace rounded up", "prestop=7.5&grace=42.5", "kubernetes",
			[]string{"  terminationGracePeriodSeconds: 43 # 42.5 s, rounded up to whole seconds\n", "            seconds: 8 # 7.5 s, rounded up to whole seconds\n"}, "each"},
		{"Kubernetes counts the hook in", "prestop=7.5&hook_in_grace=0", "kubernetes",
			[]string{"  terminationGracePeriodSeconds: 38 # 37.5 s, rounded up to whole seconds; the hook's 7.5 s are in it\n", "            seconds: 8 # 7.5 s"}, ""},

		{"two clocks of one length", "", "systemd", []string{"# TimeoutStopSec runs for each ExecStop, and then anew from the signal to SIGKILL.\n", "ExecStop=/bin/sleep 5\n", "TimeoutStopSec=25s\n"}, "longer than the hook"},
		{"without a hook", "prestop=0&grace=30.5", "systemd", []string{"KillSignal=SIGTERM\nTimeoutStopSec=30s 500ms\n"}, "# TimeoutStopSec"},
		{"a hook longer than what follows it", "prestop=20", "systemd",
			[]string{"# It must be longer than the hook, so that it is 21 s, not the 10 s that are left after the hook: SIGKILL may come at 41 s, not at 30 s.\n", "ExecStop=/bin/sleep 20\n", "TimeoutStopSec=21s\n"}, "TimeoutStopSec=10s"},
		{"a hook just as long", "prestop=15", "systemd",
			[]string{"so that it is 16 s, not the 15 s that are left after the hook: SIGKILL may come at 31 s, not at 30 s.\n", "TimeoutStopSec=16s\n"}, "TimeoutStopSec=15s"},
		{"a hook longer than the grace", "prestop=40.5", "systemd",
			[]string{"so that it is 41.5 s, not the 0 s that are left after the hook: SIGKILL may come at 82 s, not at 30 s.\n", "ExecStop=/bin/sleep 40.5\nTimeoutStopSec=41s 500ms\n"}, ""},
		{"no grace at all", "prestop=0&grace=0", "systemd", []string{"# 0 would switch the clock off: 1 ms stands for it.\nTimeoutStopSec=1ms\n"}, "ExecStop"},
		{"no grace and a hook", "prestop=3&grace=0", "systemd", []string{"not the 0 s that are left after the hook: SIGKILL may come at 7 s, not at 0 s.\nExecStop=/bin/sleep 3\nTimeoutStopSec=4s\n"}, "1ms"},

		{"Render takes a second at least", "grace=0&prestop=0", "render", []string{"    maxShutdownDelaySeconds: 1 # 0 s, and Render takes no less than 1 s\n"}, "wait"},
		{"and five minutes at most", "grace=305.5", "render",
			[]string{"# The wait of 5 s before the signal is not in here: whoever stops the process makes it.\n", "    maxShutdownDelaySeconds: 301 # 300.5 s, rounded up to whole seconds; more than the 300 s that Render takes for web, private and worker services\n"}, "use up"},
		{"ECS remarks in a label", "grace=12.5", "ecs", []string{`"stopTimeout": 8`, `"drainlab.note": "stopTimeout: 7.5 s, rounded up to whole seconds. The wait of 5 s before the signal is not in here: whoever stops the process makes it."`}, ""},
		{"ECS takes two seconds at least", "grace=5", "ecs", []string{`"stopTimeout": 2`, `stopTimeout: 0 s, and Amazon ECS takes no less than 2 s on Fargate. The wait of 5 s`, "The hook's 5 s use up the grace of 5 s: nothing is left for the drain."}, ""},
		{"and two minutes at most", "grace=200&prestop=0", "ecs", []string{`"stopTimeout": 200`, "more than the 120 s that Amazon ECS takes on Fargate"}, "wait"},
		{"nothing to remark", "prestop=0", "ecs", []string{"      \"stopTimeout\": 30\n    }"}, "Labels"},
		{"a wait that uses up the grace", "prestop=40", "fly", []string{"whoever stops the process makes it. The hook's 40 s use up the grace of 30 s: nothing is left for the drain.\n", "kill_timeout = 0\n"}, ""},
		{"the same for Docker", "prestop=40", "docker", []string{"# The hook's 40 s use up the grace of 30 s: nothing is left for the drain.\nsleep 40\ndocker stop -t 0 app\n"}, ""},
		{"and for Nomad", "prestop=40", "nomad", []string{"  # The hook's 40 s use up the grace of 30 s: nothing is left for the drain.\n  shutdown_delay = \"40s\"\n", "  kill_timeout = \"0s\"\n"}, ""},
		{"a hook apart uses nothing up", "prestop=40&hook_in_grace=0", "nomad", []string{"  kill_timeout = \"30s\"\n"}, "use up"},
	} {
		text := exported(t, parse(t, c.query), c.id)
		rest := text
		for _, line := range c.lines {
			_, after, found := strings.Cut(rest, line)
			if !found {
				t.Errorf("%s: %q is missing in\n%s", c.name, line, text)
			}
			rest = after
		}
		if c.not != "" && strings.Contains(text, c.not) {
			t.Errorf("%s: there is %q in\n%s", c.name, c.not, text)
		}
	}
}

// number is what stands after a name in an export.
func number(t testing.TB, text, name string) int {
	t.Helper()
	found := regexp.MustCompile(regexp.QuoteMeta(name) + `(\d+)`).FindStringSubmatch(text)
	if found == nil {
		return -1
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Whatever the settings, an export is one that its platform takes, and gives
// hook and drain at least the time that the settings do.
func TestAnExportNeverCutsWhatTheSettingsGive(t *testing.T) {
	t.Logf("seed %d", *fixSeed)
	rng := rand.New(rand.NewPCG(*fixSeed, 4))
	for range 2000 {
		s := clocks.Opening()
		s.Prestop, s.Grace, s.HookInGrace = clocks.Time(rng.IntN(100)), clocks.Time(rng.IntN(300)), rng.IntN(3) > 0
		kill := s.Grace
		if !s.HookInGrace {
			kill += s.Prestop
		}
		rest := max(0, kill-s.Prestop)
		fail := func(id, format string, args ...any) {
			t.Helper()
			t.Fatalf("prestop=%v grace=%v hook_in_grace=%v: %s\n%s", s.Prestop, s.Grace, s.HookInGrace, fmt.Sprintf(format, args...), exported(t, s, id))
		}
		text := exported(t, s, "kubernetes")
		grace, hook := number(t, text, "terminationGracePeriodSeconds: "), number(t, text, " seconds: ")
		switch fits := s.Prestop <= kill; {
		case hook > grace || hook == 0:
			fail("kubernetes", "a hook of %d s, a grace of %d s", hook, grace)
		case fits && clocks.Time(max(hook, 0))*10 < s.Prestop, fits && clocks.Time(grace-max(hook, 0))*10 < rest:
			fail("kubernetes", "a hook of %d s and %d s after it", hook, grace-hook)
		case clocks.Time(grace)*10 < kill, clocks.Time(grace)*10 >= kill+20:
			fail("kubernetes", "a grace of %d s", grace)
		}

		text = exported(t, s, "systemd")
		stop := clocks.Time(0)
		if found := regexp.MustCompile(`TimeoutStopSec=(\d+)s(?: (\d)00ms)?\n$`).FindStringSubmatch(text); found != nil {
			whole, _ := strconv.Atoi(found[1])
			tenths, _ := strconv.Atoi(found[2])
			stop = clocks.Time(10*whole + tenths)
		} else if !strings.HasSuffix(text, "TimeoutStopSec=1ms\n") {
			fail("systemd", "no clock")
		}
		switch {
		case stop < rest, s.Prestop > 0 && stop <= s.Prestop:
			fail("systemd", "a clock of %v s", stop)
		case (stop > rest) != strings.Contains(text, fmt.Sprintf("SIGKILL may come at %v s, not at %v s", s.Prestop+stop, kill)):
			fail("systemd", "a clock of %v s, for %v s", stop, rest)
		}

		text = exported(t, s, "ecs")
		var task struct {
			ContainerDefinitions []struct {
				Name         string
				StopTimeout  int
				DockerLabels map[string]string
			}
		}
		d := json.NewDecoder(strings.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&task); err != nil || len(task.ContainerDefinitions) != 1 {
			fail("ecs", "%v", err)
		}
		c := task.ContainerDefinitions[0]
		e, _ := clocks.Simulate(s).Export("ecs")
		if c.StopTimeout < 2 || clocks.Time(c.StopTimeout)*10 < rest || (c.DockerLabels["drainlab.note"] == "") != (clocks.Time(c.StopTimeout)*10 == rest && s.Prestop == 0) ||
			(e.Note == "") != (len(c.DockerLabels) == 0) {
			fail("ecs", "%+v", c)
		}
		if n := number(t, exported(t, s, "render"), "maxShutdownDelaySeconds: "); n < 1 || clocks.Time(n)*10 < rest {
			fail("render", "%d s", n)
		}
	}
}
