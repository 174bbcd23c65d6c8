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
	"time"

	"drainlab/internal/natsstore"
	"drainlab/web"
)

const (
	// grace is how long requests in flight may take once the server is told
	// to stop. With the store's end after it the exit takes less than 2 s.
	grace = 1500 * time.Millisecond
	// bootLimit bounds the start of the session store.
	bootLimit = 20 * time.Second
)

// serve runs the server until ctx ends, and then shuts it down.
func serve(ctx context.Context, cfg config, logTo io.Writer) error {
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
	boot, cancel := context.WithTimeout(ctx, bootLimit)
	defer cancel()
	store, err := natsstore.Open(boot, natsstore.Config{URL: cfg.nats, Dir: cfg.data})
	if ctx.Err() != nil { // told to stop before it served anything
		log.Info("stopped while starting")
		if store != nil {
			store.Close()
		}
		return nil
	}
	if err != nil {
		return err
	}
	defer store.Close()
	handler, err := web.New(store, store, log)
	if err != nil {
		return err
	}
	server := newServer(handler, log)
	scheme := "http"
	if certificates != nil {
		scheme = "https"
		server.TLSConfig = &tls.Config{Certificates: certificates}
	}
	log.Info("serving", "url", scheme+"://"+publicAddr(listener.Addr()))
	failed := make(chan error, 1)
	go func() {
		if certificates != nil {
			failed <- server.ServeTLS(listener, "", "")
		} else {
			failed <- server.Serve(listener)
		}
	}()
	select {
	case err := <-failed:
		return fmt.Errorf("serving: %w", err)
	case <-ctx.Done():
	}
	return shutDown(server, handler, log)
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

// shutDown withdraws readiness, ends the streams and lets requests in flight
// finish within the grace. It returns an error where some were cut.
func shutDown(server *http.Server, handler *web.Server, log *slog.Logger) error {
	start := time.Now()
	log.Info("shutting down", "in_flight", handler.InFlight())
	handler.Drain()
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	err := server.Shutdown(ctx)
	cut := handler.InFlight()
	server.Close()
	handler.Wait(ctx)
	log.Info("shut down", "took", time.Since(start), "cut", cut)
	// Shutdown also waits for connections that never sent a request; those do
	// not make the exit unclean.
	if errors.Is(err, context.DeadlineExceeded) && cut > 0 {
		return fmt.Errorf("%d requests were cut after %v", cut, grace)
	}
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("shutting down: %w", err)
	}
	return nil
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
func healthcheck(ctx context.Context, cfg config) error {
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
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+net.JoinHostPort(host, port)+"/livez", nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answers %s", response.Status)
	}
	return nil
}
