package store

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
	t.Bytes, err = s.disk.Used()
	return t, err
}
