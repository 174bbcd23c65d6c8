package clocks

import (
	model "drainlab/internal/clocks"
	"drainlab/internal/openapi"
	"drainlab/internal/setting"
	"drainlab/web/answer"
)

// Describe is the lesson's part of the API's description.
func (*Lesson) Describe() openapi.Part {
	var p openapi.Part
	p.Get("/api/v1/clocks", openapi.Operation{ID: "getClocks", Tag: answer.TagRuns, Summary: "The timing of one termination",
		Description: "A setting that the query does not name has its default. Numbers are written as for `/api/v1/run`; a setting without a bound takes the word `none` beside them. " +
			"A wrong value, an unknown name, a name given twice and a long request that is over before the termination begins are answered with 400. " +
			"An answer has less than 1.25 MB, and most runs less than 10 kB. HEAD is taken too.",
		Parameters: append(openapi.Query(model.Table()), answer.ModelParameter(model.Model)),
		Answers:    answer.OneRun(openapi.JSON(openapi.Ref("ClocksRun"))),
	})
	p.Post("/api/v1/clocks/runs", answer.ManyRunsOf(openapi.Operation{ID: "postClocksRuns", Summary: "Up to " + answer.Thousands(answer.MostLines) + " terminations, line by line",
		Description: "As `/api/v1/runs` in everything but the settings and the runs: one line for each line, in the same order, with the same bounds of lines, bytes and time. " +
			"A run has its list of requests only with `requests=1`.",
		Parameters: []openapi.Parameter{{Name: "requests", Schema: openapi.Enum("1"),
			Description: "1: each run has its list of `requests`, which may be a megabyte. Left out: none has that member."}},
	}, "ClocksSettings", "ClocksRunWithoutRequests", "ClocksRun"))
	p.Schema("ClocksSettings", openapi.Settings(model.Table(), "What a termination depends on. In a call any member may be left out and then has its default; an answer has them all."))
	describeInstants(&p)
	describeTraffic(&p)
	describeBudget(&p)
	p.Schema("ClocksRun", termination("The timing of one termination.", true))
	p.Schema("ClocksRunWithoutRequests", termination("The timing of one termination, without its list of requests.", false))
	return p
}

// The ends of what a termination's times can be, by the ranges of its settings.
func latestKill() setting.Time  { return mostOfClock("grace") + mostOfClock("prestop") }
func latestTerm() setting.Time  { return mostOfClock("prestop") + mostOfClock("signal_delay") }
func routerStop() setting.Time  { return mostOfClock("withdraw") + mostOfClock("propagation") }
func latestExit() setting.Time  { return mostOfClock("long") + mostOfClock("cleanup") }
func largestNeed() setting.Time { return latestExit() + mostOfClock("margin") }

// mostRequests is how many there are where the traffic is the densest, with
// the long one in place of the one that would end at 0.
func mostRequests() int {
	return int((mostOfClock("request") + routerStop()) / answer.Smallest(model.Table(), "interval"))
}

func mostOfClock(name string) setting.Time { return answer.Largest(model.Table(), name) }

// describeInstants adds when the clocks strike.
func describeInstants(p *openapi.Part) {
	p.Schema("ClocksInstant", openapi.Tenths(0, latestKill()).Says("Seconds from the start of termination, in whole tenths."))
	p.Schema("ClocksMaybeInstant", openapi.Tenths(0, latestExit()).OrNull().Says("Such an instant, or null where it does not come."))
	instant, maybe := openapi.Ref("ClocksInstant"), openapi.Ref("ClocksMaybeInstant")
	p.Schema("ClocksInstants", openapi.Object("When the clocks strike. What would come after the kill does not come.").
		Has("gate", maybe.Says("The admission gate closes.")).
		Has("term", maybe.Says("The signal has reached the application.")).
		Has("listener_closed", maybe.Says("The listener closes; always with term.")).
		Has("router_stop", instant.Says("From here on no router sends a new request; the kill does not change it.")).
		Has("drained", maybe.Says("The signal has come and no admitted request is left.")).
		Has("exit", maybe.Says("The process leaves by itself.")).
		Has("kill", instant.Says("The outer deadline, also where the process has left before.")))
}

// describeTraffic adds what becomes of requests and of the work behind them.
func describeTraffic(p *openapi.Part) {
	count := openapi.Whole(0, mostRequests())
	p.Schema("ClocksAccount", openapi.Object("What became of the requests. arrivals = admitted + rejected + refused; admitted = completed + deadline + cancelled + killed.").
		Counts(count, "arrivals", "admitted", "completed").
		Has("deadline", count.Says("Failed at their deadline.")).
		Has("cancelled", count.Says("Ended by the server's timeout.")).
		Has("killed", count).
		Has("rejected", count.Says("Turned away at the gate, before any work.")).
		Has("refused", count.Says("They found no listener.")))
	p.Schema("ClocksWork", openapi.Object("What became of the backend work. The four add up to the arrivals.").
		Counts(count, "completed", "confirmed_stopped").
		Has("unknown", count.Says("Nobody was left to see its end.")).
		Has("not_started", count.Says("That of the rejected and the refused.")))
	p.Schema("ClocksRequest", openapi.Object("One request and the work behind it.").
		Has("arrival", openapi.Tenths(1-mostOfClock("long"), routerStop()-1).Says("Seconds from the start of termination; negative before it.")).
		Has("long", openapi.Boolean().Says("It is the long one.")).
		Has("outcome", openapi.Words(model.Completed, model.Deadline, model.Cancelled, model.Killed, model.Rejected, model.Refused)).
		Has("ended_at", openapi.Tenths(2-mostOfClock("long"), mostOfClock("long")).Says("For the rejected and the refused their arrival.")).
		Has("work", openapi.Words(model.WorkCompleted, model.ConfirmedStopped, model.Unknown, model.NotStarted)).
		Has("work_ended_at", openapi.Tenths(3-mostOfClock("long"), latestExit()-1).OrNull().Says("Null where that is unknown or nothing was started.")).
		OneOf(
			became([]model.Outcome{model.Completed}, []model.WorkOutcome{model.WorkCompleted}, "number"),
			became([]model.Outcome{model.Deadline, model.Cancelled}, []model.WorkOutcome{model.WorkCompleted, model.ConfirmedStopped}, "number"),
			became([]model.Outcome{model.Deadline, model.Cancelled, model.Killed}, []model.WorkOutcome{model.Unknown}, "null"),
			became([]model.Outcome{model.Rejected, model.Refused}, []model.WorkOutcome{model.NotStarted}, "null")))
}

// became says what the outcomes of requests leave open for their work.
func became(requests []model.Outcome, work []model.WorkOutcome, workEnd string) openapi.Schema {
	return openapi.Where("outcome", openapi.Words(requests...)).Where("work", openapi.Words(work...)).Where("work_ended_at", openapi.Type(workEnd))
}

// describeBudget adds the plan.
func describeBudget(p *openapi.Part) {
	plan := func(kind string) openapi.Schema {
		return openapi.Where("term", openapi.Type(kind)).Where("need", openapi.Type(kind)).Where("slack", openapi.Type(kind))
	}
	p.Schema("ClocksBudget", openapi.Object("The planning rule: need = term + remaining + cleanup + margin. Where the signal is not handled there is no plan.").
		Has("term", openapi.Tenths(0, latestTerm()).OrNull().Says("Hook and delivery of the signal, also where the kill comes first; null without a plan.")).
		Has("remaining", openapi.Tenths(0, mostOfClock("long")-1).Says("The longest work left at the signal, at most the server's timeout.")).
		Has("cleanup", openapi.Tenths(0, mostOfClock("cleanup")).Says("What the cleanup needs, at most its budget.")).
		Has("margin", openapi.Tenths(0, mostOfClock("margin"))).
		Has("need", openapi.Tenths(0, largestNeed()).OrNull().Says("Null without a plan.")).
		Has("slack", openapi.Tenths(1-largestNeed(), mostOfClock("grace")).OrNull().Says("The kill less the need; below 0 an overrun. Null without a plan.")).
		OneOf(plan("number"), plan("null")))
}

// termination is a run as a whole.
func termination(description string, requests bool) openapi.Schema {
	s := openapi.Object(description).
		Has("model", openapi.Enum(model.Model).Says("The number of the timing model that computed the run.")).
		Has("settings", openapi.AllSettings(model.Table(), "ClocksSettings")).
		Has("instants", openapi.Ref("ClocksInstants")).
		Has("account", openapi.Ref("ClocksAccount")).
		Has("work", openapi.Ref("ClocksWork"))
	if requests {
		s = s.Has("requests", openapi.List(openapi.Ref("ClocksRequest")).AtMost(mostRequests()).Says("By arrival; the long one before another that arrives with it."))
	}
	const pass, fail, exit, kill = "pass", "fail", "exit", "kill"
	return s.
		Has("ended", openapi.Enum(exit, kill).Says("How the process ended: by its own exit or by the kill.")).
		Has("end", openapi.Ref("ClocksInstant").Says("When it did.")).
		Has("cleanup", openapi.Words(model.CleanupComplete, model.CleanupCut, model.CleanupNotBegun).Says("How far the cleanup came.")).
		Has("budget", openapi.Ref("ClocksBudget")).
		Has("verdict", openapi.Enum(pass, fail)).
		Has("reasons", openapi.List(openapi.Text().Long(1, 0)).AtMost(6).Says("For fail each reason in words, the gravest first.")).
		If(openapi.Where("verdict", openapi.Const(fail)),
			openapi.Where("reasons", openapi.Schema{}.AtLeast(1)),
			openapi.Where("reasons", openapi.Schema{}.AtMost(0)).
				Where("ended", openapi.Const(exit)).
				Where("cleanup", openapi.Const(model.CleanupComplete.String())))
}
