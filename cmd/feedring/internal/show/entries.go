package show

import (
	"io"
	"slices"
	"strings"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/duplicate"
)

// Entries prints each story once, as personal feeds do, and who else tells
// it; at most so many.
func Entries(w io.Writer, entries []feedring.Entry, limit int) error {
	shown := duplicate.Fold(entries, nil)
	also := alsoAt(entries, shown)
	shown = shown[:min(len(shown), limit)]
	g := Table{Head: []string{"PUBLISHED", "PROVIDER", "ENTRY", "URL"}, Stack: []int{2, 3}}
	for i := range shown {
		e, title := &shown[i], TitleOf(&shown[i])
		if others := also[e.ID]; len(others) > 0 {
			title += " (also at " + Printable(strings.Join(others, ", ")) + ")"
		}
		g.Add(Moment(e.Published), Printable(e.Source()), title, Printable(e.URL))
	}
	return g.Print(w)
}

// alsoAt names, by the entry that is shown, the providers of those that tell the
// same.
func alsoAt(entries, shown []feedring.Entry) map[feedring.EntryID][]string {
	also := make(map[feedring.EntryID][]string)
	if len(shown) == len(entries) {
		return also
	}
	by := make(map[uint64]*feedring.Entry, 2*len(shown))
	visible := make(map[feedring.EntryID]bool, len(shown))
	keys := func(e *feedring.Entry) [2]uint64 {
		k := duplicate.KeysOf(e, e.VouchedBy)
		return [2]uint64{k.Link, k.Content}
	}
	for i := range shown {
		visible[shown[i].ID] = true
		for _, key := range keys(&shown[i]) {
			by[key] = &shown[i]
		}
	}
	delete(by, 0)
	for i := range entries {
		e := &entries[i]
		for _, key := range keys(e) {
			first := by[key]
			if visible[e.ID] || first == nil {
				continue
			}
			if name := e.Source(); e.Provider != first.Provider && !slices.Contains(also[first.ID], name) {
				also[first.ID] = append(also[first.ID], name)
			}
			break
		}
	}
	return also
}
