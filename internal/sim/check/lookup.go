package check

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// placeComes remembers what a lookup asks for.
func (w *Witness) placeComes(p int32, m group.Place) {
	w.queries.places[placeKey{p, m.ID, m.Attempt}] = wanted{m.Since, m.Provider}
}

// wanted is what a lookup is for.
type wanted struct {
	since    time.Time
	provider string
}

type placeKey struct {
	at      int32
	id      feedring.QueryID
	attempt uint32
}

// placed checks an answer to a lookup: who may serve, and the ticket.
func (w *Witness) placed(p int32, o *observed, s *seat, m group.Placed) {
	key := placeKey{p, m.ID, m.Attempt}
	want, known := w.queries.places[key]
	since := want.since
	delete(w.queries.places, key)
	now := w.cfg.Clock(p)
	for i := range m.Grants {
		g := &m.Grants[i]
		w.ticket(p, g, now)
		if !known || len(m.Missing) > 0 {
			continue
		}
		if old := !since.IsZero() && !since.After(now.Add(-w.cfg.Freshness)); old && !g.Own {
			w.Fail("S9", "%s sends a reader of everything since %v to %s, which caches since %v", w.cfg.Name(p),
				since.Format(time.TimeOnly), g.Provider.ID, now.Add(-w.cfg.Freshness).Format(time.TimeOnly))
		}
		if !g.Own {
			w.provides(p, g, want, now)
		}
	}
}

// ticket checks what a grant is signed for.
func (w *Witness) ticket(p int32, g *feedring.Grant, now time.Time) {
	most := max(10*w.cfg.Refresh, time.Hour)
	switch t := &g.Ticket; {
	case t.Expiry.IsZero(), t.Expiry.After(now.Add(most)), !t.Expiry.After(now):
		w.Fail("S12", "%s gives a ticket that holds until %v", w.cfg.Name(p), t.Expiry)
	case len(g.Alternates) > 3, len(t.Peers) == 0, t.Peers[0] != g.Provider.ID, t.Client == "":
		w.Fail("S12", "%s gives a ticket for %v and names %v", w.cfg.Name(p), t.Peers, g.Provider.ID)
	}
}

// provides checks that a peer that is to serve what it caches is known to be
// whole: its mark is old enough, and nothing that was asked for is on its way.
func (w *Witness) provides(p int32, g *feedring.Grant, want wanted, now time.Time) {
	q := w.cfg.Index(g.Provider.ID)
	if q < 0 {
		return
	}
	row := w.of(q).seat(g.Ticket.Group).row
	slack := min(5*time.Second, w.cfg.Freshness/10) + time.Second
	mark := later(want.since, now.Add(slack-w.cfg.Freshness))
	if row == nil || len(row.Backfilling) == 0 && !row.From.After(mark) {
		return
	}
	v := w.cfg.View(p).Memberships[g.Theme] // the manager may not have heard yet
	if v == nil {
		return
	}
	feeds := v.Feeds(want.provider)
	others := slices.ContainsFunc(feeds, func(ref feedring.FeedRef) bool { return ref.Publisher != g.Provider.ID })
	for i := range v.Members {
		row := &v.Members[i].Row
		lacks := slices.ContainsFunc(row.Backfilling, func(ref feedring.FeedRef) bool { return slices.Contains(feeds, ref) })
		if row.Peer == g.Provider.ID && (lacks || others && row.From.After(mark)) {
			w.Fail("S9", "%s sends a reader to %s, which has everything since %v but %v", w.cfg.Name(p), row.Peer,
				row.From.Format(time.TimeOnly), row.Backfilling)
		}
	}
}
