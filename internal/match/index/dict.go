package index

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"
)

// dict numbers tokens, from 0. One goroutine adds, any number look up.
type dict struct {
	table atomic.Pointer[table]
	count atomic.Uint32
	units atomic.Uint32 // tokens with markUnit
}

// table is an open hash table: its slots hold the hash's upper half and the
// place of a record. A record is a header (length, number) and the token's bytes
// in eights, zeros at the end. A full table is replaced.
type table struct {
	slots   []uint64
	records []uint64
	used    int // of records; record 0 is never one
}

func newDict(tokens, words int) *dict {
	d := &dict{}
	d.table.Store(newTable(tokens, words))
	return d
}

// newTable has room for a number of tokens, and of eights in their records.
func newTable(tokens, words int) *table {
	size := 64
	for size*2/3 < tokens {
		size *= 2
	}
	return &table{slots: make([]uint64, size), records: make([]uint64, max(words, 64)+1), used: 1}
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
		slot := atomic.LoadUint64(&t.slots[i&mask])
		if slot == 0 {
			return 0
		}
		if slot>>32 == tok.hash>>32 {
			if header := t.header(uint32(slot), text, tok); header != 0 {
				return header
			}
		}
	}
}

// header returns the header of the record at a place if it is tok's, else 0.
func (t *table) header(place uint32, text []byte, tok *token) uint64 {
	record := t.records[place:]
	if record[1] != tok.head || uint32(record[0]>>32) != tok.n ||
		tok.n > 8 && !sameRest(record[2:], text[tok.from+8:tok.from+tok.n]) {
		return 0
	}
	return record[0]
}

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
	tab, need := d.table.Load(), 1+int(t.n+7)/8
	if count := int(d.count.Load()); (count+1)*3 > len(tab.slots)*2 || tab.used+need > len(tab.records) {
		tab = tab.grown(count, need)
		d.table.Store(tab)
	}
	id := d.count.Load()
	if byte(t.head) == markUnit {
		d.units.Add(1)
	}
	d.count.Store(id + 1) // before it is found: whoever finds it has room for it
	tab.add(text, t, id)
	return id
}

func (t *table) add(text []byte, tok *token, id uint32) {
	at := t.used
	long := text[min(tok.from+8, tok.from+tok.n) : tok.from+tok.n]
	t.records[at] = uint64(tok.n)<<32 | uint64(id)
	t.records[at+1] = tok.head
	var b [8]byte
	for i := 0; i < len(long); i += 8 {
		clear(b[copy(b[:], long[i:]):])
		t.records[at+2+i/8] = binary.LittleEndian.Uint64(b[:])
	}
	t.used += 1 + int(tok.n+7)/8
	t.put(tok.hash, at)
}

func (t *table) put(hash uint64, at int) {
	mask := uint64(len(t.slots) - 1)
	i := hash
	for t.slots[i&mask] != 0 {
		i++
	}
	atomic.StoreUint64(&t.slots[i&mask], hash>>32<<32|uint64(at))
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
	for at := 1; at < g.used; {
		_, tok := g.token(at)
		g.put(tok.hash, at)
		at += 1 + int(tok.n+7)/8
	}
	return g
}

// token reads the record at a place.
func (t *table) token(at int) ([]byte, token) {
	n := int(t.records[at] >> 32)
	b := make([]byte, 0, n+2*pad)
	for i := 0; i < n; i += 8 {
		b = binary.LittleEndian.AppendUint64(b, t.records[at+1+i/8])
	}
	return b[:cap(b)], tokenAt(b[:cap(b)], 0, n)
}

// places returns where the record of each number is.
func (t *table) places(count int) []uint32 {
	places := make([]uint32, count)
	for at := 1; at < t.used; at += 1 + int(t.records[at]>>32+7)/8 {
		places[uint32(t.records[at])] = uint32(at)
	}
	return places
}

// findAll appends the numbers of those tokens that are there. It is faster than
// one find after the other: first it looks at the slots, then at the records,
// each without waiting for the last one to come from memory.
func (t *table) findAll(text []byte, tokens []token, ids []uint32) []uint32 {
	mask := uint64(len(t.slots) - 1)
	var places [64]uint32
	for len(tokens) > 0 {
		some := tokens[:min(len(tokens), len(places))]
		for i := range some {
			places[i] = uint32(atomic.LoadUint64(&t.slots[some[i].hash&mask]))
		}
		for i := range some {
			header := uint64(0)
			if places[i] != 0 {
				if header = t.header(places[i], text, &some[i]); header == 0 {
					header = t.find(text, &some[i])
				}
			}
			if header != 0 {
				ids = append(ids, uint32(header))
			}
		}
		tokens = tokens[len(some):]
	}
	return ids
}
