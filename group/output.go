package group

import (
	"time"

	"github.com/feedring/feedring"
)

// Output is one thing to do. Outputs are done in the order given.
type Output interface{ IsOutput() }

// Outputs.
type (
	// Send sends a message.
	Send = feedring.Send
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
	// Unplaced says that a batch gets no positions: Append never comes for it. Full:
	// too many of its feed wait already; else the row names no such feed, since it
	// has no room for it or the feed was taken out.
	Unplaced struct {
		Group feedring.GroupID
		Batch uint64
		Full  bool
	}
	// Fetch polls Feed from a peer; Fetched follows. Entries seen before Fresh
	// are left out, but for the newest where all are. Proof stores nothing: only
	// Fetched.Known is wanted. What is held and was seen before Gap (zero: Fresh)
	// may be followed by a gap.
	Fetch struct {
		Group feedring.GroupID
		Feed  feedring.FeedRef
		From  feedring.PeerID
		After feedring.Position
		Fresh time.Time
		Gap   time.Time
		Proof bool
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
	// Protect keeps connections to exactly these peers for this group; the zero
	// group stands for the ring.
	Protect struct {
		Group feedring.GroupID
		Peers []feedring.PeerID
	}
	// Owing tells in a large group, at most once in a third of the refresh
	// period, what each neighbour that is not even took beyond what it gave: those that
	// took most are served last where not all can be served at once. Nil: the
	// group is not large any more, and all are alike.
	Owing struct {
		Group feedring.GroupID
		Debts []Debt
	}
	// Dropped names the feeds of Describe that this peer's row has no room for,
	// whenever they are others than before: entries of theirs are published to
	// nobody, and a Publish of one has no answer.
	Dropped struct {
		Theme feedring.Theme
		URLs  []string
	}
	// Twin says that another process runs with this peer's key: the group hears
	// two that speak as one, and believes neither for long. It comes again, at
	// most every three periods, while that goes on.
	Twin struct{ Theme feedring.Theme }
	// Reach tells addresses that a row or a message gave for a peer.
	Reach struct {
		Peer  feedring.PeerID
		Addrs []string
	}
	// Departed ends the membership: the machine does nothing more.
	Departed struct{ Group feedring.GroupID }
)

func (Persist) IsOutput()     {}
func (RoleChanged) IsOutput() {}
func (Append) IsOutput()      {}
func (Unplaced) IsOutput()    {}
func (Fetch) IsOutput()       {}
func (Wake) IsOutput()        {}
func (Admit) IsOutput()       {}
func (Refuse) IsOutput()      {}
func (Prune) IsOutput()       {}
func (Check) IsOutput()       {}
func (Protect) IsOutput()     {}
func (Owing) IsOutput()       {}
func (Dropped) IsOutput()     {}
func (Twin) IsOutput()        {}
func (Reach) IsOutput()       {}
func (Departed) IsOutput()    {}
