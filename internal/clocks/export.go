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
	Note     string // on the page: what the text itself has no place for
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

// taken is t in whole seconds as the platform takes it, with a remark where
// that is not t, or more than it takes.
func taken(id string, t Time) (int, string) {
	n, note := ceil(t)
	p, ok := FindPlatform(id)
	if least := int(ceilDiv(p.Least, Second)); ok && n < least {
		return least, strings.TrimSpace(fmt.Sprintf("%s, and %s takes no less than %d s %s", span(t), p.Name, least, p.LeastWhere))
	}
	return n, notes(note, above(id, n))
}

// above remarks that a platform does not take so long a grace.
func above(id string, seconds int) string {
	p, ok := FindPlatform(id)
	if !ok || p.Most == Never || Time(seconds)*Second <= p.Most {
		return ""
	}
	return fmt.Sprintf("more than the %s that %s takes %s", span(p.Most), p.Name, p.MostWhere)
}

// spent remarks that the hook uses up the grace that it is counted in.
func (r *Run) spent() string {
	s := &r.Settings
	if !s.HookInGrace || s.Prestop == 0 || s.Prestop < s.Grace {
		return ""
	}
	return fmt.Sprintf("The hook's %s use up the grace of %s: nothing is left for the drain.", span(s.Prestop), span(s.Grace))
}

// comment is text on a line of its own, none where there is no text.
func comment(mark, text string) string {
	if text == "" {
		return ""
	}
	return mark + " " + text + "\n"
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

// wait says what becomes of the hook where the platform has none.
func (r *Run) wait() string {
	if r.Settings.Prestop == 0 {
		return ""
	}
	text := fmt.Sprintf("The wait of %s before the signal is not in here: whoever stops the process makes it.", span(r.Settings.Prestop))
	if spent := r.spent(); spent != "" {
		text += " " + spent
	}
	return text
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
	s, kill := &r.Settings, r.Instants.Kill
	hook, hookNote := ceil(s.Prestop)
	rest, restNote := ceil(r.afterHook())
	grace, graceNote := hook+rest, "" // each rounded up by itself: the hook's rounding must not come out of the drain
	switch {
	case s.Prestop > kill: // refused where it is longer than the grace
		grace, graceNote = ceil(kill)
		hook = min(hook, grace)
		hookNote = fmt.Sprintf("not the %s of the settings: Kubernetes takes no hook longer than the grace, and nothing is left for the drain", span(s.Prestop))
	case hookNote != "" && restNote != "":
		graceNote = fmt.Sprintf("%s; the hook and what is left after it are each rounded up to whole seconds", span(kill))
	case hookNote != "" || restNote != "":
		graceNote = fmt.Sprintf("%s, rounded up to whole seconds", span(kill))
	}
	if !s.HookInGrace && s.Prestop > 0 { // Kubernetes counts it in, whatever the settings say
		graceNote = notes(graceNote, "the hook's "+span(s.Prestop)+" are in it")
	}
	if s.Prestop > 0 && s.Prestop == kill {
		hookNote = notes(hookNote, "all of the grace: nothing is left for the drain")
	}
	var b strings.Builder
	b.WriteString(r.ours("#"))
	fmt.Fprintf(&b, "spec:\n  terminationGracePeriodSeconds: %d%s\n", grace, remark("#", graceNote))
	b.WriteString("  containers:\n    - name: app\n")
	switch {
	case hook > 0:
		fmt.Fprintf(&b, "      lifecycle:\n        preStop:\n          sleep:\n            seconds: %d%s\n", hook, remark("#", hookNote))
	case s.Prestop > 0:
		fmt.Fprintf(&b, "      # no preStop hook: %s do not fit a grace of 0 s\n", span(s.Prestop))
	}
	return []byte(b.String())
}

func (r *Run) docker() []byte {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n" + r.ours("#"))
	if hook := r.Settings.Prestop; hook > 0 {
		b.WriteString("# Docker has no hook: take the container out of routing first, and wait.\n" + comment("#", r.spent()))
		n, note := ceil(hook)
		fmt.Fprintf(&b, "sleep %d%s\n", n, remark("#", note))
	}
	n, note := taken("docker", r.afterHook())
	fmt.Fprintf(&b, "docker stop -t %d app%s\n", n, remark("#", note))
	return []byte(b.String())
}

// systemd has one length for two clocks: that of each ExecStop, and that from
// the signal to SIGKILL.
func (r *Run) systemd() []byte {
	var b strings.Builder
	b.WriteString(r.ours("#") + "[Service]\nKillSignal=SIGTERM\n")
	rest, hook := r.afterHook(), r.Settings.Prestop
	stop := rest
	switch {
	case hook == 0 && rest == 0:
		b.WriteString("# 0 would switch the clock off: 1 ms stands for it.\n")
	case hook > 0:
		b.WriteString("# TimeoutStopSec runs for each ExecStop, and then anew from the signal to SIGKILL.\n")
		if hook >= rest { // at the same length it would race the hook's end
			stop = hook + Second
			fmt.Fprintf(&b, "# It must be longer than the hook, so that it is %s, not the %s that are left after the hook: SIGKILL may come at %s, not at %s.\n",
				span(stop), span(rest), span(hook+stop), span(r.Instants.Kill))
		}
		fmt.Fprintf(&b, "ExecStop=/bin/sleep %s\n", hook)
	}
	fmt.Fprintf(&b, "TimeoutStopSec=%s\n", timeSpan(stop))
	return []byte(b.String())
}

// timeSpan is t as systemd writes spans: 25s 500ms. 0 would switch the timeout
// off, so that a shortest one stands for it.
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

// ecs is JSON, which has no comments: what there is to remark is a label of the
// container, which does nothing and goes along with the file.
func (r *Run) ecs() []byte {
	n, _ := taken("ecs", r.afterHook())
	labels := ""
	if text := r.ecsRemarks(); text != "" {
		labels = fmt.Sprintf(",\n      \"dockerLabels\": {\n        \"drainlab.note\": %q\n      }", text) // the remarks hold no character that JSON escapes otherwise
	}
	return fmt.Appendf(nil, "{\n  \"containerDefinitions\": [\n    {\n      \"name\": \"app\",\n      \"stopTimeout\": %d%s\n    }\n  ]\n}\n", n, labels)
}

func (r *Run) ecsRemarks() string {
	_, note := taken("ecs", r.afterHook())
	if note != "" {
		note = "stopTimeout: " + note + "."
	}
	return strings.TrimSpace(note + " " + r.wait())
}

// ecsNote says where the remarks are.
func (r *Run) ecsNote() string {
	if r.ecsRemarks() == "" {
		return ""
	}
	return "JSON has no comments: the remarks are a label, drainlab.note, which does nothing."
}

func (r *Run) fly() []byte {
	n, note := taken("fly", r.afterHook())
	return fmt.Appendf(nil, "%s%skill_signal = \"SIGTERM\"\nkill_timeout = %d%s\n", r.ours("#"), comment("#", r.wait()), n, remark("#", note))
}

func (r *Run) nomad() []byte {
	var b strings.Builder
	b.WriteString(r.ours("#") + "task \"app\" {\n")
	if hook := r.Settings.Prestop; hook > 0 {
		b.WriteString(comment("  #", r.spent()))
		fmt.Fprintf(&b, "  shutdown_delay = \"%ss\"\n", hook)
	}
	n, _ := ceil(r.afterHook())
	fmt.Fprintf(&b, "  kill_signal  = \"SIGTERM\"\n  kill_timeout = \"%ss\"%s\n}\n", r.afterHook(), remark("#", above("nomad", n)))
	return []byte(b.String())
}

func (r *Run) render() []byte {
	n, note := taken("render", r.afterHook())
	return fmt.Appendf(nil, "%s%sservices:\n  - type: web\n    name: app\n    maxShutdownDelaySeconds: %d%s\n", r.ours("#"), comment("#", r.wait()), n, remark("#", note))
}
