package leases

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

func queryID(n int) (id feedring.QueryID) {
	binary.BigEndian.PutUint32(id[:], uint32(n))
	return id
}

// One client has a share of a peer, in places as in leases; what it is refused
// others are given.
func TestOneClientIsBounded(t *testing.T) {
	r := NewTable()
	for i := range Max {
		if _, ok := r.Reserve(queryID(i), "greedy", "m"); !ok {
			t.Fatalf("place %d was refused: its ticket would be good without", i)
		}
	}
	if got := r.Load(); got != MaxOfClient {
		t.Errorf("%d places are kept for one client", got)
	}
	served := 0
	for i := range Max {
		if r.Refusal(queryID(i), "greedy") == NotRefused {
			r.Unreserve(queryID(i))
			r.Lease(uint64(i), queryID(i), "greedy")
			served++
		}
	}
	if served != MaxOfClient || r.Load() != served {
		t.Errorf("one client has %d leases of a load of %d", served, r.Load())
	}
	for i := range 1000 {
		if why := r.Refusal(queryID(1<<20+i), "modest"); why != NotRefused {
			t.Fatal("another client is refused: ", why)
		}
		r.Lease(uint64(1<<20+i), queryID(1<<20+i), "modest")
	}
	for i := range Max {
		r.Release(uint64(i))
	}
	if r.Load() != 1000 || r.leasesOf["greedy"] != 0 || len(r.reservedOf)+len(r.reservedFor) != 0 {
		t.Errorf("a load of %d is left, %v, %v, %v", r.Load(), r.leasesOf, r.reservedOf, r.reservedFor)
	}
}

// A peer that is full, by places or by leases, keeps no place and serves nobody
// who has none; who has one, or comes again, is served.
func TestTableIsBounded(t *testing.T) {
	some := func(n int) feedring.PeerID { return feedring.PeerID(fmt.Sprint("c", n%8)) } // with less than MaxOfClient each
	keep := func(r *Table, n int) bool {
		_, ok := r.Reserve(queryID(n), some(n), "m")
		return ok
	}
	attach := func(r *Table, n int) bool {
		if r.Refusal(queryID(n), some(n)) != NotRefused {
			return false
		}
		r.Unreserve(queryID(n))
		r.Lease(uint64(n), queryID(n), some(n))
		return true
	}
	for _, by := range []struct {
		name string
		come func(r *Table, n int) bool
	}{
		{"places", keep},
		{"leases", attach},
		{"both", func(r *Table, n int) bool { return n%2 == 0 && keep(r, n) || n%2 == 1 && attach(r, n) }},
	} {
		t.Run(by.name, func(t *testing.T) {
			r := NewTable()
			for n := range Max {
				if !by.come(&r, n) || r.Load() != n+1 {
					t.Fatalf("after %d a load of %d", n, r.Load())
				}
			}
			if keep(&r, Max) {
				t.Error("a place beyond the bound")
			}
			if attach(&r, Max+1) {
				t.Error("a lease beyond the bound")
			}
			if r.Load() != Max {
				t.Errorf("a load of %d", r.Load())
			}
			if by.name != "leases" && (!keep(&r, 0) || !attach(&r, 0)) {
				t.Error("no room for who has a place")
			}
			if by.name != "places" && !attach(&r, 1) {
				t.Error("no room for who comes again")
			}
			if by.name == "places" {
				r.Unreserve(queryID(2))
			} else {
				r.Release(1)
			}
			if !keep(&r, Max) || keep(&r, Max+1) || !attach(&r, Max) || attach(&r, Max+1) {
				t.Errorf("one has gone: a load of %d", r.Load())
			}
		})
	}
}

func TestIssuersKeepTheLast(t *testing.T) {
	var s TrustedIssuers
	for i := range 3 * MaxIssuers {
		before := slices.Clone(s)
		kept := s
		s = s.Note(feedring.PeerID(fmt.Sprint(i)))
		if !slices.Equal(kept, before) {
			t.Fatal("noting one changed the list of before")
		}
	}
	if len(s) != MaxIssuers || s[0] != "47" || s[MaxIssuers-1] != "32" {
		t.Error(s)
	}
	if s = s.Note("40").Note(""); len(s) != MaxIssuers || s[0] != "40" || s[1] != "47" || slices.Contains(s[1:], "40") {
		t.Error(s)
	}
}

func TestWindowBeginsAnew(t *testing.T) {
	w, now := NewWindow(), time.Unix(1000, 0)
	take := func(p feedring.PeerID) bool { return w.Take(p, 2, now, time.Second) }
	var taken []bool
	for _, p := range []feedring.PeerID{"a", "a", "a", "b"} {
		taken = append(taken, take(p))
	}
	if !slices.Equal(taken, []bool{true, true, false, true}) {
		t.Errorf("of two each: %v", taken)
	}
	c := w.Clone()
	now = now.Add(time.Second)
	if !take("a") {
		t.Error("the time is over")
	}
	if c.Take("a", 2, now.Add(-1), time.Second) {
		t.Error("the clone counts what its original counted")
	}
}
