package personal

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
)

const (
	// unread is for how long news may wait for a reader who polls once in a while:
	// so long history takes no place from it, whatever its date.
	unread = 3 * 24 * time.Hour
	// undatedAt stands for the date of history that has none: before all others.
	undatedAt = 1
)

// dateOf is the place of an entry by date.
func dateOf(e *feedring.Entry) int64 {
	if e.History == feedring.UndatedHistory {
		return undatedAt
	}
	return max(undatedAt+1, e.Published.Unix())
}

// isNews reports whether an entry is news to a list: what is dated after the list
// was filled is, whatever its publisher calls it.
func (in *interest) isNews(e *feedring.Entry) bool {
	return e.History == feedring.NoHistory || in.filled > 0 && e.NewSince(time.Unix(in.filled, 0))
}

// fits reports whether a list has a place for an entry by its date: one that is
// free, or that of an older one.
func (r *Reflector) fits(in *interest, s slot, now int64) bool {
	if len(in.items) < in.query.Limit || in.older(s, r.table, now) >= 0 {
		return true
	}
	h := &r.table.all[s]
	return r.table.shared(h) && slices.ContainsFunc(in.items, func(o slot) bool { return r.table.all[o].yields(h) })
}

// older returns the place of the lowest entry that is older than s and was not
// given as news lately; negative: there is none.
func (in *interest) older(s slot, t *table, now int64) int {
	return slices.IndexFunc(in.items, func(o slot) bool {
		return t.all[o].isBefore(&t.all[s]) && now-t.all[o].news >= int64(unread/time.Second)
	})
}

// isBefore reports whether h is older than o. Of one whose date is not known
// nobody can tell.
func (h *held) isBefore(o *held) bool { return h.published != 0 && h.published < o.published }

// push gives an entry a place: on top, or by date above those that are no newer. One
// falls off a full list: the last, or an older one.
func (in *interest) push(s slot, t *table, now int64, byDate bool) (off slot, full bool) {
	if full = len(in.items) >= in.query.Limit; full {
		lowest := 0
		if byDate {
			lowest = max(0, in.older(s, t, now))
		}
		off = in.items[lowest]
		in.items = slices.Delete(in.items, lowest, lowest+1)
	}
	at := len(in.items)
	if byDate {
		at = slices.IndexFunc(in.items, func(o slot) bool { return t.all[o].published == 0 || t.all[s].isBefore(&t.all[o]) })
		if at < 0 {
			at = len(in.items)
		}
	}
	in.items = slices.Insert(in.items, at, s)
	return off, full
}
