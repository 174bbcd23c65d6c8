package drainlab_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// inWeb are web's files from the top down: a file may use what files below it
// declare, and nothing of those above it. Routes, then what they lead to, then
// what pages are filled with, then how errors are answered and what all stand on.
var inWeb = []string{
	"server.go",     // makes the server, drains it, lends its tools to lessons
	"routes.go",     // every address
	"middleware.go", // around every answer
	"home.go",       // the way in
	"teach.go",      // the instructors' link builder
	"hosts.go",      // how a lesson comes into each host
	"doctor.go",     // what a host lets a frame do
	"oembed.go",     // how a host is told of a frame
	"handout.go",    // a run on paper
	"share.go",      // links, frames and files of a view
	"sessions.go",   // sessions made, shown, commanded, streamed
	"command.go",    // what a form asks for
	"page.go",       // any lesson's page
	"wayback.go",    // from a refused value to a page with all others
	"card.go",       // pictures of a view
	"watch.go",      // a session's frames to its viewers
	"describe.go",   // the service's own part of the API's description
	"probes.go",     // readiness
	"fail.go",       // errors into responses
	"house.go",      // the server's parts, and what every page has
	"pictures.go",   // pictures that are kept
	"static.go",     // files under names that hold their content
}

func TestTheFilesOfWebDependOnEachOtherInOneDirection(t *testing.T) {
	for _, wrong := range upward(t, "web", inWeb) {
		t.Error(wrong)
	}
}

// upward lists what a package's files use of files above them in the list, and
// files that the list has not or that are not there.
func upward(t *testing.T, folder string, order []string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var wrong []string
	files := map[string]*ast.File{}
	for _, path := range paths {
		name := filepath.Base(path)
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if !slices.Contains(order, name) {
			wrong = append(wrong, folder+"/"+name+" has no place in the order: see files_test.go")
			continue
		}
		if files[name], err = parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution); err != nil {
			t.Fatal(err)
		}
	}
	if len(files) != len(order) {
		wrong = append(wrong, "the order names files that are not there")
	}
	declared := map[string]int{} // where each name of the package is
	for name, file := range files {
		for _, of := range declarations(file) {
			declared[of] = slices.Index(order, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		seen, imported := map[string]bool{}, importsOf(files[name])
		ast.Inspect(files[name], func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if of, ok := s.X.(*ast.Ident); ok && imported[of.Name] {
					return false // another package's
				}
			}
			id, ok := n.(*ast.Ident)
			if !ok || seen[id.Name] {
				return true
			}
			if at, ours := declared[id.Name]; ours && at < slices.Index(order, name) {
				seen[id.Name] = true
				wrong = append(wrong, folder+"/"+name+" uses "+id.Name+" of "+order[at]+", which stands above it")
			}
			return true
		})
	}
	return wrong
}

// importsOf are the names by which a file calls other packages.
func importsOf(file *ast.File) map[string]bool {
	names := map[string]bool{}
	for _, spec := range file.Imports {
		path := strings.Trim(spec.Path.Value, `"`)
		names[path[strings.LastIndexByte(path, '/')+1:]] = true
	}
	return names
}

// declarations are the names that a file declares for its package, methods
// among them but for those that an interface asks for, which have capitals.
func declarations(file *ast.File) []string {
	var names []string
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || !ast.IsExported(d.Name.Name) {
				names = append(names, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, spec.Name.Name)
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						names = append(names, id.Name)
					}
				}
			}
		}
	}
	return names
}
