package client

import (
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/feedring/feedring"
)

const (
	maxShown = 100_000 // ids that a follower remembers
	keptIDs  = 5_000   // of them kept for the next time
)

// shown remembers which versions of which entries a follower was shown. The
// cursor does most of the work; ids catch what mirrors and failovers repeat.
type shown struct {
	ids     *lru.Cache[feedring.EntryID, uint32]
	updates bool
	others  bool // entries may have been shown that ids does not have
}

func newShown(updates bool) *shown {
	ids, _ := lru.New[feedring.EntryID, uint32](maxShown) // the size is positive
	return &shown{ids: ids, updates: updates}
}

// passed stands for the version of history that nobody was shown: who finds the
// same entry as news tells of it.
const passed = 0

// wants reports whether e is to be shown, or told of if it is a retraction.
func (s *shown) wants(e *feedring.Entry, news bool) bool {
	version, seen := s.ids.Get(e.ID)
	if seen && version == passed {
		if !news && !e.Retracted {
			return false
		}
		seen = false
	}
	if e.Retracted {
		return s.updates && (seen && e.Version > version || !seen && s.others)
	}
	return !seen || s.updates && e.Version > version
}

func (s *shown) add(id feedring.EntryID, version uint32) {
	if before, seen := s.ids.Peek(id); seen && before > version {
		version = before
	}
	s.ids.Add(id, version)
}

// pass notes history that is not shown.
func (s *shown) pass(id feedring.EntryID) { s.ids.Add(id, passed) }

// newest returns the ids shown last, oldest of them first.
func (s *shown) newest() []Shown {
	keys := s.ids.Keys()
	keys = keys[max(0, len(keys)-keptIDs):]
	list := make([]Shown, 0, len(keys))
	for _, id := range keys {
		version, _ := s.ids.Peek(id)
		list = append(list, Shown{ID: id, Version: version})
	}
	return list
}
