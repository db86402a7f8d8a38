package group

import (
	"fmt"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/standing"
)

// joinsOf has a manager of its own group, and strangers that join it: those of loyal
// answer as members do.
type joinsOf struct {
	*cluster
	t    *testing.T
	n    *testNode
	in   map[feedring.PeerID]time.Time // when each was told that it is admitted
	deaf bool                          // nobody answers
}

func newJoins(t *testing.T) *joinsOf {
	j := &joinsOf{cluster: newCluster(1), t: t, in: map[feedring.PeerID]time.Time{}}
	j.n = j.start("manager", urls([]string{"lemonde"})...)
	j.step(j.n, Establish{})
	j.run(time.Second)
	j.sent = func(s Send) {
		if a, is := s.Message.(Admitted); is {
			if _, again := j.in[s.To]; !again {
				j.in[s.To] = j.now
			}
			if prefix := j.prefixOf(s.To); !j.deaf {
				j.at(time.Millisecond, func() {
					j.step(j.n, Receive{From: s.To, Prefix: prefix, Message: BeaconAnswer{Header: Header{Group: a.Group, Term: a.Claim.Term}}})
				})
			}
		}
	}
	return j
}

// prefixOf is in the name of a stranger; others are near, and have none.
func (j *joinsOf) prefixOf(p feedring.PeerID) standing.Prefix {
	var net int
	if n, _ := fmt.Sscanf(string(p), "n%d-", &net); n == 0 {
		return ""
	}
	return standing.Prefix(fmt.Sprintf("10.%d.0.0/24", net))
}

func (j *joinsOf) join(net, key int) feedring.PeerID {
	return j.joinAs(feedring.PeerID(fmt.Sprintf("n%d-%d", net, key)))
}

func (j *joinsOf) joinAs(p feedring.PeerID) feedring.PeerID {
	j.step(j.n, Receive{From: p, Prefix: j.prefixOf(p), Message: Join{
		Header: Header{Group: j.n.m.group}, Row: Row{Group: j.n.m.group, Peer: p, Incarnation: 1, Version: 1},
	}})
	return p
}

// T1: of any number of keys of one /24 eight get a place.
func TestOnePrefixGetsItsShare(t *testing.T) {
	j := newJoins(t)
	for i := range 1000 {
		j.join(1, i)
		j.run(10 * time.Millisecond)
	}
	if n := len(j.n.m.members) - 1; n != 8 {
		t.Errorf("%d keys of one prefix are in the catalogue", n)
	}
}

// T2: a newcomer of a prefix of its own is admitted within two periods, whatever number of
// prefixes with any number of keys asks.
func TestNewcomerBesideAFlood(t *testing.T) {
	j := newJoins(t)
	key := 0
	flood := func(d time.Duration) {
		for end := j.now.Add(d); j.now.Before(end); j.run(time.Millisecond) {
			key++
			j.join(key%20, key)
		}
	}
	flood(3500 * time.Millisecond)
	asked := j.now
	honest := j.join(99, 0)
	flood(2 * time.Second)
	if at, in := j.in[honest]; !in || at.Sub(asked) > 2*time.Second {
		t.Errorf("admitted: %t, after %s", in, at.Sub(asked))
	}
	if n := len(j.in); n > 16*6 {
		t.Errorf("%d were admitted in six periods", n)
	}
	if j.n.m.members[honest] == nil {
		t.Error("the newcomer is not in the catalogue")
	}
}

// T2: who joins and does not answer is told to nobody, and forgotten.
func TestNewcomerThatDoesNotAnswer(t *testing.T) {
	j := newJoins(t)
	j.deaf = true
	for i := range 8 {
		j.join(1, i)
	}
	if len(j.in) != 8 || len(j.n.m.members) != 1 {
		t.Fatalf("%d are admitted, %d in the catalogue", len(j.in), len(j.n.m.members))
	}
	j.run(4 * time.Second)
	j.deaf = false
	p := j.join(1, 100)
	j.run(time.Second)
	if j.n.m.members[p] == nil {
		t.Error("the places of those that never answered are not given to others")
	}
}

// T2: rows of peers that never spoke enter no catalogue on the word of who is new.
func TestRowsOfPeersThatNeverSpoke(t *testing.T) {
	j := newJoins(t)
	hostile := j.join(1, 0)
	j.run(100 * time.Millisecond)
	told := Rows{Header: j.n.m.header()}
	for i := range 10_000 {
		told.Rows = append(told.Rows, &Row{Group: j.n.m.group, Peer: feedring.PeerID(fmt.Sprint("made-up", i)), Incarnation: 1, Version: 1, Admitted: j.now})
	}
	j.step(j.n, Receive{From: hostile, Prefix: j.prefixOf(hostile), Message: told})
	for _, r := range told.Rows[:100] {
		j.step(j.n, Receive{From: hostile, Prefix: j.prefixOf(hostile), Message: Join{Header: told.Header, Row: *r}})
		j.step(j.n, Receive{From: r.Peer, Prefix: "192.0.2.0/24", Message: Leave{Header: told.Header, Row: Row{Group: r.Group, Peer: r.Peer, Incarnation: 1, Version: 2, Left: true}}})
	}
	j.run(3 * time.Second)
	if n := len(j.n.m.members); n != 2 {
		t.Errorf("%d peers are in the catalogue", n)
	}
	// A peer without a prefix is settled: each may tell of a few that it met before.
	near := j.joinAs("near")
	j.run(100 * time.Millisecond)
	j.step(j.n, Receive{From: near, Message: told})
	if n := len(j.n.m.members); n != 3+64 {
		t.Errorf("%d peers are in the catalogue on a settled peer's word", n)
	}
}
