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
	var err error
	t.Refs, t.Entries = s.heads.Totals()
	t.Bytes, err = s.disk.Used()
	return t, err
}
