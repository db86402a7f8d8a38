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

// set is a set of tokens: 1 for those that are in it. A byte is read in fewer
// steps than a bit, and the tokens that are asked most have low numbers, so
// that the part of it that is read stays in the nearest cache.
type set []uint8

func (s set) has(t uint32) bool { return s[t] != 0 }

// header is how a block begins.
type header struct {
	start                uint32
	first, rows, columns uint32
}

// column returns where the tokens of the first column are.
func (h *header) column() uint32 { return h.start + 2 + h.columns }

// blocks looks at blocks some at a time. Every block is somewhere else in
// memory, and waiting for it takes longer than looking at it: so first all are
// fetched, and none waits for another.
type blocks struct {
	some    [64]header
	fetched uint32 // so that the compiler does not leave reading out
}

// match appends to hits the groups of s whose tokens are all in a set, which
// has words and nothing else.
func (b *blocks) match(s *segment, words []uint32, in set, hits []uint32) []uint32 {
	for len(words) > 0 {
		some := words[:min(len(words), len(b.some))]
		words = words[len(some):]
		n := 0
		for _, t := range some {
			if start, ok := s.block(t); ok {
				b.some[n].start = start
				n++
			}
		}
		b.fetch(s, b.some[:n])
		for i := range n {
			hits = s.match(&b.some[i], in, hits)
		}
	}
	return hits
}

// fetch reads the headers, and of the first columns what the processor would
// not fetch ahead by itself.
func (b *blocks) fetch(s *segment, some []header) {
	for i := range some {
		h := &some[i]
		code := s.code[h.start:][:3]
		h.first, h.rows, h.columns = code[0], code[1], code[2]
	}
	const line = 16
	for i := range some {
		h := &some[i]
		if rows := h.rows &^ single; rows > line {
			b.fetched += s.code[h.column()+line] + s.code[h.column()+rows-1]
		}
	}
}

// match appends to hits the groups of a block whose tokens are all in a set. The
// first column is tested without a branch: whether a row matches cannot be
// foreseen, and a wrong guess costs as much as ten rows.
func (s *segment) match(h *header, in set, hits []uint32) []uint32 {
	first, rows := h.first, h.rows
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
	for i, t := range s.code[h.column():][:rows] {
		hits[n] = first + uint32(i)
		n += int(in[t])
	}
	if h.columns == 1 || n == was {
		return hits[:n]
	}
	return s.longer(h, first, in, hits[:n], was)
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
func (s *segment) longer(h *header, first uint32, in set, hits []uint32, was int) []uint32 {
	column := h.column() + h.rows&^single
	for _, begin := range s.code[h.start+3:][:h.columns-1] {
		n := len(hits)
		for n > was && hits[n-1] >= first+begin {
			n--
		}
		if n == len(hits) {
			break // nor is any so long that it has the next column
		}
		tokens := s.code[column-begin:][:h.rows&^single]
		for _, hit := range hits[n:] {
			hits[n] = hit
			n += int(in[tokens[hit-first]])
		}
		hits = hits[:n]
		column += h.rows&^single - begin
	}
	return hits
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
