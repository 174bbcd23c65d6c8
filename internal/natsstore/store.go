// Package natsstore keeps sessions in a key-value bucket of NATS JetStream: in
// a server embedded in this process, or in a cluster that several processes
// share. It must not know what a session means.
package natsstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
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
	// maxBytes bounds the bucket: about 300,000 sessions of some 400 bytes
	// with their headers.
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
}

// Store is a [session.Store] on NATS JetStream.
type Store struct {
	kv     jetstream.KeyValue
	conn   *nats.Conn
	server *server.Server // nil for a cluster
	temp   string         // the folder to remove, if any
}

var _ session.Store = (*Store)(nil)

// Open connects to the configured store and waits until it answers.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	s := &Store{}
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
	s.kv, err = js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket:       bucket,
		Description:  "Drainlab sessions",
		TTL:          timeToLive,
		MaxBytes:     maxBytes,
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
	go ns.Start()
	if !ns.ReadyForConnections(10 * time.Second) {
		return fmt.Errorf("the session store in %s does not start", dir)
	}
	return nil
}

// Close ends the connection, and the embedded server where there is one.
func (s *Store) Close() {
	if s.conn != nil {
		s.conn.Close()
	}
	if s.server != nil {
		s.server.Shutdown()
		s.server.WaitForShutdown()
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
	return decode(entry)
}

// Create implements [session.Store].
func (s *Store) Create(ctx context.Context, id session.ID, state session.State) (session.Record, error) {
	value, err := json.Marshal(state)
	if err != nil {
		return session.Record{}, fmt.Errorf("encoding a session: %w", err)
	}
	revision, err := s.kv.Create(ctx, string(id), value)
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
	if errors.Is(err, jetstream.ErrKeyExists) {
		err = session.ErrConflict // JetStream's word for "not that revision any more"
	}
	if err != nil {
		return session.Record{}, translate(err)
	}
	return session.Record{State: state, Revision: revision}, nil
}

// Watch implements [session.Store].
func (s *Store) Watch(ctx context.Context, id session.ID) (<-chan session.Record, error) {
	watcher, err := s.kv.Watch(ctx, string(id), jetstream.IgnoreDeletes())
	if err != nil {
		return nil, translate(err)
	}
	newest := make(chan session.Record, 1)
	go func() {
		defer close(newest)
		defer watcher.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case entry, ok := <-watcher.Updates():
				if !ok {
					return
				}
				if entry == nil { // the end of what was there at first
					continue
				}
				rec, err := decode(entry)
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

func decode(entry jetstream.KeyValueEntry) (session.Record, error) {
	rec := session.Record{Revision: entry.Revision()}
	if err := json.Unmarshal(entry.Value(), &rec.State); err != nil {
		return session.Record{}, fmt.Errorf("a stored session cannot be read: %w", err)
	}
	return rec, nil
}

// fullCode is JetStream's error code for a stream at its maximum of bytes.
const fullCode = 10077

func translate(err error) error {
	var api *jetstream.APIError
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound), errors.Is(err, jetstream.ErrKeyDeleted):
		return session.ErrNotFound
	case errors.Is(err, jetstream.ErrKeyExists):
		return session.ErrExists
	case errors.As(err, &api) && int(api.ErrorCode) == fullCode:
		return session.ErrFull
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, session.ErrConflict):
		return err
	}
	return fmt.Errorf("the session store: %w", err)
}
