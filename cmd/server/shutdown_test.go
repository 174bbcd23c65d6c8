package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// reader reads a stream's lines until one has part in it.
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

func TestSIGTERMWithManyStreamsEndsThemAllAndExitsCleanly(t *testing.T) {
	server := startServer(t)
	const streams = 200
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	readers := make([]*bufio.Reader, streams)
	for i := range readers {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.url+"/lessons/drain/stream?speed=8&playing=1", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		readers[i] = bufio.NewReader(resp.Body)
		if err := readUntil(readers[i], `"query"`); err != nil {
			t.Fatal(err)
		}
	}
	// A request in flight: a body that is still coming.
	body, write := io.Pipe()
	started, answered := make(chan struct{}), make(chan error, 1)
	go func() {
		resp, err := client.Post(server.url+"/api/v1/runs", "application/x-ndjson", body)
		if err != nil {
			answered <- err
			return
		}
		defer resp.Body.Close()
		close(started)
		data, err := io.ReadAll(resp.Body)
		if lines := strings.Count(string(data), "\n"); err == nil && lines != 2 {
			err = fmt.Errorf("%d lines came back", lines)
		}
		answered <- err
	}()
	go io.WriteString(write, "{}\n")
	select {
	case <-started: // its first line is answered
	case err := <-answered:
		t.Fatal(err)
	}
	// An idle connection, and one that never says anything.
	idle, err := client.Get(server.url + "/livez")
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, idle.Body)
	idle.Body.Close()
	silent, err := net.Dial("tcp", strings.TrimPrefix(server.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()

	ended := make(chan error, streams)
	for _, r := range readers {
		go func() {
			if err := readUntil(r, `"reconnect":true`); err != nil {
				ended <- err
				return
			}
			_, err := io.Copy(io.Discard, r)
			ended <- err
		}()
	}
	go func() {
		server.waitFor(`msg="shutting down"`)
		io.WriteString(write, "{\"grace\":20}\n")
		write.Close()
	}()
	code, took := server.terminate()
	t.Logf("exit code %d after %v", code, took)
	if code != 0 {
		t.Errorf("exit code %d:\n%s", code, tail(server.logged()))
	}
	if !strings.Contains(server.logged(), "cut=0") {
		t.Errorf("requests were cut:\n%s", tail(server.logged()))
	}
	for range streams {
		if err := <-ended; err != nil {
			t.Errorf("a stream: %v", err)
		}
	}
	if err := <-answered; err != nil {
		t.Errorf("the request in flight: %v", err)
	}
}

func TestARequestThatDoesNotFinishIsCutAndTheExitSaysSo(t *testing.T) {
	server := startServer(t)
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
	if code, _ := server.terminate(); code != 1 || !strings.Contains(server.logged(), "1 requests were cut") {
		t.Errorf("exit code %d:\n%s", code, tail(server.logged()))
	}
}

func tail(log string) string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}
