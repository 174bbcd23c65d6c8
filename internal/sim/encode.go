package sim

import "strconv"

// AppendJSON appends the snapshot as the API's JSON object, in the contract's
// order of names. Equal settings and T give equal bytes. At [Horizon] it is
// the whole run.
func (s Snapshot) AppendJSON(b []byte) []byte {
	b = append(b, `{"model":`...)
	b = strconv.AppendInt(b, Model, 10)
	b = append(b, `,"settings":`...)
	b = s.Settings.AppendJSON(b)
	b = append(b, `,"account":`...)
	b = s.Account.appendJSON(b)
	b = append(b, `,"gate":`...)
	b = s.Gate().appendJSON(b)
	b = append(b, `,"workers":[`...)
	for i, w := range s.Workers {
		b = comma(b, i)
		b = w.appendJSON(b)
	}
	b = append(b, `],"invocations":[`...)
	for i, inv := range s.Invocations {
		b = comma(b, i)
		b = inv.appendJSON(b)
	}
	b = append(b, `],"rejections":[`...)
	for i, r := range s.Rejections {
		b = comma(b, i)
		b = number(b, `{"request":`, int(r.Request))
		b = instant(b, `,"at":`, r.At)
		b = word(b, `,"reason":"`, r.Reason.String())
		b = append(b, '}')
	}
	b = append(b, `],"results":[`...)
	n := 0
	for _, inv := range s.Invocations { // completions come in order of admission
		if inv.Outcome != Completed {
			continue
		}
		b = comma(b, n)
		n++
		b = number(b, `{"request":`, int(inv.Request))
		b = instant(b, `,"at":`, inv.EndedAt)
		b = append(b, `,"numbers":[`...)
		for i, v := range Numbers(int(inv.Request)) {
			b = comma(b, i)
			b = strconv.AppendInt(b, int64(v), 10)
		}
		b = number(b, `],"sum":`, inv.Sum())
		b = append(b, '}')
	}
	b = append(b, `],"trace":[`...)
	for i, ev := range s.Trace {
		b = comma(b, i)
		b = ev.appendJSON(b)
	}
	return append(b, "]}"...)
}

func (a Account) appendJSON(b []byte) []byte {
	b = number(b, `{"arrivals":`, a.Arrivals)
	b = number(b, `,"admitted":`, a.Admitted)
	b = number(b, `,"rejected":`, a.Rejected)
	b = number(b, `,"completed":`, a.Completed)
	b = number(b, `,"killed":`, a.Killed)
	b = number(b, `,"running":`, a.Running)
	b = append(b, `,"rejected_percent":`...)
	return append(appendHundredths(b, a.RejectedHundredths()), '}')
}

func (g Gate) appendJSON(b []byte) []byte {
	b = word(b, `{"verdict":"`, g.Verdict.String())
	b = append(b, `,"reasons":[`...)
	for i, r := range g.Reasons {
		b = comma(b, i)
		b = word(b, `"`, r) // reasons hold no character that JSON escapes
	}
	return append(b, "]}"...)
}

func (w Worker) appendJSON(b []byte) []byte {
	b = number(b, `{"id":`, w.ID)
	b = append(b, `,"replacement":`...)
	b = strconv.AppendBool(b, w.Replacement)
	b = instant(b, `,"boot_at":`, w.BootAt)
	b = instant(b, `,"ready_at":`, w.ReadyAt)
	b = instant(b, `,"failed_at":`, w.FailedAt)
	b = instant(b, `,"signal_at":`, w.SignalAt)
	b = instant(b, `,"drain_at":`, w.DrainAt)
	b = instant(b, `,"exit_at":`, w.ExitAt)
	b = word(b, `,"state":"`, w.State.String())
	return append(b, '}')
}

func (i Invocation) appendJSON(b []byte) []byte {
	b = number(b, `{"request":`, int(i.Request))
	b = number(b, `,"worker":`, int(i.Worker))
	b = number(b, `,"slot":`, int(i.Slot))
	b = instant(b, `,"admitted_at":`, i.AdmittedAt)
	b = instant(b, `,"ended_at":`, i.EndedAt)
	b = word(b, `,"outcome":"`, i.Outcome.String())
	if i.Outcome != Completed {
		return append(b, `,"sum":null}`...)
	}
	b = number(b, `,"sum":`, i.Sum())
	return append(b, '}')
}

func (e Event) appendJSON(b []byte) []byte {
	b = number(b, `{"seq":`, int(e.Seq))
	b = instant(b, `,"at":`, e.At)
	b = word(b, `,"kind":"`, e.Kind.String())
	if e.Worker != 0 {
		b = number(b, `,"worker":`, int(e.Worker))
	}
	if e.Request != 0 {
		b = number(b, `,"request":`, int(e.Request))
	}
	if e.Slot != 0 {
		b = number(b, `,"slot":`, int(e.Slot))
	}
	if e.Stage != NoStage {
		b = word(b, `,"stage":"`, e.Stage.String())
	}
	if e.Reason != NoReason {
		b = word(b, `,"reason":"`, e.Reason.String())
	}
	if e.Sum != 0 {
		b = number(b, `,"sum":`, int(e.Sum))
	}
	return append(b, '}')
}

// AppendCSV appends the request table: a header and one row for each request
// that has arrived, in order of arrival. Cells that do not concern a request
// are empty. Lines end in CR LF as RFC 4180 has it.
func (s Snapshot) AppendCSV(b []byte) []byte {
	b = append(b, "request,arrived_at,outcome,reason,worker,slot,admitted_at,ended_at,sum\r\n"...)
	i, r := 0, 0
	for i < len(s.Invocations) || r < len(s.Rejections) {
		if i == len(s.Invocations) || r < len(s.Rejections) && s.Rejections[r].Request < s.Invocations[i].Request {
			rej := s.Rejections[r]
			r++
			b = strconv.AppendInt(b, int64(rej.Request), 10)
			b = append(b, ',')
			b = rej.At.Append(b)
			b = append(b, ",rejected,"...)
			b = append(b, rej.Reason.String()...)
			b = append(b, ",,,,,\r\n"...)
			continue
		}
		inv := s.Invocations[i]
		i++
		b = strconv.AppendInt(b, int64(inv.Request), 10)
		b = append(b, ',')
		b = inv.AdmittedAt.Append(b)
		b = append(b, ',')
		b = append(b, inv.Outcome.String()...)
		b = append(b, ",,"...)
		b = strconv.AppendInt(b, int64(inv.Worker), 10)
		b = append(b, ',')
		b = strconv.AppendInt(b, int64(inv.Slot), 10)
		b = append(b, ',')
		b = inv.AdmittedAt.Append(b)
		b = append(b, ',')
		if inv.EndedAt != Never {
			b = inv.EndedAt.Append(b)
		}
		b = append(b, ',')
		if inv.Outcome == Completed {
			b = strconv.AppendInt(b, int64(inv.Sum()), 10)
		}
		b = append(b, "\r\n"...)
	}
	return b
}

func comma(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return b
}

func number(b []byte, name string, v int) []byte {
	return strconv.AppendInt(append(b, name...), int64(v), 10)
}

func instant(b []byte, name string, t Time) []byte {
	b = append(b, name...)
	if t == Never {
		return append(b, "null"...)
	}
	return t.Append(b)
}

func word(b []byte, before, s string) []byte {
	return append(append(append(b, before...), s...), '"')
}

func appendHundredths(b []byte, v int) []byte {
	b = strconv.AppendInt(b, int64(v/100), 10)
	if f := v % 100; f != 0 {
		b = append(b, '.', byte('0'+f/10))
		if f%10 != 0 {
			b = append(b, byte('0'+f%10))
		}
	}
	return b
}

// MarshalJSON and UnmarshalJSON let settings stand inside other JSON, in the
// form of [Settings.AppendJSON] and by the rules of [ParseJSON].
func (s Settings) MarshalJSON() ([]byte, error) { return s.AppendJSON(nil), nil }

// UnmarshalJSON reads what [ParseJSON] reads.
func (s *Settings) UnmarshalJSON(data []byte) error {
	parsed, err := ParseJSON(data)
	if err == nil {
		*s = parsed
	}
	return err
}
