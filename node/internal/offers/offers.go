// Package offers tells the machine what this peer publishes and reads, when that changes.
package offers

import (
	"context"
	"sync"
	"time"

	"github.com/feedring/feedring/internal/peer"
)

// every is how often titles alone make this peer tell all of its feeds anew:
// after an import each feed's first fetch finds one.
const every = time.Second

// Offers tells the machine what this peer publishes and reads. Each offer is all of
// it, and what the machine takes last is what holds.
type Offers struct {
	ctx     context.Context // ends with the peer
	from    Source
	machine Machine
	tasks   Tasks

	posting chan struct{} // holds one, from asking all to the place in the queue: so no older offer comes after a newer one

	mu      sync.Mutex
	planned bool // one is to come
	last    time.Time
}

// Source has what this peer publishes and reads, as of now.
type Source interface{ Offered() peer.Offer }

// Machine takes inputs in the order of the calls.
type Machine interface{ Post(peer.Input) bool }

// Tasks runs goroutines while the peer runs, and reports whether it does.
type Tasks interface{ Run(func()) bool }

// New tells nothing yet. ctx ends with the peer.
func New(ctx context.Context, from Source, machine Machine, tasks Tasks) *Offers {
	return &Offers{ctx: ctx, from: from, machine: machine, tasks: tasks, posting: make(chan struct{}, 1)}
}

// Now returns when the offer waits for the machine before whatever is posted from
// then on.
func (o *Offers) Now() {
	o.posting <- struct{}{}
	defer func() { <-o.posting }()
	o.machine.Post(o.from.Offered())
}

// Soon sees to an offer within every. Changes of that time are one.
func (o *Offers) Soon() {
	o.mu.Lock()
	wait := time.Until(o.last.Add(every))
	begun := !o.planned && o.tasks.Run(func() { o.after(wait) })
	o.planned = o.planned || begun
	o.mu.Unlock()
}

func (o *Offers) after(wait time.Duration) {
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
