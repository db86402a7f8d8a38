package store

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// The errors a caller may want to tell apart. Those returned wrap one of them
// and say in one line what is wrong and what to do.
var (
	ErrLocked   = errors.New("store is in use by another process")
	ErrNewer    = errors.New("store was written by a newer version")
	ErrCorrupt  = errors.New("store is damaged")
	ErrFull     = errors.New("disk is full")
	ErrConflict = errors.New("another entry is already stored at this position")
	ErrTooLarge = errors.New("too large to store")
	ErrInvalid  = errors.New("cannot be stored")
	ErrNotFound = errors.New("not in the store")
	ErrClosed   = errors.New("store is closed")
	ErrCursor   = errors.New("page cursor is not one of this store's: start again from the first page")
)

// full reports whether err tells of a disk without room. badger flattens most
// errors of the system into text, so the text is looked at as well.
func full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		strings.Contains(err.Error(), syscall.ENOSPC.Error()) ||
		strings.Contains(err.Error(), syscall.EDQUOT.Error())
}

// openError turns what badger says about a directory into one of ours.
func openError(dir string, err error) error {
	switch text := err.Error(); {
	case errors.Is(err, ErrLocked), strings.Contains(text, "Cannot acquire directory lock"):
		return fmt.Errorf("%w: stop the other peer on %s, or choose another data directory", ErrLocked, dir)
	case full(err):
		return fmt.Errorf("opening %s: %w: make room on its disk", dir, ErrFull)
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EROFS),
		strings.Contains(text, syscall.EACCES.Error()), strings.Contains(text, syscall.EROFS.Error()):
		return fmt.Errorf("opening %s: not allowed to write there: %w", dir, err)
	case strings.Contains(text, "unsupported version"):
		return fmt.Errorf("opening %s: %w: use the version that wrote it: %w", dir, ErrNewer, err)
	default:
		return fmt.Errorf("opening %s: %w: restore it from a copy, or move it away to begin anew: %w", dir, ErrCorrupt, err)
	}
}
