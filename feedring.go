// Package feedring holds the words of the field: themes, groups, peers, feeds,
// entries, queries and their answers. It decides nothing and does no I/O, and
// it imports only the standard library, so that every other room, the pure
// machines included, can speak the same words.
//
// The words are those of "Routage distribué de flux RSS" (Ngom, Sarr, Ndiaye,
// Gueye), in English: a RSS peer is a peer, a GRP a manager, a GRPS a
// secondary. docs/protocol.md lists them all.
package feedring

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"time"
)

// PeerID is a libp2p peer id in its text form ("12D3KooW…"). The empty id means
// nobody.
type PeerID string

// Short returns the last eight characters: enough to tell peers apart in a log.
func (p PeerID) Short() string {
	if len(p) <= 8 {
		return string(p)
	}
	return string(p[len(p)-8:])
}

// PeerInfo is a peer and the multiaddresses at which it was last told to be.
type PeerInfo struct {
	ID    PeerID   `json:"ID"`
	Addrs []string `json:"Addrs"`
}

// GroupID is a group's place on the ring: a hash of its canonical theme. Ring
// order is the order of the bytes.
type GroupID [16]byte

// Group returns the id of the group that serves t.
func (t Theme) Group() GroupID {
	sum := sha256.Sum256([]byte("feedring group\x00" + string(t)))
	return GroupID(sum[:16])
}

// Compare orders group ids as the ring does: 8 bytes at a time, since maps of
// the ring are searched for each message.
func (g GroupID) Compare(o GroupID) int {
	if a, b := binary.BigEndian.Uint64(g[:8]), binary.BigEndian.Uint64(o[:8]); a != b {
		return cmp.Compare(a, b)
	}
	return cmp.Compare(binary.BigEndian.Uint64(g[8:]), binary.BigEndian.Uint64(o[8:]))
}

// IsZero reports whether g names no group.
func (g GroupID) IsZero() bool { return g == GroupID{} }

// String returns the id in hexadecimal digits.
func (g GroupID) String() string { return hex.EncodeToString(g[:]) }

// Term says who manages a group: a number, then the peer that claimed it.
// Terms are compared in that order, so two claimants of one number are never
// equal. The zero Term is below every other.
type Term struct {
	Number   uint64 `json:"Number"`
	Claimant PeerID `json:"Claimant"`
}

// MaxTermNumber is the greatest number of a term, in a group as in the map of
// the ring: what one refused and the other took would hide the group for good.
const MaxTermNumber = 1 << 48

// Compare orders terms by number, then by claimant.
func (t Term) Compare(o Term) int {
	if c := cmp.Compare(t.Number, o.Number); c != 0 {
		return c
	}
	return cmp.Compare(t.Claimant, o.Claimant)
}

// IsZero reports whether t is no term at all.
func (t Term) IsZero() bool { return t == Term{} }

// Role is what a peer is in one group.
type Role uint8

// The roles. RoleNone is the role of a peer that is not, or not yet, a member.
const (
	RoleNone Role = iota
	RolePeer
	RoleSecondary
	RoleManager
)

// String returns the word that events and tables use.
func (r Role) String() string {
	switch r {
	case RolePeer:
		return "peer"
	case RoleSecondary:
		return "secondary"
	case RoleManager:
		return "manager"
	default:
		return "none"
	}
}

// Position is a place in what one publisher published of one feed: the epoch
// in which the publisher created its log, then a sequence number that starts
// at 1. The zero Position is before everything.
type Position struct {
	Epoch    uint64
	Sequence uint64
}

// Compare orders positions by epoch, then by sequence.
func (p Position) Compare(o Position) int {
	if c := cmp.Compare(p.Epoch, o.Epoch); c != 0 {
		return c
	}
	return cmp.Compare(p.Sequence, o.Sequence)
}

// IsZero reports whether p is before everything.
func (p Position) IsZero() bool { return p == Position{} }

// FeedRef names a feed as one peer publishes it. Two peers that mirror one
// address publish two FeedRefs whose entries have the same ids.
type FeedRef struct {
	URL       string
	Publisher PeerID
}

// Compare orders by address, then by publisher.
func (r FeedRef) Compare(o FeedRef) int {
	if c := cmp.Compare(r.URL, o.URL); c != 0 {
		return c
	}
	return cmp.Compare(r.Publisher, o.Publisher)
}

// Head is the newest position of a feed at some peer.
type Head struct {
	Feed     FeedRef
	Position Position
	Hash     [32]byte // of the sealed entry at Position; zero where unknown
}

// Fork is two entries of one publisher that contradict each other: only who signs another history for some than for
// others makes them, or who lost a part of the first.
type Fork struct {
	Feed    FeedRef
	At      Position  // the first one of which they say different things
	Seen    time.Time // the later of the two dates at which the entries were seen: the publisher's own word
	Entries [2]*Seal
}

// Cursor is how far a client has been shown each feed. A feed that is absent
// has not been shown at all.
type Cursor map[FeedRef]Position

// Seal is a signed statement exactly as it came from its signer. Statements
// that a peer makes itself carry no Seal inside the machines: the driver seals
// them as they leave. Those of others keep theirs, byte for byte, so that they
// can be forwarded by peers that do not know every field.
type Seal struct {
	Signer    PeerID
	Payload   []byte
	Signature []byte
}
