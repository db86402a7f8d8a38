package delivery

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
)

const (
	scanItems = 256       // entries read from the store at once for a follower
	scanBytes = 512 << 10 // and their bytes
)

// Searcher finds what the store holds.
type Searcher interface {
	Search(context.Context, store.Search) ([]store.Item, store.Cursor, error)
}

// Broker serves readers from one store and notifies those that follow. A
// notification only says that there is more: every delivery goes on from the
// reader's cursor, through the store and then the pending items, so there is no seam
// between history and live. Its methods may be called concurrently.
type Broker struct {
	self    feedring.PeerID // who serves
	store   *store.Store
	history Searcher // of the store
	blocks  Blocks   // nil: nothing is hidden
	sites   Sites    // nil: no site is known to name anybody
	hinted  hinted

	mu            sync.RWMutex
	subscriptions map[*Subscription]struct{}
	pending       map[feedring.FeedRef][]store.Item // see PublishPending
}

// New makes the broker of a peer.
func New(self feedring.PeerID, s *store.Store, history Searcher) *Broker {
	return &Broker{
		self: self, store: s, history: history,
		subscriptions: make(map[*Subscription]struct{}), pending: make(map[feedring.FeedRef][]store.Item),
	}
}

// Blocks tells what the owner of this peer hides.
type Blocks interface {
	Feed(feedring.FeedRef) bool
	Item(*store.Item) bool
}

// Hide shows nobody what is blocked, from the first reader on. What searches find the
// Searcher hides.
func (b *Broker) Hide(blocks Blocks) { b.blocks = blocks }

// Notify tells every subscription that a feed changed. It never blocks.
func (b *Broker) Notify(ref feedring.FeedRef) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for s := range b.subscriptions {
		s.Mark(ref)
	}
}

// PublishPending shows items, which follow each other in one feed of another
// publisher, to sessions before they are on disk. The caller calls stored when they
// are there. The publisher has them on its disk: should they be lost here they are
// polled again, and the reader's cursor keeps it from seeing them twice. One caller
// for a feed at a time. It never blocks.
func (b *Broker) PublishPending(ref feedring.FeedRef, items []store.Item) (stored func()) {
	b.mu.Lock()
	b.pending[ref] = items
	b.mu.Unlock()
	b.Notify(ref)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.pending, ref)
	}
}

// After returns what follows a position of a feed, in its order and not all at
// once: from the store, or else from the pending items. Nothing follows in a feed that is
// hidden.
func (b *Broker) After(ctx context.Context, ref feedring.FeedRef, at feedring.Position) ([]store.Item, error) {
	if b.blocks != nil && b.blocks.Feed(ref) {
		return nil, nil
	}
	items, err := b.store.Scan(ctx, ref, at, scanItems, scanBytes)
	if err == nil && len(items) == 0 {
		items = b.pendingAfter(ref, at)
	}
	return items, err
}

// pendingAfter returns the pending items that go on from a position without a hole.
// Nothing goes on from zero: only the store tells what comes first.
func (b *Broker) pendingAfter(ref feedring.FeedRef, at feedring.Position) []store.Item {
	b.mu.RLock()
	defer b.mu.RUnlock()
	items := b.pending[ref]
	for i := range items {
		switch p := items[i].Position; {
		case p.Compare(at) <= 0:
		case !at.IsZero() && p.Epoch == at.Epoch && p.Sequence == at.Sequence+1:
			return items[i:]
		default:
			return nil
		}
	}
	return nil
}

// Subscription collects which feeds changed since they were last taken.
type Subscription struct {
	broker *Broker
	mu     sync.Mutex
	dirty  map[feedring.FeedRef]struct{}
	since  time.Time     // when the first of dirty was marked
	ready  chan struct{} // holds one
}

// Subscribe makes a subscription, which is told of changes until it is closed.
func (b *Broker) Subscribe() *Subscription {
	s := &Subscription{broker: b, dirty: make(map[feedring.FeedRef]struct{}), ready: make(chan struct{}, 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.subscriptions[s] = struct{}{}
	return s
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.broker.mu.Lock()
	defer s.broker.mu.Unlock()
	delete(s.broker.subscriptions, s)
}

// Ready gives a value when there is something to take.
func (s *Subscription) Ready() <-chan struct{} { return s.ready }

// Mark tells this subscription alone that a feed changed. It never blocks.
func (s *Subscription) Mark(ref feedring.FeedRef) {
	s.mu.Lock()
	if len(s.dirty) == 0 {
		s.since = time.Now()
	}
	s.dirty[ref] = struct{}{}
	s.mu.Unlock()
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// Since is when the first feed that Take would return was told to have changed.
func (s *Subscription) Since() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.since
}

// Take returns the feeds that changed, and forgets them.
func (s *Subscription) Take() []feedring.FeedRef {
	s.mu.Lock()
	defer s.mu.Unlock()
	refs := slices.AppendSeq(make([]feedring.FeedRef, 0, len(s.dirty)), maps.Keys(s.dirty))
	s.dirty = make(map[feedring.FeedRef]struct{}) // there may have been very many
	return refs
}
