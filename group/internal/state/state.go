// Package state is what a membership keeps on disk.
package state

import (
	"time"

	"github.com/feedring/feedring"
)

// State is what must survive a restart.
type State struct {
	Term        feedring.Term `json:"Term"`        // accepted; never falls
	Highest     uint64        `json:"Highest"`     // highest number this peer ever used or accepted
	Incarnation uint64        `json:"Incarnation"` // of this peer's row; New uses one more
	From        time.Time     `json:"From"`        // the row's mark
	// Dropped is the date up to which copies were dropped, here or where they were
	// polled, where by the present clock what is older is fresh: a clock was ahead.
	// The mark goes back no further. Zero: nothing was. Prune and Fetched tell the driver,
	// and Noted makes this of what it noted.
	Dropped time.Time `json:"Dropped"`
}

// notedAhead is how far ahead of the clock a date of what was dropped is believed.
const notedAhead = 24 * time.Hour

// Noted is State.Dropped for the date that a driver noted, at the start of a life. Where
// what is older is not fresh any more, it is zero. A date to come, of a clock that was
// ahead by more than the freshness, holds: this clock may be behind, and others ahead, so
// what was dropped may be dated later than now. What is more than a day ahead counts as
// now: a clock that once was years ahead shall not keep a peer from promising anything.
func Noted(at, now time.Time, freshness time.Duration) time.Time {
	switch {
	case !at.After(now.Add(-freshness)):
		return time.Time{}
	case at.After(now.Add(notedAhead)):
		return now
	}
	return at
}
