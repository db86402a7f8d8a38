package store

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/feedring/feedring/internal/store/disk"
	"github.com/feedring/feedring/internal/store/heads"
	"github.com/feedring/feedring/internal/store/schema"
	"github.com/feedring/feedring/internal/store/values"
)

// Store is an open store. All methods may be called at the same time.
type Store struct {
	dir  string
	opts Options
	disk disk.Dir

	// failure, in tests, is what every commit fails with.
	failure error

	// mu is held for reading around every use of db, and for writing to
	// replace it. db is nil after Close, or when it could not be reopened
	// after a failed write; then broken says why.
	mu     sync.RWMutex
	db     *badger.DB
	broken error
	failed atomic.Pointer[error] // why the last commit failed; nil: it did not

	values  *values.Table // the writer's, but for reading
	heads   heads.Table
	holes   heads.Holes
	trimmer trimmer // the writer's
	upkeep  upkeep  // the writer's

	damaged atomic.Int64 // entries found damaged
	lost    chan struct{}

	journal atomic.Uint64 // number of the last journal row
	news    chan struct{}

	erasures atomic.Int64 // transactions that erased what an index may have words of

	requests  chan *request
	quit      chan struct{} // closed by Close
	stopped   chan struct{} // closed when the writer has returned
	closeOnce sync.Once
	closeErr  error
}

// Open opens or creates the store in dir. It fails with ErrLocked while another
// process has it open (a lock left by a kill does not count), ErrNewer,
// ErrFull or ErrCorrupt.
func Open(dir string, o Options) (*Store, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	return openWith(dir, o, values.Open(dir, o.Log))
}

// Lock keeps other processes from locking a data directory until unlock is called. It fails with
// ErrLocked if one has. Where the system cannot lock it keeps nobody out.
func Lock(dir string) (unlock func(), err error) { return disk.Lock(dir) }

func openWith(dir string, o Options, table *values.Table) (*Store, error) {
	s := &Store{
		dir: dir, opts: o, disk: disk.Dir{Path: dir, Reserve: o.Reserve, Log: o.Log, Meter: disk.System{}},
		values:   table,
		trimmer:  trimmer{busy: trimBusy, look: true},
		upkeep:   upkeep{busy: stepBusy},
		news:     make(chan struct{}, 1),
		lost:     make(chan struct{}, 1),
		requests: make(chan *request), quit: make(chan struct{}), stopped: make(chan struct{}),
	}
	db, err := s.openDB(fromDisk)
	if err != nil {
		return nil, err
	}
	s.db = db
	s.settle()
	go s.write()
	return s, nil
}

// DiskFree is how many bytes the disk has left, and math.MaxInt64 where the system does not tell.
func (s *Store) DiskFree() (int64, error) { return s.disk.Meter.Free(s.dir) }

// Close waits for writes under way and closes the database. What was not
// written fails with ErrClosed. Closing again does nothing.
func (s *Store) Close() error {
	s.closeOnce.Do(func() {
		close(s.quit)
		<-s.stopped
		s.upkeep.stopFlattening()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.db != nil {
			s.closeErr = s.disk.Close(s.db)
		}
		s.values.Close()
		s.db, s.broken = nil, ErrClosed
	})
	return s.closeErr
}

// openDB opens the database, checks the schema and reads where the journal ends,
// and the heads where they come from disk.
func (s *Store) openDB(from source) (db *badger.DB, err error) {
	// badger panics on some kinds of damage instead of returning an error.
	defer func() {
		if r := recover(); r != nil {
			db, err = nil, s.disk.Explain(fmt.Errorf("%v", r))
		}
	}()
	compacts := s.upkeep.compacts
	if db, s.upkeep.compacts, err = s.disk.Open(compacts); err != nil {
		return nil, err
	}
	if s.upkeep.compacts != compacts {
		s.upkeep.since, s.trimmer.look = time.Now(), true // at rest it is still again
	}
	found, err := s.schema(db).Check()
	if err == nil && from == fromDisk {
		if err = s.values.Load(db); err == nil {
			err = s.loadHeads(db)
		}
	}
	if err == nil {
		err = s.loadJournal(db)
	}
	if err == nil && found < schema.Version {
		err = s.schema(db).Upgrade(found)
	}
	if err != nil {
		return nil, errors.Join(err, s.disk.Close(db))
	}
	return db, nil
}

func (s *Store) schema(db *badger.DB) schema.Database {
	return schema.Database{DB: db, Values: s.values, Heads: &s.heads, Dir: &s.disk}
}

// view runs read on a consistent state of the database.
func (s *Store) view(read func(txn values.Txn) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.db == nil {
		return s.broken
	}
	return s.values.View(s.db, read)
}

// get returns a copy of the value at key, or ErrNotFound.
func get(txn values.Txn, key []byte) ([]byte, error) {
	item, err := txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("reading the store: %w", err)
	}
	return item.ValueCopy(nil)
}
