package store

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
)

// checkTables looks at the end of each table file. badger opens tables in
// goroutines of its own and panics there when one is cut or overwritten, which
// would end the process without a word that helps.
func checkTables(dir string) error {
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil {
		return err
	}
	for _, name := range tables {
		if err := checkTable(name); err != nil {
			return fmt.Errorf("table %s: %w", filepath.Base(name), err)
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
