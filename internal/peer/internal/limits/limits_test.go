package limits

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/ring"
)

func TestFinishedForgetsTheOldestFirst(t *testing.T) {
	f := NewFinished(2)
	at := func(n uint32) ring.Attempt { return ring.Attempt{Number: n} }
	for _, n := range []uint32{1, 2, 2} {
		f.Add(at(n))
	}
	c := f.Clone()
	c.Add(at(3))
	if !f.Has(at(1)) || !f.Has(at(2)) || f.Has(at(3)) {
		t.Error("what a clone took changed the first")
	}
	if c.Has(at(1)) || !c.Has(at(2)) || !c.Has(at(3)) {
		t.Error("of three attempts the last two are not what is remembered")
	}
}

func TestOutsidersHaveAShareOfEachWindow(t *testing.T) {
	var s Outsiders
	now := time.Unix(1000, 0)
	take := func(from feedring.PeerID, times int) (n int) {
		for range times {
			if s.Take(from, now) {
				n++
			}
		}
		return n
	}
	if n := take("greedy", OutsiderAll); n != OutsiderEach {
		t.Errorf("one peer took %d places", n)
	}
	now = now.Add(OutsiderWindow - 1)
	if take("greedy", 1) != 0 || take("modest", 1) != 1 {
		t.Error("within the window the share is another")
	}
	c := s.Clone()
	c.Take("modest", now)
	if s.each["modest"] != 1 {
		t.Error("what a clone took counts for the first")
	}
	now = now.Add(1)
	if n := take("greedy", OutsiderAll); n != OutsiderEach {
		t.Errorf("in the next window one peer took %d places", n)
	}
}
