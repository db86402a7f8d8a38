package sim

import (
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/ring"
)

// TestWordsAreInTheHash: two messages that differ in what others go by are not the
// same run.
func TestWordsAreInTheHash(t *testing.T) {
	a, b := feedring.PeerID("p1"), feedring.PeerID("p12")
	row := func(of feedring.PeerID, version uint64) *group.Row { return &group.Row{Peer: of, Version: version} }
	messages := []feedring.Message{
		group.Beacon{Number: 1}, group.Beacon{Number: 2}, group.Beacon{Secondary: a}, group.Beacon{Secondary: b},
		group.Beacon{Heads: []feedring.Head{{Position: feedring.Position{Sequence: 3}}}},
		group.Beacon{Claim: group.Claim{Term: feedring.Term{Number: 4, Claimant: a}}},
		group.BeaconAnswer{Number: 1}, group.BeaconAnswer{Leases: 1},
		group.Confirmation{}, group.Stale{}, group.Stale{Claim: group.Claim{Term: feedring.Term{Claimant: a}}},
		group.Intention{Nonce: 1}, group.Intention{Proposed: 1}, group.Probe{Nonce: 1}, group.Alive{Nonce: 1}, group.Objection{Nonce: 1},
		group.Rows{}, group.Rows{Rows: []*group.Row{row(a, 1), row(b, 1)}}, group.Rows{Rows: []*group.Row{row(b, 1), row(a, 1)}},
		group.Rows{Rows: []*group.Row{row(a, 1), row(b, 2)}}, group.Refresh{Version: 1}, group.Refreshed{Version: 1},
		group.Placed{Grants: []feedring.Grant{{Ticket: feedring.Ticket{Peers: []feedring.PeerID{a, b}}}}},
		group.Placed{Grants: []feedring.Grant{{Ticket: feedring.Ticket{Peers: []feedring.PeerID{b, a}}}}},
		peer.Final{Final: feedring.Final{Hops: 1}}, peer.Final{Final: feedring.Final{Messages: 1}}, peer.Accepted{},
		ring.Swap{Hash: 1}, ring.Versions{Hash: 1}, ring.Search{C: 1}, ring.Search{Hop: 1}, ring.SearchAck{}, ring.FoundGroup{Hop: 1},
		ring.Exhausted{C: 1}, ring.Rows{Rows: []*ring.Row{{Version: 1}}}, ring.Rows{Rows: []*ring.Row{{Version: 2}}},
	}
	seen := map[uint64]int{}
	for i, m := range messages {
		w := &World{}
		w.words(m)
		if was, twice := seen[w.hash]; twice {
			t.Errorf("%#v and %#v are one message to the hash", messages[was], m)
		}
		seen[w.hash] = i
	}
}
