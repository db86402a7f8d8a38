package group

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/placement"
	"github.com/feedring/feedring/group/internal/replication"
	"github.com/feedring/feedring/group/internal/sitecheck"
	"github.com/feedring/feedring/internal/standing"
)

// Input is one thing that happened.
type Input interface{ IsInput() }

// Inputs of replication.
type (
	Publish  = replication.Publish
	Appended = replication.Appended
	Fetched  = replication.Fetched
	Copy     = replication.Copy
	Kept     = replication.Kept
	Holding  = replication.Holding
	Forked   = replication.Forked
	Served   = replication.Served
)

// Inputs of placement.
type (
	Attach = placement.Attach
	Detach = placement.Detach
)

// Inputs.
type (
	// Receive is a message from another peer, its signatures already checked,
	// its sender authenticated by the connection.
	Receive struct {
		From    feedring.PeerID
		Prefix  standing.Prefix // from where the sender connects
		Message Message
	}
	// Tick is due at Deadline.
	Tick struct{}
	// Persisted says that the State of Persist{Token} is on disk.
	Persisted struct{ Token uint64 }
	// Establish makes this peer the founder, under a number above Above.
	Establish struct{ Above uint64 }
	// Enter makes this peer join through Via, tried in that order. Where nobody answers it founds, under a number above
	// Above. Another Enter while it joins replaces both and does not begin anew.
	Enter struct {
		Via   []feedring.PeerID
		Above uint64
	}
	// Describe replaces what this peer's row says.
	Describe struct {
		Addrs    []string
		Feeds    []feedring.Feed // Epoch 0: the machine chooses one
		Capacity int             // see Row
		// Volunteer has this peer carry feeds of others: Carry follows. It needs Config.Fetchers.
		Volunteer bool
	}
	// Checked is the outcome of Check.
	Checked = sitecheck.Outcome
	// CheckSites asks for a check of the sites of this peer's own feeds now.
	CheckSites struct{}
	// Rival is a claim on this group that the ring map shows. A zero Term: none is live, and only Above counts.
	Rival struct {
		Term         feedring.Term
		Above        uint64 // the highest number that the map shows of the group, of what is dead as well
		Acknowledged bool
		Peers        []feedring.PeerID // manager, secondary
	}
	// Depart leaves in good order. Withdraw takes the feeds out first: nobody carries them on.
	Depart struct{ Withdraw bool }
	// Abandon ends the membership without a word: it goes on in another process.
	Abandon struct{}
)

func (Receive) IsInput()    {}
func (Tick) IsInput()       {}
func (Persisted) IsInput()  {}
func (Establish) IsInput()  {}
func (Enter) IsInput()      {}
func (Describe) IsInput()   {}
func (CheckSites) IsInput() {}
func (Rival) IsInput()      {}
func (Depart) IsInput()     {}
func (Abandon) IsInput()    {}
