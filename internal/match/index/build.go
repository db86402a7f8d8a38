package index

import "math/bits"

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
	var code, groups, shared, blocks, columns int
	for i, run := 0, 0; i < len(refs); i += run {
		run = b.run(i)
		if i > 0 && refs[i].access() != refs[i-1].access() {
			code += max(columns, 1) + 2
			columns = 0
			blocks++
		}
		columns = max(columns, refs[i].n()-1)
		code += refs[i].n() - 1
		groups++
		if run > 1 {
			shared += run + 1
		}
	}
	code += max(columns, 1) + 2
	last := refs[len(refs)-1].access()
	s.access = make([]rank, last/64+1)
	s.starts = make([]uint32, 0, blocks+1)
	s.code = make([]uint32, 0, code)
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
	first := uint32(len(s.owners))
	b.group = b.group[:0]
	for next = from; next < len(refs) && refs[next].access() == access; {
		run := b.run(next)
		b.own(refs[next : next+run])
		b.group = append(b.group, refs[next])
		next += run
	}
	b.layout(first)
	return next
}

// enter notes that the next block is that of a token.
func (b *builder) enter(token uint32) {
	s := b.seg
	r := &s.access[token/64]
	if r.bits == 0 {
		r.before = uint32(len(s.starts))
	}
	r.bits |= 1 << (token % 64)
	s.starts = append(s.starts, uint32(len(s.code)))
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

// layout writes header and columns of the block's conjunctions.
func (b *builder) layout(first uint32) {
	s, group := b.seg, b.group
	columns := group[len(group)-1].n() - 1
	rows := uint32(len(group))
	if group[0].n() == 1 {
		group = group[1:]
		rows = uint32(len(group)) | single
	}
	s.code = append(s.code, first, rows, uint32(columns))
	begin := 0
	for column := 2; column <= columns; column++ {
		for group[begin].n() <= column {
			begin++
		}
		s.code = append(s.code, uint32(begin))
	}
	begin = 0
	for column := 1; column <= columns; column++ {
		for group[begin].n() <= column {
			begin++
		}
		for _, ref := range group[begin:] {
			s.code = append(s.code, b.rows.tokens[int(ref.at)+column])
		}
	}
}

// gather adds the conjunctions of s to rows, with the owners that keep holds.
func (s *segment) gather(r *rows, keep func(owner) bool) {
	var tokens [maxRow]uint32
	var owners []owner
	for i := range s.access {
		rank := &s.access[i]
		start := int(rank.before)
		for left := rank.bits; left != 0; left &= left - 1 {
			tokens[0] = uint32(i*64 + bits.TrailingZeros64(left))
			s.gatherBlock(s.starts[start], &tokens, func(group uint32, n int) {
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

// gatherBlock yields each group of a block with its tokens, of which the first
// is there already.
func (s *segment) gatherBlock(start uint32, tokens *[maxRow]uint32, yield func(group uint32, n int)) {
	first, rows, columns := s.code[start], s.code[start+1], s.code[start+2]
	if rows&single != 0 {
		yield(first, 1)
		first++
		rows &^= single
	}
	if rows == 0 {
		return
	}
	begins := s.code[start+3:][:columns-1]
	column := start + 2 + columns
	for row := range rows {
		tokens[1] = s.code[column+row]
		n, at := 2, column+rows
		for _, begin := range begins {
			if row < begin {
				break
			}
			tokens[n] = s.code[at+row-begin]
			at += rows - begin
			n++
		}
		yield(first+row, n)
	}
}
