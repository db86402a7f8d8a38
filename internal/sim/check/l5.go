package check

import (
	"time"

	"github.com/feedring/feedring/group"
)

// l5 checks that a peer counts the places that it acknowledges. The simulator
// checks that told loads equal live leases.
type l5 struct {
	*record
	rooms map[int32]time.Duration // when a peer last made room
}

// Keeps reports whether a peer may still keep a place that no client has taken:
// it counts as one of its clients until then, and its manager hears of the end by
// the next beacon.
func (c *l5) Keeps(p int32) bool {
	at, known := c.rooms[p]
	return known && c.cfg.Now()-at < 2*c.cfg.Refresh
}

// makesRoom checks that who acknowledges a place counts it (L5).
func (c *l5) makesRoom(p int32, m group.Assigned) {
	c.rooms[p] = c.cfg.Now()
	if m.OK && m.Leases < 1 {
		c.Fail("L5", "%s acknowledges a place and keeps none", c.cfg.Name(p))
	}
}
