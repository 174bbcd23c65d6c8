package clocks

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
)

// Ownership is one row of the timeout-ownership matrix: a clock, who owns it,
// and what it does in a run.
type Ownership struct {
	Clock  string `json:"clock"`
	Owner  string `json:"owner"`
	Value  string `json:"value"`
	Starts string `json:"starts"`
	Ends   string `json:"ends"`
	// NoPromise is what one must not conclude from the clock.
	NoPromise string `json:"does_not_promise"`
	// Evidence is what to collect to know what it did.
	Evidence string `json:"evidence"`
}

// Matrix lists the clocks of the run with their owners. Values and instants
// are those of the run.
func (r *Run) Matrix(p *Platform) []Ownership {
	s, i := &r.Settings, &r.Instants
	platform := "platform"
	if p != nil {
		platform = p.Name
	}
	grace := span(s.Grace)
	if s.HookInGrace {
		grace += ", hook included"
	} else {
		grace += ", from the end of the hook"
	}
	graceStarts := at(0)
	if !s.HookInGrace {
		graceStarts = at(s.Prestop)
	}
	cut := func(t Time) string { // by the kill
		if t > i.Kill {
			return at(i.Kill) + ", by the kill"
		}
		return at(t)
	}
	gateValue := map[GateClosing]string{GateAtPrestop: "when termination begins", GateAtTerm: "at the signal", GateNever: "never"}[s.Gate]
	drainStarts, drainEnds, cleanupStarts, cleanupEnds := "never: the signal does not reach it", "never", "never: nothing begins it", "never"
	if i.Term != Never {
		drainStarts, drainEnds = at(i.Term), at(i.Kill)+", by the kill"
		if i.Drained != Never {
			drainEnds = at(i.Drained)
			cleanupStarts, cleanupEnds = at(i.Drained), cut(i.Drained+r.Budget.Cleanup)
			if r.Cleanup == CleanupNotBegun {
				cleanupStarts, cleanupEnds = "never: the kill comes first", "never"
			}
		} else {
			cleanupStarts = "never: the kill comes first"
		}
	}
	deadline := "none"
	deadlineEnds := "with the request"
	if s.Deadline > 0 {
		deadline, deadlineEnds = span(s.Deadline), span(s.Deadline)+" after it"
	}
	signal, signalStarts, signalEnds := span(s.SignalDelay)+" after the hook", at(s.Prestop), at(i.Term)
	if i.Term == Never {
		signalEnds = "never: the kill comes first"
	}
	if !s.SignalHandled {
		signal, signalEnds = "sent, not handled", "never"
	}
	switch {
	case !s.SignalHandled && p != nil && !p.Handled:
		signal, signalStarts = "none is sent: a notice to look for", "never"
	case s.Prestop > i.Kill:
		signalStarts, signalEnds = "never: the kill comes first", "never"
		if !s.SignalHandled {
			signal = "not sent, nor handled"
		}
	}
	work := "obeys cancellation, acknowledges within " + span(s.StopCheck)
	if !s.Cooperative {
		work = "does not obey cancellation"
	}
	return []Ownership{
		{"Outer termination grace", platform, grace, graceStarts, at(i.Kill),
			"that anything is finished when it ends", "exit code or signal of the process (137 or SIGKILL: it was cut), the platform's own event with its time"},
		{"preStop hook", "the platform's management hook", span(s.Prestop), at(0), cut(s.Prestop),
			"that every router has seen the change by then", "the hook's start and end in its own log"},
		{"Signal delivery", "platform and entrypoint", signal, signalStarts, signalEnds,
			"that the process that handles it is the one that gets it", "a log line of the handler with its time, behind the real entrypoint"},
		{"Admission gate", "application", gateValue, at(0), at(i.Gate),
			"that callers stop trying", "count of rejections before any work, with the gate's state"},
		{"Routing", "endpoints, proxies, clients' connections", span(s.Withdraw) + " to withdraw, " + span(s.Propagation) + " to spread", at(0), at(i.RouterStop),
			"to be a barrier: it runs beside everything else", "the last request that arrives through the real ingress after readiness was withdrawn, reused connections included"},
		{"Server graceful timeout", "server", bound(s.ServerTimeout), drainStarts, drainEnds,
			"a bounded cleanup, or that a thread has stopped", "connections and requests still open when it ends"},
		{"Cleanup budget", "application", bound(s.CleanupBudget) + " for " + span(s.Cleanup) + " of work", cleanupStarts, cleanupEnds,
			"that outcomes are recorded when it is cut", "a last record that says the cleanup is complete"},
		{"Request deadline", "caller", deadline, "each request's arrival", deadlineEnds,
			"that the backend stops when the caller does", "the client's protocol outcome: a whole response or none"},
		{"Backend work", "worker, supervisor or remote service", work, "with its request", "at its own end",
			"any tie to whoever waits for it", "an acknowledged stop or a completion, written by the work itself"},
	}
}

func at(t Time) string {
	if t == Never {
		return "never"
	}
	return t.String() + " s"
}

func span(t Time) string { return t.String() + " s" }

func bound(t Time) string {
	if t == None {
		return "none"
	}
	return span(t)
}

var matrixHead = []string{"Clock", "Owner", "Value", "Starts", "Ends", "Does not promise", "Evidence to collect"}

func (o Ownership) cells() []string {
	return []string{o.Clock, o.Owner, o.Value, o.Starts, o.Ends, o.NoPromise, o.Evidence}
}

// MatrixHead names the matrix's columns.
func MatrixHead() []string { return append([]string(nil), matrixHead...) }

// summary says in a line what the matrix is of.
func (r *Run) summary(p *Platform) string {
	text := fmt.Sprintf("Verdict %s. ", strings.ToUpper(r.Verdict()))
	switch need, kill, slack := r.Budget.Need, span(r.Instants.Kill), r.Budget.Slack; {
	case need == Never:
		text += "Without a handled signal there is no plan; the kill comes at " + kill
	case slack >= 0:
		text += fmt.Sprintf("The plan needs %s of the %s until the kill: %s to spare", span(need), kill, span(slack))
	default:
		text += fmt.Sprintf("The plan needs %s and the kill comes at %s: %s too little", span(need), kill, span(-slack))
	}
	if p != nil {
		text = p.Name + ". " + text
	}
	return text + "."
}

// MatrixMarkdown is the matrix as a Markdown table under a heading.
func (r *Run) MatrixMarkdown(p *Platform) []byte {
	var b strings.Builder
	b.WriteString("# Timeout ownership\n\n" + r.summary(p) + "\nInstants are counted from the start of termination.\n\n")
	row := func(cells []string) {
		for _, c := range cells {
			b.WriteString("| " + strings.ReplaceAll(c, "|", `\|`) + " ")
		}
		b.WriteString("|\n")
	}
	row(matrixHead)
	b.WriteString(strings.Repeat("| --- ", len(matrixHead)) + "|\n")
	for _, o := range r.Matrix(p) {
		row(o.cells())
	}
	b.WriteString("\nSettings: `" + string(r.Settings.AppendQuery(nil)) + "`\n")
	return []byte(b.String())
}

// MatrixCSV is the matrix as CSV with a header, lines ending in CR LF.
func (r *Run) MatrixCSV(p *Platform) []byte {
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	w.Write(matrixHead)
	for _, o := range r.Matrix(p) {
		w.Write(o.cells())
	}
	w.Flush() // into memory: it cannot fail
	return []byte(b.String())
}

// MatrixJSON is the matrix as JSON, with the settings and the verdict it is of.
func (r *Run) MatrixJSON(p *Platform) []byte {
	doc := struct {
		Model    int             `json:"model"`
		Platform string          `json:"platform,omitempty"`
		Settings json.RawMessage `json:"settings"`
		Verdict  string          `json:"verdict"`
		Clocks   []Ownership     `json:"clocks"`
	}{Model: Model, Settings: r.Settings.AppendJSON(nil), Verdict: r.Verdict(), Clocks: r.Matrix(p)}
	if p != nil {
		doc.Platform = p.Name
	}
	data, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		panic(err) // strings and numbers alone
	}
	return append(data, '\n')
}
