package group

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// yielded returns the secondary of a group of three that claimed while its
// manager was away, and went back to it, beside the claim that it gave up; and
// the peer that took that claim.
func yielded(t *testing.T) (m *Machine, now time.Time, own Claim, third feedring.PeerID) {
	t.Helper()
	c := newCluster(1)
	ids := c.group(3)
	m = c.nodes[ids[0]].m
	m = c.nodes[m.lead.secondary].m
	for _, id := range ids {
		if id != m.cfg.Self && id != m.manager() {
			third = id
		}
	}
	missed, now := m.lead.claim, c.now
	for range 20 { // silence
		now = now.Add(m.cfg.Refresh / 4)
		m.Step(now, Tick{})
	}
	m.Step(now, Persisted{Token: m.token})
	own = m.lead.claim
	if !m.serving || m.acked || own.Term.Claimant != m.cfg.Self {
		t.Fatalf("it follows %v", own.Term)
	}
	m.Step(now, Receive{From: missed.Term.Claimant, Message: Beacon{
		Header: Header{Group: m.group, Term: missed.Term}, Claim: missed, Number: 99, Secondary: m.cfg.Self, Acknowledged: 2,
	}})
	if m.serving || m.lead.claim.Term != missed.Term {
		t.Fatalf("it does not go back to %v", missed.Term)
	}
	return m, now, own, third
}

func tells(m *Machine, from feedring.PeerID, claim Claim) Receive {
	return Receive{From: from, Message: Stale{Header: Header{Group: m.group, Term: claim.Term}, Claim: claim, Acknowledged: true}}
}

// A claim that was given up, since the manager that was missed lives, is not
// made again because somebody took it: that peer is told of the manager.
func TestClaimGivenUpStaysSo(t *testing.T) {
	m, now, own, third := yielded(t)
	told := false
	for _, out := range m.Step(now, tells(m, third, own)) {
		switch o := out.(type) {
		case Persist:
			t.Errorf("it claims anew: %+v", o.State)
		case *Send:
			s, ok := o.Message.(Stale)
			told = told || ok && o.To == third && s.Claim == m.lead.claim
		}
	}
	if !told {
		t.Errorf("%s is not told of %v", third, m.lead.claim.Term)
	}
}

// But where that manager itself took it, nobody manages until it is made again.
func TestClaimOfTheManagersManager(t *testing.T) {
	for name, message := range map[string]Message{"stale": nil, "an answer": BeaconAnswer{}} {
		m, now, own, _ := yielded(t)
		in := tells(m, m.manager(), own)
		if message != nil {
			in.Message = BeaconAnswer{Header: Header{Group: m.group, Term: own.Term}}
		}
		m.Step(now, in)
		m.Step(now, Persisted{Token: m.token})
		if !m.serving || m.lead.claim.Term.Number <= own.Term.Number {
			t.Errorf("%s: it follows %v", name, m.lead.claim.Term)
		}
	}
}

// A manager that tells that it follows a lower claim, which this member cannot
// follow any more, manages nothing: nobody waits until it is silent.
func TestManagerThatFollowsALowerClaim(t *testing.T) {
	m, now, own, third := yielded(t)
	lower := m.lead.claim
	higher := Claim{Group: m.group, Term: feedring.Term{Number: own.Term.Number + 1, Claimant: third}}
	m.Step(now, Receive{From: third, Message: Beacon{Header: Header{Group: m.group, Term: higher.Term}, Claim: higher, Number: 1, Acknowledged: 1}})
	m.Step(now, Persisted{Token: m.token})
	if m.manager() != third || m.disk.Term != higher.Term || !m.live() {
		t.Fatalf("it follows %v", m.lead.claim.Term)
	}
	if m.Step(now, tells(m, third, lower)); m.live() {
		t.Errorf("%s follows %v, and seems to manage", third, lower.Term)
	}
}

// A founder that asks another manager to admit it still admits whoever has
// accepted its claim: that manager may have accepted it as well, and then
// nobody manages as long as each waits for the other.
func TestFounderAdmitsWhoAcceptedItsClaim(t *testing.T) {
	for _, accepted := range []bool{true, false} {
		c := newCluster(1)
		founder := c.start("p0")
		c.step(founder, Establish{Above: 3})
		c.run(10 * time.Millisecond)
		m, now := founder.m, c.now
		rival := feedring.Term{Number: 2, Claimant: "p1"}
		m.Step(now, Rival{Term: rival, Acknowledged: true})
		if !m.serving || m.acked || !m.joining.active {
			t.Fatalf("serving %v, acknowledged %v, joining %v", m.serving, m.acked, m.joining.active)
		}
		join := Join{Header: Header{Group: m.group, Term: rival}, Row: Row{Group: m.group, Peer: "p2", Incarnation: 1, Version: 1}}
		if accepted {
			join.Header.Term = m.lead.claim.Term
		}
		admitted := false
		for _, out := range m.Step(now, Receive{From: "p2", Message: join}) {
			s, ok := out.(*Send)
			admitted = admitted || ok && s.To == "p2" && s.Message.Verb() == "admitted"
		}
		if admitted != accepted {
			t.Errorf("accepted %v: admitted %v", accepted, admitted)
		}
	}
}

// A manager that the map names above this one, and that asks to be admitted
// without the term that it is named with, has lost its memory and manages
// nothing. As a member it gives its row back; until then the row would go on
// hiding this manager, which would join and admit nobody.
func TestRivalWithoutMemoryIsAdmitted(t *testing.T) {
	rival := feedring.Term{Number: 7, Claimant: "p9"}
	for _, test := range []struct {
		name     string
		from     feedring.PeerID
		accepted feedring.Term
		admitted bool
	}{
		{"it forgot its term", "p9", feedring.Term{}, true},
		{"it manages", "p9", rival, false},
		{"it went above", "p9", feedring.Term{Number: 8, Claimant: "p9"}, false},
		{"its row comes from another", "p2", feedring.Term{}, false},
	} {
		c := newCluster(1)
		c.group(3)
		lead, err := c.leader()
		if err != nil {
			t.Fatal(err)
		}
		m := c.nodes[lead].m
		m.Step(c.now, Rival{Term: rival, Acknowledged: true})
		if !m.serving || !m.joining.active {
			t.Fatalf("serving %v, joining %v", m.serving, m.joining.active)
		}
		join := Join{Header: Header{Group: m.group, Term: test.accepted}, Row: Row{Group: m.group, Peer: "p9", Incarnation: 1, Version: 1}}
		admitted := false
		for _, out := range m.Step(c.now, Receive{From: test.from, Message: join}) {
			s, ok := out.(*Send)
			admitted = admitted || ok && s.To == "p9" && s.Message.Verb() == "admitted"
		}
		if admitted != test.admitted || m.joining.active == test.admitted {
			t.Errorf("%s: admitted %v, still joining %v", test.name, admitted, m.joining.active)
		}
	}
}
