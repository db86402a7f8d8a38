package exchange

import "time"

// kind is what a message is for.
type kind uint8

const (
	looked kind = iota // the node's own look at a feed: what the document shows
	check              // check_did, and our NOTIFY: there is such a bundle
	seen               // answers check
	unseen             // answers check; our POLL
	put                // put_entries, and our answer to a poll
	served             // the node's own: it has sent what it was busy with
)

// message goes from node to node, or is a node's own affair.
type message struct {
	kind   kind
	bundle uint64
	source int // of the bundle: who looked
	feed   int
	news   []int32 // entries, by their index in the feed
	path   []int   // forwarders
}

// sending is what a step asks for: a message on its way at once, or later.
type sending struct {
	to    int // the node itself: it is woken
	after time.Duration
	message
}

// node is the machine of a peer: it knows no clock, no network and no chance
// but its own.
type node interface {
	step(now time.Duration, from int, m message) []sending
}

// store is what a node holds: when each entry came, by feed. What was published
// before the run begins is held like the rest.
type store [][]time.Duration

const missing = time.Duration(-1)

func newStore(feeds []feed) store {
	s := make(store, len(feeds))
	for i := range feeds {
		s[i] = make([]time.Duration, len(feeds[i].published))
		for j := range s[i] {
			s[i][j] = missing
		}
	}
	return s
}

// add stores entries and returns those that were new.
func (s store) add(feed int, entries []int32, now time.Duration) []int32 {
	var fresh []int32
	for _, e := range entries {
		for int(e) >= len(s[feed]) { // of a feed of which it is not known how much it will publish
			s[feed] = append(s[feed], missing)
		}
		if s[feed][e] == missing {
			s[feed][e] = now
			fresh = append(fresh, e)
		}
	}
	return fresh
}

// has reports whether an entry is held.
func (s store) has(feed int, entry int32) bool {
	return int(entry) < len(s[feed]) && s[feed][entry] != missing
}

// remembered is how many bundles a node remembers having seen.
const remembered = 1000

// bundles are those that a node saw last.
type bundles struct {
	known map[uint64]message
	order []uint64
}

func (b *bundles) add(m message) {
	if b.known == nil {
		b.known = make(map[uint64]message)
	}
	if _, ok := b.known[m.bundle]; !ok {
		b.order = append(b.order, m.bundle)
	}
	b.known[m.bundle] = m
	if len(b.order) > remembered {
		delete(b.known, b.order[0])
		b.order = b.order[1:]
	}
}

// has reports whether the bundle was seen. One that was only heard of has no
// entries yet.
func (b *bundles) has(id uint64) (message, bool) {
	m, ok := b.known[id]
	return m, ok
}
