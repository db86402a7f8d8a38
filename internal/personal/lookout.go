package personal

import (
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match/index"
)

// lookout is the interests that entries meet. It has no lock of its own: the
// room's writer alone uses it.
type lookout struct {
	index   *index.Index
	matcher *index.Matcher
	owners  []*interest // by index.ID
	broad   []*interest // those that the index refuses: each is looked at for each entry
	themes  map[feedring.Theme]int
}

func newLookout() *lookout {
	ix := index.New()
	return &lookout{index: ix, matcher: ix.NewMatcher(), themes: make(map[feedring.Theme]int)}
}

// add takes an interest. Dates are no business of the index: with them no two
// interests would be the same to it.
func (l *lookout) add(in *interest) {
	l.themes[in.query.Theme]++
	id, err := l.index.Insert(index.Interest{Theme: in.query.Theme, Provider: in.query.Provider, Words: in.expr})
	if err != nil {
		l.broad = append(l.broad, in)
		return
	}
	for int(id) >= len(l.owners) {
		l.owners = append(l.owners, nil)
	}
	l.owners[id], in.place, in.expr = in, id, nil
}

func (l *lookout) remove(in *interest) {
	if l.themes[in.query.Theme]--; l.themes[in.query.Theme] == 0 {
		delete(l.themes, in.query.Theme)
	}
	if int(in.place) < len(l.owners) && l.owners[in.place] == in {
		l.index.Delete(in.place)
		l.owners[in.place] = nil
	} else if i := slices.Index(l.broad, in); i >= 0 {
		l.broad = slices.Delete(l.broad, i, i+1)
	}
}

// matching returns the interests that want a, in the order of their numbers.
func (l *lookout) matching(a *arrival) (found []*interest) {
	l.matcher.Match(&index.Doc{Text: a.text, Theme: a.theme, Provider: a.provider, Published: a.published})
	for id := range l.matcher.IDs() {
		if in := l.owners[id]; in.admits(a) {
			found = append(found, in)
		}
	}
	for _, in := range l.broad {
		if in.admits(a) && in.wants(a) {
			found = append(found, in)
		}
	}
	slices.SortFunc(found, func(a, b *interest) int { return int(a.number) - int(b.number) })
	return found
}
