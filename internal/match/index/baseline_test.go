package index

import (
	"testing"

	"github.com/feedring/feedring"
)

// flat is the workload's conjunctions as the plain algorithms want them: token
// numbers, one conjunction behind the other, equal ones not joined.
type flat struct {
	dict   *dict
	tokens []uint32
	ends   []uint32
}

func flatten(subs int) *flat {
	f := &flat{dict: newDict(0, 0)}
	w, p := newWorkload(1), planner{dict: f.dict}
	for range subs {
		in := w.interest()
		if _, err := p.plain(&in); err != nil {
			panic(err)
		}
		row := p.intern()
		f.tokens = append(f.tokens, row...)
		f.ends = append(f.ends, uint32(len(f.tokens)))
	}
	return f
}

var flatOnce *flat

func loadFlat(subs int) *flat {
	if flatOnce == nil || len(flatOnce.ends) != subs {
		flatOnce = flatten(subs)
	}
	return flatOnce
}

// naive looks at every conjunction.
func (f *flat) naive(in set) (matches int) {
	from := uint32(0)
next:
	for _, end := range f.ends {
		tokens := f.tokens[from:end]
		from = end
		for _, t := range tokens {
			if !in.has(t) {
				continue next
			}
		}
		matches++
	}
	return matches
}

// counting is an inverted index: for each token, the conjunctions that have it,
// which are counted.
type counting struct {
	lists [][]uint32
	need  []uint8
	have  []uint8
	hit   []uint32
}

func newCounting(f *flat) *counting {
	c := &counting{lists: make([][]uint32, f.dict.count.Load())}
	c.need, c.have = make([]uint8, len(f.ends)), make([]uint8, len(f.ends))
	from := uint32(0)
	for i, end := range f.ends {
		for _, t := range f.tokens[from:end] {
			c.lists[t] = append(c.lists[t], uint32(i))
		}
		c.need[i] = uint8(end - from)
		from = end
	}
	return c
}

func (c *counting) match(words []uint32) (matches int) {
	c.hit = c.hit[:0]
	for _, t := range words {
		for _, i := range c.lists[t] {
			if c.have[i] == 0 {
				c.hit = append(c.hit, i)
			}
			c.have[i]++
		}
	}
	for _, i := range c.hit {
		if c.have[i] == c.need[i] {
			matches++
		}
		c.have[i] = 0
	}
	return matches
}

// BenchmarkMatchNaive looks at all subscriptions for each entry.
func BenchmarkMatchNaive(b *testing.B) {
	each(b, 1_000_000, func(b *testing.B, l *loaded) func(e *feedring.Entry) int {
		f := loadFlat(l.subs)
		var m Matcher
		return func(e *feedring.Entry) int {
			m.readAlone(e, f.dict)
			return f.naive(m.set)
		}
	})
}

// BenchmarkMatchCounting counts for each subscription how many of its words an
// entry has.
func BenchmarkMatchCounting(b *testing.B) {
	each(b, 1_000_000, func(b *testing.B, l *loaded) func(e *feedring.Entry) int {
		f := loadFlat(l.subs)
		c := newCounting(f)
		var m Matcher
		return func(e *feedring.Entry) int {
			m.readAlone(e, f.dict)
			return c.match(m.words)
		}
	})
}

// readAlone reads an entry's tokens, after forgetting those of the last.
func (m *Matcher) readAlone(e *feedring.Entry, dict *dict) {
	for _, t := range m.words {
		m.set[t] = 0
	}
	d := docOf(e)
	m.read(&d, dict)
}

// TestBaselines holds the algorithms that ours is compared with against it.
func TestBaselines(t *testing.T) {
	f := flatten(20_000)
	c := newCounting(f)
	ix, w := New(), newWorkload(1)
	for range 20_000 {
		if _, err := ix.Insert(w.interest()); err != nil {
			t.Fatal(err)
		}
	}
	m := ix.NewMatcher()
	var other Matcher
	found := 0
	for _, words := range []int{20, 61, 637} {
		e := w.entry(words)
		d := docOf(e)
		m.Match(&d)
		want := len(m.Append(nil))
		other.readAlone(e, f.dict)
		if naive, counted := f.naive(other.set), c.match(other.words); naive != want || counted != want {
			t.Errorf("%d words: %d found, the naive scan %d, counting %d", words, want, naive, counted)
		}
		found += want
	}
	if found < 500 {
		t.Errorf("only %d found", found)
	}
}
