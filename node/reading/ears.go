package reading

import (
	"context"
	"sync"

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

// Room serves readers from one store, and wakes those that follow live. Being
// woken only says that there is more: every delivery goes on from the reader's
// cursor, through the store and then what is on its way there, so there is no
// seam between history and live. Its methods may be called concurrently.
type Room struct {
	self    feedring.PeerID // who serves
	store   *store.Store
	history Searcher // of the store

	mu    sync.RWMutex
	ears  map[*Ear]struct{}
	ahead map[feedring.FeedRef][]store.Item // see Comes
}

// New makes the room of a peer.
func New(self feedring.PeerID, s *store.Store, history Searcher) *Room {
	return &Room{
		self: self, store: s, history: history,
		ears: make(map[*Ear]struct{}), ahead: make(map[feedring.FeedRef][]store.Item),
	}
}

// Ear hears which feeds changed since they were last taken.
type Ear struct {
	room  *Room
	mu    sync.Mutex
	dirty map[feedring.FeedRef]struct{}
	ready chan struct{} // holds one
}

// Listen makes an ear, which hears until it is closed.
func (r *Room) Listen() *Ear {
	e := &Ear{room: r, dirty: make(map[feedring.FeedRef]struct{}), ready: make(chan struct{}, 1)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ears[e] = struct{}{}
	return e
}

// Close makes it hear nothing more.
func (e *Ear) Close() {
	e.room.mu.Lock()
	defer e.room.mu.Unlock()
	delete(e.room.ears, e)
}

// Ready gives a value when there is something to take.
func (e *Ear) Ready() <-chan struct{} { return e.ready }

// Wake tells every ear that a feed changed. It never blocks.
func (r *Room) Wake(ref feedring.FeedRef) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for e := range r.ears {
		e.Mark(ref)
	}
}

// Comes shows items, which follow each other in one feed of another publisher,
// to sessions before they are on disk, where stored ends that: the publisher
// has them on its disk, and should they be lost here they are polled again,
// while the reader's cursor keeps it from seeing them twice. One caller for a
// feed at a time. It never blocks.
func (r *Room) Comes(ref feedring.FeedRef, items []store.Item) (stored func()) {
	r.mu.Lock()
	r.ahead[ref] = items
	r.mu.Unlock()
	r.Wake(ref)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.ahead, ref)
	}
}

// After returns what follows a position of a feed, in its order and not all at
// once: of the store, else what is on its way there.
func (r *Room) After(ctx context.Context, ref feedring.FeedRef, at feedring.Position) ([]store.Item, error) {
	items, err := r.store.Scan(ctx, ref, at, scanItems, scanBytes)
	if err == nil && len(items) == 0 {
		items = r.coming(ref, at)
	}
	return items, err
}

// coming returns those of the items on their way that go on from a position
// without a hole. Nothing goes on from zero: only the store tells what comes
// first.
func (r *Room) coming(ref feedring.FeedRef, at feedring.Position) []store.Item {
	r.mu.RLock()
	defer r.mu.RUnlock()
	items := r.ahead[ref]
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

// Mark makes this ear alone hear of a feed. It never blocks.
func (e *Ear) Mark(ref feedring.FeedRef) {
	e.mu.Lock()
	e.dirty[ref] = struct{}{}
	e.mu.Unlock()
	select {
	case e.ready <- struct{}{}:
	default:
	}
}

// Take returns the feeds that changed, and forgets them.
func (e *Ear) Take() []feedring.FeedRef {
	e.mu.Lock()
	defer e.mu.Unlock()
	refs := make([]feedring.FeedRef, 0, len(e.dirty))
	for ref := range e.dirty {
		refs = append(refs, ref)
	}
	e.dirty = make(map[feedring.FeedRef]struct{}) // there may have been very many
	return refs
}
