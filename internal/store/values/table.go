package values

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/feedring/feedring/internal/store/disk"
	"github.com/feedring/feedring/internal/store/rows"
	"github.com/feedring/feedring/internal/store/segment"
)

// fill is the size at which a segment is full. The last value may exceed it.
const fill = 16 << 20

// info is what the database says of a segment.
type info struct {
	end  uint32 // of the last record that was ever referred to
	live uint32 // bytes of the records that are referred to
	day  uint32 // on which it was begun, since 1970
}

const infoLen = 12

// Table knows all segments. Its methods are for the goroutine that writes, but
// for View.
type Table struct {
	Fill     uint32        // the size at which a segment is full
	Patience time.Duration // with values that the disk does not give

	files *segment.Files
	log   *slog.Logger

	segments map[uint32]info
	next     uint32 // id of the next segment
	current  uint32 // the one that is written; 0: none

	erasing   []segment.Place // what the database says is to be erased
	unsettled bool            // a segment may have nothing in use
	failing   map[uint32]failure
	collect   collecting
	spare     []byte // memory for the records of the next batch

	damaged    chan *Damage
	unreadable unreadable
}

// Open returns the values of the database in a directory.
func Open(dir string, log *slog.Logger) *Table { return On(segment.System(dir), log) }

// On returns the values whose segments are on a disk.
func On(d segment.Disk, log *slog.Logger) *Table {
	return &Table{Fill: fill, Patience: patience, files: segment.On(d), log: log, next: 1, damaged: make(chan *Damage, 64)}
}

// Close closes all files.
func (t *Table) Close() { t.files.Close() }

// Damaged gives the values that readers found damaged, as many as it has room for.
func (t *Table) Damaged() <-chan *Damage { return t.damaged }

// View runs read on a consistent state of the database.
func (t *Table) View(db *badger.DB, read func(Txn) error) error {
	return db.View(func(txn *badger.Txn) error { return read(Txn{Txn: txn, table: t}) })
}

// Load reads what a database that was just opened says of segments. It cuts off
// and removes what no transaction refers to: a crash or a failed write left it.
func (t *Table) Load(db *badger.DB) error {
	t.segments, t.erasing, t.current, t.collect = make(map[uint32]info), nil, 0, collecting{}
	t.unsettled, t.failing = true, make(map[uint32]failure)
	err := t.View(db, func(txn Txn) error {
		err := txn.Each([]byte{rows.KeySegment}, nil, func(row Row) (bool, error) {
			return true, row.Value(func(v []byte) error {
				key := row.Key()
				if len(key) != 5 || len(v) != infoLen {
					return fmt.Errorf("segment row: %w", disk.ErrCorrupt)
				}
				t.segments[binary.BigEndian.Uint32(key[1:])] = info{
					binary.BigEndian.Uint32(v), binary.BigEndian.Uint32(v[4:]), binary.BigEndian.Uint32(v[8:]),
				}
				return nil
			})
		})
		if err != nil {
			return err
		}
		return txn.Each([]byte{rows.KeyErase}, nil, func(row Row) (bool, error) {
			p, ok := segment.ReadPlace(row.Key()[1:])
			if !ok {
				return false, fmt.Errorf("row of what is to be erased: %w", disk.ErrCorrupt)
			}
			t.erasing = append(t.erasing, p)
			return true, nil
		})
	})
	if err != nil {
		return err
	}
	return t.tidy()
}

// tidy makes the files those that the rows tell of.
func (t *Table) tidy() error {
	sizes, err := t.files.List()
	if err != nil {
		return err
	}
	for id, size := range sizes {
		t.next = max(t.next, id+1)
		switch in, known := t.segments[id]; {
		case !known:
			err = t.files.Remove(id)
		case size > int64(in.end):
			if err = t.files.Cut(id, in.end); err == nil {
				err = t.files.Sync(id)
			}
		}
		if err != nil {
			return err
		}
	}
	for id, in := range t.segments {
		t.next = max(t.next, id+1)
		if in.live > 0 && sizes[id] < int64(in.end) {
			t.log.Warn("store: a file of entries is shorter than it was", "segment", id, "bytes", sizes[id], "want", in.end)
		}
		if size, there := sizes[id]; there && size >= int64(in.end) && in.end < t.Fill && in.day == today() {
			t.current = max(t.current, id)
		}
	}
	return nil
}

// today is the day on which a segment is begun: what is stored together mostly
// expires together.
func today() uint32 { return uint32(time.Now().Unix() / (24 * 60 * 60)) }
