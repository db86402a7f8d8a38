package index

import "math/bits"

// segment is conjunctions and their owners, laid out to be read once from front
// to back for each token of an entry. It never changes.
//
// Conjunctions with one rarest token make a block of code:
//
//	first    number of the block's first group
//	rows     conjunctions of two tokens and more; bit 31: one of one token too
//	columns  tokens of the longest conjunction, without the rarest
//	begins   for each column but the first: the first row that is so long
//	tokens   column by column
//
// Groups are numbered as they stand: that of one token, then the rows.
type segment struct {
	level  int
	access []rank
	starts []uint32 // of blocks in code, by rank of the rarest token
	code   []uint32
	owners []uint32 // by group: its only owner, or many and a place in shared
	shared []uint32 // a number of owners, then these
	total  int      // owners
}

const (
	single = 1 << 31
	many   = 1 << 31
)

// rank is a part of a bitmap, and how many bits are set before it.
type rank struct {
	bits   uint64
	before uint32
}

// block returns where the block of a token starts in code.
func (s *segment) block(token uint32) (start uint32, ok bool) {
	i := int(token / 64)
	if i >= len(s.access) {
		return 0, false
	}
	r := &s.access[i]
	bit := uint64(1) << (token % 64)
	if r.bits&bit == 0 {
		return 0, false
	}
	return s.starts[int(r.before)+bits.OnesCount64(r.bits&(bit-1))], true
}

// bitmap is a set of tokens.
type bitmap []uint64

func (b bitmap) has(t uint32) bool { return b[t/64]>>(t%64)&1 != 0 }

// match appends to hits the groups of the block at start whose tokens are all
// in set. The first column is tested without a branch: whether a row matches
// cannot be foreseen, and a wrong guess costs as much as ten rows.
func (s *segment) match(start uint32, set bitmap, hits []uint32) []uint32 {
	first, rows, columns := s.code[start], s.code[start+1], s.code[start+2]
	if rows&single != 0 {
		hits = append(hits, first)
		first++
		rows &^= single
	}
	if rows == 0 {
		return hits
	}
	was := len(hits)
	n := was
	hits = room(hits, int(rows))
	column := s.code[start+2+columns:][:rows]
	for i, t := range column {
		hits[n] = first + uint32(i)
		n += int(set[t/64] >> (t % 64) & 1)
	}
	if columns == 1 || n == was {
		return hits[:n]
	}
	return s.longer(start, first, set, hits[:n], was)
}

// room returns hits with as many more to overwrite, and one.
func room(hits []uint32, more int) []uint32 {
	if n := len(hits) + more + 1; n <= cap(hits) {
		return hits[:n]
	}
	return append(hits, make([]uint32, more+1)...)
}

// longer looks at the other columns for those of the block's hits that have
// them, which are the last, and takes those back that fail. The block's hits are
// those from was.
func (s *segment) longer(start, first uint32, set bitmap, hits []uint32, was int) []uint32 {
	columns := s.code[start+2]
	begins := s.code[start+3:][:columns-1]
	from := len(hits)
	for from > was && hits[from-1] >= first+begins[0] {
		from--
	}
	rows := s.code[start+1] &^ single
	n := from
next:
	for _, hit := range hits[from:] {
		at := start + 2 + columns + rows
		for _, begin := range begins {
			row := hit - first
			if row < begin {
				break
			}
			if !set.has(s.code[at+row-begin]) {
				continue next
			}
			at += rows - begin
		}
		hits[n] = hit
		n++
	}
	return hits[:n]
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
