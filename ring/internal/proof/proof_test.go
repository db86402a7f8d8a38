package proof

import (
	"fmt"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/standing"
	"github.com/feedring/feedring/ring/internal/ringmap"
)

func group(i int) feedring.GroupID { return feedring.Theme(fmt.Sprintf("t%d", i)).Group() }

func row(i int, claimant feedring.PeerID) *ringmap.Row {
	return &ringmap.Row{Group: group(i), Term: feedring.Term{Number: 1, Claimant: claimant}, Version: 1, Manager: feedring.PeerInfo{ID: claimant}}
}

// A claimant that has all its places keeps each of them when it comes from elsewhere, and a
// place that is given back is free.
func TestPlaces(t *testing.T) {
	var p Places
	here, there := Party{"a", "192.0.2.0/24"}, Party{"a", "198.51.100.0/24"}
	for i := range MaxOfPeer {
		if !p.Free(group(i), here) {
			t.Fatalf("place %d is not free", i)
		}
		p.Put(group(i), here)
	}
	for _, is := range []Party{here, there} {
		if p.Free(group(MaxOfPeer), is) || !p.Free(group(0), is) {
			t.Errorf("%v: one more place is free, or its own is not", is)
		}
	}
	p.Remove(group(1))
	if !p.Free(group(MaxOfPeer), there) {
		t.Error("the place of a group that went is not free")
	}
	for i := range MaxOfPeer {
		p.Remove(group(i))
	}
	if len(p.peers)+len(p.prefixes) > 0 {
		t.Errorf("without groups there are places of %v and %v", p.peers, p.prefixes)
	}
}

// The most crowded prefix gives way to one that has fewer. Peers without a prefix do not.
func TestCrowded(t *testing.T) {
	var p Places
	for i := range 9 {
		p.Put(group(i), Party{feedring.PeerID(fmt.Sprint(i)), standing.Prefix([]string{"192.0.2.0/24", "198.51.100.0/24", ""}[max(0, i-6)])})
	}
	if g, found := p.Crowded(Party{"new", "198.51.100.0/24"}); !found || p.of[g].Prefix != "192.0.2.0/24" {
		t.Errorf("%v gives way", p.of[g])
	}
	if g, found := p.Crowded(Party{"new", "192.0.2.0/24"}); found {
		t.Errorf("%v gives way to one more of the most crowded prefix", p.of[g])
	}
}

// One who tells of many claimants keeps nobody out, and of them who came last gives way.
func TestTheLargestShareGivesWay(t *testing.T) {
	var p Proofs
	for i := range 2 * MaxWaiting {
		p.Waiting.Add(row(i, feedring.PeerID(fmt.Sprintf("a%d", i))), Party{feedring.PeerID(fmt.Sprintf("liar%d", i)), "192.0.2.0/24"}, false)
	}
	p.Waiting.Add(row(1000, "b"), Party{Peer: "stranger"}, false)
	p.Waiting.Add(row(1001, "c"), Party{Peer: "leader"}, true)
	if p.Waiting.Len() != MaxWaiting || !p.Waiting.Holds(group(1000)) || !p.Waiting.Holds(group(1001)) || !p.Waiting.Holds(group(0)) {
		t.Errorf("of others' claimants none waits, or none of the first: %d wait", p.Waiting.Len())
	}
	now := time.Unix(1, 0)
	asked := p.Questions(now, time.Second)
	if len(asked) != MaxAsked {
		t.Errorf("%d claimants are asked", len(asked))
	}
	found := map[feedring.PeerID]bool{}
	for _, q := range asked {
		found[q.To.ID] = true
	}
	if !found["b"] || !found["c"] {
		t.Error("who told of one claimant waits behind who told of many")
	}
}

// A claimant is asked three times, a pause apart, and then forgotten.
func TestSilentClaimants(t *testing.T) {
	var p Proofs
	p.Waiting.Add(row(1, "a"), Party{Peer: "b"}, false)
	known := func(*ringmap.Row) bool { return false }
	leads := func(feedring.GroupID, feedring.PeerID) bool { return true }
	asked := 0
	for now := time.Unix(1, 0); !p.Due(now).IsZero(); now = now.Add(time.Second) {
		p.Forget(now, known, leads)
		asked += len(p.Questions(now, time.Second))
	}
	if asked != askTries || p.Waiting.Len() != 0 {
		t.Errorf("it is asked %d times, and %d wait", asked, p.Waiting.Len())
	}
}
