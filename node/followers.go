package node

import (
	"sync"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
)

// followers wakes the sessions that follow live. Being woken only says that
// there is more: every delivery goes on from the reader's cursor, through the
// store and then what is on its way there, so there is no seam between history
// and live.
type followers struct {
	mu       sync.RWMutex
	sessions map[*follower]struct{}
	ahead    map[feedring.FeedRef][]store.Item // see comes
}

// follower is one session's ear: which feeds changed since it last took them.
type follower struct {
	mu    sync.Mutex
	dirty map[feedring.FeedRef]struct{}
	ready chan struct{} // holds one
}

func newFollowers() *followers {
	return &followers{sessions: make(map[*follower]struct{}), ahead: make(map[feedring.FeedRef][]store.Item)}
}

func (f *followers) add() *follower {
	s := &follower{dirty: make(map[feedring.FeedRef]struct{}), ready: make(chan struct{}, 1)}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sessions[s] = struct{}{}
	return s
}

func (f *followers) remove(s *follower) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.sessions, s)
}

// wake never blocks.
func (f *followers) wake(ref feedring.FeedRef) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for s := range f.sessions {
		s.mark(ref)
	}
}

// comes shows items, which follow each other in one feed of another publisher,
// to sessions before they are on disk, where stored ends that: the publisher
// has them on its disk, and should they be lost here they are polled again,
// while the reader's cursor keeps it from seeing them twice. One caller for a
// feed at a time. It never blocks.
func (f *followers) comes(ref feedring.FeedRef, items []store.Item) (stored func()) {
	f.mu.Lock()
	f.ahead[ref] = items
	f.mu.Unlock()
	f.wake(ref)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.ahead, ref)
	}
}

// after returns those of the items on their way that go on from a position
// without a hole. Nothing goes on from zero: only the store tells what comes
// first.
func (f *followers) after(ref feedring.FeedRef, at feedring.Position) []store.Item {
	f.mu.RLock()
	defer f.mu.RUnlock()
	items := f.ahead[ref]
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

func (s *follower) mark(ref feedring.FeedRef) {
	s.mu.Lock()
	s.dirty[ref] = struct{}{}
	s.mu.Unlock()
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// take returns the feeds that changed, and forgets them.
func (s *follower) take() []feedring.FeedRef {
	s.mu.Lock()
	defer s.mu.Unlock()
	refs := make([]feedring.FeedRef, 0, len(s.dirty))
	for ref := range s.dirty {
		refs = append(refs, ref)
	}
	s.dirty = make(map[feedring.FeedRef]struct{}) // there may have been very many
	return refs
}
