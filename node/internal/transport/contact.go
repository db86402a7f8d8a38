package transport

import (
	"sync/atomic"
	"time"
)

// Contact knows when another peer's message came last.
type Contact struct {
	started time.Time
	last    atomic.Int64 // since started; 0: none came
}

// NewContact returns the contact of a peer that started then.
func NewContact(started time.Time) *Contact { return &Contact{started: started} }

func (c *Contact) heard() { c.last.Store(int64(time.Since(c.started))) }

// Silence is how long ago the last message came, or the peer started. company is
// false where none ever came.
func (c *Contact) Silence() (silent time.Duration, company bool) {
	last := c.last.Load()
	return time.Since(c.started) - time.Duration(last), last > 0
}
