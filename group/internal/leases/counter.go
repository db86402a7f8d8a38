package leases

import (
	"maps"
	"time"

	"github.com/feedring/feedring"
)

// Counter counts by peer. A count of zero is forgotten.
type Counter map[feedring.PeerID]int

// Add counts n more of p's.
func (t Counter) Add(p feedring.PeerID, n int) {
	if t[p] += n; t[p] <= 0 {
		delete(t, p)
	}
}

// Window counts by peer what comes within a time, and then begins anew. Use
// NewWindow.
type Window struct {
	began time.Time
	each  Counter
}

// maxInWindow bounds the peers that are counted; what others do is too much.
const maxInWindow = 10_000

// NewWindow returns a window in which nothing came.
func NewWindow() Window { return Window{each: Counter{}} }

// Clone returns an independent copy.
func (w *Window) Clone() Window { return Window{began: w.began, each: maps.Clone(w.each)} }

// Take counts one more of p's, and reports whether that is within most.
func (w *Window) Take(p feedring.PeerID, most int, now time.Time, lasts time.Duration) bool {
	if !now.Before(w.began.Add(lasts)) {
		w.began = now
		clear(w.each)
	}
	if w.each[p] >= most || w.each[p] == 0 && len(w.each) >= maxInWindow {
		return false
	}
	w.each[p]++
	return true
}
