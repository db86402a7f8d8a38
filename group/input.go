package group

import (
	"github.com/feedring/feedring"
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
	// Enter makes this peer join through Via, tried in that order. Where
	// nobody answers it founds, under a number above Above. Another Enter
	// while it joins replaces both and does not begin anew.
	Enter struct {
		Via   []feedring.PeerID
		Above uint64
	}
	// Kept tells how far the copies reach that a peer keeps for longer than they
	// are fresh: of all once it is in a group, then whenever one is another.
	Kept struct{ Copies []Copy }
	// Describe replaces what this peer's row says.
	Describe struct {
		Addrs []string
		Feeds []feedring.Feed // Epoch 0: the machine chooses one
	}
	// Holding tells, once at the start, the heads that the store holds.
	Holding struct{ Heads []feedring.Head }
	// Served says that another peer polled here and was sent that many entries.
	// It counts in large groups only, and may be left out.
	Served struct {
		Feed    feedring.FeedRef
		To      feedring.PeerID
		Entries int
	}
	// Attach is a client that opened a stream with a valid ticket.
	Attach struct {
		Stream uint64
		Ticket feedring.Ticket
	}
	// Detach is the end of that stream.
	Detach struct{ Stream uint64 }
	// Checked is the outcome of Check.
	Checked = sitecheck.Outcome
	// CheckSites asks for a check of the sites of this peer's own feeds now.
	CheckSites struct{}
	// Rival is a claim on this group that the ring map shows. A zero Term: none
	// is live, and only Above counts.
	Rival struct {
		Term         feedring.Term
		Above        uint64 // the highest number that the map shows of the group, of what is dead as well
		Acknowledged bool
		Peers        []feedring.PeerID // manager, secondary
	}
	// Depart leaves in good order.
	Depart struct{}
	// Abandon ends the membership without a word: it goes on in another process.
	Abandon struct{}
)

func (Receive) IsInput()    {}
func (Tick) IsInput()       {}
func (Persisted) IsInput()  {}
func (Establish) IsInput()  {}
func (Enter) IsInput()      {}
func (Describe) IsInput()   {}
func (Holding) IsInput()    {}
func (Kept) IsInput()       {}
func (Served) IsInput()     {}
func (Attach) IsInput()     {}
func (Detach) IsInput()     {}
func (CheckSites) IsInput() {}
func (Rival) IsInput()      {}
func (Depart) IsInput()     {}
func (Abandon) IsInput()    {}
