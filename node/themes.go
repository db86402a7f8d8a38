package node

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/node/internal/replicate"
)

// themes remembers the theme of each group that this peer offered feeds to: a
// group's id does not tell.
type themes struct {
	mu      sync.Mutex
	byGroup map[feedring.GroupID]feedring.Theme
}

func (t *themes) add(theme feedring.Theme) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byGroup == nil {
		t.byGroup = make(map[feedring.GroupID]feedring.Theme)
	}
	t.byGroup[theme.Group()] = theme
}

func (t *themes) of(g feedring.GroupID) feedring.Theme {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byGroup[g]
}

// startingState is what the disk knows of all groups that this peer was in,
// those that it offers nothing to now included: its terms must not fall when
// it comes back to one.
func (n *Node) startingState() (peer.State, error) {
	st := peer.State{Groups: map[feedring.Theme]group.State{}, Heads: map[feedring.Theme][]feedring.Head{}}
	for record, err := range n.store.List(store.BucketTerm) {
		if err != nil {
			return st, err
		}
		saved, err := decodeState(record.Value)
		if err != nil {
			return st, err
		}
		n.loop.states.themes.add(saved.Theme)
		now := time.Now()
		noted, err := replicate.DroppedTo(n.store, saved.Theme.Group(), now.Add(-n.cfg.Freshness))
		if err != nil {
			return st, err
		}
		saved.State.Dropped = group.Noted(noted, now, n.cfg.Freshness)
		st.Groups[saved.Theme] = saved.State
	}
	for _, h := range n.store.HeadsWhere(func(h *store.Head) bool { return !h.Private }) {
		st.Heads[h.Theme] = append(st.Heads[h.Theme], feedring.Head{Feed: h.Ref, Position: h.Last, Hash: h.Hash})
	}
	return st, nil
}

// offered is all that this peer publishes and reads.
type offered struct{ *Node }

// Offered implements offers.Source.
func (n offered) Offered() peer.Offer {
	feeds := n.origins.Offered()
	for theme := range feeds {
		n.loop.states.themes.add(theme)
	}
	for _, theme := range n.cfg.Read {
		n.loop.states.themes.add(theme)
	}
	if n.fleet != nil {
		n.loop.states.themes.add(n.fleet.link.Theme())
	}
	return n.fleet.offer(n.readable(peer.Offer{Addrs: n.host.Addrs(), Feeds: feeds, Read: n.cfg.Read, Volunteer: n.cfg.Volunteer}))
}

// fetchOrigins lasts until the peer stops fetching.
func (n *Node) fetchOrigins() {
	ctx, cancel := context.WithCancel(n.ctx)
	n.stopFetching = cancel
	n.origins.Run(ctx)
}

// seed starts a source of chance; nothing secret depends on it.
func seed() uint64 { return rand.Uint64() }
