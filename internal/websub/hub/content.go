package hub

import (
	"context"
	"slices"
	"sync"
)

// maxUnused bounds the contents that nobody is sending, for those whose turn
// comes a moment later.
const maxUnused = 8 << 20

// contents are the topics' contents that are being sent: each is read once for
// all who are sent it.
type contents struct {
	topics Topics
	mu     sync.Mutex
	all    map[string]*read
	unused []*read // the oldest first
	bytes  int     // of unused
}

// read is a content, or soon will be.
type read struct {
	address string
	version uint64 // at least
	done    chan struct{}
	content Content
	err     error
	users   int
}

// get returns what is at an address now. The caller calls release.
func (c *contents) get(ctx context.Context, address string) (_ Content, release func(), err error) {
	version, ok := c.topics.Version(address)
	if !ok {
		return Content{}, func() {}, ErrGone
	}
	r, first := c.use(address, version)
	release = func() { c.release(r) }
	if first {
		r.content, r.err = c.topics.Read(ctx, address)
		close(r.done)
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		return Content{}, release, ctx.Err()
	}
	return r.content, release, r.err
}

func (c *contents) use(address string, version uint64) (r *read, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r = c.all[address]; r != nil && r.version == version {
		if r.users == 0 {
			c.unlist(r)
		}
		r.users++
		return r, false
	}
	if r != nil && r.users == 0 {
		c.unlist(r)
	}
	if c.all == nil {
		c.all = make(map[string]*read)
	}
	r = &read{address: address, version: version, done: make(chan struct{}), users: 1}
	c.all[address] = r
	return r, true
}

func (c *contents) unlist(r *read) {
	c.unused = slices.DeleteFunc(c.unused, func(other *read) bool { return other == r })
	c.bytes -= len(r.content.Body)
}

func (c *contents) release(r *read) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.users--; r.users > 0 {
		return
	}
	if c.all[r.address] != r {
		return
	}
	if r.err != nil {
		delete(c.all, r.address)
		return
	}
	c.unused = append(c.unused, r)
	for c.bytes += len(r.content.Body); c.bytes > maxUnused || len(c.unused) > 256; {
		old := c.unused[0]
		c.unlist(old)
		delete(c.all, old.address)
	}
}
