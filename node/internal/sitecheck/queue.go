package sitecheck

import (
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// A look at a site may take within, and whoever publishes a feed chooses
// the site: nobody's slow sites may take all the places.
const (
	checksAtOnce   = 16
	checksEach     = 2    // of one publisher at once
	checksWaiting  = 1024 // beyond, the machine is told that nothing is known yet, and asks again later
	checksEachWait = 256
)

// queue runs the looks that the machines ask for, a few at a time, in their
// order but for publishers that have enough under way.
type queue struct {
	checker siteChecker
	loop    teller
	tasks   Tasks

	mu       sync.Mutex
	waiting  []siteCheck
	queued   map[feedring.PeerID]int // of waiting, by publisher
	inFlight map[feedring.PeerID]int
	running  int
}

// siteChecker looks at the sites of a feed.
type siteChecker interface{ check(siteCheck) group.Checked }

// teller takes what a look found.
type teller interface {
	Tell(feedring.GroupID, group.Input)
}

// Tasks runs goroutines while the peer runs, and reports whether it does.
type Tasks interface{ Run(func()) bool }

func newQueue(checker siteChecker, loop teller, tasks Tasks) *queue {
	return &queue{checker: checker, loop: loop, tasks: tasks, queued: make(map[feedring.PeerID]int), inFlight: make(map[feedring.PeerID]int)}
}

// siteCheck is a look and the time when the machine asked for it.
type siteCheck struct {
	group.Check
	asked time.Time
}

// add queues a look. It never blocks.
func (q *queue) add(o group.Check) {
	q.mu.Lock()
	defer q.mu.Unlock()
	publisher := o.Feed.Publisher
	if len(q.waiting) >= checksWaiting || q.queued[publisher] >= checksEachWait {
		q.tasks.Run(func() { q.loop.Tell(o.Group, group.Checked{Feed: o.Feed, Unknown: true}) })
		return
	}
	q.waiting = append(q.waiting, siteCheck{o, time.Now()})
	q.queued[publisher]++
	q.fill()
}

// fill starts what may run. It is called with mu held.
func (q *queue) fill() {
	for i := 0; i < len(q.waiting) && q.running < checksAtOnce; {
		o := q.waiting[i]
		publisher := o.Feed.Publisher
		if q.inFlight[publisher] >= checksEach {
			i++
			continue
		}
		q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
		count(q.queued, publisher, -1)
		if q.tasks.Run(func() { q.run(o) }) {
			count(q.inFlight, publisher, 1)
			q.running++
		}
	}
}

func (q *queue) run(o siteCheck) {
	q.loop.Tell(o.Group, q.checker.check(o))
	q.mu.Lock()
	defer q.mu.Unlock()
	count(q.inFlight, o.Feed.Publisher, -1)
	q.running--
	q.fill()
}

// count adds to a count, and keeps no zeros.
func count(of map[feedring.PeerID]int, id feedring.PeerID, n int) {
	if of[id] += n; of[id] == 0 {
		delete(of, id)
	}
}
