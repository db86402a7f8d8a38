package values

import (
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	patience      = 10 * time.Minute // with a value that the disk does not give
	maxUnreadable = 1024             // values that are known as such
)

// unreadable holds since when the disk gives an error instead of some values. It may
// pass: who reads one meanwhile is told that it is damaged, and nothing is done about
// it. A bad sector lasts, and its values are damaged like those with a wrong checksum.
type unreadable struct {
	some  atomic.Bool
	mu    sync.Mutex
	since map[string]time.Time // by key
}

// Passing reports whether the value may be there another time.
func (d *Damage) Passing() bool { return errors.Is(d.err, syscall.EIO) }

// missed notes a value that was not given. It reports whether that is news, and whether
// it lasts for long already.
func (u *unreadable) missed(key []byte, long time.Duration) (news, lasts bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := time.Now()
	since, known := u.since[string(key)]
	switch {
	case known:
		return false, now.Sub(since) >= long
	case len(u.since) >= maxUnreadable: // a disk with so many is not mended one by one
		return false, false
	case u.since == nil:
		u.since = make(map[string]time.Time)
	}
	u.since[string(key)] = now
	u.some.Store(true)
	return true, long <= 0
}

// given notes that a value was given.
func (u *unreadable) given(key []byte) {
	if !u.some.Load() {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.since, string(key))
	u.some.Store(len(u.since) > 0)
}

// report tells of a value that is damaged, and not for the moment only.
func (t *Table) report(d *Damage) {
	if d.Passing() {
		news, lasts := t.unreadable.missed(d.Key, t.Patience)
		if news {
			t.log.Warn("store: the disk fails to give an entry, which may pass", "err", d)
		}
		if !lasts {
			return
		}
	}
	select {
	case t.damaged <- d:
	default: // whoever reads it next reports it again
	}
}
