package web

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"drainlab/internal/drill"
	"drainlab/internal/fixture"
	"drainlab/internal/ledger"
	"drainlab/internal/setting"
	"drainlab/web/templates"
)

// recordLimit bounds a record that somebody brings.
const recordLimit = 1 << 20

// referenceRun is a run of the reference settings as the API told it, without
// its id and with the day of it. TestTheLedgersProseQuotesTheRecordedRun holds
// it to the reference run's categories.
//
//go:embed reference-run.json
var referenceRun []byte

type recordedRun struct {
	Date string  `json:"date"`
	Run  runJSON `json:"run"`
}

// loadRecorded reads the recorded reference run.
func loadRecorded() (fixtureRun, string, error) {
	var rec recordedRun
	if err := json.Unmarshal(referenceRun, &rec); err != nil {
		return fixtureRun{}, "", fmt.Errorf("reading the recorded run: %w", err)
	}
	r := fixtureRun{Settings: rec.Run.Settings, State: runFinished, Events: rec.Run.Events}
	r.Result = &drill.Result{Report: ledger.Fold(own(r.Events), true), Clients: rec.Run.Clients, ReadyAfter: rec.Run.ReadyAfter,
		LiveAfter: rec.Run.LiveAfter, Exit: *rec.Run.Exit, Events: r.Events}
	if rec.Run.HeartbeatAfter != nil {
		r.Result.HeartbeatAfter = time.Duration(*rec.Run.HeartbeatAfter)
	}
	return r, rec.Date, nil
}

// ledgersPage shows the settings of its query, and the last run of them.
func (s *Server) ledgersPage(w http.ResponseWriter, r *http.Request) error {
	query, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		return err
	}
	settings, err := fixture.ParseValues(query)
	if err != nil {
		return err
	}
	if run, ok := s.runs.latest(settings); ok {
		s.renderLedgers(w, r, run, "The last run of these settings on this server, of "+run.Finished.UTC().Format("2 January 2006 15:04")+" UTC.", false)
		return nil
	}
	shown := s.recorded
	shown.Settings = settings // those of the controls, from which the next run starts
	s.renderLedgers(w, r, shown, "A recorded run of the reference settings, of "+s.recordedOn+". Run the fixture for one of your own.", false)
	return nil
}

// renderLedgers answers with the page that shows a run, its controls at the
// run's settings.
func (s *Server) renderLedgers(w http.ResponseWriter, r *http.Request, run fixtureRun, note string, live bool) {
	p := s.page("Two ledgers", "A real server is drained and signalled: what became of its requests and, apart from that, of its work.")
	p.Lessons[1].Here = true
	if live {
		p.Refresh = 1
	}
	p.Whole = ledgersPath + "?" + string(fixture.Table().AppendQuery(nil, run.Settings))
	if run.ID == "" { // a run of somebody's is kept for a while only
		p.Card = s.ledgersCard(r, run.Settings)
	}
	rec := s.recorded.Result
	s.render(w, r, http.StatusOK, templates.LedgersPage(templates.Ledgers{
		Page: p, Embed: framed(r), Controls: runControls(run.Settings), Run: run.ID, Live: live, Note: note,
		Steps: runSteps(run), Frame: buildLedgerFrame(run),
		Claims: templates.LedgerClaims{Admitted: int(rec.Report.Requests.Admitted), Completed: int(rec.Report.Requests.Completed),
			Cancelled: int(rec.Report.Requests.Cancelled), Rejected: int(rec.Report.Requests.Rejected),
			Unfinished: int(rec.Report.UnfinishedAtCleanup), Heartbeat: fmt.Sprintf("%.2f", rec.HeartbeatAfter.Seconds()),
			Hold: fmt.Sprint(time.Duration(s.recorded.Settings.CleanupHold).Seconds()), Date: s.recordedOn,
			Short: fmt.Sprint(fixture.ShortTakes.Seconds()), Chunk: fmt.Sprint(fixture.ChunkEvery.Seconds()),
			BlockStatus: clientOf(*rec, "block").Status, LateStatus: clientOf(*rec, "late").Status},
	}))
}

// ledgersCard is what other sites are told of lesson 2.
func (s *Server) ledgersCard(r *http.Request, settings fixture.Settings) templates.Card {
	base := s.base(r)
	public := base + ledgersPath + "?" + string(fixture.Table().AppendQuery(nil, settings))
	return withOEmbed(templates.Card{URL: public, Image: base + ledgersPath + "/card.png", Description: "A real server is drained and signalled. What became of its requests and, apart from that, of its work?",
		Alt: "Two ledgers: what became of the requests, and apart from it of the work."}, base, public)
}

// clientAddress is what runs are limited by.
func clientAddress(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// startRun queues a run of a form's settings or of a guided step.
func (s *Server) startRun(w http.ResponseWriter, r *http.Request) error {
	form, _, err := readForm(w, r)
	if err != nil {
		return err
	}
	settings, err := formSettings(form)
	if err != nil {
		return err
	}
	run, err := s.runs.add(settings, clientAddress(r))
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/lessons/ledgers/runs/"+run.ID, http.StatusSeeOther)
	return nil
}

func formSettings(form url.Values) (fixture.Settings, error) {
	if id := form.Get("step"); id != "" && len(form) == 1 {
		for _, step := range fixtureSteps() {
			if step.id == id {
				return step.settings, nil
			}
		}
		return fixture.Settings{}, &setting.Error{Setting: "step", Got: id, Allowed: "one of the guided steps"}
	}
	if form.Get("form") == "whole" { // toggles that are off are missing
		form.Del("form")
		for _, c := range fixture.Table() {
			if c.Toggle && form[c.Name] == nil {
				form[c.Name] = []string{"0"}
			}
		}
	}
	return fixture.ParseValues(form)
}

// runPage shows one run, which may be waiting or under way.
func (s *Server) runPage(w http.ResponseWriter, r *http.Request) error {
	run, _, err := s.runs.look(chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	s.renderLedgers(w, r, run, "", run.State != runFinished)
	return nil
}

// runStream streams a run to one viewer until it has ended.
func (s *Server) runStream(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodHead {
		return errNoHead
	}
	id := chi.URLParam(r, "id")
	out := openStream(w, r, s.renderer)
	defer out.close()
	pause := time.NewTicker(100 * time.Millisecond) // at most ten frames a second
	defer pause.Stop()
	for {
		run, changed, err := s.runs.look(id)
		if err != nil { // a run lives in the process that made it, and goes with it
			out.finish(r, "lost")
			return nil
		}
		html := new(strings.Builder)
		if err := templates.LedgerFragment(buildLedgerFrame(run)).Render(r.Context(), html); err != nil {
			return nil
		}
		event, err := patchElements(html.String())
		if err != nil || out.sendPlain(event) != nil {
			return nil
		}
		if run.State == runFinished {
			out.finish(r, "finished")
			return nil
		}
		beat := time.NewTimer(heartbeatEvery)
		select {
		case <-changed:
		case <-beat.C:
		case <-s.hub.Draining():
			beat.Stop()
			out.finish(r, "lost")
			return nil
		case <-r.Context().Done():
		}
		beat.Stop()
		select {
		case <-pause.C:
		case <-r.Context().Done():
			return nil
		}
	}
}

// drawRecord draws a record that somebody pastes or uploads.
func (s *Server) drawRecord(w http.ResponseWriter, r *http.Request) error {
	if err := boundReading(w); err != nil {
		return err
	}
	select {
	case s.drawing <- struct{}{}:
		defer func() { <-s.drawing }()
	default:
		return errTooManyRecords
	}
	r.Body = http.MaxBytesReader(w, r.Body, recordLimit+formLimit)
	if err := r.ParseMultipartForm(recordLimit + formLimit); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return err
		}
		return &requestError{status: http.StatusBadRequest, sentence: "The form cannot be read: it is not multipart/form-data."}
	}
	text := r.PostFormValue("record")
	if file, _, err := r.FormFile("file"); err == nil {
		defer file.Close()
		data, err := io.ReadAll(file)
		if err != nil {
			return err
		}
		text += "\n" + string(data)
	}
	if len(text) > recordLimit {
		return &requestError{status: http.StatusRequestEntityTooLarge, sentence: fmt.Sprintf("The record has %d bytes; allowed: %d.", len(text), recordLimit)}
	}
	events, skipped, err := ledger.Read(strings.NewReader(text))
	if err != nil {
		return &requestError{status: http.StatusBadRequest, sentence: fmt.Sprintf("The record cannot be drawn: %v; allowed: one JSON event a line.", err)}
	}
	run := fixtureRun{Settings: fixture.Reference(), State: runFinished}
	for _, e := range events {
		run.Events = append(run.Events, drill.Event{Event: e})
	}
	note := fmt.Sprintf("A record that was brought here, events read: %d.", len(events))
	if len(skipped) > 0 {
		note += fmt.Sprintf(" Lines that could not be read: %s.", joinErrors(skipped, 3))
	}
	w.Header().Set("Cache-Control", "no-store")
	s.renderLedgers(w, r, run, note, false)
	return nil
}

// joinErrors tells the first errors and how many more there are.
func joinErrors(errs []error, most int) string {
	var words []string
	for _, err := range errs[:min(most, len(errs))] {
		words = append(words, err.Error())
	}
	if more := len(errs) - most; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, "; ")
}

// apiStartRun, apiLookRun and apiRunRecord are the same for programs.
func (s *Server) apiStartRun(w http.ResponseWriter, r *http.Request) error {
	if err := boundReading(w); err != nil {
		return err
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, formLimit))
	if err != nil {
		return err
	}
	if len(strings.TrimSpace(string(data))) == 0 {
		data = []byte("{}")
	}
	settings, err := fixture.ParseJSON(data)
	if err != nil {
		var refused *setting.Error
		if errors.As(err, &refused) {
			return err
		}
		return &requestError{status: http.StatusBadRequest, sentence: "The body cannot be read: " + err.Error() + "."}
	}
	run, err := s.runs.add(settings, clientAddress(r))
	if err != nil {
		return err
	}
	now, _, err := s.runs.look(run.ID)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/api/v1/fixture-runs/"+run.ID)
	writeJSON(w, http.StatusAccepted, now.json())
	return nil
}

func (s *Server) apiLookRun(w http.ResponseWriter, r *http.Request) error {
	run, _, err := s.runs.look(chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, http.StatusOK, run.json())
	return nil
}

func (s *Server) apiRunRecord(w http.ResponseWriter, r *http.Request) error {
	run, _, err := s.runs.look(chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	var lines []byte
	for _, e := range own(run.Events) {
		lines = e.Append(lines)
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Disposition", `attachment; filename="drainlab-record.jsonl"`)
	w.Write(lines)
	return nil
}

// fixtureStep is one guided step of lesson 2, and how a run shows it.
type fixtureStep struct {
	id, title, ask string
	settings       fixture.Settings
	shown          func(drill.Result) bool
}

func fixtureSteps() []fixtureStep {
	with := func(change func(*fixture.Settings)) fixture.Settings {
		s := fixture.Reference()
		change(&s)
		return s
	}
	const second = fixture.Seconds(time.Second)
	return []fixtureStep{
		{"reference", "The reference run", "Two callers are cancelled. What does each ledger say of the third request?", fixture.Reference(),
			func(r drill.Result) bool { return r.Report.Requests.Cancelled == 2 && r.Report.Work.Unknown == 1 }},
		{"token", "With a stop token", "The work looks at a token between two units. Which ledger changes?", with(func(s *fixture.Settings) { s.StopToken = true }),
			func(r drill.Result) bool { return r.Report.Work.ConfirmedStopped == 1 }},
		{"join", "Join the work before the exit", "The same clients. What does the process do differently, and what does it cost?", with(func(s *fixture.Settings) { s.JoinWork = true }),
			func(r drill.Result) bool { return r.Report.Requests.Cancelled == 2 && r.Report.Work.Completed == 1 }},
		{"store", "The outcome store fails", "Everything else is as before. May this release go on?", with(func(s *fixture.Settings) { s.StoreFails = true }),
			func(r drill.Result) bool { return r.Report.EvidenceLost }},
		{"second", "A second signal", "There are 5 s to drain, and somebody presses the button again. Who decides how long the drain is?",
			with(func(s *fixture.Settings) { s.GracefulTimeout, s.SecondSignal = 5*second, second/2 }),
			func(r drill.Result) bool { return r.Report.Requests.Cancelled == 2 && r.Exit.After < 4 }},
		{"client", "The client disconnects", "One caller leaves by itself, and there is time for the rest. Did the drain fail?",
			with(func(s *fixture.Settings) { s.ClientLeaves, s.GracefulTimeout, s.BlockingWork = true, 3*second, second }),
			func(r drill.Result) bool {
				return r.Report.Requests.Cancelled == 1 && r.Report.Requests.Completed == 2 && r.Report.Work.Unaccounted() == 0
			}},
	}
}

func runSteps(run fixtureRun) []templates.LedgerStep {
	var list []templates.LedgerStep
	for i, step := range fixtureSteps() {
		v := templates.LedgerStep{N: i + 1, ID: step.id, Title: step.title, Ask: step.ask, Applied: run.ID != "" && run.Settings == step.settings,
			ShownHow: fmt.Sprintf("Step %d, not shown by this run", i+1)}
		if v.Applied && run.Result != nil && step.shown(*run.Result) {
			v.Shown, v.ShownHow = true, fmt.Sprintf("Step %d, shown by this run", i+1)
			v.Outcome = outcomes(run.Result.Report)
		}
		list = append(list, v)
	}
	return list
}

// outcomes tells both ledgers in a sentence.
func outcomes(r ledger.Report) string {
	q, w := r.Requests, r.Work
	text := fmt.Sprintf("Requests: %d completed, %d failed, %d cancelled. Work: %d completed, %d confirmed stopped, %d unknown.",
		q.Completed, q.Failed, q.Cancelled, w.Completed, w.ConfirmedStopped, w.Unknown)
	if r.EvidenceLost {
		text += " Evidence was lost."
	}
	return text
}

var runGroups = [...]struct {
	name  string
	names []string
}{
	{"Shutdown", []string{"graceful_timeout", "second_signal", "cleanup_hold", "join_work", "store_fails"}},
	{"Work", []string{"blocking_work", "stop_token", "stop_check"}},
	{"Clients", []string{"stream_chunks", "client_leaves", "request_deadline"}},
}

func runControls(s fixture.Settings) []templates.ControlGroup {
	var groups []templates.ControlGroup
	for _, g := range runGroups {
		group := templates.ControlGroup{Name: g.name}
		for _, name := range g.names {
			c, _ := fixture.Table().Find(name)
			group.Controls = append(group.Controls, buildControl(c, s))
		}
		groups = append(groups, group)
	}
	return groups
}

// buildLedgerFrame fills the view of a run as it stands.
func buildLedgerFrame(run fixtureRun) templates.LedgerFrame {
	events := own(run.Events)
	report := ledger.Fold(events, run.State == runFinished)
	v := templates.LedgerFrame{Machine: buildMachine(events, run.State == runFinished), Status: runStatus(run)}
	if len(events) > 0 {
		v.Picture = buildRunPicture(events, report)
	}
	q, w := report.Requests, report.Work
	v.Requests = []templates.LedgerRow{{Name: "admitted", Kind: "admitted", Count: int(q.Admitted)}, {Name: "completed", Kind: "completed", Count: int(q.Completed)},
		{Name: "failed", Kind: "failed", Count: int(q.Failed)}, {Name: "cancelled", Kind: "cancelled", Count: int(q.Cancelled)},
		{Name: "outstanding", Kind: "outstanding", Count: int(q.Outstanding)}, {Name: "rejected before admission", Kind: "rejected", Count: int(q.Rejected)},
		{Name: "connected, never admitted", Kind: "never", Count: int(q.NeverAdmitted)}}
	v.Work = []templates.LedgerRow{{Name: "not started", Kind: "not-started", Count: int(w.NotStarted)}, {Name: "running", Kind: "running", Count: int(w.Running)},
		{Name: "confirmed stopped", Kind: "stopped", Count: int(w.ConfirmedStopped)}, {Name: "completed", Kind: "completed", Count: int(w.Completed)},
		{Name: "unknown", Kind: "unknown", Count: int(w.Unknown)}}
	if run.Result != nil {
		v.Report = buildReport(*run.Result)
		v.Checks = buildChecks(*run.Result)
		v.Decide = "A release that allows no incomplete stream and no open work: promote."
		if d := (ledger.Policy{}).Decide(run.Result.Report); !d.Promote {
			v.Decide = "A release that allows no incomplete stream and no open work: freeze, for " + strings.Join(d.Reasons, "; ") + "."
		}
	}
	for i, problem := range report.Problems {
		if i == mostProblems {
			v.Problems = append(v.Problems, fmt.Sprintf("… and %d more", len(report.Problems)-i))
			break
		}
		v.Problems = append(v.Problems, problem)
	}
	if err := report.Requests.Check(); err != nil {
		v.Problems = append(v.Problems, err.Error())
	}
	seen := slices.Clone(run.Events)
	slices.SortStableFunc(seen, func(a, b drill.Event) int { return cmp.Compare(a.At, b.At) })
	if left := len(seen) - mostEvents; left > 0 {
		seen = seen[:mostEvents]
		v.EventsLeft = left
	}
	for _, e := range seen {
		v.Events = append(v.Events, runEvent(e))
	}
	if run.ID != "" && len(events) > 0 {
		v.Record = "/api/v1/fixture-runs/" + run.ID + "/record"
	}
	return v
}

func runStatus(run fixtureRun) string {
	switch {
	case run.Problem != "":
		return run.Problem
	case run.State == runQueued:
		return fmt.Sprintf("Waiting: place %d in the queue.", run.Place)
	case run.State == runRunning:
		return "A real process is running."
	case run.Result != nil:
		text := fmt.Sprintf("The process ended with code %d", run.Result.Exit.Code)
		if run.Result.Exit.Signal != "" {
			text += ", by " + run.Result.Exit.Signal
		}
		return fmt.Sprintf("%s, %.1f s after the first signal. The code says nothing of the work.", text, run.Result.Exit.After)
	}
	return "A record, folded into its two ledgers."
}

func buildMachine(events []ledger.Event, ended bool) []templates.MachineState {
	states := []templates.MachineState{{Name: "RUNNING", What: "admits"}, {Name: "QUIESCING", What: "the gate is closed, readiness is false"},
		{Name: "DRAINING", What: "admitted requests finish"}, {Name: "RECORDING", What: "cleans up, writes outcomes"}, {Name: "EXIT", What: "released"}}
	now := -1
	for _, e := range events {
		for i := range states {
			if e.Kind == ledger.StateChanged && states[i].Name == e.State {
				states[i].At = fmt.Sprintf("%.2f", time.Duration(e.At).Seconds())
				now = max(now, i)
			}
		}
	}
	if ended && now >= 0 {
		now = len(states) - 1
	}
	for i := range states {
		states[i].Now, states[i].Passed = i == now, i < now && states[i].At != ""
	}
	return states
}

const (
	runRowHeight = 34
	runTop       = 28
	// What is drawn of a large record; its ledgers count all.
	mostRows       = 60
	mostLinesDrawn = 8
	mostBeats      = 200
	mostEvents     = 1000
	mostProblems   = 5
)

// buildRunPicture draws each request with, below it, its work, so that one
// sees the waiter's bar end and the work's go on.
func buildRunPicture(events []ledger.Event, report ledger.Report) templates.RunPicture {
	from, to := events[0].At, events[0].At
	for _, e := range events {
		from, to = min(from, e.At), max(to, e.At)
	}
	span := max(time.Duration(to-from), time.Millisecond)
	share := func(d ledger.Seconds) int { return int(1000 * time.Duration(d).Seconds() / span.Seconds()) } // in thousandths
	at := func(t ledger.Seconds) string { return percent(share(t-from), 1000) }
	between := func(a, b ledger.Seconds) *templates.Span {
		x := min(share(a-from), 998)
		return &templates.Span{X: percent(x, 1000), W: percent(min(max(share(b-a), 2), 1000-x), 1000)}
	}
	end := func(row *templates.RunRow, t ledger.Seconds, text string) {
		row.End, row.EndX, row.EndAnchor, row.EndDX = text, at(t), "start", 6
		if share(t-from) > 700 {
			row.EndAnchor, row.EndDX = "end", -8
		}
	}
	var p templates.RunPicture
	y := runTop
	left := 0
	add := func(row templates.RunRow) {
		if len(p.Rows) == mostRows {
			left++
			return
		}
		row.Y = y
		y += runRowHeight
		p.Rows = append(p.Rows, row)
	}
	work := map[string][]ledger.WorkEntry{}
	for _, w := range report.WorkEntries {
		work[w.Request] = append(work[w.Request], w)
	}
	var parts []string
	for _, q := range report.RequestEntries {
		row := templates.RunRow{Name: cmp.Or(q.Class, "request"), Kind: "request", Class: "req-" + q.Outcome.String()}
		until := q.EndedAt
		if q.Outcome == ledger.Outstanding {
			until = to
		}
		row.Bar = between(q.AdmittedAt, until)
		end(&row, until, q.Outcome.String())
		add(row)
		parts = append(parts, fmt.Sprintf("%s request %s", row.Name, q.Outcome))
		for _, w := range work[q.ID] {
			add(workRow(w, to, at, between, end))
			parts = append(parts, fmt.Sprintf("its work %s", strings.ReplaceAll(w.Outcome.String(), "_", " ")))
		}
		delete(work, q.ID)
	}
	for _, w := range report.WorkEntries { // whose request the record does not know
		if _, left := work[w.Request]; left {
			add(workRow(w, to, at, between, end))
		}
	}
	for _, e := range events {
		switch {
		case e.Kind == ledger.RequestRejected:
			row := templates.RunRow{Name: "late", Kind: "request", Mark: at(e.At), Class: "req-rejected"}
			end(&row, e.At, "rejected at the gate")
			row.EndDX *= 2
			add(row)
			parts = append(parts, "a late request rejected")
		case e.Kind == ledger.StateChanged && e.State == "QUIESCING":
			p.Lines = append(p.Lines, runLine(at(e.At), "gate closes", share(e.At-from)))
		case e.Kind == ledger.SignalReceived:
			p.Lines = append(p.Lines, runLine(at(e.At), "signal", share(e.At-from)))
		case e.Kind == ledger.StateChanged && e.State == "RECORDING":
			p.Lines = append(p.Lines, runLine(at(e.At), "cleanup", share(e.At-from)))
		}
	}
	step := time.Second / 2
	for span/step > 12 {
		step *= 2
	}
	for t := time.Duration(0); t <= span; t += step {
		tick := templates.Tick{X: percent(share(ledger.Seconds(t)), 1000), Label: fmt.Sprintf("%.1f", t.Seconds()), Anchor: "middle"}
		if t == 0 {
			tick.Anchor = "start"
		}
		p.Ticks = append(p.Ticks, tick)
	}
	if left > 0 {
		parts = append(parts[:min(len(parts), mostRows)], fmt.Sprintf("and %d rows more, which are not drawn", left))
	}
	p.Left = left
	p.Lines = p.Lines[:min(len(p.Lines), mostLinesDrawn)]
	p.Bottom = y
	p.Height = y + 20 + 14*len(p.Lines)
	p.Summary = "Over time: " + strings.Join(parts, ", ") + "."
	return p
}

func runLine(x, label string, share int) templates.Line {
	l := templates.Line{X: x, Label: label, Anchor: "start", DX: 4}
	if share > 800 {
		l.Anchor, l.DX = "end", -4
	}
	return l
}

func workRow(w ledger.WorkEntry, to ledger.Seconds, at func(ledger.Seconds) string, between func(a, b ledger.Seconds) *templates.Span,
	end func(*templates.RunRow, ledger.Seconds, string)) templates.RunRow {
	row := templates.RunRow{Name: "… its work", Kind: "work", Class: "work-" + w.Outcome.String()}
	until := to
	if w.Ended() {
		until = w.EndedAt
	}
	if w.Started {
		row.Bar = between(w.StartedAt, until)
	}
	for _, b := range w.Heartbeats[:min(len(w.Heartbeats), mostBeats)] {
		row.Beats = append(row.Beats, at(b))
	}
	text := strings.ReplaceAll(w.Outcome.String(), "_", " ")
	if w.Outcome == ledger.Unknown {
		text = "? " + text
	}
	end(&row, until, text)
	return row
}

func clientOf(r drill.Result, class string) drill.Client {
	for _, c := range r.Clients {
		if c.Class == class {
			return c
		}
	}
	return drill.Client{}
}

// buildReport compares a run with the published reference run's categories.
// Of the blocking request the reference says an HTTP error: a Go server's
// handler still answers, with 500.
func buildReport(r drill.Result) []templates.ReportRow {
	client := func(class string) (string, drill.Client) {
		c := clientOf(r, class)
		switch {
		case c.Class == "":
			return "not asked", c
		case c.Status == 0:
			return "no response", c
		}
		return fmt.Sprintf("%d, body %s", c.Status, c.Body), c
	}
	var rows []templates.ReportRow
	count := func(category string, got, want int) {
		rows = append(rows, templates.ReportRow{Category: category, Measured: fmt.Sprint(got), Reference: fmt.Sprint(want), Matches: got == want})
	}
	say := func(category, got, want string, matches bool) {
		rows = append(rows, templates.ReportRow{Category: category, Measured: got, Reference: want, Matches: matches})
	}
	q := r.Report.Requests
	count("requests admitted", int(q.Admitted), 3)
	count("requests completed", int(q.Completed), 1)
	count("requests cancelled", int(q.Cancelled), 2)
	count("requests rejected before admission", int(q.Rejected), 1)
	count("cleanup blocks run", r.Report.CleanupRan, 3)
	count("work unfinished at cleanup", int(r.Report.UnfinishedAtCleanup), 1)
	text, c := client("short")
	say("short client", text, "200, body complete", c.Status == 200 && c.Body == "complete")
	text, c = client("stream")
	say("stream client", text, "200, body truncated", c.Status == 200 && c.Body == "truncated")
	text, c = client("block")
	say("blocking client", text, "an HTTP error", c.Status >= 500)
	text, c = client("late")
	say("late client", text, "503, body complete", c.Status == 503)
	beat := "none"
	if r.HeartbeatAfter > 0 {
		beat = fmt.Sprintf("after %.2f s", r.HeartbeatAfter.Seconds())
	}
	say("heartbeat after the cancel", beat, "one, within the hold and a beat", r.HeartbeatAfter > 0)
	say("readiness, liveness in the drain", fmt.Sprintf("%d, %d", r.ReadyAfter, r.LiveAfter), "an error, 200", r.ReadyAfter == 503 && r.LiveAfter == 200)
	count("exit code", r.Exit.Code, -15)
	return rows
}

func buildChecks(r drill.Result) []templates.CheckRow {
	var rows []templates.CheckRow
	check := func(text string, shown bool) {
		how := "not shown by this run"
		if shown {
			how = "shown by this run"
		}
		rows = append(rows, templates.CheckRow{Text: text, Shown: shown, How: how})
	}
	q := r.Report.Requests
	check("What came after the gate had closed was rejected before any work.", q.Rejected > 0 && len(r.Report.WorkEntries) <= int(q.Admitted))
	check("While it drained the process was alive and not ready.", r.ReadyAfter == 503 && r.LiveAfter == 200)
	check("Every admitted request has one outcome, and none is outstanding.", q.Check() == nil && q.Outstanding == 0 && len(r.Report.Problems) == 0)
	check("Every stream came to its terminal marker.", r.Report.IncompleteStreams == 0)
	check("Every piece of work is accounted for.", r.Report.Work.Unaccounted() == 0)
	check("The outcomes were written.", !r.Report.EvidenceLost)
	check("Nothing of the process was left, and it ended by itself.", !r.Exit.Orphans && !r.Exit.Killed)
	return rows
}

// runEvent tells one event as a line.
func runEvent(e drill.Event) templates.RunEvent {
	v := templates.RunEvent{At: fmt.Sprintf("%.2f", time.Duration(e.At).Seconds()), Tone: "plain"}
	class := cmp.Or(e.Class, "a request")
	detail := ""
	if e.Detail != "" {
		detail = ": " + e.Detail
	}
	if e.Seen != "" {
		v.Text = strings.TrimSpace("seen from outside: "+strings.ReplaceAll(e.Seen, "_", " ")+" "+e.Class) + detail
		return v
	}
	switch e.Kind {
	case ledger.StateChanged:
		v.Text, v.Tone = "state "+e.State, "work"
	case ledger.SignalReceived:
		v.Text, v.Tone = "signal received"+detail, "warn"
	case ledger.RequestRejected, ledger.RequestFailed, ledger.RequestCancelled, ledger.ConnectionUnseen:
		v.Text, v.Tone = class+": "+strings.ReplaceAll(string(e.Kind), "_", " ")+detail, "bad"
	case ledger.RequestCompleted, ledger.WorkFinished, ledger.StopAcknowledged:
		v.Text, v.Tone = class+": "+strings.ReplaceAll(string(e.Kind), "_", " ")+detail, "good"
	case ledger.WaiterCancelled, ledger.StopRequested, ledger.EvidenceLost:
		v.Text, v.Tone = strings.ReplaceAll(string(e.Kind), "_", " ")+detail, "warn"
	case ledger.RequestAdmitted, ledger.WorkRegistered, ledger.WorkStarted, ledger.WorkHeartbeat, ledger.CleanupRan, ledger.ProcessEnded, ledger.RequestsBefore:
		v.Text = strings.ReplaceAll(string(e.Kind), "_", " ") + detail
		if e.Class != "" {
			v.Text = e.Class + ": " + v.Text
		}
	}
	return v
}
