package publish

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/polls"
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
func (r *Retractor) confirm(ctx context.Context, told []web.Retracted) {
	ctx, cancel := context.WithTimeout(ctx, confirmWithin)
	defer cancel()
	for i := range told {
		item := &told[i]
		if item.Theme == "" {
			continue
		}
		r.confirmOne(ctx, item, r.membersBut(item.Theme))
		item.Unheard = len(item.ConfirmedBy)+len(item.Unconfirmed) == 0 && len(r.Joins.All()) > 0 && len(r.Host.Peers()) == 0
	}
}

// membersBut lists the other peers of a group that are there.
func (r *Retractor) membersBut(theme feedring.Theme) (others []feedring.PeerID) {
	view := r.Views.View().Memberships[theme]
	if view == nil {
		return nil
	}
	for _, m := range view.Members {
		if m.Row.Peer != r.Publisher.Self && len(others) < confirmPeers {
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
func (r *Retractor) confirmOne(ctx context.Context, item *web.Retracted, peers []feedring.PeerID) {
	ref := feedring.FeedRef{URL: item.Feed, Publisher: r.Publisher.Self}
	ask := polls.Request{Feed: ref, After: r.Publisher.Store.LogHead(ref).Position, Entry: item.ID}
	said := make([]confirmation, len(peers))
	var wait sync.WaitGroup
	for i, id := range peers {
		wait.Go(func() { said[i] = r.confirmation(ctx, id, ask) })
	}
	wait.Wait()
	for i, id := range peers {
		if said[i].holds {
			item.ConfirmedBy = append(item.ConfirmedBy, id)
		} else {
			item.Unconfirmed = append(item.Unconfirmed, id)
		}
		for _, sealed := range said[i].others.signed {
			r.addSigned(item, sealed)
		}
	}
	for i, id := range peers { // now that all is known that anybody shows
		r.addClaims(item, id, said[i].others.named)
	}
	for _, list := range [][]feedring.PeerID{item.ConfirmedBy, item.Unconfirmed, item.AlsoBy} {
		slices.Sort(list)
	}
}

// addSigned adds a key that another peer shows to have signed the entry, unless
// this peer knows that the same key took it back.
func (r *Retractor) addSigned(item *web.Retracted, sealed *feedringv1.Sealed) {
	e, _, err := r.Verifier.Entry(wire.SealFrom(sealed))
	if err != nil || e.ID != item.ID || e.Feed != item.Feed || e.Retracted || e.Publisher == r.Publisher.Self || slices.Contains(item.AlsoBy, e.Publisher) {
		return
	}
	if it, ok, err := r.Publisher.Store.Latest(e.Ref(), e.ID); err == nil && ok && it.Retraction {
		return
	}
	item.AlsoBy = append(item.AlsoBy, e.Publisher)
}

// addClaims adds the keys that a peer names and nobody has shown an entry of: the
// names are not signed, and any may be made up.
func (r *Retractor) addClaims(item *web.Retracted, from feedring.PeerID, named []feedring.PeerID) {
	for i, id := range named[:min(len(named), polls.MaxPublished)] {
		if id != r.Publisher.Self && !slices.Contains(item.AlsoBy, id) && !slices.Contains(named[:i], id) {
			item.Claims = append(item.Claims, web.RetractionClaim{Peer: from, PublishedBy: id})
		}
	}
}

// confirmation asks a peer until it holds a feed up to ask.After, or ctx ends.
func (r *Retractor) confirmation(ctx context.Context, id feedring.PeerID, ask polls.Request) (said confirmation) {
	for {
		at, told, err := r.headAt(ctx, id, ask)
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
func (r *Retractor) headAt(ctx context.Context, id feedring.PeerID, ask polls.Request) (at feedring.Position, others otherKeys, err error) {
	ctx, cancel := context.WithTimeout(ctx, confirmAsk)
	defer cancel()
	raw, err := r.Host.Open(ctx, id, wire.VerbPoll, false)
	if err != nil {
		return at, others, err
	}
	s := wire.NewStream(raw)
	defer func() { _ = s.Reset() }() // what follows the head is not needed
	if err := s.Send(polls.RequestTo(ask), confirmAsk); err != nil {
		return at, others, err
	}
	var part feedringv1.PollPart
	if err := s.Receive(&part, confirmAsk); err != nil {
		return at, others, err
	}
	others.signed = part.GetPublished()[:min(len(part.GetPublished()), polls.MaxPublished)]
	others.named, err = polls.PublishedByFrom(&part)
	return wire.PositionFrom(part.GetHead()), others, err
}
