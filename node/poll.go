package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/node/internal/sealed"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"

	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
)

const (
	pollsAtOnce = 16
	pollFirst   = 3 * time.Second  // the first part of an answer: a dead peer must not keep a feed waiting
	pollWithin  = 20 * time.Second // one part of an answer
	pollParts   = 64               // parts of one answer: the machine asks for the rest
	pollWhole   = 2 * time.Minute  // and all of them, so that a slow holder does not keep a place
	maxAhead    = 24 * time.Hour   // a publisher's clock may be wrong, but not so that its entries never age
)

var (
	errForeign = errors.New("the answer holds an entry of another feed")
	errEndless = errors.New("the answer has many parts and nothing in them")
	errAhead   = errors.New("the entry is of a far future: a clock is wrong")
)

// poller polls entries from other peers, checks them and stores them.
type poller struct {
	store    *store.Store
	verifier *wire.Verifier
	packer   *wire.Packer
	log      *slog.Logger
	open     func(ctx context.Context, to feedring.PeerID, verb feedring.Verb) (io.ReadWriteCloser, error)
	tell     func(feedring.GroupID, group.Input)
	suspect  func(feedring.PeerID)
	comes    func(feedring.FeedRef, []store.Item) (stored func()) // shows followers what was checked
	takeBack func(context.Context, store.Item) error              // does what a retraction says that the log does not take
	copies   *copies
	full     func(feedring.GroupID)                  // the disk has no room
	lacks    func(feedring.GroupID, time.Time) error // notes up to when others dropped what is then not here
	spawn    func(func()) bool
	places   chan struct{}
	ctx      context.Context
}

// start does group.Fetch off the loop and reports back exactly once.
func (p *poller) start(o group.Fetch) {
	p.spawn(func() {
		select {
		case p.places <- struct{}{}:
			defer func() { <-p.places }()
		case <-p.ctx.Done():
			return
		}
		got, err := p.poll(o)
		if err != nil && p.ctx.Err() == nil {
			p.suspect(o.From)
			p.log.Debug("poll failed", "feed", o.Feed.URL, "from", o.From.Short(), "err", err)
		}
		p.copies.polled(o, got.Known)
		got.Head, got.Failed = p.store.LogHead(o.Feed), err != nil
		p.tell(o.Group, got)
	})
}

// poll asks for everything after o.After and stores it part by part. It
// returns what the other side said, but for Head: Known is the newest entry that it
// showed, since what it only says that it holds is not signed by the publisher, and
// proves nothing.
func (p *poller) poll(o group.Fetch) (group.Fetched, error) {
	got := group.Fetched{Feed: o.Feed, From: o.From, Known: feedring.Head{Feed: o.Feed}}
	ctx, cancel := context.WithTimeout(p.ctx, pollWhole)
	defer cancel()
	s, err := p.open(ctx, o.From, wire.VerbPoll)
	if err != nil {
		return got, err
	}
	frames := wire.NewStream(s)
	if err = p.parts(ctx, o, frames, &got); err != nil {
		_ = frames.Reset() // or the other side goes on sending for a while
		return got, err
	}
	return got, s.Close()
}

// parts takes an answer part by part, as many as one answer may have.
func (p *poller) parts(ctx context.Context, o group.Fetch, frames *wire.Stream, got *group.Fetched) error {
	words := dictionaryAt(p.store, o.Feed, o.After)
	ask := wire.Poll{Feed: o.Feed, After: o.After, Fresh: o.Fresh, Dictionary: words.Name()}
	if err := frames.Send(wire.PollTo(ask), pollFirst); err != nil {
		return err
	}
	began := p.store.LogHead(o.Feed).Position
	within := pollFirst
	var dropped time.Time // by the other side, before its first entry
	for i := range pollParts {
		var part feedringv1.PollPart
		if err := frames.Receive(&part, within); err != nil {
			return err
		}
		if err := p.packer.Unpack(&part, words); err != nil {
			return err
		}
		if i == 0 {
			told, err := wire.DroppedFrom(&part)
			if err != nil {
				return err
			}
			dropped = o.Dropped(told)
		}
		if err := p.accept(ctx, o, &part, dropped, got); err != nil {
			return err
		}
		if !part.GetMore() {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		within = pollWithin
	}
	if p.store.LogHead(o.Feed).Position == began {
		return errEndless
	}
	return nil
}

// accept checks and stores one part. What was checked before something wrong
// is kept. What is not fresh is not stored: it shows how far known is.
func (p *poller) accept(ctx context.Context, o group.Fetch, part *feedringv1.PollPart, dropped time.Time, got *group.Fetched) error {
	standIns, wrong := wire.StandInsFrom(part)
	if wrong != nil {
		return wrong
	}
	items := make([]store.Item, 0, len(part.GetItems()))
	last, old := p.store.LogHead(o.Feed), p.tooOld(o)
	began := last.Position
	if err := p.late(ctx, o, last, part.GetRetractions()); err != nil {
		return err
	}
	for i, proto := range part.GetItems() {
		it, err := p.check(o, last, proto, standIns[i], old)
		if err != nil {
			wrong = err
			break
		}
		if it.Position.Compare(got.Known.Position) > 0 {
			got.Known.Position, got.Known.Hash = it.Position, it.Hash
		}
		if it.Position.Compare(last.Position) <= 0 || !keeps(o, it.Seen) {
			continue // stored meanwhile, or a proof
		}
		last, old = feedring.Head{Feed: o.Feed, Position: it.Position, Hash: it.Hash}, it.Seen.Before(o.Whole())
		items = append(items, it)
	}
	if len(items) > 0 {
		if err := p.dropped(o, began, items[0].Position, dropped, got); err != nil {
			return err
		}
		if err := p.append(ctx, o, began, items); err != nil {
			return fmt.Errorf("storing polled entries: %w", err)
		}
	}
	return wrong
}

// dropped notes what the other side dropped before the first entry that is stored,
// and before that is stored: a life that begins in between must not promise it.
func (p *poller) dropped(o group.Fetch, held, first feedring.Position, at time.Time, got *group.Fetched) error {
	next := held.IsZero() && first.Sequence == 1 || first.Epoch == held.Epoch && first.Sequence == held.Sequence+1
	if at.IsZero() || next || !got.Dropped.IsZero() {
		return nil
	}
	if err := p.lacks(o.Group, at); err != nil {
		return fmt.Errorf("noting what others dropped: %w", err)
	}
	got.Dropped = at
	return nil
}

// append stores items, and how far the copy reaches with them.
func (p *poller) append(ctx context.Context, o group.Fetch, last feedring.Position, items []store.Item) error {
	reaches, err := p.copies.comes(ctx, o, last, items)
	if err != nil {
		return err
	}
	shown := p.comes(o.Feed, items)
	err = p.store.Append(ctx, items)
	shown()
	if errors.Is(err, store.ErrFull) {
		p.full(o.Group)
	}
	if err != nil {
		return err
	}
	return reaches()
}

// check verifies one sealed entry: its signature, that it is of the feed asked
// for, and that it follows last, which may be too old for that; or, if it is a retraction that stands in the
// place of what it takes back, that it does and that the place follows.
func (p *poller) check(o group.Fetch, last feedring.Head, proto *feedringv1.Sealed, place feedring.Position, old bool) (store.Item, error) {
	seal := wire.SealFrom(proto)
	e, previous, err := p.verifier.Entry(seal)
	switch {
	case err != nil:
		return store.Item{}, err
	case !o.Proof && e.Seen.After(time.Now().Add(maxAhead)):
		return store.Item{}, errAhead
	case e.Ref() != o.Feed || e.Theme.Group() != o.Group:
		return store.Item{}, errForeign
	case !place.IsZero():
		return p.checkStandIn(o, last, seal, e, place, old)
	}
	if e.Position.Compare(last.Position) > 0 && keeps(o, e.Seen) { // else it was stored meanwhile, or is a proof
		if err := wire.CheckNext(last, e, previous, old); err != nil {
			return store.Item{}, err
		}
	}
	return sealed.Item(seal, e), nil
}

// late does what retractions say that have no place in the log here, which goes
// on after them. What they take back may be here all the same, or have been
// shown.
func (p *poller) late(ctx context.Context, o group.Fetch, last feedring.Head, retractions []*feedringv1.Sealed) error {
	for _, proto := range retractions {
		seal := wire.SealFrom(proto)
		e, _, err := p.verifier.Entry(seal)
		switch {
		case err != nil:
			return err
		case e.Ref() != o.Feed || e.Theme.Group() != o.Group || !e.Retracted:
			return errForeign
		case o.Proof || e.Position.Compare(last.Position) <= 0:
			continue // known
		}
		if err := p.takeBack(ctx, sealed.Item(seal, e)); err != nil {
			return err
		}
	}
	return nil
}

// checkStandIn is check for a verified retraction that was sent in the place of
// what it takes back.
func (p *poller) checkStandIn(o group.Fetch, last feedring.Head, seal *feedring.Seal, e *feedring.Entry, place feedring.Position, old bool) (store.Item, error) {
	taken, err := wire.TakenAt(e, place)
	if err == nil && place.Compare(last.Position) > 0 && keeps(o, taken.Seen) {
		err = wire.CheckPlace(last, e, place, old)
	}
	return sealed.Tombstone(seal, e, taken), err
}

// keeps reports whether o stores what was seen then.
func keeps(o group.Fetch, seen time.Time) bool { return !o.Proof && seen.After(o.Fresh) }

// tooOld reports whether what this peer holds of the feed is past freshness:
// then nobody but the publisher holds what came right after, and a jump is no
// sign of something withheld.
func (p *poller) tooOld(o group.Fetch) bool {
	h, ok := p.store.Head(o.Feed)
	return !ok || h.Seen.Before(o.Whole())
}
