package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
)

const publishWait = 20 * time.Second // for the machine to give positions

var (
	errNotPlaced = errors.New("the group gave no positions in time: its entries are looked at again")
	errManyWait  = errors.New("too many changes of the feed wait for the group: its entries are looked at again")
	errNotInRow  = errors.New("not published: what this peer tells of the theme has no room for the feed, or no longer names it; run another peer for some of the feeds")
)

// publisher takes new entries of this peer's own feeds to the store: the
// machine gives positions, then entries are signed, chained and synced, then
// the machine announces them.
type publisher struct {
	self     feedring.PeerID
	store    *store.Store
	sealer   *wire.Sealer
	now      func() time.Time
	tell     func(feedring.GroupID, group.Input)
	wake     func(feedring.FeedRef)
	spawn    func(func()) bool
	identity *duplicateIdentity // nil: no other process has this peer's key
	share    feedring.Share     // how much of an entry leaves this peer, where its feed does not say
	// mirrors lists who else published a feed, whose entries are not published
	// again; nil: nobody.
	mirrors func(url string) []feedring.PeerID
	adopts  func(url string) // is told where they are not; nil: nobody is

	keeping sync.Mutex // of private feeds: no machine gives their positions
	mu      sync.Mutex
	last    uint64
	waiting map[uint64]*batch
}

// batch is entries of one feed on their way to the store.
type batch struct {
	spec    feedring.FeedSpec
	entries []feedring.Entry
	done    chan error // holds one
}

// publish stores entries, oldest first, and returns when they are on disk. Of
// one that is to be taken back the id is enough, with Retracted.
func (p *publisher) publish(ctx context.Context, spec feedring.FeedSpec, entries []feedring.Entry) error {
	b := &batch{spec: spec, entries: entries, done: make(chan error, 1)}
	if spec.Theme == "" {
		return p.keep(ctx, b)
	}
	if err := p.identity.mayPublish(ctx); err != nil {
		return err
	}
	id := p.queue(b)
	defer p.drop(id)
	p.tell(spec.Theme.Group(), group.Publish{Batch: id, URL: spec.URL, Entries: len(entries)})
	wait := time.NewTimer(publishWait)
	defer wait.Stop()
	select {
	case err := <-b.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-wait.C:
		return errNotPlaced
	}
}

// keep stores what no group is told of.
func (p *publisher) keep(ctx context.Context, b *batch) error {
	p.keeping.Lock()
	defer p.keeping.Unlock()
	_, err := p.write(ctx, b, p.privatePosition(b.spec))
	if err == nil {
		p.wake(feedring.FeedRef{URL: b.spec.URL, Publisher: p.self})
	}
	return err
}

func (p *publisher) queue(b *batch) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	p.waiting[p.last] = b
	return p.last
}

// drop forgets a batch that nobody waits for.
func (p *publisher) drop(id uint64) *batch {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.waiting[id]
	delete(p.waiting, id)
	return b
}

// assign does group.Append: the machine gave the batch its first position. It
// runs on the loop.
func (p *publisher) assign(o group.Append) {
	b := p.drop(o.Batch)
	p.spawn(func() {
		if b == nil {
			p.tell(o.Group, group.Appended{Batch: o.Batch, Head: p.head(o.Feed), Failed: true})
			return
		}
		// The entries are written whatever becomes of the caller: the
		// positions are taken.
		head, err := p.write(context.Background(), b, o.First)
		p.tell(o.Group, group.Appended{Batch: o.Batch, Head: head, Failed: err != nil})
		b.done <- err
	})
}

// unplaced does group.Unplaced: whoever waits for the batch need not wait longer. It
// runs on the loop.
func (p *publisher) unplaced(o group.Unplaced) {
	b := p.drop(o.Batch)
	switch {
	case b == nil:
	case o.Full:
		b.done <- errManyWait
	default:
		b.done <- errNotInRow
	}
}

// write seals the batch from first on and puts it on disk. It returns the head
// of the feed as the store then has it.
func (p *publisher) write(ctx context.Context, b *batch, first feedring.Position) (feedring.Head, error) {
	ref := feedring.FeedRef{URL: b.spec.URL, Publisher: p.self}
	items, err := p.seal(ctx, b, ref, first)
	if err == nil {
		err = p.store.Append(ctx, items)
	}
	if err != nil {
		return p.head(ref), fmt.Errorf("storing %d entries of %s: %w", len(b.entries), b.spec.URL, err)
	}
	return p.head(ref), nil
}

// follows tells what an entry at first is chained to, and the earliest time at
// which it may have been seen: seen times never fall along a log, whatever
// became of the clock.
func (p *publisher) follows(ref feedring.FeedRef, first feedring.Position) (_ feedring.Position, previous [32]byte, seen time.Time, err error) {
	seen = p.now().UTC()
	head, ok := p.store.Head(ref)
	if !ok {
		return first, previous, seen, nil
	}
	next := uint64(1)
	if head.Last.Epoch == first.Epoch {
		previous, next = head.Hash, head.Last.Sequence+1
	}
	if first.Epoch < head.Last.Epoch || first.Sequence != next {
		return first, previous, seen, fmt.Errorf("%w: %d/%d after %d/%d", errMisplaced,
			first.Epoch, first.Sequence, head.Last.Epoch, head.Last.Sequence)
	}
	if head.Seen.After(seen) {
		seen = head.Seen
	}
	return first, previous, seen, nil
}

var errMisplaced = errors.New("the position does not follow what is stored")

// head tells where the store stands with one of this peer's own feeds.
func (p *publisher) head(ref feedring.FeedRef) feedring.Head {
	return p.store.LogHead(ref)
}

// privatePosition is where a private feed goes on: no group knows it, so no
// machine counts for it.
func (p *publisher) privatePosition(spec feedring.FeedSpec) feedring.Position {
	last := p.head(feedring.FeedRef{URL: spec.URL, Publisher: p.self}).Position
	if last.IsZero() {
		return feedring.Position{Epoch: uint64(max(1, p.now().Unix())), Sequence: 1}
	}
	return feedring.Position{Epoch: last.Epoch, Sequence: last.Sequence + 1}
}
