package fleet

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/feedring/feedring"
)

// named returns so many members that are present, each with room for so many interests.
func named(n, interests int) (members []Member) {
	for i := range n {
		members = append(members, Member{Peer: feedring.PeerID(fmt.Sprintf("peer-%02d", i)), Interests: interests, Present: true})
	}
	return members
}

func someMembers(r *rand.Rand) []Member {
	members := named(2+r.IntN(7), weightUnit)
	for i := range members {
		members[i].Interests = weightUnit * r.IntN(5)
		members[i].Present = r.IntN(4) > 0
		members[i].Gone = !members[i].Present && r.IntN(2) == 0
	}
	return members
}

func TestAMemberThatComesOrGoesMovesOnlyItsOwnSlots(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		members := someMembers(r)
		x := r.IntN(len(members))
		all, without := (*Places)(nil).With(members), (*Places)(nil).With(append(append([]Member{}, members[:x]...), members[x+1:]...))
		gone := append([]Member{}, members...)
		gone[x].Gone, gone[x].Present = true, false
		marked := all.With(gone)
		for s := range Slot(Slots) {
			a1, a2 := all.Holders(s)
			b1, b2 := without.Holders(s)
			if m1, m2 := marked.Holders(s); m1 != b1 || m2 != b2 {
				t.Fatalf("seed %d, slot %d: %s and %s hold it where %s is gone, %s and %s where it is no member", seed, s, m1, m2, members[x].Peer, b1, b2)
			}
			if peer := members[x].Peer; a1 != peer && a2 != peer && (a1 != b1 || a2 != b2) || a1 == peer && a2 != b1 || a2 == peer && a1 != b1 {
				t.Fatalf("seed %d, slot %d: %s and %s hold it, without %s it is %s and %s", seed, s, a1, a2, peer, b1, b2)
			}
		}
	}
}

func TestPlacesDoNotDependOnWhatWasBefore(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var p *Places
	for range 15 {
		members := someMembers(r)
		p = p.With(members)
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		if fresh := (*Places)(nil).With(append(members, members[0])); fresh.holders != p.holders {
			t.Fatal("the places depend on the order of members, or on those of before")
		}
	}
}

func TestTheFirstHolderThatIsPresentServes(t *testing.T) {
	for seed := range uint64(20) {
		members := someMembers(rand.New(rand.NewPCG(seed, 3)))
		p := (*Places)(nil).With(members)
		for s := range Slot(Slots) {
			first, second := p.Holders(s)
			want := feedring.PeerID("")
			switch {
			case p.Present(first):
				want = first
			case p.Present(second):
				want = second
			}
			if got := p.Serves(s); got != want {
				t.Fatalf("%s serves a slot of %s and %s, not %s", got, first, second, want)
			}
		}
	}
}

// served counts the slots that each member serves.
func served(p *Places) map[feedring.PeerID]int {
	serves := make(map[feedring.PeerID]int)
	for s := range Slot(Slots) {
		serves[p.Serves(s)]++
	}
	return serves
}

func TestEqualMembersHaveNearlyAsManySlots(t *testing.T) {
	const members = 34
	most := 0
	for _, n := range served((*Places)(nil).With(named(members, 1<<20))) {
		most = max(most, n)
	}
	if over := float64(most) * members / Slots; over > 1.15 {
		t.Errorf("the fullest of %d has %.3f times the mean, at most 1.15 is planned for", members, over)
	}
}

func TestAMemberHasSlotsByItsWeight(t *testing.T) {
	members := named(6, 0)
	sum := 0
	for i, interests := range []int{1, weightUnit, 2 * weightUnit, 5 * weightUnit, 40 * weightUnit, 1 << 40} {
		members[i].Interests = interests
		sum += members[i].weight()
	}
	if members[0].weight() != 1 || members[5].weight() != maxWeight {
		t.Fatalf("weights of %d and %d", members[0].weight(), members[5].weight())
	}
	serves := served((*Places)(nil).With(members))
	for _, m := range members {
		share := float64(m.weight()) / float64(sum)
		want, deviation := Slots*share, math.Sqrt(Slots*share*(1-share))
		if got := float64(serves[m.Peer]); math.Abs(got-want) > 4*deviation {
			t.Errorf("of weight %d of %d: %.0f slots, not %.0f ± %.0f", m.weight(), sum, got, want, 4*deviation)
		}
	}
}

// TestPlacesStayWhereTheyAre holds the places of one version against those of others,
// which run in the same fleet.
func TestPlacesStayWhereTheyAre(t *testing.T) {
	members := named(7, 3*weightUnit)
	members[3].Interests = 40 * weightUnit
	p, h := (*Places)(nil).With(members), fnv.New64a()
	for s := range Slot(Slots) {
		first, second := p.Holders(s)
		fmt.Fprintln(h, first, second)
	}
	if got := h.Sum64(); got != 0x7b581003b3f38320 {
		t.Errorf("the places are others than those of version 1: %#x", got)
	}
}

func TestAFleetOfNobodyHoldsNothing(t *testing.T) {
	for _, p := range []*Places{nil, (*Places)(nil).With(nil), (*Places)(nil).With([]Member{{Peer: "a", Gone: true}})} {
		if first, second := p.Holders(3); first != "" || second != "" || p.Serves(3) != "" || p.Present("a") {
			t.Errorf("%q and %q hold a slot", first, second)
		}
	}
	p := (*Places)(nil).With(named(1, 0))
	if first, second := p.Holders(3); first != "peer-00" || second != "" {
		t.Errorf("%q and %q hold a slot of one member", first, second)
	}
}

func TestMembersBeyondTheBoundHaveNoPlaces(t *testing.T) {
	members := make([]Member, 0, MaxMembers+1)
	for i := range MaxMembers + 1 {
		members = append(members, Member{Peer: feedring.PeerID(fmt.Sprintf("p%05d", MaxMembers-i)), Present: true})
	}
	p := (*Places)(nil).With(members)
	if !p.Present("p00000") || p.Present(members[0].Peer) {
		t.Error("not those with the least ids are members")
	}
}

func BenchmarkPlaces(b *testing.B) {
	members := named(64, 1<<22)
	p := (*Places)(nil).With(members)
	b.Run("away", func(b *testing.B) {
		for i := range b.N {
			members[7].Present = i%2 == 0
			p = p.With(members)
		}
	})
	b.Run("new", func(b *testing.B) {
		for range b.N {
			p.With(append(members, Member{Peer: "new", Interests: 1 << 22, Present: true}))
		}
	})
}
