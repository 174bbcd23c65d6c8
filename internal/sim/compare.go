package sim

import (
	"fmt"
	"strings"
)

// Difference is what two whole runs differ in, a against b. Compare(b, a) is
// the same the other way round.
type Difference struct {
	Settings []SettingDifference // in the contract's order
	Account  []CountDifference   // in the account's order
	A, B     Verdict             // the gate's, Pass or Fail
	Parting  *Parting            // nil where the traces are the same
	Fates    []FateDifference    // by request number
}

// SettingDifference is a setting that differs, with its amounts in tenths as
// those of a [Control].
type SettingDifference struct {
	Setting, Label string
	A, B           Time
}

// CountDifference is a count that differs. Field is its name in the account's
// JSON, By is B - A.
type CountDifference struct {
	Field    string
	A, B, By int
}

// Parting is where two traces part: all events before it are the same.
type Parting struct {
	A, B     int32 // Seq of the first event that differs, -1 where that trace has ended
	At       Time  // of the earlier of the two
	Sentence string
}

// FateDifference is a request that has come to different ends. A request that
// arrives in one run only is in the other one NoArrival.
type FateDifference struct {
	Request int
	A, B    Fate
}

// Compare returns what differs between two runs at [Horizon].
func Compare(a, b *Run) Difference {
	d := Difference{A: a.verdict(), B: b.verdict(), Parting: parting(a, b)}
	for i := range controls {
		c := &controls[i]
		if va, vb := c.Amount(a.Settings), c.Amount(b.Settings); va != vb {
			d.Settings = append(d.Settings, SettingDifference{Setting: c.Name, Label: c.Label, A: va, B: vb})
		}
	}
	counts, others := a.Account().counts(), b.Account().counts()
	for i, name := range countNames {
		if va, vb := counts[i], others[i]; va != vb {
			d.Account = append(d.Account, CountDifference{Field: name, A: va, B: vb, By: vb - va})
		}
	}
	fates, other := a.fates(), b.fates()
	for i := range max(len(fates), len(other)) {
		f := FateDifference{Request: i + 1}
		if i < len(fates) {
			f.A = fates[i]
		}
		if i < len(other) {
			f.B = other[i]
		}
		if f.A != f.B {
			d.Fates = append(d.Fates, f)
		}
	}
	return d
}

var countNames = [...]string{"arrivals", "admitted", "rejected", "completed", "killed", "running"}

func (a Account) counts() [len(countNames)]int {
	return [...]int{a.Arrivals, a.Admitted, a.Rejected, a.Completed, a.Killed, a.Running}
}

// fates are those of all requests, the first at 0.
func (r *Run) fates() []Fate {
	fates := make([]Fate, len(r.Invocations)+len(r.Rejections))
	for _, rej := range r.Rejections {
		fates[rej.Request-1] = FateRejected
	}
	for _, inv := range r.Invocations {
		fates[inv.Request-1] = inv.fate()
	}
	return fates
}

func parting(a, b *Run) *Parting {
	n := 0
	for n < len(a.Trace) && n < len(b.Trace) && a.Trace[n] == b.Trace[n] {
		n++
	}
	if n == len(a.Trace) && n == len(b.Trace) {
		return nil
	}
	p := &Parting{A: -1, B: -1, At: Never}
	next := func(r *Run, which string, seq *int32) string {
		if n == len(r.Trace) {
			return "in the " + which + " run nothing more happened"
		}
		ev := &r.Trace[n]
		*seq = ev.Seq
		if p.At == Never || ev.At < p.At {
			p.At = ev.At
		}
		return fmt.Sprintf("in the %s run, at %s, %s", which, secs(ev.At), ev.phrase())
	}
	first, second := next(a, "first", &p.A), next(b, "second", &p.B)
	// The first event of every run is the start of worker 1's boot.
	p.Sentence = fmt.Sprintf("Both runs are the same up to event %d, at %s; then %s, and %s.",
		n-1, secs(a.Trace[n-1].At), first, second)
	return p
}

// Same reports whether nothing differs: the settings are the same.
func (d Difference) Same() bool { return len(d.Settings) == 0 }

// Sentences returns the difference as text, the runs being the first and the
// second: settings, counts, verdicts, where the traces part, and the fates,
// those of one kind together.
func (d Difference) Sentences() []string {
	if d.Same() {
		return []string{"The two runs are the same."}
	}
	var text, parts []string
	for _, s := range d.Settings {
		c, _ := FindControl(s.Setting)
		parts = append(parts, fmt.Sprintf("%s (%s and %s)", s.Label, c.Say(s.A), c.Say(s.B)))
	}
	text = append(text, "The runs differ in "+listed(parts)+".")
	if d.Parting == nil {
		text = append(text, "Their traces are the same.")
	} else {
		text = append(text, d.Parting.Sentence)
	}
	parts = nil
	for _, c := range d.Account {
		parts = append(parts, fmt.Sprintf("%d %s instead of %d (%s)", c.B, c.Field, c.A, signed(c.By)))
	}
	if len(parts) > 0 {
		text = append(text, "The second run counts "+listed(parts)+".")
	}
	text = append(text, d.FateSentences()...)
	verdicts := strings.ToUpper(d.A.String())
	if d.A == d.B {
		return append(text, "The gate's verdict is "+verdicts+" for both.")
	}
	return append(text, fmt.Sprintf("The gate's verdict is %s for the first and %s for the second.", verdicts, strings.ToUpper(d.B.String())))
}

// signed writes a difference with its sign: "+4", "−4".
func signed(v int) string {
	if v < 0 {
		return fmt.Sprintf("−%d", -v)
	}
	return fmt.Sprintf("+%d", v)
}

// FateSentences tells the fates that differ, those of one kind together.
func (d Difference) FateSentences() []string {
	var text []string
	told := map[[2]Fate]bool{}
	for _, first := range d.Fates {
		kind := [2]Fate{first.A, first.B}
		if told[kind] {
			continue
		}
		told[kind] = true
		var requests []int
		for _, f := range d.Fates {
			if f.A == first.A && f.B == first.B {
				requests = append(requests, f.Request)
			}
		}
		n := len(requests)
		text = append(text, fmt.Sprintf("%s %s in the first run and %s in the second.",
			capital(theRequests(requests)), first.A.ended(n), first.B.ended(n)))
	}
	return text
}

// ended says what became of so many requests.
func (f Fate) ended(n int) string {
	were := form(n, "was ", "were ")
	switch f {
	case NoArrival:
		return "did not arrive"
	case FateRejected:
		return were + "rejected"
	case FateCompleted:
		return "completed"
	case FateKilled:
		return were + "killed"
	case FateRunning:
		return were + "still running at " + secs(Horizon)
	}
	panic("sim: a request of no fate")
}
