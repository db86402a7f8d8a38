package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// fetchers checks that as many peers fetch a feed as ought to.
type fetchers struct{ *record }

// turns notes which peers fetch a feed, as its machine says, and checks that a slot is
// one of so many and that no more peers fetch than wanted.
func (c *fetchers) turns(p int32, out group.FetchAssignment) {
	s := c.peer(p).membership(out.Group)
	if s.assignments == nil {
		s.assignments = map[string]group.FetchAssignment{}
	}
	s.assignments[out.URL] = out
	switch {
	case out.Slot < 0 || out.Slot > out.Slots || out.Slot > 0 && out.By != c.cfg.Name(p) || out.Slot == 0 && (out.By == "" || out.By == c.cfg.Name(p)):
		c.Fail("fetchers", "%s has turn %d of %d at %s, where %s fetches", c.cfg.Name(p), out.Slot, out.Slots, out.URL, out.By)
	case out.Slots > max(1, c.cfg.Fetchers):
		c.Fail("fetchers", "%s is one of %d that fetch %s", c.cfg.Name(p), out.Slots, out.URL)
	}
}

// Attended checks that, of the members that offer a feed, as many fetch it as should,
// each with a slot of its own. Beside one that fetches its own feed the others may, until
// they know that its site names it. why gives the reason if not; empty: all is well.
func (c *fetchers) Attended(theme feedring.Theme, offered map[string][]int32) (why string) {
	for _, url := range slices.Sorted(maps.Keys(offered)) {
		var turns []int
		want, own := 1, false
		for _, p := range offered[url] {
			t := c.peer(p).membership(theme.Group()).assignments[url]
			own = own || t.Own
			if t.Slot > 0 {
				turns = append(turns, t.Slot)
			}
			if t.Slot > 0 && t.Mirrors { // else it is alone, or the site's own peer
				want = min(len(offered[url]), c.cfg.Fetchers)
			}
		}
		if len(offered[url]) > 1 {
			c.Judge("fetchers")
		}
		if own {
			continue
		}
		slices.Sort(turns)
		if len(turns) != want {
			return fmt.Sprintf("%d fetch %s and %d ought to, of %d that offer it", len(turns), url, want, len(offered[url]))
		}
		for i, t := range turns {
			if t != i+1 {
				return fmt.Sprintf("those that fetch %s have the turns %v", url, turns)
			}
		}
	}
	return ""
}
