package clocks

import (
	"strconv"
	"strings"

	model "drainlab/internal/clocks"
	"drainlab/internal/setting"
	"drainlab/web/templates"
)

// signed prints an instant with a true minus sign.
func signed(t setting.Time) string { return strings.Replace(t.String(), "-", "−", 1) }

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

func outcomeText(o model.Outcome) string {
	return [...]string{"completed", "failed at its deadline", "cancelled by the server's timeout", "killed", "rejected at the gate", "refused"}[o]
}

func shortOutcome(o model.Outcome) string {
	return [...]string{"completed", "deadline", "cancelled", "killed", "rejected", "refused"}[o]
}

func workText(w model.WorkOutcome) string {
	return [...]string{"completed", "confirmed stopped", "unknown", "not started"}[w]
}

// gateWords are the admission gate's settings for a person.
var gateWords = map[string]string{"prestop": "at 0", "term": "at the signal", "none": "never"}

// shortName is a control's label where the one before it is not there to read.
func shortName(c model.Control) string {
	short := map[string]string{"long": "Long request", "long_age": "Age of the long request", "deadline": "Request deadline", "stop_check": "Backend work acknowledges within"}
	if name := short[c.Name]; name != "" {
		return name
	}
	return c.Label
}

func valueText(c *model.Control, v setting.Time) string {
	if c.Words != nil {
		return gateWords[c.Words[v]]
	}
	return c.Say(v)
}

// percent is a share of a span, as SVG has a place or a size.
func percent(part, whole setting.Time) string { return templates.Percent(int(part), int(whole)) }
