package cache

import (
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// maxReady is how many bytes of documents are kept ready in memory.
const maxReady = 48 << 20

// readyKey is a feed with the links that its document gets.
type readyKey struct{ feed, hub, self string }

// lru keeps the documents that were asked for last, within a number of bytes.
type lru struct {
	mu    sync.Mutex
	docs  *simplelru.LRU[readyKey, *ready]
	bytes int
	most  int
}

func newLRU(most int) *lru {
	l := &lru{most: most}
	l.docs, _ = simplelru.NewLRU(math.MaxInt, func(_ readyKey, r *ready) { l.bytes -= r.weight() }) // the size is positive
	return l
}

// get returns what is ready of a version; nil: nothing.
func (l *lru) get(key readyKey, of *doc) *ready {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.docs.Get(key)
	if ok && (r.of.Tag != of.Tag || r.of.ContentType != of.ContentType) {
		l.docs.Remove(key)
		return nil
	}
	return r
}

func (l *lru) put(key readyKey, r *ready) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.docs.Remove(key)
	l.docs.Add(key, r)
	for l.bytes += r.weight(); l.bytes > l.most && l.docs.Len() > 1; {
		l.docs.RemoveOldest()
	}
}
