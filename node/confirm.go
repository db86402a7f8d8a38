package node

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const (
	confirmWithin = 5 * time.Second
	confirmAsk    = time.Second // one answer
	confirmEvery  = 100 * time.Millisecond
	confirmPeers  = 64 // of a group: a larger one hears from them
)

// confirm asks the other peers of each group how far they hold the feeds of what
// was taken back, and whether they show it by another key all the same.
func (n *Node) confirm(ctx context.Context, told []web.Retracted) {
	ctx, cancel := context.WithTimeout(ctx, confirmWithin)
	defer cancel()
	for i := range told {
		r := &told[i]
		if r.Theme == "" {
			continue
		}
		n.confirmOne(ctx, r, n.membersBut(r.Theme))
		r.Unheard = len(r.ConfirmedBy)+len(r.Unconfirmed) == 0 && len(n.joins.all()) > 0 && len(n.host.Peers()) == 0
	}
}

// membersBut lists the other peers of a group that are there.
func (n *Node) membersBut(theme feedring.Theme) (others []feedring.PeerID) {
	view := n.loop.View().Memberships[theme]
	if view == nil {
		return nil
	}
	for _, m := range view.Members {
		if m.Row.Peer != n.ID() && len(others) < confirmPeers {
			others = append(others, m.Row.Peer)
		}
	}
	return others
}

// confirmOne asks peers until each holds all of the feed, or ctx ends.
func (n *Node) confirmOne(ctx context.Context, r *web.Retracted, peers []feedring.PeerID) {
	ref := feedring.FeedRef{URL: r.Feed, Publisher: n.ID()}
	ask := wire.Poll{Feed: ref, After: headOf(n.store, ref).Position, Entry: r.ID}
	var wait sync.WaitGroup
	var mu sync.Mutex
	for _, id := range peers {
		wait.Go(func() {
			holds, others := n.holds(ctx, id, ask)
			mu.Lock()
			defer mu.Unlock()
			if holds {
				r.ConfirmedBy = append(r.ConfirmedBy, id)
			} else {
				r.Unconfirmed = append(r.Unconfirmed, id)
			}
			for _, other := range others {
				if other != n.ID() && !slices.Contains(r.AlsoBy, other) {
					r.AlsoBy = append(r.AlsoBy, other)
				}
			}
		})
	}
	wait.Wait()
	for _, list := range [][]feedring.PeerID{r.ConfirmedBy, r.Unconfirmed, r.AlsoBy} {
		slices.Sort(list)
	}
}

// holds asks a peer until it holds a feed up to ask.After, or ctx ends.
func (n *Node) holds(ctx context.Context, id feedring.PeerID, ask wire.Poll) (holds bool, others []feedring.PeerID) {
	for {
		at, told, err := n.headAt(ctx, id, ask)
		if err == nil {
			others = told
		}
		if err == nil && at.Compare(ask.After) >= 0 {
			return true, others
		}
		select {
		case <-time.After(confirmEvery):
		case <-ctx.Done():
			return false, others
		}
	}
}

// headAt is how far another peer holds a feed, and who else published the entry
// that is asked about.
func (n *Node) headAt(ctx context.Context, id feedring.PeerID, ask wire.Poll) (at feedring.Position, others []feedring.PeerID, err error) {
	ctx, cancel := context.WithTimeout(ctx, confirmAsk)
	defer cancel()
	raw, err := n.openPoll(ctx, id, wire.VerbPoll)
	if err != nil {
		return at, nil, err
	}
	s := wire.NewStream(raw)
	defer func() { _ = s.Reset() }() // what follows the head is not needed
	if err := s.Send(wire.PollTo(ask), confirmAsk); err != nil {
		return at, nil, err
	}
	var part feedringv1.PollPart
	if err := s.Receive(&part, confirmAsk); err != nil {
		return at, nil, err
	}
	others, err = wire.PublishedByFrom(&part)
	return wire.PositionFrom(part.GetHead()), others, err
}
