package disk

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// Why a database cannot be opened, or not be written.
var (
	ErrLocked  = errors.New("store is in use by another process")
	ErrNewer   = errors.New("store was written by a newer version")
	ErrCorrupt = errors.New("store is damaged")
	ErrFull    = errors.New("disk is full")
)

// Full reports whether err tells of a disk without room. badger flattens most
// errors of the system into text, so the text is looked at as well.
func Full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		strings.Contains(err.Error(), syscall.ENOSPC.Error()) ||
		strings.Contains(err.Error(), syscall.EDQUOT.Error())
}

// Explain turns what badger says about the directory into one of the errors above.
func (d *Dir) Explain(err error) error {
	dir := d.Path
	switch text := err.Error(); {
	case errors.Is(err, ErrLocked), strings.Contains(text, "Cannot acquire directory lock"):
		return fmt.Errorf("opening %s: %w", dir, ErrLocked)
	case Full(err):
		return fmt.Errorf("opening %s: %w", dir, ErrFull)
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EROFS),
		strings.Contains(text, syscall.EACCES.Error()), strings.Contains(text, syscall.EROFS.Error()):
		return fmt.Errorf("opening %s: not allowed to write there: %w", dir, err)
	case strings.Contains(text, "unsupported version"):
		return fmt.Errorf("opening %s: %w: %w", dir, ErrNewer, err)
	default:
		return fmt.Errorf("opening %s: %w: %w", dir, ErrCorrupt, err)
	}
}
