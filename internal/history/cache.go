package history

import "sync"

// cache keeps blocks of rows' keys that were asked for lately: the newest ones
// are asked for again and again. Blocks never change, and an id is no other
// segment's later, so that nothing in it is ever wrong. It may be used by many at
// the same time.
type cache struct {
	mu         sync.Mutex
	young, old map[blockID][]byte
	bytes      int // of the young
}

type blockID struct {
	segment uint64
	n       int
}

// cacheBytes is about what it takes at most: the keys of some 400,000 rows.
const cacheBytes = 4 << 20

// get returns a block, or nil, as a nil cache always does. What was old is young again.
func (c *cache) get(id blockID) []byte {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	body, ok := c.young[id]
	if ok {
		return body
	}
	if body, ok = c.old[id]; ok {
		c.add(id, body)
	}
	return body
}

// put keeps a block, whose bytes do not change any more.
func (c *cache) put(id blockID, body []byte) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(id, body)
}

func (c *cache) add(id blockID, body []byte) {
	const entry = 96 // bytes of a map beside the block
	if c.bytes+len(body)+entry > cacheBytes/2 {
		c.young, c.old, c.bytes = nil, c.young, 0
	}
	if c.young == nil {
		c.young = make(map[blockID][]byte)
	}
	c.young[id] = body
	c.bytes += len(body) + entry
}
