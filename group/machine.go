package group

import (
	"time"

	"github.com/feedring/feedring"
)

// Config is what a membership is told once. The zero value is not valid.
type Config struct {
	Theme     feedring.Theme
	Self      feedring.PeerID
	Refresh   time.Duration // the paper's r: shorter notices a crash sooner and costs more beacons
	Attempts  int           // the paper's k: objections before a secondary asks to be replaced
	Freshness time.Duration // the paper's F: how long entries of others are cached
	Seed      uint64        // of the machine's own random source
}

// State is what must survive a restart. The driver loads it before New.
type State struct {
	Term        feedring.Term // accepted; never falls
	Highest     uint64        // highest number this peer ever used or accepted
	Incarnation uint64        // of this peer's row; New uses one more
	From        time.Time     // the row's mark
}

// Input is one thing that happened.
type Input interface{ IsInput() }

// Inputs.
type (
	// Receive is a message from another peer, its signatures already checked,
	// its sender authenticated by the connection.
	Receive struct {
		From    feedring.PeerID
		Message Message
	}
	// Tick is due at Deadline.
	Tick struct{}
	// Persisted says that the State of Persist{Token} is on disk.
	Persisted struct{ Token uint64 }
	// Found makes this peer the founder, under a number above Above.
	Found struct{ Above uint64 }
	// Enter makes this peer join through Via, tried in that order.
	Enter struct{ Via []feedring.PeerID }
	// Describe replaces what this peer's row says.
	Describe struct {
		Addrs []string
		Feeds []feedring.Feed // Epoch 0: the machine chooses one
	}
	// Holding tells, once at the start, the heads that the store holds.
	Holding struct{ Heads []feedring.Head }
	// Publish asks for positions for Entries new entries of one's own feed.
	Publish struct {
		Batch   uint64
		URL     string
		Entries int
	}
	// Appended says that a batch is on disk, through Head. Failed says that it
	// is not, and Head is where the store stands.
	Appended struct {
		Batch  uint64
		Head   feedring.Head
		Failed bool
	}
	// Stored is the outcome of Fetch: the store now holds everything through
	// Head, and Known is the head that the other side told. Failed: the other
	// side did not answer, or what it sent did not hold.
	Stored struct {
		Feed   feedring.FeedRef
		From   feedring.PeerID
		Head   feedring.Head
		Known  feedring.Head
		Failed bool
	}
	// Attach is a client that opened a stream with a valid ticket.
	Attach struct {
		Stream uint64
		Ticket feedring.Ticket
	}
	// Detach is the end of that stream.
	Detach struct{ Stream uint64 }
	// Checked is the outcome of Check.
	Checked struct {
		Feed    feedring.FeedRef
		Vouched bool
		Vouch   Vouch
	}
	// Rival is a claim on this group that the ring map shows.
	Rival struct {
		Term         feedring.Term
		Acknowledged bool
		Peers        []feedring.PeerID // manager, secondary
	}
	// Depart leaves in good order.
	Depart struct{}
)

// Output is one thing to do. Outputs are done in the order given.
type Output interface{ IsOutput() }

// Outputs.
type (
	// Send sends a message. Fresh forgets the dial back-off first.
	Send struct {
		To      feedring.PeerID
		Message Message
		Fresh   bool
	}
	// Persist puts State on disk, then answers Persisted.
	Persist struct {
		Group feedring.GroupID
		Token uint64
		State State
	}
	// RoleChanged tells this peer's role in the group.
	RoleChanged struct {
		Theme feedring.Theme
		Role  feedring.Role
		Term  feedring.Term
	}
	// Append stores the batch of own entries from First on; Appended follows.
	Append struct {
		Group feedring.GroupID
		Batch uint64
		Feed  feedring.FeedRef
		First feedring.Position
	}
	// Fetch polls Feed from a peer; Stored follows. Entries seen before Fresh
	// are left out where After is zero.
	Fetch struct {
		Group feedring.GroupID
		Feed  feedring.FeedRef
		From  feedring.PeerID
		After feedring.Position
		Fresh time.Time
	}
	// Wake tells followers of Feed that the store holds more.
	Wake struct {
		Feed    feedring.FeedRef
		Through feedring.Position
	}
	// Admit lets the client of Attach be served; Refuse does not.
	Admit struct {
		Group  feedring.GroupID
		Stream uint64
	}
	Refuse struct {
		Stream uint64
		Reason string
	}
	// Prune drops entries of others that were seen before Before.
	Prune struct {
		Group  feedring.GroupID
		Before time.Time
	}
	// Check looks whether the site of Feed names its publisher; Checked follows.
	Check struct {
		Group feedring.GroupID
		Feed  feedring.FeedRef
	}
	// Protect keeps connections to exactly these peers for this group.
	Protect struct {
		Group feedring.GroupID
		Peers []feedring.PeerID
	}
	// Reach tells addresses that a row or a message gave for a peer.
	Reach struct {
		Peer  feedring.PeerID
		Addrs []string
	}
	// Departed ends the membership: the machine does nothing more.
	Departed struct{ Group feedring.GroupID }
)

func (Receive) IsInput()   {}
func (Tick) IsInput()      {}
func (Persisted) IsInput() {}
func (Found) IsInput()     {}
func (Enter) IsInput()     {}
func (Describe) IsInput()  {}
func (Holding) IsInput()   {}
func (Publish) IsInput()   {}
func (Appended) IsInput()  {}
func (Stored) IsInput()    {}
func (Attach) IsInput()    {}
func (Detach) IsInput()    {}
func (Checked) IsInput()   {}
func (Rival) IsInput()     {}
func (Depart) IsInput()    {}

func (Send) IsOutput()        {}
func (Persist) IsOutput()     {}
func (RoleChanged) IsOutput() {}
func (Append) IsOutput()      {}
func (Fetch) IsOutput()       {}
func (Wake) IsOutput()        {}
func (Admit) IsOutput()       {}
func (Refuse) IsOutput()      {}
func (Prune) IsOutput()       {}
func (Check) IsOutput()       {}
func (Protect) IsOutput()     {}
func (Reach) IsOutput()       {}
func (Departed) IsOutput()    {}
