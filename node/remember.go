package node

import (
	"context"
	"time"

	"github.com/feedring/feedring/internal/feed"
	"github.com/feedring/feedring/internal/store"
)

// saveTimesEvery is how often what changes with each look is put on disk: the
// whole state of a feed may have half a megabyte, and looks may be a second
// apart.
const saveTimesEvery = 2 * time.Minute

const saveAllWithin = 500 * time.Millisecond // of the time to close

// saved is what the disk knows of a feed.
type saved struct {
	state feed.State
	at    time.Time
}

// due reports whether st should be put on disk: where something is new that a
// later look would not find again, or where dates and validators were not
// saved for long, or would not be soon.
func (s *saved) due(st *feed.State, now time.Time) bool {
	old := &s.state
	switch {
	case s.at.IsZero(), old.Title != st.Title, old.Feedring != st.Feedring, old.Moved != st.Moved,
		old.ByLink != st.ByLink, old.LastError != st.LastError, old.Known() != st.Known(),
		(old.Failures == 0) != (st.Failures == 0):
		return true
	case old.LastLook.Equal(st.LastLook):
		return false // saved with its entries
	}
	return now.Sub(s.at) >= saveTimesEvery || st.NextLook.Sub(now) >= saveTimesEvery
}

// save puts on disk what the last look left.
func (o *origins) save(ctx context.Context, url string, f *origin) error {
	o.mu.Lock()
	st, done := f.state, !f.saved.at.IsZero() && f.saved.state.LastLook.Equal(f.state.LastLook)
	o.mu.Unlock()
	if done || st.LastLook.IsZero() {
		return nil
	}
	return o.put(ctx, url, f, st)
}

func (o *origins) put(ctx context.Context, url string, f *origin, st feed.State) error {
	value, err := st.MarshalBinary()
	if err != nil {
		return err
	}
	if err := o.store.Put(ctx, store.BucketFeed, feedState+url, value); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	f.saved = saved{st, time.Now()}
	return nil
}

// saveAll puts on disk what was spared: the schedule goes on after a restart.
func (o *origins) saveAll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, saveAllWithin)
	defer cancel()
	o.mu.Lock()
	feeds := make(map[string]*origin, len(o.feeds))
	for url, f := range o.feeds {
		feeds[url] = f
	}
	o.mu.Unlock()
	for url, f := range feeds {
		if err := o.save(ctx, url, f); err != nil {
			o.log.Warn("what is known of a feed was not saved", "url", url, "err", err)
			return
		}
	}
}
