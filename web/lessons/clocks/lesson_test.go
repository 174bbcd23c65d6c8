package clocks

import (
	"net/http"
	"strings"
	"testing"

	model "drainlab/internal/clocks"
	"drainlab/internal/course"
)

func TestFilesAreMadeOfTheViewsValues(t *testing.T) {
	srv := served(t)
	for _, f := range []struct{ file, kind, name, want string }{
		{"matrix.md", "text/markdown", "matrix.md", "# Timeout ownership\n\nDocker. Verdict "},
		{"matrix.csv", "text/csv", "matrix.csv", "Clock,Owner,Value,"},
		{"matrix.json", "application/json", "matrix.json", `"platform": "Docker"`},
		{"kubernetes", "application/yaml", "termination.yaml", "terminationGracePeriodSeconds"},
		{"docker", "text/x-shellscript", "stop.sh", "docker stop"},
		{"systemd", "text/plain", "termination.conf", "TimeoutStopSec"},
		{"ecs", "application/json", "termination.json", "stopTimeout"},
		{"fly", "application/toml", "termination.toml", "kill_timeout"},
		{"nomad", "text/plain", "termination.hcl", "kill_timeout"},
		{"render", "application/yaml", "render.yaml", "maxShutdownDelaySeconds"},
	} {
		for _, path := range []string{"/lessons/clocks/files/", "/embed/lessons/clocks/files/"} {
			a := get(t, srv, path+f.file+"?platform=docker&grace=42.5&hide=text&x=long")
			a.wantType(t, http.StatusOK, f.kind)
			a.wantHeader(t, "Content-Disposition", `attachment; filename="`+f.name+`"`)
			if !strings.Contains(string(a.body), f.want) {
				t.Errorf("%s is %.300s", f.file, a.body)
			}
		}
	}
	get(t, srv, "/lessons/clocks/files/other").wantType(t, http.StatusNotFound, "text/html")
	get(t, srv, "/lessons/clocks/files/matrix.md?grace=9999").wantType(t, http.StatusBadRequest, "text/html")
}

func TestAChangeThatALinkLocksIsToldAndNotToBeTried(t *testing.T) {
	query := "server_timeout=10&long=25"
	open, locked := linkOf(t, query), linkOf(t, query+"&lock=server_timeout")
	of := func(link course.Link) map[string]fix {
		byID := map[string]fix{}
		for _, f := range newFixes(link.View.(View).run(), link).Changes {
			byID[f.ID] = f
		}
		return byID
	}
	if f := of(open)["pass-server_timeout"]; f.Set != "server_timeout=15" || f.Href != "/lessons/clocks?server_timeout=15&long=25" {
		t.Errorf("%+v", f)
	}
	if f := of(locked)["pass-server_timeout"]; f.Text == "" || f.Set != "" || f.Href != "" {
		t.Errorf("locked it is %+v", f)
	}
	for id, f := range of(locked) {
		if id != "pass-server_timeout" && !strings.HasSuffix(f.Href, "&lock=server_timeout") {
			t.Errorf("%s leads to %s", id, f.Href)
		}
	}
}

func TestWhatAnInstructorMayStartWithCanBeOpened(t *testing.T) {
	for _, start := range New().Starts() {
		v := viewOf(t, start.Query)
		if p, ok := model.FindPlatform(start.ID); ok && v.settings != p.On(model.Opening()) {
			t.Errorf("%s starts with %s", start.ID, v.settings.AppendQuery(nil))
		}
	}
}

func TestThePageAndWhatIsBesideItAreServed(t *testing.T) {
	srv := served(t)
	for path, want := range map[string]string{
		"/lessons/clocks": "Platform grace", "/lessons/clocks?panel=owners": "Evidence to collect", "/lessons/clocks?panel=map&t=3": "it is told at the run&#39;s end",
		"/embed/lessons/clocks?model=1&gate=term&signal_handled=0&long=0&margin=5&hook_in_grace=0": "no plan: the signal is not handled",
		"/lessons/clocks/about": "What a PASS does not say", "/lessons/clocks/about?grace=50": "/api/v1/clocks?grace=50&amp;hook_in_grace=1",
		"/lessons/clocks/share": "matrix.md", "/lessons/clocks/parts?t=0&panel=budget": "Told at the run's end", "/lessons/clocks/handout": "Outer termination grace",
	} {
		a := get(t, srv, path)
		a.wantType(t, http.StatusOK, "text/html")
		if !strings.Contains(string(a.body), want) {
			t.Errorf("%s does not say %q", path, want)
		}
	}
	get(t, srv, "/lessons/clocks/card.png").wantType(t, http.StatusOK, "image/png")
}
