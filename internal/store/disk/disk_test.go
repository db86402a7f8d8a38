package disk

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"
)

// TestSpare has the room for closing held back while the database is open.
func TestSpare(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("room is held back on Linux only")
	}
	d := Dir{Path: t.TempDir(), Reserve: 32 << 20, Log: slog.New(slog.DiscardHandler), Meter: System{}}
	if left, err := d.Meter.Free(d.Path); err != nil || left < 1<<30 {
		t.Skipf("%d bytes left on this disk, %v", left, err)
	}
	db, _, err := d.Open(Still)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(d.sparePath())
	if err != nil || info.Size() != Spare {
		t.Errorf("held back: %v, %v", info, err)
	}
	if err := d.Close(db); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(d.sparePath()); !os.IsNotExist(err) {
		t.Errorf("after Close: %v", err)
	}
}

// TestKilledWhileALogIsCreated opens a database in which a log is empty, as a kill
// leaves it before its first byte.
func TestKilledWhileALogIsCreated(t *testing.T) {
	d := Dir{Path: t.TempDir(), Reserve: -1, Log: slog.New(slog.DiscardHandler), Meter: System{}}
	open := func() *badger.DB {
		db, _, err := d.Open(Still)
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	db := open()
	err := db.Update(func(txn *badger.Txn) error { return txn.Set([]byte("key"), []byte("value")) })
	if err = errors.Join(err, d.Close(db)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"00042.mem", "000042.vlog"} {
		if err := os.WriteFile(filepath.Join(d.Path, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		db = open()
		err := db.View(func(txn *badger.Txn) error {
			_, err := txn.Get([]byte("key"))
			return err
		})
		if err = errors.Join(err, d.Close(db)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A disk that is too full to open a database is told as one that is too full to take
// anything: less room than that would be asked for in vain.
func TestOpenOnAFullDisk(t *testing.T) {
	d := Dir{Path: t.TempDir(), Reserve: 32 << 20, Log: slog.New(slog.DiscardHandler), Meter: fixed(5 << 20)}
	if _, _, err := d.Open(Still); !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "has 5 MiB left and 32 MiB must stay free") {
		t.Error(err)
	}
}

type fixed int64

func (f fixed) Free(string) (int64, error) { return int64(f), nil }
