package check

import (
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// idleTurns checks that a turn that brings nothing goes to another peer.
type idleTurns struct{ *record }

// fetched notes that a peer told its group of a look of its own.
func (c *idleTurns) fetched(p int32, g feedring.GroupID, in group.OriginFetched) {
	c.peer(p).membership(g).looked(in.URL, c.cfg.Now())
}

// turns notes since when a peer is to look at a feed.
func (c *idleTurns) turns(p int32, out group.FetchAssignment) {
	s := c.peer(p).membership(out.Group)
	if before := s.assignments[out.URL]; before.Slot == 0 || !before.Mirrors {
		s.looked(out.URL, c.cfg.Now())
	}
}

func (s *membership) looked(url string, now time.Duration) {
	if s.looks == nil {
		s.looks = map[string]time.Duration{}
	}
	s.looks[url] = now
}

// A manager finds a turn that brought nothing when it reviews all, ten periods after it did so last, and is asked.
const reviewed = 15 // periods

// TurnsPass checks that nobody whose turn it is at a feed, which others offer as well, has told no look for two intervals
// and the time in which its manager finds that.
func (c *idleTurns) TurnsPass(theme feedring.Theme, offered map[string][]int32, every time.Duration) {
	every = max(every, 30*c.cfg.Refresh)
	for _, url := range slices.Sorted(maps.Keys(offered)) {
		if !slices.ContainsFunc(offered[url], func(p int32) bool { return c.peer(p).membership(theme.Group()).assignments[url].Slot == 0 }) {
			continue // nobody is left to whom a turn could go
		}
		for _, p := range offered[url] {
			s := c.peer(p).membership(theme.Group())
			t := s.assignments[url]
			if t.Slot == 0 || !t.Mirrors {
				continue
			}
			silent := c.cfg.Now() - s.looks[url]
			if silent > every {
				c.Judge("turns in vain")
			}
			if silent > 2*every*time.Duration(t.Slots)+reviewed*c.cfg.Refresh {
				c.Fail("vain", "%s is to look at %s and has told nothing for %v", c.cfg.Name(p), url, silent)
			}
		}
	}
}
