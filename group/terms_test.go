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
			Rows: []Row{{Group: m.group, Peer: "p0", Incarnation: 1, Version: 1, Admitted: testStart}},
		}})
		m.Step(testStart, Persisted{Token: m.token})
		if taken := m.manager() == "p0"; taken != test.taken {
			t.Errorf("%s: taken is %v", test.name, taken)
		}
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
func TestLowerTermsAreTold(t *testing.T) {
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
			if s, ok := out.(Send); ok && s.To == ids[0] && s.Message.Verb() == "stale" {
				told++
			}
		}
		c.now = c.now.Add(10 * time.Millisecond)
	}
	if told < 3 || told > 4 { // a second, one a beat
		t.Errorf("told %d times", told)
	}
}
