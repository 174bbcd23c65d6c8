// Package natsstore keeps sessions in a key-value bucket of NATS JetStream: in
// a server embedded in this process, or in a cluster that several processes
// share. It must not know what a session means.
package natsstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"drainlab/internal/session"
)

const (
	bucket = "drainlab_sessions"
	// timeToLive of a session that is not written, and so not watched.
	timeToLive = 30 * time.Minute
	// maxBytes bounds the bucket, and new sessions are taken up to half of it:
	// 400,000 of some 300 bytes with their headers. A session of opening values
	// grows by half when all are changed, which must not fail because others
	// fill the store.
	maxBytes = 256 << 20
	// maxValue bounds one session, of a foreign writer in a shared cluster.
	maxValue = 4 << 10
)

// Config says where sessions are kept.
type Config struct {
	// URL of a NATS cluster with JetStream. Empty: a server in this process,
	// which listens on no port.
	URL string
	// Dir is the embedded server's folder. Empty: a temporary one, removed at
	// Close.
	Dir string
	// Log is told what was dropped; nil: nobody is.
	Log *slog.Logger

	maxBytes int64 // of the bucket, for tests; 0: maxBytes
}

// Store is a [session.Store] on NATS JetStream.
type Store struct {
	kv     jetstream.KeyValue
	conn   *nats.Conn
	server *server.Server // nil for a cluster
	temp   string         // the folder to remove, if any
	limit  uint64         // of bytes, for new sessions
	lock   *os.File       // of the embedded server's folder
	log    *slog.Logger
	told   sync.Once // of records of the version before
}

var _ session.Store = (*Store)(nil)

// Open connects to the configured store and waits until it answers.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	s := &Store{log: cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))}
	if err := s.open(ctx, cfg); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, cfg Config) error {
	options := []nats.Option{nats.Name("drainlab"), nats.MaxReconnects(-1), nats.RetryOnFailedConnect(false)}
	if cfg.URL == "" {
		if err := s.embed(cfg.Dir); err != nil {
			return err
		}
		options = append(options, nats.InProcessServer(s.server))
	}
	var err error
	if s.conn, err = nats.Connect(cfg.URL, options...); err != nil {
		return fmt.Errorf("connecting to the session store: %w", err)
	}
	js, err := jetstream.New(s.conn)
	if err != nil {
		return fmt.Errorf("opening the session store: %w", err)
	}
	size := cmp.Or(cfg.maxBytes, maxBytes)
	s.limit = uint64(size / 2)
	s.kv, err = js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket:       bucket,
		Description:  "Drainlab sessions",
		TTL:          timeToLive,
		MaxBytes:     size,
		MaxValueSize: maxValue,
		Storage:      jetstream.FileStorage,
	})
	if err != nil {
		return fmt.Errorf("opening the sessions' bucket: %w", err)
	}
	return nil
}

func (s *Store) embed(dir string) error {
	if dir == "" {
		temp, err := os.MkdirTemp("", "drainlab-")
		if err != nil {
			return fmt.Errorf("making the session store's folder: %w", err)
		}
		dir, s.temp = temp, temp
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("making the session store's folder: %w", err)
	}
	// Two servers in one folder would overwrite each other's sessions.
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("locking the session store's folder: %w", err)
	}
	s.lock = lock // until Close, or the end of the process
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("the session store's folder %s is in use by another server: %w", dir, err)
	}
	ns, err := server.NewServer(&server.Options{
		ServerName: "drainlab",
		DontListen: true,
		JetStream:  true,
		StoreDir:   dir,
		NoSigs:     true,
		NoLog:      true,
	})
	if err != nil {
		return fmt.Errorf("making the session store: %w", err)
	}
	s.server = ns
	fatal := make(lastWords, 1)
	ns.SetLogger(fatal, false, false)
	ns.Start() // returns once started, for there is no port to accept at
	select {
	case why := <-fatal:
		return fmt.Errorf("the session store in %s does not start: %s", dir, why)
	default:
		return nil
	}
}

// lastWords is the embedded server's log. It keeps what the server cannot
// start for, which the server tells nobody else.
type lastWords chan string

// Fatalf implements [server.Logger].
func (l lastWords) Fatalf(format string, v ...any) {
	select {
	case l <- fmt.Sprintf(format, v...):
	default:
	}
}

// The rest of [server.Logger] is not kept.
func (lastWords) Noticef(string, ...any) {}
func (lastWords) Warnf(string, ...any)   {}
func (lastWords) Errorf(string, ...any)  {}
func (lastWords) Debugf(string, ...any)  {}
func (lastWords) Tracef(string, ...any)  {}

// Close ends the connection, and the embedded server where there is one.
func (s *Store) Close() {
	if s.conn != nil {
		s.conn.Close()
	}
	if s.server != nil {
		s.server.Shutdown()
		s.server.WaitForShutdown()
	}
	if s.lock != nil {
		s.lock.Close()
	}
	if s.temp != "" {
		os.RemoveAll(s.temp)
	}
}

// Ready reports whether the store answers.
func (s *Store) Ready(ctx context.Context) error {
	_, err := s.kv.Status(ctx)
	return err
}

// Get implements [session.Store].
func (s *Store) Get(ctx context.Context, id session.ID) (session.Record, error) {
	entry, err := s.kv.Get(ctx, string(id))
	if err != nil {
		return session.Record{}, translate(err)
	}
	return s.decode(ctx, entry)
}

// Create implements [session.Store].
func (s *Store) Create(ctx context.Context, id session.ID, state session.State) (session.Record, error) {
	value, err := json.Marshal(state)
	if err != nil {
		return session.Record{}, fmt.Errorf("encoding a session: %w", err)
	}
	status, err := s.kv.Status(ctx)
	if err != nil {
		return session.Record{}, translate(err)
	}
	if status.Bytes() >= s.limit {
		return session.Record{}, session.ErrFull
	}
	revision, err := s.kv.Create(ctx, string(id), value)
	if errors.Is(err, jetstream.ErrKeyExists) {
		if _, gone := s.Get(ctx, id); errors.Is(gone, session.ErrNotFound) { // of the version before, and dropped now
			revision, err = s.kv.Create(ctx, string(id), value)
		}
	}
	if err != nil {
		return session.Record{}, translate(err)
	}
	return session.Record{State: state, Revision: revision}, nil
}

// Update implements [session.Store].
func (s *Store) Update(ctx context.Context, id session.ID, state session.State, revision uint64) (session.Record, error) {
	value, err := json.Marshal(state)
	if err != nil {
		return session.Record{}, fmt.Errorf("encoding a session: %w", err)
	}
	revision, err = s.kv.Update(ctx, string(id), value, revision)
	if errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		err = session.ErrConflict
	}
	if err != nil {
		return session.Record{}, translate(err)
	}
	return session.Record{State: state, Revision: revision}, nil
}

// Watch implements [session.Store].
func (s *Store) Watch(ctx context.Context, id session.ID) (<-chan session.Record, error) {
	reconnected := s.conn.StatusChanged(nats.CONNECTED)
	watcher, err := s.kv.Watch(ctx, string(id), jetstream.IgnoreDeletes())
	if err != nil {
		s.conn.RemoveStatusListener(reconnected)
		return nil, translate(err)
	}
	newest := make(chan session.Record, 1)
	go func() {
		defer close(newest)
		defer s.conn.RemoveStatusListener(reconnected)
		defer func() { watcher.Stop() }()
		for {
			select {
			case <-ctx.Done():
				return
			case <-reconnected:
				// A server that went has forgotten the watch; the client would
				// find that out by itself, but only after some 15 s.
				again, err := s.kv.Watch(ctx, string(id), jetstream.IgnoreDeletes())
				if err != nil {
					return
				}
				watcher.Stop()
				watcher = again
			case entry, ok := <-watcher.Updates():
				if !ok {
					return
				}
				if entry == nil { // the end of what was there at first
					continue
				}
				rec, err := s.decode(ctx, entry)
				if errors.Is(err, session.ErrNotFound) { // it may be made again
					continue
				}
				if err != nil {
					return
				}
				select { // a record not yet taken is overtaken
				case <-newest:
				default:
				}
				newest <- rec
			}
		}
	}()
	return newest, nil
}

// decode reads an entry. A record of the version before is dropped: its session
// is as one that is not there.
func (s *Store) decode(ctx context.Context, entry jetstream.KeyValueEntry) (session.Record, error) {
	rec := session.Record{Revision: entry.Revision()}
	err := json.Unmarshal(entry.Value(), &rec.State)
	switch {
	case errors.Is(err, session.ErrBefore):
		s.told.Do(func() { s.log.Warn("sessions of the version before are dropped: its records name no lesson") })
		// Not what another process has written over it meanwhile. Where this
		// fails the record goes by its time to live.
		_ = s.kv.Delete(ctx, entry.Key(), jetstream.LastRevision(entry.Revision()))
		return session.Record{}, session.ErrNotFound
	case err != nil:
		return session.Record{}, fmt.Errorf("a stored session cannot be read: %w", err)
	}
	return rec, nil
}

// storeFailed is JetStream's error code for a message that was not stored; why
// is only in the error's text.
const storeFailed = 10077

func translate(err error) error {
	var api *jetstream.APIError
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound), errors.Is(err, jetstream.ErrKeyDeleted):
		return session.ErrNotFound
	case errors.Is(err, jetstream.ErrKeyExists):
		return session.ErrExists
	case errors.As(err, &api) && api.ErrorCode == storeFailed && api.Description == server.ErrMaxBytes.Error():
		return session.ErrFull
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, session.ErrConflict):
		return err
	}
	return fmt.Errorf("the session store: %w", err)
}
