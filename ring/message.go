package ring

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/ring/internal/ringmap"
)

// The map's words.
type (
	Row        = ringmap.Row
	Lost       = ringmap.Lost
	RowVersion = ringmap.RowVersion
	Shown      = ringmap.Shown
	Interner   = ringmap.Interner
	Snapshot   = ringmap.Snapshot
)

// MinParts and MaxParts are how many parts a large map is compared by.
const (
	MinParts = ringmap.MinParts
	MaxParts = ringmap.MaxParts
)

// SameContent reports whether two rows of one group say the same, their versions
// aside.
func SameContent(a, b *Row) bool { return ringmap.SameContent(a, b) }

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
		Have   []RowVersion
		Parts  []uint64 // digests of the parts of the map; none: Have tells
		Within []uint64 // the parts that Have is of, bit by bit, a word for 64; none: all
	}
	// Rows brings rows that the receiver lacks, and asks for Want.
	Rows struct {
		Rows []*Row // never changed: machines of one process share them
		Lost []Lost
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
