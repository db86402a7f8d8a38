package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// placeComes remembers what a lookup asks for, each time that it is asked: one
// that comes while the peer itself, or somebody else, has the same attempt
// looked up is passed over, and what comes after that begins anew.
func (w *Witness) placeComes(p int32, m group.Place) {
	key := placeKey{p, m.Group, m.ID, m.Attempt}
	view := w.cfg.Membership(p, w.of(p).seat(m.Group).theme)
	w.queries.places[key] = append(w.queries.places[key], wanted{m.Since, m.Provider, w.cfg.Clock(p), view, w.allWhole(p, m.Group), w.fresh(p), w.cfg.Freshness})
}

// wanted is what a lookup is for, and what its manager knew of the group when it
// came: who may serve is decided then.
type wanted struct {
	since    time.Time
	provider string
	at       time.Time
	view     *group.View   // nil: the peer is in no such group
	whole    bool          // every peer is
	fresh    time.Time     // what is seen later is cached by whoever is whole
	kept     time.Duration // how long entries are fresh
}

// fresh is since when a peer takes all to be cached.
func (w *Witness) fresh(p int32) time.Time {
	return w.cfg.Clock(p).Add(w.slack() - w.cfg.Freshness)
}

// allWhole reports whether every peer of a group is whole.
func (w *Witness) allWhole(p int32, g feedring.GroupID) bool {
	mark := w.cfg.Clock(p).Add(-w.cfg.Freshness)
	for i := range w.peers {
		s := w.peers[i].find(g)
		if s != nil && s.row != nil && (len(s.row.Backfilling) > 0 || s.row.From.After(mark)) {
			return false
		}
	}
	return true
}

// placeRefused forgets a lookup that goes to another peer. A manager that
// answers in this way tells of a higher term, and goes on with the lookup.
func (w *Witness) placeRefused(p int32, o *observed, s *seat) {
	if s.role == feedring.RoleManager || s.role == feedring.RoleSecondary {
		return
	}
	if m, ok := o.given.Message.(group.Place); ok {
		delete(w.queries.places, placeKey{p, m.Group, m.ID, m.Attempt})
		delete(w.rules.seeks, seeking{p, m.Group, m.ID, m.Attempt})
	}
}

type placeKey struct {
	at      int32
	group   feedring.GroupID
	id      feedring.QueryID
	attempt uint32
}

// placed checks an answer to a lookup: who may serve, and the ticket.
func (w *Witness) placed(p int32, o *observed, s *seat, m group.Placed) {
	key := placeKey{p, m.Group, m.ID, m.Attempt}
	asked := w.queries.places[key]
	defer delete(w.queries.places, key)
	own := beside(m.Grants)
	w.names(p, m, asked)
	s.asksNoMore(m)
	for i := range m.Grants {
		g := &m.Grants[i]
		w.ticket(p, g, w.cfg.Clock(p))
		w.alternates(p, s, m, g, asked)
		w.fewAlternates(p, s.theme, m, g, asked)
		if g.Provider.ID == w.cfg.Name(p) && !g.Own && len(m.Missing) == 0 {
			w.balanced(p, o, s, g.Provider.ID, m.ID, m.Attempt)
		}
		if g.Own || len(m.Missing) > 0 || len(m.Copies) > 0 {
			continue
		}
		wrong := ""
		for _, want := range asked {
			if wrong = w.unfit(p, g, own, want); wrong == "" {
				break // it was planned then
			}
		}
		if wrong != "" {
			w.Fail("S9", "%s sends a reader %s", w.cfg.Name(p), wrong)
		}
	}
}

// unfit says why a peer may not serve what it caches; empty: it may.
func (w *Witness) unfit(p int32, g *feedring.Grant, beside []feedring.PeerID, want wanted) string {
	fresh := want.at.Add(-w.cfg.Freshness)
	if !want.since.IsZero() && !want.since.After(fresh) {
		return fmt.Sprintf("of everything since %v to %s, which caches since %v", want.since.Format(time.TimeOnly), g.Provider.ID, fresh.Format(time.TimeOnly))
	}
	if row := w.lacking(p, g, beside, want); row != nil {
		return fmt.Sprintf("to %s, which has everything since %v but %v", row.Peer, row.From.Format(time.TimeOnly), row.Backfilling)
	}
	return ""
}

// ticket checks what a grant is signed for (docs/protocol.md 9, Tickets).
func (w *Witness) ticket(p int32, g *feedring.Grant, now time.Time) {
	most := max(10*w.cfg.Refresh, time.Hour)
	switch t := &g.Ticket; {
	case t.Expiry.IsZero(), t.Expiry.After(now.Add(most)), !t.Expiry.After(now):
		w.Fail("ticket", "%s gives a ticket that holds until %v", w.cfg.Name(p), t.Expiry)
	case len(g.Alternates) > 3, len(t.Peers) != 1+len(g.Alternates), t.Peers[0] != g.Provider.ID, t.Client == "":
		w.Fail("ticket", "%s gives a ticket for %v and names %v", w.cfg.Name(p), t.Peers, g.Provider.ID)
	}
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

// lacking returns the row of a peer that is to serve what it caches, and is not
// known to be whole; nil: it is. Its mark is old enough, and what was asked for
// and is on its way to it comes from its publisher, or from one that mirrors the
// same address. (A peer that backfills single feeds may serve the others,
// docs/protocol.md 9: else a member that says that it has everything could leave
// itself as the only one.) Who may serve is decided when the lookup comes; what
// of it is asked of the publishers, when the peer has made room. A row that came
// between the two and says that a backfill is whole may be relied on: what else
// that peer lacks is on its way from publishers to everybody, as fast as the
// network lets it.
func (w *Witness) lacking(p int32, g *feedring.Grant, beside []feedring.PeerID, want wanted) *group.Row {
	if want.view == nil || want.whole {
		return nil
	}
	mark := later(want.since, want.at.Add(w.slack()+time.Second-w.cfg.Freshness))
	feeds := want.view.Feeds(want.provider)
	others := slices.ContainsFunc(feeds, func(ref feedring.FeedRef) bool { return ref.Publisher != g.Provider.ID })
	row := rowIn(want.view, g.Provider.ID)
	if row == nil {
		return nil
	}
	latest := rowIn(w.cfg.Membership(p, want.view.Theme), g.Provider.ID)
	lacks := slices.DeleteFunc(slices.Clone(row.Backfilling), func(ref feedring.FeedRef) bool {
		arrived := latest != nil && !slices.Contains(latest.Backfilling, ref)
		return arrived || !slices.Contains(feeds, ref) || w.gaveUp(row.Peer, ref) || slices.ContainsFunc(beside, func(own feedring.PeerID) bool {
			return slices.Contains(feeds, feedring.FeedRef{URL: ref.URL, Publisher: own})
		})
	})
	if others && row.From.After(mark) {
		lacks = feeds
	}
	if !w.wants(row.Peer, lacks, mark) {
		return nil
	}
	return row
}

// rowIn returns the row of a peer in a view; nil: there is none.
func rowIn(v *group.View, of feedring.PeerID) *group.Row {
	if v == nil {
		return nil
	}
	for i := range v.Members {
		if v.Members[i].Row.Peer == of {
			return v.Members[i].Row
		}
	}
	return nil
}

// wants reports whether a peer does lack something of feeds that has been there
// for a while: what a view tells may be a beacon behind.
func (w *Witness) wants(p feedring.PeerID, feeds []feedring.FeedRef, mark time.Time) bool {
	d := w.cfg.Disk(w.cfg.Index(p))
	for _, ref := range feeds {
		l := w.cfg.Log(ref)
		if l == nil || ref.Publisher == p {
			continue
		}
		head := d.Head(l).Position
		for _, e := range l.Entries {
			if e.Seen.After(mark) && !e.Lost && e.Acked && e.Synced < w.cfg.Now()-w.cfg.Refresh && e.Position.Compare(head) > 0 {
				return true
			}
		}
	}
	return false
}
