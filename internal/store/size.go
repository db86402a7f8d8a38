package store

import (
	"fmt"
	"os"
)

// Stats says how much a store holds.
type Stats struct {
	Refs    int
	Entries int   // stored items, superseded versions included
	Bytes   int64 // room taken on disk by what is stored
}

// Stats counts entries from memory and asks the file system for the bytes.
func (s *Store) Stats() (Stats, error) {
	var t Stats
	s.heads.mu.RLock()
	t.Refs = s.heads.byRef.Len()
	for row := range s.heads.byRef.All() {
		t.Entries += int(row.count)
	}
	s.heads.mu.RUnlock()
	var err error
	t.Bytes, err = usedBytes(s.dir)
	return t, err
}

// usedBytes adds up the files of dir. Those that go away meanwhile count as
// nothing.
func usedBytes(dir string) (total int64, err error) {
	files, err := os.ReadDir(dir)
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
