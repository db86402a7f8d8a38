package disk

import (
	"encoding/binary"
	"errors"
	"log/slog"
	"testing"

	"github.com/dgraph-io/badger/v4"
)

// TestFlattenEndsBetweenTables ends Flatten before its first table; the database can
// be used, flattened and closed afterwards.
func TestFlattenEndsBetweenTables(t *testing.T) {
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	d := Dir{Path: t.TempDir(), Reserve: -1, Log: slog.New(slog.DiscardHandler), Meter: System{}}
	db, _, err := d.Open(Still)
	check(err)
	fill := func() {
		w := db.NewWriteBatch()
		for n := range uint32(20_000) {
			check(w.Set(binary.BigEndian.AppendUint32(nil, n), make([]byte, 500)))
		}
		check(w.Flush())
	}
	newest := func() (id uint64) {
		for _, table := range db.Tables() {
			id = max(id, table.ID)
		}
		return id
	}
	for range 3 {
		fill()
	}
	before := newest()
	if !Asks(db) {
		t.Fatal("nothing is to be compacted")
	}
	quit := make(chan struct{})
	close(quit)
	if err := d.Flatten(db, quit); !errors.Is(err, ErrInterrupted) {
		t.Errorf("told to end it gave %v", err)
	}
	if newest() != before {
		t.Error("a table was compacted")
	}
	check(d.Flatten(db, make(chan struct{})))
	if newest() == before || Asks(db) {
		t.Error("told to go on it compacted nothing, or not all")
	}
	check(db.View(func(txn *badger.Txn) error {
		_, err := txn.Get(binary.BigEndian.AppendUint32(nil, 19_999))
		return err
	}))
	check(d.Close(db))
}

// TestDrain empties level 0 as it must be emptied where four of its tables may become
// one of any size.
func TestDrain(t *testing.T) {
	d := Dir{Path: t.TempDir(), Reserve: -1, Log: slog.New(slog.DiscardHandler), Meter: System{}}
	for n := range uint32(10) { // each of which leaves a table
		db, err := badger.Open(badgerOptions(d.Path, d.Log, Still))
		if err != nil {
			t.Fatal(err)
		}
		err = db.Update(func(txn *badger.Txn) error { return txn.Set(binary.BigEndian.AppendUint32(nil, n), []byte{1}) })
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := checkTables(d.Path); n != 10 || err != nil {
		t.Fatalf("%d tables in level 0, %v", n, err)
	}
	if err := d.drain(); err != nil {
		t.Fatal(err)
	}
	if n, err := checkTables(d.Path); n != 0 || err != nil {
		t.Errorf("%d tables are left in level 0, %v", n, err)
	}
	db, c, err := d.Open(Still)
	if err != nil || c != Still {
		t.Fatalf("opened as %d, %v", c, err)
	}
	defer db.Close()
	for n := range uint32(10) {
		err := db.View(func(txn *badger.Txn) error {
			_, err := txn.Get(binary.BigEndian.AppendUint32(nil, n))
			return err
		})
		if err != nil {
			t.Errorf("row %d: %v", n, err)
		}
	}
}
