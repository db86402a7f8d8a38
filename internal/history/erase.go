package history

import (
	"context"
	"time"

	"github.com/feedring/feedring/internal/store"
)

// Segments keep words of entries that went away until they are merged or mostly empty, and
// a large one may never be. Those with a row that was taken back, or of a feed that was
// forgotten, are remade without it: together for what came within some hours, since each
// costs as much for one row as for many. Then the store's tables are compacted.

// erasing is one look through the segments for that.
type erasing struct {
	none int64     // the store's count of erasures at which there were none
	due  time.Time // when to look; zero: there is nothing to look for
	all  []store.Erasure

	before uint64          // segments with a greater id were made later than all
	clean  map[uint64]bool // segments that were looked at

	feeds   map[uint32]bool
	entries map[epoch]map[uint64]bool // by sequence, as in a RowKey
}

// wait returns a channel that fires when there is something to do; nil: there is not.
func (e *erasing) wait() <-chan time.Time {
	if e.due.IsZero() {
		return nil
	}
	return time.After(time.Until(e.due))
}

// erase remakes one segment that holds what is to be erased.
func (h *History) erase(ctx context.Context, st *state) (more bool, err error) {
	e := &h.erasing
	if e.all == nil {
		if err := e.begin(h.store, h.limits.erase, st.nextID); err != nil || e.all == nil {
			return false, err
		}
	}
	for _, s := range st.segments {
		if s.id >= e.before || e.clean[s.id] {
			continue
		}
		holds, err := e.isIn(ctx, h.store, s)
		if err != nil {
			return false, err
		}
		if holds {
			return true, h.remake(ctx, st, []*segment{s})
		}
		e.clean[s.id] = true
	}
	if err := h.store.Erased(ctx, e.all); err != nil {
		return false, err
	}
	h.erasing = erasing{none: unknown}
	return true, nil
}

// unknown is a count of erasures that is none of the store's.
const unknown = -1

// begin takes up what is to be erased, if that is due.
func (e *erasing) begin(from *store.Store, after time.Duration, nextID uint64) error {
	now, count := time.Now(), from.Erasures()
	if now.Before(e.due) || e.due.IsZero() && e.none == count {
		return nil
	}
	var all []store.Erasure
	err := from.Read(func(r *store.Reader) (err error) {
		all, err = r.Erasures()
		return err
	})
	if err != nil {
		return err
	}
	if len(all) == 0 {
		*e = erasing{none: count}
		return nil
	}
	e.due = now.Add(after) // at the latest: the clock may have been set back
	for i := range all {
		if due := all[i].Since.Add(after); due.Before(e.due) {
			e.due = due
		}
	}
	if now.Before(e.due) {
		return nil
	}
	e.all, e.before, e.clean = all, nextID, make(map[uint64]bool)
	e.feeds, e.entries = make(map[uint32]bool), make(map[epoch]map[uint64]bool)
	for i := range all {
		k := all[i].Entry
		if all[i].Feed {
			e.feeds[k.Ref] = true
			continue
		}
		of := epoch{k.Ref, k.Epoch}
		if e.entries[of] == nil {
			e.entries[of] = make(map[uint64]bool)
		}
		e.entries[of][k.Sequence] = true
	}
	return nil
}

// isIn reports whether a segment has a row of what was erased that went away.
func (e *erasing) isIn(ctx context.Context, from *store.Store, s *segment) (bool, error) {
	may := false
	for _, log := range s.logs {
		may = may || e.feeds[log.ref] || e.entries[log] != nil
	}
	if !may {
		return false, nil
	}
	var keys []store.RowKey
	for n := range s.starts {
		found := false
		err := from.Read(func(r *store.Reader) (err error) {
			if keys, err = (view{s, r, nil}).block(n, keys[:0]); err != nil {
				return err
			}
			for _, k := range keys {
				if !e.feeds[k.Ref] && !e.entries[epoch{k.Ref, k.Epoch}][k.Sequence] {
					continue
				}
				there, err := r.Has(k) // the feed's number may be another's now
				if err != nil || !there {
					found = err == nil
					return err
				}
			}
			return ctx.Err()
		})
		if err != nil || found {
			return found, err
		}
	}
	return false, nil
}
