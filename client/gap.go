package client

import (
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// patience is how long a publisher that is away is waited for where others have
// dropped what a follower lacks. Other publishers' feeds go on meanwhile.
const patience = time.Minute

// Gap says that a follower goes on without entries of a feed: those it lacks
// may be gone from all peers but the publisher, and that is away. Some of them,
// all or none may still come. It is told once for each time.
type Gap struct {
	Theme feedring.Theme
	Feed  feedring.FeedRef
	After feedring.Position // shown through here
}

// waitedEnough reports whether what lies after the cursor was waited for long
// enough.
func (g *group) waitedEnough() bool { return !g.stuck.IsZero() && time.Since(g.stuck) >= patience }

// giveUp goes on without what peers refuse to go on from: the feeds of
// publishers that the search did not find, or that this client cannot reach. It reports whether there are any.
func (f *follower) giveUp(g *group, p searchEnd) bool {
	nobody := p.err == nil && len(p.final.Grants) == 0 && p.final.Status == feedring.Incomplete
	if g.stuck.IsZero() && g.cursor != nil && (g.behind != nil || nobody) {
		g.stuck = time.Now()
	}
	if p.err != nil || g.behind == nil || !g.waitedEnough() {
		return false
	}
	found := make(map[feedring.PeerID]bool)
	for _, grant := range p.final.Grants {
		found[grant.Provider.ID] = true
	}
	for _, ref := range g.lacked() {
		if found[ref.Publisher] && !g.unreached[ref.Publisher] || g.skipped[ref] {
			continue
		}
		g.skipped[ref] = true
		if f.options.Gap != nil {
			f.options.Gap(Gap{g.theme, ref, g.cursor[ref]})
		}
	}
	g.behind = nil
	return true
}

// lacked returns the feeds of the cursor that the last peer to refuse it named;
// all, where it named none of them.
func (g *group) lacked() []feedring.FeedRef {
	named := slices.DeleteFunc(slices.Clone(g.behind.Feeds), func(ref feedring.FeedRef) bool {
		_, asked := g.cursor[ref]
		return !asked
	})
	if len(named) == 0 {
		named = slices.Collect(maps.Keys(g.cursor))
	}
	slices.SortFunc(named, feedring.FeedRef.Compare)
	return slices.Compact(named)
}
