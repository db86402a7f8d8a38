// Package disk keeps a badger database in its directory whatever the disk under
// it does: it looks for damage that would end the process, keeps room free for
// what badger writes in the background, and says in one line why a database
// cannot be opened.
package disk

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
)

// Spare is how much of the disk a database holds back in a file of no content,
// while it is open: closing writes what is in memory as a table, and must have
// room for it even when others took the last byte.
const Spare = 16 << 20

const spareName = "SPARE"

// Dir is the directory of one database.
type Dir struct {
	Path    string
	Reserve int64 // bytes that the disk must have left; negative: no check
	Log     *slog.Logger
	Meter   Meter
}

// Meter measures disks.
type Meter interface {
	// Free returns how much room the disk of a directory has left.
	Free(dir string) (int64, error)
}

// System asks the operating system.
type System struct{}

// Free implements Meter.
func (System) Free(dir string) (int64, error) { return freeBytes(dir) }

// Compaction is which tables an open database compacts by itself.
type Compaction int

// The ways to compact. A database that compacts looks for work many times a second;
// one that is still must be opened anew where Asks says so.
const (
	Still Compaction = iota
	AsAsked
	Thorough // every table that was written since
)

// crowded is how many tables of level 0 are too many for a database that is still:
// each read looks at all of them.
const crowded = 4

// Open opens the database where the disk has room for what that writes. A crowded one
// is not still: a process that is killed soon after each start would leave a table each
// time, and never come to look for them. It fails with ErrLocked, ErrNewer, ErrFull or
// ErrCorrupt.
func (d *Dir) Open(c Compaction) (*badger.DB, Compaction, error) {
	levelZero := 0
	err := whileLocked(d.Path, func() (err error) {
		if levelZero, err = checkTables(d.Path); err == nil {
			err = removeEmpty(d.Path)
		}
		return err
	})
	if err != nil {
		return nil, c, d.Explain(err)
	}
	d.releaseSpare()
	if err := d.checkFree(Spare/2, max(d.Reserve, Spare/2)); err != nil {
		return nil, c, err // it names what the open database needs: with less it takes nothing
	}
	if levelZero >= crowded && c == Still {
		c = AsAsked
	}
	if narrow && levelZero > narrowStall && c != Still {
		if err := d.drain(); err != nil {
			return nil, c, d.Explain(err)
		}
	}
	db, err := badger.Open(badgerOptions(d.Path, d.Log, c))
	if err != nil {
		return nil, c, d.Explain(err)
	}
	d.makeSpare()
	return db, c, nil
}

// removeEmpty removes logs that a killed process had created and not written to: badger
// would not open the database for one, and holds nothing in it.
func removeEmpty(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if ext := filepath.Ext(f.Name()); ext != ".mem" && ext != ".vlog" {
			continue
		}
		info, err := f.Info()
		if err == nil && info.Size() == 0 {
			err = os.Remove(filepath.Join(dir, f.Name()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// drain empties level 0 without badger's compactors.
func (d *Dir) drain() error {
	db, err := badger.Open(badgerOptions(d.Path, d.Log, Still))
	if err != nil {
		return err
	}
	return errors.Join(db.Flatten(1), db.Close())
}

// Asks reports whether a level of the database has more tables than it should have.
// While it compacts, badger lets writes wait with too many.
func Asks(db *badger.DB) bool {
	for _, level := range db.Levels() {
		if level.Adjusted >= 1 || level.Level == 0 && level.Score >= 1 {
			return true
		}
	}
	return false
}

// Crowded reports whether level 0 has more tables than a database that is still should
// have, and what it takes at most on disk to compact them: they and the next level are
// written anew before they are removed.
func Crowded(db *badger.DB) (crowds bool, room int64) {
	for _, level := range db.Levels() {
		switch {
		case level.Level == 0:
			crowds, room = level.NumTables >= crowded, level.Size
		case level.Size > 0:
			return crowds, room + level.Size
		}
	}
	return crowds, room
}

// Close closes the database with the spare room at its disposal.
func (d *Dir) Close(db *badger.DB) error {
	d.releaseSpare()
	return db.Close()
}

// CheckFree returns ErrFull where less than least bytes are left.
func (d *Dir) CheckFree(least int64) error { return d.checkFree(least, least) }

// checkFree is CheckFree with an error that says that told bytes must stay free.
func (d *Dir) checkFree(least, told int64) error {
	if d.Reserve < 0 {
		return nil
	}
	left, err := d.Meter.Free(d.Path)
	if err != nil || left >= least {
		return nil // where it cannot be asked, the write itself will tell
	}
	return fmt.Errorf("%w: %s has %d MiB left and %d MiB must stay free",
		ErrFull, d.Path, left>>20, told>>20)
}

// Used adds up the files of the database. Those that go away meanwhile count as
// nothing.
func (d *Dir) Used() (total int64, err error) {
	files, err := os.ReadDir(d.Path)
	if err != nil {
		return 0, fmt.Errorf("measuring the store: %w", err)
	}
	for _, file := range files {
		if file.Name() == spareName {
			continue
		}
		if info, err := file.Info(); err == nil {
			total += allocated(info)
		}
	}
	return total, nil
}

func (d *Dir) sparePath() string { return filepath.Join(d.Path, spareName) }

// releaseSpare gives the room back. A spare file that a kill left is no use
// either, until the database is open.
func (d *Dir) releaseSpare() {
	if err := os.Remove(d.sparePath()); err != nil && !os.IsNotExist(err) {
		d.Log.Warn("the reserved disk space could not be released", "err", err)
	}
}

// makeSpare takes the room where there is plenty; without it the store works
// as well.
func (d *Dir) makeSpare() {
	if d.Reserve < 0 || d.CheckFree(d.Reserve+Spare) != nil {
		return
	}
	if err := allocate(d.sparePath(), Spare); err != nil {
		d.releaseSpare()
	}
}
