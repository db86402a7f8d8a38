package feedring

import (
	"encoding/hex"
	"time"
)

// Limits of a query.
const (
	MaxExpression = 4 << 10 // bytes of a keyword expression
	DefaultLimit  = 50
	MaxLimit      = 1000
)

// Query is what a client asks, the paper's (theme, provider, item, date).
type Query struct {
	Theme    Theme  // empty: every group
	Provider string // empty: every provider; see Provider.Matches
	Words    string // a keyword expression, empty for all; see internal/match
	Since    time.Time
	Until    time.Time // exclusive; zero: no end
	Limit    int       // newest entries of the first answer; 0: DefaultLimit
	Vouched  bool      // only of publishers that a site names as its own
	Stem     bool      // words are met by other forms of them, in the language of an entry
}

// QueryID identifies a query for its whole life. Only the coordinator knows
// whose it is.
type QueryID [16]byte

// String returns the id in hexadecimal digits.
func (q QueryID) String() string { return hex.EncodeToString(q[:]) }

// Status is the kind of a final answer.
type Status uint8

// The finals. Exactly one is sent for each attempt of a query.
const (
	Answered    Status = iota + 1 // at least one provider serves it
	Unsatisfied                   // every group of the coordinator's view was visited and said no
	Incomplete                    // the deadline came first, or a publisher that alone has the answer is away
)

// String returns the word that events use.
func (s Status) String() string {
	switch s {
	case Answered:
		return "answered"
	case Unsatisfied:
		return "unsatisfied"
	case Incomplete:
		return "incomplete"
	default:
		return "unknown"
	}
}

// Final is the one final answer to one attempt of a query.
type Final struct {
	ID       QueryID
	Attempt  uint32
	Status   Status
	Grants   []Grant  // the providers; several where every group or every publisher was asked
	Missing  []string // what was not reached: "weather", "news/lemonde.fr"
	Copies   []string // what others answered from copies that they keep, whole: "news/lemonde.fr"
	Hops     int      // ring depth of the farthest group that answered; see docs/protocol.md
	Messages int      // forwards, FOUND and EXHAUSTED of the attempt
	Suggest  []string // "did you mean", with Unsatisfied
}

// Grant names a provider for a client, with peers to go to if it is lost.
type Grant struct {
	Theme      Theme
	Provider   PeerInfo
	Alternates []PeerInfo // at most 3
	// Own asks the provider for its own feeds only, in their whole history:
	// the client's date is older than what others cache.
	Own    bool
	Ticket Ticket
	// Hints is what the peer that made the grant holds itself; nil: it does not say.
	Hints *Hints
}

// Ticket lets one client be served by the peers it names. The manager that
// assigned them signs it; it stays valid until Expiry whatever happens to
// terms. Holding one makes the provider keep a place for the client.
type Ticket struct {
	ID      QueryID
	Attempt uint32
	Group   GroupID
	Client  PeerID
	Peers   []PeerID // the provider, then the alternates
	Expiry  time.Time
	Seal    *Seal
}

// Catalogue is a group as one of its members tells it.
type Catalogue struct {
	Theme     Theme           `json:"theme"`
	Manager   PeerID          `json:"manager"`
	Secondary PeerID          `json:"secondary,omitempty"`
	Term      uint64          `json:"term"`
	Peers     []CataloguePeer `json:"peers"`
}

// CataloguePeer is one peer of a Catalogue.
type CataloguePeer struct {
	Peer      PeerID   `json:"peer"`
	Role      string   `json:"role"`
	Clients   *int     `json:"clients,omitempty"` // nil where the answering peer does not know
	Feeds     []Feed   `json:"feeds"`
	Addrs     []string `json:"addrs,omitempty"`
	VouchedBy []string `json:"vouched_by,omitempty"`
	// KeepSeconds is how long it keeps copies of others' entries; 0: while they
	// are fresh.
	KeepSeconds int64 `json:"keep_seconds,omitempty"`
}

// RingGroup is one group on the ring.
type RingGroup struct {
	Theme     Theme  `json:"theme"`
	Manager   PeerID `json:"manager"`
	Secondary PeerID `json:"secondary,omitempty"`
	Term      uint64 `json:"term"`
	Peers     int    `json:"peers"`
	Feeds     int    `json:"feeds"`
	Clients   int    `json:"clients"`
}
