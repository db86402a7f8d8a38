package group

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// What the ring's map refuses, no group takes either, and whoever takes a
// number leaves room to claim above it.
func TestNumbersOfClaims(t *testing.T) {
	for _, test := range []struct {
		name   string
		past   State
		above  uint64 // what the map shows
		number uint64
		taken  bool
	}{
		{"a newcomer takes what there is", State{}, 0, 12_345_678, true},
		{"but leaves room above", State{}, 0, maxUnknown, true},
		{"so not this", State{}, 0, maxUnknown + 1, false},
		{"the map's number", State{}, 40, 40, true},
		{"a jump above the map's", State{}, 40, 40 + maxJump, true},
		{"too far above the map's", State{}, 40, 41 + maxJump, false},
		{"far above one's own past", State{Highest: 7}, 0, 8 + maxJump, false},
		{"the greatest", State{}, feedring.MaxTermNumber - 1, feedring.MaxTermNumber, true},
		{"above the greatest", State{}, feedring.MaxTermNumber, feedring.MaxTermNumber + 1, false},
	} {
		m, err := New(Config{Theme: testTheme, Self: "p1", Refresh: 1e9, Attempts: 3, Freshness: 1e12}, test.past, testStart)
		if err != nil {
			t.Fatal(err)
		}
		m.Step(testStart, Enter{Via: []feedring.PeerID{"p0"}, Above: test.above})
		m.Step(testStart, Persisted{Token: m.token})
		term := feedring.Term{Number: test.number, Claimant: "p0"}
		m.Step(testStart, Receive{From: "p0", Message: Admitted{
			Header: Header{Group: m.group, Term: term}, Claim: Claim{Group: m.group, Term: term}, Admitted: testStart,
			Rows: []*Row{{Group: m.group, Peer: "p0", Incarnation: 1, Version: 1, Admitted: testStart}},
		}})
		m.Step(testStart, Persisted{Token: m.token})
		if taken := m.manager() == "p0"; taken != test.taken {
			t.Errorf("%s: taken is %v", test.name, taken)
		}
	}
}

// Only the manager itself shows by an admission that it lives: a member that repeats
// the manager's claim does not keep a dead manager in place.
func TestOnlyManagerAdmits(t *testing.T) {
	c := newCluster(1)
	ids := c.group(4)
	manager := c.nodes[ids[1]].m.manager()
	claim := c.nodes[ids[1]].m.lead.claim
	var liar feedring.PeerID
	var honest []feedring.PeerID
	for _, id := range ids {
		switch {
		case id == manager:
		case liar == "":
			liar = id
		default:
			honest = append(honest, id)
		}
	}
	c.crash(manager)
	c.crash(liar)       // or its own machine takes over
	for range 10 * 10 { // tenths of a period
		c.run(100 * time.Millisecond)
		for _, id := range honest {
			c.step(c.nodes[id], Receive{From: liar, Message: Admitted{Header: Header{Group: claim.Group, Term: claim.Term}, Claim: claim, Secondary: liar, Admitted: testStart}})
		}
	}
	for _, id := range honest {
		if c.nodes[id].m.manager() == manager {
			t.Errorf("%s follows %s, which is dead", id, manager)
		}
	}
}

// A beacon and an admission bring the same claim while the disk is slow: what the
// admission tells of feeds counts, and the row promises none of it before it is here.
func TestAdmittedWhileABeaconWaits(t *testing.T) {
	m, err := New(Config{Theme: testTheme, Self: "p1", Refresh: 1e9, Attempts: 3, Freshness: 1e12}, State{}, testStart)
	if err != nil {
		t.Fatal(err)
	}
	m.Step(testStart, Establish{})
	m.Step(testStart, Persisted{Token: m.token})
	now := testStart.Add(10 * time.Second)
	term := feedring.Term{Number: 9, Claimant: "p0"}
	header, claim := Header{Group: m.group, Term: term}, Claim{Group: m.group, Term: term}
	row := &Row{Group: m.group, Peer: "p0", Incarnation: 1, Version: 1, Admitted: testStart, Feeds: []feedring.Feed{{URL: "https://p0/"}}}
	m.Step(now, Rival{Term: term, Acknowledged: true, Peers: []feedring.PeerID{"p0"}})
	m.Step(now, Receive{From: "p0", Message: Rows{Header: header, Rows: []*Row{row}}})
	m.Step(now, Receive{From: "p0", Message: Beacon{Header: header, Claim: claim, Number: 1, Acknowledged: 1}})
	if m.saving.purpose != forAdoption {
		t.Fatal("the beacon's claim is not taken to the disk")
	}
	ref := feedring.FeedRef{URL: "https://p0/", Publisher: "p0"}
	m.Step(now, Receive{From: "p0", Message: Admitted{Header: header, Claim: claim, Admitted: testStart, Rows: []*Row{row},
		Heads: []feedring.Head{{Feed: ref, Position: feedring.Position{Epoch: 1, Sequence: 3}}}}})
	m.Step(now, Persisted{Token: m.token})
	if m.manager() != "p0" || !excepts(m.me().row, ref) {
		t.Errorf("it follows %s, and its row excepts %v", m.manager(), m.me().row.Backfilling)
	}
}

// A group whose numbers are used up stays as it is, and says nothing untrue.
func TestNoNumberIsLeft(t *testing.T) {
	m, err := New(Config{Theme: testTheme, Self: "p1", Refresh: 1e9, Attempts: 3, Freshness: 1e12}, State{Highest: maxNumber}, testStart)
	if err != nil {
		t.Fatal(err)
	}
	for _, out := range m.Step(testStart, Establish{}) {
		if p, ok := out.(Persist); ok && p.State.Highest > maxNumber {
			t.Errorf("it claims with %d", p.State.Highest)
		}
	}
}

// Whoever follows a lower term is told, but not as often as it speaks.
func TestLowerTermsAreAnsweredByStale(t *testing.T) {
	c := newCluster(1)
	ids := c.group(3)
	c.crash(ids[0])
	c.run(3 * time.Second)
	lead, err := c.leader()
	if err != nil {
		t.Fatal(err)
	}
	old := feedring.Term{Number: 1, Claimant: ids[0]}
	told := 0
	for i := range 100 {
		late := []Message{
			Notify{Header: Header{Group: testTheme.Group(), Term: old}}, RowsWanted{Header: Header{Group: testTheme.Group(), Term: old}},
			BeaconAnswer{Header: Header{Group: testTheme.Group(), Term: old}}, Probe{Header: Header{Group: testTheme.Group(), Term: old}, Nonce: 1},
			Stale{Header: Header{Group: testTheme.Group(), Term: old}, Claim: Claim{Group: testTheme.Group(), Term: old}},
		}[i%5]
		for _, out := range c.nodes[lead].m.Step(c.now, Receive{From: ids[0], Message: late}) {
			if s, ok := out.(*Send); ok && s.To == ids[0] && s.Message.Verb() == "stale" {
				told++
			}
		}
		c.now = c.now.Add(10 * time.Millisecond)
	}
	if told < 3 || told > 4 { // a second, one a beat
		t.Errorf("told %d times", told)
	}
}

// A manager that others follow claims anew, above a term that somebody accepted
// elsewhere. Until its followers acknowledge that it yields to no claim that
// nobody acknowledged either; but it does after a period, since none may be left.
func TestRenewedClaimKeepsAgainstProvisionalClaim(t *testing.T) {
	c := newCluster(1)
	ids := c.group(4)
	for _, id := range ids[1:] {
		c.crash(id) // they answer no more
	}
	m, now, lone := c.nodes[ids[0]].m, c.now, ids[3]
	above := feedring.Term{Number: m.lead.claim.Term.Number + 1, Claimant: ids[2]}
	m.Step(now, Receive{From: lone, Message: Join{Header: Header{Group: m.group, Term: above}, Row: *m.members[lone].row}})
	m.Step(now, Persisted{Token: m.token})
	claimed := m.lead.claim.Term
	if !m.lead.serving || m.lead.acked || claimed.Number != above.Number+1 {
		t.Fatalf("it manages under %v, acknowledged %v", claimed, m.lead.acked)
	}
	claim := Claim{Group: m.group, Term: feedring.Term{Number: claimed.Number, Claimant: lone}}
	beacon := Receive{From: lone, Message: Beacon{Header: Header{Group: m.group, Term: claim.Term}, Claim: claim, Number: 1}}
	m.Step(now, beacon)
	m.Step(now, Persisted{Token: m.token})
	if !m.lead.serving {
		t.Errorf("it steps down from %v for %v, which nobody follows", claimed, claim.Term)
	}
	now = now.Add(c.nodes[ids[0]].m.cfg.Refresh)
	m.Step(now, beacon)
	m.Step(now, Persisted{Token: m.token})
	if m.lead.serving || m.manager() != lone {
		t.Errorf("nobody acknowledges %v, and it does not yield to %v", claimed, claim.Term)
	}
}

// A claim that waits for the disk is followed once it is there, though this
// peer is told of a rival, and has a new incarnation on its way to the disk,
// meanwhile. It would have accepted a term and managed on under a lower one.
func TestAdoptionOutlastsEnter(t *testing.T) {
	m, err := New(Config{Theme: testTheme, Self: "p0", Refresh: 1e9, Attempts: 3, Freshness: 1e12}, State{}, testStart)
	if err != nil {
		t.Fatal(err)
	}
	m.Step(testStart, Establish{})
	m.Step(testStart, Persisted{Token: m.token})
	h := Header{Group: m.group, Term: m.lead.claim.Term}
	m.Step(testStart, Receive{From: "p1", Message: Join{Header: h, Row: Row{Group: m.group, Peer: "p1", Incarnation: 1, Version: 1}}})
	above := Claim{Group: m.group, Term: feedring.Term{Number: h.Term.Number + 1, Claimant: "p1"}}
	m.Step(testStart, Receive{From: "p1", Message: Rows{Header: h, Rows: []*Row{{Group: m.group, Peer: "p0", Incarnation: 7, Version: 1}}}})
	m.Step(testStart, Receive{From: "p1", Message: Beacon{Header: Header{Group: m.group, Term: above.Term}, Claim: above, Number: 1, Acknowledged: 1}})
	m.Step(testStart, Enter{Via: []feedring.PeerID{"p1"}})
	m.Step(testStart, Persisted{Token: m.token})
	m.Step(testStart, Receive{From: "p1", Message: BeaconAnswer{Header: h}})
	m.Step(testStart, Persisted{Token: m.token})
	if m.lead.serving || m.lead.claim.Term != above.Term || m.disk.Term != above.Term {
		t.Errorf("%v is accepted, %v is followed, %v was told", m.disk.Term, m.lead.claim.Term, above.Term)
	}
	asked := false
	for _, out := range m.Step(testStart.Add(time.Second), Tick{}) {
		s, ok := out.(*Send)
		asked = asked || ok && s.To == "p1" && s.Message.Verb() == "join"
	}
	if !asked {
		t.Error("it does not ask for admission any more")
	}
}

// A manager claims above a term that one member has accepted however far it is above its own, in several
// claims that all follow.
func TestFarTermIsReached(t *testing.T) {
	c := newCluster(1)
	ids := c.group(3)
	lead, by := c.nodes[ids[0]], ids[2]
	far := feedring.Term{Number: lead.m.lead.claim.Term.Number + 3*maxJump, Claimant: by}
	claims := 0
	for range 6 {
		was := lead.m.lead.claim.Term.Number
		c.step(lead, Receive{From: by, Message: Join{Header: Header{Group: testTheme.Group(), Term: far}, Row: *lead.m.members[by].row}})
		c.run(1100 * time.Millisecond)
		now := lead.m.lead.claim.Term.Number
		if now > was {
			claims++
		}
		if now > was+maxJump {
			t.Fatalf("%d follows %d", now, was)
		}
		for _, id := range ids {
			if m := c.nodes[id].m; m.manager() != ids[0] || m.lead.claim.Term.Number != now {
				t.Fatalf("%s follows %v, not %d", id, m.lead.claim.Term, now)
			}
		}
	}
	if n := lead.m.lead.claim.Term.Number; n <= far.Number || claims != 4 {
		t.Errorf("after %d claims the number is %d, of %d", claims, n, far.Number)
	}
}
