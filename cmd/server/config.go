package main

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"drainlab/internal/lifecycle"
)

// config is what the server is told by flags and by DRAINLAB_ variables.
type config struct {
	addr        string
	data        string
	nats        string
	logLevel    slog.Level
	logJSON     bool
	tlsCert     string
	tlsKey      string
	record      string
	publicURL   string // scheme and host for links, empty: those of each request
	frames      string // hosts that may frame a lesson
	budget      lifecycle.Budget
	healthcheck bool
}

// readConfig reads flags and, for those not given, DRAINLAB_ variables. Every
// value is checked here, so that a wrong one is refused at the start.
func readConfig(args []string, getenv func(string) string, help io.Writer) (config, error) {
	var cfg config
	flags := flag.NewFlagSet("server", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&cfg.addr, "addr", ":8080", "`host:port` to listen on; port 0 takes a free one")
	flags.StringVar(&cfg.data, "data", "", "`folder` of the embedded session store, made if missing; empty: a temporary one, removed at exit")
	flags.StringVar(&cfg.nats, "nats", "", "`url` of a NATS cluster with JetStream that keeps the sessions in place of the embedded store")
	level := flags.String("log", "info", "least `level` to log: debug, info, warn or error")
	format := flags.String("log-format", "text", "`format` of the log on standard error: text or json")
	flags.StringVar(&cfg.tlsCert, "tls-cert", "", "`file` of the TLS certificate chain, PEM; with -tls-key")
	flags.StringVar(&cfg.tlsKey, "tls-key", "", "`file` of the TLS private key, PEM; with -tls-cert")
	flags.StringVar(&cfg.record, "record", "", "`file` to which the shutdown's record is written, JSON lines; empty: none")
	flags.StringVar(&cfg.publicURL, "public-url", "", "`url` under which the world reaches the server, for links, frames and cards; empty: that of each request")
	flags.StringVar(&cfg.frames, "frame-ancestors", "*", "`hosts` that may frame a lesson, as in the content policy's frame-ancestors: *, or origins with spaces between")
	flags.DurationVar(&cfg.budget.Graceful, "graceful", 10*time.Second, "most `time` that requests in flight get to finish once a signal has come")
	flags.DurationVar(&cfg.budget.Unwind, "unwind", time.Second, "most `time` for handlers to return once they are cancelled, and for last bytes to go out")
	flags.DurationVar(&cfg.budget.Cleanup, "cleanup", 2*time.Second, "most `time` for closing the session store")
	flags.DurationVar(&cfg.budget.Record, "record-budget", time.Second, "most `time` for writing the record, tries included")
	flags.BoolVar(&cfg.healthcheck, "healthcheck", false, "ask the server at -addr whether it is alive, and exit 0 or 1")

	if err := flags.Parse(args); err != nil {
		if err == flag.ErrHelp {
			printHelp(flags, help)
		}
		return cfg, err
	}
	if flags.NArg() > 0 {
		return cfg, fmt.Errorf("got the argument %q; allowed: flags alone (-h lists them)", flags.Arg(0))
	}
	if err := readEnv(flags, getenv); err != nil {
		return cfg, err
	}
	if err := cfg.logLevel.UnmarshalText([]byte(*level)); err != nil || strings.ContainsAny(*level, "+-") {
		return cfg, fmt.Errorf("-log: got %q; allowed: debug, info, warn, error", *level)
	}
	switch *format {
	case "text":
	case "json":
		cfg.logJSON = true
	default:
		return cfg, fmt.Errorf("-log-format: got %q; allowed: text, json", *format)
	}
	return cfg, cfg.check()
}

func (cfg config) check() error {
	_, port, err := net.SplitHostPort(cfg.addr)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("-addr: got %q; allowed: host:port or :port with a port from 0 to 65535", cfg.addr)
	}
	if (cfg.tlsCert == "") != (cfg.tlsKey == "") {
		return fmt.Errorf("-tls-cert and -tls-key go together: got %q and %q", cfg.tlsCert, cfg.tlsKey)
	}
	if cfg.nats != "" {
		u, err := url.Parse(cfg.nats)
		if err != nil || u.Host == "" {
			return fmt.Errorf("-nats: got %q; allowed: a URL such as nats://host:4222", cfg.nats)
		}
		if cfg.data != "" {
			return fmt.Errorf("-nats and -data exclude each other: got %q and %q", cfg.nats, cfg.data)
		}
	}
	if cfg.publicURL != "" {
		u, err := url.Parse(cfg.publicURL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
			return fmt.Errorf("-public-url: got %q; allowed: http:// or https:// with a host, and nothing after it", cfg.publicURL)
		}
	}
	for host := range strings.FieldsSeq(cfg.frames) {
		if strings.ContainsAny(host, ";,'\"") {
			return fmt.Errorf("-frame-ancestors: got %q; allowed: *, or origins such as https://lms.example with spaces between", cfg.frames)
		}
	}
	for name, d := range map[string]time.Duration{"graceful": cfg.budget.Graceful, "unwind": cfg.budget.Unwind,
		"cleanup": cfg.budget.Cleanup, "record-budget": cfg.budget.Record} {
		if d < 0 || d > time.Hour {
			return fmt.Errorf("-%s: got %v; allowed: 0s to 1h", name, d)
		}
	}
	if cfg.data != "" {
		if info, err := os.Stat(cfg.data); err == nil && !info.IsDir() {
			return fmt.Errorf("-data: got %q, which is not a folder", cfg.data)
		}
	}
	return nil
}

// readEnv sets every flag not given from its variable, where that is set.
func readEnv(flags *flag.FlagSet, getenv func(string) string) error {
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	var err error
	flags.VisitAll(func(f *flag.Flag) {
		value := getenv(envName(f.Name))
		if err != nil || given[f.Name] || value == "" || f.Name == "healthcheck" {
			return
		}
		if setErr := flags.Set(f.Name, value); setErr != nil {
			err = fmt.Errorf("%s: got %q: %w", envName(f.Name), value, setErr)
		}
	})
	return err
}

func envName(flag string) string {
	return "DRAINLAB_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

func printHelp(flags *flag.FlagSet, w io.Writer) {
	fmt.Fprintln(w, "server serves the Drainlab course: lessons, streams and the API.")
	fmt.Fprintln(w, "\nFlags, each with the variable that stands for it where the flag is not given:")
	flags.VisitAll(func(f *flag.Flag) {
		name, usage := flag.UnquoteUsage(f)
		if name != "" {
			name = " " + name
		}
		fmt.Fprintf(w, "\n  -%s%s\n      %s\n", f.Name, name, usage)
		if f.Name != "healthcheck" {
			fmt.Fprintf(w, "      default %q, variable %s\n", f.DefValue, envName(f.Name))
		}
	})
	fmt.Fprintln(w, "\nSIGTERM and SIGINT end it: the admission gate closes and readiness turns false, streams")
	fmt.Fprintln(w, "are told to reconnect, requests in flight finish; a second signal cuts that short. The")
	fmt.Fprintln(w, "exit takes at most the sum of -graceful, -unwind, -cleanup and -record-budget. Exit code")
	fmt.Fprintln(w, "0: every request finished; 1: a failure, requests were cut, or the record was not written;")
	fmt.Fprintln(w, "2: a wrong configuration.")
}
