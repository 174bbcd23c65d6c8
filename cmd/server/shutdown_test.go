package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"drainlab/internal/ledger"
)

// readUntil reads a stream's lines until one has part in it.
func readUntil(r *bufio.Reader, part string) error {
	for {
		line, err := r.ReadString('\n')
		if strings.Contains(line, part) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("before %q: %w", part, err)
		}
	}
}

// crowd is what a busy server holds when the signal comes.
type crowd struct {
	t       *testing.T
	server  *process
	streams []*bufio.Reader
	writes  []*io.PipeWriter // bodies of requests that are still coming
	slow    chan error       // how those requests ended
}

const (
	crowdStreams = 200
	crowdSlow    = 20
)

func gather(t *testing.T, server *process) *crowd {
	t.Helper()
	c := &crowd{t: t, server: server, slow: make(chan error, crowdSlow)}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: transport}
	do := func(method, path string, body io.Reader) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(ctx, method, server.url+path, body)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return resp
	}
	for range crowdStreams {
		lines := bufio.NewReader(do(http.MethodGet, "/lessons/drain/stream?speed=8&playing=1", nil).Body)
		if err := readUntil(lines, `"query"`); err != nil {
			t.Fatal(err)
		}
		c.streams = append(c.streams, lines)
	}
	// Requests in flight: each has had its first line answered, and its body
	// goes on.
	for range crowdSlow {
		body, write := io.Pipe()
		go io.WriteString(write, "{}\n")
		answer := bufio.NewReader(do(http.MethodPost, "/api/v1/runs", body).Body)
		if err := readUntil(answer, `"model"`); err != nil {
			t.Fatal(err)
		}
		c.writes = append(c.writes, write)
		go func() { c.slow <- readUntil(answer, `"grace":20,`) }()
	}
	// An idle connection, one that never says anything, and a viewer that
	// stops reading at once.
	io.Copy(io.Discard, do(http.MethodGet, "/livez", nil).Body)
	for _, says := range []string{"", "GET /lessons/drain/stream?speed=8&playing=1&duration=1&interval=0.5&workers=4 HTTP/1.1\r\nHost: x\r\n\r\n"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(server.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		io.WriteString(conn, says)
		if says != "" { // a single byte, to know that it has been admitted
			if _, err := conn.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return c
}

// finish sends the rest of the slow requests' bodies once the drain has begun.
func (c *crowd) finish() {
	c.server.waitFor("state=DRAINING")
	for _, w := range c.writes {
		io.WriteString(w, "{\"grace\":20}\n")
		w.Close()
	}
}

// markers waits until every stream has had its last event and has ended.
func (c *crowd) markers() {
	c.t.Helper()
	ended := make(chan error, len(c.streams))
	for _, r := range c.streams {
		go func() {
			err := readUntil(r, `"reconnect":true`)
			if err == nil {
				_, err = io.Copy(io.Discard, r)
			}
			ended <- err
		}()
	}
	for range c.streams {
		if err := <-ended; err != nil {
			c.t.Errorf("a stream: %v", err)
		}
	}
}

// readRecord folds the record that the server has left.
func readRecord(t *testing.T, path string) ledger.Report {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	events, skipped, err := ledger.Read(f)
	if err != nil || len(skipped) > 0 {
		t.Fatalf("the record: %v, skipped %v", err, skipped)
	}
	report := ledger.Fold(events, false)
	if err := report.Requests.Check(); err != nil || report.Requests.Outstanding != 0 || len(report.Problems) > 0 || !report.Ended {
		t.Errorf("the record says %+v, problems %v, %v", report.Requests, report.Problems, err)
	}
	return report
}

func TestSIGTERMUnderACrowdFinishesEveryRequestAndRecordsIt(t *testing.T) {
	record := filepath.Join(t.TempDir(), "record.jsonl")
	server := startServer(t, "-record", record)
	c := gather(t, server)
	go c.finish()
	code, took := server.terminate()
	t.Logf("exit code %d after %v", code, took)
	if code != 0 {
		t.Errorf("exit code %d:\n%s", code, tail(server.logged()))
	}
	c.markers()
	for range crowdSlow {
		if err := <-c.slow; err != nil {
			t.Errorf("a request in flight: %v", err)
		}
	}
	r := readRecord(t, record)
	if r.Requests.Failed != 0 || r.Requests.Admitted < crowdStreams+crowdSlow || r.IncompleteStreams > 1 {
		t.Errorf("the record says %+v, %d incomplete streams", r.Requests, r.IncompleteStreams)
	}
	if cohort := len(r.RequestEntries); cohort < crowdStreams+crowdSlow || cohort > crowdStreams+crowdSlow+1 {
		t.Errorf("the drain met %d requests", cohort)
	}
}

func TestASecondSIGTERMCutsWhatIsLeftAndStillAccountsForIt(t *testing.T) {
	record := filepath.Join(t.TempDir(), "record.jsonl")
	server := startServer(t, "-record", record, "-graceful", "10m")
	c := gather(t, server)
	go func() {
		server.waitFor("state=DRAINING")
		server.cmd.Process.Signal(syscall.SIGTERM)
	}()
	code, _ := server.terminate()
	if code != 1 || !strings.Contains(server.logged(), "a second signal has cut the drain") {
		t.Errorf("exit code %d:\n%s", code, tail(server.logged()))
	}
	c.markers()
	if r := readRecord(t, record); r.Requests.Cancelled < crowdSlow {
		t.Errorf("the record says %+v", r.Requests)
	}
	for _, w := range c.writes {
		w.CloseWithError(io.ErrClosedPipe)
	}
}

func TestARecordThatCannotBeWrittenIsSaidAndFailsTheExit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// A file where the folder should be: not even root can write below it.
	server := startServer(t, "-record", filepath.Join(file, "record.jsonl"))
	code, _ := server.terminate()
	if code != 1 || !strings.Contains(server.logged(), "evidence lost") {
		t.Errorf("exit code %d:\n%s", code, tail(server.logged()))
	}
}

func TestARequestThatDoesNotFinishIsCutAndTheExitSaysSo(t *testing.T) {
	server := startServer(t, "-graceful", "300ms")
	body, write := io.Pipe()
	defer write.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.url+"/api/v1/runs", body)
	if err != nil {
		t.Fatal(err)
	}
	go io.WriteString(write, "{}\n")
	resp, err := http.DefaultClient.Do(r) // the first line is answered, the body still open
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if code, _ := server.terminate(); code != 1 || !strings.Contains(server.logged(), "the graceful timeout has passed") {
		t.Errorf("exit code %d:\n%s", code, tail(server.logged()))
	}
}

func tail(log string) string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	return strings.Join(lines[max(0, len(lines)-8):], "\n")
}
