package node

import (
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// A look at a site may take checkWithin, and whoever publishes a feed chooses
// the site: nobody's slow sites may take all the places.
const (
	checksAtOnce   = 16
	checksEach     = 2    // of one publisher at once
	checksWaiting  = 1024 // beyond, the machine is told that nothing is known yet, and asks again later
	checksEachWait = 256
)

// checks runs the looks that the machines ask for, a few at a time, in their
// order but for publishers that have enough under way.
type checks struct {
	look  func(siteCheck) group.Checked
	tell  func(feedring.GroupID, group.Input)
	spawn func(func()) bool

	mu      sync.Mutex
	waiting []siteCheck
	queued  map[feedring.PeerID]int // of waiting, by publisher
	flying  map[feedring.PeerID]int
	running int
}

// siteCheck is a look and the time when the machine asked for it.
type siteCheck struct {
	group.Check
	asked time.Time
}

// check does group.Check. It never blocks.
func (c *checks) check(o group.Check) {
	c.mu.Lock()
	defer c.mu.Unlock()
	publisher := o.Feed.Publisher
	if len(c.waiting) >= checksWaiting || c.queued[publisher] >= checksEachWait {
		c.spawn(func() { c.tell(o.Group, group.Checked{Feed: o.Feed, Unknown: true}) })
		return
	}
	c.waiting = append(c.waiting, siteCheck{o, time.Now()})
	c.queued[publisher]++
	c.fill()
}

// fill starts what may run. It is called with mu held.
func (c *checks) fill() {
	for i := 0; i < len(c.waiting) && c.running < checksAtOnce; {
		o := c.waiting[i]
		publisher := o.Feed.Publisher
		if c.flying[publisher] >= checksEach {
			i++
			continue
		}
		c.waiting = append(c.waiting[:i], c.waiting[i+1:]...)
		count(c.queued, publisher, -1)
		if c.spawn(func() { c.run(o) }) {
			count(c.flying, publisher, 1)
			c.running++
		}
	}
}

func (c *checks) run(o siteCheck) {
	c.tell(o.Group, c.look(o))
	c.mu.Lock()
	defer c.mu.Unlock()
	count(c.flying, o.Feed.Publisher, -1)
	c.running--
	c.fill()
}

// count adds to a count, and keeps no zeros.
func count(of map[feedring.PeerID]int, id feedring.PeerID, n int) {
	if of[id] += n; of[id] == 0 {
		delete(of, id)
	}
}
