package node

import (
	"sync"

	"github.com/feedring/feedring"
)

// followers wakes the sessions that follow live. Being woken only says that
// the store holds more: every delivery is a read of the store, so there is no
// seam between history and live.
type followers struct {
	mu       sync.RWMutex
	sessions map[*follower]struct{}
}

// follower is one session's ear: which feeds changed since it last took them.
type follower struct {
	mu    sync.Mutex
	dirty map[feedring.FeedRef]struct{}
	ready chan struct{} // holds one
}

func newFollowers() *followers {
	return &followers{sessions: make(map[*follower]struct{})}
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
	clear(s.dirty)
	return refs
}
