package history

import (
	"context"

	"github.com/feedring/feedring/internal/store"
)

// mergeAt is how many segments of one size are made one. So each row is written
// once for each size, and few segments are small.
const mergeAt = 4

// size is 0 for what the tail makes, 1 for what is made of such, 2 for what
// stays.
func (h *History) size(s *segment) int {
	part := max(
		float64(s.docs)/float64(h.limits.docs), float64(len(s.logs))/float64(h.limits.logs),
		float64(s.weight)/float64(h.limits.weight),
	)
	switch {
	case part < 1./8:
		return 0
	case part < 1./2:
		return 1
	default:
		return 2
	}
}

// merge makes one segment of several small ones that are neighbours among those
// of their size.
func (h *History) merge(ctx context.Context, st *state) (more bool, err error) {
	for size := range 2 {
		var same []*segment
		for _, s := range st.segments {
			if h.size(s) == size {
				same = append(same, s)
			}
		}
		if len(same) >= mergeAt {
			return true, h.remake(ctx, st, h.fitting(same[:mergeAt]))
		}
	}
	return false, nil
}

// fitting returns those that fit into one segment: two or more.
func (h *History) fitting(same []*segment) []*segment {
	docs, logs, weight := 0, 0, 0
	for i, s := range same {
		docs, logs, weight = docs+s.docs, logs+len(s.logs), weight+s.weight
		if docs > h.limits.docs || logs > h.limits.logs || weight > h.limits.weight {
			return same[:max(2, i)]
		}
	}
	return same
}

// remake puts new segments in the place of some, without what went away.
func (h *History) remake(ctx context.Context, st *state, old []*segment) error {
	b := h.building(st.nextID)
	if err := b.join(ctx, old); err != nil {
		return err
	}
	return h.publish(ctx, st, st.with(b.made, old))
}

// samples is how many rows of a segment are asked whether they are still there.
const samples = 64

// tidy remakes a segment of whose rows most went away.
func (h *History) tidy(ctx context.Context, st *state) (more bool, err error) {
	if h.tidied == st {
		return false, nil
	}
	for _, s := range st.segments {
		dead, asked := 0, 0
		err := h.store.Read(func(r *store.Reader) (err error) {
			dead, asked, err = view{s, r, nil}.sample()
			return err
		})
		if err != nil {
			return false, err
		}
		if dead > asked/2 {
			return true, h.remake(ctx, st, []*segment{s})
		}
	}
	h.tidied = st
	return false, nil
}

// sample counts how many of some rows, evenly spread, went away.
func (v view) sample() (dead, asked int, err error) {
	var keys []store.RowKey
	number := -1
	for id := 0; id < v.docs; id += max(1, v.docs/samples) {
		if n := id / rowsInBlock; n != number {
			if keys, err = v.block(n, keys[:0]); err != nil {
				return 0, 0, err
			}
			number = n
		}
		there, err := v.r.Has(keys[id%rowsInBlock])
		if err != nil {
			return 0, 0, err
		}
		if asked++; !there {
			dead++
		}
	}
	return dead, asked, nil
}
