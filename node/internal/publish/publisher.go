// Package publish takes new entries of this peer's own feeds to the store: sealed,
// chained and synced, at the positions that their group gives.
package publish

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/tasks"
)

const publishWait = 20 * time.Second // for the machine to give positions

// Why a publication was refused.
var (
	ErrNotPlaced = errors.New("the group gave no positions in time: its entries are fetched again")
	// ErrElsewhere is for an Identity that yields to another process.
	ErrElsewhere = errors.New("nothing is published here")
	errManyWait  = errors.New("too many changes of the feed wait for the group: its entries are fetched again")
	errNotInRow  = &web.NotNamedError{}
	errMisplaced = errors.New("the position does not follow what is stored")
)

// Loop is the way to the machine.
type Loop interface {
	Tell(feedring.GroupID, group.Input)
}

// Readers are those who read the store as it grows.
type Readers interface {
	Notify(feedring.FeedRef)
}

// Identity tells whether another process has this peer's key.
type Identity interface {
	// MayPublish waits until it is clear whether this process publishes. An error
	// that is ErrElsewhere says that another one does.
	MayPublish(context.Context) error
}

// Mirrors are the other peers that publish a feed of this one's.
type Mirrors interface {
	// Mirrors lists the peers whose entries of a feed are not published again.
	Mirrors(url string) []feedring.PeerID
	// Adopted is called when an entry of theirs stands for this peer's own.
	Adopted(url string)
}

// Names tell by which sites this peer may give feeds names.
type Names interface {
	// Bearing is the site that bears out a name which is not of the feed's host; empty: none.
	Bearing(ref feedring.FeedRef, given feedring.Provider) string
}

// Forks tells what of this peer's logs nobody is shown.
type Forks interface {
	Hides(feedring.FeedRef, feedring.Position) bool
	// Of lists where the log of a feed ends in its epochs.
	Of(feedring.FeedRef) []feedring.Position
}

// Clock tells the wall's time.
type Clock interface {
	Now() time.Time
}

type wall struct{}

func (wall) Now() time.Time { return time.Now() }

// Answers tell what goes to the members with the notify.
type Answers interface {
	// Answer is what a poll of a feed after a position is answered; nil: it is polled.
	Answer(ref feedring.FeedRef, after feedring.Position) []byte
}

// Config is what a Publisher works with.
type Config struct {
	Self     feedring.PeerID
	Store    *store.Store
	Sealer   *wire.Sealer
	Share    feedring.Share // how much of an entry leaves this peer, where its feed does not say
	Loop     Loop
	Readers  Readers
	Answers  Answers
	Tasks    *tasks.Group
	Identity Identity // nil: no other process has this peer's key
	Names    Names    // nil: hosts alone bear names out
	Mirrors  Mirrors  // nil: nobody else publishes this peer's feeds
	Clock    Clock    // nil: the system's
	Forks    Forks    // nil: this peer's logs have none
}

// Publisher publishes. The machine gives positions, then entries are signed,
// chained and synced, then the machine announces them.
type Publisher struct {
	Config

	keeping sync.Mutex // of private feeds: no machine gives their positions
	mu      sync.Mutex
	last    uint64
	waiting map[uint64]*batch
}

// New returns a Publisher.
func New(cfg Config) *Publisher {
	if cfg.Clock == nil {
		cfg.Clock = wall{}
	}
	return &Publisher{Config: cfg, waiting: make(map[uint64]*batch)}
}

// batch is entries of one feed on their way to the store.
type batch struct {
	spec    feedring.FeedSpec
	entries []feedring.Entry
	done    chan error // holds one
}

// Publish stores entries, oldest first, and returns when they are on disk. Of
// one that is to be taken back the id is enough, with Retracted.
func (p *Publisher) Publish(ctx context.Context, spec feedring.FeedSpec, entries []feedring.Entry) error {
	b := &batch{spec: spec, entries: entries, done: make(chan error, 1)}
	if spec.Theme == "" {
		return p.keep(ctx, b)
	}
	if p.Identity != nil {
		if err := p.Identity.MayPublish(ctx); err != nil {
			return err
		}
	}
	id := p.queue(b)
	defer p.drop(id)
	p.Loop.Tell(spec.Theme.Group(), group.Publish{Batch: id, URL: spec.URL, Entries: len(entries)})
	wait := time.NewTimer(publishWait)
	defer wait.Stop()
	select {
	case err := <-b.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-wait.C:
		if err := p.Store.Refuses(); err != nil {
			return err // which is why
		}
		return ErrNotPlaced
	}
}

// keep stores what no group is told of.
func (p *Publisher) keep(ctx context.Context, b *batch) error {
	p.keeping.Lock()
	defer p.keeping.Unlock()
	_, err := p.Write(ctx, b.spec, b.entries, p.NextPrivate(b.spec))
	if err == nil {
		p.Readers.Notify(feedring.FeedRef{URL: b.spec.URL, Publisher: p.Self})
	}
	return err
}

func (p *Publisher) queue(b *batch) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	p.waiting[p.last] = b
	return p.last
}

// drop forgets a batch that nobody waits for.
func (p *Publisher) drop(id uint64) *batch {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.waiting[id]
	delete(p.waiting, id)
	return b
}

// Assign does group.Append: the machine gave the batch its first position. It
// runs on the loop.
func (p *Publisher) Assign(o group.Append) {
	b := p.drop(o.Batch)
	p.Tasks.Run(func() {
		if b == nil {
			p.Loop.Tell(o.Group, group.Appended{Batch: o.Batch, Head: p.Store.LogHead(o.Feed), Failed: true})
			return
		}
		// The entries are written whatever becomes of the caller: the
		// positions are taken.
		done := group.Appended{Batch: o.Batch, After: p.Store.LogHead(o.Feed).Position}
		var err error
		if done.Head, err = p.Write(context.Background(), b.spec, b.entries, o.First); err == nil {
			done.Answer = p.Answers.Answer(o.Feed, done.After)
		}
		done.Failed = err != nil
		p.Loop.Tell(o.Group, done)
		b.done <- err
	})
}

// Unplaced does group.Unplaced: whoever waits for the batch need not wait longer. It
// runs on the loop.
func (p *Publisher) Unplaced(o group.Unplaced) {
	b := p.drop(o.Batch)
	switch {
	case b == nil:
	case o.Full:
		b.done <- errManyWait
	default:
		b.done <- errNotInRow
	}
}

// Write seals entries from first on and puts them on disk. It returns the head
// of the feed as the store then has it.
func (p *Publisher) Write(ctx context.Context, spec feedring.FeedSpec, entries []feedring.Entry, first feedring.Position) (feedring.Head, error) {
	ref := feedring.FeedRef{URL: spec.URL, Publisher: p.Self}
	items, err := p.seal(ctx, spec, entries, first)
	if err == nil {
		err = p.Store.Append(ctx, items)
	}
	if err != nil {
		return p.Store.LogHead(ref), fmt.Errorf("storing %d entries of %s: %w", len(entries), spec.URL, err)
	}
	return p.Store.LogHead(ref), nil
}

// follows tells what an entry at first is chained to, and the earliest time at
// which it may have been seen: seen times never fall along a log, whatever
// became of the clock.
func (p *Publisher) follows(ref feedring.FeedRef, first feedring.Position) (previous [32]byte, seen time.Time, err error) {
	seen = p.Clock.Now().UTC()
	head, ok := p.Store.Head(ref)
	if !ok {
		return previous, seen, nil
	}
	next := uint64(1)
	if head.Last.Epoch == first.Epoch {
		previous, next = head.Hash, head.Last.Sequence+1
	}
	if first.Epoch < head.Last.Epoch || first.Sequence != next {
		return previous, seen, fmt.Errorf("%w: %d/%d after %d/%d", errMisplaced,
			first.Epoch, first.Sequence, head.Last.Epoch, head.Last.Sequence)
	}
	if head.Seen.After(seen) {
		seen = head.Seen
	}
	return previous, seen, nil
}

// NextPrivate is where a private feed goes on: no group knows it, so no
// machine counts for it.
func (p *Publisher) NextPrivate(spec feedring.FeedSpec) feedring.Position {
	last := p.Store.LogHead(feedring.FeedRef{URL: spec.URL, Publisher: p.Self}).Position
	if last.IsZero() {
		return feedring.Position{Epoch: uint64(max(1, p.Clock.Now().Unix())), Sequence: 1}
	}
	return feedring.Position{Epoch: last.Epoch, Sequence: last.Sequence + 1}
}
