package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/feedring/feedring/internal/times"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// s9Lookup checks that a lookup sends readers to those alone who hold what they
// ask for (S9).
type s9Lookup struct {
	*record
	polls *polls
}

// provider checks that the provider of a grant may serve what it caches, by what
// was known at one of the times that the lookup came.
func (c *s9Lookup) provider(p int32, g *feedring.Grant, own []feedring.PeerID, asked []wanted) {
	wrong := ""
	for _, want := range asked {
		if wrong = c.unfit(p, g, own, want); wrong == "" {
			return // it was planned then
		}
	}
	if wrong != "" {
		c.Fail("S9", "%s sends a reader %s", c.cfg.Name(p), wrong)
	}
}

// unfit says why a peer may not serve what it caches; empty: it may.
func (c *s9Lookup) unfit(p int32, g *feedring.Grant, beside []feedring.PeerID, want wanted) string {
	fresh := want.at.Add(-c.cfg.Freshness)
	if !want.since.IsZero() && !want.since.After(fresh) {
		return fmt.Sprintf("of everything since %v to %s, which caches since %v", want.since.Format(time.TimeOnly), g.Provider.ID, fresh.Format(time.TimeOnly))
	}
	if row := c.lacking(p, g, beside, want); row != nil {
		return fmt.Sprintf("to %s, which has everything since %v but %v", row.Peer, row.From.Format(time.TimeOnly), row.Backfilling)
	}
	return ""
}

// lacking returns the row of the provider of cached entries if it is not known to hold
// all of them; nil: it is. A provider may lack a feed that is being fetched if its
// publisher, or a mirror of the same address, answers beside it. (A peer that backfills
// single feeds may serve the others, docs/protocol.md 9. Otherwise a member that claims
// to have everything could leave itself as the only one.) The manager chooses the
// provider when the lookup comes, and the publishers when the provider has made room. A
// row that arrives between the two and reports a finished backfill may be relied on.
func (c *s9Lookup) lacking(p int32, g *feedring.Grant, beside []feedring.PeerID, want wanted) *group.Row {
	if want.view == nil || want.whole {
		return nil
	}
	mark := times.Later(want.since, want.at.Add(c.slack()+time.Second-c.cfg.Freshness))
	feeds := want.view.Feeds(want.provider)
	others := slices.ContainsFunc(feeds, func(ref feedring.FeedRef) bool { return ref.Publisher != g.Provider.ID })
	row := rowIn(want.view, g.Provider.ID)
	if row == nil {
		return nil
	}
	latest := rowIn(c.cfg.Membership(p, want.view.Theme), g.Provider.ID)
	lacks := slices.DeleteFunc(slices.Clone(row.Backfilling), func(ref feedring.FeedRef) bool {
		arrived := latest != nil && !slices.Contains(latest.Backfilling, ref)
		return arrived || !slices.Contains(feeds, ref) || c.polls.gaveUp(row.Peer, ref) || slices.ContainsFunc(beside, func(own feedring.PeerID) bool {
			return slices.Contains(feeds, feedring.FeedRef{URL: ref.URL, Publisher: own})
		})
	})
	if others && row.From.After(mark) {
		lacks = feeds
	}
	if !c.wants(row.Peer, lacks, mark) {
		return nil
	}
	return row
}

// beside lists the publishers that an answer names for their own feeds.
func beside(grants []feedring.Grant) []feedring.PeerID {
	var all []feedring.PeerID
	for i := range grants {
		if grants[i].Own {
			all = append(all, grants[i].Provider.ID)
		}
	}
	return all
}

// wants reports whether a peer does lack something of feeds that has been there
// for a while: what a view tells may be a beacon behind.
func (c *s9Lookup) wants(p feedring.PeerID, feeds []feedring.FeedRef, mark time.Time) bool {
	d := c.cfg.Disk(c.cfg.Index(p))
	for _, ref := range feeds {
		l := c.cfg.Log(ref)
		if l == nil || ref.Publisher == p {
			continue
		}
		head := d.Head(l).Position
		for _, e := range l.Entries {
			if e.Seen.After(mark) && !e.Lost && e.Acked && e.Synced < c.cfg.Now()-c.cfg.Refresh && e.Position.Compare(head) > 0 {
				return true
			}
		}
	}
	return false
}

// alternates checks whom a grant names beside its provider (docs/protocol.md 9):
// others, each once, all on the ticket, that are there and may serve as well.
func (c *s9Lookup) alternates(p int32, s *membership, m group.Placed, g *feedring.Grant, asked []wanted) {
	if len(g.Alternates) == 0 {
		return
	}
	now := c.cfg.Membership(p, s.theme)
	if now == nil || len(asked) == 0 || !c.cfg.Steady(p, c.cfg.Now()-time.Second) { // one that is late does several things at once
		return
	}
	c.Judge("alternates")
	cached := g.Own || len(m.Missing) > 0 || len(m.Copies) > 0 // beside publishers they serve what they cache
	for _, a := range g.Alternates {
		why := ""
		for _, want := range asked {
			if cached {
				want.since, want.fresh = time.Time{}, c.fresh(p)
			}
			if why = c.unfitBeside(now, g, a.ID, want); why == "" {
				break
			}
		}
		if why != "" {
			c.Fail("S9", "%s names %s as alternate, which %s", c.cfg.Name(p), a.ID, why)
		}
	}
}

// unfitBeside says why a peer may not serve in the place of a provider; empty: it
// may. Its mark counts as it was when the lookup came, or as it is now.
func (c *s9Lookup) unfitBeside(now *group.View, g *feedring.Grant, peer feedring.PeerID, want wanted) string {
	if want.view == nil {
		return ""
	}
	feeds := want.view.Feeds(want.provider)
	i := slices.IndexFunc(now.Members, func(m group.Member) bool { return m.Row.Peer == peer })
	if i < 0 || now.Members[i].Away {
		return "is not there"
	}
	row, mark := now.Members[i].Row, times.Later(want.fresh, want.since)
	if before := rowIn(want.view, peer); marked(row, feeds, mark) && (before == nil || marked(before, feeds, mark)) {
		return "has everything since " + row.From.Format(time.TimeOnly)
	}
	if peer == now.Self || g.Provider.ID == now.Self {
		return "" // it knows more of itself than it told
	}
	provider := rowIn(now, g.Provider.ID)
	if row.Lacks(func(ref feedring.FeedRef) bool {
		return concerns(ref, feeds) && !(provider != nil && concerns(ref, provider.Backfilling))
	}) {
		return "lacks what its provider has"
	}
	return ""
}
