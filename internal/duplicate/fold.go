package duplicate

import (
	"slices"

	"github.com/feedring/feedring"
)

// Fold returns entries, in their order, with each story once: of those that
// have one link the one whose publisher has the best claim to the page, else the
// one that was published first. The argument is not changed. site names who
// stands behind an entry's feed, empty for nobody; nil takes what the entry says
// itself (VouchedBy).
func Fold(entries []feedring.Entry, site func(*feedring.Entry) string) []feedring.Entry {
	if site == nil {
		site = func(e *feedring.Entry) string { return e.VouchedBy }
	}
	order := make([]int, len(entries))
	keys := make([]Keys, len(entries))
	for i := range entries {
		order[i], keys[i] = i, KeysOf(&entries[i], site(&entries[i]))
	}
	// The order of the answer is kept among entries of one time, last first as
	// everywhere.
	slices.Reverse(order)
	slices.SortStableFunc(order, func(i, j int) int { return entries[i].Published.Compare(entries[j].Published) })
	shown := table{byKey: make(map[uint64][]int), keys: keys, gone: make([]bool, len(entries))}
	for _, i := range order {
		shown.add(i)
	}
	folded := make([]feedring.Entry, 0, len(entries))
	for i := range entries {
		if !shown.gone[i] {
			folded = append(folded, entries[i])
		}
	}
	return folded
}

// table is the entries that are shown so far, by their keys.
type table struct {
	byKey map[uint64][]int
	keys  []Keys
	gone  []bool
}

func (t *table) add(i int) {
	k := t.keys[i]
	var same []int
	for _, key := range [2]uint64{k.Link, k.Content} {
		if key != 0 {
			same = append(same, t.byKey[key]...)
		}
	}
	for _, j := range same {
		if !t.gone[j] && t.keys[j].Hides(k) {
			t.gone[i] = true
			return
		}
	}
	for _, j := range same {
		if k.Replaces(t.keys[j]) {
			t.gone[j] = true
		}
	}
	for _, key := range [2]uint64{k.Link, k.Content} {
		if key != 0 {
			t.byKey[key] = append(t.byKey[key], i)
		}
	}
}
