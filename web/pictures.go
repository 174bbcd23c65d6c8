package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/sync/singleflight"
)

// The bounds of the pictures that are kept and drawn. A card takes some 30 kB
// and 10 MB while it is drawn.
const (
	mostPictures     = 256
	mostPictureBytes = 8 << 20
	drawnAtOnce      = 2                // that are drawn: a share of the cores is left to the rooms
	drawWait         = 10 * time.Second // for a place to draw
)

// pictureCache keeps the pictures that were drawn last. Equal keys stand for equal
// pictures, so that nothing in it gets old.
type pictureCache struct {
	places  chan struct{} // one for each picture that is being drawn
	flights singleflight.Group
	most    int // bytes

	mu    sync.Mutex
	kept  *simplelru.LRU[string, []byte]
	bytes int // of all that is kept
	drawn int // pictures so far
}

func newPictureCache() *pictureCache { return newBoundedPictures(mostPictures, mostPictureBytes) }

// newBoundedPictures returns a cache of at most so many pictures, at least one,
// and so many bytes.
func newBoundedPictures(entries, most int) *pictureCache {
	c := &pictureCache{places: make(chan struct{}, drawnAtOnce), most: most}
	var err error
	c.kept, err = simplelru.NewLRU(entries, func(_ string, data []byte) { c.bytes -= len(data) })
	if err != nil {
		panic(err) // only of a number below one
	}
	return c
}

// get returns the picture of that key, drawn if it is not kept. Who comes while
// all places to draw are taken waits until ctx ends, at most drawWait. A
// drawing itself is short, and goes on for those who come after.
func (c *pictureCache) get(ctx context.Context, key string, draw func(io.Writer) error) ([]byte, error) {
	if data, ok := c.find(key); ok {
		return data, nil
	}
	ctx, cancel := context.WithTimeout(ctx, drawWait)
	defer cancel()
	select {
	case c.places <- struct{}{}:
		defer func() { <-c.places }()
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for a place to draw: %w", ctx.Err())
	}
	drawn, err, _ := c.flights.Do(key, func() (any, error) {
		if data, ok := c.find(key); ok { // drawn while this one waited
			return data, nil
		}
		var b bytes.Buffer
		if err := draw(&b); err != nil {
			return nil, fmt.Errorf("drawing a picture: %w", err)
		}
		c.keep(key, b.Bytes())
		return b.Bytes(), nil
	})
	if err != nil {
		return nil, err
	}
	return drawn.([]byte), nil
}

func (c *pictureCache) find(key string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept.Get(key)
}

// keep adds a picture that is not in the cache; those that were not asked for
// the longest make room for it.
func (c *pictureCache) keep(key string, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drawn++
	if len(data) > c.most {
		return
	}
	c.bytes += len(data)
	c.kept.Add(key, data)
	for c.bytes > c.most {
		c.kept.RemoveOldest()
	}
}
