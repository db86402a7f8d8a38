package peer

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/standing"
	"github.com/feedring/feedring/ring"
)

// Routing is how a query for a theme of another group travels.
type Routing uint8

// The routings. Shortcut asks the theme's manager at once where the map knows
// it; RingOnly always searches, as the paper does.
const (
	Shortcut Routing = iota
	RingOnly
)

// Config is what a peer is told once.
type Config struct {
	Self      feedring.PeerID
	Refresh   time.Duration
	Attempts  int
	Freshness time.Duration
	Keep      time.Duration // of copies; 0: while they are fresh
	Routing   Routing
	Fetchers  int           // see group.Config; 0: looks are not shared
	Every     time.Duration // as well
	Joining   bool          // peers to join through are being dialled: wait for Known before founding
	Seed      uint64        // of all random choices
	Interner  Interner      `state:"changes nothing that is done"` // of the peers of one process; nil: shares with nobody
}

// Interner finds equal values of several peers of one process, so that each is held
// once. A peer decides the same without one.
type Interner interface {
	ring.Interner
	group.Meshes
}

// State is what must survive a restart.
type State struct {
	Groups map[feedring.Theme]group.State
	Heads  map[feedring.Theme][]feedring.Head // what the store holds of each group's feeds
}

// Input is one thing that happened. Those of group that a driver makes
// (Persisted, Appended, Fetched, Attach, Detach, Checked) come wrapped in In.
type Input interface{ IsInput() }

// Inputs.
type (
	// Receive is a message from another peer; see the driver's duties.
	Receive struct {
		From    feedring.PeerID
		Prefix  standing.Prefix // from where it connects
		Message feedring.Message
	}
	// Tick is due at Deadline.
	Tick struct{}
	// In is an input for the membership of one group.
	In struct {
		Group feedring.GroupID
		Input group.Input
	}
	// Known tells of peers of the network that can be reached. Done says that
	// every address to join through was tried once.
	Known struct {
		Peers []feedring.PeerID
		Done  bool
	}
	// Members tells of peers of one group, from the address book.
	Members struct {
		Theme feedring.Theme
		Peers []feedring.PeerID
	}
	// Offer replaces the feeds that this peer publishes, by theme. A theme that
	// is new is joined or founded, one that is gone is left. The groups of Read are
	// carried without a feed of one's own: joined, and founded only if they are fleets'.
	Offer struct {
		Addrs    []string
		Feeds    map[feedring.Theme][]feedring.Feed
		Read     []feedring.Theme
		Capacity int // personal feeds that this peer has room for, told in the group of its fleet
		// Volunteer has this peer carry feeds of others in the groups of Read: group.Carry follows.
		Volunteer bool
	}
	// Trust replaces whom the owner of this peer trusts by hand: they have vouched standing here.
	Trust = group.Trusted
	// Ask is a reader's question, on a stream that Answer names.
	Ask struct {
		Stream  uint64
		Client  feedring.PeerID
		ID      feedring.QueryID
		Attempt uint32
		Query   feedring.Query // Theme, Provider and Since count here; words never leave the client and its provider
		Within  time.Duration
	}
	// Depart leaves every group in good order; Departed follows.
	Depart struct{}
	// Suspend ends all memberships without a word: another process with this
	// peer's key goes on in them. Offers change nothing until Resume; the ring's
	// map is kept all the while, and readers are answered by it.
	Suspend struct{}
	// Resume ends Suspend. The next Offer is joined or founded as after a start.
	Resume struct{}
)

// Output is one thing to do: one of group's outputs, or one of these.
type Output interface{ IsOutput() }

// Outputs.
type (
	// Send sends a message.
	Send = feedring.Send
	// Answer ends Ask.
	Answer struct {
		Stream uint64
		Final  feedring.Final
	}
	// Lookup asks the address book for peers of a group; Members follows.
	Lookup struct{ Theme feedring.Theme }
	// Departed ends the machine.
	Departed struct{}
)

// Messages between peers about a reader's query.
type (
	// Query passes a reader's question to the coordinator.
	Query struct {
		ID       feedring.QueryID
		Attempt  uint32
		Client   feedring.PeerID
		Theme    feedring.Theme
		Provider string
		Since    time.Time
		Within   time.Duration
	}
	// Accepted tells the asked peer that the coordinator is at work.
	Accepted struct {
		ID      feedring.QueryID
		Attempt uint32
	}
	// Final is the coordinator's one answer.
	Final struct{ Final feedring.Final }
)

// Verbs.
func (Query) Verb() feedring.Verb    { return "query" }
func (Accepted) Verb() feedring.Verb { return "accepted" }
func (Final) Verb() feedring.Verb    { return "final" }

func (Receive) IsInput() {}
func (Tick) IsInput()    {}
func (In) IsInput()      {}
func (Known) IsInput()   {}
func (Members) IsInput() {}
func (Offer) IsInput()   {}
func (Ask) IsInput()     {}
func (Depart) IsInput()  {}
func (Suspend) IsInput() {}
func (Resume) IsInput()  {}

func (Answer) IsOutput()   {}
func (Lookup) IsOutput()   {}
func (Departed) IsOutput() {}
