package node

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/feedring/feedring/internal/store"
)

// storesAgain looks soon for what the store refused.
func (n *Node) storesAgain() { n.background(func() { n.origins.watcher.Resume() }) }

const (
	writesEvery = 2 * time.Second  // the store is asked whether it takes writes
	writesWell  = 10 * time.Second // it does again: not each time that a little room comes and goes
)

// writes knows whether the store takes writes. All that fails meanwhile fails for
// this one reason, so the log is told here, once, and once when it is over.
type writes struct {
	store *store.Store
	log   *slog.Logger
	again func() // is called when the store takes entries again; it must not block. Nil: nobody is told

	mu    sync.Mutex
	last  time.Time // when the store last refused; zero: the log says that it does not
	since time.Time
}

// Check returns why the store takes no writes; nil: it does.
func (w *writes) Check(now time.Time) error {
	err := w.store.Refuses()
	w.note(now, err)
	return err
}

// refused reports whether err, of a write, is the store's and concerns all that is
// written. It is noted, so that there is an end even of what was over before
// somebody looked.
func (w *writes) refused(now time.Time, err error) bool {
	full := errors.Is(err, store.ErrFull)
	if w == nil || err == nil {
		return full
	}
	if !full {
		if err = w.store.Refuses(); err == nil || errors.Is(err, store.ErrClosed) { // the peer stops
			return false
		}
	}
	w.note(now, err)
	return true
}

// note takes in whether the store refuses.
func (w *writes) note(now time.Time, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err != nil && w.last.IsZero():
		w.since, w.last = now, now
		w.log.Error("the store takes nothing new, so no entries are published or cached; the peer goes on by itself when it does", "err", err)
	case err != nil:
		w.last = now
	case !w.last.IsZero() && now.Sub(w.last) >= writesWell:
		w.log.Info("the store takes entries again", "after", now.Sub(w.since).Round(time.Second))
		w.last = time.Time{}
		if w.again != nil {
			w.again()
		}
	}
}

// watch looks until ctx ends. A write that failed is over when another succeeds,
// so while the store refuses one is tried.
func (w *writes) watch(ctx context.Context) {
	tick := time.NewTicker(writesEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if w.Check(time.Now()) != nil {
			_ = w.store.Put(ctx, store.BucketMeta, "written", nil) // Check tells of it
		}
	}
}
