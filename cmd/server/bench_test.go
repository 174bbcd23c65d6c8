package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkViewers measures the real server from outside: what one more viewer
// of a session costs it in memory, and how much more time it takes to bring a
// change to all of many viewers than to one.
func BenchmarkViewers(b *testing.B) {
	server := startServer(b)
	const many = 500
	client := &http.Client{
		Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: many},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.PostForm(server.url+"/sessions", url.Values{"view": {"t=60"}})
	if err != nil {
		b.Fatal(err)
	}
	resp.Body.Close()
	session := server.url + resp.Header.Get("Location")

	arrived := make(chan struct{}, many)
	var viewers []io.Closer
	open := func(n int) {
		for range n {
			resp, err := client.Get(session + "/stream")
			if err != nil {
				b.Fatal(err)
			}
			viewers = append(viewers, resp.Body)
			lines := bufio.NewReader(resp.Body)
			if err := readUntil(lines, `"query"`); err != nil {
				b.Fatal(err)
			}
			go func() {
				for readUntil(lines, `"query"`) == nil {
					arrived <- struct{}{}
				}
			}()
		}
	}
	grace := 0
	change := func(viewers int) time.Duration {
		grace = (grace + 1) % 30
		start := time.Now()
		resp, err := client.PostForm(session, url.Values{"command": {"set"}, "grace": {strconv.Itoa(grace)}})
		if err != nil {
			b.Fatal(err)
		}
		resp.Body.Close()
		for range viewers {
			<-arrived
		}
		return time.Since(start)
	}
	best := func(viewers int) time.Duration {
		least := time.Hour
		for range 30 {
			least = min(least, change(viewers))
		}
		return least
	}
	open(1)
	one := best(1)
	before := resident(b, server)
	open(many - 1)
	all := best(many)
	after := resident(b, server)
	for b.Loop() {
		change(many)
	}
	for _, v := range viewers {
		v.Close()
	}
	b.ReportMetric(float64(after-before)/(many-1)/1024, "kB/viewer")
	b.ReportMetric(float64(all)/float64(one), fmt.Sprintf("x_time_to_%d_viewers", many))
	b.ReportMetric(float64(one.Microseconds()), "µs_to_one_viewer")
}

// resident is the server's resident memory in bytes, from Linux' procfs.
func resident(b *testing.B, p *process) int {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		b.Skip("no procfs: ", err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
			if err != nil {
				b.Fatal(err)
			}
			return kb << 10
		}
	}
	b.Fatal("no VmRSS")
	return 0
}
