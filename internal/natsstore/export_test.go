package natsstore

// Running reports whether the embedded server runs.
func (s *Store) Running() bool { return s.server.Running() }

// WithMaxBytes bounds the bucket, so that a test can fill it.
func (c Config) WithMaxBytes(n int64) Config {
	c.maxBytes = n
	return c
}
