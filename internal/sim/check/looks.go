package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// looks checks that as many peers fetch a feed as ought to.
type looks struct{ *record }

// turns notes who looks at a feed, as its machine says, and checks what holds
// always: a turn is one of so many, and no more look than anybody wishes.
func (c *looks) turns(p int32, out group.FetchAssignment) {
	s := c.peer(p).membership(out.Group)
	if s.assignments == nil {
		s.assignments = map[string]group.FetchAssignment{}
	}
	s.assignments[out.URL] = out
	switch {
	case out.Slot < 0 || out.Slot > out.Slots || out.Slot > 0 && out.By != c.cfg.Name(p) || out.Slot == 0 && (out.By == "" || out.By == c.cfg.Name(p)):
		c.Fail("looks", "%s has turn %d of %d at %s, where %s looks", c.cfg.Name(p), out.Slot, out.Slots, out.URL, out.By)
	case out.Slots > max(1, c.cfg.Fetchers):
		c.Fail("looks", "%s is one of %d that look at %s", c.cfg.Name(p), out.Slots, out.URL)
	}
}

// Attended checks, of each feed that running members offer, that as many of them
// look at it as there ought to, each with a turn of its own. why says what is not
// so; empty: all is well.
func (c *looks) Attended(theme feedring.Theme, offered map[string][]int32) (why string) {
	for _, url := range slices.Sorted(maps.Keys(offered)) {
		var turns []int
		want := 1
		for _, p := range offered[url] {
			t := c.peer(p).membership(theme.Group()).assignments[url]
			if t.Slot > 0 {
				turns = append(turns, t.Slot)
			}
			if t.Slot > 0 && t.Mirrors { // else it is alone, or the site's own peer
				want = min(len(offered[url]), c.cfg.Fetchers)
			}
		}
		if len(offered[url]) > 1 {
			c.Judge("looks")
		}
		slices.Sort(turns)
		if len(turns) != want {
			return fmt.Sprintf("%d look at %s and %d ought to, of %d that offer it", len(turns), url, want, len(offered[url]))
		}
		for i, t := range turns {
			if t != i+1 {
				return fmt.Sprintf("those that look at %s have the turns %v", url, turns)
			}
		}
	}
	return ""
}
