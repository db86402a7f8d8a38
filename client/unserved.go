package client

import (
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// unservedAfter is how long nobody serves a group before that is told: another
// provider takes less.
const unservedAfter = 3 * time.Second

// tellUnserved tells which groups nobody serves, where they are others than were
// told last.
func (f *follower) tellUnserved() {
	if f.options.Unserved == nil {
		return
	}
	now := time.Now()
	var themes []feedring.Theme
	for _, g := range f.groups {
		switch {
		case slices.Contains(slices.Collect(maps.Values(g.sessions)), true): // one has caught up
			g.idle = time.Time{}
		case g.idle.IsZero():
			g.idle = now
		case now.Sub(g.idle) >= unservedAfter:
			themes = append(themes, g.theme)
		}
	}
	slices.Sort(themes)
	if !slices.Equal(themes, f.unserved) {
		f.unserved = themes
		f.options.Unserved(slices.Clone(themes))
	}
}
