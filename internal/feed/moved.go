package feed

import (
	"cmp"
	"time"

	"github.com/feedring/feedring/internal/feed/document"
)

// A feed that moved for good is asked for at its new address when its origin has
// said so for long enough that it is no slip. Its URL stays what it was: entries,
// catalogue and readers know the feed by that.
const (
	movedTimes  = 3
	movedFor    = 24 * time.Hour
	maxMovedURL = 2048 // bytes
)

// asked is the address that is asked for.
func (s *State) asked() string { return cmp.Or(s.Address, s.URL) }

// follow takes in where permanent redirects led; empty: nowhere.
func (s *State) follow(to string, now time.Time) {
	switch {
	case to == "" || len(to) > maxMovedURL:
		s.Moved, s.MovedSince, s.MovedTimes = "", time.Time{}, 0
		return
	case to != s.Moved:
		s.Moved, s.MovedSince, s.MovedTimes = to, now, 1
	default:
		s.MovedTimes++
	}
	if s.MovedTimes >= movedTimes && now.Sub(s.MovedSince) >= movedFor {
		s.Moved, s.MovedSince, s.MovedTimes, s.Address = "", time.Time{}, 0, to
	}
}

// fallBack gives up a new address that fails, unless it only asks to wait: what
// was said there is not the last word. It returns what is to be made of err.
func (s *State) fallBack(err *Error) *Error {
	if s.Address == "" || err.Kind == document.KindUnsaved || err.Kind == document.KindTooManyRequests || err.RetryAfter > 0 {
		return err
	}
	s.Address = ""
	if err.Kind != document.KindGone {
		return err
	}
	lost := *err
	lost.Kind = document.KindNotFound
	return &lost
}
