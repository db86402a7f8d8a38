package ring

import (
	"fmt"
	"slices"
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

// A manager that a higher number displaced is asked beside the new one while it answers, until it
// says itself that it yielded. Whoever claims in turn with others of its prefix displaces it no more.
func TestDisplacedManagersAreKept(t *testing.T) {
	w := newNetwork(t)
	w.grow(3)
	w.run(4*refresh, nil)
	m := w.peers["p000"].Machine
	g := theme(1).Group()
	first := rowOf(1, "p001", 2)
	first.Acknowledged = true
	m.Step(w.now, Receive{From: "p001", Message: Rows{Rows: []*Row{first}}})
	row, _, _ := m.Row(g)
	claims := func(by feedring.PeerID, prefix standing.Prefix, number uint64) (asked []feedring.PeerID) {
		r := rowOf(1, by, number)
		r.Acknowledged = true
		for _, o := range m.Step(w.now, Receive{From: by, Prefix: prefix, Message: Rows{Rows: []*Row{r}}}) {
			if s, is := o.(*Send); is {
				if rows, is := s.Message.(Rows); is && slices.Contains(rows.Want, g) {
					asked = append(asked, s.To)
				}
			}
		}
		return asked
	}
	if row.Term.Claimant != "p001" || !row.Acknowledged || len(m.Incumbents(g)) != 0 {
		t.Fatalf("%+v, beside it %v", row, m.Incumbents(g))
	}
	if asked := claims("taker0", "192.0.2.0/24", 100); !slices.Equal(asked, []feedring.PeerID{"p001"}) || !m.leads(g, "taker0") {
		t.Errorf("%v is asked", asked)
	}
	m.Step(w.now, Receive{From: "p001", Message: SearchAck{}})
	for i := range uint64(50) {
		claims(feedring.PeerID(fmt.Sprintf("taker%d", i%7)), "192.0.2.0/24", 101+i)
	}
	w.now = w.now.Add(2 * refresh)
	m.Step(w.now, Tick{})
	if beside := m.Incumbents(g); len(beside) == 0 || beside[0] != "p001" || len(m.incumbents[g]) > maxIncumbents {
		t.Errorf("%v are asked beside the leader, of %+v", beside, m.incumbents[g])
	}
	if !m.Yielded(g, "p001", feedring.PeerInfo{ID: "p002"}) || m.Incumbents(g)[0] != "p002" || m.Yielded(g, "p001", feedring.PeerInfo{}) {
		t.Errorf("%v are asked after p001 named p002", m.Incumbents(g))
	}
	for range mostUnanswered {
		m.Answered(g, "p002")
		m.Step(w.now, Receive{From: "p002", Message: SearchAck{}})
	}
	for range mostUnanswered {
		m.Unanswered(g, "p002")
		m.Step(w.now, Receive{From: "p002", Message: SearchAck{}})
	}
	if slices.Contains(m.Incumbents(g), "p002") {
		t.Error("one that answers no lookup is asked")
	}
}

// A manager whose row was marked lost, or that passes its rival's row on, is kept as well.
func TestDisplacedByTheWayAbout(t *testing.T) {
	for _, how := range []string{"marked", "passed on", "tombstone"} {
		w := newNetwork(t)
		w.grow(3)
		w.run(4*refresh, nil)
		m := w.peers["p000"].Machine
		g := theme(1).Group()
		first, taken := rowOf(1, "p001", 2), rowOf(1, "taker", 9)
		first.Acknowledged, taken.Acknowledged = true, true
		m.Step(w.now, Receive{From: "p001", Message: Rows{Rows: []*Row{first}}})
		m.Step(w.now, Receive{From: "taker", Message: SearchAck{}})
		from := feedring.PeerID("taker")
		switch how {
		case "marked":
			m.Step(w.now, Receive{From: "p002", Message: Rows{Lost: []Lost{{Group: g, Term: first.Term, Version: first.Version, By: "p002"}}}})
		case "passed on":
			from = "p001"
		case "tombstone":
			gone := *rowOf(1, "taker", 8)
			gone.Acknowledged, gone.Gone = true, true
			m.Step(w.now, Receive{From: "p002", Message: Rows{Rows: []*Row{&gone}}})
		}
		m.Step(w.now, Receive{From: from, Message: Rows{Rows: []*Row{taken}}})
		if !m.leads(g, "taker") || !slices.Equal(m.Incumbents(g), []feedring.PeerID{"p001"}) {
			t.Errorf("%s: the taker leads: %v, asked beside it: %v", how, m.leads(g, "taker"), m.Incumbents(g))
		}
	}
}

// Nobody is kept who does not answer, also if it told of the new manager, or whose secondary took over.
func TestDisplacedManagersThatAreNotKept(t *testing.T) {
	for _, how := range []string{"silent", "own word", "secondary", "provisional"} {
		w := newNetwork(t)
		w.grow(3)
		w.run(4*refresh, nil)
		m := w.peers["p000"].Machine
		g := theme(7).Group()
		is := func(by feedring.PeerID, number uint64) *Row {
			r := rowOf(7, by, number)
			r.Acknowledged = how != "provisional" || by != "first"
			if how == "secondary" && by == "first" {
				r.Secondary, r.Deputy = "second", feedring.PeerInfo{ID: "second"}
			}
			return r
		}
		tell := func(from feedring.PeerID, r *Row) {
			m.Step(w.now, Receive{From: from, Message: Rows{Rows: []*Row{r}}})
		}
		tell("first", is("first", 1))
		m.Step(w.now, Receive{From: "second", Message: SearchAck{}})
		if how == "own word" {
			tell("first", is("second", 2))
		} else {
			tell("second", is("second", 2))
		}
		if !m.leads(g, "second") {
			t.Fatalf("%s: it leads not", how)
		}
		if kept := len(m.Incumbents(g)) > 0; kept != (how == "silent" || how == "own word") {
			t.Errorf("%s: kept at first: %v", how, kept)
		}
		w.now = w.now.Add(2 * refresh)
		if m.Step(w.now, Tick{}); len(m.incumbents) > 0 {
			t.Errorf("%s: kept for good: %+v", how, m.incumbents)
		}
	}
}
