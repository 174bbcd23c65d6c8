package drill

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

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
	go r.keep(cmd, reader, writer, stdout, begun, lines)
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

// keep starts the process and lives as long as it does, on a thread of its own.
// It tells whether the start went well, then the first line of its output.
func (r *run) keep(cmd *exec.Cmd, reader, writer *os.File, stdout io.Reader, begun chan<- error, lines chan<- string) {
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
}

// untilGone waits until the process has ended; when ctx ends, it is killed.
func (r *run) untilGone(ctx context.Context) {
	select {
	case <-r.gone:
	case <-ctx.Done():
		r.killGroup()
		<-r.gone
	}
	r.see("exited", "", r.state.String())
}

// endOrphans ends whatever is left of the process group: it would go on
// serving.
func (r *run) endOrphans() {
	if syscall.Kill(-r.pid, 0) == nil {
		r.orphans = true
		syscall.Kill(-r.pid, syscall.SIGKILL)
	}
}

func (r *run) killGroup() {
	r.mu.Lock()
	r.killed = true
	r.mu.Unlock()
	syscall.Kill(-r.pid, syscall.SIGKILL)
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

func signalName(s syscall.Signal) string {
	names := map[syscall.Signal]string{syscall.SIGTERM: "SIGTERM", syscall.SIGKILL: "SIGKILL", syscall.SIGINT: "SIGINT", syscall.SIGQUIT: "SIGQUIT"}
	if name, ok := names[s]; ok {
		return name
	}
	return s.String()
}
