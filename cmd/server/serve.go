package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"drainlab/internal/course"
	"drainlab/internal/ledger"
	"drainlab/internal/lifecycle"
	"drainlab/internal/natsstore"
	"drainlab/web"
)

// bootLimit bounds the start of the session store.
const bootLimit = 20 * time.Second

// lister makes the list of lessons.
type lister func(*slog.Logger) ([]course.Lesson, error)

// serve runs the server until a signal comes, and shuts it down by the
// contract of internal/lifecycle.
func serve(signals <-chan os.Signal, cfg config, lessons lister, logTo io.Writer) error {
	log := newLog(cfg, logTo)
	var certificates []tls.Certificate
	if cfg.tlsCert != "" {
		pair, err := tls.LoadX509KeyPair(cfg.tlsCert, cfg.tlsKey)
		if err != nil {
			return fmt.Errorf("-tls-cert, -tls-key: %w", err)
		}
		certificates = []tls.Certificate{pair}
	}
	listener, err := net.Listen("tcp", cfg.addr)
	if err != nil {
		return fmt.Errorf("-addr: %w", err)
	}
	defer listener.Close()
	boot, cancel := context.WithTimeout(context.Background(), bootLimit)
	defer cancel()
	store, err := natsstore.Open(boot, natsstore.Config{URL: cfg.nats, Dir: cfg.data, Log: log})
	if err != nil {
		return err
	}
	defer store.Close()
	if len(signals) > 0 {
		log.Info("told to stop before serving")
		return nil
	}
	list, err := lessons(log)
	if err != nil {
		return err
	}
	handler, err := web.New(course.NewRegister(list...), store, store, web.Site{PublicURL: cfg.publicURL, Frames: cfg.frames}, log)
	if err != nil {
		return err
	}
	server := newServer(handler, log)
	contract := lifecycle.New(lifecycle.Config{
		Server:   server,
		Budget:   cfg.budget,
		Exempt:   web.IsProbe,
		Classify: web.Classify,
		Announce: handler.Drain,
		Cleanup: func(ctx context.Context) error {
			err := handler.Wait(ctx) // for the streams' last writes and the end of runs
			store.Close()
			return err
		},
		Store: recordTo(cfg.record),
		Log:   log,
	})
	scheme, run := "http", contract.Serve
	if certificates != nil {
		scheme, run = "https", contract.ServeTLS
		server.TLSConfig = &tls.Config{Certificates: certificates}
	}
	log.Info("serving", "url", scheme+"://"+publicAddr(listener.Addr()), "shutdown_budget", cfg.budget.Total())
	sum, err := run(listener, signals)
	if err != nil {
		return err
	}
	r := sum.Report.Requests
	log.Info("shut down", "took", sum.Took, "admitted", r.Admitted, "completed", r.Completed, "failed", r.Failed,
		"cancelled", r.Cancelled, "outstanding", r.Outstanding, "rejected", r.Rejected, "evidence_lost", sum.Report.EvidenceLost)
	return errors.Join(sum.Cut, sum.CleanupErr, sum.RecordErr)
}

// recordTo returns the record's store: a file of JSON lines, written whole and
// then put in its place, so that no half of a record is ever found there. No
// path, no store.
func recordTo(path string) func(context.Context, []ledger.Event) error {
	if path == "" {
		return nil
	}
	return func(_ context.Context, events []ledger.Event) error {
		var lines []byte
		for _, e := range events {
			lines = e.Append(lines)
		}
		part := path + ".part"
		if err := os.WriteFile(part, lines, 0o644); err != nil {
			return err
		}
		return os.Rename(part, path)
	}
}

func newLog(cfg config, w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: cfg.logLevel}
	if cfg.logJSON {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

func newServer(handler http.Handler, log *slog.Logger) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true) // behind a proxy
	return &http.Server{
		Handler:           handler,
		Protocols:         protocols,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// publicAddr is the address as a person on this machine would open it.
func publicAddr(a net.Addr) string {
	host, port, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}

// healthcheck asks the server at -addr for its liveness.
func healthcheck(cfg config) error {
	host, port, err := net.SplitHostPort(cfg.addr)
	if err != nil {
		return err
	}
	// By address, as a container's image may know no names.
	switch ip := net.ParseIP(host); {
	case host == "" || ip.Equal(net.IPv4zero):
		host = "127.0.0.1"
	case ip.Equal(net.IPv6unspecified):
		host = "::1"
	}
	client := &http.Client{Timeout: 3 * time.Second}
	scheme := "http"
	if cfg.tlsCert != "" {
		scheme = "https"
		// The certificate names the public host, not this one; the check is of
		// the process behind the own port.
		client.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	}
	response, err := client.Get(scheme + "://" + net.JoinHostPort(host, port) + "/livez")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answers %s", response.Status)
	}
	return nil
}
