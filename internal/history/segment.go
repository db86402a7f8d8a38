package history

import (
	"bytes"
	"slices"
	"sort"

	"github.com/feedring/feedring/internal/store"
)

// Sizes of a segment and its blocks. A block of tokens is what a word costs to look
// up; there are about at most mostBlocks of them, so that the header stays small.
// Fewer and larger segments are fewer blocks to a question that finds little, and
// more memory while one is built.
const (
	rowsInBlock = 128
	blockBytes  = 2 << 10
	mostBlocks  = 8 << 10
	maxDocs     = 1 << 17
	maxLogs     = 1 << 14
)

// segment is what is kept in memory of a segment on disk: its header.
type segment struct {
	id      uint64
	docs    int
	private int
	weight  int
	starts  []store.RowKey // the first key of each block of rows
	last    store.RowKey
	logs    []epoch
	tokens  []string // the first of each block of tokens
}

// epoch is what the rows of one log have in common, but for a new beginning.
type epoch struct {
	ref   uint32
	epoch uint64 // as in a RowKey
}

// logs numbers the logs of rows, in the order in which they come.
type logs struct {
	of  map[epoch]int
	all []epoch
}

func newLogs() logs { return logs{of: make(map[epoch]int)} }

// number returns the number of a row's log.
func (l *logs) number(k store.RowKey) int {
	log := epoch{k.Ref, k.Epoch}
	n, known := l.of[log]
	if !known {
		n = len(l.all)
		l.of[log], l.all = n, append(l.all, log)
	}
	return n
}

// view is a segment in one state of the store.
type view struct {
	*segment
	r     *store.Reader
	cache *cache // nil: all is read from the store
}

func (v view) size() int { return v.docs }

// fill implements postings.
func (v view) fill(token string, into set) error {
	if token == facetPrivate && v.private == 0 {
		return nil
	}
	n := sort.Search(len(v.tokens), func(i int) bool { return v.tokens[i] > token }) - 1
	if n < 0 {
		return nil
	}
	return read(v.r, blockKey(v.id, kindTokens, n), func(body []byte) error {
		return fillFrom(body, token, into, v.docs)
	})
}

// fillFrom looks for a token in a block: tokens in order, each with its length,
// then the length of what follows, twice, and one more where that is bits.
func fillFrom(body []byte, token string, into set, docs int) error {
	d := decoder{rest: body}
	for len(d.rest) > 0 {
		has := d.take(d.count(1))
		size := d.uvarint()
		if size>>1 > uint64(len(d.rest)) {
			return errDamaged
		}
		data := d.take(int(size >> 1))
		switch {
		case string(has) < token:
			continue
		case string(has) > token:
			return nil
		case size&1 == 0 && !into.addGaps(data, docs), size&1 == 1 && !into.addBits(data, docs):
			return errDamaged
		}
		return nil
	}
	return nil
}

// rows reads the keys of a block of rows, in order.
type rows struct {
	decoder
	logs []epoch
	key  store.RowKey
	at   int // the row in the block that has key; -1: none yet
}

// to returns the key of a row of the block, which is not before that of the last
// call.
func (r *rows) to(i int) (store.RowKey, error) {
	for r.at < i {
		r.at++
		r.key.Second += r.uvarint()
		r.key.Nano = ^uint32(r.uvarint())
		log := r.uvarint()
		r.key.Sequence = ^r.uvarint()
		if r.bad || log >= uint64(len(r.logs)) {
			return r.key, errDamaged
		}
		r.key.Ref, r.key.Epoch = r.logs[log].ref, r.logs[log].epoch
	}
	return r.key, nil
}

// rowsOf returns the reader of a block.
func (v view) rowsOf(n int) (*rows, error) {
	id := blockID{v.id, n}
	body := v.cache.get(id)
	if body == nil {
		err := read(v.r, blockKey(v.id, kindRows, n), func(stored []byte) error {
			body = bytes.Clone(stored)
			return nil
		})
		if err != nil {
			return nil, err
		}
		v.cache.put(id, body)
	}
	return &rows{decoder: decoder{rest: body}, logs: v.logs, key: v.starts[n], at: -1}, nil
}

// block appends the keys of a block of rows.
func (v view) block(n int, keys []store.RowKey) ([]store.RowKey, error) {
	rows, err := v.rowsOf(n)
	for i := 0; err == nil && i < min(rowsInBlock, v.docs-n*rowsInBlock); i++ {
		var k store.RowKey
		k, err = rows.to(i)
		keys = append(keys, k)
	}
	return keys, err
}

// from returns the first document that is not before k.
func (v view) from(k store.RowKey) (id int, err error) {
	n := sort.Search(len(v.starts), func(i int) bool { return v.starts[i].Compare(k) > 0 }) - 1
	if n < 0 {
		return 0, nil
	}
	keys, err := v.block(n, nil)
	if err != nil {
		return 0, err
	}
	i, _ := slices.BinarySearchFunc(keys, k, store.RowKey.Compare)
	return n*rowsInBlock + i, nil
}

// all appends all keys of the segment.
func (v view) all(keys []store.RowKey) ([]store.RowKey, error) {
	for n := range v.starts {
		var err error
		if keys, err = v.block(n, keys); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// candidates gives the documents of a segment that fit a need, as a source.
type candidates struct {
	view
	need       *need
	scratch    *scratch
	first, end store.RowKey

	found  set   // nil: not looked for yet
	at     int   // documents before are done
	number int   // of the block that is here
	rows   *rows // nil: none is
}

func (c *candidates) next() (k store.RowKey, ok bool, err error) {
	if c.found == nil {
		if err := c.open(); err != nil {
			return k, false, err
		}
	}
	id := c.found.next(c.at)
	if id < 0 {
		c.scratch.put(c.found)
		return k, false, nil
	}
	c.at = id + 1
	if n := id / rowsInBlock; c.rows == nil || n != c.number {
		if c.rows, err = c.rowsOf(n); err != nil {
			return k, false, err
		}
		c.number = n
	}
	k, err = c.rows.to(id % rowsInBlock)
	return k, k.Compare(c.end) < 0, err
}

func (c *candidates) open() (err error) {
	if c.found, err = c.need.find(c.view, c.scratch); err != nil || c.starts[0].Compare(c.first) >= 0 {
		return err
	}
	c.at, err = c.from(c.first)
	return err
}
