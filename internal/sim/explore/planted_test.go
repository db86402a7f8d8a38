//go:build !race

package explore

import (
	"slices"
	"testing"

	"github.com/feedring/feedring/group"
)

// planted is the machine that ships, with a hole put back: the map never tells
// managers of each other, and what cuts lets through of a peer's messages.
type planted struct {
	cuts func(to int, m group.Message) bool
}

type plantedPeer struct {
	Peer
	hole planted
}

func (h planted) Start(n int) ([]Peer, [][]Sent) {
	peers, sent := Group{}.Start(n)
	for i := range peers {
		peers[i], sent[i] = h.pass(peers[i], sent[i])
	}
	return peers, sent
}

func (h planted) pass(p Peer, sent []Sent) (Peer, []Sent) {
	return plantedPeer{p, h}, slices.DeleteFunc(sent, func(s Sent) bool {
		l, ok := s.Message.(*letter)
		return ok && h.cuts(s.To, l.msg)
	})
}

func (p plantedPeer) Fire() (Peer, []Sent)      { return p.hole.pass(p.Peer.Fire()) }
func (p plantedPeer) Restart() (Peer, []Sent)   { return p.hole.pass(p.Peer.Restart()) }
func (p plantedPeer) Rival(Peer) (Peer, []Sent) { return p, nil }
func (p plantedPeer) Elapse() Peer              { return plantedPeer{p.Peer.Elapse(), p.hole} }
func (p plantedPeer) Receive(from int, m Message) (Peer, []Sent) {
	return p.hole.pass(p.Peer.Receive(from, m))
}

func (p plantedPeer) Crash() []Peer {
	after := p.Peer.Crash()
	for i := range after {
		after[i] = plantedPeer{after[i], p.hole}
	}
	return after
}

// TestExploreFinds: without the beacons to members that are away, nothing
// makes two halves meet again; without confirmations and beacons that carry an
// unacknowledged claim, nobody follows a successor.
func TestExploreFinds(t *testing.T) {
	for _, c := range []struct {
		name          string
		peers, states int
		kinds         Kinds
		cuts          func(to int, m group.Message) bool
	}{
		{"beacons to those away", 2, 20_000, Cuts, func(to int, m group.Message) bool {
			b, ok := m.(group.Beacon)
			return ok && slices.Contains(b.Away, idOf(to))
		}},
		{"claims of successors", 3, 2_000, Crashes, func(_ int, m group.Message) bool {
			if b, ok := m.(group.Beacon); ok {
				return b.Claim.Term.Number > 1
			}
			_, ok := m.(group.Confirmation)
			return ok && m.Of().Term.Number > 1
		}},
		{"nothing", 2, 2_000, AllKinds, func(int, group.Message) bool { return false }},
	} {
		res, err := Run(planted{c.cuts}, Config{Peers: c.peers, Faults: 1, Kinds: c.kinds, States: c.states})
		if err != nil {
			t.Fatal(err)
		}
		if found, want := res.Bad > 0, c.name != "nothing"; found != want {
			t.Errorf("%s: %d of %d states are bad, trace of %d lines", c.name, res.Bad, res.States, len(res.Trace))
		}
	}
}
