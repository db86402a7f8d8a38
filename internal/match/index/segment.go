package index

import "math/bits"

// segment is conjunctions and their owners, laid out to be read once from front
// to back for each token of an entry. It never changes.
//
// Conjunctions with one rarest token make a block; groups are numbered as they
// stand there. The rarest token has the greatest number, so that where it is
// below lows all are: nearly all blocks of an index that is packed are written
// in 16 bits a token, which halves what comes from memory.
type segment struct {
	level  int
	access []rank
	blocks []block // by rank of the rarest token; the last one only ends the others
	low    code[uint16]
	high   code[uint32]
	owners []uint32 // by group: its only owner, or many and a place in shared
	shared []uint32 // a number of owners, then these
	total  int      // owners
}

// lows is how many tokens have numbers that fit into 16 bits.
const lows = 1 << 16

// block is where a block begins: in low, or behind its end in high.
type block struct {
	start uint32
	first uint32 // group
}

const many = 1 << 31

// rank is a part of a bitmap, and how many bits are set before it.
type rank struct {
	bits   uint64
	before uint32
}

// rank returns the place of a token's block in blocks.
func (s *segment) rank(token uint32) (place uint32, ok bool) {
	i := int(token / 64)
	if i >= len(s.access) {
		return 0, false
	}
	r := &s.access[i]
	bit := uint64(1) << (token % 64)
	return r.before + uint32(bits.OnesCount64(r.bits&(bit-1))), r.bits&bit != 0
}

// owned returns the owners of a group.
func (s *segment) owned(group uint32) []uint32 {
	o := s.owners[group]
	if o&many == 0 {
		return s.owners[group : group+1]
	}
	at := o &^ many
	return s.shared[at+1:][:s.shared[at]]
}

// set is a set of tokens: 1 for those that are in it. A byte is read in fewer
// steps than a bit, and the tokens that are asked most have low numbers, so
// that the part of it that is read stays in the nearest cache.
type set []uint8

func (s set) has(t uint32) bool { return s[t] != 0 }

// span is what a block takes.
type span struct{ start, end, first, groups uint32 }

func (s *segment) span(place uint32) span {
	b := s.blocks[place:][:2]
	return span{start: b[0].start, end: b[1].start, first: b[0].first, groups: b[1].first - b[0].first}
}

// search looks at blocks some at a time. Every block is somewhere else in
// memory, and waiting for it takes longer than looking at it: so first all are
// fetched, and none waits for another.
type search struct {
	some    [64]span
	fetched uint32 // so that the compiler does not leave reading out
}

// match appends to hits the groups of s whose tokens are all in a set, which
// has words and nothing else.
func (b *search) match(s *segment, words []uint32, in set, hits []uint32) []uint32 {
	split := uint32(len(s.low))
	for len(words) > 0 {
		some := words[:min(len(words), len(b.some))]
		words = words[len(some):]
		n := 0
		for _, t := range some {
			if place, ok := s.rank(t); ok {
				b.some[n] = s.span(place)
				n++
			}
		}
		b.fetched += s.low.fetch(b.some[:n], 0) + s.high.fetch(b.some[:n], split)
		for i := range n {
			if at := &b.some[i]; at.start < split {
				hits = s.low[at.start:at.end].match(at.first, at.groups, in, hits)
			} else {
				hits = s.high[at.start-split:at.end-split].match(at.first, at.groups, in, hits)
			}
		}
	}
	return hits
}
