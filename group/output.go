package group

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/mesh"
	"github.com/feedring/feedring/group/internal/replication"
)

// Output is one thing to do. Outputs are done in the order given.
type Output interface{ IsOutput() }

// Outputs of replication.
type (
	Append   = replication.Append
	Unplaced = replication.Unplaced
	Fetch    = replication.Fetch
	Wake     = replication.Wake
	Compare  = replication.Compare
	Learn    = replication.Learn
	Show     = replication.Show
)

// MaxAnswer is the longest answer that travels with a notify, in bytes.
const MaxAnswer = replication.MaxAnswer

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
	// Admit lets the client of Attach be served; Refuse does not.
	Admit struct {
		Group  feedring.GroupID
		Stream uint64
	}
	Refuse struct {
		Stream uint64
		Reason Refusal
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
	// Protect keeps connections to exactly these peers for this group; the zero group stands for the ring.
	Protect struct {
		Group feedring.GroupID
		Peers []feedring.PeerID
	}
	// Owing tells what neighbours took beyond what they gave.
	Owing = mesh.Owing
	// Dropped names the feeds of Describe that this peer's row has no room for, whenever they are others than before:
	// entries of theirs are published to nobody, and a Publish of one has no answer.
	Dropped struct {
		Theme feedring.Theme
		URLs  []string
	}
	// DuplicateIdentity says that another process runs with this peer's key: the group hears two that speak as one, and
	// believes neither for long. It comes again, at most every three periods, while that goes on.
	DuplicateIdentity struct{ Theme feedring.Theme }
	// Reach tells addresses that a row or a message gave for a peer.
	Reach struct {
		Peer  feedring.PeerID
		Addrs []string
	}
	// Departed ends the membership: the machine does nothing more.
	Departed struct{ Group feedring.GroupID }
)

func (Persist) IsOutput()           {}
func (RoleChanged) IsOutput()       {}
func (Admit) IsOutput()             {}
func (Refuse) IsOutput()            {}
func (Prune) IsOutput()             {}
func (Check) IsOutput()             {}
func (Protect) IsOutput()           {}
func (Dropped) IsOutput()           {}
func (DuplicateIdentity) IsOutput() {}
func (Reach) IsOutput()             {}
func (Departed) IsOutput()          {}
