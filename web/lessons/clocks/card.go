package clocks

import (
	"fmt"
	"io"
	"strings"

	model "drainlab/internal/clocks"
	"drainlab/internal/picture"
	"drainlab/internal/setting"
)

// card draws what other sites show with a link.
func (r *Run) card(w io.Writer, t setting.Time) error {
	subtitle, lines := r.cardText(t)
	return picture.TextCard(w, title, subtitle, lines)
}

// cardText is what a card says of a run at t: the verdict, and then the
// figures that make it. Before the end it says the question alone.
func (r *Run) cardText(t setting.Time) (subtitle string, lines []string) {
	on := ""
	if p := r.view.platform; p != nil {
		on = " on " + p.Name
	}
	lines = []string{fmt.Sprintf("Grace %s s%s: the kill is at %s s", r.Settings.Grace, on, r.Instants.Kill)}
	if !r.seen(t) {
		a := r.at(t)
		lines = append(lines, fmt.Sprintf("At %s s: %s waiting, %d completed; %d rejected", t, count(a.open, "request", "requests"), a.completed, a.rejected))
		return "Which clock cuts the longest request, and whose is it?", lines
	}
	lines = append(lines, planLines(r.Budget)...)
	a := r.Account
	lines = append(lines, fmt.Sprintf("%s admitted, %d completed; %d rejected", count(a.Admitted, "request", "requests"), a.Completed, a.Rejected))
	if r.Passes() {
		return "PASS: nothing admitted is lost, and the process leaves by itself at " + r.Run.End.String() + " s", lines
	}
	losses := lossTexts(r.Run)
	for _, loss := range losses[1:] {
		lines = append(lines, strings.ToUpper(loss[:1])+loss[1:])
	}
	return "FAIL: " + losses[0], lines
}

func planLines(b model.Budget) []string {
	if b.Need == model.Never {
		return []string{"The signal is not handled: there is no plan"}
	}
	text := fmt.Sprintf("The plan needs %s s: %s s to spare", b.Need, b.Slack)
	if b.Slack < 0 {
		text = fmt.Sprintf("The plan needs %s s: an overrun of %s s", b.Need, -b.Slack)
	}
	return []string{text, fmt.Sprintf("Hook and delivery %s s, drain %s s, cleanup %s s, margin %s s", b.Term, b.Remaining, b.Cleanup, b.Margin)}
}
