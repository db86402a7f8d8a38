package check

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// orphans checks which feeds volunteers carry.
type orphans struct{ *record }

// carries notes what a peer carries, and checks that it carries nothing anew before nobody who is there has offered it for
// ten periods.
func (c *orphans) carries(p int32, out group.Carry) {
	s := c.peer(p).membership(out.Group)
	carried := make(map[string]bool, len(out.Feeds))
	for i := range out.Feeds {
		f := &out.Feeds[i]
		carried[f.URL] = true
		if s.carried[f.URL] {
			continue
		}
		c.Judge("orphans")
		if since := time.Unix(int64(f.Carried), 0); c.cfg.Clock(p).Sub(since) < 10*c.cfg.Refresh {
			c.Fail("orphans", "%s carries %s, which somebody offered %v ago", c.cfg.Name(p), f.URL, c.cfg.Clock(p).Sub(since))
		}
	}
	s.carried = carried
}

// turns checks that who begins to carry a feed knows when somebody else may have looked at it last: its first look is to
// come no sooner than a look of that one.
func (c *orphans) turns(p int32, out group.FetchAssignment) {
	s := c.peer(p).membership(out.Group)
	if s.carried[out.URL] && out.Slot > 0 && s.assignments[out.URL].Slot == 0 && out.Last == nil {
		c.Fail("orphans", "%s begins to look at %s, and does not know of the last look", c.cfg.Name(p), out.URL)
	}
}

// Carried checks that as many peers carry each of some feeds.
func (c *orphans) Carried(theme feedring.Theme, urls []string, want int) {
	for _, url := range urls {
		var by []feedring.PeerID
		for p := range int32(len(c.peers)) {
			if c.cfg.Runs(p) && c.peer(p).membership(theme.Group()).carried[url] {
				by = append(by, c.cfg.Name(p))
			}
		}
		if slices.Sort(by); len(by) != want {
			c.Fail("orphans", "%v carry %s, and %d should", by, url, want)
		}
	}
}
