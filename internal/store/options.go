package store

import (
	"fmt"
	"log/slog"
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
