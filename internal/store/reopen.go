package store

import (
	"runtime/debug"
	"time"
)

// ready reopens the database if an earlier attempt to do so failed.
func (s *Store) ready() error {
	s.mu.RLock()
	open := s.db != nil
	s.mu.RUnlock()
	if !open {
		s.reopen(fromDisk)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.broken
}

// source is where an opened store takes its heads from.
type source bool

const (
	fromDisk source = false
	asBefore source = true // every write was taken in: a million are not read again
)

// reopen closes and opens the database: after a failed write badger may have
// no memtable left, and would end the process at the next write.
func (s *Store) reopen(from source) {
	s.upkeep.stopFlattening() // before others wait
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.db != nil {
		if err := s.disk.Close(s.db); err != nil {
			s.opts.Log.Warn("store: closing to open it anew", "err", err)
			from = fromDisk
		}
	}
	s.db, s.broken = s.openDB(from)
}

// badger maps every table it writes into memory and pools what it builds them
// with, and gives most of that back only when it is closed. So the writer does
// that in a quiet moment, some 50 ms in which others wait, and at the latest
// after trimBusy bytes.
const (
	trimIdle  = 4 << 20 // bytes written, or built by compaction, that are worth a trim
	trimBusy  = 12 << 20
	trimAfter = time.Second // without a write
)

// trimmer knows what was written since the database was opened.
type trimmer struct {
	busy    int64 // written that cannot wait for a quiet moment: trimBusy
	written int64
	newest  uint64 // greatest table number when it was opened
	look    bool   // something happened since the last look
}

// due reports that a trim cannot wait for a quiet moment.
func (t *trimmer) due() bool { return t.written >= t.busy }

// trim gives back the memory that the database took since it was opened.
func (s *Store) trim() {
	s.trimmer.written = 0
	if !s.upkeep.flat && s.disk.CheckFree(s.opts.Reserve) == nil { // closing and opening write
		s.openAnew()
	}
}

func (s *Store) openAnew() {
	s.trimmer.written = 0
	s.reopen(asBefore)
	s.trimmer.newest, _ = s.tables(0)
	debug.FreeOSMemory()
}

// tables returns the greatest number of a table, and the size of those with a
// greater one than after.
func (s *Store) tables(after uint64) (newest uint64, size int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.db == nil {
		return after, 0
	}
	for _, table := range s.db.Tables() {
		newest = max(newest, table.ID)
		if table.ID > after {
			size += int64(table.OnDiskSize)
		}
	}
	return newest, size
}
