package lifecycle_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"drainlab/internal/ledger"
	"drainlab/internal/lifecycle"
)

var budget = lifecycle.Budget{Graceful: 10 * time.Second, Unwind: 2 * time.Second, Cleanup: time.Second, Record: time.Second}

// pipes is a listener in memory, so that a whole server runs on fake time.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p *pipes) Dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.closed:
		return nil, errors.New("refused")
	}
}

// world is a server under the contract, its signals and a client.
type world struct {
	t       *testing.T
	server  *lifecycle.Server
	pipes   *pipes
	client  *http.Client
	signals chan os.Signal
	done    chan lifecycle.Summary
}

// run starts a server with this handler on fake time.
func run(t *testing.T, cfg lifecycle.Config, h http.HandlerFunc) *world {
	t.Helper()
	cfg.Server = &http.Server{Handler: h}
	if cfg.Budget == (lifecycle.Budget{}) {
		cfg.Budget = budget
	}
	w := &world{t: t, server: lifecycle.New(cfg), pipes: newPipes(), signals: make(chan os.Signal, 2), done: make(chan lifecycle.Summary, 1)}
	w.client = &http.Client{Transport: &http.Transport{DialContext: w.pipes.Dial}}
	go func() {
		sum, err := w.server.Serve(w.pipes, w.signals)
		if err != nil {
			t.Errorf("serving: %v", err)
		}
		w.done <- sum
	}()
	return w
}

// end waits for the shutdown to end and checks what holds for each.
func (w *world) end(graceful time.Duration) lifecycle.Summary {
	w.t.Helper()
	sum := <-w.done
	// http.Server.Shutdown looks every few milliseconds whether it is done.
	sum.Took = sum.Took.Truncate(50 * time.Millisecond)
	w.client.CloseIdleConnections()
	if err := sum.Report.Requests.Check(); err != nil {
		w.t.Error(err)
	}
	if sum.Report.Requests.Outstanding != 0 || len(sum.Report.Problems) > 0 {
		w.t.Errorf("outstanding %d, problems %v", sum.Report.Requests.Outstanding, sum.Report.Problems)
	}
	if sum.Took > budget.Total() || sum.Took < graceful {
		w.t.Errorf("the shutdown took %v, its budget is %v", sum.Took, budget.Total())
	}
	if w.server.State() != lifecycle.Exited || w.server.InFlight() != 0 {
		w.t.Errorf("it ended in %v with %d in flight", w.server.State(), w.server.InFlight())
	}
	return sum
}

// get asks in the background; the answer is "status body" or "error".
func (w *world) get(path string) <-chan string {
	answer := make(chan string, 1)
	go func() {
		resp, err := w.client.Get("http://server" + path)
		if err != nil {
			answer <- "error"
			return
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		text := fmt.Sprintf("%d %s", resp.StatusCode, strings.TrimSpace(string(body)))
		if err != nil {
			text += " (cut)"
		}
		answer <- text
	}()
	return answer
}

// slow answers after the seconds in the query, unless its context ends.
func slow(w http.ResponseWriter, r *http.Request) {
	d, err := time.ParseDuration(r.URL.Query().Get("for"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	select {
	case <-time.After(d):
		fmt.Fprint(w, "done")
	case <-r.Context().Done():
		http.Error(w, context.Cause(r.Context()).Error(), http.StatusInternalServerError)
	}
}

func TestAdmittedRequestsFinishAndLaterOnesAreRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := run(t, lifecycle.Config{}, slow)
		early := w.get("/?for=1s")
		time.Sleep(2 * time.Second)
		admitted := w.get("/?for=5s")
		synctest.Wait()
		w.signals <- syscall.SIGTERM
		synctest.Wait()
		if got := w.server.State(); got != lifecycle.Draining {
			t.Errorf("after the signal the state is %v", got)
		}
		if got := <-w.get("/?for=1s"); got != "503 The server is shutting down. Another one will answer." {
			t.Errorf("a late request got %q", got)
		}
		late := httptest.NewRecorder()
		w.server.ServeHTTP(late, httptest.NewRequest(http.MethodGet, "/", nil))
		if h := late.Header(); late.Code != 503 || h.Get("Retry-After") == "" || h.Get("Connection") != "close" {
			t.Errorf("a late request got %d with %v", late.Code, h)
		}
		sum := w.end(4 * time.Second)
		if a, b := <-early, <-admitted; a != "200 done" || b != "200 done" {
			t.Errorf("the admitted requests got %q and %q", a, b)
		}
		if want := (ledger.Requests{Admitted: 2, Completed: 2, Rejected: 2}); sum.Report.Requests != want || !sum.Clean() {
			t.Errorf("requests %+v, cut %v", sum.Report.Requests, sum.Cut)
		}
		if sum.Took != 5*time.Second {
			t.Errorf("it took %v", sum.Took)
		}
	})
}

func TestTheGracefulTimeoutCancelsWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := run(t, lifecycle.Config{All: true}, slow)
		short, long := w.get("/?for=3s"), w.get("/?for=60s")
		synctest.Wait()
		w.signals <- syscall.SIGTERM
		sum := w.end(10 * time.Second)
		if got := <-short; got != "200 done" {
			t.Errorf("the short one got %q", got)
		}
		if got := <-long; got != "500 the graceful timeout has passed" {
			t.Errorf("the long one got %q", got)
		}
		if want := (ledger.Requests{Admitted: 2, Completed: 1, Cancelled: 1}); sum.Report.Requests != want || !errors.Is(sum.Cut, lifecycle.ErrGracefulTimeout) {
			t.Errorf("requests %+v, cut %v", sum.Report.Requests, sum.Cut)
		}
	})
}

func TestASecondSignalCutsTheDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := run(t, lifecycle.Config{}, slow)
		long := w.get("/?for=60s")
		synctest.Wait()
		w.signals <- syscall.SIGTERM
		time.Sleep(time.Second)
		w.signals <- os.Interrupt
		sum := w.end(time.Second)
		if got := <-long; got != "500 a second signal has cut the drain" {
			t.Errorf("the long one got %q", got)
		}
		if !errors.Is(sum.Cut, lifecycle.ErrSecondSignal) || sum.Took != time.Second {
			t.Errorf("cut %v after %v", sum.Cut, sum.Took)
		}
	})
}

func TestAHandlerThatObeysNothingDoesNotHoldTheExit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		w := run(t, lifecycle.Config{}, func(http.ResponseWriter, *http.Request) { <-stop })
		stuck := w.get("/")
		synctest.Wait()
		w.signals <- syscall.SIGTERM
		sum := w.end(12 * time.Second)
		if got := <-stuck; got != "error" {
			t.Errorf("its caller got %q", got)
		}
		if want := (ledger.Requests{Admitted: 1, Cancelled: 1}); sum.Report.Requests != want {
			t.Errorf("requests %+v", sum.Report.Requests)
		}
		close(stop)
	})
}

// Of a connection that its handler has taken over, such as a WebSocket, the
// HTTP server knows nothing any more and waits for none.
func TestAHandlerWithAConnectionOfItsOwnHasTheTimeToUnwind(t *testing.T) {
	for _, tc := range []struct {
		name    string
		unwinds time.Duration
		took    time.Duration
		cause   string
	}{
		{"it ends with its work", 0, 10 * time.Second, "the graceful timeout has passed"},
		{"it says goodbye first", time.Second, 11 * time.Second, "the graceful timeout has passed"},
		{"it does not end", time.Hour, 12 * time.Second, "the graceful timeout has passed; its handler has not returned"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				recorder := ledger.NewRecorder(time.Now)
				w := run(t, lifecycle.Config{Recorder: recorder}, func(out http.ResponseWriter, r *http.Request) {
					conn, _, err := http.NewResponseController(out).Hijack()
					if err != nil {
						t.Error(err)
						return
					}
					defer conn.Close()
					<-r.Context().Done()
					<-time.After(tc.unwinds)
				})
				answer := w.get("/")
				synctest.Wait()
				w.signals <- syscall.SIGTERM
				if sum := w.end(10 * time.Second); sum.Took != tc.took {
					t.Errorf("it took %v", sum.Took)
				}
				var last ledger.Event
				for _, e := range recorder.Since(0) {
					if e.Request != "" {
						last = e
					}
				}
				if last.Kind != ledger.RequestCancelled || last.Detail != tc.cause {
					t.Errorf("its record ends in %+v", last)
				}
				<-answer
			})
		})
	}
}

func TestStreamsAreToldToEndAndNeedTheirMarker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w *world
		w = run(t, lifecycle.Config{
			All:      true,
			Classify: func(r *http.Request) (string, bool) { return "stream", true },
		}, func(out http.ResponseWriter, r *http.Request) {
			for {
				fmt.Fprintln(out, "chunk")
				http.NewResponseController(out).Flush()
				select {
				case <-time.After(time.Second):
				case <-w.server.Draining():
					if r.URL.Path == "/marked" {
						fmt.Fprintln(out, "end")
						lifecycle.FromContext(r.Context()).Complete()
					}
					return
				}
			}
		})
		marked, unmarked := w.get("/marked"), w.get("/unmarked")
		synctest.Wait()
		w.signals <- syscall.SIGTERM
		sum := w.end(0)
		if got := <-marked; !strings.HasSuffix(got, "end") {
			t.Errorf("the marked stream got %q", got)
		}
		<-unmarked
		if want := (ledger.Requests{Admitted: 2, Completed: 1, Failed: 1}); sum.Report.Requests != want || sum.Report.IncompleteStreams != 1 {
			t.Errorf("requests %+v, incomplete %d", sum.Report.Requests, sum.Report.IncompleteStreams)
		}
	})
}

func TestSilentAndIdleConnectionsDoNotHoldTheDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := run(t, lifecycle.Config{}, slow)
		<-w.get("/?for=0s") // leaves an idle connection
		silent, err := w.pipes.Dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		w.signals <- syscall.SIGTERM
		if sum := w.end(0); sum.Took != 0 || !sum.Clean() {
			t.Errorf("it took %v: %+v", sum.Took, sum)
		}
		if _, err := silent.Read(make([]byte, 1)); err == nil {
			t.Error("the silent connection is still open")
		}
	})
}

func TestAClientThatGoesAwayIsInTheLedgerAndNoFailureOfTheDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := run(t, lifecycle.Config{All: true}, slow)
		ctx, cancel := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://server/?for=60s", nil)
		if err != nil {
			t.Fatal(err)
		}
		go w.client.Do(r)
		synctest.Wait()
		w.signals <- syscall.SIGTERM
		synctest.Wait()
		cancel()
		sum := w.end(0)
		if want := (ledger.Requests{Admitted: 1, Cancelled: 1}); sum.Report.Requests != want || !sum.Clean() {
			t.Errorf("requests %+v, cut %v", sum.Report.Requests, sum.Cut)
		}
	})
}

func TestARequestsOwnDeadlineHoldsDuringTheDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := run(t, lifecycle.Config{All: true}, func(out http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), 3*time.Second)
			defer cancel()
			slow(out, r.WithContext(ctx))
		})
		late := w.get("/?for=60s")
		synctest.Wait()
		w.signals <- syscall.SIGTERM
		sum := w.end(3 * time.Second)
		if got := <-late; got != "500 context deadline exceeded" {
			t.Errorf("it got %q", got)
		}
		if want := (ledger.Requests{Admitted: 1, Failed: 1}); sum.Report.Requests != want || sum.Took != 3*time.Second || !sum.Clean() {
			t.Errorf("requests %+v after %v", sum.Report.Requests, sum.Took)
		}
	})
}

func TestAPanicIsAFailedRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := run(t, lifecycle.Config{}, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		<-w.get("/")
		w.signals <- syscall.SIGTERM
		if sum := w.end(0); sum.Report.Requests != (ledger.Requests{Admitted: 1, Failed: 1}) {
			t.Errorf("requests %+v", sum.Report.Requests)
		}
	})
}

func TestProbesTellALiveProcessFromAReadyOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w *world
		var broken atomic.Bool
		w = run(t, lifecycle.Config{Exempt: func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "z") }},
			func(out http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/livez":
					w.server.Live(out, r)
				case "/readyz":
					w.server.Ready(func(context.Context) error {
						if broken.Load() {
							return errors.New("no store")
						}
						return nil
					})(out, r)
				default:
					slow(out, r)
				}
			})
		expect := func(live, ready string) {
			t.Helper()
			if a, b := <-w.get("/livez"), <-w.get("/readyz"); a != live || b != ready {
				t.Errorf("live %q, ready %q; want %q, %q", a, b, live, ready)
			}
		}
		expect("200 alive", "200 ready")
		broken.Store(true)
		expect("200 alive", "503 not ready")
		broken.Store(false)
		held := w.get("/?for=5s")
		synctest.Wait()
		w.server.Quiesce() // by a management call, before any signal
		w.server.Quiesce()
		expect("200 alive", "503 not ready: QUIESCING")
		if got := <-w.get("/?for=0s"); !strings.HasPrefix(got, "503") {
			t.Errorf("after quiescing a request got %q", got)
		}
		w.signals <- syscall.SIGTERM
		synctest.Wait()
		expect("200 alive", "503 not ready: DRAINING")
		if got := <-held; got != "200 done" {
			t.Errorf("the admitted request got %q", got)
		}
		if sum := w.end(0); sum.Report.Requests != (ledger.Requests{Admitted: 1, Completed: 1, Rejected: 1}) {
			t.Errorf("requests %+v", sum.Report.Requests)
		}
	})
}

func TestCleanupAndRecordStayInTheirBudgets(t *testing.T) {
	for _, tc := range []struct {
		name    string
		cleanup func(context.Context) error
		store   func(tries int) error
		took    time.Duration
		says    string // in what went wrong
	}{
		{"both work", nil, func(int) error { return nil }, 0, ""},
		{"cleanup fails", func(context.Context) error { return errors.New("no disk") }, nil, 0, "cleanup: no disk"},
		{"the store fails twice and then works", nil, func(tries int) error {
			if tries < 3 {
				return errors.New("busy")
			}
			return nil
		}, 100 * time.Millisecond, ""},
		{"the store never works", nil, func(int) error { return errors.New("read-only") }, time.Second, "evidence lost"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				cfg := lifecycle.Config{Cleanup: tc.cleanup}
				if tc.store != nil {
					cfg.Store = func(context.Context, []ledger.Event) error { tries++; return tc.store(tries) }
				}
				w := run(t, cfg, slow)
				synctest.Wait()
				w.signals <- syscall.SIGTERM
				sum := w.end(tc.took)
				said := fmt.Sprint(errors.Join(sum.CleanupErr, sum.RecordErr))
				if sum.Took != tc.took || sum.Clean() != (tc.says == "") || !strings.Contains(said, tc.says) {
					t.Errorf("took %v, said %q", sum.Took, said)
				}
				if lost := strings.Contains(tc.says, "evidence"); sum.Report.EvidenceLost != lost {
					t.Errorf("evidence lost: %v", sum.Report.EvidenceLost)
				}
			})
		})
	}
}

func TestACleanupThatHangsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		w := run(t, lifecycle.Config{
			Cleanup: func(context.Context) error { <-release; return nil },
			Store:   func(context.Context, []ledger.Event) error { <-release; return nil },
		}, slow)
		synctest.Wait()
		w.signals <- syscall.SIGTERM
		sum := w.end(2 * time.Second)
		if sum.Took != 2*time.Second || sum.CleanupErr == nil || sum.RecordErr == nil {
			t.Errorf("took %v: %v, %v", sum.Took, sum.CleanupErr, sum.RecordErr)
		}
		close(release)
	})
}

// No request may pass the gate uncounted: thousands arrive around the flip.
func TestNoRequestPassesTheGateUncounted(t *testing.T) {
	const requests = 5000
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })}
	s := lifecycle.New(lifecycle.Config{Server: server, Budget: budget})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	signals := make(chan os.Signal, 1)
	done := make(chan lifecycle.Summary, 1)
	var served, rejected atomic.Int64
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range requests {
		wg.Go(func() {
			<-start
			if i == requests/2 {
				signals <- syscall.SIGTERM
			}
			w := httptest.NewRecorder()
			server.Handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
			if w.Code == http.StatusOK {
				served.Add(1)
			} else {
				rejected.Add(1)
			}
		})
	}
	go func() {
		sum, err := s.Serve(l, signals)
		if err != nil {
			t.Error(err)
		}
		done <- sum
	}()
	close(start)
	sum := <-done
	wg.Wait() // those that came after the exit are rejected too
	r := sum.Report.Requests
	if int64(r.Admitted) != served.Load() || r.Admitted != r.Completed || int64(r.Rejected) > rejected.Load() {
		t.Errorf("the ledger says %+v, the callers %d served and %d rejected", r, served.Load(), rejected.Load())
	}
	t.Logf("%d served, %d rejected", served.Load(), rejected.Load())
}

// A handler that has returned leaves its response in the server's hands: the
// client has the time of the unwinding to take it.
func TestAResponseUnderWayGoesOutOrIsReportedAsClosed(t *testing.T) {
	for _, tc := range []struct {
		name  string
		reads time.Duration // after the signal
		took  time.Duration // at least, the server looks now and then
		whole bool
	}{
		{"the client reads at once", 0, 0, true},
		{"the client reads late", time.Second, time.Second, true},
		{"the client reads too late", 5 * time.Second, 2 * time.Second, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log strings.Builder
				w := run(t, lifecycle.Config{Log: slog.New(slog.NewTextHandler(&log, nil))}, slow)
				conn, err := w.pipes.Dial(t.Context(), "", "")
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				fmt.Fprint(conn, "GET /?for=0s HTTP/1.1\r\nHost: x\r\n\r\n")
				synctest.Wait()
				w.signals <- syscall.SIGTERM
				time.Sleep(tc.reads)
				got, err := io.ReadAll(conn)
				if whole := err == nil && strings.HasSuffix(string(got), "done"); whole != tc.whole {
					t.Errorf("the client got %q, %v", got, err)
				}
				if sum := w.end(tc.took); sum.Report.Requests != (ledger.Requests{Admitted: 1, Completed: 1}) {
					t.Errorf("requests %+v", sum.Report.Requests)
				}
				if told := strings.Contains(log.String(), "closed with responses under way"); told == tc.whole {
					t.Errorf("the log says\n%s", log.String())
				}
			})
		})
	}
}

// On a real connection a response's last bytes arrive although the server
// closes everything right after.
func TestTheLastBytesOfAResponseArrive(t *testing.T) {
	body := strings.Repeat("x", 1<<20)
	begun := make(chan struct{})
	finish := make(chan struct{})
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(begun)
		<-finish
		io.WriteString(w, body)
	})}
	s := lifecycle.New(lifecycle.Config{Server: server, Budget: budget})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	signals := make(chan os.Signal, 1)
	done := make(chan lifecycle.Summary, 1)
	go func() {
		sum, _ := s.Serve(l, signals)
		done <- sum
	}()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	<-begun
	signals <- syscall.SIGTERM
	<-s.Draining()
	close(finish)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(resp.Body)
	if err != nil || len(got) != len(body) {
		t.Errorf("%d bytes arrived, %v", len(got), err)
	}
	if sum := <-done; !sum.Clean() || sum.Report.Requests.Completed != 1 {
		t.Errorf("summary %+v", sum)
	}
}

// A server that holds nothing has nothing to cut, whatever comes at once.
func TestAnIdleServerEndsCleanlyUnderTwoSignalsAndNoTime(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			w := run(t, lifecycle.Config{Budget: lifecycle.Budget{Unwind: time.Second, Cleanup: time.Second, Record: time.Second}}, slow)
			w.signals <- syscall.SIGTERM
			w.signals <- os.Interrupt
			if sum := w.end(0); !sum.Clean() {
				t.Fatalf("cut: %v", sum.Cut)
			}
		})
	}
}
