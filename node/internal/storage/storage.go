// Package storage knows whether the store takes writes, and says so where one was
// refused.
package storage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
)

const (
	checkEvery = 2 * time.Second  // while the store refuses, it is asked whether it takes writes
	restEvery  = 10 * time.Second // while it takes them: what is written meanwhile fails by itself
	wellAfter  = 10 * time.Second // it does again: not each time that a little room comes and goes
)

// Waiting is told when the store takes entries again. It must not block.
type Waiting interface{ StoreRecovered() }

// Health knows whether the store takes writes. All that fails meanwhile fails for
// this one reason, so the log is told here, once, and once when it is over.
type Health struct {
	store   *store.Store
	log     *slog.Logger
	waiting Waiting // nil: nobody

	turned chan struct{} // holds one: it refuses from now on

	mu    sync.Mutex
	last  time.Time // when the store last refused; zero: the log says that it does not
	since time.Time
}

// New returns the Health of a store.
func New(s *store.Store, log *slog.Logger) *Health {
	return &Health{store: s, log: log, turned: make(chan struct{}, 1)}
}

// Notify has w told from now on.
func (h *Health) Notify(w Waiting) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiting = w
}

// Check returns why the store takes no writes; nil: it does.
func (h *Health) Check(now time.Time) error {
	err := h.store.Refuses()
	h.note(now, err)
	return err
}

// Refused reports whether err, of a write, is the store's and concerns all that is
// written. It is noted, so that there is an end even of what was over before
// somebody looked.
func (h *Health) Refused(now time.Time, err error) bool {
	full := errors.Is(err, store.ErrFull)
	if h == nil || err == nil {
		return full
	}
	if !full {
		if err = h.store.Refuses(); err == nil || errors.Is(err, store.ErrClosed) { // the peer stops
			return false
		}
	}
	h.note(now, err)
	return true
}

// note takes in whether the store refuses.
func (h *Health) note(now time.Time, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case err != nil && h.last.IsZero():
		h.since, h.last = now, now
		select {
		case h.turned <- struct{}{}:
		default:
		}
		h.log.Error("the store takes nothing new, so no entries are published or cached; the peer goes on by itself when it does", "err", err)
	case err != nil:
		h.last = now
	case !h.last.IsZero() && now.Sub(h.last) >= wellAfter:
		h.log.Info("the store takes entries again", "after", now.Sub(h.since).Round(time.Second))
		h.last = time.Time{}
		if h.waiting != nil {
			h.waiting.StoreRecovered()
		}
	}
}

// Watch checks until ctx ends. A write that failed is over when another succeeds,
// so while the store refuses one is tried.
func (h *Health) Watch(ctx context.Context) {
	next := time.NewTimer(restEvery)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.turned:
		case <-next.C:
		}
		err := h.Check(time.Now())
		next.Reset(h.pause())
		if err != nil {
			_ = h.store.Put(ctx, store.BucketMeta, "written", nil) // Check tells of it
		}
	}
}

// pause is how long until the store is asked again.
func (h *Health) pause() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last.IsZero() {
		return restEvery
	}
	return checkEvery
}

// NotKept wraps the error of a write so that the web front tells apart why nothing
// was kept.
func NotKept(what string, err error) error {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: %w", what, err)
	case errors.Is(err, store.ErrFull):
		return web.ErrFull.Of(fmt.Errorf("%s: %w", what, err))
	}
	return web.ErrUnsaved.Of(fmt.Errorf("%s: %w", what, err))
}
