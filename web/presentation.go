package web

import (
	"net/url"
	"slices"
	"strings"

	"drainlab/internal/setting"
	"drainlab/web/templates"
)

// presentation is what an author's link asks of the page beside its view.
type presentation struct {
	Hide    []string // parts of the page that are left out, in the order of hideable
	Lock    []string // settings that a learner cannot change, in the contract's order
	Predict bool     // a prediction must be committed before the run is seen
}

// hideable are the parts of a lesson that a link can leave out.
var hideable = []string{"controls", "trace", "results", "inspector", "text"}

// takePresentation takes hide, lock and predict out of a query. settings are
// the names that can be locked.
func takePresentation(query url.Values, settings []string) (presentation, error) {
	var p presentation
	for _, name := range []string{"hide", "lock"} { // as checkboxes send them
		if given := query[name]; len(given) > 1 {
			query[name] = []string{strings.Join(given, ",")}
		}
	}
	err := takeParam(query, "hide", func(text string) (err error) {
		p.Hide, err = parseNames("hide", text, hideable)
		return err
	})
	if err != nil {
		return p, err
	}
	err = takeParam(query, "lock", func(text string) (err error) {
		p.Lock, err = parseNames("lock", text, append(slices.Clone(settings), "all"))
		if slices.Contains(p.Lock, "all") {
			p.Lock = slices.Clone(settings)
		}
		return err
	})
	if err != nil {
		return p, err
	}
	err = takeParam(query, "predict", func(text string) error {
		if text != "required" {
			return &setting.Error{Setting: "predict", Got: text, Allowed: "required"}
		}
		p.Predict = true
		return nil
	})
	return p, err
}

// parseNames reads names with commas between, each once, and returns them in
// the order of those that are allowed.
func parseNames(param, text string, allowed []string) ([]string, error) {
	refused := &setting.Error{Setting: param, Got: text, Allowed: "some of " + strings.Join(allowed, ", ") + ", with commas between, each once"}
	given := strings.Split(text, ",")
	var list []string
	for _, name := range allowed {
		if slices.Contains(given, name) {
			list = append(list, name)
		}
	}
	if len(list) != len(given) {
		return nil, refused
	}
	return list, nil
}

// appendTo appends the presentation to a query.
func (p presentation) appendTo(query string, settings []string) string {
	if p.Predict {
		query += "&predict=required"
	}
	if len(p.Hide) > 0 {
		query += "&hide=" + strings.Join(p.Hide, ",")
	}
	if len(p.Lock) > 0 && len(p.Lock) == len(settings) {
		query += "&lock=all"
	} else if len(p.Lock) > 0 {
		query += "&lock=" + strings.Join(p.Lock, ",")
	}
	return query
}

func (p presentation) hides(part string) bool { return slices.Contains(p.Hide, part) }

func (p presentation) locks(name string) bool { return slices.Contains(p.Lock, name) }

// hideOptions are the parts that can be left out, by their names on the page.
func (p presentation) hideOptions(names map[string]string) []templates.Option {
	list := make([]templates.Option, len(hideable))
	for i, part := range hideable {
		list[i] = templates.Option{Value: part, Name: names[part], Chosen: p.hides(part)}
	}
	return list
}
