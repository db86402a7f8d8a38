package personal

import "slices"

// lookout is the interests that entries meet. It has no lock of its own: the
// room's writer alone uses it.
type lookout struct {
	themes map[string][]*interest // "": of every theme
}

func newLookout() *lookout { return &lookout{themes: make(map[string][]*interest)} }

func (l *lookout) add(in *interest) {
	theme := string(in.query.Theme)
	l.themes[theme] = append(l.themes[theme], in)
}

func (l *lookout) remove(in *interest) {
	theme := string(in.query.Theme)
	list := l.themes[theme]
	if i := slices.Index(list, in); i >= 0 {
		list[i] = list[len(list)-1]
		list[len(list)-1] = nil
		l.themes[theme] = list[:len(list)-1]
	}
	if len(l.themes[theme]) == 0 {
		delete(l.themes, theme)
	}
}

// matching returns the interests that want a, in the order of their numbers.
func (l *lookout) matching(a *arrival) (found []*interest) {
	lists := [][]*interest{l.themes[""]}
	if a.theme != "" {
		lists = append(lists, l.themes[string(a.theme)])
	}
	for _, list := range lists {
		for _, in := range list {
			if in.wants(a) {
				found = append(found, in)
			}
		}
	}
	slices.SortFunc(found, func(a, b *interest) int { return int(a.number) - int(b.number) })
	return found
}
