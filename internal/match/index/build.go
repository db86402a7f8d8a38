package index

import (
	"math/bits"
	"sort"
)

// build makes a segment of rows, which it sorts. It returns nil for none.
func build(r *rows, level int) *segment {
	if len(r.refs) == 0 {
		return nil
	}
	r.sort()
	b := builder{rows: r, seg: &segment{level: level, total: len(r.refs)}}
	b.measure()
	for from := 0; from < len(r.refs); {
		from = b.block(from)
	}
	b.mark()
	return b.seg
}

type builder struct {
	rows  *rows
	seg   *segment
	group []rowRef // one of each conjunction of the block
}

// measure makes room for exactly what the segment will have.
func (b *builder) measure() {
	refs, s := b.rows.refs, b.seg
	var groups, shared, blocks, low, high, size int
	for i, run := 0, 0; i < len(refs); i += run {
		run = b.run(i)
		size += refs[i].n() - 1
		groups++
		if run > 1 {
			shared += run + 1
		}
		if next := i + run; next < len(refs) && refs[next].access() == refs[i].access() {
			continue
		}
		size += heading(refs[i].n() - 1) // the longest of a block is the last
		if refs[i].access() < lows {
			low += size
		} else {
			high += size
		}
		size = 0
		blocks++
	}
	s.access = make([]rank, refs[len(refs)-1].access()/64+1)
	s.blocks = make([]block, 0, blocks+1)
	s.low, s.high = make([]uint16, 0, low), make([]uint32, 0, high)
	s.owners = make([]uint32, 0, groups)
	s.shared = make([]uint32, 0, shared)
}

// run is how many refs from i on are one conjunction.
func (b *builder) run(i int) int {
	refs := b.rows.refs
	n := 1
	for i+n < len(refs) && b.rows.same(refs[i], refs[i+n]) {
		n++
	}
	return n
}

// block writes the block that begins at from and returns where the next does.
func (b *builder) block(from int) (next int) {
	refs, s := b.rows.refs, b.seg
	access := refs[from].access()
	b.enter(access)
	b.group = b.group[:0]
	for next = from; next < len(refs) && refs[next].access() == access; {
		run := b.run(next)
		b.own(refs[next : next+run])
		b.group = append(b.group, refs[next])
		next += run
	}
	if access < lows {
		s.low = appendBlock(s.low, b.rows, b.group)
	} else {
		s.high = appendBlock(s.high, b.rows, b.group)
	}
	return next
}

// enter notes that the next block is that of a token.
func (b *builder) enter(token uint32) {
	s := b.seg
	r := &s.access[token/64]
	if r.bits == 0 {
		r.before = uint32(len(s.blocks))
	}
	r.bits |= 1 << (token % 64)
	b.mark()
}

// mark notes where the next block begins, or that there is none.
func (b *builder) mark() {
	s := b.seg
	s.blocks = append(s.blocks, block{start: uint32(len(s.low) + len(s.high)), first: uint32(len(s.owners))})
}

// own writes the owners of a group.
func (b *builder) own(refs []rowRef) {
	s := b.seg
	if len(refs) == 1 {
		s.owners = append(s.owners, uint32(refs[0].owner))
		return
	}
	s.owners = append(s.owners, many|uint32(len(s.shared)))
	s.shared = append(s.shared, uint32(len(refs)))
	for _, ref := range refs {
		s.shared = append(s.shared, uint32(ref.owner))
	}
}

// heading is how much a block has before its tokens.
func heading(columns int) int { return max(1, 2*columns-1) }

// appendBlock writes conjunctions that are in order; see code.
func appendBlock[T uint16 | uint32](c code[T], rows *rows, group []rowRef) code[T] {
	columns := group[len(group)-1].n() - 1
	head := T(columns) << 1
	if group[0].n() == 1 {
		group = group[1:]
		head++
	}
	c = append(c, head)
	for column := 2; column <= columns; column++ {
		begin := longFrom(group, column)
		c = append(c, T(begin&0xFFFF), T(begin>>16))
	}
	for column := 1; column <= columns; column++ {
		for _, ref := range group[longFrom(group, column):] {
			c = append(c, T(rows.tokens[int(ref.at)+column]))
		}
	}
	return c
}

// longFrom returns where conjunctions begin that have a column.
func longFrom(group []rowRef, column int) int {
	return sort.Search(len(group), func(i int) bool { return group[i].n() > column })
}

// gather adds the conjunctions of s to rows, with the owners that keep holds.
func (s *segment) gather(r *rows, keep func(owner) bool) {
	var tokens [maxRow]uint32
	var owners []owner
	for i := range s.access {
		rank := &s.access[i]
		start := rank.before
		for left := rank.bits; left != 0; left &= left - 1 {
			tokens[0] = uint32(i*64 + bits.TrailingZeros64(left))
			s.gatherBlock(start, &tokens, func(group uint32, n int) {
				owners = owners[:0]
				for _, o := range s.owned(group) {
					if keep(owner(o)) {
						owners = append(owners, owner(o))
					}
				}
				if len(owners) > 0 {
					r.add(tokens[:n], owners...)
				}
			})
			start++
		}
	}
}

func (s *segment) gatherBlock(place uint32, tokens *[maxRow]uint32, yield func(group uint32, n int)) {
	at, split := s.span(place), uint32(len(s.low))
	if at.start < split {
		s.low[at.start:at.end].gather(at.first, at.groups, tokens, yield)
	} else {
		s.high[at.start-split:at.end-split].gather(at.first, at.groups, tokens, yield)
	}
}
