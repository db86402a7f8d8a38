package client

import (
	"cmp"
	"sort"
	"strings"

	"github.com/feedring/feedring"
)

// merge gathers the entries of one answer from several providers. It holds a
// few times the limit at most.
type merge struct {
	limit int
	byID  map[feedring.EntryID]feedring.Entry
}

func newMerge(limit int) *merge {
	return &merge{limit: limit, byID: make(map[feedring.EntryID]feedring.Entry)}
}

func (m *merge) add(e feedring.Entry) {
	if old, ok := m.byID[e.ID]; ok && !better(&e, &old) {
		return
	}
	m.byID[e.ID] = e
	if len(m.byID) >= 4*m.limit+64 {
		for _, e := range m.sorted()[m.limit:] {
			delete(m.byID, e.ID)
		}
	}
}

// better prefers what its site vouches for, then the newest version.
func better(e, old *feedring.Entry) bool {
	if (e.VouchedBy != "") != (old.VouchedBy != "") {
		return e.VouchedBy != ""
	}
	return e.Version > old.Version
}

// newest returns the answer: newest first, at most the limit.
func (m *merge) newest() []feedring.Entry {
	all := m.sorted()
	return all[:min(len(all), m.limit)]
}

func (m *merge) sorted() []feedring.Entry {
	all := make([]feedring.Entry, 0, len(m.byID))
	for _, e := range m.byID {
		all = append(all, e)
	}
	sort.Slice(all, func(i, j int) bool {
		a, b := &all[i], &all[j]
		return cmp.Or(b.Published.Compare(a.Published), b.Seen.Compare(a.Seen), strings.Compare(string(a.ID), string(b.ID))) < 0
	})
	return all
}
