package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPackedRowsBeginWithTheRarest checks the order that makes lists short, and
// equal conjunctions one group: no test of what is found would notice.
func TestPackedRowsBeginWithTheRarest(t *testing.T) {
	p := newPair(t)
	rng := rand.New(rand.NewPCG(3, 4))
	for range 3_000 {
		p.insert(randomInterest(rng))
	}
	p.index.Compact()
	var r rows
	for _, seg := range p.index.now.Load().plain.segments {
		seg.gather(&r, func(owner) bool { return true })
	}
	if len(r.refs) < 1_000 {
		t.Fatalf("only %d rows", len(r.refs))
	}
	places := make(map[string]uint32)
	for _, ref := range r.refs {
		tokens := r.of(ref)
		if !slices.IsSortedFunc(tokens, func(a, b uint32) int { return int(b) - int(a) }) {
			t.Fatalf("%v is not in order", tokens)
		}
		key := fmt.Sprint(tokens)
		if at, known := places[key]; known && at != ref.at {
			t.Fatalf("%v are two groups", tokens)
		}
		places[key] = ref.at
	}
}

func TestTailShowsNoMoreThanWasAskedFor(t *testing.T) {
	l := newTail(minTail)
	for i := range 5 {
		l.add([]uint32{7, 3}, owner(i))
	}
	in := make(set, 8)
	in[7], in[3] = 1, 1
	for n := range uint32(6) {
		hits := l.match(7, n, in, nil)
		if len(hits) != int(n) || n > 0 && hits[0] != n-1 {
			t.Errorf("of %d: %v", n, hits)
		}
	}
}
