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

// TestTokensBeyondTheLowOnes numbers words around the end of what is written in
// half the memory.
func TestTokensBeyondTheLowOnes(t *testing.T) {
	p := newPair(t)
	var s scan
	for i := range lows - 12 {
		word := fmt.Sprint("filler", i)
		s.words(word)
		s.cut(len(word))
		p.index.plan.dict.intern(s.text, &s.tokens[0])
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for range 3_000 {
		p.insert(randomInterest(rng))
	}
	var low, high int
	for _, seg := range p.index.now.Load().plain.segments {
		low, high = low+len(seg.low), high+len(seg.high)
	}
	if low == 0 || high == 0 {
		t.Fatalf("%d tokens in 16 bits and %d in 32 are no test", low, high)
	}
	found := 0
	for i := range 100 {
		if i == 50 {
			p.index.Compact()
		}
		found += p.check(randomDoc(rng))
	}
	if found == 0 {
		t.Fatal("nothing matches")
	}
}
