package disk

import (
	"fmt"
	"log/slog"
	"math"
	"sync/atomic"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

// Memtable is the size at which rows held in memory are written out as a
// table. A transaction takes at most 15 % of it, which must hold the largest
// item of the store; memory, the time to close and the time to
// open after a kill grow with it.
const Memtable = 6 << 20

// badgerOptions are those of a database that shares a small machine: what is
// not said here is badger's default.
func badgerOptions(dir string, log *slog.Logger, c Compaction) badger.Options {
	compactors, levelZero, stall := 2, 2, 6
	if narrow {
		stall = narrowStall
	}
	switch c {
	case Still:
		compactors, stall = 0, math.MaxInt32 // who waited would wait for ever
	case Thorough:
		levelZero = 1
	}
	o := badger.DefaultOptions(dir).
		WithLogger(quietLogger{log, new(atomic.Pointer[<-chan struct{}])}).
		WithSyncWrites(true).
		// One goroutine writes, so no transaction can conflict.
		WithDetectConflicts(false).
		WithMetricsEnabled(false).
		WithMemTableSize(Memtable).
		WithNumMemtables(2).
		WithNumLevelZeroTables(levelZero).
		WithNumLevelZeroTablesStall(stall).
		WithNumCompactors(compactors).
		WithCompactL0OnClose(false).
		WithBaseTableSize(2 << 20).
		WithBaseLevelSize(8 << 20).
		// Every value stays with its key: the value log, whose room only its
		// own collector gives back, remains empty and at its least size.
		WithValueThreshold(Memtable * 15 / 100).
		WithValueLogFileSize(1 << 20).
		// Uncompressed blocks are read where the kernel maps them: no block
		// cache, and a search over all texts takes a third of the time.
		WithCompression(options.None).
		WithBlockCacheSize(0).
		WithIndexCacheSize(0)
	if narrow {
		return onNarrow(o)
	}
	return o
}

// quietLogger passes on badger's warnings and errors only: its other messages
// tell nothing to who runs a peer.
type quietLogger struct {
	log  *slog.Logger
	quit *atomic.Pointer[<-chan struct{}] // of Flatten
}

func (l quietLogger) Errorf(format string, args ...any) {
	l.log.Error("store: " + fmt.Sprintf(format, args...))
}
func (l quietLogger) Warningf(format string, args ...any) {
	l.log.Warn("store: " + fmt.Sprintf(format, args...))
}
func (l quietLogger) Infof(format string, _ ...any) { l.betweenTables(format) }
func (l quietLogger) Debugf(string, ...any)         {}
