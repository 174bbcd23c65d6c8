package answer

import (
	"fmt"
	"net/http"

	"drainlab/internal/openapi"
	"drainlab/internal/setting"
)

// Described is a lesson with operations of its own in the API.
type Described interface{ Describe() openapi.Part }

// The groups of operations of the API.
const (
	TagRuns    = "runs"
	TagFixture = "fixture"
	TagService = "service"
)

// Refusal is an answer that says why there is no other.
func Refusal(status int, text string, headers ...openapi.Header) openapi.Answer {
	return openapi.Answer{Status: status, Description: text, Headers: headers, Content: []openapi.Content{openapi.JSON(openapi.Ref("Error"))}}
}

// RefusedQuery is the answer to a query that is refused.
func RefusedQuery() openapi.Answer {
	return Refusal(http.StatusBadRequest, "The query is refused. Where one parameter is to blame, the answer names it.")
}

// ToAll are the headers of an answer that pages of any origin may read.
func ToAll(cache string) []openapi.Header {
	return []openapi.Header{
		{Name: "Cache-Control", Description: "Always `" + cache + "`."},
		{Name: "Access-Control-Allow-Origin", Description: "Always `*`."},
	}
}

// OneRun are the answers of a call for one run of a model.
func OneRun(content ...openapi.Content) []openapi.Answer {
	return []openapi.Answer{{Status: http.StatusOK, Description: "The run.", Headers: ToAll(Cache), Content: content}, RefusedQuery()}
}

// ManyRunsOf fills in what all calls for many runs have in common: lines with
// these settings, each answered by one of these runs or an error.
func ManyRunsOf(o openapi.Operation, settings string, runs ...string) openapi.Operation {
	const line = "The schema of one line."
	var answers []openapi.Schema
	for _, name := range append(runs, "Error") {
		answers = append(answers, openapi.Ref(name))
	}
	o.Tag = TagRuns
	o.Body = []openapi.Content{openapi.Lines(openapi.Ref(settings).Says(line))}
	o.Answers = []openapi.Answer{
		{Status: http.StatusOK, Description: "One line for each line that came, each ended by LF.", Headers: ToAll("no-store"), Content: []openapi.Content{openapi.Lines(openapi.OneOf(answers...).Says(line))}},
		RefusedQuery(),
	}
	return o
}

// ManyRunsBounds says what a call for many runs may have.
func ManyRunsBounds() string {
	return fmt.Sprintf("Each line of the body is one object of settings, and each is answered by one line in the same order. Answers come while lines are still being sent. "+
		"A line that cannot be taken is answered by an Error in its place, a blank line too, and the rest go on. A line may have %s bytes besides its end, LF or CR LF; the last one needs no end. "+
		"Line %s is answered by an Error, what follows it is read and dropped. The body may have %d MiB; past that the answer ends, after an Error where fewer than %s lines came whole. "+
		"The answers may have %d MiB. The line whose answer would pass that is answered by an Error that names the bound, and so is each later one. "+
		"A line that takes longer than %d s to come in ends the call, and so do %[6]d s in which nothing comes in and no answer can be sent.",
		Thousands(lineLimit), Thousands(MostLines+1), runsLimit>>20, Thousands(MostLines), answersLimit>>20, int(IdleLimit.Seconds()))
}

// Thousands writes a number from 1,000 on as prose does.
func Thousands(n int) string { return fmt.Sprintf("%d,%03d", n/1000, n%1000) }

// ModelParameter is the parameter that names the model.
func ModelParameter(number int) openapi.Parameter {
	return openapi.Parameter{Name: "model", Description: "The number of the model that is asked for. There is one so far.", Schema: openapi.Enum(number).Default(number)}
}

// Largest is the end of a setting's range.
func Largest[S any](table setting.Table[S], name string) setting.Time {
	c, _ := table.Find(name)
	return c.Max
}

// Smallest is the beginning of a setting's range.
func Smallest[S any](table setting.Table[S], name string) setting.Time {
	c, _ := table.Find(name)
	return c.Min
}
