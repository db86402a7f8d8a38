package values

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"
	"github.com/feedring/feedring/internal/store/rows"
	"github.com/feedring/feedring/internal/store/segment"
)

// kept reports whether the value of a key is kept in a segment, short ones too: what is
// in a table cannot be overwritten.
func kept(key []byte) bool { return key[0] == rows.KeyLog || key[0] == rows.KeyTombstone }

// keptPrefixes begin the keys of such rows, and of those that say where a text is,
// in their order.
var keptPrefixes = []byte{rows.KeyLog, rows.KeyIndex, rows.KeyTombstone}

// Batch is one transaction that writes.
type Batch struct {
	Txn
	changed map[uint32]info // segments as they will be
	written []part          // one for each segment that this batch writes
	erase   []segment.Place
	bytes   int64 // that badger writes
	flatten bool  // the tables hold what it erases

	collected *collecting // how far Collect is then
}

// part is what a batch writes to one segment.
type part struct {
	id, at  uint32
	fresh   bool // the segment must be created
	records []byte
}

// Begin begins a transaction that writes. The caller discards it.
func (t *Table) Begin(db *badger.DB) *Batch {
	b := &Batch{changed: make(map[uint32]info)}
	b.Txn = Txn{Txn: db.NewTransaction(true), table: t, batch: b}
	return b
}

// Bytes returns how much the database writes for the batch.
func (b *Batch) Bytes() int64 { return b.bytes }

// Flattens reports whether the tables must be compacted: they hold what the batch erases.
func (b *Batch) Flattens() bool { return b.flatten }

// Set sets a row. The old value is erased.
func (b *Batch) Set(key, value []byte) error {
	if err := b.release(key, true); err != nil {
		return err
	}
	return b.Add(key, value)
}

// Add is Set of a row that is not there.
func (b *Batch) Add(key, value []byte) error {
	meta := byte(0)
	if kept(key) {
		value, meta = b.place(key, value).Append(nil), elsewhere
	}
	b.bytes += int64(len(key) + len(value))
	return b.SetEntry(badger.NewEntry(key, value).WithMeta(meta))
}

// Delete removes a row.
func (b *Batch) Delete(key []byte) error { return b.delete(key, false) }

// Erase is Delete, after which Settle overwrites the value on disk.
func (b *Batch) Erase(key []byte) error { return b.delete(key, true) }

func (b *Batch) delete(key []byte, erase bool) error {
	if err := b.release(key, erase); err != nil {
		return err
	}
	b.bytes += int64(len(key))
	return b.Txn.Txn.Delete(key)
}

// release counts the value at key as not in use any more.
func (b *Batch) release(key []byte, erase bool) error {
	if !kept(key) {
		return nil
	}
	row, err := b.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	p, away, err := row.Place()
	if err != nil {
		return err
	}
	if !away {
		if erase {
			return b.FlattenLater()
		}
		return nil
	}
	in := b.info(p.Segment)
	if in.end == 0 {
		return nil // the segment is gone
	}
	in.live -= min(in.live, p.Length)
	b.changed[p.Segment] = in
	if erase {
		b.erase = append(b.erase, p)
		return b.SetEntry(badger.NewEntry(eraseKey(p), []byte{1}))
	}
	return nil
}

func eraseKey(p segment.Place) []byte { return p.Append([]byte{rows.KeyErase}) }

func (b *Batch) info(id uint32) info {
	if in, ok := b.changed[id]; ok {
		return in
	}
	return b.table.segments[id]
}

// place gives a value a place in the segment that is written.
func (b *Batch) place(key, value []byte) segment.Place {
	w := b.writes()
	p := segment.Place{Segment: w.id, Offset: w.at + uint32(len(w.records)), Length: uint32(segment.Size(len(value)))}
	w.records = segment.AppendRecord(w.records, key, value)
	in := b.info(w.id)
	in.live, in.end = in.live+p.Length, p.End()
	b.changed[w.id] = in
	return p
}

// writes returns the segment that is written, a new one if that is full or of
// another day.
func (b *Batch) writes() *part {
	id := b.table.current
	if len(b.written) > 0 {
		id = b.written[len(b.written)-1].id
	}
	day := today()
	if in := b.info(id); id == 0 || in.end >= b.table.Fill || in.day != day {
		id = b.table.next
		b.table.next++
		b.changed[id] = info{day: day}
		b.written = append(b.written, part{id: id, fresh: true, records: b.table.room()})
	} else if len(b.written) == 0 {
		b.written = append(b.written, part{id: id, at: in.end, records: b.table.room()})
	}
	return &b.written[len(b.written)-1]
}

// pending returns the value at p if it is not written yet.
func (b *Batch) pending(p segment.Place) []byte {
	if b == nil {
		return nil
	}
	for _, w := range b.written {
		if w.id == p.Segment && p.Offset >= w.at {
			return w.records[p.Offset-w.at:][segment.Size(0):p.Length:p.Length]
		}
	}
	return nil
}

// Write makes the values durable and adds the rows of their segments. After an
// error nothing may be committed.
func (b *Batch) Write() error {
	for i := range b.written {
		if err := b.write(&b.written[i]); err != nil {
			b.abandon()
			return fmt.Errorf("writing entries: %w", err)
		}
	}
	for _, id := range sorted(b.changed) {
		in := b.changed[id]
		v := binary.BigEndian.AppendUint32(make([]byte, 0, infoLen), in.end)
		v = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(v, in.live), in.day)
		b.bytes += 5 + infoLen
		if err := b.SetEntry(badger.NewEntry(segmentKey(id), v)); err != nil {
			return err
		}
	}
	return nil
}

func (b *Batch) write(w *part) error {
	files := b.table.files
	if w.fresh {
		if err := files.Create(w.id); err != nil {
			return err
		}
	}
	if err := files.Write(w.id, w.at, w.records); err != nil {
		return err
	}
	return files.Sync(w.id)
}

// abandon gives back the room of what is not committed. The kernel may have
// forgotten what it could not write: nothing is written to that file any more.
func (b *Batch) abandon() {
	for _, w := range b.written {
		if w.fresh {
			_ = b.table.files.Remove(w.id) // or the next Load does
		} else {
			_ = b.table.files.Cut(w.id, w.at)
		}
	}
	b.table.current = 0
}

// Committed takes over what the transaction changed.
func (b *Batch) Committed() {
	t := b.table
	for id, in := range b.changed {
		t.segments[id] = in
		t.unsettled = t.unsettled || in.live == 0
	}
	if n := len(b.written); n > 0 && t.current != b.written[n-1].id {
		t.current, t.unsettled = b.written[n-1].id, true
	}
	if b.collected != nil {
		t.collect = *b.collected
	}
	t.erasing = append(t.erasing, b.erase...)
	if n := len(b.written); n > 0 && cap(b.written[n-1].records) <= maxSpare {
		t.spare = b.written[n-1].records[:0]
	}
}

// maxSpare is how much memory is kept for the records of the next batch: a batch of
// entries has less.
const maxSpare = 1 << 20

// room is memory for records: what many batches after each other append to would else
// be set aside, and copied, several times for each.
func (t *Table) room() []byte {
	room := t.spare
	t.spare = nil
	return room
}

func segmentKey(id uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{rows.KeySegment}, id)
}

func sorted(of map[uint32]info) []uint32 {
	ids := make([]uint32, 0, len(of))
	for id := range of {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
