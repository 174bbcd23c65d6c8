package ledgers

import (
	"fmt"
	"net/http"

	"drainlab/internal/fixture"
	"drainlab/internal/openapi"
	"drainlab/web/answer"
)

// Describe implements [answer.Described].
func (l *Lesson) Describe() openapi.Part {
	var p openapi.Part
	run := []openapi.Content{openapi.JSON(openapi.Ref("FixtureRun"))}
	id := []openapi.Parameter{{Name: "id", InPath: true, Description: "Of the run.", Schema: openapi.Text()}}
	const why = "Not possible; the error says why."
	p.Post(apiPath, openapi.Operation{ID: "startFixtureRun", Tag: answer.TagFixture, Summary: "Queue a run of the real fixture",
		Description:  fmt.Sprintf("At most %d runs at once, %d waiting, and %d of one client address.", runsAtOnce, runsWaiting, runsPerClient),
		BodyOptional: true,
		Body:         []openapi.Content{openapi.JSON(openapi.Ref("FixtureSettings"))},
		Answers: []openapi.Answer{
			{Status: http.StatusAccepted, Description: "Queued or begun.", Headers: []openapi.Header{{Name: "Location", Description: "Of the run."}}, Content: run},
			answer.Refusal(http.StatusBadRequest, why),
			answer.Refusal(http.StatusRequestEntityTooLarge, why),
			answer.Refusal(http.StatusTooManyRequests, "Too many; Retry-After says when to try again.", openapi.Header{Name: "Retry-After", Description: "Seconds."}),
		},
	})
	p.Get(apiPath+"/{id}", openapi.Operation{ID: "getFixtureRun", Tag: answer.TagFixture, Summary: "A run of the fixture as it stands", Parameters: id,
		Answers: []openapi.Answer{{Status: http.StatusOK, Description: "The run.", Content: run}, answer.Refusal(http.StatusNotFound, why)}})
	p.Get(apiPath+"/{id}/record", openapi.Operation{ID: "getFixtureRecord", Tag: answer.TagFixture, Summary: "The run's record, JSON lines", Parameters: id,
		Answers: []openapi.Answer{{Status: http.StatusOK, Description: "One event a line.", Content: []openapi.Content{openapi.Lines(openapi.Ref("FixtureEvent"))}}, answer.Refusal(http.StatusNotFound, why)}})
	p.Schema("FixtureSettings", openapi.Settings(fixture.Table(), "Settings of a run of the fixture. One left out has its value of the reference run."))
	p.Schema("RequestLedger", openapi.Object("admitted = completed + failed + cancelled + outstanding. The other two stand apart.").
		Counts(openapi.From(0), "admitted", "completed", "failed", "cancelled", "outstanding", "rejected", "never_admitted"))
	p.Schema("WorkLedger", openapi.Object("What became of the work.").
		Counts(openapi.From(0), "not_started", "running", "confirmed_stopped", "completed", "unknown"))
	p.Schema("FixtureEvent", fixtureEvent())
	p.Schema("FixtureRun", fixtureRunSchema())
	return p
}

func fixtureEvent() openapi.Schema {
	return openapi.Object("An event of the server's record, or with `seen` one that was seen from outside.").
		Maybe("seen", openapi.Enum("client_started", "client_ended", "drain_called", "signal_sent", "exited")).
		Maybe("seq", openapi.Integer()).
		Has("at", openapi.Number()).
		Maybe("kind", openapi.Text()).
		Maybe("request", openapi.Text()).
		Maybe("work", openapi.Text()).
		Maybe("class", openapi.Text()).
		Maybe("state", openapi.Text()).
		Maybe("detail", openapi.Text()).
		Maybe("stream", openapi.Boolean())
}

func fixtureRunSchema() openapi.Schema {
	client := openapi.Object("What one client got.").
		Has("class", openapi.Text()).
		Has("status", openapi.Integer().Says("0: no response.")).
		Has("body", openapi.Enum("complete", "truncated", "none"))
	exit := openapi.Object("How the process ended.").OrNull().
		Has("code", openapi.Integer().Says("Negative: the number of the signal that ended it.")).
		Maybe("signal", openapi.Text()).
		Has("after", openapi.Number().Says("Seconds after the first signal.")).
		Maybe("killed", openapi.Boolean()).
		Maybe("orphans", openapi.Boolean())
	return openapi.Object("A run of the fixture as it stands.").
		Has("id", openapi.Text()).
		Has("state", openapi.Enum(string(runQueued), string(runRunning), string(runFinished))).
		Maybe("place", openapi.From(1).Says("In the queue, while queued.")).
		Maybe("problem", openapi.Text().Says("Why no run came about.")).
		Has("settings", openapi.AllSettings(fixture.Table(), "FixtureSettings")).
		Has("requests", openapi.Ref("RequestLedger")).
		Has("work", openapi.Ref("WorkLedger")).
		Has("cleanup_ran", openapi.Integer()).
		Has("unfinished_at_cleanup", openapi.Integer()).
		Has("evidence_lost", openapi.Boolean()).
		Has("clients", openapi.List(client)).
		Has("readiness_after_drain", openapi.Integer()).
		Has("liveness_after_drain", openapi.Integer()).
		Has("heartbeat_after_cancel", openapi.Number().OrNull()).
		Has("exit", exit).
		Has("events", openapi.List(openapi.Ref("FixtureEvent")))
}
