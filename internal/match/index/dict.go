package index

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync/atomic"
)

// dict numbers tokens, from 0. One goroutine adds, any number look up.
type dict struct {
	table atomic.Pointer[table]
	count atomic.Uint32
	units atomic.Uint32 // tokens with markUnit
}

// table is an open hash table. A full one is replaced.
type table struct {
	slots []slot
	rest  []uint64 // of tokens beyond sixteen bytes
	used  int      // of rest
}

// slot is a token and its number, or zeros. It is read at once from memory, as
// the rest of longer tokens, which are few, is not.
type slot struct {
	header uint64 // length in the upper half, which is never 0, and number
	head   [2]uint64
	rest   uint64 // a place in the table's rest
}

func newDict(tokens, rest int) *dict {
	d := &dict{}
	d.table.Store(newTable(tokens, rest))
	return d
}

// newTable has room for a number of tokens, and of eights in rest.
func newTable(tokens, rest int) *table {
	size := 128
	for tokensFor(size) < tokens {
		size *= 2
	}
	return &table{slots: make([]slot, size), rest: make([]uint64, max(rest, 64))}
}

// tokensFor is how many tokens a number of slots takes. Words that nobody asks
// are looked for until an empty slot is found, and that should be near.
func tokensFor(slots int) int { return slots * 5 / 8 }

// find returns the number of a token.
func (d *dict) find(text []byte, t *token) (id uint32, ok bool) {
	header := d.table.Load().find(text, t)
	return uint32(header), header != 0
}

// find returns the header of a token's slot, or 0.
//
//go:noinline
func (t *table) find(text []byte, tok *token) uint64 {
	mask := uint64(len(t.slots) - 1)
	for i := tok.hash; ; i++ {
		s := &t.slots[i&mask]
		header := atomic.LoadUint64(&s.header) // before the rest of s, which is written first
		if header == 0 || header>>32 == uint64(tok.n) && s.head == tok.head && (tok.n <= heads || t.sameRest(s, text, tok)) {
			return header
		}
	}
}

// sameRest compares what is beyond sixteen bytes.
func (t *table) sameRest(s *slot, text []byte, tok *token) bool {
	var b [8]byte
	long := text[tok.from+heads : tok.from+tok.n]
	for _, v := range t.rest[s.rest:][:eights(tok.n)] {
		binary.LittleEndian.PutUint64(b[:], v)
		n := min(8, len(long))
		if !bytes.Equal(b[:n], long[:n]) {
			return false
		}
		long = long[n:]
	}
	return true
}

// eights is how much of rest a token of n bytes takes.
func eights(n uint32) int { return int(max(n, heads)-heads+7) / 8 }

// intern returns the number of a token, a new one if need be.
func (d *dict) intern(text []byte, t *token) uint32 {
	if id, ok := d.find(text, t); ok {
		return id
	}
	id := d.count.Load()
	tab, need := d.table.Load(), eights(t.n)
	if count := int(id) + 1; count > tokensFor(len(tab.slots)) || tab.used+need > len(tab.rest) {
		tab = tab.grown(count, need)
		d.table.Store(tab)
	}
	if byte(t.head[0]) == markUnit {
		d.units.Add(1)
	}
	d.count.Store(id + 1) // before it is found: whoever finds it has room for it
	tab.add(text, t, id)
	return id
}

func (t *table) add(text []byte, tok *token, id uint32) {
	s := slot{head: tok.head, rest: uint64(t.used)}
	for from := heads; from < int(tok.n); from += 8 {
		t.rest[t.used] = binary.LittleEndian.Uint64(text[int(tok.from)+from:]) & low(min(int(tok.n)-from, 8))
		t.used++
	}
	t.put(tok.hash, uint64(tok.n)<<32|uint64(id), s)
}

// put stores the header last: who reads it finds everything else there.
func (t *table) put(hash, header uint64, s slot) {
	mask := uint64(len(t.slots) - 1)
	i := hash
	for t.slots[i&mask].header != 0 {
		i++
	}
	to := &t.slots[i&mask]
	to.head, to.rest = s.head, s.rest
	atomic.StoreUint64(&to.header, header)
}

// grown copies t into a larger one with room for need more in rest.
func (t *table) grown(tokens, need int) *table {
	rest := len(t.rest)
	if t.used+need > rest {
		rest = rest*3/2 + need
	}
	g := newTable(tokens+tokens/4, rest)
	g.used = copy(g.rest, t.rest[:t.used])
	var buf []byte
	for i := range t.slots {
		if s := t.slots[i]; s.header != 0 {
			var tok token
			buf, tok = t.token(i, buf)
			g.put(tok.hash, s.header, s)
		}
	}
	return g
}

// token reads the token of a slot, into buf.
func (t *table) token(i int, buf []byte) ([]byte, token) {
	s := &t.slots[i]
	n := uint32(s.header >> 32)
	b := slices.Grow(buf[:0], int(n)+2*pad)
	b = binary.LittleEndian.AppendUint64(b, s.head[0])
	b = binary.LittleEndian.AppendUint64(b, s.head[1])
	for _, v := range t.rest[s.rest:][:eights(n)] {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	b = append(b, padding...)
	return b, tokenAt(b, 0, int(n))
}

// places returns the slot of each number.
func (t *table) places(count int) []uint32 {
	places := make([]uint32, count)
	for i := range t.slots {
		if header := t.slots[i].header; header != 0 {
			places[uint32(header)] = uint32(i)
		}
	}
	return places
}

// batch is how many tokens are looked up at once.
const batch = 64

// fetch reads what find will need of the first tokens, so that none waits for
// another. As part of a larger function it would run out of registers.
//
//go:noinline
func (t *table) fetch(tokens []token) {
	mask := uint64(len(t.slots) - 1)
	for i := range tokens[:min(len(tokens), batch)] {
		atomic.LoadUint64(&t.slots[tokens[i].hash&mask].header) // atomic, so that the compiler does not leave it out
	}
}

// findAll appends the numbers of those tokens that are there.
func (t *table) findAll(text []byte, tokens []token, ids []uint32) []uint32 {
	for len(tokens) > 0 {
		some := tokens[:min(len(tokens), batch)]
		t.fetch(some)
		for i := range some {
			if header := t.find(text, &some[i]); header != 0 {
				ids = append(ids, uint32(header))
			}
		}
		tokens = tokens[len(some):]
	}
	return ids
}
