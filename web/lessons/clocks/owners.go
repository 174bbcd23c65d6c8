package clocks

import (
	model "drainlab/internal/clocks"
	"drainlab/internal/course"
	"drainlab/web/answer"
)

// matrixFile is the timeout-ownership matrix in one format.
type matrixFile struct {
	name, title, kind string
	write             func(*model.Run, *model.Platform) []byte
}

var matrixFiles = []matrixFile{
	{"matrix.md", "Markdown", "text/markdown; charset=utf-8", (*model.Run).MatrixMarkdown},
	{"matrix.csv", "CSV", "text/csv; charset=utf-8", (*model.Run).MatrixCSV},
	{"matrix.json", "JSON", "application/json", (*model.Run).MatrixJSON},
}

// owners is the matrix on the stage.
type owners struct {
	Waits bool // the instants at which clocks end are told at the run's end
	Head  []string
	Rows  [][]string
}

func newOwners(r *Run, link course.Link) owners {
	if !link.Seen() {
		return owners{Waits: true}
	}
	v := owners{Head: model.MatrixHead()}
	for _, o := range r.Matrix(r.view.platform) {
		v.Rows = append(v.Rows, []string{o.Clock, o.Owner, o.Value, o.Starts, o.Ends, o.NoPromise, o.Evidence})
	}
	return v
}

// exports are the matrix to take away, and the same values in the platforms'
// own words.
type exports struct {
	Waits     bool
	Downloads []answer.Download
	List      []exportText
}

// exportText is the values in a platform's own words.
type exportText struct {
	ID, Name, Href, Text, Note string
	Open                       bool // of the chosen platform
}

func newExports(r *Run, link course.Link) exports {
	if !link.Seen() {
		return exports{Waits: true}
	}
	var v exports
	for _, f := range matrixFiles {
		v.Downloads = append(v.Downloads, answer.Download{Name: f.title, Href: r.view.file(f.name)})
	}
	chosen := platformID(r.view.platform)
	if chosen == noPlatform {
		chosen = "kubernetes"
	}
	for _, e := range r.Exports() {
		v.List = append(v.List, exportText{ID: e.ID, Name: e.Name, Text: string(e.Content), Note: e.Note, Open: e.Platform == chosen, Href: r.view.file(e.ID)})
	}
	return v
}
