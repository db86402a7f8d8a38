package group

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// Somebody else who makes rows or claims with this peer's key is noticed
// within a few periods, and as long as it goes on.
func TestDuplicateIdentityIsReported(t *testing.T) {
	for name, say := range map[string]func(m *Machine) Message{
		"rows": func(m *Machine) Message {
			r := *m.me().row
			r.Incarnation, r.Seal = r.Incarnation+1, &feedring.Seal{Signer: r.Peer}
			return Rows{Header: m.header(), Rows: []*Row{&r}}
		},
		"claims": func(m *Machine) Message {
			term := feedring.Term{Number: m.want.Highest + 1, Claimant: m.cfg.Self}
			return Stale{Header: m.header(), Claim: Claim{Group: m.group, Term: term, Seal: &feedring.Seal{Signer: term.Claimant}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(15)
			ids := c.group(3)
			n := c.nodes[ids[2]]
			for i := range 24 {
				c.step(n, Receive{From: ids[0], Message: say(n.m)})
				c.run(500 * time.Millisecond)
				if i < 4 && len(c.duplicates) > 0 {
					t.Fatal("noticed before it can be told from an earlier life")
				}
			}
			if len(c.duplicates) < 2 || len(c.duplicates) > 4 {
				t.Errorf("reported %d times in 12 periods", len(c.duplicates))
			}
		})
	}
}

// A peer that lost its disk meets its earlier life, and that is all.
func TestLostDiskIsNoDuplicateIdentity(t *testing.T) {
	for manager := range 2 {
		c := newCluster(16)
		ids := c.group(4)
		for range 5 { // incarnations
			c.crash(ids[2])
			c.start(ids[2])
			c.step(c.nodes[ids[2]], Enter{Via: ids[:1]})
			c.run(3 * time.Second)
		}
		lost := ids[2*(1-manager)]
		c.crash(lost)
		c.nodes[lost].disk = State{}
		c.start(lost)
		c.step(c.nodes[lost], Enter{Via: ids[1:2]})
		c.run(30 * time.Second)
		if _, err := c.leader(); err != nil {
			t.Fatal(err)
		}
		if len(c.duplicates) > 0 {
			t.Errorf("%s, whose disk is new, reports a duplicate identity", lost)
		}
	}
}
