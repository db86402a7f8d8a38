package node

import (
	"errors"
	"fmt"
	"time"

	"github.com/feedring/feedring/internal/host/identity"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/node/internal/front"
)

// What may be wrong with a setting, besides its range.
var (
	ErrNoData      = errors.New("no data directory is named")
	ErrNoFleet     = errors.New("the peer is in no fleet")
	ErrNetworkName = errors.New("a network's name has at most 32 letters a-z, digits and hyphens")
)

// KeepError is for copies that were kept for less time than they are fresh.
type KeepError struct{ Freshness time.Duration }

func (e *KeepError) Error() string {
	return fmt.Sprintf("it is less than the freshness, %s", e.Freshness)
}

// NoDirectoryError is for what is in the place of the store.
type NoDirectoryError struct{ Path string }

func (e *NoDirectoryError) Error() string {
	return e.Path + " is no directory, and the store would be there"
}

// LongPathError is for a control socket whose path the system does not take.
type LongPathError = front.LongPathError

// TokenError is for a file that holds no API token, or one that others can read.
type TokenError = front.TokenError

// LostKeyError is for a store whose peer's key is gone.
type LostKeyError struct{ Key, Store, Data string }

func (e *LostKeyError) Unwrap() error { return identity.ErrBad }
func (e *LostKeyError) Error() string {
	return fmt.Sprintf("%v: %s is missing, and %s belongs to it", identity.ErrBad, e.Key, e.Store)
}

// OpenStoreError is for a store that others can read, which holds private feeds.
type OpenStoreError struct {
	Path string
	Err  error // of closing it
}

func (e *OpenStoreError) Unwrap() error { return e.Err }
func (e *OpenStoreError) Error() string {
	return fmt.Sprintf("others can read %s, which holds private feeds: %v", e.Path, e.Err)
}

// StateError is for the state of a group that the store has and that cannot be
// read: with another one this peer would break its word.
type StateError struct{ Err error }

func (e *StateError) Unwrap() error { return e.Err }
func (e *StateError) Error() string {
	return fmt.Sprintf("stored state of a group is unreadable: %v", e.Err)
}

// Why a store cannot be opened.
var (
	ErrStoreInUse   = store.ErrLocked
	ErrStoreNewer   = store.ErrNewer
	ErrStoreDamaged = store.ErrCorrupt
	ErrStoreFull    = store.ErrFull
)
