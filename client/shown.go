package client

import (
	"encoding/hex"
	"slices"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/duplicate"
)

const (
	maxShown  = 100_000 // identities that a follower remembers
	keptIDs   = 5_000   // copies of them kept for the next time
	maxCopies = 64      // remembered of one identity
)

// shown remembers which copies of which entries a follower was shown. The cursor does
// most of the work; identities catch what mirrors and failovers repeat.
type shown struct {
	entries *lru.Cache[duplicate.Identity, shownEntry]
	before  map[feedring.EntryID]uint32 // versions that an earlier version of the client kept by id
	updates bool
	others  bool // entries may have been shown that entries does not have
}

// shownEntry is the copies of one identity.
type shownEntry struct {
	id     feedring.EntryID
	passed bool // history that nobody was shown: who finds the same entry as news tells of it
	copies []feedring.Copy
}

func newShown(updates bool) *shown {
	entries, _ := lru.New[duplicate.Identity, shownEntry](maxShown) // the size is positive
	return &shown{entries: entries, before: make(map[feedring.EntryID]uint32), updates: updates}
}

// wants reports whether e is to be shown, or told of if it is a retraction, and whether
// it takes the place of another publisher's copy, which differs.
func (s *shown) wants(e *feedring.Entry, news bool) (wanted, supersedes bool) {
	b := duplicate.CopyOf(e)
	known, found := s.entries.Get(duplicate.IdentityOf(e.Feed, e.ID))
	if version, old := s.before[e.ID]; !found && old {
		if version == 0 {
			found, known.passed = true, true
		} else {
			return s.updates && e.Version > version, false
		}
	}
	switch {
	case found && known.passed && !news && !e.Retracted:
		return false, false
	case e.Retracted && len(known.copies) == 0:
		return s.updates && !found && s.others, false
	case len(known.copies) == 0:
		return true, false
	}
	differs, agrees, site := false, false, false
	for _, a := range known.copies {
		if a.Publisher != b.Publisher {
			site = site || a.OfSite
			differs, agrees = differs || a.Story != b.Story, agrees || a.Story == b.Story
		}
	}
	if site && !b.OfSite {
		return false, false
	}
	for _, a := range known.copies {
		replaces := feedring.Supersedes(b, a) == feedring.Replaces
		switch {
		case e.Retracted && replaces:
			return s.updates, false
		case a.Publisher == b.Publisher:
			return replaces && s.updates && !e.Retracted, false
		}
	}
	switch {
	case e.Retracted:
		return false, false
	case site:
		return differs && s.updates, false
	case b.OfSite && differs:
		return true, true
	case agrees: // shown, but perhaps not this change of it
		return s.updates && b.Version > 1, false
	}
	return true, false
}

// add notes what was shown, or counts as shown.
func (s *shown) add(e *feedring.Entry) {
	id, b := duplicate.IdentityOf(e.Feed, e.ID), duplicate.CopyOf(e)
	known, _ := s.entries.Peek(id)
	known.id, known.passed = e.ID, false
	for i := range known.copies {
		if a := &known.copies[i]; a.Publisher == b.Publisher {
			if e.Retracted {
				b.Story = a.Story
			}
			b.Version, b.OfSite = max(a.Version, b.Version), a.OfSite || b.OfSite
			known.copies[i] = b
			s.entries.Add(id, known)
			return
		}
	}
	if len(known.copies) >= maxCopies { // the oldest goes, but no site's copy for others'
		i := max(0, slices.IndexFunc(known.copies, func(a feedring.Copy) bool { return !a.OfSite }))
		known.copies = slices.Delete(known.copies, i, i+1)
	}
	known.copies = append(known.copies, b)
	s.entries.Add(id, known)
}

// count notes what was not shown because another copy counts for it.
func (s *shown) count(e *feedring.Entry) {
	if known, _ := s.entries.Peek(duplicate.IdentityOf(e.Feed, e.ID)); len(known.copies) > 0 && !e.Retracted {
		s.add(e)
	}
}

// pass notes history that is not shown.
func (s *shown) pass(e *feedring.Entry) {
	s.entries.Add(duplicate.IdentityOf(e.Feed, e.ID), shownEntry{id: e.ID, passed: true})
}

// restore takes up what was kept another time.
func (s *shown) restore(kept []Shown) {
	for _, k := range kept {
		raw, err := hex.DecodeString(k.Identity)
		if err != nil || len(raw) != len(duplicate.Identity{}) {
			s.before[k.ID] = k.Version
			continue
		}
		id := duplicate.Identity(raw)
		known, _ := s.entries.Peek(id)
		known.id, known.passed = k.ID, k.Version == 0
		if k.Version > 0 {
			known.copies = append(known.copies, feedring.Copy{Publisher: k.Publisher, Version: k.Version, Story: k.Story, OfSite: k.OfSite})
		}
		s.entries.Add(id, known)
	}
}

// newest returns the copies shown last, oldest of them first.
func (s *shown) newest() []Shown {
	keys := s.entries.Keys()
	keys = keys[max(0, len(keys)-keptIDs):]
	list := make([]Shown, 0, len(keys))
	for _, key := range keys {
		known, _ := s.entries.Peek(key)
		identity := hex.EncodeToString(key[:])
		if known.passed {
			list = append(list, Shown{ID: known.id, Identity: identity})
		}
		for _, c := range known.copies {
			list = append(list, Shown{ID: known.id, Version: c.Version, Identity: identity, Publisher: c.Publisher, Story: c.Story, OfSite: c.OfSite})
		}
	}
	return list[max(0, len(list)-keptIDs):]
}
