package index

import "slices"

// Limits that the layout of keys sets.
const (
	maxTokens = 1<<28 - 1 // numbers of tokens
	maxRow    = 255       // tokens of a conjunction; the rest is left to a rule
)

// owner is who wants a conjunction: a subscription, or the number of a rule.
type owner uint32

// rowRef is one owner's conjunction on its way into a segment. The key orders
// rows as segments need them: by rarest token, then by length, then by the next
// token. The tokens are rows.tokens[at:], the rarest first.
type rowRef struct {
	key   uint64
	at    uint32
	owner owner
}

func (r rowRef) access() uint32 { return uint32(r.key >> 36) }
func (r rowRef) n() int         { return int(r.key >> 28 & 0xFF) }

func rowKey(tokens []uint32) uint64 {
	key := uint64(tokens[0])<<36 | uint64(len(tokens))<<28
	if len(tokens) > 1 {
		key |= uint64(tokens[1])
	}
	return key
}

// rows collects conjunctions for a segment.
type rows struct {
	refs   []rowRef
	tokens []uint32
}

// roomFor returns rows with room for segments and some more conjunctions.
func roomFor(segments []*segment, more int) rows {
	refs, tokens := more, 4*more
	for _, s := range segments {
		refs += s.total
		tokens += len(s.low) + len(s.high) + len(s.blocks)
	}
	return rows{refs: make([]rowRef, 0, refs), tokens: make([]uint32, 0, tokens)}
}

func (r *rows) of(ref rowRef) []uint32 { return r.tokens[ref.at:][:ref.n()] }

// add appends a conjunction's tokens, which sorted holds, and returns its place.
func (r *rows) add(tokens []uint32, owners ...owner) {
	ref := rowRef{key: rowKey(tokens), at: uint32(len(r.tokens))}
	r.tokens = append(r.tokens, tokens...)
	for _, o := range owners {
		ref.owner = o
		r.refs = append(r.refs, ref)
	}
}

// descending sorts and compacts a conjunction in place, the rarest token first.
func descending(tokens []uint32) []uint32 {
	for i := 1; i < len(tokens); i++ {
		for j := i; j > 0 && tokens[j] > tokens[j-1]; j-- {
			tokens[j], tokens[j-1] = tokens[j-1], tokens[j]
		}
	}
	return slices.Compact(tokens)
}

// sort orders the rows: equal conjunctions stand beside each other.
func (r *rows) sort() {
	r.refs = radix(r.refs)
	for from := 0; from < len(r.refs); {
		to := from + 1
		for to < len(r.refs) && r.refs[to].key == r.refs[from].key {
			to++
		}
		if to-from > 1 && r.refs[from].n() > 2 {
			slices.SortFunc(r.refs[from:to], func(a, b rowRef) int {
				if a.at == b.at {
					return 0
				}
				return slices.Compare(r.of(a)[2:], r.of(b)[2:])
			})
		}
		from = to
	}
}

// same reports whether two refs are one conjunction.
func (r *rows) same(a, b rowRef) bool {
	return a.key == b.key && (a.at == b.at || a.n() <= 2 || slices.Equal(r.of(a)[2:], r.of(b)[2:]))
}

// radix sorts by key, byte by byte, without those that are all equal.
func radix(refs []rowRef) []rowRef {
	var counts [8][256]uint32
	for _, ref := range refs {
		for i := range counts {
			counts[i][byte(ref.key>>(8*i))]++
		}
	}
	other := make([]rowRef, len(refs))
	for i := range counts {
		if len(refs) == 0 || counts[i][byte(refs[0].key>>(8*i))] == uint32(len(refs)) {
			continue
		}
		sum := uint32(0)
		for b, n := range counts[i] {
			counts[i][b] = sum
			sum += n
		}
		for _, ref := range refs {
			place := &counts[i][byte(ref.key>>(8*i))]
			other[*place] = ref
			*place++
		}
		refs, other = other, refs
	}
	return refs
}
