package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store/rows"
	"github.com/feedring/feedring/internal/store/schema"
)

func TestLocked(t *testing.T) {
	dir := t.TempDir()
	open(t, dir, Options{})
	_, err := Open(dir, Options{})
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), dir) {
		t.Errorf("second process: %v", err)
	}
}

func TestNewer(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	check(t, s.db.Update(func(txn *badger.Txn) error {
		return txn.Set([]byte{rows.KeySchema}, binary.BigEndian.AppendUint32(nil, schema.Version+6))
	}))
	check(t, s.Close())
	_, err := Open(dir, Options{})
	if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), fmt.Sprint(schema.Version+6)) || !strings.Contains(err.Error(), fmt.Sprint("to ", schema.Version)) {
		t.Errorf("newer data: %v", err)
	}
}

func TestDamaged(t *testing.T) {
	for _, name := range []string{"MANIFEST", "*.sst"} {
		dir := t.TempDir()
		s := open(t, dir, Options{})
		fill(t, s, 100, 100)
		check(t, s.Close())
		files, err := filepath.Glob(filepath.Join(dir, name))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		check(t, os.WriteFile(files[0], []byte("this is no database"), 0o600))
		if _, err := Open(dir, Options{}); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s damaged: %v", name, err)
		}
	}
}

// TestTableHalfWritten opens a store that was killed while badger wrote a table:
// its manifest does not list that one.
func TestTableHalfWritten(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	fill(t, s, 100, 100)
	check(t, s.Close())
	half := filepath.Join(dir, "009999.sst")
	check(t, os.WriteFile(half, make([]byte, 1<<20), 0o600))
	s = open(t, dir, Options{})
	if items, _, err := s.Search(ctx, Search{Limit: 200}); err != nil || len(items) != 100 {
		t.Errorf("%d entries, %v", len(items), err)
	}
	if _, err := os.Stat(half); !os.IsNotExist(err) {
		t.Errorf("the half written table is still there: %v", err)
	}
}

func TestClosed(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	fill(t, s, 1, 1)
	check(t, s.Close())
	check(t, s.Close())
	_, get := s.Get(s.Refs()[0], feedring.Position{Epoch: 1, Sequence: 1})
	_, _, search := s.Search(ctx, Search{})
	for _, err := range []error{s.Put(ctx, BucketMeta, "a", nil), get, search} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
}

func TestOptions(t *testing.T) {
	if _, err := Open(t.TempDir(), Options{ScanItems: -1}); err == nil {
		t.Error("negative bound accepted")
	}
}
