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
	if !m.lead.serving || m.lead.acked || own.Term.Claimant != m.cfg.Self {
		t.Fatalf("it follows %v", own.Term)
	}
	m.Step(now, Receive{From: missed.Term.Claimant, Message: Beacon{
		Header: Header{Group: m.group, Term: missed.Term}, Claim: missed, Number: 99, Secondary: m.cfg.Self, Acknowledged: 2,
	}})
	if m.lead.serving || m.lead.claim.Term != missed.Term {
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
		if !m.lead.serving || m.lead.claim.Term.Number <= own.Term.Number {
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
	m.Step(now, tells(m, m.manager(), higher))
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
		if !m.lead.serving || m.lead.acked || !m.joining.active {
			t.Fatalf("serving %v, acknowledged %v, joining %v", m.lead.serving, m.lead.acked, m.joining.active)
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

// A rival that the map names, and that asks to be admitted with the term that it
// is named with, or without it, has started again and manages nothing. As a
// member it gives its row back; until then the row would go on hiding this
// manager, which would join and admit nobody.
func TestRivalThatStartedAgain(t *testing.T) {
	for _, test := range []struct {
		name     string
		founder  bool // nobody follows this manager, whose number is above the rival's
		rival    uint64
		from     feedring.PeerID
		accepted uint64
		ends     bool // this manager does not join it any more
		answer   string
	}{
		{"it forgot its term", false, 7, "p9", 0, true, "admitted"},
		{"it kept its term", false, 7, "p9", 7, true, "a claim above"},
		{"it went above", false, 7, "p9", 8, false, ""},
		{"its row comes from another", false, 7, "p2", 0, false, ""},
		{"it forgot its term, and is below a founder", true, 3, "p9", 0, true, "admitted"},
		{"it kept its term, and is below a founder", true, 3, "p9", 3, true, "admitted"},
		{"it went above a founder", true, 3, "p9", 4, false, ""},
	} {
		c, lead := newCluster(1), feedring.PeerID("p0")
		if test.founder {
			c.step(c.start(lead), Establish{Above: 3})
			c.run(10 * time.Millisecond)
		} else {
			c.group(3)
			var err error
			if lead, err = c.leader(); err != nil {
				t.Fatal(err)
			}
		}
		m := c.nodes[lead].m
		m.Step(c.now, Rival{Term: feedring.Term{Number: test.rival, Claimant: "p9"}, Acknowledged: true})
		if !m.lead.serving || m.lead.acked == test.founder || !m.joining.active {
			t.Fatalf("%s: serving %v, acknowledged %v, joining %v", test.name, m.lead.serving, m.lead.acked, m.joining.active)
		}
		join := Join{Header: Header{Group: m.group}, Row: Row{Group: m.group, Peer: "p9", Incarnation: 1, Version: 1}}
		if test.accepted > 0 {
			join.Header.Term = feedring.Term{Number: test.accepted, Claimant: "p9"}
		}
		answer := ""
		for _, out := range m.Step(c.now, Receive{From: test.from, Message: join}) {
			switch out := out.(type) {
			case *Send:
				if out.To == "p9" && out.Message.Verb() == "admitted" {
					answer = "admitted"
				}
			case Persist:
				if out.State.Highest > test.rival {
					answer = "a claim above"
				}
			}
		}
		if answer != test.answer || m.joining.active == test.ends {
			t.Errorf("%s: %q, still joining %v", test.name, answer, m.joining.active)
		}
	}
}
