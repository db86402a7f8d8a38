package disk

import (
	"fmt"
	"time"

	"github.com/feedring/feedring"
)

// Entry is one entry of one publisher's log, shared by all that hold it.
type Entry struct {
	Position  feedring.Position
	ID        int // of the entry at its origin: the same at all mirrors of a feed
	Seen      time.Time
	Published time.Time
	Synced    time.Duration // when it was on its publisher's disk, in virtual time
	Acked     bool          // its publisher was told that it is there
	Lost      bool          // its publisher's store is gone
}

// Head is the entry as machines name it.
func (e *Entry) Head(ref feedring.FeedRef) feedring.Head {
	h := feedring.Head{Feed: ref, Position: e.Position}
	for i := range 8 {
		h.Hash[i] = byte(e.ID >> (8 * i))
	}
	h.Hash[8] = 1
	return h
}

// Log is everything of one feed that ever was on its publisher's disk: the
// truth, which outlives the publisher's store.
type Log struct {
	Ref      feedring.FeedRef
	Index    int // among the world's logs
	Theme    feedring.Theme
	Group    feedring.GroupID // of Theme
	Provider feedring.Provider
	Entries  []*Entry // in the order of positions
	Ended    bool     // its publisher offers the feed no more: who comes later is not told of it
}

// Add takes an entry that is synced at the publisher. It fails where the
// position was used before, or does not follow.
func (l *Log) Add(e *Entry) error {
	if n := len(l.Entries); n > 0 {
		last := l.Entries[n-1]
		if e.Position.Compare(last.Position) <= 0 {
			return fmt.Errorf("position %d/%d of %s is written after %d/%d", e.Position.Epoch, e.Position.Sequence,
				l.Ref.URL, last.Position.Epoch, last.Position.Sequence)
		}
	}
	l.Entries = append(l.Entries, e)
	return nil
}

// LoseAll marks that the publisher's store is gone.
func (l *Log) LoseAll() {
	for _, e := range l.Entries {
		e.Lost = true
	}
}
