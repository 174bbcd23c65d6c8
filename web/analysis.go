package web

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"drainlab/internal/setting"
	"drainlab/internal/sim"
	"drainlab/web/templates"
)

// drainAnalysis answers with what is said of a run as a whole, as its query's
// view has it: what the run comes to is told at t = 60 alone.
func (s *Server) drainAnalysis(w http.ResponseWriter, r *http.Request) error {
	v, err := readView(r)
	if err != nil {
		return err
	}
	s.render(w, r, http.StatusOK, templates.AnalysisFragments(s.analysis(v)))
	return nil
}

// analysis is buildAnalysis with the lesson's text, where that waits for the
// prediction.
func (s *Server) analysis(v view) templates.Analysis {
	a := buildAnalysis(v)
	if v.Predict && !a.Held && !v.hides("text") {
		a.Story, a.SettingsQuery = &s.story, string(v.Settings.AppendQuery(nil))
	}
	return a
}

// readView reads the view of a request's address.
func readView(r *http.Request) (view, error) {
	query, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		return view{}, err
	}
	v, err := parseView(query)
	v.Embedded = framed(r)
	return v, err
}

// framed reports whether the request is for a lesson in a host's frame.
func framed(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/embed/") }

// drainPath is where views of lesson 1 are.
const drainPath = "/lessons/drain"

// link is the way to the view.
func (v view) link() string { return v.path() + "?" + v.canonical() }

func (v view) path() string {
	if v.Embedded {
		return "/embed" + drainPath
	}
	return drainPath
}

func buildAnalysis(v view) templates.Analysis {
	run := sim.Simulate(v.Settings)
	seen := v.T == sim.Horizon
	// Where a prediction is required, what would answer it is told afterwards.
	if v.Predict && !(seen && v.Prediction.Said()) {
		held := templates.Analysis{Held: true, Predict: buildPredict(v, run, seen), Explain: buildExplain(v, run, seen)}
		held.Compare.Held, held.Sweep.Held = true, true
		return held
	}
	return templates.Analysis{Predict: buildPredict(v, run, seen), Explain: buildExplain(v, run, seen), Compare: buildCompare(v, run), Sweep: drainSweep(v)}
}

// drainSweep is the view's sweep.
func drainSweep(v view) templates.Sweep {
	rest := v
	rest.Axes = drainAxes
	return buildSweep(sim.Table(), v.Settings, v.Axes, v.path(), rest.canonical(), drainCells, judgeDrain())
}

func buildPredict(v view, run *sim.Run, seen bool) templates.Predict {
	rest := v
	rest.Prediction = sim.Prediction{}
	p := templates.Predict{Action: v.path(), Required: v.Predict, Committed: v.Prediction.Said(), Carry: carried(rest.canonical()),
		Most: strconv.Itoa(len(run.Invocations) + len(run.Rejections))}
	p.StripWidth = plotWidth(v.Settings)
	p.Seen = seen && !p.Committed
	p.Run = runText(run)
	again := rest
	again.T = 0
	p.Withdraw = again.link()
	arrivals := arrivalTimes(run)
	if !p.Committed {
		for i, at := range arrivals {
			p.Requests = append(p.Requests, templates.PredictRequest{N: i + 1, At: at.String()})
		}
		p.Strip = predictStrip(v.Prediction, arrivals, nil)
		return p
	}
	p.Query = string(v.Prediction.AppendQuery(nil))
	p.Said = saidTexts(v.Prediction)
	if !seen {
		if v.Prediction.Dies != nil {
			p.Strip = predictStrip(v.Prediction, arrivals, nil)
		}
		return p
	}
	j := v.Prediction.Judge(run)
	p.Judged, p.Right, p.Sentence = true, j.Right(), j.Sentence
	row := func(what, said, truth string, right bool) {
		r := templates.PredictRow{What: what, Said: said, Truth: truth, Judged: "✕ wrong", Kind: "bad"}
		if right {
			r.Judged, r.Kind = "✓ right", "good"
		}
		p.Rows = append(p.Rows, r)
	}
	if j.Completed.Said {
		row("Complete", strconv.Itoa(j.Completed.N), strconv.Itoa(j.Completed.Truth), j.Completed.Right)
	}
	if j.Killed.Said {
		row("How many are killed", strconv.Itoa(j.Killed.N), strconv.Itoa(j.Killed.Truth), j.Killed.Right)
	}
	if j.Dies.Said {
		row("Which are killed", requestList(v.Prediction.Dies), requestList(j.Dies.Truth), j.Dies.Right)
		p.Strip = predictStrip(v.Prediction, arrivals, j.Dies.Marks)
		for _, m := range j.Dies.Marks {
			if !m.Right {
				p.Wrong = append(p.Wrong, templates.PredictWrong{Sentence: m.Sentence, Events: chainEvents(run, m.Chain)})
			}
		}
	}
	if j.Verdict.Said != sim.Pending {
		row("The gate", strings.ToUpper(j.Verdict.Said.String()), strings.ToUpper(j.Verdict.Truth.String()), j.Verdict.Right)
	}
	return p
}

func carried(query string) []templates.Carried {
	var list []templates.Carried
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		list = append(list, templates.Carried{Name: name, Value: value})
	}
	return list
}

func saidTexts(p sim.Prediction) []string {
	var said []string
	if p.Completed.Said {
		said = append(said, count(p.Completed.N, "completes", "complete"))
	}
	if p.Killed.Said {
		said = append(said, count(p.Killed.N, "is killed", "are killed"))
	}
	switch {
	case p.Dies == nil:
	case len(p.Dies) == 0:
		said = append(said, "no request dies")
	case len(p.Dies) == 1:
		said = append(said, "request "+requestList(p.Dies)+" dies")
	default:
		said = append(said, "requests "+requestList(p.Dies)+" die")
	}
	if p.Verdict != sim.Pending {
		said = append(said, "the gate says "+strings.ToUpper(p.Verdict.String()))
	}
	return said
}

func requestList(requests []int) string {
	if len(requests) == 0 {
		return "none"
	}
	texts := make([]string, len(requests))
	for i, n := range requests {
		texts[i] = strconv.Itoa(n)
	}
	return sentenceList(texts)
}

// arrivalTimes are the arrivals of all requests in order.
func arrivalTimes(run *sim.Run) []sim.Time {
	var list []sim.Time
	for _, inv := range run.Invocations {
		list = append(list, inv.AdmittedAt)
	}
	for _, rej := range run.Rejections {
		list = append(list, rej.At)
	}
	slices.Sort(list)
	return list
}

// predictStrip puts the marks on the lanes' axis: judged, where judged says how.
func predictStrip(p sim.Prediction, arrivals []sim.Time, judged []sim.Mark) []templates.PredictMark {
	verdicts := map[int]sim.Mark{}
	for _, m := range judged {
		verdicts[m.Request] = m
	}
	var strip []templates.PredictMark
	for i, at := range arrivals {
		n := i + 1
		m := templates.PredictMark{N: n, X: x(at), Kind: "open", Symbol: "open", Tip: fmt.Sprintf("Request %d, arrives at %s s", n, at)}
		if slices.Contains(p.Dies, n) {
			m.Kind, m.Symbol = "marked", "killed"
			m.Tip += ": you say that it dies"
		}
		switch v, ok := verdicts[n]; {
		case !ok:
		case v.Right:
			m.Kind, m.Symbol = "hit", "killed"
			m.Tip += ", and it does"
		case v.Marked:
			m.Kind, m.Symbol = "spared", "open"
			m.Tip += ", and it does not"
		default:
			m.Kind, m.Symbol = "missed", "failed"
			m.Tip += ": it dies, and you did not say so"
		}
		strip = append(strip, m)
	}
	return strip
}

// chainEvents are the events of a chain, told as the trace tells them.
func chainEvents(run *sim.Run, chain []int32) []templates.TraceEvent {
	var events []templates.TraceEvent
	for _, seq := range chain {
		ev := run.Trace[seq]
		e := sentence(run.Settings, ev)
		e.Seq, e.At, e.Kind = ev.Seq, ev.At.String(), ev.Kind
		events = append(events, e)
	}
	return events
}

func buildExplain(v view, run *sim.Run, seen bool) templates.Explain {
	x := templates.Explain{Heading: "Why this verdict"}
	if !seen {
		return x
	}
	e := run.Explain()
	x.Decided = true
	x.Rejected = e.Rejected
	if e.Margin != nil {
		x.Heading, x.Margin = "Why it passes, and by how much", e.Margin.Sentence
		return x
	}
	x.Heading = "Why it fails"
	chains := map[int][]int32{}
	for _, end := range e.Endings {
		chains[end.Request] = end.Chain
	}
	for _, g := range e.Groups {
		s := templates.ExplainSentence{Text: g.Sentence}
		var seqs []int32
		for _, n := range g.Requests {
			for _, seq := range chains[n] {
				if !slices.Contains(seqs, seq) {
					seqs = append(seqs, seq)
				}
			}
		}
		slices.Sort(seqs)
		s.Events = chainEvents(run, seqs)
		x.Sentences = append(x.Sentences, s)
	}
	link := func(s sim.Settings) string {
		next := v
		next.Settings, next.Prediction = s, sim.Prediction{}
		if next.Worker > s.WorkersEver() {
			next.Worker = 1
		}
		return next.link()
	}
	for _, f := range sim.Fixes(v.Settings) {
		switch {
		case v.locks(f.Setting):
		case !f.Found:
			x.None = append(x.None, f.Label)
		default:
			c, _ := sim.FindControl(f.Setting)
			s := v.Settings
			c.Set(&s, f.To)
			fix := templates.DrainFix{Sentence: f.Sentence, Href: link(s),
				Text: fmt.Sprintf("%s %s", f.Label, c.Say(f.To)), Values: f.Setting + "=" + c.TextOf(f.To)}
			switch f.Setting {
			case "interval", "duration", "signal", "fail_init", "allowance":
				x.Other = append(x.Other, fix)
			default:
				x.Fixes = append(x.Fixes, fix)
			}
		}
	}
	if len(x.Fixes)+len(x.Other) > 0 {
		return x
	}
	for _, p := range sim.Pairs(v.Settings, 4) {
		a, b := p.First, p.Second
		if v.locks(a.Control.Name) || v.locks(b.Control.Name) {
			continue
		}
		text := func(c setting.Change[sim.Settings]) string {
			return fmt.Sprintf("%s %s instead of %s", c.Control.Label, c.Control.Say(c.To), c.Control.Say(c.From))
		}
		x.Pairs = append(x.Pairs, templates.DrainFix{Sentence: text(a) + ", and " + text(b) + ": " + cameTo(sim.Simulate(p.Settings).Account()) + ".", Href: link(p.Settings),
			Text:   fmt.Sprintf("%s %s and %s %s", a.Control.Label, a.Control.Say(a.To), b.Control.Label, b.Control.Say(b.To)),
			Values: a.Control.Name + "=" + a.Control.TextOf(a.To) + "&" + b.Control.Name + "=" + b.Control.TextOf(b.To)})
	}
	return x
}

func buildCompare(v view, run *sim.Run) templates.Compare {
	pin := v
	current := v.Settings
	pin.Pinned = &current
	c := templates.Compare{Pin: pin.link()}
	if v.Pinned == nil {
		return c
	}
	end := v
	end.Pinned = nil
	swap := v
	swap.Settings, swap.Pinned, swap.Worker, swap.Prediction = *v.Pinned, &current, 1, sim.Prediction{}
	c.On, c.End, c.Swap = true, end.link(), swap.link()
	if len(v.Lock) > 0 { // it would set what cannot be changed
		c.Swap = ""
	}
	a := sim.Simulate(*v.Pinned)
	c.Lanes = buildLanes(a, a.At(sim.Horizon), sim.Horizon)
	c.Lanes.Playhead = x(v.T)
	c.Lanes.Summary = "Run A. " + summary(a.At(v.T))
	for i := range c.Lanes.Workers { // what it will be is not said before it is
		c.Lanes.Workers[i].State = ""
	}
	d := sim.Compare(a, run)
	c.Same = d.Same()
	if c.Same {
		return c
	}
	for _, s := range d.Settings {
		ctl, _ := sim.FindControl(s.Setting)
		row := templates.CompareRow{Name: s.Label, A: ctl.Say(s.A), B: ctl.Say(s.B)}
		if !ctl.Toggle {
			row.By = signedAmount(s.B-s.A, ctl.Unit)
		}
		c.Settings = append(c.Settings, row)
	}
	if p := d.Parting; p != nil {
		c.Parting = strings.NewReplacer("the first run", "run A", "the second run", "run B").Replace(eventNumber.ReplaceAllString(p.Sentence, "up to "))
		c.PartAt, c.PartText = x(p.At), "they part at "+p.At.String()+" s"
		line := &templates.Line{X: c.PartAt, Label: c.PartText, Anchor: anchorAt(p.At), DX: 4}
		if line.Anchor == "end" {
			line.DX = -4
		}
		c.Lanes.Part = line
	} else {
		c.Parting = "The two runs have the same trace."
	}
	if v.T < sim.Horizon { // the counts would answer what is still to be seen
		c.Pending = true
		return c
	}
	aa, ab := a.Account(), run.Account()
	for _, f := range []struct {
		name string
		a, b int
	}{{"admitted", aa.Admitted, ab.Admitted}, {"completed", aa.Completed, ab.Completed}, {"killed", aa.Killed, ab.Killed},
		{"running", aa.Running, ab.Running}, {"rejected", aa.Rejected, ab.Rejected}, {"arrived", aa.Arrivals, ab.Arrivals}} {
		row := templates.CompareRow{Name: f.name, A: strconv.Itoa(f.a), B: strconv.Itoa(f.b)}
		if f.a != f.b {
			row.By = signedAmount(sim.Time(f.b-f.a)*sim.Second, "")
		}
		c.Account = append(c.Account, row)
	}
	c.Account = append(c.Account, templates.CompareRow{Name: "gate", A: strings.ToUpper(d.A.String()), B: strings.ToUpper(d.B.String())})
	for _, text := range d.FateSentences() {
		c.Fates = append(c.Fates, strings.NewReplacer("the first run", "run A", "the second", "run B").Replace(text))
	}
	return c
}

// eventNumber is a part of a sentence that the page, whose trace has no
// numbers, leaves out.
var eventNumber = regexp.MustCompile(`up to event \d+, at `)

// cameTo says in a word what a run came to.
func cameTo(a sim.Account) string {
	return fmt.Sprintf("%d of %d complete, %d rejected", a.Completed, a.Arrivals, a.Rejected)
}

// runText says what run a prediction is asked of.
func runText(run *sim.Run) string {
	s := run.Settings
	text := fmt.Sprintf("%s with %s, %s s to boot. A request every %s s, each takes %s s. SIGTERM for worker 1 at %s s, grace %s s",
		count(s.Workers, "worker", "workers"), count(s.Slots, "slot", "slots each"), s.Startup, s.Interval, s.Duration, s.Signal, s.Grace)
	for _, t := range []struct {
		on   bool
		text string
	}{{!s.Handler, "nobody handles it"}, {s.Replacement, "a replacement boots at the signal"}, {!s.ReadyOnly, "requests go to workers that are not ready too"},
		{s.FailInit, "worker 1's boot fails"}} {
		if t.on {
			text += ", " + t.text
		}
	}
	return text + fmt.Sprintf(". The gate allows %d %% to be rejected.", s.Allowance)
}

// signedAmount is a difference with its sign and unit.
func signedAmount(v setting.Time, unit string) string {
	text := strings.Replace(v.String(), "-", "−", 1)
	if v > 0 {
		text = "+" + text
	}
	if unit != "" {
		text += " " + unit
	}
	return text
}
