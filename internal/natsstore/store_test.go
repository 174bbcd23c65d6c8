package natsstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"drainlab/internal/natsstore"
	"drainlab/internal/session"
	"drainlab/internal/session/storetest"
	"drainlab/internal/setting"
)

// patience bounds what a test waits for; only one that fails waits as long.
const patience = 30 * time.Second

func open(t *testing.T, cfg natsstore.Config) *natsstore.Store {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	store, err := natsstore.Open(ctx, cfg)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(store.Close)
	return store
}

// wantRefused wants Open to fail with a message that has all the words.
func wantRefused(t *testing.T, ctx context.Context, cfg natsstore.Config, words ...string) {
	t.Helper()
	store, err := natsstore.Open(ctx, cfg)
	if err == nil {
		store.Close()
		t.Fatal("Open opened the store")
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error %q does not have %q", err, word)
		}
	}
}

// cluster starts a NATS server of its own, as several processes share one.
func cluster(t *testing.T, options server.Options) *server.Server {
	t.Helper()
	options.Host, options.NoLog, options.NoSigs = "127.0.0.1", true, true
	if options.Port == 0 {
		options.Port = server.RANDOM_PORT
	}
	ns, err := server.NewServer(&options)
	if err != nil {
		t.Fatal(err)
	}
	go ns.Start()
	t.Cleanup(func() { stop(ns) })
	if !ns.ReadyForConnections(patience) {
		t.Fatal("the NATS server does not start")
	}
	return ns
}

func jetStreamCluster(t *testing.T) *server.Server {
	t.Helper()
	return cluster(t, server.Options{JetStream: true, StoreDir: t.TempDir()})
}

func stop(ns *server.Server) {
	ns.Shutdown()
	ns.WaitForShutdown()
}

// bucket is the sessions' bucket as any other client of the cluster sees it.
func bucket(t *testing.T, ns *server.Server) (jetstream.JetStream, jetstream.KeyValue) {
	t.Helper()
	conn, err := nats.Connect(ns.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.KeyValue(t.Context(), "drainlab_sessions")
	if err != nil {
		t.Fatal(err)
	}
	return js, kv
}

func do(t *testing.T, store session.Store, id session.ID, cmd session.Command) session.Record {
	t.Helper()
	rec, err := session.Do(t.Context(), storetest.Lessons(), store, id, cmd)
	if err != nil {
		t.Fatalf("Do: %v", err)
	}
	return rec
}

func wantSame(t *testing.T, got, want session.Record) {
	t.Helper()
	if got.Revision != want.Revision || !storetest.Same(got.State, want.State) {
		t.Fatalf("got  %+v\nwant %+v", got, want)
	}
}

func TestEmbeddedStore(t *testing.T) {
	storetest.Run(t, open(t, natsstore.Config{Dir: t.TempDir()}))
}

func TestStoreOfACluster(t *testing.T) {
	storetest.Run(t, open(t, natsstore.Config{URL: jetStreamCluster(t).ClientURL()}))
}

func TestProcessesOnOneClusterShareTheirSessions(t *testing.T) {
	ns := jetStreamCluster(t)
	a, b := open(t, natsstore.Config{URL: ns.ClientURL()}), open(t, natsstore.Config{URL: ns.ClientURL()})
	id, rec := storetest.Create(t, a, 100)
	storetest.WantRecord(t, b, id, rec)
	atA, atB := storetest.Watch(t, a, id), storetest.Watch(t, b, id)
	wantSame(t, storetest.Receive(t, atA), rec)
	wantSame(t, storetest.Receive(t, atB), rec)
	for _, store := range []session.Store{a, b, a} {
		rec = do(t, store, id, session.Step{Seconds: 1})
		wantSame(t, storetest.Receive(t, atA), rec)
		wantSame(t, storetest.Receive(t, atB), rec)
	}
	if at := rec.State.Clock.At; at != 130 {
		t.Errorf("three steps from 10 s came to %v s", at)
	}
	if _, err := b.Create(t.Context(), id, storetest.Paused(0)); !errors.Is(err, session.ErrExists) {
		t.Errorf("the other process creates the session again: %v", err)
	}
	a.Close()
	rec = do(t, b, id, session.Step{Seconds: 1})
	wantSame(t, storetest.Receive(t, atB), rec)
}

func TestSessionsSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	first := open(t, natsstore.Config{Dir: dir})
	id, _ := storetest.Create(t, first, 100)
	rec := do(t, first, id, session.Step{Seconds: 1})
	first.Close()
	wantKept(t, dir, id, rec)
}

// A process that is killed closes nothing: what it leaves behind is what the
// folder has at any moment.
func TestSessionsSurviveACrash(t *testing.T) {
	dir, crashed := t.TempDir(), t.TempDir()
	first := open(t, natsstore.Config{Dir: dir})
	id, _ := storetest.Create(t, first, 100)
	rec := do(t, first, id, session.Step{Seconds: 1})
	if err := os.CopyFS(crashed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	wantKept(t, crashed, id, rec)
}

func wantKept(t *testing.T, dir string, id session.ID, rec session.Record) {
	t.Helper()
	store := open(t, natsstore.Config{Dir: dir})
	storetest.WantRecord(t, store, id, rec)
	records := storetest.Watch(t, store, id)
	wantSame(t, storetest.Receive(t, records), rec)
	next := do(t, store, id, session.Step{Seconds: 1})
	if next.Revision <= rec.Revision {
		t.Errorf("revision %d came after %d", next.Revision, rec.Revision)
	}
	wantSame(t, storetest.Receive(t, records), next)
}

// A NATS server that starts again has forgotten who watches, and what it sent
// meanwhile is lost.
func TestAWatchGoesOnWhenItsServerStartsAgain(t *testing.T) {
	options := server.Options{JetStream: true, StoreDir: t.TempDir()}
	ns := cluster(t, options)
	store := open(t, natsstore.Config{URL: ns.ClientURL()})
	id, rec := storetest.Create(t, store, 100)
	records := storetest.Watch(t, store, id)
	wantSame(t, storetest.Receive(t, records), rec)
	options.Port = ns.Addr().(*net.TCPAddr).Port
	stop(ns)
	cluster(t, options)
	wantSame(t, storetest.Receive(t, records), rec) // the present once more, without a write
	rec = do(t, store, id, session.Step{Seconds: 1})
	wantSame(t, storetest.Receive(t, records), rec)
}

func TestATemporaryFolderIsRemoved(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	folders := func() int {
		found, err := filepath.Glob(filepath.Join(temp, "*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	store := open(t, natsstore.Config{})
	id, rec := storetest.Create(t, store, 100)
	storetest.WantRecord(t, store, id, rec)
	if got := folders(); got != 1 {
		t.Errorf("an open store has %d folders, want 1", got)
	}
	store.Close()
	if got := folders(); got != 0 {
		t.Errorf("a closed store leaves %d folders", got)
	}
	store.Close() // again does no harm

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	wantRefused(t, ended, natsstore.Config{})
	if got := folders(); got != 0 {
		t.Errorf("a store that did not open leaves %d folders", got)
	}
}

func TestCloseEndsTheServerAndKeepsItsFolder(t *testing.T) {
	dir := t.TempDir()
	store := open(t, natsstore.Config{Dir: dir})
	if !store.Running() {
		t.Error("an open store has no server")
	}
	store.Close()
	if store.Running() {
		t.Error("a closed store has a server")
	}
	if _, err := os.Stat(filepath.Join(dir, "jetstream")); err != nil {
		t.Error(err)
	}
}

func TestAFolderIsOneServersAtATime(t *testing.T) {
	dir := t.TempDir()
	store := open(t, natsstore.Config{Dir: dir})
	id, rec := storetest.Create(t, store, 100)
	wantRefused(t, t.Context(), natsstore.Config{Dir: dir}, dir, "in use")
	storetest.WantRecord(t, store, id, rec)
	wantRefused(t, t.Context(), natsstore.Config{Dir: dir}, dir, "in use") // the refused one took nothing away
	store.Close()
	wantKept(t, dir, id, rec)
}

func TestTheBucketIsBoundedInTimeAndSpace(t *testing.T) {
	ns := jetStreamCluster(t)
	open(t, natsstore.Config{URL: ns.ClientURL()})
	js, _ := bucket(t, ns)
	stream, err := js.Stream(t.Context(), "KV_drainlab_sessions")
	if err != nil {
		t.Fatal(err)
	}
	got := stream.CachedInfo().Config
	want := fmt.Sprint(30*time.Minute, 256<<20, 4<<10, 1, jetstream.DiscardNew, jetstream.FileStorage)
	if have := fmt.Sprint(got.MaxAge, got.MaxBytes, got.MaxMsgSize, got.MaxMsgsPerSubject, got.Discard, got.Storage); have != want {
		t.Errorf("the bucket has %s, want %s", have, want)
	}
}

func TestABucketOfBeforeTakesTheNewBounds(t *testing.T) {
	ns := jetStreamCluster(t)
	open(t, natsstore.Config{URL: ns.ClientURL()}.WithMaxBytes(1<<20))
	_, kv := bucket(t, ns)
	for _, want := range []int64{256 << 20, 1 << 20} {
		cfg := natsstore.Config{URL: ns.ClientURL()}
		if want != 256<<20 {
			cfg = cfg.WithMaxBytes(want)
		}
		open(t, cfg)
		status, err := kv.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := status.Config().MaxBytes; got != want {
			t.Errorf("the bucket takes %d bytes, want %d", got, want)
		}
	}
}

func TestAFullStoreTakesNoMoreSessionsAndServesThoseItHas(t *testing.T) {
	ns := jetStreamCluster(t)
	store := open(t, natsstore.Config{URL: ns.ClientURL()}.WithMaxBytes(64<<10))
	_, kv := bucket(t, ns)
	made := fill(t, store)
	if len(made) < 100 {
		t.Errorf("only %d sessions fit", len(made))
	}
	for id := range made {
		for range 10 {
			made[id] = do(t, store, id, session.Step{Seconds: 1})
		}
		long := made[id].State
		long.Query = longest
		made[id] = storetest.Update(t, store, id, made[id], long)
	}

	// Only another writer of the cluster fills what is left.
	err := error(nil)
	for i := 0; err == nil; i++ {
		_, err = kv.PutString(t.Context(), fmt.Sprint("foreign", i), strings.Repeat("x", 10))
	}
	if !strings.Contains(err.Error(), "maximum bytes exceeded") {
		t.Fatalf("the bucket ends with %v", err)
	}
	if _, err := store.Create(t.Context(), session.NewID(), storetest.Paused(100)); !errors.Is(err, session.ErrFull) {
		t.Errorf("Create returns %v, want ErrFull", err)
	}
	for id, rec := range made {
		longer := rec.State
		longer.Shown = 1<<32 - 1
		if _, err := store.Update(t.Context(), id, longer, rec.Revision); !errors.Is(err, session.ErrFull) {
			t.Fatalf("Update returns %v, want ErrFull", err)
		}
		storetest.WantRecord(t, store, id, rec)
		wantSame(t, storetest.Receive(t, storetest.Watch(t, store, id)), rec)
	}
}

// longest stands for the settings that take most bytes: all of lesson 1's at
// once, none at its opening value.
const longest = "workers=4&slots=16&startup=19.9&interval=9.9&duration=39.9&signal=59.9&grace=29.9&handler=0&replacement=1&ready_only=0&fail_init=1&allowance=100"

// fill creates sessions until no more are taken.
func fill(t *testing.T, store session.Store) map[session.ID]session.Record {
	t.Helper()
	made := map[session.ID]session.Record{}
	for len(made) < 10_000 {
		id := session.NewID()
		rec, err := store.Create(t.Context(), id, storetest.Paused(100))
		if errors.Is(err, session.ErrFull) {
			return made
		}
		if err != nil {
			t.Fatalf("after %d sessions Create returns %v, want ErrFull", len(made), err)
		}
		made[id] = rec
	}
	t.Fatalf("%d sessions fit", len(made))
	return nil
}

// JetStream has one code for all that is not stored; only the bytes are ours.
func TestWhatElseIsNotStoredIsNotFull(t *testing.T) {
	ns := jetStreamCluster(t)
	store := open(t, natsstore.Config{URL: ns.ClientURL()})
	js, _ := bucket(t, ns)
	stream, err := js.Stream(t.Context(), "KV_drainlab_sessions")
	if err != nil {
		t.Fatal(err)
	}
	cfg := stream.CachedInfo().Config
	cfg.MaxMsgs = 1
	if _, err := js.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	storetest.Create(t, store, 100)
	_, err = store.Create(t.Context(), session.NewID(), storetest.Paused(100))
	var api *jetstream.APIError
	if !errors.As(err, &api) || api.ErrorCode != 10077 {
		t.Fatalf("a bucket of one message returns %v; the case is about JetStream's code 10077", err)
	}
	if errors.Is(err, session.ErrFull) {
		t.Errorf("%v is taken for ErrFull", err)
	}
}

func TestReadyUntilClosed(t *testing.T) {
	for name, cfg := range map[string]natsstore.Config{"embedded": {Dir: t.TempDir()}, "of a cluster": {URL: jetStreamCluster(t).ClientURL()}} {
		t.Run(name, func(t *testing.T) {
			store := open(t, cfg)
			if err := store.Ready(t.Context()); err != nil {
				t.Errorf("an open store is not ready: %v", err)
			}
			id, _ := storetest.Create(t, store, 100)
			records := storetest.Watch(t, store, id)
			store.Close()
			if err := store.Ready(t.Context()); err == nil {
				t.Error("a closed store is ready")
			}
			storetest.WantEnd(t, records)
			if _, err := store.Get(t.Context(), id); err == nil || errors.Is(err, session.ErrNotFound) {
				t.Errorf("Get of a closed store returns %v", err)
			}
			if _, err := store.Watch(t.Context(), id); err == nil {
				t.Error("a closed store can be watched")
			}
		})
	}
}

func TestOpenSaysWhyItFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("a file for a folder", func(t *testing.T) {
		wantRefused(t, t.Context(), natsstore.Config{Dir: file}, file, "not a directory")
	})
	t.Run("a folder that cannot be made", func(t *testing.T) {
		wantRefused(t, t.Context(), natsstore.Config{Dir: filepath.Join(file, "folder")}, file, "not a directory")
	})
	t.Run("a folder that the server cannot use", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "jetstream"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		wantRefused(t, t.Context(), natsstore.Config{Dir: dir}, dir, "does not start", "not a directory")
	})
	t.Run("no place for a temporary folder", func(t *testing.T) {
		t.Setenv("TMPDIR", filepath.Join(file, "folder"))
		wantRefused(t, t.Context(), natsstore.Config{}, "folder", "not a directory")
	})
	t.Run("no server at the address", func(t *testing.T) {
		ns := jetStreamCluster(t)
		url := ns.ClientURL()
		stop(ns)
		wantRefused(t, t.Context(), natsstore.Config{URL: url}, "connecting", "no servers available")
	})
	t.Run("a cluster without JetStream", func(t *testing.T) {
		wantRefused(t, t.Context(), natsstore.Config{URL: cluster(t, server.Options{}).ClientURL()}, "bucket", "jetstream not enabled")
	})
}

func TestARecordOfAForeignWriterIsAnErrorOfItsOwn(t *testing.T) {
	ns := jetStreamCluster(t)
	store := open(t, natsstore.Config{URL: ns.ClientURL()})
	_, kv := bucket(t, ns)
	for _, value := range []string{"junk", "{}", "null", `{"model":3,"query":"","clock":{"speed":2,"end":600}}`, `{"lesson":"counter","clock":{"speed":2,"at":601,"end":600}}`} {
		id, rec := storetest.Create(t, store, 100)
		records := storetest.Watch(t, store, id)
		wantSame(t, storetest.Receive(t, records), rec)
		if _, err := kv.PutString(t.Context(), string(id), value); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Get(t.Context(), id); err == nil || errors.Is(err, session.ErrNotFound) || !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("%s: Get returns %v", value, err)
		}
		storetest.WantEnd(t, records)
	}
	id, _ := storetest.Create(t, store, 100)
	if _, err := kv.PutString(t.Context(), string(id), strings.Repeat("x", 5<<10)); err == nil {
		t.Error("a value of 5 KiB is taken")
	}
}

// before is a session as the version before stored it, which knew one lesson.
const before = `{"model":1,"settings":{"workers":1},"clock":{"playing":false,"at":0,"since":"2026-03-14T12:00:00Z","speed":2},"shown":0,"own":false}`

func TestASessionOfTheVersionBeforeIsDroppedAndCanBeMadeAgain(t *testing.T) {
	ns := jetStreamCluster(t)
	for _, c := range []struct {
		name string
		see  func(*testing.T, *natsstore.Store, session.ID)
	}{
		{"once it is read", func(t *testing.T, store *natsstore.Store, id session.ID) {
			if _, err := store.Get(t.Context(), id); !errors.Is(err, session.ErrNotFound) {
				t.Errorf("Get returns %v, want ErrNotFound", err)
			}
		}},
		{"once a command comes to it", func(t *testing.T, store *natsstore.Store, id session.ID) {
			if _, err := session.Do(t.Context(), storetest.Lessons(), store, id, session.Play{}); !errors.Is(err, session.ErrNotFound) {
				t.Errorf("Do returns %v, want ErrNotFound", err)
			}
		}},
		{"once it is watched", func(t *testing.T, store *natsstore.Store, id session.ID) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			store := open(t, natsstore.Config{URL: ns.ClientURL(), Log: slog.New(slog.NewTextHandler(&log, nil))})
			_, kv := bucket(t, ns)
			for range 3 {
				id := session.NewID()
				if _, err := kv.PutString(t.Context(), string(id), before); err != nil {
					t.Fatal(err)
				}
				c.see(t, store, id)
				records := storetest.Watch(t, store, id)
				wantDeleted(t, kv, id)
				rec, err := store.Create(t.Context(), id, storetest.Paused(100))
				if err != nil {
					t.Fatalf("Create: %v", err)
				}
				wantSame(t, storetest.Receive(t, records), rec) // the watch has gone on
			}
			store.Close()
			if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "version before") {
				t.Errorf("the log has %q, want one line", got)
			}
		})
	}
}

// wantDeleted waits until the bucket has nothing of that id.
func wantDeleted(t *testing.T, kv jetstream.KeyValue, id session.ID) {
	t.Helper()
	for late := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		entry, err := kv.Get(t.Context(), string(id))
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("the bucket has %+v, %v", entry, err)
		}
	}
}

func TestASessionIsCreatedOverOneOfTheVersionBefore(t *testing.T) {
	ns := jetStreamCluster(t)
	store := open(t, natsstore.Config{URL: ns.ClientURL()}) // and without a log
	_, kv := bucket(t, ns)
	id := session.NewID()
	if _, err := kv.PutString(t.Context(), string(id), before); err != nil {
		t.Fatal(err)
	}
	rec, err := store.Create(t.Context(), id, storetest.Paused(100))
	if err != nil {
		t.Fatalf("Create: %v", err)
	}
	storetest.WantRecord(t, store, id, rec)
	if _, err := store.Create(t.Context(), id, storetest.Paused(200)); !errors.Is(err, session.ErrExists) {
		t.Errorf("Create again returns %v, want ErrExists", err)
	}
}

func TestASessionThatWasDeletedIsNotFoundAndCanBeMadeAgain(t *testing.T) {
	ns := jetStreamCluster(t)
	store := open(t, natsstore.Config{URL: ns.ClientURL()})
	_, kv := bucket(t, ns)
	id, rec := storetest.Create(t, store, 100)
	records := storetest.Watch(t, store, id)
	wantSame(t, storetest.Receive(t, records), rec)
	if err := kv.Delete(t.Context(), string(id)); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Get(t.Context(), id); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("Get returns %v, want ErrNotFound", err)
	}
	if _, err := store.Update(t.Context(), id, rec.State, rec.Revision); !errors.Is(err, session.ErrConflict) {
		t.Errorf("Update returns %v, want ErrConflict", err)
	}
	again, err := store.Create(t.Context(), id, storetest.Paused(20*setting.Second))
	if err != nil || again.Revision <= rec.Revision {
		t.Fatalf("Create after %+v returns %+v, %v", rec, again, err)
	}
	wantSame(t, storetest.Receive(t, records), again)
}

func TestACallEndsWithItsContext(t *testing.T) {
	store := open(t, natsstore.Config{Dir: t.TempDir()})
	id, rec := storetest.Create(t, store, 100)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err1 := store.Get(ctx, id)
	_, err2 := store.Create(ctx, session.NewID(), rec.State)
	_, err3 := store.Update(ctx, id, rec.State, rec.Revision)
	_, err4 := store.Watch(ctx, id)
	for i, err := range []error{err1, err2, err3, err4} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("call %d returns %v", i, err)
		}
	}
}
