package history

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"iter"
	"math/bits"
	"slices"

	"github.com/feedring/feedring/internal/store"
)

// A segment is made of the lists that there are already, those of the tail or of other
// segments: their documents get the numbers that they have in the new one. No text is read
// again.

// gone is the place of a document that is left out.
const gone = -1

// document is one of those that are joined.
type document struct {
	key        store.RowKey
	source, id int // where it is now, and its number there
}

// order sorts documents by key, what came later last, and returns their keys, each once, for
// each source the new number of each of its documents, and whether any key was there twice. Of
// such the last one stays. Documents whose rows went away are left out.
func (b *building) order(ctx context.Context, all []document, sizes ...int) (keys []store.RowKey, places [][]int32, twice bool, err error) {
	slices.SortFunc(all, func(a, b document) int {
		return cmp.Or(a.key.Compare(b.key), cmp.Compare(a.source, b.source), cmp.Compare(a.id, b.id))
	})
	for _, size := range sizes {
		places = append(places, make([]int32, size))
	}
	for i, d := range all {
		places[d.source][d.id] = gone
		twice = twice || i > 0 && all[i-1].key == d.key
	}
	for some := range slices.Chunk(all, readAtOnce) {
		err := b.store.Read(func(r *store.Reader) error {
			for _, d := range some {
				there, err := r.Has(d.key)
				if err != nil {
					return err
				}
				if !there {
					continue
				}
				if last := len(keys) - 1; last < 0 || keys[last] != d.key {
					keys = append(keys, d.key)
				}
				places[d.source][d.id] = int32(len(keys) - 1)
			}
			return ctx.Err()
		})
		if err != nil {
			return nil, nil, false, err
		}
	}
	for i := len(all) - 1; i > 0; i-- {
		if before := all[i-1]; before.key == all[i].key {
			places[before.source][before.id] = gone
		}
	}
	return keys, places, twice, nil
}

// fits reports whether keys fit into one segment with lists of a weight.
func (b *building) fits(keys []store.RowKey, weight int) bool {
	logs := newLogs()
	for _, k := range keys {
		logs.number(k)
	}
	return len(keys) <= b.limits.docs && len(logs.all) <= b.limits.logs && weight <= b.limits.weight
}

// addTail writes a segment of the tail, or several where it does not fit into one.
func (b *building) addTail(ctx context.Context, t *tail) error {
	all := make([]document, len(t.keys)) // nobody else adds to the tail
	for id, k := range t.keys {
		all[id] = document{k, 0, id}
	}
	keys, places, _, err := b.order(ctx, all, len(all))
	if err != nil || len(keys) == 0 {
		return err
	}
	if !b.fits(keys, t.lists.weight) {
		return b.addAll(ctx, keys)
	}
	j := joint{docs: len(keys)}
	return b.writeSegment(ctx, keys, t.lists.weight, func(yield func(posting, error) bool) {
		for p := range t.lists.postings() {
			if !j.add(p.gaps, places[0]) {
				yield(posting{}, errDamaged)
				return
			}
			if gaps := j.list(); len(gaps) > 0 && !yield(posting{p.token, gaps}, nil) {
				return
			}
		}
	})
}

// join writes a segment of several. Where two have the same row, or all do not fit into one,
// the rows are read again: of two lists for one row nobody knows which is of late, and one
// that is not may say that the row has a word which a search excludes.
func (b *building) join(ctx context.Context, old []*segment) error {
	var all []document
	var sizes []int
	weight := 0
	for source, s := range old {
		var keys []store.RowKey
		err := b.store.Read(func(r *store.Reader) (err error) {
			keys, err = view{s, r, nil}.all(keys)
			return err
		})
		if err != nil {
			return err
		}
		for id, k := range keys {
			all = append(all, document{k, source, id})
		}
		sizes, weight = append(sizes, len(keys)), weight+s.weight
	}
	keys, places, twice, err := b.order(ctx, all, sizes...)
	if err != nil || len(keys) == 0 {
		return err
	}
	if twice || !b.fits(keys, weight) {
		return b.addAll(ctx, keys)
	}
	return b.writeSegment(ctx, keys, weight, b.joined(old, places, len(keys)))
}

// joined gives the tokens of several segments in order, each with one list.
func (b *building) joined(old []*segment, places [][]int32, docs int) iter.Seq2[posting, error] {
	return func(yield func(posting, error) bool) {
		var from []*tokens
		for i, s := range old {
			from = append(from, &tokens{segment: s, place: places[i]})
		}
		j, err := joint{docs: docs}, error(nil)
		for token := []byte(nil); err == nil; {
			// Those that stand at the last token go on, and the least of all is the next.
			least := (*tokens)(nil)
			for _, t := range from {
				if bytes.Equal(t.token, token) && !t.done && err == nil {
					err = t.next(b.store)
				}
				if !t.done && (least == nil || bytes.Compare(t.token, least.token) < 0) {
					least = t
				}
			}
			if err != nil || least == nil {
				break
			}
			token = append(token[:0], least.token...)
			for _, t := range from {
				if !t.done && bytes.Equal(t.token, token) && !t.give(&j) {
					err = errDamaged
				}
			}
			if gaps := j.list(); err == nil && len(gaps) > 0 && !yield(posting{string(token), gaps}, nil) {
				return
			}
		}
		if err != nil {
			yield(posting{}, err)
		}
	}
}

// tokens reads a segment's tokens in order.
type tokens struct {
	*segment
	place []int32
	block int // the next to be read
	rest  decoder

	token, list []byte // where it stands
	bits        bool
	done        bool
}

// next goes to the next token, which is greater than the one before in what is no damage.
func (t *tokens) next(from *store.Store) error {
	if len(t.rest.rest) == 0 {
		if t.block == len(t.segment.tokens) {
			t.done = true
			return nil
		}
		err := from.Read(func(r *store.Reader) error {
			return read(r, blockKey(t.id, kindTokens, t.block), func(body []byte) error {
				t.rest = decoder{rest: bytes.Clone(body)}
				return nil
			})
		})
		if err != nil {
			return err
		}
		t.block++
	}
	before := t.token
	t.token = t.rest.take(t.rest.count(1))
	size := t.rest.uvarint()
	if t.rest.bad || size>>1 > uint64(len(t.rest.rest)) || bytes.Compare(t.token, before) <= 0 {
		return errDamaged
	}
	t.list, t.bits = t.rest.take(int(size>>1)), size&1 == 1
	return nil
}

func (t *tokens) give(to *joint) bool {
	if t.bits {
		return to.addBits(t.list, t.place)
	}
	return to.add(t.list, t.place)
}

// joint makes the list of one token after the other out of the lists of others.
type joint struct {
	docs int // of the new segment
	ids  []int32
	set  set
	gaps []byte
}

// add adds a list of documents by their new places. It reports false for what is no list.
func (j *joint) add(gaps []byte, place []int32) bool {
	for id := -1; len(gaps) > 0; {
		gap, n := binary.Uvarint(gaps)
		if n <= 0 || gap >= uint64(len(place)) {
			return false
		}
		gaps = gaps[n:]
		if id += int(gap) + 1; id >= len(place) {
			return false
		}
		if place[id] != gone {
			j.ids = append(j.ids, place[id])
		}
	}
	return true
}

// addBits adds what a row of bits holds.
func (j *joint) addBits(row []byte, place []int32) bool {
	if len(row) != (len(place)+7)/8 {
		return false
	}
	for i, b := range row {
		for ; b != 0; b &= b - 1 {
			id := 8*i + bits.TrailingZeros8(b)
			if id >= len(place) {
				return false
			}
			if place[id] != gone {
				j.ids = append(j.ids, place[id])
			}
		}
	}
	return true
}

// list returns the list of what was added since the last call, and forgets that. It is valid
// until the next call.
func (j *joint) list() []byte {
	j.gaps = j.gaps[:0]
	next := 0
	appendID := func(id int) {
		j.gaps = binary.AppendUvarint(j.gaps, uint64(id-next))
		next = id + 1
	}
	if n := words64(j.docs); len(j.ids) >= n { // then bits sort sooner
		if j.set == nil {
			j.set = make(set, n)
		}
		clear(j.set)
		for _, id := range j.ids {
			j.set.add(int(id))
		}
		for id := j.set.next(0); id >= 0; id = j.set.next(id + 1) {
			appendID(id)
		}
	} else {
		slices.Sort(j.ids)
		for _, id := range j.ids {
			appendID(int(id))
		}
	}
	j.ids = j.ids[:0]
	return j.gaps
}
