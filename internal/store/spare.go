package store

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
)

// spare is how much of the disk the store holds back in a file of no content,
// while it is open: closing writes what is in memory as a table, and must have
// room for it even when others took the last byte.
const (
	spare     = 16 << 20
	spareName = "SPARE"
)

// openWithin opens the database where the disk has room for what that writes.
func (s *Store) openWithin() (*badger.DB, error) {
	s.releaseSpare()
	if err := s.room(spare / 2); err != nil {
		return nil, err
	}
	db, err := badger.Open(badgerOptions(s.dir, s.opts.Log))
	if err != nil {
		return nil, openError(s.dir, err)
	}
	s.makeSpare()
	return db, nil
}

// closeDB closes the database with the spare room at its disposal.
func (s *Store) closeDB(db *badger.DB) error {
	s.releaseSpare()
	return db.Close()
}

// room returns ErrFull where less than least bytes are left.
func (s *Store) room(least int64) error {
	if s.opts.Reserve < 0 {
		return nil
	}
	left, err := s.free(s.dir)
	if err != nil || left >= least {
		return nil // where it cannot be asked, the write itself will tell
	}
	return fmt.Errorf("%w: %s has %d MiB left and %d MiB must stay free: make room on its disk",
		ErrFull, s.dir, left>>20, least>>20)
}

func (s *Store) sparePath() string { return filepath.Join(s.dir, spareName) }

// releaseSpare gives the room back. A spare file that a kill left is no use
// either, until the database is open.
func (s *Store) releaseSpare() {
	if err := os.Remove(s.sparePath()); err != nil && !os.IsNotExist(err) {
		s.opts.Log.Warn("store: spare room", "err", err)
	}
}

// makeSpare takes the room where there is plenty; without it the store works
// as well.
func (s *Store) makeSpare() {
	if s.opts.Reserve < 0 || s.room(s.opts.Reserve+spare) != nil {
		return
	}
	if err := allocate(s.sparePath(), spare); err != nil {
		s.releaseSpare()
	}
}
