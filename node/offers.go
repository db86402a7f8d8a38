package node

import (
	"context"
	"sync"
	"time"

	"github.com/feedring/feedring/internal/peer"
)

// offerEvery is how often titles alone make this peer tell all of its feeds anew:
// after an import each feed's first look finds one.
const offerEvery = time.Second

// offers tells the machine what this peer publishes and reads. Each offer is all of
// it, and what the machine takes last is what holds.
type offers struct {
	all   func() peer.Offer     // as of now
	post  func(peer.Input) bool // in the order of the calls
	spawn func(func()) bool     // runs while the peer does
	ctx   context.Context       // ends with the peer

	posting chan struct{} // holds one, from asking all to the place in the queue: so no older offer comes after a newer one

	mu      sync.Mutex
	planned bool // one is to come
	last    time.Time
}

func newOffers(ctx context.Context, all func() peer.Offer, post func(peer.Input) bool, spawn func(func()) bool) *offers {
	return &offers{all: all, post: post, spawn: spawn, ctx: ctx, posting: make(chan struct{}, 1)}
}

// Now returns when the offer waits for the machine before whatever is posted from
// then on.
func (o *offers) Now() {
	o.posting <- struct{}{}
	defer func() { <-o.posting }()
	o.post(o.all())
}

// Soon sees to an offer within offerEvery. Changes of that time are one.
func (o *offers) Soon() {
	o.mu.Lock()
	wait := time.Until(o.last.Add(offerEvery))
	begun := !o.planned && o.spawn(func() { o.after(wait) })
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
