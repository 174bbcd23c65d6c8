package ledgers

import (
	"drainlab/internal/course"
	"drainlab/internal/ledger"
	"drainlab/web/answer"
)

// sheet is a run's answers on paper.
type sheet struct {
	Picture string // address
	Alt     string
	Note    string // where the run is from
	Other   bool   // it is of other settings than the sheet's
	Rows    []row  // but for the process
	Ledgers string // both in a sentence
	May     string // whether the release may go on
}

// Sheet implements [answer.HandedOut]: what to say before a run of the link's
// settings, and what the run came to that the link shows.
func (l *Lesson) Sheet(link course.Link, _ string) (questions, key course.Component) {
	v := link.View.(view)
	s := v.show()
	if !s.run.ended() || s.run.Result == nil {
		s = shown{lesson: l, run: l.recorded.run, source: fromRecording}
	}
	report := s.run.report()
	p := buildPicture(s.run, report)
	k := sheet{Picture: link.At("picture.svg"), Alt: p.Summary, Note: s.origin(), Other: s.run.Settings != v.settings, Ledgers: outcomes(report)}
	for _, r := range p.Rows {
		if r.Part != "process" {
			k.Rows = append(k.Rows, r)
		}
	}
	k.May = decision((ledger.Policy{}).Decide(report))
	return sheetQuestions([]string{"short", "stream", "block", "late"}), sheetKey(k)
}

// Files implements [answer.Offering]: the run and its record, where the server
// keeps one.
func (l *Lesson) Files(link course.Link) []answer.Download {
	s := link.View.(view).show()
	if s.source != fromHere {
		return nil
	}
	return []answer.Download{
		{Name: "The run, JSON", Href: apiPath + "/" + s.run.ID},
		{Name: "Its record, JSON lines", Href: apiPath + "/" + s.run.ID + "/record"},
	}
}
