package drain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"drainlab/internal/course"
	"drainlab/internal/sim"
	"drainlab/web/templates"
)

// predict is a prediction: to be made, committed, or judged.
type predict struct {
	shown     bool // the part is on the page
	action    string
	carry     []templates.Carried
	required  bool
	committed bool
	query     string // of the committed prediction, as a part of a link
	most      string // requests that arrive
	requests  []predictRequest
	said      []string // a committed prediction in words
	withdraw  string   // the view without the prediction, at its beginning
	seen      bool     // the run has been seen, so that there is nothing to predict
	run       string   // its settings in words
	dots      []predictDot
	pace      string  // of the dots
	judged    *judged // once the run is seen to its end
}

// predictRequest is a request that can be marked.
type predictRequest struct {
	n  int
	at string
}

// predictDot is a request on the row below the lanes.
type predictDot struct {
	n             int
	x, hitX, hitW string
	kind          string // open, marked, hit, missed, spared
	symbol        string
	name          string
	first         bool
}

// judged is a prediction beside what happened.
type judged struct {
	right    bool
	sentence string
	rows     []predictLine
	wrong    []predictWrong
}

// predictLine is a part of a prediction beside the truth.
type predictLine struct {
	what, said, truth string
	right             bool
}

// predictWrong is a wrong mark and what decided it.
type predictWrong struct {
	sentence string
	events   []traceEvent
}

// buildPredict says how the view's prediction stands. Nothing of the run is
// told before it is seen to its end.
func buildPredict(link course.Link, v *view) predict {
	r := v.compute()
	rest := *v
	rest.prediction = sim.Prediction{}
	plain := link.With(&rest)
	p := predict{action: link.Path(), required: link.Predict, committed: v.prediction.Said(), carry: carried(plain.Query()), run: runText(r), pace: pace(r.Settings.Interval)}
	p.shown = !link.Hides("controls") || p.required || p.committed
	arrivals := arrivalTimes(r.Settings)
	p.most = strconv.Itoa(len(arrivals))
	plain.T = 0
	p.withdraw = plain.Address()
	switch {
	case !p.committed && link.Seen():
		p.seen = true
	case !p.committed:
		for i, at := range arrivals {
			p.requests = append(p.requests, predictRequest{n: i + 1, at: at.String()})
		}
		if link.Panel == "guide" && (!link.Embedded || link.PanelNamed) { // where the boxes are that the dots check
			p.dots = dots(v.prediction, r.Settings, arrivals, nil)
		}
	default:
		p.query, p.said = string(v.prediction.AppendQuery(nil)), saidTexts(v.prediction)
		if link.Seen() {
			p.judge(v.prediction, r, arrivals)
		} else if v.prediction.Dies != nil {
			p.dots = dots(v.prediction, r.Settings, arrivals, nil)
		}
	}
	return p
}

// judge puts the prediction beside the run.
func (p *predict) judge(said sim.Prediction, r *sim.Run, arrivals []sim.Time) {
	j := said.Judge(r)
	v := &judged{right: j.Right(), sentence: j.Sentence}
	if j.Completed.Said {
		v.add("Complete", strconv.Itoa(j.Completed.N), strconv.Itoa(j.Completed.Truth), j.Completed.Right)
	}
	if j.Killed.Said {
		v.add("How many are killed", strconv.Itoa(j.Killed.N), strconv.Itoa(j.Killed.Truth), j.Killed.Right)
	}
	if j.Dies.Said {
		v.add("Which are killed", requestList(said.Dies), requestList(j.Dies.Truth), j.Dies.Right)
		p.dots = dots(said, r.Settings, arrivals, j.Dies.Marks)
		for _, m := range j.Dies.Marks {
			if !m.Right {
				v.wrong = append(v.wrong, predictWrong{sentence: m.Sentence, events: chainEvents(r, m.Chain)})
			}
		}
	}
	if j.Verdict.Said != sim.Pending {
		v.add("The gate", strings.ToUpper(j.Verdict.Said.String()), strings.ToUpper(j.Verdict.Truth.String()), j.Verdict.Right)
	}
	p.judged = v
}

func (j *judged) add(what, said, truth string, right bool) {
	j.rows = append(j.rows, predictLine{what: what, said: said, truth: truth, right: right})
}

// carried is a query as a form takes it along.
func carried(query string) []templates.Carried {
	var list []templates.Carried
	for part := range strings.SplitSeq(query, "&") {
		if name, value, ok := strings.Cut(part, "="); ok {
			list = append(list, templates.Carried{Name: name, Value: value})
		}
	}
	return list
}

// saidTexts is a prediction in words.
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
	return listed(texts)
}

// arrivalTimes are the arrivals of all requests in order. They follow from the
// settings alone.
func arrivalTimes(s sim.Settings) []sim.Time {
	var list []sim.Time
	for at := sim.FirstArrival; at <= sim.LastArrival; at += s.Interval {
		list = append(list, at)
	}
	return list
}

// dots put the marks on the picture's axis: judged, where judged says how.
func dots(p sim.Prediction, s sim.Settings, arrivals []sim.Time, judged []sim.Mark) []predictDot {
	verdicts := map[int]sim.Mark{}
	for _, m := range judged {
		verdicts[m.Request] = m
	}
	var row []predictDot
	for i, at := range arrivals {
		n := i + 1
		d := predictDot{n: n, x: x(at), hitX: x(max(at-s.Interval/2, 0)), hitW: x(s.Interval), kind: "open", symbol: "open", first: i == 0,
			name: fmt.Sprintf("Request %d, arrives at %s s", n, at)}
		if slices.Contains(p.Dies, n) {
			d.kind, d.symbol = "marked", "lost"
			d.name += ": you say that it dies"
		}
		switch v, ok := verdicts[n]; {
		case !ok:
		case v.Right:
			d.kind, d.symbol = "hit", "lost"
			d.name += ", and it does"
		case v.Marked:
			d.kind, d.symbol = "spared", "away"
			d.name += ", and it does not"
		default:
			d.kind, d.symbol = "missed", "failed"
			d.name += ": it dies, and you did not say so"
		}
		row = append(row, d)
	}
	return row
}

// chainEvents are the events of a chain, told as the trace tells them.
func chainEvents(r *sim.Run, chain []int32) []traceEvent {
	var events []traceEvent
	for _, seq := range chain {
		events = append(events, sentence(r.Settings, r.Trace[seq]))
	}
	return events
}

// runText says what run a prediction is asked of.
func runText(r *sim.Run) string {
	s := r.Settings
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
