// Command server serves the Drainlab course.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"drainlab/internal/fixture"
)

func main() { os.Exit(run(os.Args[1:], os.Getenv, lessons)) }

// run serves these lessons and returns the process's exit code: 0 after a clean shutdown, 1 where
// something failed, a request was cut or evidence was lost, 2 for a wrong
// configuration.
func run(args []string, getenv func(string) string, lessons lister) int {
	if getenv(fixture.EnvSettings) != "" {
		// The binary is also the server that lesson 2 drills.
		return fixture.Main(getenv, os.Stdout)
	}
	cfg, err := readConfig(args, getenv, os.Stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(os.Stderr, "drainlab:", err)
		return 2
	}
	if cfg.healthcheck {
		err = healthcheck(cfg)
	} else {
		// The signals are taken from the start on, so that one that comes while
		// the server boots is not lost.
		signals := make(chan os.Signal, 4)
		signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
		err = serve(signals, cfg, lessons, os.Stderr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "drainlab:", err)
		return 1
	}
	return 0
}
