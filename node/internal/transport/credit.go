package transport

import (
	"sync"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// Credit is what neighbours in large groups took more than they gave.
type Credit struct {
	mu sync.Mutex
	of map[feedring.GroupID]map[feedring.PeerID]int
}

// Take takes over what the machine counted.
func (c *Credit) Take(o group.Owing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o.Owed == nil {
		delete(c.of, o.Group)
		return
	}
	if c.of == nil {
		c.of = make(map[feedring.GroupID]map[feedring.PeerID]int)
	}
	taken := make(map[feedring.PeerID]int, len(o.Owed))
	for _, one := range o.Owed {
		taken[one.Peer] = one.Entries
	}
	c.of[o.Group] = taken
}

// Leave forgets a group.
func (c *Credit) Leave(g feedring.GroupID) { c.Take(group.Owing{Group: g}) }

// Balance is what a peer took more than it gave, over all groups; 0 of a stranger.
func (c *Credit) Balance(p feedring.PeerID) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := 0
	for _, taken := range c.of {
		sum += taken[p]
	}
	return sum
}

// Counts reports whether a group counts who was served.
func (c *Credit) Counts(g feedring.GroupID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.of[g]
	return ok
}
