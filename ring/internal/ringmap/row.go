package ringmap

import (
	"slices"

	"github.com/feedring/feedring"
)

// Row is what a group's manager says of it in the map. (Acknowledged, Term,
// Version) orders the rows of one group; docs/protocol.md says how a lost row
// counts.
type Row struct {
	Group        feedring.GroupID
	Theme        feedring.Theme
	Term         feedring.Term // the manager is Term.Claimant
	Version      uint64
	Acknowledged bool // another peer follows this term; false: a provisional claim
	Secondary    feedring.PeerID
	Manager      feedring.PeerInfo // Term.Claimant with its addresses
	Deputy       feedring.PeerInfo // Secondary with its addresses
	Peers        int
	Feeds        int
	Clients      int
	Gone         bool           // a tombstone: the last peer left
	Seal         *feedring.Seal // by Term.Claimant; nil on one's own
}

// Lost says that By, a neighbour on the ring, could not reach any peer of
// Group for three refresh periods. It holds for rows up to (Term, Version).
type Lost struct {
	Group   feedring.GroupID
	Term    feedring.Term
	Version uint64
	By      feedring.PeerID
	Seal    *feedring.Seal // by By; nil on one's own
}

// RowVersion names the version of the map's row for a group.
type RowVersion struct {
	Group        feedring.GroupID
	Term         feedring.Term
	Version      uint64
	Acknowledged bool
	Lost         bool
}

// SameContent reports whether two rows of one group say the same, their
// versions aside.
func SameContent(a, b *Row) bool {
	return a.Term == b.Term && a.Acknowledged == b.Acknowledged && a.Gone == b.Gone &&
		a.Secondary == b.Secondary && a.Peers == b.Peers && a.Feeds == b.Feeds && a.Clients == b.Clients &&
		slices.Equal(a.Manager.Addrs, b.Manager.Addrs) && slices.Equal(a.Deputy.Addrs, b.Deputy.Addrs)
}

// Size is at least what the row takes on the wire.
func (r *Row) Size() int {
	const seal, part = 200, 48
	if r.Seal != nil && len(r.Seal.Payload) > 0 {
		return len(r.Seal.Payload) + seal
	}
	n := seal + 4*part
	for _, addrs := range [][]string{r.Manager.Addrs, r.Deputy.Addrs} {
		for _, a := range addrs {
			n += len(a) + part
		}
	}
	return n
}

// Leaders appends the manager and the secondary that a row names.
func (row *Row) Leaders(to []feedring.PeerID) []feedring.PeerID {
	to = append(to, row.Term.Claimant)
	if row.Secondary != "" && row.Secondary != row.Term.Claimant {
		to = append(to, row.Secondary)
	}
	return to
}

// Names reports whether p is one of the leaders.
func (row *Row) Names(p feedring.PeerID) bool { return p == row.Term.Claimant || p == row.Secondary }
