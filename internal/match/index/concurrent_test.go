package index

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/feedring/feedring"
)

// TestMatchSeesOneMoment matches while interests that all match are inserted. A
// match must find the first so many of them, and no fewer than there were
// before it began.
func TestMatchSeesOneMoment(t *testing.T) {
	const most = 6_000
	ix := New()
	forms := []Interest{interest(t, "gaz"), interest(t, "gaz prix"), interest(t, "prix gaz europe")}
	var inserted atomic.Int64
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			m := ix.NewMatcher()
			d := docOf(&feedring.Entry{Title: "Europe : le prix du gaz"})
			for before := int64(0); before < most; {
				before = inserted.Load()
				m.Match(&d)
				ids := m.Append(nil)
				if int64(len(ids)) < before {
					t.Errorf("%d found, but there were %d before", len(ids), before)
					return
				}
				for i, id := range ids {
					if id != ID(i) {
						t.Errorf("%d found, but not the %dth", len(ids), i)
						return
					}
				}
				runtime.Gosched()
			}
		})
	}
	for i := range most {
		if _, err := ix.Insert(forms[i%len(forms)]); err != nil {
			t.Error(err)
		}
		inserted.Add(1)
		if i%1500 == 0 {
			ix.Compact()
		}
	}
	readers.Wait()
}

// TestMatchWhileAllChanges matches while others insert, delete and pack. What
// stays is always found, and of the rest only what matches.
func TestMatchWhileAllChanges(t *testing.T) {
	p := newPair(t)
	rng := rand.New(rand.NewPCG(5, 6))
	for len(p.ids) < 400 {
		p.insert(randomInterest(rng))
	}
	docs := make([]*Doc, 40)
	for i := range docs {
		docs[i] = randomDoc(rng)
	}
	var done atomic.Bool
	var writers, readers sync.WaitGroup
	writers.Go(func() { churn(t, p.index, rand.New(rand.NewPCG(7, 8))) })
	writers.Go(func() { churn(t, p.index, rand.New(rand.NewPCG(9, 10))) })
	for first := range 2 {
		readers.Go(func() {
			m := p.index.NewMatcher()
			for turn := first; !done.Load(); turn++ {
				d := docs[turn%len(docs)]
				m.Match(d)
				p.holds(d, m.Append(nil))
				runtime.Gosched()
			}
		})
	}
	writers.Wait()
	done.Store(true)
	readers.Wait()
	for _, d := range docs {
		p.check(d)
	}
}

// churn inserts and deletes, and leaves nothing.
func churn(t *testing.T, ix *Index, rng *rand.Rand) {
	var ids []ID
	for i := range 3_000 {
		in := randomInterest(rng)
		in.Theme = "churn" // of no entry
		id, err := ix.Insert(in)
		if err != nil {
			t.Error(err)
		}
		ids = append(ids, id)
		if rng.IntN(3) == 0 {
			i := rng.IntN(len(ids))
			ix.Delete(ids[i])
			ids[i] = ids[len(ids)-1]
			ids = ids[:len(ids)-1]
		}
		if i%1000 == 999 {
			ix.Compact()
		}
	}
	for _, id := range ids {
		if !ix.Delete(id) {
			t.Errorf("%d is gone", id)
		}
	}
}

// holds checks that ids are those of the model, which nobody changes.
func (p *pair) holds(d *Doc, ids []ID) {
	want := p.model.match(d)
	if len(ids) != len(want) {
		p.t.Errorf("%d found of those that stay, want %d", len(ids), len(want))
		return
	}
	for i, id := range ids {
		if id != want[i] {
			p.t.Errorf("%d found instead of %d", id, want[i])
			return
		}
	}
}
