package clocks

import (
	"strconv"

	model "drainlab/internal/clocks"
	"drainlab/internal/course"
)

// about is what to take from the lesson, and what exactly it computes.
type about struct {
	Story    story
	Cases    []aboutCase
	Presets  []preset
	LookedUp string
	API      string // the address of these settings as JSON
}

// aboutCase is a worked case with what it leads to.
type aboutCase struct{ Title, Ask, Outcome, Href string }

// preset is a platform's figures as its documentation has them.
type preset struct{ Name, Signal, Grace, Most, Includes, Document, URL string }

// story is the figures that the prose quotes; all are computed.
type story struct {
	OpeningNeed, OpeningKill, OpeningSlack  string
	OpeningTerm, OpeningRemaining           string
	Refused, Lag, HookEnough                string
	BudgetExit, BudgetLong                  string
	CutKill, CutLeft                        string
	StreamTimeout, StreamCancel, StreamStop string
	StreamLong, StreamExit                  string
}

// AboutPage says what to take from the lesson, exactly what is computed, what a
// PASS does not say, and where the platforms' figures are from.
func (*Lesson) AboutPage(link course.Link) course.Component {
	v := about{Story: newStory(), LookedUp: model.LookedUp, API: link.View.(View).api()}
	for _, c := range cases {
		v.Cases = append(v.Cases, aboutCase{Title: c.title, Ask: c.ask, Outcome: outcome(c.run()), Href: c.view().address(c.view())})
	}
	for _, p := range model.Platforms() {
		row := preset{Name: p.Name, Signal: p.Signal, Grace: p.Grace.String() + " s", Most: "no maximum named", Includes: p.Includes, Document: p.Document, URL: p.URL}
		if p.Most != model.Never {
			row.Most = p.Most.String() + " s " + p.MostWhere
		}
		v.Presets = append(v.Presets, row)
	}
	return aboutBody(v)
}

func newStory() story {
	open := model.Simulate(model.Opening())
	lag, hook, fits, cut, short, whole := cases[caseLag].run(), cases[caseHook].run(), cases[caseBudget].run(), cases[caseCut].run(), cases[caseShort].run(), cases[caseWhole].run()
	cutLong, _ := longRequest(cut)
	shortLong, _ := longRequest(short)
	wholeLong, _ := longRequest(whole)
	b := open.Budget
	return story{
		OpeningNeed: b.Need.String(), OpeningKill: open.Instants.Kill.String(), OpeningSlack: b.Slack.String(), OpeningTerm: b.Term.String(), OpeningRemaining: b.Remaining.String(),
		Refused: strconv.Itoa(lag.Account.Refused), Lag: lag.Instants.RouterStop.String(), HookEnough: hook.Settings.Prestop.String(),
		BudgetExit: fits.End.String(), BudgetLong: fits.Settings.Long.String(),
		CutKill: cut.End.String(), CutLeft: (cutLong.Arrival + cutLong.Duration - cut.End).String(),
		StreamTimeout: short.Settings.ServerTimeout.String(), StreamCancel: shortLong.EndedAt.String(), StreamStop: shortLong.WorkEndedAt.String(),
		StreamLong: wholeLong.EndedAt.String(), StreamExit: whole.End.String(),
	}
}
