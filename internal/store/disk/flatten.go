package disk

import (
	"errors"
	"strings"

	"github.com/dgraph-io/badger/v4"
)

// ErrInterrupted is what Flatten ends with if it was told to.
var ErrInterrupted = errors.New("compaction was interrupted")

// beforeTable begins the message that badger logs, in the goroutine of Flatten and at
// no other place, before it compacts the next table.
const beforeTable = "Attempting to compact"

// Flatten compacts all tables into one level. That takes a second for some 50 MB, and
// badger has no way to end it early but its log: each message is a place between two
// tables at which Flatten holds nothing, and where it may be left once quit is closed.
// What was compacted by then remains so.
func (d *Dir) Flatten(db *badger.DB, quit <-chan struct{}) (err error) {
	log, ok := db.Opts().Logger.(quietLogger)
	if ok {
		log.quit.Store(&quit)
		defer log.quit.Store(nil)
	}
	defer func() {
		switch r := recover(); r {
		case nil:
		case ErrInterrupted:
			err = ErrInterrupted
		default:
			panic(r)
		}
	}()
	return db.Flatten(1)
}

// betweenTables leaves Flatten if it is to end.
func (l quietLogger) betweenTables(format string) {
	quit := l.quit.Load()
	if quit == nil || !strings.HasPrefix(format, beforeTable) {
		return
	}
	select {
	case <-*quit:
		panic(ErrInterrupted)
	default:
	}
}
