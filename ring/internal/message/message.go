// Package message holds what peers say to one another of the ring: exchanges of the map, and
// searches. It says which searches are well-formed, and decides nothing else.
package message

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/ring/internal/ringmap"
)

// Serving is a group that serves, at its depth on an arc.
type Serving struct {
	Group feedring.GroupID
	Hop   int
}

// Direction is a way around the ring.
type Direction uint8

// The directions. Direct is no arc: the coordinator asks one group itself.
const (
	Successor Direction = iota + 1
	Predecessor
	Direct
)

// Gossip: push-pull of the map.
type (
	// Swap opens an exchange with a hash of the sender's map.
	Swap struct {
		Hash  uint64
		Parts bool // the sender compares by parts
	}
	// Versions answers a Swap with the sender's hash and, where that differs,
	// what the sender holds. It is also the sign of life that neighbours want.
	// Where both compare by parts, Parts comes in place of Have, and is answered
	// by Versions of those that differ.
	Versions struct {
		Hash   uint64
		Have   []ringmap.RowVersion
		Parts  []uint64 // digests of the parts of the map; none: Have tells
		Within []uint64 // the parts that Have is of, bit by bit, a word for 64; none: all
	}
	// Rows brings rows that the receiver lacks, and asks for Want.
	Rows struct {
		Rows []*ringmap.Row // never changed: machines of one process share them
		Lost []ringmap.Lost
		Want []feedring.GroupID
	}
)

// Search: the bidirectional search (paper, section 2.1.2).
type (
	// Search visits the groups of an arc, one after the other.
	Search struct {
		ID          feedring.QueryID
		Attempt     uint32
		Coordinator feedring.PeerID
		Group       feedring.GroupID // the group that this hop is for
		Origin, End feedring.GroupID // the arc, by key; End is inside for Successor, outside for Predecessor
		Direction   Direction
		C           int // the paper's counter, told and reported
		Hop         int // this group's depth on the arc
		HopLimit    int
		Theme       feedring.Theme // empty: all groups
		Provider    string
		Visited     []feedring.GroupID // before this hop
		Serving     []Serving          // those of Visited that serve, where Theme is empty
		Within      time.Duration
	}
	// SearchAck tells the sender of a hop that it arrived.
	SearchAck struct {
		ID        feedring.QueryID
		Attempt   uint32
		Group     feedring.GroupID
		Direction Direction
	}
	// FoundGroup (the protocol's FOUND) tells the coordinator that Group serves.
	FoundGroup struct {
		ID        feedring.QueryID
		Attempt   uint32
		Group     feedring.GroupID
		Direction Direction
		Hop       int
	}
	// Exhausted tells the coordinator that an arc ended.
	Exhausted struct {
		ID        feedring.QueryID
		Attempt   uint32
		Direction Direction
		Visited   []feedring.GroupID
		Serving   []Serving // those that serve: a FOUND may come late or not at all
		Hop       int       // depth of the last group visited
		C         int
	}
)

// Verbs.
func (Swap) Verb() feedring.Verb       { return "swap" }
func (Versions) Verb() feedring.Verb   { return "versions" }
func (Rows) Verb() feedring.Verb       { return "ring-rows" }
func (Search) Verb() feedring.Verb     { return "search" }
func (SearchAck) Verb() feedring.Verb  { return "search-ack" }
func (FoundGroup) Verb() feedring.Verb { return "found" }
func (Exhausted) Verb() feedring.Verb  { return "exhausted" }

// Message is any message of this package.
type Message interface {
	feedring.Message
	isRing()
}

func (Swap) isRing()       {}
func (Versions) isRing()   {}
func (Rows) isRing()       {}
func (Search) isRing()     {}
func (SearchAck) isRing()  {}
func (FoundGroup) isRing() {}
func (Exhausted) isRing()  {}

// Limits of a search.
const (
	MaxWithin   = 10 * time.Minute
	maxProvider = 253
)

// HopLimit is how many hops a search may take on a ring of n groups.
func HopLimit(n int) int { return 2*n + 8 }

// Valid reports whether a search may be passed on.
func (s *Search) Valid() bool {
	return s.Direction >= Successor && s.Direction <= Direct && s.Coordinator != "" &&
		s.Hop >= 1 && s.Hop <= s.HopLimit && s.HopLimit <= HopLimit(ringmap.MaxGroups) &&
		len(s.Visited) <= ringmap.MaxGroups && len(s.Serving) <= len(s.Visited) && s.Within > 0 && s.Within <= MaxWithin &&
		len(s.Theme) <= feedring.MaxTheme && len(s.Provider) <= maxProvider
}

// Valid reports whether a search may have come to the group.
func (f *FoundGroup) Valid() bool {
	return f.Hop >= 1 && f.Hop <= HopLimit(ringmap.MaxGroups) && f.Direction >= Successor && f.Direction <= Direct
}

// Valid reports whether an arc may have ended so.
func (e *Exhausted) Valid() bool {
	return e.Hop >= 0 && e.Hop <= HopLimit(ringmap.MaxGroups) && len(e.Visited) <= ringmap.MaxGroups && len(e.Serving) <= len(e.Visited)
}
