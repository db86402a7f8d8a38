package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
)

// checkTables looks at the end of each table file that belongs to the database.
// badger opens tables in goroutines of its own and panics there when one is cut
// or overwritten, which would end the process without a word that helps. A
// table that the manifest does not list is one that a kill left half written:
// badger removes it. It returns how many tables level 0 will have: what a kill left in
// memory becomes one more when the database is opened.
func checkTables(dir string) (levelZero int, err error) {
	manifest, err := os.Open(filepath.Join(dir, badger.ManifestFilename))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // a new store, or badger says what it misses
	}
	if err != nil {
		return 0, err
	}
	defer manifest.Close()
	listed, _, err := badger.ReplayManifestFile(manifest, 0, badger.DefaultOptions(dir))
	if err != nil {
		return 0, err
	}
	for id, table := range listed.Tables {
		if table.Level == 0 {
			levelZero++
		}
		if err := checkTable(dir, id); err != nil {
			return 0, err
		}
	}
	inMemory, err := filepath.Glob(filepath.Join(dir, "*.mem"))
	return levelZero + len(inMemory), err
}

// checkTable reads the two lengths that end a table: … index, its length,
// its checksum, the checksum's length.
func checkTable(dir string, id uint64) (err error) {
	const maxChecksum = 64
	name := table.IDToFilename(id)
	defer func() {
		if err != nil {
			err = fmt.Errorf("table %s: %w", name, err)
		}
	}()
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	end := info.Size() - 4
	checksum, err := lengthAt(f, end)
	if err != nil || checksum == 0 || checksum > maxChecksum {
		return fmt.Errorf("its end is missing or overwritten")
	}
	end -= checksum + 4
	index, err := lengthAt(f, end)
	if err != nil || index == 0 || index > end {
		return fmt.Errorf("its index is missing or overwritten")
	}
	return nil
}

func lengthAt(f *os.File, at int64) (int64, error) {
	var b [4]byte
	_, err := f.ReadAt(b[:], at)
	return int64(binary.BigEndian.Uint32(b[:])), err
}
