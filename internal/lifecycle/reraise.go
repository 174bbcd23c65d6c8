package lifecycle

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Reraise ends the process as sig would have ended it, had nobody handled it:
// a supervisor then sees the signal and not an exit code of the program's own.
// It returns only where the signal cannot be sent.
func Reraise(sig syscall.Signal) error {
	signal.Reset(sig)
	if err := syscall.Kill(os.Getpid(), sig); err != nil {
		return fmt.Errorf("raising %v again: %w", sig, err)
	}
	select {} // until it arrives
}
