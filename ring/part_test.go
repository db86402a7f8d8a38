package ring

import (
	"fmt"
	"slices"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/ring/internal/proof"
)

// rowOf is version of the row of group i, which claimant manages.
func rowOf(i int, claimant feedring.PeerID, version uint64) *Row {
	return &Row{Group: theme(i).Group(), Theme: theme(i), Term: feedring.Term{Number: 1, Claimant: claimant}, Version: version,
		Acknowledged: true, Manager: feedring.PeerInfo{ID: claimant}}
}

// fill puts n groups into the map, from first on.
func (m *Machine) fill(first, n int, claimant func(i int) feedring.PeerID) {
	for i := first; i < first+n; i++ {
		m.ringMap.Merge(m.now, rowOf(i, claimant(i), 1))
		m.proofs.Places.Put(theme(i).Group(), proof.Party{Peer: claimant(i)})
	}
	m.gossip.synced = true
}

// knowing is a network of peers who all lead groups of one map of n. Nobody has an entry,
// so that all that is sent is exchanges.
func knowing(t *testing.T, peers, n int) *network {
	w := newNetwork(t)
	for i := range peers {
		w.add(feedring.PeerID(fmt.Sprintf("p%03d", i)))
	}
	for _, name := range w.names {
		w.peers[name].fill(0, n, func(i int) feedring.PeerID { return w.names[i%peers] })
	}
	return w
}

func (w *network) equal() bool {
	first := w.peers[w.names[0]]
	for _, name := range w.names[1:] {
		if w.peers[name].Hash(w.now) != first.Hash(w.now) {
			return false
		}
	}
	return true
}

// Large maps become equal though a third of all messages is lost, and an exchange lists
// what is in parts that differ, not what there is.
func TestLargeMapsAreComparedByParts(t *testing.T) {
	const groups, changes = 1000, 20
	w := knowing(t, 8, groups)
	w.lose = 0.33
	for i := range changes {
		m := w.peers[w.names[w.random.IntN(len(w.names))]]
		row := rowOf(w.random.IntN(groups), w.names[0], 2)
		row.Term = m.ringMap.At(row.Group).Effective().Row.Term
		row.Manager.ID = row.Term.Claimant
		if m.merge(row, "x"); i%3 == 0 {
			m.lose(Lost{Group: row.Group, Term: row.Term, Version: 2, By: "x"}, "x")
		}
	}
	listed, byParts := 0, 0
	w.trace = func(l packet) {
		switch m := l.message.(type) {
		case Versions:
			listed = max(listed, len(m.Have))
			if len(m.Parts) > 0 {
				byParts++
			}
		case Rows:
			if len(m.Rows) > changes || len(m.Want) > changes {
				t.Fatalf("%d rows are brought and %d wanted, where %d differ", len(m.Rows), len(m.Want), changes)
			}
		}
	}
	if w.equal() {
		t.Fatal("maps do not differ: the test shows nothing")
	}
	if !w.run(20*refresh, w.equal) {
		t.Fatal("maps still differ")
	}
	for _, name := range w.names {
		if !slices.Equal(w.peers[name].ringMap.Versions(w.now), w.peers[w.names[0]].ringMap.Versions(w.now)) {
			t.Errorf("%s has another map of the same hash", name)
		}
	}
	if byParts == 0 || listed > groups/2 {
		t.Errorf("%d exchanges by parts, and one lists %d of %d groups", byParts, listed, groups)
	}
}

// Who has no map yet is told the whole of it, and so is who does not ask for parts.
func TestNewcomersGetTheWholeMap(t *testing.T) {
	w := knowing(t, 3, 200)
	half := w.add("half")
	half.fill(0, 100, func(int) feedring.PeerID { return "p000" })
	if half.gossip.synced = false; half.swap().Parts {
		t.Error("who has never had a whole map does not ask for one")
	}
	w.names = w.names[:3]
	w.step(w.add("new").cfg.Self, Meet{Peers: []feedring.PeerID{"p000"}})
	if !w.run(refresh, w.peers["new"].Synced) || !w.equal() {
		t.Fatalf("it knows %d groups", len(w.peers["new"].Live()))
	}
	for _, out := range w.peers["p001"].Step(w.now, Receive{From: "old", Message: Swap{Hash: 1}}) {
		if v := out.(*Send).Message.(Versions); len(v.Have) != 200 || len(v.Parts) > 0 {
			t.Errorf("who does not compare by parts is told %d groups and %d parts", len(v.Have), len(v.Parts))
		}
	}
}

// Of maps that have other numbers of parts the fewer count, whoever begins.
func TestMapsOfOtherNumbersOfPartsBecomeEqual(t *testing.T) {
	for begins := range 2 {
		w := knowing(t, 2, 500)
		w.peers["p000"].fill(500, 20, func(i int) feedring.PeerID { return w.names[min(1, i%4)] }) // p000 may have no more than 256
		if a, b := len(w.peers["p000"].ringMap.Parts(w.now)), len(w.peers["p001"].ringMap.Parts(w.now)); a != 512 || b != 256 {
			t.Fatalf("the maps have %d and %d parts", a, b)
		}
		listed := 0
		w.trace = func(l packet) {
			if v, ok := l.message.(Versions); ok {
				listed = max(listed, len(v.Have))
			}
		}
		from := w.peers[w.names[begins]]
		w.step(from.cfg.Self, Receive{From: w.names[1-begins], Message: Swap{Hash: 1, Parts: true}})
		if !w.run(refresh/10, w.equal) {
			t.Fatal("the maps still differ")
		}
		if listed == 0 || listed > 100 {
			t.Errorf("one message lists %d groups, where 20 differ", listed)
		}
	}
}

// Small maps are exchanged as before, whatever the other side can do.
func TestSmallMapsHaveNoParts(t *testing.T) {
	w := knowing(t, 2, MinParts)
	m := w.peers["p000"]
	if swap := m.swap(); swap.Parts {
		t.Error("a small map is offered by parts")
	}
	for _, out := range m.Step(w.now, Receive{From: "p001", Message: Swap{Hash: 1, Parts: true}}) {
		if v := out.(*Send).Message.(Versions); len(v.Have) != MinParts || len(v.Parts) > 0 {
			t.Errorf("a small map is told by %d versions and %d parts", len(v.Have), len(v.Parts))
		}
	}
}

// What no peer that keeps to the protocol sends is answered by nothing, or by no more
// than there is.
func TestPartsThatAreNone(t *testing.T) {
	w := knowing(t, 1, 200)
	m := w.peers["p000"]
	said := func(v Versions) (have int) {
		for _, out := range m.Step(w.now, Receive{From: "liar", Message: v}) {
			if v, ok := out.(*Send).Message.(Versions); ok {
				have += len(v.Have)
			}
		}
		return have
	}
	for _, n := range []int{1, MinParts / 2, MinParts - 1, MinParts + 1, 3 * MinParts, 2 * MaxParts} {
		if have := said(Versions{Hash: 1, Parts: make([]uint64, n)}); have != 0 {
			t.Errorf("%d digests of parts are answered by %d versions", n, have)
		}
	}
	for n := MinParts; n <= MaxParts; n *= 2 {
		if have := said(Versions{Hash: 1, Parts: make([]uint64, n)}); have != 200 {
			t.Errorf("a map of %d parts that differs everywhere is answered by %d of 200 versions", n, have)
		}
	}
	for n := range 2 * MaxParts / 64 {
		said(Versions{Hash: 1, Within: slices.Repeat([]uint64{1 << 63}, n), Have: []RowVersion{{Group: theme(0).Group(), Version: 9}, {Version: 1 << 60}}})
	}
}
