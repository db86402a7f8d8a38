package ring

import (
	"github.com/feedring/feedring/ring/internal/message"
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

// Message is any message of this package.
type Message = message.Message

// Messages, and what they are made of.
type (
	Swap       = message.Swap       // opens an exchange of the map
	Versions   = message.Versions   // answers Swap
	Rows       = message.Rows       // brings rows, and asks for others
	Search     = message.Search     // visits the groups of an arc
	SearchAck  = message.SearchAck  // tells that a Search arrived
	FoundGroup = message.FoundGroup // tells the coordinator of a group that serves
	Exhausted  = message.Exhausted  // tells the coordinator that an arc ended
	Serving    = message.Serving    // is a group that serves, at its depth
	Direction  = message.Direction  // is a way around the ring
)

// The directions.
const (
	Successor   = message.Successor
	Predecessor = message.Predecessor
	Direct      = message.Direct
)
