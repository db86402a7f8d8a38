package gossip

import (
	"cmp"
	"slices"

	"github.com/feedring/feedring"
)

// Bound is FeedEx's D in entries, both ways: who took more than it gave waits
// behind all others, and may begin to give at any time; who gave more lives off
// it for so long and no longer.
const Bound = 200

// Sent says that a neighbour took entries from here.
func (l *Links) Sent(to feedring.PeerID, entries int) { l.add(to, entries) }

// Received says that a neighbour gave entries that were new here.
func (l *Links) Received(from feedring.PeerID, entries int) { l.add(from, -entries) }

func (l *Links) add(p feedring.PeerID, entries int) {
	if i := slices.Index(l.peers, p); i >= 0 {
		entries = max(-2*Bound, min(entries, 2*Bound))
		l.balance[i] = max(-Bound, min(l.balance[i]+entries, Bound))
	}
}

// Balance is what a neighbour took more than it gave (d of section 3.5), from
// -Bound to Bound; 0 of who is none.
func (l *Links) Balance(p feedring.PeerID) int {
	if i := slices.Index(l.peers, p); i >= 0 {
		return l.balance[i]
	}
	return 0
}

// Order sorts peers, those first that took least beyond what they gave. Equal
// ones stay as they are.
func (l *Links) Order(peers []feedring.PeerID) {
	slices.SortStableFunc(peers, func(a, b feedring.PeerID) int { return cmp.Compare(l.Balance(a), l.Balance(b)) })
}
