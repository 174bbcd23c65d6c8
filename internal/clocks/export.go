package clocks

import (
	"fmt"
	"strings"
)

// Export is a run's values in one platform's own words.
type Export struct {
	ID       string // in addresses
	Name     string
	File     string
	Type     string // content type
	Content  []byte
	Platform string // id of the platform that it is for
	Note     string // what the format has no place for
}

// Exports lists the run's values as settings of the platforms, Kubernetes
// first. A platform that takes whole seconds gets them rounded up, and the
// text says so.
func (r *Run) Exports() []Export {
	return []Export{
		{ID: "kubernetes", Name: "Kubernetes manifest fragment", File: "termination.yaml", Type: "application/yaml", Content: r.kubernetes(), Platform: "kubernetes"},
		{ID: "docker", Name: "Docker command", File: "stop.sh", Type: "text/x-shellscript; charset=utf-8", Content: r.docker(), Platform: "docker"},
		{ID: "systemd", Name: "systemd unit lines", File: "termination.conf", Type: "text/plain; charset=utf-8", Content: r.systemd(), Platform: "systemd"},
		{ID: "ecs", Name: "ECS task definition fragment", File: "termination.json", Type: "application/json", Content: r.ecs(), Platform: "ecs", Note: r.ecsNote()},
		{ID: "fly", Name: "fly.toml lines", File: "termination.toml", Type: "application/toml", Content: r.fly(), Platform: "fly"},
		{ID: "nomad", Name: "Nomad task block", File: "termination.hcl", Type: "text/plain; charset=utf-8", Content: r.nomad(), Platform: "nomad"},
		{ID: "render", Name: "Render blueprint line", File: "render.yaml", Type: "application/yaml", Content: r.render(), Platform: "render"},
	}
}

// Export returns the export of that id.
func (r *Run) Export(id string) (Export, bool) {
	for _, e := range r.Exports() {
		if e.ID == id {
			return e, true
		}
	}
	return Export{}, false
}

// afterHook is how long the process has from the end of the hook to the kill.
func (r *Run) afterHook() Time { return max(0, r.Instants.Kill-r.Settings.Prestop) }

// above remarks that a platform does not take so long a grace.
func above(id string, seconds int) string {
	p, ok := FindPlatform(id)
	if !ok || p.Most == Never || Time(seconds)*Second <= p.Most {
		return ""
	}
	return fmt.Sprintf("more than the %s that %s takes %s", span(p.Most), p.Name, p.MostWhere)
}

// notes joins remarks.
func notes(list ...string) string {
	var some []string
	for _, text := range list {
		if text != "" {
			some = append(some, text)
		}
	}
	return strings.Join(some, "; ")
}

// wait says in a comment what becomes of the hook where the platform has none.
func (r *Run) wait(mark string) string {
	if r.Settings.Prestop == 0 {
		return ""
	}
	return fmt.Sprintf("%s The wait of %s before the signal is not in here: whoever stops the process makes it.\n", mark, span(r.Settings.Prestop))
}

// ceil is t in whole seconds, and a remark where that is more than t.
func ceil(t Time) (int, string) {
	n := int(ceilDiv(t, Second))
	if t%Second == 0 {
		return n, ""
	}
	return n, fmt.Sprintf("%s s, rounded up to whole seconds", t)
}

func remark(mark, text string) string {
	if text == "" {
		return ""
	}
	return " " + mark + " " + text
}

// ours says in comments what belongs to the application's own configuration.
func (r *Run) ours(mark string) string {
	s := &r.Settings
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, mark+" "+format+"\n", args...) }
	line("In the application's own configuration:")
	line("  admission gate closes: %s", map[GateClosing]string{GateAtPrestop: "when termination begins", GateAtTerm: "at the signal", GateNever: "never"}[s.Gate])
	line("  server graceful timeout: %s", bound(s.ServerTimeout))
	line("  cleanup budget: %s", bound(s.CleanupBudget))
	return b.String()
}

func (r *Run) kubernetes() []byte {
	s := &r.Settings
	// Kubernetes counts the hook in, whatever the settings say.
	grace, note := ceil(r.Instants.Kill)
	if !s.HookInGrace && s.Prestop > 0 {
		if note != "" {
			note += "; "
		}
		note += "the hook's " + span(s.Prestop) + " are in it"
	}
	var b strings.Builder
	b.WriteString(r.ours("#"))
	fmt.Fprintf(&b, "spec:\n  terminationGracePeriodSeconds: %d%s\n", grace, remark("#", note))
	b.WriteString("  containers:\n    - name: app\n")
	if hook, note := ceil(s.Prestop); hook > 0 {
		fmt.Fprintf(&b, "      lifecycle:\n        preStop:\n          sleep:\n            seconds: %d%s\n", hook, remark("#", note))
	}
	return []byte(b.String())
}

func (r *Run) docker() []byte {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n" + r.ours("#"))
	if hook := r.Settings.Prestop; hook > 0 {
		b.WriteString("# Docker has no hook: take the container out of routing first, and wait.\n")
		n, note := ceil(hook)
		fmt.Fprintf(&b, "sleep %d%s\n", n, remark("#", note))
	}
	n, note := ceil(r.afterHook())
	fmt.Fprintf(&b, "docker stop -t %d app%s\n", n, remark("#", note))
	return []byte(b.String())
}

func (r *Run) systemd() []byte {
	var b strings.Builder
	b.WriteString(r.ours("#") + "[Service]\nKillSignal=SIGTERM\n")
	stop := r.afterHook()
	if hook := r.Settings.Prestop; hook > 0 {
		fmt.Fprintf(&b, "ExecStop=/bin/sleep %s\n", hook)
		if hook > stop {
			stop = hook
			b.WriteString("# Each ExecStop has the timeout to itself: it must cover the hook too.\n")
		}
	}
	fmt.Fprintf(&b, "TimeoutStopSec=%s\n", timeSpan(stop))
	return []byte(b.String())
}

// timeSpan is t as systemd writes spans: 25s 500ms. 0 would switch the timeout
// off, so that the shortest one stands for it.
func timeSpan(t Time) string {
	if t == 0 {
		return "1ms"
	}
	text := fmt.Sprintf("%ds", t/Second)
	if t%Second != 0 {
		text += fmt.Sprintf(" %dms", t%Second*100)
	}
	return text
}

func (r *Run) ecs() []byte {
	n, _ := ceil(r.afterHook())
	return fmt.Appendf(nil, "{\n  \"containerDefinitions\": [\n    {\n      \"name\": \"app\",\n      \"stopTimeout\": %d\n    }\n  ]\n}\n", n)
}

// ecsNote says what JSON has no comments for.
func (r *Run) ecsNote() string {
	n, note := ceil(r.afterHook())
	text := notes(note, above("ecs", n))
	if text != "" {
		text = "stopTimeout: " + text + "."
	}
	if wait := strings.TrimSpace(r.wait("")); wait != "" {
		text = strings.TrimSpace(text + " " + wait)
	}
	return text
}

func (r *Run) fly() []byte {
	n, note := ceil(r.afterHook())
	return fmt.Appendf(nil, "%s%skill_signal = \"SIGTERM\"\nkill_timeout = %d%s\n", r.ours("#"), r.wait("#"), n, remark("#", notes(note, above("fly", n))))
}

func (r *Run) nomad() []byte {
	var b strings.Builder
	b.WriteString(r.ours("#") + "task \"app\" {\n")
	if hook := r.Settings.Prestop; hook > 0 {
		fmt.Fprintf(&b, "  shutdown_delay = \"%ss\"\n", hook)
	}
	n, _ := ceil(r.afterHook())
	fmt.Fprintf(&b, "  kill_signal  = \"SIGTERM\"\n  kill_timeout = \"%ss\"%s\n}\n", r.afterHook(), remark("#", above("nomad", n)))
	return []byte(b.String())
}

func (r *Run) render() []byte {
	n, note := ceil(r.afterHook())
	return fmt.Appendf(nil, "%s%sservices:\n  - type: web\n    name: app\n    maxShutdownDelaySeconds: %d%s\n", r.ours("#"), r.wait("#"), n, remark("#", notes(note, above("render", n))))
}
