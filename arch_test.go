package drainlab_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "drainlab"

// room says what the packages of one folder may import.
type room struct {
	// ours are the rooms that it may import; "*" is all but those for tests.
	ours []string
	// pure: of others' packages, the standard library alone.
	pure bool
	// pureTests: its tests import the standard library and itself alone.
	pureTests bool
	// forTests: what other packages' tests share, and no code imports.
	forTests bool
}

// rooms is the import table. What can be computed is pure; what waits or talks
// goes around it.
var rooms = map[string]room{
	"internal/setting":             {pure: true},
	"internal/openapi":             {ours: []string{"internal/setting"}, pure: true},
	"internal/sim":                 {ours: []string{"internal/setting"}, pure: true, pureTests: true},
	"internal/clocks":              {ours: []string{"internal/setting"}, pure: true, pureTests: true},
	"internal/picture":             {},
	"internal/picture/picturetest": {ours: []string{"internal/picture"}, forTests: true},
	"internal/ledger":              {pure: true},
	"internal/lifecycle":           {ours: []string{"internal/ledger"}},
	"internal/drill":               {ours: []string{"internal/ledger"}},
	"internal/fixture":             {ours: []string{"internal/setting", "internal/ledger", "internal/lifecycle"}},
	"internal/course":              {ours: []string{"internal/setting"}, pure: true},
	"internal/course/coursetest":   {ours: []string{"internal/course", "internal/setting"}, pure: true, forTests: true},
	"internal/session":             {ours: []string{"internal/course", "internal/setting"}},
	"internal/session/storetest":   {ours: []string{"internal/course", "internal/course/coursetest", "internal/session", "internal/setting"}, forTests: true},
	"internal/natsstore":           {ours: []string{"internal/session"}},
	"web/wire":                     {ours: []string{"internal/lifecycle", "internal/session"}},
	"web/answer":                   {ours: []string{"internal/course", "internal/openapi", "internal/setting", "web/wire"}},
	"web/templates":                {ours: []string{"internal/course", "internal/setting"}},
	"web/lessons/drain":            {ours: append(lessonRooms, "internal/sim")},
	"web/lessons/ledgers":          {ours: append(lessonRooms, "internal/drill", "internal/fixture", "internal/ledger")},
	"web/lessons/clocks":           {ours: append(lessonRooms, "internal/clocks")},
	"web/toy":                      {ours: lessonRooms, forTests: true},
	"web":                          {ours: []string{"internal/course", "internal/openapi", "internal/picture", "internal/session", "internal/setting", "web/answer", "web/templates", "web/wire"}},
	"cmd/server":                   {ours: []string{"*"}},
	"cmd/drill":                    {ours: []string{"internal/drill", "internal/ledger"}},
}

// lessonRooms are what a lesson's folder may import beside its own model.
var lessonRooms = []string{"internal/course", "internal/openapi", "internal/picture", "internal/setting", "web/answer", "web/templates", "web/wire"}

// listed is what `go list -json` tells of a package.
type listed struct {
	ImportPath                         string
	GoFiles                            []string
	Imports, TestImports, XTestImports []string
}

func TestEveryPackageImportsOnlyWhatItsRoomMay(t *testing.T) {
	openFolders(t)
	standard := map[string]bool{}
	for _, path := range strings.Fields(string(command(t, "go", "list", "std"))) {
		standard[path] = true
	}
	packages := json.NewDecoder(bytes.NewReader(command(t, "go", "list", "-json=ImportPath,GoFiles,Imports,TestImports,XTestImports", "./...")))
	seen := 0
	for {
		var p listed
		err := packages.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		seen++
		for _, wrong := range breaches(p, standard) {
			t.Error(wrong)
		}
	}
	if seen < 2 {
		t.Errorf("go list named %d packages: the test looks at nothing", seen)
	}
}

// breaches says in what the package breaks the table.
func breaches(p listed, standard map[string]bool) []string {
	name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
	tests := slices.Concat(p.TestImports, p.XTestImports)
	if name == "" { // the module's root has tests such as this one, and no code
		if len(p.GoFiles) > 0 {
			return []string{fmt.Sprintf("the module's root holds %v: code has a room, see rooms in arch_test.go", p.GoFiles)}
		}
		return nil
	}
	may, ok := rooms[name]
	if !ok {
		return []string{fmt.Sprintf("%s is not in the import table: add it to rooms in arch_test.go and say what it may import", name)}
	}
	var wrong []string
	for _, path := range p.Imports {
		switch ours, isOurs := strings.CutPrefix(path, module+"/"); {
		case isOurs:
			if !slices.Contains(may.ours, ours) && (rooms[ours].forTests || !slices.Contains(may.ours, "*")) {
				wrong = append(wrong, fmt.Sprintf("%s imports %s; of ours it may import %v", name, ours, may.ours))
			}
		case may.pure && !standard[path]:
			wrong = append(wrong, fmt.Sprintf("%s imports %s; it may import the standard library alone", name, path))
		}
	}
	if may.pureTests {
		for _, path := range tests {
			if !standard[path] && path != p.ImportPath {
				wrong = append(wrong, fmt.Sprintf("a test of %s imports %s; it may import the standard library and %s alone", name, path, name))
			}
		}
	}
	return wrong
}

func TestBreachesOfTheTableAreSeen(t *testing.T) {
	standard := map[string]bool{"fmt": true, "net/http": true}
	for name, c := range map[string]struct {
		p    listed
		want string // part of the one message; empty: none
	}{
		"the standard library":              {listed{ImportPath: "drainlab/internal/sim", Imports: []string{"fmt", "net/http"}}, ""},
		"a room that it may import":         {listed{ImportPath: "drainlab/internal/session", Imports: []string{"drainlab/internal/course", "example.org/x"}}, ""},
		"all rooms from cmd/server":         {listed{ImportPath: "drainlab/cmd/server", Imports: []string{"drainlab/internal/natsstore"}}, ""},
		"tests may import more":             {listed{ImportPath: "drainlab/internal/ledger", XTestImports: []string{"drainlab/web"}}, ""},
		"a root with tests alone":           {listed{ImportPath: "drainlab", XTestImports: []string{"fmt"}}, ""},
		"a room that it may not import":     {listed{ImportPath: "drainlab/web", Imports: []string{"drainlab/internal/natsstore"}}, "web imports internal/natsstore"},
		"a package for tests from code":     {listed{ImportPath: "drainlab/cmd/server", Imports: []string{"drainlab/internal/session/storetest"}}, "cmd/server imports internal/session/storetest"},
		"a foreign package in a pure room":  {listed{ImportPath: "drainlab/internal/clocks", Imports: []string{"example.org/x"}}, "standard library alone"},
		"a model in the room of any lesson": {listed{ImportPath: "drainlab/internal/session", Imports: []string{"drainlab/internal/sim"}}, "session imports internal/sim"},
		"another room in a pure room":       {listed{ImportPath: "drainlab/internal/sim", Imports: []string{"drainlab/internal/session"}}, "sim imports internal/session"},
		"a foreign package in a pure test":  {listed{ImportPath: "drainlab/internal/sim", TestImports: []string{"example.org/x"}}, "a test of internal/sim"},
		"a package that the table has not":  {listed{ImportPath: "drainlab/internal/helpers"}, "not in the import table"},
		"code in the root":                  {listed{ImportPath: "drainlab", GoFiles: []string{"x.go"}}, "the module's root holds"},
	} {
		t.Run(name, func(t *testing.T) {
			got := breaches(c.p, standard)
			if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
				t.Errorf("got %q, want one with %q", got, c.want)
			}
		})
	}
}

func TestNoModuleIsReplaced(t *testing.T) {
	for _, file := range []string{"go.mod", "tools/go.mod"} {
		var mod struct {
			Replace []struct{ Old struct{ Path string } }
		}
		if err := json.Unmarshal(command(t, "go", "mod", "edit", "-json", file), &mod); err != nil {
			t.Fatal(err)
		}
		for _, r := range mod.Replace {
			t.Errorf("%s replaces %s: it then builds only where the replacement is", file, r.Old.Path)
		}
	}
}

func TestPackageLockNamesNoDownloadAddress(t *testing.T) {
	data, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct{ Resolved, Integrity string }
	}
	if err := json.Unmarshal(data, &lock); err != nil {
		t.Fatal(err)
	}
	if len(lock.Packages) < 2 {
		t.Errorf("package-lock.json holds %d packages", len(lock.Packages))
	}
	for name, p := range lock.Packages {
		if p.Resolved != "" {
			t.Errorf("%s is locked to an address: set omit-lockfile-registry-resolved, as .npmrc does, and lock it again", name)
		}
		if name != "" && p.Integrity == "" {
			t.Errorf("%s is locked without a checksum", name)
		}
	}
}

// stray finds in a file's text what only one machine or one moment knows.
var stray = []struct {
	what string
	is   *regexp.Regexp
}{
	{"a conflict marker", regexp.MustCompile(`(?m)^(<{7}|>{7}|\|{7})( |$)`)},
	{"a path of one machine", regexp.MustCompile(`/(work|home|root)/[a-z]`)},
	{"a registry's host", regexp.MustCompile(`(?i)goproxy|\bproxy\.golang\.org|\bregistry\.[a-z0-9-]+\.[a-z]{2,}|\bdeb\.debian\.org`)},
}

func TestNoFileHoldsWhatIsOneMachines(t *testing.T) {
	if _, err := os.Stat(".git"); err != nil {
		t.Skip("not a git work tree: there is no list of the files")
	}
	openFolders(t)
	seen := 0
	for name := range strings.SplitSeq(string(command(t, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")), "\x00") {
		data, err := os.ReadFile(name)
		if name == "" || name == "arch_test.go" || errors.Is(err, fs.ErrNotExist) {
			continue // this one holds the patterns; a removed file is still listed
		}
		if err != nil {
			t.Fatal(err)
		}
		seen++
		if bytes.IndexByte(data, 0) >= 0 {
			continue // a picture
		}
		for _, s := range stray {
			if found := s.is.FindIndex(data); found != nil {
				line := 1 + bytes.Count(data[:found[0]], []byte("\n"))
				t.Errorf("%s:%d: %s: %q", filepath.ToSlash(name), line, s.what, data[found[0]:found[1]])
			}
		}
	}
	if seen < 10 {
		t.Errorf("git named %d files: the test looks at nothing", seen)
	}
}

func TestStrayTextIsSeen(t *testing.T) {
	for text, want := range map[string]string{
		"x\n<<<<<<< HEAD\n":                      "a conflict marker",
		"cd /work/main":                          "a path of one machine",
		"https://registry.example.org/left-pad":  "a registry's host",
		"export GOPROXY=direct":                  "a registry's host",
		"Title\n=======\n":                       "",
		"the metrics' registry.MustRegister(x)":  "",
		"/var/lib/drainlab and work/in progress": "",
	} {
		got := ""
		for _, s := range stray {
			if s.is.MatchString(text) {
				got += s.what
			}
		}
		if got != want {
			t.Errorf("in %q: got %q, want %q", text, got, want)
		}
	}
}

// command runs a command in the module's root, where this test runs, and
// returns what it printed.
func command(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Logf("%s", exit.Stderr)
		}
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return out
}

// openFolders opens every folder of ours. The go command remembers what a test
// has opened, but not what the commands did that it ran: so a result from the
// cache is not taken once something in the folders has changed.
func openFolders(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (path == ".git" || path == "bin" || path == "node_modules") {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
