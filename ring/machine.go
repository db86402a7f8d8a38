package ring

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/standing"
)

// Config is what a view of the ring is told once. The zero value is not valid.
type Config struct {
	Self        feedring.PeerID
	Refresh     time.Duration // the paper's r: shorter spreads the map sooner and costs more exchanges
	Seed        uint64        // of the machine's own random source
	Memberships Memberships   `state:"looks into the peer"`
	Interner    Interner      `state:"changes nothing that is done"` // of the machines of one process; nil: shares with nobody
}

// Memberships are this peer's. It is called during Step, and must not block or
// have an effect.
type Memberships interface {
	// Serves reports whether this peer is a member of g, so that it may answer for it,
	// and whether g has a provider that matches.
	Serves(g feedring.GroupID, provider string) (serves, member bool)
	// Judges returns the managers that this peer follows, if it manages no group itself.
	// It takes their word on other groups.
	Judges() []feedring.PeerID
}

// Input is one thing that happened.
type Input interface{ IsInput() }

// Inputs.
type (
	// Receive is a message from another peer, its signatures already checked.
	Receive struct {
		From    feedring.PeerID
		Prefix  standing.Prefix // from where it connects
		Message Message
	}
	// Tick is due at Deadline.
	Tick struct{}
	// Meet names peers to exchange maps with.
	Meet struct{ Peers []feedring.PeerID }
	// Announce puts or renews the row of a group that this peer manages.
	Announce struct{ Row Row }
	// Withdraw says that this peer no longer manages Group. Elsewhere: another process with its key
	// may.
	Withdraw struct {
		Group     feedring.GroupID
		Elsewhere bool
	}
	// Begin starts a search from a group that this peer manages, or
	// stands in for as its secondary.
	Begin struct {
		ID       feedring.QueryID
		Attempt  uint32
		From     feedring.GroupID
		Theme    feedring.Theme // empty: all groups
		Provider string
		Within   time.Duration
	}
)

// Output is one thing to do.
type Output interface{ IsOutput() }

// Outputs.
type (
	// Send sends a message.
	Send = feedring.Send
	// Found tells, during a search, a group that serves, at its ring depth.
	Found struct {
		ID      feedring.QueryID
		Attempt uint32
		Group   feedring.GroupID
		Hops    int
	}
	// Ended is the end of a search: everything in view was visited, or the
	// deadline came, or (a query with a theme) one group was found.
	Ended struct {
		ID       feedring.QueryID
		Attempt  uint32
		Found    []feedring.GroupID
		Missing  []feedring.Theme // groups in view that were not reached
		Hops     int
		Messages int
	}
	// Changed tells that the map's row of a group changed. Lost: a neighbour
	// could not reach the group.
	Changed struct {
		Row  *Row // must not be changed
		Lost bool
	}
	// Reach tells addresses that a row gave for a peer.
	Reach struct {
		Peer  feedring.PeerID
		Addrs []string
	}
)

func (Receive) IsInput()  {}
func (Tick) IsInput()     {}
func (Meet) IsInput()     {}
func (Announce) IsInput() {}
func (Withdraw) IsInput() {}
func (Begin) IsInput()    {}

func (Found) IsOutput()   {}
func (Ended) IsOutput()   {}
func (Changed) IsOutput() {}
func (Reach) IsOutput()   {}
