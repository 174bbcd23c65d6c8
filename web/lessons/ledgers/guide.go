package ledgers

import "fmt"

// guide is the guided steps, each of which starts a run.
type guide struct{ Steps []guideStep }

type guideStep struct {
	N                       int
	ID, Title, Ask, Outcome string
	Shown, Applied          bool
	How                     string
}

func (s shown) guide() guide {
	var v guide
	for i, t := range steps() {
		g := guideStep{N: i + 1, ID: t.id, Title: t.title, Ask: t.ask, Applied: s.applies(t), Shown: s.shows(t),
			How: fmt.Sprintf("Step %d, not shown by this run", i+1)}
		if g.Shown {
			g.How = fmt.Sprintf("Step %d, shown by this run", i+1)
			g.Outcome = outcomes(s.run.Result.Report)
		}
		v.Steps = append(v.Steps, g)
	}
	return v
}
