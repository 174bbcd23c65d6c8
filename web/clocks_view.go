package web

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"drainlab/internal/clocks"
	"drainlab/internal/setting"
	"drainlab/web/templates"
)

func buildClocksFrame(v clocksView) templates.ClocksFrame {
	run := clocks.Simulate(v.Settings)
	query := v.canonical()
	f := templates.ClocksFrame{
		Query: query, Settings: string(v.Settings.AppendQuery(nil)),
		Picture: buildClockPicture(run, v.Platform), Verdict: run.Verdict(), Reasons: lossTexts(run), Strip: stripText(run),
		Budget: buildBudget(run), Fix: buildFixes(v, run), Groups: clockControls(v), Locked: len(v.Lock) > 0,
		Sweep: buildSweep(clocks.Table(), v.Settings, v.Axes, v.path(), queryWithoutAxes(v), clockCells, judgeClocks()),
		Steps: clockSteps(run), Requests: clockRequests(run), Head: clocks.MatrixHead(),
	}
	f.Announce = "Verdict: " + strings.ToUpper(f.Verdict)
	a, w := run.Account, run.Work
	f.Counts = []templates.ClockCount{{Name: "admitted", Kind: "none", Count: a.Admitted}, {Name: "completed", Kind: "completed", Count: a.Completed},
		{Name: "killed", Kind: "killed", Count: a.Killed}, {Name: "cancelled", Kind: "killed", Count: a.Cancelled},
		{Name: "failed at deadline", Kind: "killed", Count: a.Deadline}, {Name: "refused", Kind: "killed", Count: a.Refused},
		{Name: "rejected, which fails nothing", Kind: "none", Count: a.Rejected}}
	f.Work = []templates.ClockCount{{Name: "completed", Kind: "completed", Count: w.Completed}, {Name: "confirmed stopped", Kind: "running", Count: w.ConfirmedStopped},
		{Name: "unknown", Kind: "killed", Count: w.Unknown}, {Name: "not started", Kind: "none", Count: w.NotStarted}}
	for _, list := range [][]templates.ClockCount{f.Counts, f.Work} {
		for i := range list {
			if list[i].Count == 0 {
				list[i].Kind = "none"
			}
		}
	}
	f.Gap = gapText(run)
	for _, p := range clocks.Platforms() {
		choice := templates.PlatformChoice{ID: p.ID, Name: p.Name}
		next := v
		next.Platform = &p
		choice.Href = next.with(p.On(v.Settings))
		choice.Now = v.Platform != nil && v.Platform.ID == p.ID
		f.Platforms = append(f.Platforms, choice)
	}
	if p := v.Platform; p != nil {
		f.Platform = platformNote(v, *p)
	}
	for _, o := range run.Matrix(v.Platform) {
		f.Matrix = append(f.Matrix, []string{o.Clock, o.Owner, o.Value, o.Starts, o.Ends, o.NoPromise, o.Evidence})
	}
	for _, d := range []struct{ name, file string }{{"Markdown", "matrix.md"}, {"CSV", "matrix.csv"}, {"JSON", "matrix.json"}} {
		f.Downloads = append(f.Downloads, templates.Download{Name: d.name, Href: "/lessons/clocks/files/" + d.file + "?" + query})
	}
	for _, e := range run.Exports() {
		open := e.Platform == "kubernetes" && v.Platform == nil || v.Platform != nil && v.Platform.ID == e.Platform
		f.Exports = append(f.Exports, templates.ExportText{ID: e.ID, Name: e.Name, Text: string(e.Content), Note: e.Note, Open: open,
			Href: "/lessons/clocks/files/" + e.ID + "?" + query})
	}
	return f
}

func queryWithoutAxes(v clocksView) string {
	v.Axes = clocksAxes
	return v.canonical()
}

func platformNote(v clocksView, p clocks.Platform) *templates.PlatformNote {
	n := &templates.PlatformNote{ID: p.ID, Name: p.Name, Document: p.Document, URL: p.URL, LookedUp: clocks.LookedUp}
	n.Text = fmt.Sprintf("%s: signal %s. Default grace %s s", p.Name, p.Signal, p.Grace)
	if p.Setting != "" {
		n.Text += " (" + p.Setting + ")"
	}
	if p.Most != clocks.Never && p.Most != p.Grace {
		n.Text += fmt.Sprintf(", at most %s s %s", p.Most, p.MostWhere)
	} else if p.Most != clocks.Never {
		n.Text += ", " + p.MostWhere
	}
	n.Text += ". What the clock covers: " + p.Includes + "."
	switch {
	case p.Hook == "":
		n.Text += " It runs nothing before the signal: the preStop duration here is a wait that whoever stops the process makes."
	case p.Hook != "preStop":
		n.Text += " What runs before the signal is its " + p.Hook + "; the preStop duration here stands for that."
	}
	if s := p.On(v.Settings); s != v.Settings {
		var differs []string
		for _, name := range []string{"grace", "hook_in_grace", "signal_handled"} {
			c, _ := clocks.FindControl(name)
			if c.Amount(s) != c.Amount(v.Settings) {
				differs = append(differs, fmt.Sprintf("%s %s, by default %s", c.Label, c.Say(c.Amount(v.Settings)), c.Say(c.Amount(s))))
			}
		}
		if p.Most != clocks.Never && v.Settings.Grace > p.Most {
			n.Differs = fmt.Sprintf("%s does not take a grace of %s s: %s s is the most %s. ", p.Name, v.Settings.Grace, p.Most, p.MostWhere)
		}
		n.Differs += "You have changed: " + strings.Join(differs, "; ") + "."
		n.Reset = v.with(s)
	}
	return n
}

func presetRows() []templates.PlatformRow {
	var rows []templates.PlatformRow
	for _, p := range clocks.Platforms() {
		row := templates.PlatformRow{Name: p.Name, Signal: p.Signal, Grace: p.Grace.String() + " s", Most: "no maximum named",
			Includes: p.Includes, Document: p.Document, URL: p.URL, Setting: p.Setting}
		if p.Most != clocks.Never {
			row.Most = p.Most.String() + " s " + p.MostWhere
		}
		rows = append(rows, row)
	}
	return rows
}

var clockGroups = []struct {
	name  string
	names []string
}{
	{"Platform", []string{"grace", "hook_in_grace", "prestop", "signal_delay"}},
	{"Application", []string{"signal_handled", "gate", "server_timeout", "cleanup", "cleanup_budget"}},
	{"Requests", []string{"interval", "request", "long", "long_age", "deadline"}},
	{"Routing", []string{"withdraw", "propagation"}},
	{"Backend work", []string{"cooperative", "stop_check"}},
	{"Plan", []string{"margin"}},
}

var gateWords = map[string]string{"prestop": "at 0", "term": "at the signal", "none": "never"}

func clockControls(v clocksView) []templates.ControlGroup {
	var groups []templates.ControlGroup
	for _, g := range clockGroups {
		group := templates.ControlGroup{Name: g.name}
		for _, name := range g.names {
			c, _ := clocks.FindControl(name)
			control := buildStopControl(&c, v.Settings)
			control.Locked = v.locks(name)
			group.Controls = append(group.Controls, control)
		}
		groups = append(groups, group)
	}
	return groups
}

// buildStopControl is a control whose slider goes over the control's stops.
func buildStopControl[S any](c *setting.Control[S], s S) templates.Control {
	v := buildControl(*c, s)
	amount := c.Amount(s)
	for i, word := range c.Words {
		v.Choices = append(v.Choices, templates.Option{Value: word, Name: gateWords[word], Chosen: setting.Time(i) == amount})
	}
	v.None = c.None
	stops := c.Stops()
	texts := make([]string, len(stops))
	nearest := 0
	for i, stop := range stops {
		texts[i] = c.TextOf(stop)
		if abs(order(stop)-order(amount)) < abs(order(stops[nearest])-order(amount)) {
			nearest = i
		}
	}
	v.Stops, v.Stop, v.StopMax = strings.Join(texts, " "), strconv.Itoa(nearest), strconv.Itoa(len(stops)-1)
	if c.None && amount == setting.None {
		v.Text = setting.NoBound
	}
	return v
}

func abs(n int) int { return max(n, -n) }

// workload are the settings that describe what comes in, not what one can set.
var workload = map[string]bool{"interval": true, "request": true, "long": true, "long_age": true, "cleanup": true, "cooperative": true, "stop_check": true}

// shortName is a control's label where the one before it is not there to read.
func shortName(c clocks.Control) string {
	short := map[string]string{"long": "Long request", "long_age": "Age of the long request", "deadline": "Request deadline", "stop_check": "Backend work acknowledges within"}
	if name := short[c.Name]; name != "" {
		return name
	}
	return c.Label
}

func changeText(c clocks.Control, from, to setting.Time) string {
	return fmt.Sprintf("%s %s → %s", shortName(c), valueText(&c, from), valueText(&c, to))
}

// lossTexts says what keeps a run from passing, and which clock did it.
func lossTexts(run *clocks.Run) []string {
	var list []string
	a := run.Account
	for _, l := range run.Losses() {
		switch l {
		case clocks.LostKilled:
			list = append(list, fmt.Sprintf("%s killed by the platform at %s s", count(a.Killed, "request", "requests"), run.End))
		case clocks.LostCancelled:
			list = append(list, fmt.Sprintf("%s cancelled by the server's timeout at %s s", count(a.Cancelled, "request", "requests"), run.Settings.Prestop+run.Settings.SignalDelay+run.Settings.ServerTimeout))
		case clocks.LostDeadline:
			list = append(list, fmt.Sprintf("%s failed at the caller's deadline", count(a.Deadline, "request", "requests")))
		case clocks.LostRefused:
			list = append(list, fmt.Sprintf("%s refused: the listener was gone while routers still sent", count(a.Refused, "request", "requests")))
		case clocks.LostUnknown:
			list = append(list, fmt.Sprintf("what became of the work of %s is unknown", count(run.Work.Unknown, "request", "requests")))
		case clocks.LostCleanup:
			switch {
			case run.Cleanup == clocks.CleanupNotBegun:
				list = append(list, "cleanup not begun")
			case run.Exited:
				list = append(list, "cleanup cut by its own budget")
			default:
				list = append(list, "cleanup cut by the kill")
			}
		case clocks.LostExit:
			list = append(list, "the process did not leave by itself")
		case clocks.NoLoss:
		}
	}
	return list
}

// stripText is the verdict in a line, for where the picture is out of sight.
func stripText(run *clocks.Run) string {
	if run.Passes() {
		return "exit at " + run.End.String() + " s"
	}
	return strings.Join(lossTexts(run), "; ")
}

func valueText(c *clocks.Control, v setting.Time) string {
	if c.Words != nil {
		return gateWords[c.Words[v]]
	}
	return c.Say(v)
}

func buildFixes(v clocksView, run *clocks.Run) templates.FixList {
	limit := ""
	if most := v.most(); most != clocks.Never {
		limit = fmt.Sprintf(" The grace is searched up to the %s s that are %s's most, %s.", most, v.Platform.Name, v.Platform.MostWhere)
	}
	if run.Passes() {
		f := templates.FixList{Heading: "What would break it",
			Lead: "For each setting the smallest change of it alone with which these settings fail, found by running the model with every value."}
		addChanges(&f, v, clocks.Breaks(v.Settings), "FAIL", "fail")
		f.NoneText = "No value of these alone makes it fail"
		return f
	}
	f := templates.FixList{Heading: "What would fix it",
		Lead: "For each setting the smallest change of it alone that turns FAIL into PASS, found by running the model with every value." + limit}
	addChanges(&f, v, clocks.Fixes(v.Settings, v.most()), "PASS", "pass")
	f.NoneText = "No value of these alone makes it pass"
	if len(f.Changes)+len(f.Workload) > 0 {
		return f
	}
	f.None = nil
	f.Lead = "No single change does: every value of every setting was run." + limit
	for _, p := range clocks.Pairs(v.Settings, v.most(), 6) {
		a := changeText(p.First.Control, p.First.From, p.First.To)
		b := changeText(p.Second.Control, p.Second.From, p.Second.To)
		if v.locks(p.First.Control.Name) || v.locks(p.Second.Control.Name) {
			continue
		}
		f.Pairs = append(f.Pairs, templates.FixRow{ID: "fix-" + p.First.Control.Name + "-" + p.Second.Control.Name, Text: a + " and " + b, Verdict: "PASS", Kind: "pass", Href: v.with(p.Settings)})
	}
	if len(f.Pairs) > 0 {
		f.Lead += " These two together do."
		return f
	}
	f.Lead += " No two changes at the sliders' stops do either."
	if c, ok := clocks.Closest(v.Settings, v.most()); ok && !v.locks(c.Control.Name) {
		f.Lead += " This one leaves the least to mend: " + strings.Join(lossTexts(clocks.Simulate(c.Settings)), "; ") + "."
		f.Changes = append(f.Changes, templates.FixRow{ID: "step-" + c.Control.Name, Text: changeText(c.Control, c.From, c.To), Verdict: "nearer", Kind: "near", Href: v.with(c.Settings)})
	}
	return f
}

func addChanges(f *templates.FixList, v clocksView, changes []clocks.Change, verdict, kind string) {
	for _, c := range changes {
		if !c.Found {
			f.None = append(f.None, shortName(c.Control))
			continue
		}
		row := templates.FixRow{ID: kind + "-" + c.Control.Name, Text: changeText(c.Control, c.From, c.To), Verdict: verdict, Kind: kind, Href: v.with(c.Settings)}
		if v.locks(c.Control.Name) {
			row.Href = "" // it is told, and not to be tried
		}
		if workload[c.Control.Name] {
			f.Workload = append(f.Workload, row)
		} else {
			f.Changes = append(f.Changes, row)
		}
	}
}

func buildBudget(run *clocks.Run) templates.BudgetBar {
	b, kill := run.Budget, run.Instants.Kill
	if b.Need == clocks.Never {
		return templates.BudgetBar{None: fmt.Sprintf("The application does not handle the signal: there is no plan. It lives until the kill at %s s.", kill)}
	}
	v := templates.BudgetBar{KillText: fmt.Sprintf("kill at %s s", kill)}
	whole := max(b.Need, kill, 1)
	at := setting.Time(0)
	for _, p := range []struct {
		name, kind string
		span       setting.Time
	}{{"hook and delivery", "hook", b.Term}, {"drain", "drain", b.Remaining}, {"cleanup", "cleanup", b.Cleanup}, {"margin", "margin", b.Margin}} {
		part := templates.BudgetPart{Name: p.name, Kind: p.kind, Value: p.span.String() + " s", X: percent(int(at), int(whole)), W: percent(int(p.span), int(whole))}
		part.Room = roomFor(part.Name+" "+part.Value, int(p.span), int(whole))
		v.Parts = append(v.Parts, part)
		at += p.span
	}
	v.Kill = percent(int(kill), int(whole))
	v.KillRight = 2*kill > whole
	v.Sum = fmt.Sprintf("%s s of hook and delivery, %s s of drain, %s s of cleanup and %s s of margin are %s s", b.Term, b.Remaining, b.Cleanup, b.Margin, b.Need)
	v.Text = fmt.Sprintf("The plan needs %s s of the %s s until the kill: %s s to spare.", b.Need, kill, b.Slack)
	switch {
	case b.Slack < 0 && run.Passes():
		v.Text = fmt.Sprintf("This run fits, but the plan does not: it needs %s s with its margin, and the kill comes at %s s. %s s are missing.", b.Need, kill, -b.Slack)
	case b.Slack < 0:
		v.Text = fmt.Sprintf("The plan needs %s s, and the kill comes at %s s: an overrun of %s s.", b.Need, kill, -b.Slack)
	case run.Account.Cancelled > 0:
		v.Text += fmt.Sprintf(" It is the server's own timeout of %s s that cuts.", run.Settings.ServerTimeout)
	}
	if b.Slack > 0 {
		spare := templates.BudgetPart{Name: "to spare", Kind: "spare", Value: b.Slack.String() + " s", X: percent(int(at), int(whole)), W: percent(int(b.Slack), int(whole))}
		spare.Room = roomFor(spare.Name+" "+spare.Value, int(b.Slack), int(whole))
		v.Parts = append(v.Parts, spare)
	}
	return v
}

// turnedAway says from when on the process admits nothing new, and from when on
// nothing listens at all: what comes between the two is rejected, what comes
// later is refused.
func turnedAway(run *clocks.Run) (closed, gone setting.Time) {
	i := run.Instants
	gone = i.Kill
	if i.Term != clocks.Never {
		gone = i.Term
	}
	closed = gone
	if i.Gate != clocks.Never {
		closed = min(closed, i.Gate)
	}
	return closed, gone
}

// gapText is the transition gap in words.
func gapText(run *clocks.Run) string {
	a := run.Account
	from, _ := turnedAway(run)
	to := run.Instants.RouterStop
	if to <= from {
		text := "Transition gap: none. While routers send new requests here, this process serves them."
		if a.Rejected+a.Refused > 0 {
			text += " The long request, which arrives at 0 s whatever they do, is turned away."
		}
		return text
	}
	var became []string
	if a.Rejected > 0 {
		became = append(became, fmt.Sprintf("%d rejected", a.Rejected))
	}
	if a.Refused > 0 {
		became = append(became, fmt.Sprintf("%d refused", a.Refused))
	}
	if len(became) == 0 {
		became = []string{"none arrives in that time"}
	}
	return fmt.Sprintf("Transition gap: %s s, from %s s to %s s. Routers still send new requests here then, and this process turns them away: %s.",
		to-from, from, to, strings.Join(became, ", "))
}

// roomFor is the class of words in a part of the budget's bar: how wide the bar
// must be, in pixels, so that they fit their part; "" where they fit none.
func roomFor(words string, part, whole int) string {
	for _, width := range []int{240, 320, 480, 640, 800} { // as the style has them
		if pixels(words)+2*8 <= width*part/whole {
			return fmt.Sprintf("room-%d", width)
		}
	}
	return ""
}

// At one instant what causes something stands before what follows from it.
const (
	termBegins = iota
	hookEnds
	gateCloses
	signalComes
	routersStop
	longArrives
	timeoutEnds
	longEnds
	workEnds
	noneLeft
	processExits
	hookCut
	nothingDone
	killComes
)

// clockSteps tells the termination in the order of its moments.
func clockSteps(run *clocks.Run) []templates.ClockStep {
	s, i, a := run.Settings, run.Instants, run.Account
	type moment struct {
		at         setting.Time
		order      int
		text, kind string
	}
	var list []moment
	add := func(at setting.Time, order int, kind, format string, args ...any) {
		if at != clocks.Never {
			list = append(list, moment{at, order, fmt.Sprintf(format, args...), kind})
		}
	}
	add(0, termBegins, "plain", "Termination begins.")
	if s.Prestop > 0 && s.Prestop <= i.Kill {
		add(s.Prestop, hookEnds, "plain", "The preStop hook ends.")
	}
	closed, gone := turnedAway(run)
	closing := "the listener closes"
	switch {
	case closed < gone && gone == i.Term:
		add(closed, gateCloses, "warn", "The admission gate closes: what arrives from here until the listener closes at %s s is rejected before any work.", gone)
	case closed < gone:
		add(closed, gateCloses, "warn", "The admission gate closes: what arrives from here until the kill at %s s is rejected before any work.", gone)
	case i.Gate == i.Term: // or neither comes
		closing = "admission gate and listener close"
	default:
		add(i.Gate, gateCloses, "warn", "The admission gate closes, and the kill comes at once: nothing is rejected.")
	}
	add(i.Term, signalComes, "warn", "The signal has reached the application; %s: what arrives from here on is refused.", closing)
	add(i.RouterStop, routersStop, "plain", "The last router stops sending new requests.")
	for q := range run.Requests() {
		if q.Long {
			longSteps(q, add)
		}
	}
	switch {
	case i.Drained == clocks.Never:
	case a.Cancelled > 0:
		add(i.Drained, timeoutEnds, "bad", "The server's graceful timeout of %s s ends: %d cancelled.", s.ServerTimeout, a.Cancelled)
	case a.Admitted > 0:
		add(i.Drained, noneLeft, "good", "No admitted request is left.")
	}
	switch {
	case s.Prestop > i.Kill:
		add(i.Kill, hookCut, "bad", "The kill cuts the preStop hook: no signal was sent, nothing was drained or cleaned up.")
	case !s.SignalHandled:
		add(i.Kill, nothingDone, "bad", "No signal was handled: nothing was drained or cleaned up.")
	case i.Term == clocks.Never:
		add(i.Kill, nothingDone, "bad", "The signal has not reached the application: nothing was drained or cleaned up.")
	}
	if run.Exited {
		kind, text := "good", "The cleanup is complete; the process exits."
		if run.Cleanup != clocks.CleanupComplete {
			kind, text = "bad", fmt.Sprintf("The cleanup is cut by its budget, %s s short; the process exits.", s.Cleanup-s.CleanupBudget)
		}
		add(i.Exit, processExits, kind, "%s", text)
	} else {
		text := "The kill. " + map[clocks.CleanupState]string{clocks.CleanupCut: "The cleanup is cut.", clocks.CleanupNotBegun: "The cleanup was not begun.", clocks.CleanupComplete: ""}[run.Cleanup]
		if n := a.Killed; n > 0 {
			text += fmt.Sprintf(" %s killed, and what became of the work is unknown.", count(n, "request is", "requests are"))
		}
		if a.Refused > 0 && i.Term == clocks.Never {
			text += " The process is gone: what arrives from here on is refused."
		}
		add(i.Kill, killComes, "bad", "%s", text)
	}
	slices.SortStableFunc(list, func(a, b moment) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order)) })
	var steps []templates.ClockStep
	for _, m := range list {
		steps = append(steps, templates.ClockStep{At: signed(m.at) + " s", Text: m.text, Kind: m.kind})
	}
	return steps
}

// longSteps tells what became of the long request.
func longSteps(q clocks.Request, add func(at setting.Time, order int, kind, format string, args ...any)) {
	switch q.Outcome {
	case clocks.Rejected:
		add(q.Arrival, longArrives, "reject", "The long request arrives and is rejected at the gate, before any work.")
		return
	case clocks.Refused:
		add(q.Arrival, longArrives, "bad", "The long request arrives and is refused: nothing listens here any more.")
		return
	case clocks.Completed, clocks.Deadline, clocks.Cancelled, clocks.Killed:
	}
	add(q.Arrival, longArrives, "plain", "The long request arrives; it would take %s s.", q.Duration)
	kind, unknown := "good", ""
	if q.Outcome != clocks.Completed {
		kind = "bad"
	}
	if q.Work == clocks.Unknown && q.Outcome != clocks.Killed { // of the killed it is said with the kill
		unknown = " What became of its work is unknown."
	}
	add(q.EndedAt, longEnds, kind, "The long request: %s.%s", outcomeText(q.Outcome), unknown)
	if q.WorkEndedAt != clocks.Never && q.WorkEndedAt != q.EndedAt {
		add(q.WorkEndedAt, workEnds, "work", "Its work: %s.", workText(q.Work))
	}
}

// signed prints an instant with a true minus sign.
func signed(t setting.Time) string { return strings.Replace(t.String(), "-", "−", 1) }

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

func outcomeText(o clocks.Outcome) string {
	return [...]string{"completed", "failed at its deadline", "cancelled by the server's timeout", "killed", "rejected at the gate", "refused"}[o]
}

func workText(w clocks.WorkOutcome) string {
	return [...]string{"completed", "confirmed stopped", "unknown", "not started"}[w]
}

var outcomeTones = [...]string{"good", "bad", "bad", "bad", "reject", "bad"}

// clockRequests groups requests in a row that shared a fate.
func clockRequests(run *clocks.Run) []templates.ClockRequestRow {
	var rows []templates.ClockRequestRow
	var group []clocks.Request
	flush := func() {
		if len(group) == 0 {
			return
		}
		first, last := group[0], group[len(group)-1]
		row := templates.ClockRequestRow{Who: count(len(group), "request", "requests"), Arrival: signed(first.Arrival) + " s",
			Outcome: outcomeText(first.Outcome), Work: workText(first.Work), Kind: outcomeTones[first.Outcome]}
		if first.Long {
			row.Who = "the long one"
		}
		if len(group) > 1 {
			row.Arrival += " to " + signed(last.Arrival) + " s"
		}
		if first.Outcome <= clocks.Killed {
			row.Outcome += " at " + signed(first.EndedAt) + " s"
			if last.EndedAt != first.EndedAt {
				row.Outcome += " to " + signed(last.EndedAt) + " s"
			}
		}
		if first.WorkEndedAt != clocks.Never && (first.WorkEndedAt != first.EndedAt || first.Work == clocks.ConfirmedStopped) {
			row.Work += " at " + signed(first.WorkEndedAt) + " s"
			if last.WorkEndedAt != first.WorkEndedAt {
				row.Work += " to " + signed(last.WorkEndedAt) + " s"
			}
		}
		rows = append(rows, row)
		group = group[:0]
	}
	for q := range run.Requests() {
		if len(group) > 0 && (q.Long || group[0].Long || q.Outcome != group[0].Outcome || q.Work != group[0].Work) {
			flush()
		}
		group = append(group, q)
	}
	flush()
	return rows
}
