package ring

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/standing"
	"github.com/feedring/feedring/ring/internal/proof"
)

// claims are rows of n groups, each by a claimant of its own.
func claims(n int) (rows []*Row) {
	for i := range n {
		rows = append(rows, rowOf(100+i, feedring.PeerID(fmt.Sprintf("nobody%d", i)), 1))
	}
	return rows
}

// Groups whose claimants nobody ever heard come onto no map, and keep none off it.
func TestGroupsOfClaimantsThatNobodyHears(t *testing.T) {
	w := newNetwork(t)
	w.grow(3)
	for _, name := range w.names {
		w.step(name, Receive{From: "stranger", Message: Rows{Rows: claims(11_000)[:2000]}})
		if n := w.peers[name].proofs.Waiting.Len(); n > proof.MaxWaiting {
			t.Errorf("%d claimants wait", n)
		}
	}
	w.add("p003")
	w.step("p003", Meet{Peers: []feedring.PeerID{"p000"}})
	w.run(time.Second, w.peers["p003"].Synced)
	w.manage("p003", theme(3), "")
	if began := w.now; !w.run(2*refresh, w.agreed(4)) {
		t.Error("a new group is not on all maps")
	} else if took := w.now.Sub(began); took > refresh {
		t.Errorf("a new group is on all maps after %v", took)
	}
	w.run(20*refresh, nil)
	for _, name := range w.names {
		if p := w.peers[name].Machine; len(p.Live()) != 4 || p.proofs.Waiting.Len() > 0 {
			t.Errorf("%s shows %d groups, and %d claimants wait", name, len(p.Live()), p.proofs.Waiting.Len())
		}
	}
}

// A peer asks no more claimants at a time than it may, and those first of which a leader told.
func TestWhoIsAskedFirst(t *testing.T) {
	w := newNetwork(t)
	w.grow(2)
	w.run(refresh, nil)
	m := w.peers["p000"].Machine
	asked := func(out []Output) (peers []feedring.PeerID) {
		for _, o := range out {
			if s, is := o.(*Send); is && s.To != "p001" {
				if r, is := s.Message.(Rows); is && len(r.Want) > 0 {
					peers = append(peers, s.To)
				}
			}
		}
		return peers
	}
	rows := claims(400)
	if n := len(asked(m.Step(w.now, Receive{From: "stranger", Message: Rows{Rows: rows[:300]}}))); n != proof.MaxAsked {
		t.Errorf("%d claimants are asked", n)
	}
	m.Step(w.now, Receive{From: "p001", Message: Rows{Rows: rows[300:301]}})
	if p := asked(m.Step(w.now, Receive{From: "nobody0", Message: SearchAck{}})); len(p) != 1 || p[0] != "nobody300" {
		t.Errorf("%v are asked, and not who a leader told of", p)
	}
	if !m.OnRing(theme(100).Group()) {
		t.Error("who was heard is not on the map")
	}
}

// A claimant and a prefix have their share of the map.
func TestSharesOfAMap(t *testing.T) {
	w := newNetwork(t)
	w.grow(2)
	w.run(refresh, nil)
	m := w.peers["p000"].Machine
	tell := func(from feedring.PeerID, prefix standing.Prefix, first, n int) {
		for i := first; i < first+n; i++ {
			m.Step(w.now, Receive{From: from, Prefix: prefix, Message: Rows{Rows: []*Row{rowOf(1000+i, from, 1)}}})
		}
	}
	tell("one", "192.0.2.0/24", 0, 30)
	if n := len(m.Live()) - 2; n != proof.MaxOfPeer {
		t.Errorf("a claimant has %d groups", n)
	}
	for i := range 30 {
		tell(feedring.PeerID(fmt.Sprintf("other%d", i)), "192.0.2.0/24", 100*(i+1), proof.MaxOfPeer)
	}
	if n := len(m.Live()) - 2; n != proof.MaxOfPrefix {
		t.Errorf("a prefix has %d groups", n)
	}
	tell("far", "203.0.113.0/24", 9000, 1)
	if n := len(m.Live()) - 2; n != proof.MaxOfPrefix+1 {
		t.Errorf("another prefix finds no room: %d", n)
	}
}

// Two hundred keys of one prefix that lead groups, and sixty of it that say hello again and again,
// are together as likely as partners of exchanges as one peer elsewhere.
func TestPartnersAreDrawnByPrefix(t *testing.T) {
	w := newNetwork(t)
	w.grow(12)
	w.run(4*refresh, nil)
	m := w.peers["p000"].Machine
	for i := range proof.MaxOfPrefix {
		key := feedring.PeerID(fmt.Sprintf("crowd%03d", i))
		m.Step(w.now, Receive{From: key, Prefix: "192.0.2.0/24", Message: Rows{Rows: []*Row{rowOf(1000+i, key, 1)}}})
	}
	for i := range 60 {
		m.Step(w.now, Receive{From: feedring.PeerID(fmt.Sprintf("crowd%03d", i)), Prefix: "192.0.2.0/24", Message: Swap{Hash: 1}})
	}
	if n := len(m.present()); n < proof.MaxOfPrefix || len(m.gossip.met) < 60 {
		t.Fatalf("%d lead groups, %d were met", n, len(m.gossip.met))
	}
	const rounds = 4000
	ofPrefix := 0
	for range rounds {
		m.gossip.rounds++
		if p := m.partner(); p == "" {
			t.Fatal("no partner")
		} else if strings.HasPrefix(string(p), "crowd") {
			ofPrefix++
		}
	}
	if ofPrefix == 0 || ofPrefix > rounds/8 {
		t.Errorf("the prefix has %d of %d exchanges", ofPrefix, rounds)
	}
}

// What a peer took on the word of those through which it joined it asks about once it leads
// a group, and drops what nobody answers for.
func TestAHostileEntryPoint(t *testing.T) {
	w := newNetwork(t)
	m := w.add("new").Machine
	w.step("new", Meet{Peers: []feedring.PeerID{"liar"}})
	rows := claims(50)
	w.step("new", Receive{From: "liar", Message: Versions{Hash: 1, Have: []RowVersion{{Group: rows[0].Group, Term: rows[0].Term, Version: 1}}}})
	w.step("new", Receive{From: "liar", Message: Rows{Rows: rows}})
	if n := len(m.Live()); n != 50 {
		t.Fatalf("it shows %d groups before it judges by itself", n)
	}
	w.manage("new", theme(1), "")
	w.run(10*refresh, nil)
	if n := len(m.Live()); n != 1 {
		t.Errorf("it shows %d groups", n)
	}
}

// A claimant that names made-up secondaries, whose rows follow its own, frees no places for
// more groups. Nobody answers for the secondaries, so their groups are dropped.
func TestSecondariesFreeNoPlaces(t *testing.T) {
	w := newNetwork(t)
	w.grow(2)
	w.run(refresh, nil)
	m := w.peers["p000"].Machine
	tell := func(row *Row) {
		m.Step(w.now, Receive{From: "one", Prefix: "192.0.2.0/24", Message: Rows{Rows: []*Row{row}}})
	}
	for i := range 100 {
		row := rowOf(1000+i, "one", 1)
		row.Secondary = feedring.PeerID(fmt.Sprintf("nobody%d", i))
		row.Deputy.ID = row.Secondary
		tell(row)
		next := rowOf(1000+i, row.Secondary, 1)
		next.Term.Number, next.Acknowledged = 2, false
		tell(next)
	}
	if n := len(m.Live()) - 2; n != proof.MaxOfPeer {
		t.Errorf("a claimant brought %d groups", n)
	}
	w.run(10*refresh, nil)
	if n := len(m.Live()) - 2; n != 0 {
		t.Errorf("%d groups of secondaries that nobody heard stay on the map", n)
	}
}

// Where more peers speak than are noted, their prefixes count all the same, and the leaders
// of groups are noted.
func TestMorePeersThanAreNoted(t *testing.T) {
	w := newNetwork(t)
	w.grow(2)
	w.run(refresh, nil)
	m := w.peers["p000"].Machine
	delete(m.gossip.heard, "p001")
	for i := range maxHeard {
		m.Step(w.now, Receive{From: feedring.PeerID(fmt.Sprintf("stranger%d", i)), Message: SearchAck{}})
	}
	for i := range 30 {
		m.Step(w.now, Receive{From: "one", Prefix: "192.0.2.0/24", Message: Rows{Rows: []*Row{rowOf(1000+i, "one", 1)}}})
	}
	if n := len(m.Live()) - 2; n != proof.MaxOfPeer {
		t.Errorf("a claimant brought %d groups", n)
	}
	if m.Step(w.now, Receive{From: "p001", Message: SearchAck{}}); !m.heardLately("p001") {
		t.Error("the manager of a group of the map is not noted")
	}
}
