package drill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

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

// untilUnderWay waits until the short request is over and work was seen to
// start.
func (r *run) untilUnderWay(ctx context.Context, shortDone <-chan struct{}) error {
	for _, happened := range []<-chan struct{}{shortDone, r.started} {
		select {
		case <-happened:
		case <-r.gone:
			return errors.New("the server ended before it was signalled")
		case <-ctx.Done():
			return fmt.Errorf("the requests did not get under way: %w", ctx.Err())
		}
	}
	return nil
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
