package replicate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/node/internal/sealed"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"

	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/polls"
)

// PollsAtOnce is how many polls are under way at once.
const PollsAtOnce = 16

const (
	pollFirst  = 3 * time.Second  // the first part of an answer: a dead peer must not keep a feed waiting
	pollWithin = 20 * time.Second // one part of an answer
	pollParts  = 64               // parts of one answer: the machine asks for the rest
	pollWhole  = 2 * time.Minute  // and all of them, so that a slow holder does not keep a place
	maxAhead   = 24 * time.Hour   // a publisher's clock may be wrong, but not so that its entries never age
)

var (
	errForeign = errors.New("the answer holds an entry of another feed")
	errEndless = errors.New("the answer has many parts and nothing in them")
	errAhead   = errors.New("the entry is of a far future: a clock is wrong")
)

// Fetch does group.Fetch: it polls, or takes the answer that is there, off the loop and reports back exactly once.
func (r *Replicator) Fetch(o group.Fetch) {
	r.Tasks.Run(func() {
		got := nothing(o)
		var err error
		if r.blocksFeed(o.Feed) || r.Forks != nil && r.Forks.Bars(o.Feed) {
			err = errBlocked
		} else if r.spent(o) {
			err = errQuota
		} else if len(o.Answer) > 0 {
			got, err = r.take(o)
		} else {
			select {
			case r.places <- struct{}{}:
				defer func() { <-r.places }()
			case <-r.ctx.Done():
				return
			}
			if got, err = r.poll(o); err != nil && !refused(err) && r.ctx.Err() == nil {
				r.Host.Suspect(o.From)
			}
			if err == nil {
				r.mend(o.Feed, o.From)
			}
		}
		if err != nil && r.ctx.Err() == nil {
			r.Log.Debug("poll failed", "feed", o.Feed.URL, "from", o.From.Short(), "notified", len(o.Answer) > 0, "err", err)
		}
		r.found(o.Group, err)
		r.copies.afterPoll(o, got.Known)
		got.Head, got.Failed = r.Store.LogHead(o.Feed), err != nil
		r.Machine.Tell(o.Group, got)
	})
}

// poll asks for everything after o.After and stores it part by part. It
// returns what the other side said, but for Head: Known is the newest entry that it
// showed, since what it only says that it holds is not signed by the publisher, and
// proves nothing.
func (r *Replicator) poll(o group.Fetch) (group.Fetched, error) {
	got := nothing(o)
	ctx, cancel := context.WithTimeout(r.ctx, pollWhole)
	defer cancel()
	s, err := r.Host.Open(ctx, o.From, wire.VerbPoll, false)
	if err != nil {
		return got, err
	}
	frames := wire.NewStream(s)
	if err = r.parts(ctx, o, frames, &got); err != nil {
		_ = frames.Reset() // or the other side goes on sending for a while
		return got, err
	}
	return got, s.Close()
}

// parts takes an answer part by part, as many as one answer may have.
func (r *Replicator) parts(ctx context.Context, o group.Fetch, frames *wire.Stream, got *group.Fetched) error {
	words := dictionaryAt(r.Store, o.Feed, o.After)
	ask := polls.Request{Feed: o.Feed, After: o.After, Fresh: o.Fresh, Dictionary: words.Name()}
	if err := frames.Send(polls.RequestTo(ask), pollFirst); err != nil {
		return err
	}
	began := r.Store.LogHead(o.Feed).Position
	within := pollFirst
	var dropped time.Time // by the other side, before its first entry
	for i := range pollParts {
		var part feedringv1.PollPart
		if err := frames.Receive(&part, within); err != nil {
			return err
		}
		if err := r.packer.Unpack(&part, words); err != nil {
			return err
		}
		if i == 0 {
			told, err := polls.DroppedFrom(&part)
			if err != nil {
				return err
			}
			dropped = o.Dropped(told)
		}
		if err := r.accept(ctx, o, &part, dropped, got); err != nil {
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
	if r.Store.LogHead(o.Feed).Position == began {
		return errEndless
	}
	return nil
}

// accept checks and stores one part. What was checked before something wrong
// is kept. What is not fresh is not stored: it shows how far known is.
func (r *Replicator) accept(ctx context.Context, o group.Fetch, part *feedringv1.PollPart, dropped time.Time, got *group.Fetched) error {
	standIns, wrong := polls.StandInsFrom(part)
	if wrong != nil {
		return wrong
	}
	items := make([]store.Item, 0, len(part.GetItems()))
	last, old := r.Store.LogHead(o.Feed), r.tooOld(o)
	began := last.Position
	if err := r.retractLate(ctx, o, last, part.GetRetractions()); err != nil {
		return err
	}
	for i, proto := range part.GetItems() {
		it, err := r.check(o, last, proto, standIns[i], old)
		if errors.Is(err, errCut) {
			continue
		}
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
	if room := r.room(o, items); room < len(items) {
		items, wrong = items[:room], errQuota
	}
	stored, err := r.store(ctx, o, began, items, dropped, got)
	if !stored {
		r.notStored(o, items)
	}
	if err != nil {
		return fmt.Errorf("storing polled entries: %w", err)
	}
	return wrong
}

// store stores what comes after began, and what the other side dropped before it. Entries may
// be stored although it failed.
func (r *Replicator) store(ctx context.Context, o group.Fetch, began feedring.Position, items []store.Item, dropped time.Time, got *group.Fetched) (stored bool, err error) {
	if len(items) == 0 {
		return true, nil
	}
	if err := r.noteGap(o, began, items[0].Position, dropped, got); err != nil {
		return false, err
	}
	return r.append(ctx, o, began, items)
}

// noteGap writes down what the other side dropped before the first entry that is going
// to be stored. It comes first: after a crash in between, the next start must not promise
// those entries.
func (r *Replicator) noteGap(o group.Fetch, held, first feedring.Position, at time.Time, got *group.Fetched) error {
	next := held.IsZero() && first.Sequence == 1 || first.Epoch == held.Epoch && first.Sequence == held.Sequence+1
	if at.IsZero() || next || !got.Dropped.IsZero() {
		return nil
	}
	if err := r.noteDropped(o.Group, at); err != nil {
		return fmt.Errorf("noting what others dropped: %w", err)
	}
	got.Dropped = at
	return nil
}

// append stores items, and how far the copy reaches with them.
func (r *Replicator) append(ctx context.Context, o group.Fetch, last feedring.Position, items []store.Item) (stored bool, err error) {
	reaches, err := r.copies.beforeAppend(ctx, o, last, items)
	if err != nil {
		return false, err
	}
	shown := r.Readers.PublishPending(o.Feed, items)
	err = r.Store.Append(ctx, items)
	shown()
	if errors.Is(err, store.ErrFull) {
		r.makeRoom(o.Group)
	}
	if err != nil {
		return false, err
	}
	return true, reaches()
}

// check verifies one sealed entry: its signature, that it is of the feed asked
// for, and that it follows last, which may be too old for that; or, if it is a retraction that stands in the
// place of what it takes back, that it does and that the place follows.
func (r *Replicator) check(o group.Fetch, last feedring.Head, proto *feedringv1.Sealed, place feedring.Position, old bool) (store.Item, error) {
	seal := wire.SealFrom(proto)
	e, previous, err := r.Verifier.Entry(seal)
	switch {
	case err != nil:
		return store.Item{}, err
	case !o.Proof && e.Seen.After(time.Now().Add(maxAhead)):
		return store.Item{}, errAhead
	case e.Ref() != o.Feed || e.Theme.Group() != o.Group:
		return store.Item{}, errForeign
	case r.blocksEntry(e):
		return store.Item{}, errBlocked
	case place.IsZero() && r.cut(o.Feed, e.Position) || r.cut(o.Feed, place):
		return store.Item{}, errCut
	case !place.IsZero(): // wherever the retraction itself is: what follows the place could not be stored otherwise
		return r.checkStandIn(o, last, seal, e, place, old)
	}
	if err := r.contradicts(last, seal, e, previous); err != nil {
		return store.Item{}, err
	}
	if e.Position.Compare(last.Position) > 0 && keeps(o, e.Seen) { // else it was stored meanwhile, or is a proof
		if err := wire.CheckNext(last, e, previous, old); err != nil {
			return store.Item{}, err
		}
	}
	return r.item(seal, e), nil
}

// item is the store's form of an entry that was polled now.
func (r *Replicator) item(seal *feedring.Seal, e *feedring.Entry) store.Item {
	site := ""
	if r.Names != nil {
		site = r.Names.Bearing(e.Ref(), e.Provider)
	}
	return sealed.Arrived(sealed.Item(seal, e, site), time.Now())
}

// retractLate applies retractions that are older than the end of the log here and so have
// no place in it. The entries that they retract may be here all the same, or have been
// shown.
func (r *Replicator) retractLate(ctx context.Context, o group.Fetch, last feedring.Head, retractions []*feedringv1.Sealed) error {
	for _, proto := range retractions {
		seal := wire.SealFrom(proto)
		e, _, err := r.Verifier.Entry(seal)
		switch {
		case err != nil:
			return err
		case e.Ref() != o.Feed || e.Theme.Group() != o.Group || !e.Retracted:
			return errForeign
		case o.Proof || e.Position.Compare(last.Position) <= 0:
			continue // known
		}
		if err := r.retract(ctx, r.item(seal, e)); err != nil {
			return err
		}
	}
	return nil
}

// retract applies a retraction that has no place in the log.
func (r *Replicator) retract(ctx context.Context, it store.Item) error {
	if err := r.Store.Retract(ctx, it); err != nil {
		return fmt.Errorf("taking %s back: %w", it.ID, err)
	}
	r.Lists.Retract(&it)
	return nil
}

// checkStandIn is check for a verified retraction that was sent in the place of
// what it takes back.
func (r *Replicator) checkStandIn(o group.Fetch, last feedring.Head, seal *feedring.Seal, e *feedring.Entry, place feedring.Position, old bool) (store.Item, error) {
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
func (r *Replicator) tooOld(o group.Fetch) bool {
	h, ok := r.Store.Head(o.Feed)
	return !ok || h.Seen.Before(o.Whole())
}
