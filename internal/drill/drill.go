// Package drill starts a real server process, gives it work and signals, and
// gathers what can be seen from outside and what the process says itself into
// the two ledgers.
//
// A verdict never comes from the exit code: servers exist that exit 0 with work
// lost, and by a signal with everything served.
package drill

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"drainlab/internal/ledger"
)

// Plan is what a run does.
type Plan struct {
	// Command starts the server. It prints its address, host:port on loopback,
	// as its first line.
	Command []string
	// Env is added to the environment; LedgerVariable names the one that gets
	// the record's path, StartVariable the one that gets the instant that the
	// record counts from, TokenVariable the one that gets the run's token.
	Env                                          []string
	LedgerVariable, StartVariable, TokenVariable string
	// Token guards the server's management route.
	Token string
	// EndMarker is the last line of a whole stream.
	EndMarker string
	// SecondSignal is sent so long after the first; 0: none.
	SecondSignal time.Duration
	// ClientLeaves makes the stream's client disconnect before the drain.
	ClientLeaves bool
	// Limit bounds the whole run; the process group is killed when it is up.
	Limit time.Duration
	// Observe gets each event as soon as it is known, the server's own and
	// those of the clients. It is called from several goroutines, one at a time.
	Observe func(Event)
}

// Event is an event of the server's record, or one that the drill saw itself.
type Event struct {
	// Seen is what the drill saw: "client_started", "client_ended",
	// "drain_called", "signal_sent", "exited". Empty for the server's own.
	Seen string `json:"seen,omitempty"`
	ledger.Event
}

// Client is what one client got.
type Client struct {
	Class  string `json:"class"`
	Status int    `json:"status"` // 0: no response
	Body   string `json:"body"`   // "complete", "truncated", "none"
}

// Exit is how the process ended.
type Exit struct {
	Code   int     `json:"code"`             // negative: the number of the signal that ended it
	Signal string  `json:"signal,omitempty"` // its name
	After  float64 `json:"after"`            // seconds after the first signal
	// Killed says that it did not end within the limit and was killed.
	Killed bool `json:"killed,omitempty"`
	// Orphans are members of its process group that outlived it; they were
	// killed.
	Orphans bool `json:"orphans,omitempty"`
}

// Result is what a run has shown.
type Result struct {
	Report         ledger.Report
	Clients        []Client // short, stream, block, late
	ReadyAfter     int      // status of the readiness probe after the drain was called
	LiveAfter      int
	HeartbeatAfter time.Duration // after the waiter's cancellation; 0: none was seen
	Exit           Exit
	Events         []Event
	Skipped        []error // lines of the record that could not be read
}

// Run carries out the plan. The error is that a run could not be made; what
// went wrong in a run is its result. When ctx ends, the process group is
// killed.
func Run(ctx context.Context, p Plan) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, p.Limit)
	defer cancel()
	dir, err := os.MkdirTemp("", "drainlab-run-")
	if err != nil {
		return Result{}, fmt.Errorf("making the run's folder: %w", err)
	}
	defer os.RemoveAll(dir)
	r := &run{Plan: p, start: time.Now(), record: filepath.Join(dir, "record.jsonl"), clients: map[string]Client{}}
	if err := os.WriteFile(r.record, nil, 0o600); err != nil {
		return Result{}, fmt.Errorf("making the run's record: %w", err)
	}
	if err := r.launch(ctx); err != nil {
		return Result{}, err
	}
	follow, stop := context.WithCancel(context.Background())
	var following sync.WaitGroup
	following.Go(func() { r.follow(follow) })
	err = r.carryOut(ctx)
	if err != nil {
		r.killGroup()
	}
	<-r.gone
	stop()
	following.Wait()
	if err != nil {
		return Result{}, err
	}
	return r.result()
}

// run is a run under way.
type run struct {
	Plan
	start  time.Time
	record string
	base   string // URL
	pid    int

	gone    chan struct{} // closed when the process has ended
	state   *os.ProcessState
	started chan struct{} // closed when work was seen to start

	mu       sync.Mutex
	events   []Event
	worked   bool
	clients  map[string]Client
	signaled time.Time
	ready    int
	live     int
	killed   bool
	orphans  bool
}

// launch starts the process in a group of its own, so that whatever it starts
// can be found and ended with it. It dies with this process twice over: by the
// parent-death signal, which on Linux follows the thread that started it, so
// that thread is kept; and by a pipe that closes.
func (r *run) launch(ctx context.Context) error {
	reader, writer, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("making the parent's pipe: %w", err)
	}
	r.gone, r.started = make(chan struct{}), make(chan struct{})
	cmd := exec.Command(r.Command[0], r.Command[1:]...)
	cmd.Env = append(os.Environ(), r.Env...)
	cmd.Env = append(cmd.Env, r.LedgerVariable+"="+r.record, r.TokenVariable+"="+r.Token,
		fmt.Sprintf("%s=%d", r.StartVariable, r.start.UnixNano()))
	cmd.ExtraFiles = []*os.File{reader}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("starting the server: %w", err)
	}
	begun := make(chan error, 1)
	lines := make(chan string, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		reader.Close()
		begun <- err
		if err != nil {
			writer.Close()
			return
		}
		out := bufio.NewReader(stdout)
		line, _ := out.ReadString('\n')
		lines <- strings.TrimSpace(line)
		io.Copy(io.Discard, out)
		cmd.Wait()
		writer.Close()
		r.state = cmd.ProcessState
		close(r.gone)
	}()
	if err := <-begun; err != nil {
		return fmt.Errorf("starting the server: %w", err)
	}
	r.pid = cmd.Process.Pid
	select {
	case line := <-lines:
		if line == "" {
			<-r.gone
			return fmt.Errorf("the server ended without its address: %s", strings.TrimSpace(complaints.String()))
		}
		r.base = "http://" + line
		return nil
	case <-ctx.Done():
		r.killGroup()
		<-r.gone
		return fmt.Errorf("the server did not tell its address: %w", ctx.Err())
	}
}

func (r *run) killGroup() {
	r.mu.Lock()
	r.killed = true
	r.mu.Unlock()
	syscall.Kill(-r.pid, syscall.SIGKILL)
}

// note adds an event and tells it.
func (r *run) note(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	if e.Kind == ledger.WorkStarted && !r.worked {
		r.worked = true
		close(r.started)
	}
	if r.Observe != nil {
		r.Observe(e)
	}
}

func (r *run) see(what, class, detail string) {
	r.note(Event{Seen: what, Event: ledger.Event{At: ledger.Seconds(time.Since(r.start)), Class: class, Detail: detail}})
}

// follow reads the record while it grows.
func (r *run) follow(ctx context.Context) {
	f, err := os.Open(r.record)
	if err != nil {
		return
	}
	defer f.Close()
	var rest []byte
	again := time.NewTicker(15 * time.Millisecond)
	defer again.Stop()
	for last := false; ; {
		data, err := io.ReadAll(f)
		if err != nil {
			return
		}
		rest = append(rest, data...)
		for {
			line, after, whole := bytes.Cut(rest, []byte("\n"))
			if !whole {
				break
			}
			rest = after
			if e, err := ledger.ParseEvent(line); err == nil {
				r.note(Event{Event: e})
			}
		}
		if last {
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			last = true // once more, for what came at the very end
		}
	}
}

// carryOut gives the server its requests, drains it and signals it.
func (r *run) carryOut(ctx context.Context) error {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	if err := r.untilReady(ctx, client); err != nil {
		return err
	}
	var clients sync.WaitGroup
	defer clients.Wait() // after their context has ended, whatever went wrong
	ctx, end := context.WithCancel(ctx)
	defer end()
	leave, leaves := context.WithCancel(ctx)
	defer leaves()
	shortDone := make(chan struct{})
	clients.Go(func() {
		r.ask(ctx, client, "short", "/short")
		close(shortDone)
	})
	clients.Go(func() { r.ask(leave, client, "stream", "/stream") })
	clients.Go(func() { r.ask(ctx, client, "block", "/block") })
	for _, happened := range []<-chan struct{}{shortDone, r.started} {
		select {
		case <-happened:
		case <-r.gone:
			return errors.New("the server ended before it was signalled")
		case <-ctx.Done():
			return fmt.Errorf("the requests did not get under way: %w", ctx.Err())
		}
	}
	if r.ClientLeaves {
		leaves()
	}
	if err := r.drain(ctx, client); err != nil {
		return err
	}
	r.ask(ctx, client, "late", "/short")
	r.ready, r.live = r.probe(ctx, client, "/readyz"), r.probe(ctx, client, "/livez")
	r.signal()
	if r.SecondSignal > 0 {
		second := time.AfterFunc(r.SecondSignal, r.signal)
		defer second.Stop()
	}
	select {
	case <-r.gone:
	case <-ctx.Done():
		r.killGroup()
		<-r.gone
	}
	r.see("exited", "", r.state.String())
	clients.Wait()
	// Whatever is left of the group would go on serving.
	if syscall.Kill(-r.pid, 0) == nil {
		r.orphans = true
		syscall.Kill(-r.pid, syscall.SIGKILL)
	}
	return nil
}

func (r *run) untilReady(ctx context.Context, client *http.Client) error {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for r.probe(ctx, client, "/readyz") != http.StatusOK {
		select {
		case <-again.C:
		case <-r.gone:
			return errors.New("the server ended before it was ready")
		case <-ctx.Done():
			return fmt.Errorf("the server did not become ready: %w", ctx.Err())
		}
	}
	return nil
}

func (r *run) signal() {
	r.mu.Lock()
	if r.signaled.IsZero() {
		r.signaled = time.Now()
	}
	r.mu.Unlock()
	if err := syscall.Kill(r.pid, syscall.SIGTERM); err == nil {
		r.see("signal_sent", "", "SIGTERM")
	}
}

func (r *run) drain(ctx context.Context, client *http.Client) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.base+"/drain", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+r.Token)
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("calling the drain: %w", err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusNoContent {
		return fmt.Errorf("calling the drain: the server answers %s", response.Status)
	}
	r.see("drain_called", "", "")
	return nil
}

func (r *run) probe(ctx context.Context, client *http.Client, path string) int {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+path, nil)
	if err != nil {
		return 0
	}
	response, err := client.Do(request)
	if err != nil {
		return 0
	}
	io.Copy(io.Discard, response.Body)
	response.Body.Close()
	return response.StatusCode
}

// ask makes one request and notes what its client got. A body is complete when
// the whole of it came and, of a stream that began well, its marker too: a
// status of 200 says only that the response began.
func (r *run) ask(ctx context.Context, client *http.Client, class, path string) {
	r.see("client_started", class, "")
	got := Client{Class: class, Body: "none"}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+path, nil)
	if err == nil {
		var response *http.Response
		if response, err = client.Do(request); err == nil {
			var body []byte
			body, err = io.ReadAll(response.Body)
			response.Body.Close()
			got.Status, got.Body = response.StatusCode, "complete"
			marked := strings.HasSuffix(strings.TrimSpace(string(body)), r.EndMarker)
			if err != nil || class == "stream" && got.Status == http.StatusOK && !marked {
				got.Body = "truncated"
			}
		}
	}
	r.mu.Lock()
	r.clients[class] = got
	r.mu.Unlock()
	detail := fmt.Sprintf("status %d, body %s", got.Status, got.Body)
	if got.Status == 0 {
		detail = "no response"
	}
	r.see("client_ended", class, detail)
}

func (r *run) result() (Result, error) {
	f, err := os.Open(r.record)
	if err != nil {
		return Result{}, fmt.Errorf("reading the run's record: %w", err)
	}
	defer f.Close()
	events, skipped, err := ledger.Read(f)
	if err != nil && !errors.Is(err, ledger.ErrEmpty) {
		return Result{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	res := Result{Report: ledger.Fold(events, true), ReadyAfter: r.ready, LiveAfter: r.live, Events: r.events, Skipped: skipped}
	for _, class := range []string{"short", "stream", "block", "late"} {
		res.Clients = append(res.Clients, r.clients[class])
	}
	for _, w := range res.Report.WorkEntries {
		if gap, ok := w.HeartbeatAfterCancel(); ok {
			res.HeartbeatAfter = gap
		}
	}
	res.Exit = Exit{Code: r.state.ExitCode(), After: time.Since(r.signaled).Seconds(), Killed: r.killed, Orphans: r.orphans}
	if status, ok := r.state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		res.Exit.Code, res.Exit.Signal = -int(status.Signal()), signalName(status.Signal())
	}
	for _, e := range r.events {
		if e.Seen == "exited" {
			res.Exit.After = (time.Duration(e.At) - r.signaled.Sub(r.start)).Seconds()
		}
	}
	return res, nil
}

func signalName(s syscall.Signal) string {
	names := map[syscall.Signal]string{syscall.SIGTERM: "SIGTERM", syscall.SIGKILL: "SIGKILL", syscall.SIGINT: "SIGINT", syscall.SIGQUIT: "SIGQUIT"}
	if name, ok := names[s]; ok {
		return name
	}
	return s.String()
}
