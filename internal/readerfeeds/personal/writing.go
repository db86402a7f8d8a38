package personal

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/feedring/feedring/internal/readerfeeds/personal/rows"
	"github.com/feedring/feedring/internal/store"
)

// writing is what waits for the disk, in its order: a row is never on disk
// before one that it names.
type writing struct {
	mu      sync.Mutex
	waiting []store.Change
	under   []store.Change    // being written
	rows    map[string][]byte // of both: what a key will hold
	bytes   int
	ready   chan struct{} // holds one
	spare   chan struct{} // closed and replaced whenever something was written, or was not
	queued  uint64        // rows ever
	done    uint64        // of them on disk
	failed  error         // of the last attempt
}

func (w *writing) init() {
	w.rows, w.ready, w.spare = make(map[string][]byte), make(chan struct{}, 1), make(chan struct{})
}

// put queues a row, or with nil the end of one, and returns what to wait for.
// It never blocks.
func (w *writing) put(key string, value []byte) (ticket uint64) {
	w.mu.Lock()
	w.queued++
	ticket = w.queued
	w.waiting = append(w.waiting, store.Change{Key: key, Value: value})
	w.rows[key] = value
	w.bytes += len(key) + len(value)
	w.mu.Unlock()
	signal(w.ready)
	return ticket
}

// signal fills a channel that holds one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// pause waits until ctx ends at most.
func pause(ctx context.Context, d time.Duration) {
	wait := time.NewTimer(d)
	defer wait.Stop()
	select {
	case <-ctx.Done():
	case <-wait.C:
	}
}

// until waits for a condition, which is looked at whenever something was written, or
// was not. An error ends it.
func (w *writing) until(ctx context.Context, is func() (bool, error)) error {
	for {
		w.mu.Lock()
		ok, err := is()
		spare := w.spare
		w.mu.Unlock()
		if ok || err != nil {
			return err
		}
		select {
		case <-spare:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// wait returns when a row is on disk, or could not be written.
func (w *writing) wait(ctx context.Context, ticket uint64) error {
	first := true
	return w.until(ctx, func() (bool, error) {
		switch {
		case w.done >= ticket:
			return true, nil
		case first: // the last attempt was without this row
			first = false
			return false, nil
		}
		return false, w.failed
	})
}

// row returns what waits for the disk under a key. A row that ends is nil.
func (w *writing) row(key string) (value []byte, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	value, ok = w.rows[key]
	return value, ok
}

func (w *writing) size() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.bytes
}

// room waits until more may be queued.
func (w *writing) room(ctx context.Context) error {
	return w.until(ctx, func() (bool, error) { return w.bytes <= maxPending, ctx.Err() })
}

// take moves what waits to what is being written, behind what failed before.
func (w *writing) take() []store.Change {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.under = append(w.under, w.waiting...)
	w.waiting = nil
	return w.under
}

// written forgets what is on disk, or tells who waits why it is not.
func (w *writing) written(n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed = err; err == nil {
		w.done += uint64(n)
		w.under, w.bytes = nil, 0
		w.rows = make(map[string][]byte)
		for _, c := range w.waiting {
			w.rows[c.Key] = c.Value
			w.bytes += len(c.Key) + len(c.Value)
		}
	}
	close(w.spare)
	w.spare = make(chan struct{})
}

// flush writes everything that waits. One call at a time.
func (r *Reflector) flush(ctx context.Context) error {
	changes := r.writing.take()
	if len(changes) == 0 {
		return nil
	}
	err := r.cfg.Store.Write(ctx, store.BucketSubscription, changes)
	r.writing.written(len(changes), err)
	return err
}

// write puts rows on disk as they come, until ctx ends.
func (r *Reflector) write(ctx context.Context) {
	save := time.NewTicker(saveCursors)
	defer save.Stop()
	failing := false
	for {
		var due <-chan time.Time
		if r.inUse() { // whoever subscribes first has something written
			due = save.C
		}
		select {
		case <-ctx.Done():
			return
		case <-r.writing.ready:
		case <-due:
			r.saveFeeds()
			r.settle()
			r.shorten(ctx)
		}
		err := r.flush(ctx)
		if err != nil && ctx.Err() == nil {
			if !failing {
				r.cfg.Log.Warn("personal feeds are not saved: tried again until they are", "err", err)
			}
			pause(ctx, retryAfter)
			signal(r.writing.ready)
		}
		failing = err != nil
	}
}

// inUse reports whether anybody subscribes.
func (r *Reflector) inUse() bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.byID.Len() > 0
}

// shorten takes the content from the oldest copies where all are too much.
func (r *Reflector) shorten(ctx context.Context) {
	for _, number := range r.tooMuch() {
		e, err := r.copied(number)
		if err != nil {
			if !errors.Is(err, store.ErrNotFound) && ctx.Err() == nil {
				r.cfg.Log.Warn("personal feeds: a copy cannot be read", "err", err)
			}
			continue
		}
		r.changing.Lock()
		r.mu.Lock()
		base := identityOf(e.Feed, e.ID)
		public := apartFrom(base, "")
		for _, id := range [4]identity{base, apartFrom(base, e.Publisher), public, apartFrom(public, e.Publisher)} {
			if s, ok := r.table.byID[id]; ok && r.table.all[s].number == number && r.table.all[s].kept {
				r.table.all[s].short = true
				r.keep(&r.table.all[s], e)
			}
		}
		r.mu.Unlock()
		r.changing.Unlock()
	}
}

// tooMuch returns the numbers of the oldest copies that have content, so many
// that nine tenths of what is allowed are left.
func (r *Reflector) tooMuch() (oldest []uint64) {
	r.changing.Lock()
	defer r.changing.Unlock()
	over := r.table.bodies - r.bodies
	if over <= 0 {
		return nil
	}
	sizes := make(map[uint64]uint32)
	for i := range r.table.all {
		if h := &r.table.all[i]; h.kept && !h.short && h.size > 2*rows.MaxSummary {
			sizes[h.number] = h.size - 2*rows.MaxSummary
		}
	}
	over += r.bodies / 10
	for _, number := range slices.Sorted(maps.Keys(sizes)) {
		if over <= 0 {
			break
		}
		over -= int64(sizes[number])
		oldest = append(oldest, number)
	}
	return oldest
}
