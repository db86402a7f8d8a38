package cache

import (
	chain "container/list"
	"sync"
)

// maxShelf is how many bytes of documents are kept ready in memory.
const maxShelf = 48 << 20

// shelfKey is a feed with the links that its document gets.
type shelfKey struct{ feed, hub, self string }

// shelf keeps the documents that were asked for last.
type shelf struct {
	mu    sync.Mutex
	kept  map[shelfKey]*chain.Element
	order chain.List // of *shelved, the last asked for in front
	bytes int
	most  int
}

type shelved struct {
	key   shelfKey
	ready *ready
}

func newShelf(most int) *shelf { return &shelf{kept: make(map[shelfKey]*chain.Element), most: most} }

// get returns what is ready of a version; nil: nothing.
func (s *shelf) get(key shelfKey, of *doc) *ready {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.kept[key]
	if at == nil {
		return nil
	}
	r := at.Value.(*shelved).ready
	if r.of.Tag != of.Tag || r.of.ContentType != of.ContentType {
		s.drop(at)
		return nil
	}
	s.order.MoveToFront(at)
	return r
}

func (s *shelf) put(key shelfKey, r *ready) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.kept[key]; at != nil {
		s.drop(at)
	}
	s.kept[key] = s.order.PushFront(&shelved{key, r})
	for s.bytes += r.weight(); s.bytes > s.most && s.order.Len() > 1; {
		s.drop(s.order.Back())
	}
}

func (s *shelf) drop(at *chain.Element) {
	item := s.order.Remove(at).(*shelved)
	delete(s.kept, item.key)
	s.bytes -= item.ready.weight()
}
