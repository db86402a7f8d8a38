package group

import (
	"time"

	"github.com/feedring/feedring"
)

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
	// Fetched is the outcome of Fetch: the store now holds everything through
	// Head, and Known is the newest entry that the other side showed, verified:
	// zero where it showed none. Beyond Head it was not seen after Fresh, and
	// neither was anything before it. Failed: the other side did not answer, or
	// what it sent did not hold. Dropped: before the first entry that it sent
	// others may lack that were seen up to then, since the other side dropped them;
	// zero: none that was seen after Fresh. The store has noted it, see State.Dropped.
	Fetched struct {
		Feed   feedring.FeedRef
		From   feedring.PeerID
		Head   feedring.Head
		Known  feedring.Head
		Failed bool

		Dropped time.Time
	}
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
	Checked struct {
		Feed    feedring.FeedRef
		Vouched bool
		Unknown bool // the site could not be asked: what it said before stands
		Vouch   Vouch
	}
	// Look asks for a look at the sites of this peer's own feeds now.
	Look struct{}
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

func (Receive) IsInput()   {}
func (Tick) IsInput()      {}
func (Persisted) IsInput() {}
func (Establish) IsInput() {}
func (Enter) IsInput()     {}
func (Describe) IsInput()  {}
func (Holding) IsInput()   {}
func (Kept) IsInput()      {}
func (Publish) IsInput()   {}
func (Appended) IsInput()  {}
func (Fetched) IsInput()   {}
func (Served) IsInput()    {}
func (Attach) IsInput()    {}
func (Detach) IsInput()    {}
func (Checked) IsInput()   {}
func (Look) IsInput()      {}
func (Rival) IsInput()     {}
func (Depart) IsInput()    {}
func (Abandon) IsInput()   {}
