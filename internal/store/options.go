package store

import (
	"fmt"
	"log/slog"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

// Options tune a Store. The zero value is good for a small peer.
type Options struct {
	// Reserve is how much room, in bytes, the disk must have left for anything
	// to be stored; below it Append and Put return ErrFull. badger writes
	// through memory maps, where a full disk ends the process instead of
	// returning an error, so this must cover what it writes in the background.
	// 0: 32 MiB. Negative: no check.
	Reserve int64
	// ScanItems and ScanBytes bound one Scan that asks for more or names no
	// bound, and SearchBytes the payloads of one Search. 0: 1,000 items,
	// 4 MiB and 16 MiB.
	ScanItems, ScanBytes, SearchBytes int
	// Log is told of what the database does on its own and could not do.
	// nil: nothing is logged.
	Log *slog.Logger
}

const (
	defaultReserve     = 32 << 20
	defaultScanItems   = 1000
	defaultScanBytes   = 4 << 20
	defaultSearchBytes = 16 << 20
)

// Validate reports the first field that cannot work.
func (o Options) Validate() error {
	if o.ScanItems < 0 || o.ScanBytes < 0 || o.SearchBytes < 0 {
		return fmt.Errorf("store options: the bounds of a scan or search cannot be negative")
	}
	return nil
}

func (o Options) withDefaults() Options {
	o.Reserve = orDefault(o.Reserve, defaultReserve)
	o.ScanItems = orDefault(o.ScanItems, defaultScanItems)
	o.ScanBytes = orDefault(o.ScanBytes, defaultScanBytes)
	o.SearchBytes = orDefault(o.SearchBytes, defaultSearchBytes)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

func orDefault[N int | int64](n, otherwise N) N {
	if n == 0 {
		return otherwise
	}
	return n
}

// memtable is the size at which rows held in memory are written out as a
// table. A transaction takes at most 15 % of it, which must hold the largest
// item (see the limits in item.go); memory, the time to close and the time to
// open after a kill grow with it.
const memtable = 6 << 20

// badgerOptions are those of a database that shares a small machine: what is
// not said here is badger's default.
func badgerOptions(dir string, log *slog.Logger) badger.Options {
	o := badger.DefaultOptions(dir).
		WithLogger(quietLogger{log}).
		WithSyncWrites(true).
		// One goroutine writes, so no transaction can conflict.
		WithDetectConflicts(false).
		WithMetricsEnabled(false).
		WithMemTableSize(memtable).
		WithNumMemtables(2).
		WithNumLevelZeroTables(2).
		WithNumLevelZeroTablesStall(6).
		WithNumCompactors(2).
		WithCompactL0OnClose(false).
		WithBaseTableSize(2 << 20).
		WithBaseLevelSize(8 << 20).
		// Every value stays with its key: the value log, whose room only its
		// own collector gives back, remains empty and at its least size.
		WithValueThreshold(memtable * 15 / 100).
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
type quietLogger struct{ log *slog.Logger }

func (l quietLogger) Errorf(format string, args ...any) {
	l.log.Error("store: " + fmt.Sprintf(format, args...))
}
func (l quietLogger) Warningf(format string, args ...any) {
	l.log.Warn("store: " + fmt.Sprintf(format, args...))
}
func (l quietLogger) Infof(string, ...any)  {}
func (l quietLogger) Debugf(string, ...any) {}
