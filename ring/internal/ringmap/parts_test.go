package ringmap

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// rowOf is version of the row of group i, which claimant manages.
func rowOf(i int, claimant feedring.PeerID, version uint64) *Row {
	return &Row{Group: themeOf(i).Group(), Theme: themeOf(i), Term: feedring.Term{Number: 1, Claimant: claimant}, Version: version,
		Acknowledged: true, Manager: feedring.PeerInfo{ID: claimant}}
}

func themeOf(i int) feedring.Theme { return feedring.Theme(fmt.Sprintf("theme%02d", i)) }

// Hash and parts follow each change as if they were made anew, and two maps have the same
// where what they tell is the same, be it because one forgot what the other tells no
// more.
func TestHashOfLargeMaps(t *testing.T) {
	for _, groups := range []int{partsFrom + 3, 2*MinParts - 2} { // where a map becomes large, and where its parts become more
		testHashOfLargeMap(t, groups)
	}
}

func testHashOfLargeMap(t *testing.T, groups int) {
	random := rand.New(rand.NewPCG(1, 2))
	m := New(nil)
	for i := range groups {
		m.Merge(epoch, rowOf(i, "a", 1))
	}
	for range 600 {
		g := m.Groups()[random.IntN(len(m.Groups()))]
		switch r := *m.At(g).Effective().Row; random.IntN(4) {
		case 0:
			m.Lose(epoch, Lost{Group: g, Term: r.Term, Version: r.Version, By: "n"})
		case 1:
			if len(m.Groups()) > partsFrom-3 { // below it, and back
				m.forget(g)
			}
		case 2:
			m.Merge(epoch, rowOf(200+random.IntN(20), "b", 1))
		default:
			r.Version++
			m.Merge(epoch, &r)
		}
		if random.IntN(3) > 0 {
			continue // several changes in one
		}
		for _, now := range []time.Time{epoch, epoch.Add(keepAbsent)} {
			anew := New(nil)
			for _, g := range m.Groups() {
				for _, s := range m.At(g).Slots {
					if s.Held() && m.Announces(g, now) {
						anew.learn(fact{row: *s.Row, lost: s.Lost != nil})
					}
				}
			}
			if m.Hash(now) != anew.Hash(epoch) || m.Parts(now).Differ(anew.Parts(epoch)) != nil || !slices.Equal(m.Versions(now), anew.Versions(epoch)) {
				t.Fatalf("a map of %d groups, %d of which it tells, differs from the same one made anew", len(m.Groups()), len(anew.Groups()))
			}
			m.announced = announced{} // time goes back
		}
	}
}

// A part is a stretch of the map: together they are all of it.
func TestPartsAreStretches(t *testing.T) {
	c := New(nil)
	for i := range 300 {
		c.Merge(epoch, rowOf(i, "a", 1))
	}
	var all []RowVersion
	if len(c.Parts(epoch)) != 256 {
		t.Errorf("300 groups have %d parts", len(c.Parts(epoch)))
	}
	whole := make(Within, 4)
	for part := range len(c.Parts(epoch)) {
		in := make(Within, 4)
		in[part/64] = 1 << (part % 64)
		whole[part/64] |= in[part/64]
		for _, v := range c.VersionsIn(in, epoch) {
			if partOf(v.Group, 256) != part {
				t.Fatalf("%x is not of part %d", v.Group, part)
			}
			all = append(all, v)
		}
	}
	if !slices.Equal(all, c.Versions(epoch)) || !slices.Equal(c.VersionsIn(whole, epoch), all) || !slices.Equal(c.GroupsIn(whole), c.Groups()) {
		t.Errorf("the parts have %d rows, the map %d", len(all), len(c.Versions(epoch)))
	}
}

// Marks that two maps have on different rows do not make up for each other, as they
// would if the digests were added up as FNV leaves them.
func TestSwappedMarksDiffer(t *testing.T) {
	for i := range partsFrom - 1 {
		var maps [2]Map
		for k := range maps {
			maps[k] = New(nil)
			for j := range MinParts + 1 {
				maps[k].Merge(epoch, rowOf(j, "a", 1))
			}
			row := rowOf(i+k, "a", 1)
			maps[k].Lose(epoch, Lost{Group: row.Group, Term: row.Term, Version: 1, By: "n"})
		}
		if maps[0].Hash(epoch) == maps[1].Hash(epoch) {
			t.Fatalf("lost group %d, and lost group %d, have one hash", i, i+1)
		}
	}
}
