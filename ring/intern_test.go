package ring

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// interned has each map once, by its hash.
type interned map[uint64]*MapSnapshot

func (in interned) Intern(s *MapSnapshot) *MapSnapshot {
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
		var charts, alone [3]chart
		for i := range charts {
			charts[i], alone[i] = newChart(), newChart()
			charts[i].shared = in
		}
		facts := []fact{randomFact(random), randomFact(random), randomFact(random)}
		for range 30 {
			i := random.IntN(len(charts))
			f := facts[random.IntN(len(facts))]
			charts[i].learn(f)
			alone[i].learn(f)
			if random.IntN(8) == 0 && len(alone[i].groups()) > 0 {
				g := alone[i].groups()[0]
				charts[i].forget(g)
				alone[i].forget(g)
			}
			for j := range charts {
				if a, b := charts[j].hash(epoch), alone[j].hash(epoch); a != b || !same(charts[j], alone[j]) {
					t.Fatalf("chart %d differs from what it is alone: hash %x and %x", j, a, b)
				}
				if ours, theirs := charts[j].leaders(), alone[j].leaders(); !ours.equal(theirs) {
					t.Fatalf("chart %d names %v, alone %v", j, ours, theirs)
				}
				if j > 0 && charts[j].sheet == charts[0].sheet {
					shared++
				}
			}
		}
	}
	if shared == 0 {
		t.Error("no two charts ever held one snapshot")
	}
}

func (l *leaders) equal(o *leaders) bool {
	return slices.Equal(l.present, o.present) && slices.Equal(l.absent, o.absent)
}

// What is remembered of a snapshot is what it would be made anew.
func TestDerivedStaysTrue(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for range 500 {
		c := newChart()
		for range 20 {
			c.learn(randomFact(random))
			if random.IntN(8) == 0 && len(c.groups()) > 0 {
				c.forget(c.groups()[random.IntN(len(c.groups()))])
			}
			if random.IntN(3) == 0 {
				continue // several changes at once
			}
			fresh := MapSnapshot{groups: c.sheet.groups, records: c.sheet.records}
			leaders, want := c.leaders(), fresh.lead()
			if !slices.Equal(c.order(), fresh.order()) || !leaders.equal(want) ||
				c.sheet.Hash() != fresh.Hash() || !slices.Equal(c.sheet.versions(), fresh.versions()) {
				t.Fatalf("remembered %v %v, made anew %v %v", c.order(), leaders, fresh.order(), want)
			}
			if random.IntN(3) == 0 {
				c = c.clone()
			}
		}
	}
}
