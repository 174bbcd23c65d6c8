package main

import (
	"log/slog"

	"drainlab/internal/course"
	"drainlab/web/toy"

	"bufio"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// serverVariable makes the test binary be the server, so that tests run the
// real thing in a process of its own.
const serverVariable = "DRAINLAB_TEST_BE_THE_SERVER"

// toyVariable gives the server under test a toy lesson beside its own.
const toyVariable = "DRAINLAB_TEST_TOY"

func TestMain(m *testing.M) {
	if os.Getenv(serverVariable) != "" {
		os.Exit(run(os.Args[1:], os.Getenv, lessonsAndToy))
	}
	code := m.Run()
	closeBrowser()
	os.Exit(code)
}

// lessonsAndToy is the course with one lesson more, by its one line.
func lessonsAndToy(log *slog.Logger) ([]course.Lesson, error) {
	list, err := lessons(log)
	if os.Getenv(toyVariable) != "" {
		list = append(list, toy.Lesson{Number: len(list) + 1})
	}
	return list, err
}

// process is a server under test.
type process struct {
	t    testing.TB
	cmd  *exec.Cmd
	url  string
	done chan struct{} // closed when it has exited
	// lines gets something when the log has grown.
	lines chan struct{}

	mu  sync.Mutex
	log strings.Builder
}

var servingURL = regexp.MustCompile(`msg=serving url=(\S+)`)

// startServer starts the server with these flags, on a free loopback port
// unless they name one, and waits until it serves.
func startServer(t testing.TB, args ...string) *process {
	t.Helper()
	if !strings.Contains(strings.Join(args, " "), "-addr") {
		args = append(args, "-addr", "127.0.0.1:0")
	}
	p := &process{t: t, cmd: exec.Command(os.Args[0], args...), done: make(chan struct{}), lines: make(chan struct{}, 1)}
	p.cmd.Env = append(os.Environ(), serverVariable+"=1")
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	serving := make(chan string, 1)
	go func() {
		defer close(p.done)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			p.mu.Lock()
			p.log.WriteString(lines.Text() + "\n")
			p.mu.Unlock()
			select {
			case p.lines <- struct{}{}:
			default:
			}
			if m := servingURL.FindStringSubmatch(lines.Text()); m != nil {
				serving <- m[1]
			}
		}
		p.cmd.Wait()
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("the server's log:\n%s", p.logged())
		}
	})
	select {
	case p.url = <-serving:
	case <-p.done:
		t.Fatalf("the server did not start:\n%s", p.logged())
	case <-time.After(30 * time.Second):
		t.Fatalf("the server does not serve:\n%s", p.logged())
	}
	return p
}

func (p *process) logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// kill ends the server at once, as a crash does.
func (p *process) kill() {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Logf("killing the server: %v", err)
	}
	<-p.done
}

// terminate sends SIGTERM and returns the exit code and how long the exit took.
func (p *process) terminate() (int, time.Duration) {
	p.t.Helper()
	start := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	select {
	case <-p.done:
	case <-time.After(20 * time.Second):
		p.t.Fatal("the server does not exit")
	}
	return p.cmd.ProcessState.ExitCode(), time.Since(start)
}

// waitFor waits until the server has logged a line with this in it.
func (p *process) waitFor(part string) {
	p.t.Helper()
	deadline := time.After(30 * time.Second)
	for !strings.Contains(p.logged(), part) {
		select {
		case <-p.lines:
		case <-p.done:
			p.t.Fatalf("the server ended without logging %q", part)
		case <-deadline:
			p.t.Fatalf("the server did not log %q:\n%s", part, p.logged())
		}
	}
}
