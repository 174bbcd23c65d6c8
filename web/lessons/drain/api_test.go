package drain

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"io"
	"net/http"
	"strings"
	"testing"

	"drainlab/internal/sim"
)

func TestAPIRunAnswersTheSameBytesForTheSameSettings(t *testing.T) {
	srv := startServer(t)
	r := seeded(t)
	for range 40 {
		s := randomSettings(r)
		at := sim.Time(r.IntN(int(sim.Horizon) + 1))
		snap := sim.Simulate(s).At(at)
		query := string(s.AppendQuery(nil)) + "&t=" + at.String()
		// The order of the query, closing zeros and the model's number change nothing.
		pairs := strings.Split(query, "&")
		r.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		shuffled := strings.Join(pairs, "&") + "&model=1"
		for _, q := range []string{query, shuffled} {
			a := get(t, srv.URL+"/api/v1/run?"+q)
			a.wantType(t, http.StatusOK, "application/json")
			if want := append(snap.AppendJSON(nil), '\n'); !bytes.Equal(a.body, want) {
				t.Fatalf("%s:\n got %s\nwant %s", q, a.body, want)
			}
			a = get(t, srv.URL+"/api/v1/run?format=csv&"+q)
			a.wantType(t, http.StatusOK, "text/csv")
			if want := snap.AppendCSV(nil); !bytes.Equal(a.body, want) {
				t.Fatalf("%s as CSV:\n got %s\nwant %s", q, a.body, want)
			}
			rows, err := csv.NewReader(bytes.NewReader(a.body)).ReadAll()
			if err != nil || len(rows) != snap.Account.Arrivals+1 {
				t.Fatalf("%s: %d rows of CSV, %v, want %d and the header", q, len(rows), err, snap.Account.Arrivals)
			}
		}
	}
}

func TestAPIRunMayBeCachedAndReadFromAnyOrigin(t *testing.T) {
	srv := startServer(t)
	for _, path := range []string{"/api/v1/run", "/api/v1/run?format=csv", "/api/v1/run?t=30"} {
		whole := get(t, srv.URL+path)
		head := ask(t, http.MethodHead, srv.URL+path, nil, nil)
		for _, a := range []answered{whole, head} {
			if a.StatusCode != http.StatusOK {
				t.Errorf("%s %s: status %d", a.Request.Method, path, a.StatusCode)
			}
			a.wantHeader(t, "Cache-Control", "public, max-age=86400")
			a.wantHeader(t, "Access-Control-Allow-Origin", "*")
			a.wantHeader(t, "X-Content-Type-Options", "nosniff")
			a.wantHeader(t, "Set-Cookie", "")
		}
		if len(head.body) != 0 || len(whole.body) == 0 {
			t.Errorf("%s: HEAD has %d bytes, GET %d", path, len(head.body), len(whole.body))
		}
		head.wantHeader(t, "Content-Type", whole.Header.Get("Content-Type"))
	}
	csv := get(t, srv.URL+"/api/v1/run?format=csv")
	csv.wantHeader(t, "Content-Type", "text/csv; charset=utf-8; header=present")

	packed := ask(t, http.MethodGet, srv.URL+"/api/v1/run", http.Header{"Accept-Encoding": {"gzip"}}, nil)
	packed.wantHeader(t, "Content-Encoding", "gzip")
	packed.wantHeader(t, "Vary", "Accept-Encoding")
}

func TestAPIAnswersPreflights(t *testing.T) {
	srv := startServer(t)
	for path, method := range map[string]string{"/api/v1/run": "GET", "/api/v1/runs": "POST"} {
		a := ask(t, http.MethodOptions, srv.URL+path, http.Header{
			"Origin": {"https://elsewhere.test"}, "Access-Control-Request-Method": {method}, "Access-Control-Request-Headers": {"content-type"},
		}, nil)
		if a.StatusCode != http.StatusNoContent {
			t.Errorf("%s: status %d", path, a.StatusCode)
		}
		a.wantHeader(t, "Access-Control-Allow-Origin", "*")
		if allowed := a.Header.Get("Access-Control-Allow-Methods"); !strings.Contains(allowed, method) {
			t.Errorf("%s: methods %q, want %s among them", path, allowed, method)
		}
		if allowed := a.Header.Get("Access-Control-Allow-Headers"); !strings.EqualFold(allowed, "content-type") {
			t.Errorf("%s: headers %q", path, allowed)
		}
	}
}

func TestAPIRunRefusesBadInputAndSaysWhatIsAllowed(t *testing.T) {
	srv := startServer(t)
	long := strings.Repeat("9", 10_000)
	cases := []struct{ name, query, setting, got, allowed string }{
		{"above the range", "grace=30.1", "grace", "30.1", "from 0 to 30 s"},
		{"below the range", "interval=0.4", "interval", "0.4", "from 0.5 to 10 s"},
		{"a count below its range", "workers=0", "workers", "0", "from 1 to 4"},
		{"a fraction of a count", "slots=2.5", "slots", "2.5", "a whole number from 1 to 8"},
		{"a fraction of a percent", "allowance=20.5", "allowance", "20.5", "a whole number from 0 to 100 %"},
		{"finer than a tenth", "startup=4.05", "startup", "4.05", "in steps of 0.1 s"},
		{"an exponent", "duration=1e1", "duration", "1e1", "a plain decimal number"},
		{"hexadecimal", "duration=0x4", "duration", "0x4", "a plain decimal number"},
		{"no number", "signal=NaN", "signal", "NaN", "a plain decimal number"},
		{"a sign", "signal=-1", "signal", "-1", "a plain decimal number"},
		{"a plus, which is a space", "signal=+1", "signal", " 1", "a plain decimal number"},
		{"digits of another script", "signal=%D9%A4", "signal", "٤", "a plain decimal number"},
		{"an empty value", "grace=", "grace", "", "from 0 to 30 s"},
		{"a name without a value", "grace", "grace", "", "from 0 to 30 s"},
		{"a word for a toggle", "handler=true", "handler", "true", "1 (on) or 0 (off)"},
		{"a number for a toggle", "handler=2", "handler", "2", "1 (on) or 0 (off)"},
		{"an unknown name", "pods=3", "pods", "3", "there are workers, slots"},
		{"a name in capitals", "Grace=3", "Grace", "3", "there are workers, slots"},
		{"an empty name", "=3", "", "3", "there are workers, slots"},
		{"a name that belongs to the page", "speed=2", "speed", "2", "there are workers, slots"},
		{"a name twice", "grace=1&grace=2", "grace", "1, 2", "one value"},
		{"a name twice with one value", "handler=1&handler=1", "handler", "1, 1", "one value"},
		{"t outside the run", "t=60.1", "t", "60.1", "from 0 to 60 s"},
		{"t that is no number", "t=now", "t", "now", "a plain decimal number"},
		{"t twice", "t=1&t=2", "t", "1, 2", "one value"},
		{"a model that does not exist", "model=2", "model", "2", "1"},
		{"an unknown format", "format=xml", "format", "xml", "json or csv"},
		{"an empty format", "format=", "format", "", "json or csv"},
		{"a long value", "grace=" + long, "grace", long[:80] + "…", "from 0 to 30 s"},
		{"a long name", long + "=1", long[:80] + "…", "1", "there are workers, slots"},
		{"a long value cut between characters", "grace=x" + strings.Repeat("é", 100), "grace", "x" + strings.Repeat("é", 39) + "…", "from 0 to 30 s"},
		{"a long value that is no text", "grace=" + strings.Repeat("%80", 100), "grace", "…", "from 0 to 30 s"},
		{"markup", "grace=%3Cscript%3E", "grace", "<script>", "from 0 to 30 s"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a := get(t, srv.URL+"/api/v1/run?"+c.query)
			a.wantType(t, http.StatusBadRequest, "application/json")
			a.wantHeader(t, "Cache-Control", "no-store")
			a.wantHeader(t, "Access-Control-Allow-Origin", "*")
			e := a.readError(t)
			if e.Setting == nil {
				t.Fatalf("no setting is named: %s", a.body)
			}
			if text(e.Setting) != c.setting || text(e.Got) != c.got || !strings.Contains(text(e.Allowed), c.allowed) {
				t.Errorf("setting %q, got %q, allowed %q", *e.Setting, *e.Got, *e.Allowed)
			}
			if !strings.Contains(e.Error, "got ") || !strings.Contains(e.Error, "allowed: "+*e.Allowed) || len(e.Error) > 1000 {
				t.Errorf("the sentence: %s", e.Error)
			}
			if strings.Contains(string(a.body), "<script>") {
				t.Error("markup goes back as it came")
			}
		})
	}
}

// A query that cannot be read has no setting to blame.
func TestAPIRefusesAQueryThatCannotBeRead(t *testing.T) {
	srv := startServer(t)
	for name, query := range map[string]string{
		"a semicolon": "grace=1;slots=2", "a broken escape": "grace=%zz", "half an escape": "grace=1%", "a semicolon in a long query": strings.Repeat("a", 20_000) + ";",
		"more names than are read": strings.Repeat("a&", 30_000),
	} {
		t.Run(name, func(t *testing.T) {
			a := get(t, srv.URL+"/api/v1/run?"+query)
			a.wantType(t, http.StatusBadRequest, "application/json")
			e := a.readError(t)
			if len(a.body) > 1000 || !strings.Contains(e.Error, "got ") || !strings.Contains(e.Error, "allowed") {
				t.Errorf("%.2000s", a.body)
			}
		})
	}
	t.Run("settings of many runs in the query", func(t *testing.T) {
		a := ask(t, http.MethodPost, srv.URL+"/api/v1/runs?grace=10", nil, strings.NewReader("{}"))
		a.wantType(t, http.StatusBadRequest, "application/json")
		if e := a.readError(t); !strings.Contains(e.Error, `"grace=10"`) {
			t.Errorf("%s", e.Error)
		}
	})
}

func TestAPISurvivesAQueryBeyondTheHeaderLimit(t *testing.T) {
	srv := startServer(t)
	conn := dial(t, srv)
	request := "GET /api/v1/run?grace=" + strings.Repeat("9", 1<<20) + " HTTP/1.1\r\nHost: x\r\n\r\n"
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		io.WriteString(conn, request) // fails where the server has had enough
	}()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status %d", res.StatusCode)
	}
	conn.Close()
	<-sent
	get(t, srv.URL+"/api/v1/run").wantType(t, http.StatusOK, "application/json")
}

func TestAPIRefusesWrongMethodsAndAddresses(t *testing.T) {
	srv := startServer(t)
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"POST", "/api/v1/run", 405, "GET, HEAD, OPTIONS"},
		{"DELETE", "/api/v1/run?grace=1", 405, "GET, HEAD, OPTIONS"},
		{"BREW", "/api/v1/run", 405, "GET, HEAD, OPTIONS"},
		{"GET", "/api/v1/runs", 405, "POST, OPTIONS"},
		{"HEAD", "/api/v1/runs", 405, "POST, OPTIONS"},
		{"GET", "/api/v1/nothing", 404, ""},
		{"POST", "/api/v1/nothing", 404, ""},
		{"GET", "/api/v1/run/", 404, ""},
		{"GET", "/api/v1/", 404, ""},
		{"GET", "/api/v2/run", 404, ""},
		{"GET", "/api/", 404, ""},
		{"BREW", "/api/nothing", 404, ""},
	} {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			a := ask(t, c.method, srv.URL+c.path, nil, nil)
			a.wantType(t, c.status, "application/json")
			a.wantHeader(t, "Allow", c.allow)
			a.wantHeader(t, "Cache-Control", "no-store")
			a.wantHeader(t, "Access-Control-Allow-Origin", "*")
			if c.method == "HEAD" {
				return
			}
			if e := a.readError(t); e.Setting != nil {
				t.Errorf("a setting is to blame: %s", a.body)
			}
		})
	}
}
