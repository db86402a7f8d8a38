package node

import (
	"context"
	"log/slog"
	"sync"

	"github.com/feedring/feedring"
)

// addressBook is what a provider needs of the host.
type addressBook interface {
	Provide(ctx context.Context, g feedring.GroupID) error
	Unprovide(g feedring.GroupID)
}

// provider keeps this peer in the address book as a member of the groups that
// it is in.
type provider struct {
	book  addressBook
	log   *slog.Logger
	spawn func(func()) bool
	ctx   context.Context

	mu     sync.Mutex
	inside map[feedring.GroupID]bool
}

// enter provides a group until leave. It never blocks.
func (p *provider) enter(g feedring.GroupID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.inside[g] {
		return
	}
	p.inside[g] = true
	p.spawn(func() { p.provide(g) })
}

// leave ends what enter began. It never blocks.
func (p *provider) leave(g feedring.GroupID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.inside, g)
	p.book.Unprovide(g)
}

// provide may run when the group was left already: then it takes back what it
// did, or the peer would stay in the book for good.
func (p *provider) provide(g feedring.GroupID) {
	ctx, cancel := context.WithTimeout(p.ctx, lookupWithin)
	defer cancel()
	if err := p.book.Provide(ctx, g); err != nil {
		p.log.Debug("address book", "group", g, "err", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.inside[g] {
		p.book.Unprovide(g)
	}
}
