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
// badger removes it.
func checkTables(dir string) error {
	manifest, err := os.Open(filepath.Join(dir, badger.ManifestFilename))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a new store, or badger says what it misses
	}
	if err != nil {
		return err
	}
	defer manifest.Close()
	listed, _, err := badger.ReplayManifestFile(manifest, 0, badger.DefaultOptions(dir))
	if err != nil {
		return err
	}
	for id := range listed.Tables {
		name := table.IDToFilename(id)
		if err := checkTable(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
	}
	return nil
}

// checkTable reads the two lengths that end a table: … index, its length,
// its checksum, the checksum's length.
func checkTable(name string) error {
	const maxChecksum = 64
	f, err := os.Open(name)
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
