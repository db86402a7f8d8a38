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
		r.Unheard = len(r.ConfirmedBy)+len(r.Unconfirmed) == 0 && len(n.joins.All()) > 0 && len(n.host.Peers()) == 0
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

// confirmation is what one peer says about a retraction.
type confirmation struct {
	holds  bool // it has it
	others otherKeys
}

// otherKeys is whom one peer calls the publishers of an entry, and what it shows.
type otherKeys struct {
	named  []feedring.PeerID
	signed []*feedringv1.Sealed
}

// confirmOne asks peers until each holds all of the feed, or ctx ends.
func (n *Node) confirmOne(ctx context.Context, r *web.Retracted, peers []feedring.PeerID) {
	ref := feedring.FeedRef{URL: r.Feed, Publisher: n.ID()}
	ask := wire.Poll{Feed: ref, After: n.store.LogHead(ref).Position, Entry: r.ID}
	said := make([]confirmation, len(peers))
	var wait sync.WaitGroup
	for i, id := range peers {
		wait.Go(func() { said[i] = n.confirmation(ctx, id, ask) })
	}
	wait.Wait()
	for i, id := range peers {
		if said[i].holds {
			r.ConfirmedBy = append(r.ConfirmedBy, id)
		} else {
			r.Unconfirmed = append(r.Unconfirmed, id)
		}
		for _, sealed := range said[i].others.signed {
			n.addSigned(r, sealed)
		}
	}
	for i, id := range peers { // now that all is known that anybody shows
		n.addClaims(r, id, said[i].others.named)
	}
	for _, list := range [][]feedring.PeerID{r.ConfirmedBy, r.Unconfirmed, r.AlsoBy} {
		slices.Sort(list)
	}
}

// addSigned adds a key that another peer shows to have signed the entry, unless
// this peer knows that the same key took it back.
func (n *Node) addSigned(r *web.Retracted, sealed *feedringv1.Sealed) {
	e, _, err := n.verifier.Entry(wire.SealFrom(sealed))
	if err != nil || e.ID != r.ID || e.Feed != r.Feed || e.Retracted || e.Publisher == n.ID() || slices.Contains(r.AlsoBy, e.Publisher) {
		return
	}
	if it, ok, err := n.store.Latest(e.Ref(), e.ID); err == nil && ok && it.Retraction {
		return
	}
	r.AlsoBy = append(r.AlsoBy, e.Publisher)
}

// addClaims adds the keys that a peer names and nobody has shown an entry of: the
// names are not signed, and any may be made up.
func (n *Node) addClaims(r *web.Retracted, from feedring.PeerID, named []feedring.PeerID) {
	for i, id := range named[:min(len(named), wire.MaxPublished)] {
		if id != n.ID() && !slices.Contains(r.AlsoBy, id) && !slices.Contains(named[:i], id) {
			r.Claims = append(r.Claims, web.RetractionClaim{Peer: from, PublishedBy: id})
		}
	}
}

// confirmation asks a peer until it holds a feed up to ask.After, or ctx ends.
func (n *Node) confirmation(ctx context.Context, id feedring.PeerID, ask wire.Poll) (said confirmation) {
	for {
		at, told, err := n.headAt(ctx, id, ask)
		if err == nil && ask.Entry != "" {
			said.others, ask.Entry = told, "" // entries are long: they are sent once
		}
		if said.holds = err == nil && at.Compare(ask.After) >= 0; said.holds {
			return said
		}
		select {
		case <-time.After(confirmEvery):
		case <-ctx.Done():
			return said
		}
	}
}

// headAt is how far another peer holds a feed, and who else published the entry
// that is asked about.
func (n *Node) headAt(ctx context.Context, id feedring.PeerID, ask wire.Poll) (at feedring.Position, others otherKeys, err error) {
	ctx, cancel := context.WithTimeout(ctx, confirmAsk)
	defer cancel()
	raw, err := n.openPoll(ctx, id, wire.VerbPoll)
	if err != nil {
		return at, others, err
	}
	s := wire.NewStream(raw)
	defer func() { _ = s.Reset() }() // what follows the head is not needed
	if err := s.Send(wire.PollTo(ask), confirmAsk); err != nil {
		return at, others, err
	}
	var part feedringv1.PollPart
	if err := s.Receive(&part, confirmAsk); err != nil {
		return at, others, err
	}
	others.signed = part.GetPublished()[:min(len(part.GetPublished()), wire.MaxPublished)]
	others.named, err = wire.PublishedByFrom(&part)
	return wire.PositionFrom(part.GetHead()), others, err
}
