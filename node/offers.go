package node

import (
	"context"
	"sync"
	"time"

	"github.com/feedring/feedring/internal/peer"
)

// offerEvery is how often titles alone make this peer tell all of its feeds anew:
// after an import each feed's first fetch finds one.
const offerEvery = time.Second

// offers tells the machine what this peer publishes and reads. Each offer is all of
// it, and what the machine takes last is what holds.
type offers struct {
	ctx     context.Context // ends with the peer
	from    offerer
	machine offerTaker
	tasks   runner

	posting chan struct{} // holds one, from asking all to the place in the queue: so no older offer comes after a newer one

	mu      sync.Mutex
	planned bool // one is to come
	last    time.Time
}

// offerer has what this peer publishes and reads, as of now.
type offerer interface{ offered() peer.Offer }

// offerTaker takes inputs in the order of the calls.
type offerTaker interface{ Post(peer.Input) bool }

// runner runs goroutines while the peer runs, and reports whether it does.
type runner interface{ Run(func()) bool }

func newOffers(ctx context.Context, from offerer, machine offerTaker, tasks runner) *offers {
	return &offers{ctx: ctx, from: from, machine: machine, tasks: tasks, posting: make(chan struct{}, 1)}
}

// Now returns when the offer waits for the machine before whatever is posted from
// then on.
func (o *offers) Now() {
	o.posting <- struct{}{}
	defer func() { <-o.posting }()
	o.machine.Post(o.from.offered())
}

// Soon sees to an offer within offerEvery. Changes of that time are one.
func (o *offers) Soon() {
	o.mu.Lock()
	wait := time.Until(o.last.Add(offerEvery))
	begun := !o.planned && o.tasks.Run(func() { o.after(wait) })
	o.planned = o.planned || begun
	o.mu.Unlock()
}

func (o *offers) after(wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-o.ctx.Done():
		return
	}
	o.mu.Lock()
	o.planned, o.last = false, time.Now() // before all is asked: what changes from now on is for the next
	o.mu.Unlock()
	o.Now()
}
