package client

import (
	"time"

	"github.com/feedring/feedring"
)

// olderAfter is how long no more history of a feed comes before it is told how
// much there was, so that it is told once.
const olderAfter = 500 * time.Millisecond

// Older says that entries of one feed came that are no news: FollowOptions.History.
type Older struct {
	Theme    feedring.Theme
	Provider feedring.Provider
	Feed     feedring.FeedRef
	Count    int
}

// older counts history by feeds until it is told. The zero older is empty.
type older struct{ feeds []olderFeed }

type olderFeed struct {
	Older
	due time.Time
}

func (o *older) add(e *feedring.Entry) {
	due := time.Now().Add(olderAfter)
	for i := range o.feeds {
		if f := &o.feeds[i]; f.Feed == e.Ref() {
			f.Count, f.due = f.Count+1, due
			return
		}
	}
	o.feeds = append(o.feeds, olderFeed{Older{e.Theme, e.Provider, e.Ref(), 1}, due})
}

// wait is how long the next one to tell can wait, and most at most.
func (o *older) wait(most time.Duration) time.Duration {
	for i := range o.feeds {
		most = min(most, max(0, time.Until(o.feeds[i].due)))
	}
	return most
}

// tellOlder tells of feeds of which no more history came for a moment.
func (f *follower) tellOlder() error {
	now := time.Now()
	waiting := f.older.feeds[:0]
	for _, o := range f.older.feeds {
		if now.Before(o.due) {
			waiting = append(waiting, o)
		} else if f.options.Older != nil {
			if err := f.options.Older(o.Older, f.cursorOrNil()); err != nil {
				return err
			}
		}
	}
	clear(f.older.feeds[len(waiting):])
	f.older.feeds = waiting
	return nil
}
