// Package seen remembers which copies of which entries a follower was shown.
package seen

import (
	"encoding/hex"
	"slices"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/duplicate"
)

const (
	maxEntries = 100_000 // identities that a follower remembers
	maxKept    = 5_000   // copies of them kept for the next time
	maxCopies  = 64      // remembered of one identity
)

// Copy is one copy of an entry that was shown, or counts as shown, as it is kept for
// the next time. Version 0: history that nobody was shown.
type Copy struct {
	ID        feedring.EntryID
	Version   uint32
	Identity  string // hexadecimal digits; empty: kept by a version before
	Publisher uint64
	Story     uint64
	OfSite    bool
}

// Entries is what a follower was shown. The cursor does most of the work; identities
// catch what mirrors and failovers repeat. It is used by one goroutine at a time.
type Entries struct {
	byIdentity *lru.Cache[duplicate.Identity, entry]
	before     map[feedring.EntryID]uint32 // versions that an earlier version of the client kept by id
	updates    bool
	others     bool // entries may have been shown that are not here
}

// entry is the copies of one identity.
type entry struct {
	id     feedring.EntryID
	passed bool // history that nobody was shown: who finds the same entry as news tells of it
	copies []feedring.Copy
}

// New remembers nothing yet. updates: new versions and retractions are wanted, too.
func New(updates bool) *Entries {
	all, _ := lru.New[duplicate.Identity, entry](maxEntries) // the size is positive
	return &Entries{byIdentity: all, before: make(map[feedring.EntryID]uint32), updates: updates}
}

// HasOthers notes that entries may have been shown that nobody remembers.
func (s *Entries) HasOthers() { s.others = true }

// Wants reports whether e is to be shown, or told of if it is a retraction, and whether
// it takes the place of another publisher's copy, which differs.
func (s *Entries) Wants(e *feedring.Entry, news bool) (wanted, supersedes bool) {
	b := duplicate.CopyOf(e)
	known, found := s.byIdentity.Get(duplicate.IdentityOf(e.Feed, e.ID))
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

// Add notes what was shown, or counts as shown.
func (s *Entries) Add(e *feedring.Entry) {
	id, b := duplicate.IdentityOf(e.Feed, e.ID), duplicate.CopyOf(e)
	known, _ := s.byIdentity.Peek(id)
	known.id, known.passed = e.ID, false
	for i := range known.copies {
		if a := &known.copies[i]; a.Publisher == b.Publisher {
			if e.Retracted {
				b.Story = a.Story
			}
			b.Version, b.OfSite = max(a.Version, b.Version), a.OfSite || b.OfSite
			known.copies[i] = b
			s.byIdentity.Add(id, known)
			return
		}
	}
	if len(known.copies) >= maxCopies { // the oldest goes, but no site's copy for others'
		i := max(0, slices.IndexFunc(known.copies, func(a feedring.Copy) bool { return !a.OfSite }))
		known.copies = slices.Delete(known.copies, i, i+1)
	}
	known.copies = append(known.copies, b)
	s.byIdentity.Add(id, known)
}

// Count notes what was not shown because another copy counts for it.
func (s *Entries) Count(e *feedring.Entry) {
	if known, _ := s.byIdentity.Peek(duplicate.IdentityOf(e.Feed, e.ID)); len(known.copies) > 0 && !e.Retracted {
		s.Add(e)
	}
}

// Pass notes history that is not shown.
func (s *Entries) Pass(e *feedring.Entry) {
	s.byIdentity.Add(duplicate.IdentityOf(e.Feed, e.ID), entry{id: e.ID, passed: true})
}

// Restore takes up what was kept another time. Copies of one entry come oldest first.
func (s *Entries) Restore(kept Copy) {
	raw, err := hex.DecodeString(kept.Identity)
	if err != nil || len(raw) != len(duplicate.Identity{}) {
		s.before[kept.ID] = kept.Version
		return
	}
	id := duplicate.Identity(raw)
	known, _ := s.byIdentity.Peek(id)
	known.id, known.passed = kept.ID, kept.Version == 0
	if kept.Version > 0 {
		known.copies = append(known.copies, feedring.Copy{Publisher: kept.Publisher, Version: kept.Version, Story: kept.Story, OfSite: kept.OfSite})
	}
	s.byIdentity.Add(id, known)
}

// Newest returns the copies shown last, oldest of them first.
func (s *Entries) Newest() []Copy {
	keys := s.byIdentity.Keys()
	keys = keys[max(0, len(keys)-maxKept):]
	list := make([]Copy, 0, len(keys))
	for _, key := range keys {
		known, _ := s.byIdentity.Peek(key)
		identity := hex.EncodeToString(key[:])
		if known.passed {
			list = append(list, Copy{ID: known.id, Identity: identity})
		}
		for _, c := range known.copies {
			list = append(list, Copy{ID: known.id, Version: c.Version, Identity: identity, Publisher: c.Publisher, Story: c.Story, OfSite: c.OfSite})
		}
	}
	return list[max(0, len(list)-maxKept):]
}
