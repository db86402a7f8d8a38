package history

import (
	"context"
	"encoding/binary"
	"iter"
	"slices"
	"time"

	"github.com/feedring/feedring/internal/store"
)

// building makes segments of rows that come in their order.
type building struct {
	store  *store.Store
	limits limits
	id     uint64 // of the next segment
	made   []*segment

	lists *lists
	keys  []store.RowKey
	logs  logs // of keys

	changes []store.Change // not written yet
	bytes   int
}

// limits bound what is held in memory.
type limits struct {
	tailDocs, tailWeight int
	docs, logs, weight   int // of a segment

	look  time.Duration // one turn of a search that looks at each entry
	erase time.Duration // from a retraction until segments begin to be remade without its entry
}

var defaultLimits = limits{tailDocs: 4 << 10, tailWeight: 3 << 20, docs: maxDocs, logs: maxLogs, weight: 16 << 20, look: 100 * time.Millisecond, erase: 5 * time.Hour}

func (h *History) building(id uint64) *building {
	return &building{store: h.store, limits: h.limits, id: id, lists: newLists(), logs: newLogs()}
}

// full reports that the segment must be written before another row is added.
func (b *building) full() bool {
	return len(b.keys) >= b.limits.docs || b.lists.weight >= b.limits.weight || len(b.logs.all) >= b.limits.logs
}

func (b *building) add(k store.RowKey, row *store.Row) {
	b.keys = append(b.keys, k)
	b.lists.add(k, row)
	b.logs.number(k)
}

// readAtOnce is how many rows are read while writers may wait.
const readAtOnce = 512

// addAll adds the rows at keys, which are in order, and writes each segment that
// is full, and the last. Rows that went away are left out.
func (b *building) addAll(ctx context.Context, keys []store.RowKey) error {
	for some := range slices.Chunk(keys, readAtOnce) {
		for len(some) > 0 {
			if b.full() {
				if err := b.write(ctx); err != nil {
					return err
				}
			}
			err := b.store.Read(func(r *store.Reader) error {
				for len(some) > 0 && !b.full() {
					if _, err := r.Row(some[0], func(row *store.Row) { b.add(some[0], row) }); err != nil {
						return err
					}
					some = some[1:]
				}
				return ctx.Err()
			})
			if err != nil {
				return err
			}
		}
	}
	return b.write(ctx)
}

// addFrom adds the rows from a key on until the segment is full, writes it, and
// returns where to go on; nil: there are no more rows.
func (b *building) addFrom(ctx context.Context, from store.RowKey) (rest *store.RowKey, err error) {
	for rest = &from; rest != nil && !b.full(); {
		if rest, err = b.readSome(*rest); err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return rest, b.write(ctx)
}

// readSome adds rows from a key on, and returns where to go on.
func (b *building) readSome(from store.RowKey) (rest *store.RowKey, err error) {
	n := 0
	err = b.store.Read(func(r *store.Reader) error {
		return r.Rows(from, func(k store.RowKey, row *store.Row) bool {
			if n++; n > readAtOnce || b.full() {
				rest = &k
				return false
			}
			b.add(k, row)
			return true
		})
	})
	return rest, err
}

// write writes what was added as a segment, if it is any.
func (b *building) write(ctx context.Context) error {
	if len(b.keys) == 0 {
		return nil
	}
	err := b.writeSegment(ctx, b.keys, b.lists.weight, b.lists.postings())
	b.lists, b.keys, b.logs = newLists(), b.keys[:0], newLogs()
	return err
}

// writeSegment writes one segment: the keys of its rows, which are in order, and for each
// token its list. weight is about that of all lists, or more.
func (b *building) writeSegment(ctx context.Context, keys []store.RowKey, weight int, postings iter.Seq2[posting, error]) error {
	s := &segment{id: b.id, docs: len(keys), last: keys[len(keys)-1]}
	if err := b.writeRows(ctx, s, keys); err != nil {
		return err
	}
	if err := b.writeTokens(ctx, s, weight, postings); err != nil {
		return err
	}
	if err := b.put(ctx, blockKey(s.id, kindHeader, 0), s.encode()); err != nil {
		return err
	}
	b.made = append(b.made, s)
	b.id++
	return b.flush(ctx)
}

func (b *building) writeRows(ctx context.Context, s *segment, all []store.RowKey) error {
	logs, n := newLogs(), 0
	for keys := range slices.Chunk(all, rowsInBlock) {
		s.starts = append(s.starts, keys[0])
		body, before := make([]byte, 0, 10*len(keys)), keys[0].Second
		for _, k := range keys {
			body = binary.AppendUvarint(body, k.Second-before)
			body = binary.AppendUvarint(body, uint64(^k.Nano))
			body = binary.AppendUvarint(body, uint64(logs.number(k)))
			body = binary.AppendUvarint(body, ^k.Sequence)
			before = k.Second
		}
		if err := b.put(ctx, blockKey(s.id, kindRows, n), body); err != nil {
			return err
		}
		n++
	}
	s.logs = logs.all
	return nil
}

func (b *building) writeTokens(ctx context.Context, s *segment, weight int, postings iter.Seq2[posting, error]) error {
	size := max(blockBytes, weight/mostBlocks)
	var body []byte
	write := func() error {
		err := b.put(ctx, blockKey(s.id, kindTokens, len(s.tokens)-1), body)
		body = nil
		return err
	}
	for p, err := range postings {
		if err == nil && len(body) >= size {
			err = write()
		}
		if err != nil {
			return err
		}
		if body == nil {
			s.tokens = append(s.tokens, p.token)
		}
		body = binary.AppendUvarint(body, uint64(len(p.token)))
		body = append(body, p.token...)
		body = appendList(body, p.gaps, s.docs)
		s.weight += tokenWeight + len(p.token) + len(p.gaps)
		if p.token == facetPrivate {
			s.private = documents(p.gaps)
		}
	}
	return write()
}

// appendList writes a list as it is, or as bits where these are shorter.
func appendList(body, gaps []byte, docs int) []byte {
	n := (docs + 7) / 8
	if len(gaps) <= n {
		body = binary.AppendUvarint(body, uint64(len(gaps))<<1)
		return append(body, gaps...)
	}
	body = binary.AppendUvarint(body, uint64(n)<<1|1)
	all := make(set, words64(docs))
	all.addGaps(gaps, docs)
	for i := range n {
		body = append(body, byte(all[i/8]>>(i%8*8)))
	}
	return body
}

// writeAtOnce is how many bytes others' writes may wait for.
const writeAtOnce = 512 << 10

func (b *building) put(ctx context.Context, key string, body []byte) error {
	value := sealed(key, body)
	b.changes = append(b.changes, store.Change{Key: key, Value: value})
	if b.bytes += len(key) + len(value); b.bytes < writeAtOnce {
		return nil
	}
	return b.flush(ctx)
}

func (b *building) flush(ctx context.Context) error {
	err := b.store.Write(ctx, store.BucketHistory, b.changes)
	b.changes, b.bytes = b.changes[:0], 0
	return err
}
