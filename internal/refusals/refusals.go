// Package refusals counts what a peer did not do for others, so that an attack is seen
// where it is bounded.
package refusals

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// Door is where something was refused.
type Door string

// The doors.
const (
	Connection Door = "connection" // to the web address
	HTTP       Door = "http"
	Stream     Door = "stream"  // of another peer
	Frame      Door = "frame"   // a message of another peer
	Useless    Door = "useless" // statements that would have to be checked, of whom these brought no news
	Block      Door = "block"   // what the owner of this peer blocks
)

// Reason says why.
type Reason string

// The reasons.
const (
	Share     Reason = "share"     // one asker or peer had its part
	Full      Reason = "full"      // nothing was left for anybody
	Host      Reason = "host"      // it was meant for another host
	Token     Reason = "token"     // it was wrong
	Malformed Reason = "malformed" // or wrongly signed
	Key       Reason = "key"       // it was blocked by this
	Prefix    Reason = "prefix"    // the same
)

// Count is how often something was refused.
type Count struct {
	Door   Door
	Reason Reason
	Times  uint64
}

// Counts are all of a peer. The zero Counts are none. All methods may be called
// concurrently, and on nil, which counts nothing.
type Counts struct {
	mu sync.Mutex
	of map[Count]uint64 // by door and reason
}

// Add counts one more.
func (c *Counts) Add(door Door, reason Reason) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = make(map[Count]uint64)
	}
	c.of[Count{Door: door, Reason: reason}]++
}

// All lists the counts above zero, in order of door and reason.
func (c *Counts) All() []Count {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.SortedFunc(func(yield func(Count) bool) {
		for of, times := range maps.All(c.of) {
			of.Times = times
			if !yield(of) {
				return
			}
		}
	}, func(a, b Count) int {
		if a.Door != b.Door {
			return strings.Compare(string(a.Door), string(b.Door))
		}
		return strings.Compare(string(a.Reason), string(b.Reason))
	})
}
