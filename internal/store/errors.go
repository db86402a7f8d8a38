package store

import (
	"errors"

	"github.com/feedring/feedring/internal/store/disk"
	"github.com/feedring/feedring/internal/store/find"
	"github.com/feedring/feedring/internal/store/rows"
)

// The errors a caller may want to tell apart. Those returned wrap one of them
// and say in one line what is wrong.
var (
	ErrLocked   = disk.ErrLocked
	ErrNewer    = disk.ErrNewer
	ErrCorrupt  = disk.ErrCorrupt
	ErrFull     = disk.ErrFull
	ErrConflict = errors.New("another entry is already stored at this position")
	ErrTooLarge = rows.ErrTooLarge
	ErrInvalid  = rows.ErrInvalid
	ErrNotFound = find.ErrNotFound
	ErrClosed   = errors.New("store is closed")
	ErrCursor   = find.ErrCursor
)
