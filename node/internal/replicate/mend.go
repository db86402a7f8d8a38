package replicate

import (
	"context"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/polls"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// mendLost polls again what was found damaged in the store: from its publisher at
// once, and later from whoever is polled for what is new of the feed.
func (r *Replicator) mendLost() {
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-r.Store.Lost():
		}
		for _, before := range r.Store.BeforeHoles() {
			r.mend(before.Feed, before.Feed.Publisher)
		}
	}
}

// mend polls what the log of a feed lacks in the middle, if anything. Whoever is
// asked may lack it as well: that is no reason to suspect it.
func (r *Replicator) mend(ref feedring.FeedRef, from feedring.PeerID) {
	if _, holed := r.Store.NextHole(ref, feedring.Position{}); !holed || from == r.Self {
		return
	}
	for _, before := range r.Store.BeforeHoles() {
		if before.Feed != ref {
			continue
		}
		ctx, cancel := context.WithTimeout(r.ctx, pollWhole)
		err := r.pollHole(ctx, before, from)
		cancel()
		if err != nil && r.ctx.Err() == nil {
			r.Log.Debug("polling a damaged entry again failed", "feed", ref.URL, "from", from.Short(), "err", err)
		}
	}
}

// pollHole asks for what follows an entry, and stores what is missing up to the end
// of the log. It was published before, so nobody is shown it.
func (r *Replicator) pollHole(ctx context.Context, last feedring.Head, from feedring.PeerID) error {
	top, ok := r.Store.Head(last.Feed)
	if !ok || top.Private {
		return nil
	}
	s, err := r.Host.Open(ctx, from, wire.VerbPoll, false)
	if err != nil {
		return err
	}
	frames := wire.NewStream(s)
	defer func() { _ = frames.Reset() }() // the other side may go on far beyond
	words := dictionaryAt(r.Store, last.Feed, last.Position)
	ask := polls.Request{Feed: last.Feed, After: last.Position, Dictionary: words.Name()}
	if err := frames.Send(polls.RequestTo(ask), pollFirst); err != nil {
		return err
	}
	o := group.Fetch{Group: top.Theme.Group(), Feed: last.Feed, From: from, After: last.Position}
	for range pollParts {
		var part feedringv1.PollPart
		if err := frames.Receive(&part, pollWithin); err != nil {
			return err
		}
		if err := r.packer.Unpack(&part, words); err != nil {
			return err
		}
		if last, err = r.fillHoles(ctx, o, last, top.Last, &part); err != nil {
			return err
		}
		if _, holed := r.Store.NextHole(o.Feed, last.Position); !holed || !part.GetMore() {
			return nil
		}
	}
	return nil
}

// fillHoles checks that a part follows last, and stores of it what is missing up to
// a position, but nothing that was pruned.
func (r *Replicator) fillHoles(ctx context.Context, o group.Fetch, last feedring.Head, top feedring.Position, part *feedringv1.PollPart) (feedring.Head, error) {
	standIns, err := polls.StandInsFrom(part)
	if err != nil {
		return last, err
	}
	first := last.Position.IsZero() // what was before is not held: the first one follows nothing
	for i, proto := range part.GetItems() {
		it, err := r.check(o, last, proto, standIns[i], first)
		if err != nil || it.Position.Compare(top) > 0 {
			return last, err
		}
		if hole, holed := r.Store.NextHole(o.Feed, last.Position); holed && hole == it.Position {
			if err := r.Store.Append(ctx, []store.Item{it}); err != nil {
				return last, err
			}
		}
		first, last = false, feedring.Head{Feed: o.Feed, Position: it.Position, Hash: it.Hash}
	}
	return last, ctx.Err()
}
