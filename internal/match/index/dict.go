package index

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync/atomic"
)

// dict numbers tokens, from 0. One goroutine adds, any number look up.
type dict struct {
	table atomic.Pointer[table]
	count atomic.Uint32
	units atomic.Uint32 // tokens with markUnit
}

// table is an open hash table: its slots hold the places of records. A record is a header (length, number) and the token's bytes
// in eights, at least two, zeros at the end. A full table is replaced.
type table struct {
	slots   []uint32
	records []uint64
	used    int // of records
}

// firstRecord leaves place 0 to empty slots, which so lead to a record that is
// never asked.
const firstRecord = 3

func newDict(tokens, words int) *dict {
	d := &dict{}
	d.table.Store(newTable(tokens, words))
	return d
}

// newTable has room for a number of tokens, and of eights in their records.
func newTable(tokens, words int) *table {
	size := 128
	for size < tokens*2 {
		size *= 2
	}
	return &table{slots: make([]uint32, size), records: make([]uint64, max(words, 64)+firstRecord), used: firstRecord}
}

// find returns the number of a token.
func (d *dict) find(text []byte, t *token) (id uint32, ok bool) {
	record := d.table.Load().find(text, t)
	return uint32(record), record != 0
}

// find returns the header of t's record, or 0: no token has length 0.
func (t *table) find(text []byte, tok *token) uint64 {
	mask := uint64(len(t.slots) - 1)
	for i := tok.hash; ; i++ {
		place := atomic.LoadUint32(&t.slots[i&mask])
		if place == 0 {
			return 0
		}
		if header := t.header(place, text, tok); header != 0 {
			return header
		}
	}
}

// header returns the header of the record at a place if it is tok's, else 0.
func (t *table) header(place uint32, text []byte, tok *token) uint64 {
	record := t.records[place:]
	if record[1] != tok.head[0] || record[2] != tok.head[1] || uint32(record[0]>>32) != tok.n ||
		tok.n > heads && !sameRest(record[3:], text[tok.from+heads:tok.from+tok.n]) {
		return 0
	}
	return record[0]
}

// size is how much of records a token of n bytes takes.
func size(n uint32) int { return 1 + max(2, int(n+7)/8) }

func sameRest(record []uint64, long []byte) bool {
	var b [8]byte
	for ; len(long) > 0; record = record[1:] {
		binary.LittleEndian.PutUint64(b[:], record[0])
		n := min(8, len(long))
		if !bytes.Equal(b[:n], long[:n]) {
			return false
		}
		long = long[n:]
	}
	return true
}

// intern returns the number of a token, a new one if need be.
func (d *dict) intern(text []byte, t *token) uint32 {
	if id, ok := d.find(text, t); ok {
		return id
	}
	tab, need := d.table.Load(), size(t.n)
	if count := int(d.count.Load()); (count+1)*2 > len(tab.slots) || tab.used+need > len(tab.records) {
		tab = tab.grown(count, need)
		d.table.Store(tab)
	}
	id := d.count.Load()
	if byte(t.head[0]) == markUnit {
		d.units.Add(1)
	}
	d.count.Store(id + 1) // before it is found: whoever finds it has room for it
	tab.add(text, t, id)
	return id
}

func (t *table) add(text []byte, tok *token, id uint32) {
	at := t.used
	t.used += size(tok.n)
	record := t.records[at:t.used]
	record[0] = uint64(tok.n)<<32 | uint64(id)
	for i := range record[1:] {
		record[1+i] = 0
		if n := int(tok.n) - 8*i; n > 0 {
			record[1+i] = binary.LittleEndian.Uint64(text[int(tok.from)+8*i:]) & low(min(n, 8))
		}
	}
	t.put(tok.hash, at)
}

func (t *table) put(hash uint64, at int) {
	mask := uint64(len(t.slots) - 1)
	i := hash
	for t.slots[i&mask] != 0 {
		i++
	}
	atomic.StoreUint32(&t.slots[i&mask], uint32(at))
}

// grown copies t into a larger one with room for need more in the records.
func (t *table) grown(tokens, need int) *table {
	words := t.used
	if t.used+need > len(t.records) {
		words = t.used*3/2 + need
	} else {
		words = len(t.records)
	}
	g := newTable(tokens+tokens/2+1, words)
	copy(g.records, t.records[:t.used])
	g.used = t.used
	var buf []byte
	for at := firstRecord; at < g.used; {
		var tok token
		buf, tok = g.token(at, buf)
		g.put(tok.hash, at)
		at += size(tok.n)
	}
	return g
}

// token reads the record at a place, into buf.
func (t *table) token(at int, buf []byte) ([]byte, token) {
	n := int(t.records[at] >> 32)
	b := slices.Grow(buf[:0], n+pad+8)[:n+pad+8]
	for i := 0; i < n; i += 8 {
		binary.LittleEndian.PutUint64(b[i:], t.records[at+1+i/8])
	}
	return b, tokenAt(b, 0, n)
}

// places returns where the record of each number is.
func (t *table) places(count int) []uint32 {
	places := make([]uint32, count)
	for at := firstRecord; at < t.used; at += size(uint32(t.records[at] >> 32)) {
		places[uint32(t.records[at])] = uint32(at)
	}
	return places
}

// batch is how many tokens are looked up at once.
const batch = 64

// fetch reads what find will need of the first tokens, so that none waits for
// another.
func (t *table) fetch(tokens []token) (fetched uint64) {
	mask := uint64(len(t.slots) - 1)
	var places [8]uint32
	some := tokens[:min(len(tokens), len(places))]
	for i := range some {
		places[i] = atomic.LoadUint32(&t.slots[some[i].hash&mask])
	}
	for i := range some {
		fetched ^= t.records[places[i]]
	}
	return fetched
}

// findAll appends the numbers of those tokens that are there. It is faster than
// one find after the other: first it looks at the slots, then at the records,
// each without waiting for the last one to come from memory.
func (t *table) findAll(text []byte, tokens []token, ids []uint32) []uint32 {
	mask := uint64(len(t.slots) - 1)
	var places [batch]uint32
	var records [batch][3]uint64
	for len(tokens) > 0 {
		some := tokens[:min(len(tokens), batch)]
		for i := range some {
			places[i] = atomic.LoadUint32(&t.slots[some[i].hash&mask])
		}
		for i := range some {
			records[i] = [3]uint64(t.records[places[i]:])
		}
		for i := range some {
			tok := &some[i]
			header := records[i][0]
			differ := records[i][1] ^ tok.head[0] | records[i][2] ^ tok.head[1] | header>>32 ^ uint64(tok.n)
			if differ != 0 || tok.n > heads {
				header = t.find(text, tok)
			}
			if header != 0 {
				ids = append(ids, uint32(header))
			}
		}
		tokens = tokens[len(some):]
	}
	return ids
}
