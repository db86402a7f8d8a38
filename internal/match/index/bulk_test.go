package index

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/feedring/feedring/internal/match"
)

// TestInsertAllAgainstModel inserts many at once into an index that is empty, that
// has some, and that lost some, with rules and refused ones between.
func TestInsertAllAgainstModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	p := newPair(t)
	found := 0
	for _, many := range []int{1, 3000, 0, 70, 1500} {
		all := make([]Interest, many)
		for i := range all {
			all[i] = randomInterest(rng)
		}
		p.insertAll(all)
		for range 40 {
			found += p.check(randomDoc(rng))
		}
		for range many / 2 {
			p.delete(rng.IntN(len(p.ids)))
			p.insert(randomInterest(rng))
		}
		for range 40 {
			found += p.check(randomDoc(rng))
		}
	}
	if found < 5_000 {
		t.Errorf("only %d found", found)
	}
}

// What InsertAll makes is what Insert and Compact make, and a word that an interest
// has twice counts once.
func TestInsertAllPacks(t *testing.T) {
	w := newWorkload(5)
	var all []Interest
	for range 2000 {
		all = append(all, w.interest())
	}
	twice, err := match.Parse(w.Words[100] + " " + w.Words[200] + " " + w.Words[100])
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, Interest{Words: twice}, Interest{})
	one, many := New(), New()
	for _, in := range all[:len(all)-1] {
		if _, err := one.Insert(in); err != nil {
			t.Fatal(err)
		}
	}
	one.Compact()
	refused := 0
	many.InsertAll(slices.Values(all), func(_ ID, err error) {
		if errors.Is(err, ErrBroad) {
			refused++
		} else if err != nil {
			t.Error(err)
		}
	})
	a, b := one.now.Load().plain.segments, many.now.Load().plain.segments
	if refused != 1 || len(a) != 1 || len(b) != 1 || many.Len() != len(all)-1 {
		t.Fatalf("%d refused, %d and %d segments, %d subscriptions", refused, len(a), len(b), many.Len())
	}
	if a[0].total != b[0].total || len(a[0].low) != len(b[0].low) || len(a[0].high) != len(b[0].high) || len(a[0].owners) != len(b[0].owners) {
		t.Errorf("other sizes: %d and %d tokens", len(a[0].low)+len(a[0].high), len(b[0].low)+len(b[0].high))
	}
}
