package store

import (
	"errors"

	"github.com/feedring/feedring/internal/store/disk"
)

// The errors a caller may want to tell apart. Those returned wrap one of them
// and say in one line what is wrong and what to do.
var (
	ErrLocked   = disk.ErrLocked
	ErrNewer    = disk.ErrNewer
	ErrCorrupt  = disk.ErrCorrupt
	ErrFull     = disk.ErrFull
	ErrConflict = errors.New("another entry is already stored at this position")
	ErrTooLarge = errors.New("too large to store")
	ErrInvalid  = errors.New("cannot be stored")
	ErrNotFound = errors.New("not in the store")
	ErrClosed   = errors.New("store is closed")
	ErrCursor   = errors.New("page cursor is not one of this store's: start again from the first page")
)
