package ringmap

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// interned has each map once, by its hash.
type interned map[uint64]*Snapshot

func (in interned) Intern(s *Snapshot) *Snapshot {
	if same := in[s.Hash()]; same != nil && same.Equal(s) {
		return same
	}
	in[s.Hash()] = s
	return s
}

// Maps of one interner hold what the same ones hold alone, whatever the others
// learn meanwhile, and those that know the same hold it once.
func TestInterningChangesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	shared := 0
	for range 300 {
		in := interned{}
		var both, alone [3]Map
		for i := range both {
			both[i], alone[i] = New(nil), New(nil)
			both[i].interner = in
		}
		facts := []fact{randomFact(random), randomFact(random), randomFact(random)}
		for range 30 {
			i := random.IntN(len(both))
			f := facts[random.IntN(len(facts))]
			both[i].learn(f)
			alone[i].learn(f)
			if random.IntN(8) == 0 && len(alone[i].Groups()) > 0 {
				g := alone[i].Groups()[0]
				both[i].forget(g)
				alone[i].forget(g)
			}
			for j := range both {
				if a, b := both[j].Hash(epoch), alone[j].Hash(epoch); a != b || !same(both[j], alone[j]) {
					t.Fatalf("map %d differs from what it is alone: hash %x and %x", j, a, b)
				}
				if ours, theirs := both[j].Leaders(), alone[j].Leaders(); !ours.equal(theirs) {
					t.Fatalf("map %d names %v, alone %v", j, ours, theirs)
				}
				if j > 0 && both[j].snapshot == both[0].snapshot {
					shared++
				}
			}
		}
	}
	if shared == 0 {
		t.Error("no two shared ever held one snapshot")
	}
}

func (l *Leaders) equal(o *Leaders) bool {
	return slices.Equal(l.Present, o.Present) && slices.Equal(l.Absent, o.Absent)
}

// What is remembered of a snapshot is what it would be made anew.
func TestDerivedStaysTrue(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for range 500 {
		c := New(nil)
		for range 20 {
			c.learn(randomFact(random))
			if random.IntN(8) == 0 && len(c.Groups()) > 0 {
				c.forget(c.Groups()[random.IntN(len(c.Groups()))])
			}
			if random.IntN(3) == 0 {
				continue // several changes at once
			}
			fresh := Snapshot{groups: c.snapshot.groups, records: c.snapshot.records}
			leaders, want := c.Leaders(), fresh.lead()
			if !slices.Equal(c.Order(), fresh.order()) || !leaders.equal(want) ||
				c.snapshot.Hash() != fresh.Hash() || !slices.Equal(c.snapshot.versions(), fresh.versions()) {
				t.Fatalf("remembered %v %v, made anew %v %v", c.Order(), leaders, fresh.order(), want)
			}
			if random.IntN(3) == 0 {
				c = c.Clone()
			}
		}
	}
}
