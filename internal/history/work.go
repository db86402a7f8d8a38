package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/feedring/feedring/internal/store"
)

// work brings the index up to the store until ctx ends.
func (h *History) work(ctx context.Context) {
	for ctx.Err() == nil {
		more, err := h.step(ctx)
		if more && err == nil {
			continue
		}
		var retry <-chan time.Time
		if err != nil && ctx.Err() == nil {
			h.log.Warn("the index of the history cannot be brought up to date: searches take longer", "err", err)
			retry = time.After(again)
		}
		select {
		case <-ctx.Done():
		case <-h.store.News():
		case <-h.wake:
		case <-h.erasing.wait():
		case <-retry:
		}
	}
}

// step does the next piece of work, and reports whether there may be more.
func (h *History) step(ctx context.Context) (more bool, err error) {
	st := h.state.Load()
	for _, do := range []func(context.Context, *state) (bool, error){h.sweep, h.catchUp, h.flush, h.extend, h.merge, h.erase, h.tidy} {
		more, err = do(ctx, st)
		if errors.Is(err, errDamaged) {
			h.reset(st, err)
			return true, nil
		}
		if more || err != nil {
			break
		}
	}
	return more, err
}

// publish puts a state in the place of another: on disk first.
func (h *History) publish(ctx context.Context, st, to *state) error {
	if err := h.save(ctx, to); err != nil {
		return err
	}
	h.state.CompareAndSwap(st, to) // or st was found damaged meanwhile
	return nil
}

// sweep removes the records of segments that are gone, and the journal of what
// is in segments. A search that still reads them notices, and begins again.
func (h *History) sweep(ctx context.Context, st *state) (more bool, err error) {
	if h.trimmed < st.flushed {
		if err := h.store.TrimJournal(ctx, st.flushed); err != nil {
			return false, err
		}
		h.trimmed = st.flushed
	}
	if len(st.gone) == 0 {
		return false, nil
	}
	for _, ids := range st.gone {
		if err := h.store.DeleteRange(ctx, store.BucketHistory, segmentKey(ids.From), segmentKey(ids.To)); err != nil {
			return false, err
		}
	}
	if st.flushed > 0 && slices.Contains(st.gone, everything) { // which may have been an earlier version's
		if err := h.store.Erased(ctx, nil); err != nil {
			return false, err
		}
	}
	to := *st
	to.gone = nil
	h.state.CompareAndSwap(st, &to)
	return true, nil
}

// readJournalAtOnce is how many journal rows are read while writers may wait.
const readJournalAtOnce = 64

// catchUp reads what the journal names into the tail, until that is full.
func (h *History) catchUp(ctx context.Context, st *state) (more bool, err error) {
	read, docs, weight := st.tail.stands()
	journaled := h.store.Journaled()
	if read == journaled || docs >= h.limits.tailDocs || weight >= h.limits.tailWeight {
		return false, nil
	}
	err = h.store.Read(func(r *store.Reader) error {
		for last := min(journaled, read+readJournalAtOnce); read < last && docs < h.limits.tailDocs; {
			keys, err := r.Journal(read + 1)
			if errors.Is(err, store.ErrNotFound) {
				err = fmt.Errorf("journal row %d is missing: %w", read+1, errDamaged)
			}
			for _, k := range keys {
				_, err = r.Row(k, func(row *store.Row) { st.tail.add(k, row) })
				if err != nil {
					break
				}
			}
			if err != nil {
				return err
			}
			read, docs = read+1, docs+len(keys)
			st.tail.through(read)
		}
		return nil
	})
	return err == nil, err
}

// flush makes a segment of a full tail.
func (h *History) flush(ctx context.Context, st *state) (more bool, err error) {
	read, docs, weight := st.tail.stands()
	if docs < h.limits.tailDocs && weight < h.limits.tailWeight {
		return false, nil
	}
	b := h.building(st.nextID)
	if err := b.addTail(ctx, st.tail); err != nil {
		return false, err
	}
	to := st.with(b.made, nil)
	to.flushed, to.tail = read, newTail(read)
	return true, h.publish(ctx, st, to)
}

// extend makes a segment of rows that are in none.
func (h *History) extend(ctx context.Context, st *state) (more bool, err error) {
	if st.rest == nil {
		return false, nil
	}
	b := h.building(st.nextID)
	rest, err := b.addFrom(ctx, *st.rest)
	if err != nil {
		return false, err
	}
	to := st.with(b.made, nil)
	to.rest = rest
	return true, h.publish(ctx, st, to)
}
