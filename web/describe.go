package web

import (
	"net/http"

	"drainlab/internal/openapi"
	"drainlab/web/answer"
)

// describeService is the service's own part of the API's description.
func describeService() openapi.Part {
	var p openapi.Part
	p.Get("/api/v1/openapi.json", openapi.Operation{ID: "getDescription", Tag: answer.TagService, Summary: "This description",
		Answers: []openapi.Answer{{Status: http.StatusOK, Description: "An OpenAPI 3.1 document. It may be cached for an hour.", Content: []openapi.Content{openapi.JSON(openapi.Type("object"))}}}})
	plain := func(status int, text string) openapi.Answer {
		return openapi.Answer{Status: status, Description: text, Content: []openapi.Content{openapi.Plain()}}
	}
	p.Get("/livez", openapi.Operation{ID: "getLiveness", Tag: answer.TagService, Summary: "Is the process alive?", Answers: []openapi.Answer{plain(http.StatusOK, "Yes.")}})
	p.Get("/readyz", openapi.Operation{ID: "getReadiness", Tag: answer.TagService, Summary: "May traffic be sent here?", Answers: []openapi.Answer{
		plain(http.StatusOK, "Yes."),
		plain(http.StatusServiceUnavailable, "No: it is draining, or the session store does not answer."),
	}})
	return p
}

// describeRefusals is what the lessons' operations have in common.
func describeRefusals() openapi.Part {
	var p openapi.Part
	p.Schema("Error", openapi.Object("Why a query or a line is refused. Where one parameter or setting is to blame, all four members are there, else only the sentence. Names and values longer than 80 bytes are cut.").
		Has("error", openapi.Text().Long(1, 0).Says("One sentence for a person.")).
		Maybe("setting", openapi.Text().Long(0, 81).Says("The name as it was given.")).
		Maybe("got", openapi.Text().Long(0, 81).Says("The value as it was given.")).
		Maybe("allowed", openapi.Text().Long(1, 0).Says("What is allowed, in words.")).
		Together("setting", "got", "allowed"))
	return p
}
