package index

import "slices"

// code is the conjunctions of blocks, each without its rarest token:
//
//	head     tokens of the longest conjunction, times two; one more if the
//	         first group has only the rarest token, and is not written down
//	begins   for each column but the first: the first row that is so long,
//	         lower half, upper half
//	tokens   column by column, of which a longer conjunction has more
//
// Rows are ordered by length, so that those that a column has are the last.
type code[T uint16 | uint32] []T

// line is how many of the smallest tokens come from memory at once.
const line = 32

// fetch reads from blocks that start between split and the end of c what the
// processor would not fetch ahead by itself, and returns anything.
//
//go:noinline
func (c code[T]) fetch(some []span, split uint32) (fetched uint32) {
	if len(c) == 0 {
		return 0
	}
	for i := range some {
		from := uint64(some[i].start - split)
		if from >= uint64(len(c)) {
			continue
		}
		last := from + uint64(min(some[i].groups+line/2, some[i].end-some[i].start)) - 1
		fetched += uint32(c[from]) + uint32(c[min(from+line, last)]) + uint32(c[min(from+2*line, last)]) + uint32(c[last])
	}
	return fetched
}

// begin reads where the rows of a column begin, the second one being 0.
func (c code[T]) begin(column int) uint32 {
	b := c[1+2*column:][:2]
	return uint32(b[0]) | uint32(b[1])<<16
}

// match appends to hits the groups of a block whose tokens are all in a set.
func (c code[T]) match(first, groups uint32, in set, hits []uint32) []uint32 {
	columns := int(c[0] >> 1)
	if c[0]&1 != 0 {
		hits = append(hits, first)
		first++
		groups--
	}
	if columns == 0 {
		return hits
	}
	was := len(hits)
	hits = slices.Grow(hits, int(groups))
	n := was + choose(c[2*columns-1:][:groups], first, in, hits[was:cap(hits)])
	if columns == 1 || n == was {
		return hits[:n]
	}
	return c.longer(columns, first, groups, in, hits[:n], was)
}

// longer looks at the other columns for those of the block's hits that have
// them, which are the last, and takes those back that fail. The block's hits are
// those from was.
func (c code[T]) longer(columns int, first, rows uint32, in set, hits []uint32, was int) []uint32 {
	at := uint32(2*columns-1) + rows
	for column := range columns - 1 {
		begin := c.begin(column)
		n := len(hits)
		for n > was && hits[n-1] >= first+begin {
			n--
		}
		if n == len(hits) {
			break // nor is any so long that it has the next column
		}
		hits = hits[:n+keep(c[at:][:rows-begin], first+begin, in, hits[n:])]
		at += rows - begin
	}
	return hits
}

// choose writes to hits the numbers, from first on, of those tokens that are in
// a set, and returns how many. There must be room for all. It has no branch:
// whether a token is there cannot be foreseen, and a wrong guess costs as much
// as ten of them. As part of a larger function it would run out of registers.
//
//go:noinline
func choose[T uint16 | uint32](tokens []T, first uint32, in set, hits []uint32) (n int) {
	in = reach[T](in)
	for i, t := range tokens {
		hits[n] = first + uint32(i)
		n += int(in[t])
	}
	return n
}

// keep keeps those hits whose token is in a set, and returns how many. The first
// token is that of the row with number first.
//
//go:noinline
func keep[T uint16 | uint32](tokens []T, first uint32, in set, hits []uint32) (n int) {
	in = reach[T](in)
	for _, hit := range hits {
		hits[n] = hit
		n += int(in[tokens[hit-first]])
	}
	return n
}

// reach returns what a token of type T can reach of a set, so that the compiler
// sees that nothing is beyond its end.
func reach[T uint16 | uint32](in set) set {
	if uint32(^T(0)) < lows {
		return in[:lows]
	}
	return in
}

// gather yields each group of a block with its tokens, of which the first is
// there already.
func (c code[T]) gather(first, groups uint32, tokens *[maxRow]uint32, yield func(group uint32, n int)) {
	columns := uint32(c[0] >> 1)
	if c[0]&1 != 0 {
		yield(first, 1)
		first++
		groups--
	}
	for row := range groups {
		column := 2*columns - 1
		tokens[1] = uint32(c[column+row])
		n, at := 2, column+groups
		for ; n <= int(columns); n++ {
			begin := c.begin(n - 2)
			if row < begin {
				break
			}
			tokens[n] = uint32(c[at+row-begin])
			at += groups - begin
		}
		yield(first+row, n)
	}
}
