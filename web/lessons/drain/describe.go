package drain

import (
	"fmt"

	"drainlab/internal/openapi"
	"drainlab/internal/setting"
	"drainlab/internal/sim"
	"drainlab/web/answer"
)

// Describe is the lesson's part of the API's description.
func (*Lesson) Describe() openapi.Part {
	var p openapi.Part
	p.Get("/api/v1/run", openapi.Operation{ID: "getRun", Tag: answer.TagRuns, Summary: "One run, whole or up to an instant",
		Description: "A setting that the query does not name has its default. Numbers are plain decimals: digits, and a point with digits after it where needed; no sign, no exponent. " +
			"Zeros before and after (`007`, `4.50`) do no harm, and a count may be written `2.0`. " +
			"Nothing is clamped: a wrong value, an unknown name or a name given twice is answered with 400. An answer has less than 64 kB. HEAD is taken too.",
		Parameters: append(openapi.Query(sim.Table()),
			openapi.Parameter{Name: "t", Schema: openapi.Tenths(0, sim.Horizon).Default(int(sim.Horizon / sim.Second)),
				Description: fmt.Sprintf("Look at the run as it stands once the step at this second is over. Later events are left out, and before %v the gate is pending.", sim.Horizon)},
			answer.ModelParameter(sim.Model),
			openapi.Parameter{Name: "format", Description: "json: the run. csv: the table of its requests.", Schema: openapi.Enum("json", "csv").Default("json")}),
		Answers: answer.OneRun(openapi.JSON(openapi.Ref("Run")),
			openapi.CSV("A header, then one row for each request that has arrived, in order of arrival; lines end in CR LF. "+
				"The columns are request, arrived_at, outcome, reason, worker, slot, admitted_at, ended_at, sum. The outcome is completed, killed, running or rejected. A cell that has nothing to say is empty.")),
	})
	p.Post("/api/v1/runs", answer.ManyRunsOf(openapi.Operation{ID: "postRuns", Summary: "Up to " + answer.Thousands(answer.MostLines) + " runs, line by line", Description: answer.ManyRunsBounds()}, "Settings", "Run"))
	describeWorkers(&p)
	describeRequests(&p)
	describeTrace(&p)
	describeRun(&p)
	return p
}

// What there is at most of a run's things, by the ranges of its settings.
func workersAtMost() int { return int(answer.Largest(sim.Table(), "workers")/setting.Whole) + 1 } // and the replacement
func slotsAtMost() int   { return int(answer.Largest(sim.Table(), "slots") / setting.Whole) }
func requestsAtMost() int {
	s := sim.Opening()
	s.Interval = answer.Smallest(sim.Table(), "interval")
	return sim.Simulate(s).At(sim.Horizon).Account.Arrivals
}

// describeWorkers adds instants and workers.
func describeWorkers(p *openapi.Part) {
	p.Schema("Instant", openapi.Tenths(0, sim.Horizon).Says("A simulated instant in seconds, in whole tenths."))
	p.Schema("MaybeInstant", openapi.Tenths(0, sim.Horizon).OrNull().Says("An instant, or null where it has not come."))
	maybe := openapi.Ref("MaybeInstant")
	p.Schema("Worker", openapi.Object("One worker process and the instants of its life.").
		Has("id", workerNumber()).
		Has("replacement", openapi.Boolean().Says("It is the one that booted at the signal.")).
		Has("boot_at", openapi.Ref("Instant")).
		Has("ready_at", maybe).
		Has("failed_at", maybe.Says("When its boot ended in failure. Such a worker has no exit_at.")).
		Has("signal_at", maybe.Says("When it took the signal. A worker that had failed by then takes none.")).
		Has("drain_at", maybe.Says("When it stopped admitting. Always null with the handler off.")).
		Has("exit_at", maybe.Says("When it exited or was killed.")).
		Has("state", openapi.Words(sim.Starting, sim.Ready, sim.Draining, sim.Exited, sim.Killed, sim.Failed)))
}

func workerNumber() openapi.Schema { return openapi.Whole(1, workersAtMost()) }
func slotNumber() openapi.Schema   { return openapi.Whole(1, slotsAtMost()) }

// describeRequests adds what becomes of requests.
func describeRequests(p *openapi.Part) {
	p.Schema("Request", openapi.Whole(1, requestsAtMost()).Says("A request's number, in order of arrival from 1."))
	p.Schema("Reason", openapi.Words(sim.NoReadyWorker, sim.WorkerStarting, sim.WorkerDraining, sim.SlotsFull).Says("Why a request was rejected."))
	request, instant := openapi.Ref("Request"), openapi.Ref("Instant")
	ended := func(outcome sim.Outcome, at, sum string) openapi.Schema {
		return openapi.Where("outcome", openapi.Const(outcome.String())).Where("ended_at", openapi.Type(at)).Where("sum", openapi.Type(sum))
	}
	p.Schema("Invocation", openapi.Object("An admitted request. It holds its slot from admitted_at to ended_at.").
		Has("request", request).
		Has("worker", workerNumber()).
		Has("slot", slotNumber()).
		Has("admitted_at", instant).
		Has("ended_at", openapi.Ref("MaybeInstant").Says("When it completed or was killed; null while it is running.")).
		Has("outcome", openapi.Words(sim.Running, sim.Completed, sim.KilledInvocation)).
		Has("sum", sum().OrNull().Says("What it committed at completion; null unless it is completed.")).
		OneOf(ended(sim.Completed, "number", "integer"), ended(sim.KilledInvocation, "number", "null"), ended(sim.Running, "null", "null")))
	p.Schema("Rejection", openapi.Object("A request that was turned away when it arrived.").
		Has("request", request).
		Has("at", instant).
		Has("reason", openapi.Ref("Reason")))
	p.Schema("Result", openapi.Object("A sum in the result store.").
		Has("request", request).
		Has("at", instant).
		Has("numbers", openapi.List(openapi.Whole(1, requestsAtMost())).AtLeast(3).AtMost(3).Says("What the request carried: its own number, 1 and 2.")).
		Has("sum", sum()))
}

// describeTrace adds what an event is.
func describeTrace(p *openapi.Part) {
	p.Schema("Event", openapi.Object("One thing that happened. Beside seq, at and kind it has the members that concern it.").
		Has("seq", openapi.From(0).Says("Its place in the trace, from 0.")).
		Has("at", openapi.Ref("Instant")).
		Has("kind", openapi.Words(sim.Kinds()...)).
		Maybe("worker", workerNumber().Says("Of all kinds, but of request_rejected only where there was a candidate.")).
		Maybe("request", openapi.Ref("Request").Says("Of the request_ and invocation_ kinds.")).
		Maybe("slot", slotNumber().Says("Of request_admitted and the invocation_ kinds.")).
		Maybe("stage", openapi.Words(sim.Prepare, sim.ModelCall, sim.Tool).Says("The stage that begins (invocation_stage) or was under way (invocation_killed).")).
		Maybe("reason", openapi.Ref("Reason").Says("Of request_rejected.")).
		Maybe("sum", sum().Says("Of invocation_completed.")).
		OneOf(eventKinds()...))
}

// sum is that of a request's numbers.
func sum() openapi.Schema {
	return openapi.Whole(sim.Invocation{Request: 1}.Sum(), sim.Invocation{Request: int16(requestsAtMost())}.Sum())
}

// eventKinds says which members an event of which kind has.
func eventKinds() []openapi.Schema {
	of := func(kinds ...sim.Kind) openapi.Schema { return openapi.Where("kind", openapi.Words(kinds...)) }
	return []openapi.Schema{
		of(sim.WorkerStarted, sim.WorkerReady, sim.WorkerFailed, sim.WorkerSignaled, sim.WorkerDrained, sim.WorkerExited, sim.WorkerKilled).
			Requires("worker").Without("request", "slot", "stage", "reason", "sum"),
		of(sim.RequestAdmitted).Requires("worker", "request", "slot").Without("stage", "reason", "sum"),
		of(sim.RequestRejected).Requires("request", "reason").Without("slot", "stage", "sum"),
		of(sim.InvocationStage, sim.InvocationKilled).Requires("worker", "request", "slot", "stage").Without("reason", "sum"),
		of(sim.InvocationCompleted).Requires("worker", "request", "slot", "sum").Without("stage", "reason"),
	}
}

// describeRun adds what a run as a whole is.
func describeRun(p *openapi.Part) {
	p.Schema("Settings", openapi.Settings(sim.Table(), "What a run depends on. In a call any member may be left out and then has its default; an answer has them all."))
	p.Schema("Account", openapi.Object("What became of the requests so far. arrivals = admitted + rejected; admitted = completed + killed + running.").
		Counts(openapi.Whole(0, requestsAtMost()), "arrivals", "admitted", "rejected", "completed").
		Counts(openapi.Whole(0, slotsAtMost()), "killed").
		Counts(openapi.Whole(0, workersAtMost()*slotsAtMost()), "running").
		Has("rejected_percent", openapi.Tenths(0, 100*setting.Whole).MultipleOf("0.01").
			Says("The rejected share of the arrivals, rounded half up to two decimals. The gate does not use it: it compares whole numbers.")))
	p.Schema("Gate", openapi.Object("The verdict on the account at 60 s, and where it is fail, each reason in words.").
		Has("verdict", openapi.Words(sim.Pending, sim.Pass, sim.Fail)).
		Has("reasons", openapi.List(openapi.Text().Long(1, 0)).AtMost(3)).
		If(openapi.Where("verdict", openapi.Const(sim.Fail.String())),
			openapi.Where("reasons", openapi.Schema{}.AtLeast(1)),
			openapi.Where("reasons", openapi.Schema{}.AtMost(0))))
	of := func(item string) openapi.Schema { return openapi.List(openapi.Ref(item)) }
	p.Schema("Run", openapi.Object("A run up to an instant; up to 60 s it is whole. Lists are in order of time and empty where there is nothing to list.").
		Has("model", openapi.Enum(sim.Model).Says("The number of the model that computed the run.")).
		Has("settings", openapi.AllSettings(sim.Table(), "Settings")).
		Has("account", openapi.Ref("Account")).
		Has("gate", openapi.Ref("Gate")).
		Has("workers", of("Worker").AtLeast(1).AtMost(workersAtMost()).Says("Those that have booted, by number.")).
		Has("invocations", of("Invocation").AtMost(requestsAtMost()).Says("By request.")).
		Has("rejections", of("Rejection").AtMost(requestsAtMost()).Says("By request.")).
		Has("results", of("Result").AtMost(requestsAtMost()).Says("By request.")).
		Has("trace", of("Event").AtLeast(1).Says("By seq.")))
}
