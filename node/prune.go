package node

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
)

// pruner drops entries of others that are past freshness. Each group says how
// far its own may go; the store is pruned once at a time.
type pruner struct {
	store *store.Store
	self  feedring.PeerID
	log   *slog.Logger
	spawn func(func()) bool
	ctx   context.Context

	mu      sync.Mutex
	waiting map[feedring.GroupID]time.Time
	busy    bool
}

// before does group.Prune.
func (p *pruner) before(g feedring.GroupID, t time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting[g] = t
	if !p.busy {
		p.busy = true
		p.spawn(p.run)
	}
}

func (p *pruner) run() {
	for {
		g, before, ok := p.next()
		if !ok {
			return
		}
		_, err := p.store.Prune(p.ctx, before, func(ref feedring.FeedRef) bool {
			h, ok := p.store.Head(ref)
			return !ok || ref.Publisher == p.self || h.Theme.Group() != g
		})
		if err != nil && p.ctx.Err() == nil {
			p.log.Warn("old entries not dropped", "group", g, "err", err)
		}
	}
}

func (p *pruner) next() (feedring.GroupID, time.Time, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for g, t := range p.waiting {
		delete(p.waiting, g)
		return g, t, true
	}
	p.busy = false
	return feedring.GroupID{}, time.Time{}, false
}
