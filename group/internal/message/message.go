// Package message holds what the members of a group say to one another, and to those who look something up in it.
package message

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/group/internal/fetchassign"
)

// Header is carried by every message inside a group, for information: the
// group and the term that the sender follows. Nobody adopts a term from it. A
// member that follows a higher one answers Stale, to one sender at most once in
// a third of the refresh period, unless the message has an answer of its own
// that names the claim (Join, Intention, and what carries a claim itself).
type Header struct {
	Group feedring.GroupID
	Term  feedring.Term
}

// Of returns the header, so that a dispatcher finds the group of any message.
func (h Header) Of() Header { return h }

// Claim is the signed statement "I, Term.Claimant, manage Group". It is what
// Confirmation, Beacon, Refresh and Stale carry, and nothing else changes a
// term that a peer has accepted.
type Claim struct {
	Group feedring.GroupID
	Term  feedring.Term
	Seal  *feedring.Seal // by Term.Claimant; nil on one's own
}

// Admission.
type (
	// Join asks to be admitted. A member that is not the manager answers Stale,
	// which names the manager, and passes the row on to it.
	Join struct {
		Header
		Row catalogue.Row
	}
	// Admitted answers Join with the state of the group.
	Admitted struct {
		Header
		Claim     Claim
		Secondary feedring.PeerID
		Admitted  time.Time
		Rows      []*catalogue.Row // here and below: never changed, machines of one process share them
		Heads     []feedring.Head
	}
	// Leave tells that the sender goes, with its tombstone.
	Leave struct {
		Header
		Row catalogue.Row
	}
	// HandOver asks the secondary to claim at once: the manager leaves.
	HandOver struct{ Header }
)

// Keeping together.
type (
	// Beacon is the manager's sign of life, every third of the refresh period.
	Beacon struct {
		Header
		Claim        Claim
		Number       uint64 // one more each time, under one term
		Secondary    feedring.PeerID
		Acknowledged int // other peers that follow this term; 0: a provisional claim
		Away         []feedring.PeerID
		Catalogue    uint64          // hash of the versions of all rows
		Heads        []feedring.Head // changed in the last three periods
		Older        uint64          // hash of all heads not in Heads
		RoundTrip    time.Duration   // as the manager measures it, in whole milliseconds; 0: unknown
		Seal         *feedring.Seal  // by Claim.Term.Claimant; nil on one's own
	}
	// BeaconAnswer acknowledges the term and tells the member's state.
	BeaconAnswer struct {
		Header
		Number    uint64
		Leases    int // live leases, absolute
		Catalogue uint64
		Heads     []feedring.Head // changed in the last three periods
		Older     uint64
	}
	// Refresh replicates the manager's state to the secondary.
	Refresh struct {
		Header
		Claim   Claim
		Version uint64
		Loads   []Load
		Rows    []*catalogue.Row
	}
	// Refreshed acknowledges a Refresh.
	Refreshed struct {
		Header
		Version uint64
	}
	// RowsWanted asks for the catalogue; Have lists what the sender holds.
	RowsWanted struct {
		Header
		Have []catalogue.Version
	}
	// Rows carries catalogue rows, new to the receiver as far as is known.
	Rows struct {
		Header
		Rows      []*catalogue.Row
		Forgotten []feedring.PeerID // from the manager: whose rows it does not hold and does not take
	}
	// HeadsWanted asks for the heads of all feeds after After, in FeedRef order.
	HeadsWanted struct {
		Header
		After feedring.FeedRef
	}
	// Evidence shows that a log is forked.
	Evidence struct {
		Header
		Fork feedring.Fork
	}
	// Heads answers HeadsWanted: a range in FeedRef order, to the end unless More.
	Heads struct {
		Header
		Heads []feedring.Head
		More  bool
	}
)

// Load is the number of clients of a peer.
type Load struct {
	Peer    feedring.PeerID
	Leases  int
	Granted int // places that the manager granted there of late
}

// Failover.
type (
	// Intention proposes to take the manager's place. Proposed is data: nobody
	// adopts it.
	Intention struct {
		Header
		Proposed uint64
		Elapsed  time.Duration // since the last beacon, by the sender's monotonic clock
		Nonce    uint64
	}
	// Probe asks the manager for a fresh signature over Nonce.
	Probe struct {
		Header
		Nonce uint64
	}
	// Alive answers Probe.
	Alive struct {
		Header
		Nonce uint64
		Seal  *feedring.Seal // by the manager, over group, term and nonce; nil on one's own
	}
	// Objection answers Intention, with the manager's own Alive over its nonce,
	// or with a higher claim.
	Objection struct {
		Header
		Nonce uint64
		Alive *Alive
		Claim *Claim
	}
	// Confirmation is a claim made good.
	Confirmation struct {
		Header
		Claim     Claim
		Secondary feedring.PeerID
	}
	// Stale tells a sender that its term is over.
	Stale struct {
		Header
		Claim     Claim
		Secondary feedring.PeerID
		Addrs     []string // of the claimant
		// Acknowledged says that another peer than the claimant follows the
		// claim; a provisional claimant yields only then to a lower term.
		Acknowledged bool
		// Again is when a newcomer should ask the sender next, which manages the group
		// and has no place for it now; 0: nothing was refused.
		Again time.Duration
	}
	// Replace asks the manager, through an objector, for another secondary.
	Replace struct {
		Header
		Secondary feedring.PeerID
	}
)

// Publication.
type (
	// Notify announces a persisted entry. Path lists its forwarders in groups
	// that spread notifies over a mesh. Of its own entry a publisher may send
	// along what it would answer a poll after After: Answer, which the driver
	// packs and reads; empty: it is polled.
	Notify struct {
		Header
		Head   feedring.Head
		Path   []feedring.PeerID
		After  feedring.Position
		Answer []byte
	}
)

// Lookup.
type (
	// Place asks a manager (or its secondary) to find providers for a client.
	// It comes from the coordinator of the query.
	Place struct {
		Header
		ID       feedring.QueryID
		Attempt  uint32
		Client   feedring.PeerID
		Provider string
		Since    time.Time     // zero: none
		Within   time.Duration // the coordinator waits no longer
	}
	// Placed answers Place. Grants is empty where Served is false.
	Placed struct {
		Header
		ID      feedring.QueryID
		Attempt uint32
		Served  bool // the group has such a provider
		Grants  []feedring.Grant
		Missing []string // publishers that alone have the answer and are away
		Copies  []string // those whose feeds are answered whole from copies
	}
	// Assign asks a peer to keep a place for a client, and which of the feeds of
	// Copies, if any, it holds whole since Since (zero: from their first entry).
	Assign struct {
		Header
		ID      feedring.QueryID
		Attempt uint32
		Client  feedring.PeerID
		Expiry  time.Time
		Copies  []feedring.FeedRef
		Since   time.Time
	}
	// Assigned acknowledges Assign after the place was made, or refuses.
	Assigned struct {
		Header
		ID      feedring.QueryID
		Attempt uint32
		OK      bool
		Leases  int
		Copies  []feedring.FeedRef // those of Assign that are held whole
	}
)

// Shared fetches.
type (
	// AssignmentsWanted asks the manager who fetches feeds that the sender and others
	// offer. It is repeated as long as they do.
	AssignmentsWanted struct {
		Header
		Feeds []fetchassign.Request
	}
	// Assignments tells who fetches, for a time: an answer, or news.
	Assignments struct {
		Header
		For   time.Duration
		Feeds []fetchassign.Assignment
	}
	// FetchRequest asks the fetcher of a feed to fetch it now.
	FetchRequest struct {
		Header
		URL string
	}
)

// Verbs.
func (Join) Verb() feedring.Verb              { return "join" }
func (Admitted) Verb() feedring.Verb          { return "admitted" }
func (Leave) Verb() feedring.Verb             { return "leave" }
func (HandOver) Verb() feedring.Verb          { return "hand-over" }
func (Beacon) Verb() feedring.Verb            { return "beacon" }
func (BeaconAnswer) Verb() feedring.Verb      { return "beacon-answer" }
func (Refresh) Verb() feedring.Verb           { return "refresh" }
func (Refreshed) Verb() feedring.Verb         { return "refreshed" }
func (RowsWanted) Verb() feedring.Verb        { return "rows-wanted" }
func (Rows) Verb() feedring.Verb              { return "rows" }
func (HeadsWanted) Verb() feedring.Verb       { return "heads-wanted" }
func (Evidence) Verb() feedring.Verb          { return "evidence" }
func (Heads) Verb() feedring.Verb             { return "heads" }
func (Intention) Verb() feedring.Verb         { return "intention" }
func (Probe) Verb() feedring.Verb             { return "probe" }
func (Alive) Verb() feedring.Verb             { return "alive" }
func (Objection) Verb() feedring.Verb         { return "objection" }
func (Confirmation) Verb() feedring.Verb      { return "confirmation" }
func (Stale) Verb() feedring.Verb             { return "stale" }
func (Replace) Verb() feedring.Verb           { return "replace" }
func (Notify) Verb() feedring.Verb            { return "notify" }
func (Place) Verb() feedring.Verb             { return "place" }
func (Placed) Verb() feedring.Verb            { return "placed" }
func (Assign) Verb() feedring.Verb            { return "assign" }
func (Assigned) Verb() feedring.Verb          { return "assigned" }
func (AssignmentsWanted) Verb() feedring.Verb { return "turns-wanted" }
func (Assignments) Verb() feedring.Verb       { return "turns" }
func (FetchRequest) Verb() feedring.Verb      { return "urge" }

// Message is any message of this package.
type Message interface {
	feedring.Message
	Of() Header
}
