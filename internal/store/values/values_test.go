package values

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/feedring/feedring/internal/store/rows"
	"github.com/feedring/feedring/internal/store/segment"
)

// lossy is a disk that forgets, when the power fails, some of what was not synced.
type lossy struct {
	files map[string]*lossyFile
	named map[string]*lossyFile // as the directory is on disk
	full  int                   // bytes that can still be written

	unreadable bool   // for the moment
	unwritable string // a file
}

type lossyFile struct {
	d            *lossy
	data, synced []byte
}

func newLossy() *lossy {
	return &lossy{files: map[string]*lossyFile{}, named: map[string]*lossyFile{}, full: 1 << 30}
}

func (d *lossy) Names() ([]string, error) { return slices.Collect(maps.Keys(d.files)), nil }
func (d *lossy) Create(name string) (segment.File, error) {
	f := &lossyFile{d: d}
	d.files[name] = f
	return f, nil
}
func (d *lossy) Open(name string) (segment.File, error) {
	if f := d.files[name]; f != nil {
		return f, nil
	}
	return nil, fs.ErrNotExist
}
func (d *lossy) Remove(name string) error {
	delete(d.files, name)
	return nil
}
func (d *lossy) Sync() error {
	d.named = maps.Clone(d.files)
	return nil
}

// powerFails forgets what was not synced; of a file's new bytes some may be there.
func (d *lossy) powerFails(r *rand.Rand) {
	for name, f := range d.named {
		if d.files[name] == nil && r.IntN(2) == 0 {
			delete(d.named, name) // it was removed, and that reached the disk
			continue
		}
		if more := len(f.data) - len(f.synced); more > 0 {
			tail := make([]byte, r.IntN(more+1))
			for i := range tail {
				tail[i] = byte(r.Uint32())
			}
			f.synced = append(f.synced, tail...)
		}
		f.data = bytes.Clone(f.synced)
	}
	d.files = maps.Clone(d.named)
}

func (f *lossyFile) ReadAt(b []byte, at int64) (int, error) {
	if f.d.unreadable {
		return 0, &os.PathError{Op: "read", Err: syscall.EIO}
	}
	if at >= int64(len(f.data)) {
		return 0, io.EOF
	}
	n := copy(b, f.data[at:])
	if n < len(b) {
		return n, io.ErrUnexpectedEOF
	}
	return n, nil
}

func (f *lossyFile) WriteAt(b []byte, at int64) (int, error) {
	if name := f.d.unwritable; name != "" && f.d.files[name] == f {
		return 0, &os.PathError{Op: "write", Err: syscall.EIO}
	}
	if f.d.full -= len(b); f.d.full < 0 {
		return 0, &os.PathError{Op: "write", Err: syscall.ENOSPC}
	}
	f.data = append(f.data, make([]byte, max(0, int(at)+len(b)-len(f.data)))...)
	return copy(f.data[at:], b), nil
}

func (f *lossyFile) Truncate(size int64) error {
	f.data = f.data[:size]
	return nil
}
func (f *lossyFile) Size() (int64, error) { return int64(len(f.data)), nil }
func (f *lossyFile) Sync() error {
	f.synced = bytes.Clone(f.data)
	return nil
}
func (f *lossyFile) Close() error { return nil }

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func logKey(n int) []byte { return []byte(fmt.Sprintf("%c%020d", rows.KeyLog, n)) }

// beforeUpgrade has the database hold some values in its tables, as an earlier version
// kept them: more than one step moves.
func beforeUpgrade(t *testing.T, db *badger.DB, r *rand.Rand) map[string][]byte {
	t.Helper()
	all := make(map[string][]byte)
	check(t, db.Update(func(txn *badger.Txn) error {
		for n := range 20 {
			value := []byte(fmt.Sprintf("before %d.", r.Uint64()))
			if n%4 > 0 {
				value = append(value, bytes.Repeat([]byte{byte('a' + n)}, 25_000)...)
			}
			all[string(logKey(n))] = value
			check(t, txn.Set(logKey(n), value))
		}
		return Upgrade(txn)
	}))
	return all
}

func stageOf(t *testing.T, table *Table, db *badger.DB) (s Stage) {
	t.Helper()
	check(t, table.View(db, func(txn Txn) (err error) {
		s, err = txn.Stage()
		return err
	}))
	return s
}

// TestPowerFails changes values at random, with steps of collection and erasing in
// between, and of an upgrade, and takes the power away at any place: all that was
// committed is there, and nothing that was erased.
func TestPowerFails(t *testing.T) {
	committed := 0
	entries, _ := strconv.Atoi(os.Getenv("FEEDRING_DURABLE")) // 0: it is not set
	for seed := uint64(0); seed < 30 || committed < entries; seed++ {
		r := rand.New(rand.NewPCG(seed, 1))
		db, err := badger.Open(badger.DefaultOptions("").WithInMemory(true).WithLogger(nil))
		check(t, err)
		d := newLossy()
		table := On(d, slog.New(slog.DiscardHandler))
		table.Fill = 4000
		check(t, table.Load(db))
		want, gone := map[string][]byte{}, [][]byte{}
		if seed%2 == 1 {
			want = beforeUpgrade(t, db, r)
		}
		for step := range 200 {
			b := table.Begin(db)
			after := maps.Clone(want)
			var erased [][]byte
			sets := 0
			if n := r.IntN(9); n < 3 {
				check(t, b.Collect())
			} else if n == 3 {
				check(t, b.Upgrade())
			} else {
				for range 1 + r.IntN(4) {
					key := logKey(r.IntN(20))
					switch old := after[string(key)]; r.IntN(4) {
					case 0:
						check(t, b.Erase(key))
						delete(after, string(key))
						if old != nil {
							erased = append(erased, old)
						}
					case 1:
						check(t, b.Delete(key))
						delete(after, string(key))
					default:
						value := []byte(fmt.Sprintf("value %d %d %d.", seed, step, r.Uint64()))
						value = append(value, bytes.Repeat([]byte{byte('a' + r.IntN(26))}, 200+r.IntN(800))...)
						check(t, b.Set(key, value))
						after[string(key)] = value
						sets++
					}
				}
			}
			fails := r.IntN(8)
			if fails == 0 {
				d.full = r.IntN(2000)
			}
			err := b.Write()
			d.full = 1 << 30
			switch {
			case err != nil && errors.Is(err, syscall.ENOSPC):
				b.Discard()
			case err != nil:
				t.Fatal(err)
			case fails == 1: // before the transaction
				b.Discard()
				d.powerFails(r)
				check(t, table.Load(db))
			default:
				check(t, b.Txn.Commit())
				want, gone = after, append(gone, erased...)
				committed += sets
				if fails == 2 { // after it
					d.powerFails(r)
					check(t, table.Load(db))
				} else {
					b.Committed()
				}
				if table.Unsettled() && r.IntN(3) > 0 {
					check(t, table.Settle(db))
				}
			}
			compareAll(t, table, db, want)
		}
		if stageOf(t, table, db).Moving {
			t.Error("not all was moved out of the tables")
		}
		for table.Collects() { // copies that were moved are in the segments that are left
			b := table.Begin(db)
			check(t, b.Collect())
			check(t, b.Write())
			check(t, b.Txn.Commit())
			b.Committed()
		}
		check(t, table.Settle(db))
		if table.Unsettled() {
			t.Error("not settled")
		}
		for _, f := range d.files {
			for _, value := range gone {
				head, _, _ := bytes.Cut(value, []byte("."))
				if bytes.Contains(f.data, head) {
					t.Errorf("seed %d: what was erased is on disk: %.20q", seed, value)
				}
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		check(t, db.Close())
	}
}

// compareAll has the database hold what is wanted, and the bytes in use counted.
func compareAll(t *testing.T, table *Table, db *badger.DB, want map[string][]byte) {
	t.Helper()
	found, live := 0, map[uint32]uint32{}
	check(t, table.View(db, func(txn Txn) error {
		return txn.Each([]byte{rows.KeyLog}, nil, func(row Row) (bool, error) {
			found++
			value, err := row.ValueCopy(nil)
			if err != nil || !bytes.Equal(value, want[string(row.Key())]) {
				t.Errorf("%s holds %.20q, %v, want %.20q", row.Key(), value, err, want[string(row.Key())])
			}
			p, away, _ := row.Place()
			if away {
				live[p.Segment] += p.Length
			}
			if stage, err := txn.Stage(); err != nil || !away && !stage.Moving {
				t.Errorf("%s is in a table, %v", row.Key(), err)
			}
			return true, nil
		})
	}))
	if found != len(want) {
		t.Errorf("%d rows, want %d", found, len(want))
	}
	for id, in := range table.segments {
		if in.live != live[id] {
			t.Errorf("of segment %d %d bytes are in use, counted %d", id, live[id], in.live)
		}
	}
}

// TestADiskThatFailsForAMoment: a value that cannot be read while its segment is
// collected is there when the disk gives it again.
func TestADiskThatFailsForAMoment(t *testing.T) {
	db, err := badger.Open(badger.DefaultOptions("").WithInMemory(true).WithLogger(nil))
	check(t, err)
	defer db.Close()
	d := newLossy()
	table := On(d, slog.New(slog.DiscardHandler))
	table.Fill = 4000
	check(t, table.Load(db))
	change := func(do func(b *Batch) error) {
		b := table.Begin(db)
		check(t, do(b))
		check(t, b.Write())
		check(t, b.Txn.Commit())
		b.Committed()
		check(t, table.Settle(db))
	}
	want := make(map[string][]byte)
	for n := range 12 {
		key, value := logKey(n), bytes.Repeat([]byte{byte('a' + n)}, 700)
		want[string(key)] = value
		change(func(b *Batch) error { return b.Set(key, value) })
	}
	for n := range 12 {
		if n%6 > 1 { // the first two of each segment are left
			delete(want, string(logKey(n)))
			change(func(b *Batch) error { return b.Delete(logKey(n)) })
		}
	}
	d.unreadable = true
	for n := 0; table.Collects(); n++ {
		if n == 9 {
			t.Fatal("segments that cannot be read are collected over and over")
		}
		change((*Batch).Collect)
	}
	select {
	case damage := <-table.Damaged():
		t.Errorf("%s is lost already", damage.Key)
	default:
	}
	table.Patience = 0
	check(t, table.View(db, func(txn Txn) error {
		row, err := txn.Get(logKey(0))
		check(t, err)
		var damage *Damage
		if _, err := row.ValueCopy(nil); !errors.As(err, &damage) || !damage.Passing() {
			t.Errorf("read of a disk that fails: %v", err)
		}
		return nil
	}))
	d.unreadable = false
	table.collect.later = nil // it is later
	compareAll(t, table, db, want)
	for table.Collects() {
		change((*Batch).Collect)
	}
	compareAll(t, table, db, want)
	select {
	case damage := <-table.Damaged():
		if _, there := want[string(damage.Key)]; !there {
			t.Errorf("told of %s", damage.Key)
		}
	default:
		t.Error("nobody is told of it")
	}
}

// TestWhatCannotBeOverwritten: a segment that the disk does not let overwrite is tried
// again after doubling waits, and emptied, whose end erases all that it held.
func TestWhatCannotBeOverwritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, err := badger.Open(badger.DefaultOptions("").WithInMemory(true).WithLogger(nil))
		check(t, err)
		defer db.Close()
		d := newLossy()
		table := On(d, slog.New(slog.DiscardHandler))
		check(t, table.Load(db))
		change := func(do func(b *Batch) error) {
			b := table.Begin(db)
			check(t, do(b))
			check(t, b.Write())
			check(t, b.Txn.Commit())
			b.Committed()
			if table.Unsettled() {
				check(t, table.Settle(db))
			}
		}
		want := make(map[string][]byte)
		for n := range 12 {
			key, value := logKey(n), bytes.Repeat([]byte{byte('a' + n)}, 700)
			want[string(key)] = value
			change(func(b *Batch) error { return b.Set(key, value) })
		}
		for d.unwritable = range d.files {
		}
		gone := want[string(logKey(0))]
		delete(want, string(logKey(0)))
		change(func(b *Batch) error { return b.Erase(logKey(0)) })
		var waits time.Duration
		for n := range 20 {
			if table.Unsettled() {
				t.Fatalf("it is tried again at once, %d", n)
			}
			wait, again := table.RetryIn()
			if !again || wait < waits || wait > lastWait {
				t.Fatalf("after %s it is tried again in %s, %t", waits, wait, again)
			}
			waits = wait
			time.Sleep(wait)
			check(t, table.Settle(db))
		}
		if waits != lastWait {
			t.Errorf("at last it is tried again each %s", waits)
		}
		for table.Collects() {
			change((*Batch).Collect)
		}
		check(t, table.Settle(db))
		compareAll(t, table, db, want)
		if _, again := table.RetryIn(); again || table.Unsettled() || len(table.erasing) > 0 {
			t.Error("something is left to be erased")
		}
		for name, f := range d.files {
			if bytes.Contains(f.data, gone) {
				t.Errorf("%s holds what was erased", name)
			}
		}
	})
}
