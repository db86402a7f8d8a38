package duplicate

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/feedring/feedring"
)

// Merge gathers entries of several sources. It holds the last version of each copy, so
// that it does not matter in which order they come. The zero Merge is empty.
type Merge struct {
	copies map[Identity][]mergeCopy
	held   int
}

type mergeCopy struct {
	feedring.Copy
	entry feedring.Entry
}

// Add adds an entry, which is no retraction.
func (m *Merge) Add(e feedring.Entry) {
	if m.copies == nil {
		m.copies = make(map[Identity][]mergeCopy)
	}
	id, b := IdentityOf(e.Feed, e.ID), CopyOf(&e)
	for i := range m.copies[id] {
		if a := &m.copies[id][i]; a.Publisher == b.Publisher {
			if b.Version > a.Version || b.Version == a.Version && moreIsKnown(&e, &a.entry) {
				*a = mergeCopy{b, e}
			}
			return
		}
	}
	m.copies[id] = append(m.copies[id], mergeCopy{b, e})
	m.held++
}

// moreIsKnown reports whether who told of e knows more of its publisher than who told of
// old, which is the same.
func moreIsKnown(e, old *feedring.Entry) bool {
	return e.OfSite && !old.OfSite || e.VouchedBy != "" && old.VouchedBy == ""
}

// Len is how many copies are held.
func (m *Merge) Len() int { return m.held }

// Keep forgets all but the newest entries.
func (m *Merge) Keep(most int, now time.Time) {
	newest := m.Newest(most, now)
	*m = Merge{}
	for i := range newest {
		m.Add(newest[i])
	}
}

// shown returns those of the copies of one identity that feedring.Supersedes leaves: the
// site's, or mirrors' that differ. Of mirrors' copies that agree it is one whose publisher
// a site names, if there is any.
func shown(copies []mergeCopy) []mergeCopy {
	if len(copies) == 1 {
		return copies
	}
	kept := make([]mergeCopy, 0, len(copies))
copies:
	for _, b := range copies {
		left := kept[:0]
		for i, a := range kept {
			relation := feedring.Supersedes(b.Copy, a.Copy)
			switch {
			case relation == feedring.Counts && !a.OfSite && moreIsKnown(&b.entry, &a.entry):
				kept[i] = b
				continue copies
			case relation == feedring.Counts: // nothing was replaced before: of b's publisher there is one copy
				continue copies
			case relation == feedring.Apart:
				left = append(left, a)
			}
		}
		kept = append(left, b)
	}
	return kept
}

// Newest returns so many entries, newest first. What is dated after now counts as of
// now.
func (m *Merge) Newest(most int, now time.Time) []feedring.Entry {
	all := make([]feedring.Entry, 0, m.held)
	for _, copies := range m.copies {
		for _, one := range shown(copies) {
			all = append(all, one.entry)
		}
	}
	date := func(e *feedring.Entry) time.Time {
		if e.Published.After(now) {
			return now
		}
		return e.Published
	}
	slices.SortFunc(all, func(a, b feedring.Entry) int {
		return cmp.Or(date(&b).Compare(date(&a)), b.Seen.Compare(a.Seen), strings.Compare(string(a.ID), string(b.ID)), strings.Compare(string(a.Publisher), string(b.Publisher)))
	})
	return all[:min(len(all), most)]
}
