package personal

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/duplicate"
)

// slot is where an entry stands in the table. It is given out anew when the
// entry is forgotten.
type slot uint32

// held is what is known of an entry that lists hold. It has no pointers, so
// that the collector need not look at it.
type held struct {
	number        uint64 // on disk
	id            identity
	base          identity          // of a copy that is known apart, the entry's; zero: id is
	at            feedring.Position // of the version that is shown
	changed       int64             // Unix seconds: when a new version came
	link, content uint64            // keys: entries of different feeds that share one are equal; 0: none
	origin        uint64            // key of theme and provider
	story         uint64            // see feedring.Copy; 0: an earlier version did not keep it
	published     int64             // Unix seconds; undated history: undatedAt; 0: an earlier version did not keep it
	news          int64             // Unix seconds: when it was given as news; 0: it was not
	feed          uint32
	version       uint32
	size          uint32 // of the copy on disk
	uses          uint32 // lists that hold it
	claim         duplicate.Claim
	sure          bool // it is the site's copy
	short         bool // the copy has no content
	recent        bool // known although no list may hold it
	kept          bool // has rows on disk
	retracted     bool // its publisher retracted it: it is not shown
	given         bool // met all interests, and not only the one that was filled with it
}

// table is the entries that lists hold, and those that they held lately.
type table struct {
	all    []held
	free   []slot
	byID   map[identity]slot
	apart  map[identity][]identity // copies that are known apart, by entry
	keys   map[uint64]uint32       // how many entries have a link or content
	recent []slot                  // the newest, in a ring
	next   int                     // in recent
	bodies int64                   // size of all copies
}

func newTable() *table {
	return &table{byID: make(map[identity]slot), apart: make(map[identity][]identity), keys: make(map[uint64]uint32)}
}

// add takes an entry that is not known.
func (t *table) add(h held) slot {
	var s slot
	if n := len(t.free); n > 0 {
		s, t.free = t.free[n-1], t.free[:n-1]
		t.all[s] = h
	} else {
		s = slot(len(t.all))
		t.all = append(t.all, h)
	}
	t.byID[h.id] = s
	if h.base != (identity{}) {
		t.apart[h.base] = append(t.apart[h.base], h.id)
	}
	t.count(&h, 1)
	t.bodies += int64(h.size)
	return s
}

// remember keeps an entry known for a while. It returns the entry that is
// thereby forgotten, if there is one.
func (t *table) remember(s slot) (gone slot, ok bool) {
	t.all[s].recent = true
	if len(t.recent) < remembered {
		t.recent = append(t.recent, s)
		return 0, false
	}
	old := t.recent[t.next]
	t.recent[t.next] = s
	t.next = (t.next + 1) % remembered
	t.all[old].recent = false
	if t.all[old].uses > 0 {
		return 0, false
	}
	return old, true
}

// forget drops an entry that no list holds.
func (t *table) forget(s slot) {
	h := &t.all[s]
	t.count(h, -1)
	t.bodies -= int64(h.size)
	if t.byID[h.id] == s {
		delete(t.byID, h.id)
	}
	if others := t.apart[h.base]; len(others) > 1 {
		t.apart[h.base] = slices.DeleteFunc(others, func(id identity) bool { return id == h.id })
	} else {
		delete(t.apart, h.base)
	}
	*h = held{}
	t.free = append(t.free, s)
}

func (t *table) count(h *held, by int) {
	for _, key := range [2]uint64{h.link, h.content} {
		if key == 0 {
			continue
		}
		if n := int(t.keys[key]) + by; n > 0 {
			t.keys[key] = uint32(n)
		} else {
			delete(t.keys, key)
		}
	}
}

// shared reports whether any other entry may be equal to h.
func (t *table) shared(h *held) bool {
	return h.link != 0 && t.keys[h.link] > 1 || h.content != 0 && t.keys[h.content] > 1
}

// keys are what h is compared by. A public copy of a private one, or the other way
// round, is another entry that may tell the same: see among.
func (h *held) keys() duplicate.Keys {
	id := h.id
	if h.base != (identity{}) && h.id != apartFrom(h.base, "") {
		id = h.base
	}
	return duplicate.Keys{Feed: uint64(h.feed), Entry: binary.BigEndian.Uint64(id[:8]), Link: h.link, Content: h.content, Claim: h.claim}
}

// tells reports whether a list that holds a needs no b, which came later.
func (a *held) tells(b *held) bool { return a.keys().Hides(b.keys()) }

// yields reports whether a, which a list holds, makes place for b.
func (a *held) yields(b *held) bool { return b.keys().Replaces(a.keys()) }

// identity is what an entry has in common with its versions and with mirrors of
// its feed, and with nothing else. Its id alone would not do: a publisher may
// sign any, that of another feed's entry too.
type identity [16]byte

func identityOf(feedURL string, id feedring.EntryID) identity {
	sum := sha256.Sum256([]byte("feedring personal entry\x00" + feedURL + "\x00" + string(id)))
	return identity(sum[:16])
}

// apartFrom is the identity of one publisher's copy of an entry.
func apartFrom(base identity, publisher feedring.PeerID) identity {
	sum := sha256.Sum256([]byte("feedring personal copy\x00" + string(base[:]) + string(publisher)))
	return identity(sum[:16])
}
