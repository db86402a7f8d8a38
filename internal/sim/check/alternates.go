package check

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// able lists the members that may serve what they cache by what a manager knew
// when a lookup came (docs/protocol.md 9), by rank: those that are whole, else those
// that lack single feeds. None: only publishers may.
func able(want wanted, self feedring.PeerID) (fit []*group.Member) {
	if want.view == nil || !want.since.IsZero() && !want.since.After(want.at.Add(-want.kept)) {
		return nil
	}
	feeds := want.view.Feeds(want.provider)
	mark := later(want.fresh, want.since)
	var nearly []*group.Member
	for i := range want.view.Members {
		m := &want.view.Members[i]
		switch {
		case m.Away, m.Row.Peer != self && m.Row.Admitted.IsZero(), marked(m.Row, feeds, mark):
		case m.Row.Lacks(func(ref feedring.FeedRef) bool { return concerns(ref, feeds) }):
			nearly = append(nearly, m)
		default:
			fit = append(fit, m)
		}
	}
	if len(fit) == 0 {
		return nearly
	}
	return fit
}

// marked reports whether a peer promises what was seen after a mark of its own
// only, that is later than the one that is asked for: and not all feeds are its.
func marked(r *group.Row, feeds []feedring.FeedRef, mark time.Time) bool {
	return r.From.After(mark) && slices.ContainsFunc(feeds, func(ref feedring.FeedRef) bool { return ref.Publisher != r.Peer })
}

// concerns reports whether an exception, which may be of all that one publishes,
// is of one of feeds.
func concerns(exception feedring.FeedRef, feeds []feedring.FeedRef) bool {
	return slices.ContainsFunc(feeds, func(ref feedring.FeedRef) bool {
		return ref == exception || exception.URL == "" && ref.Publisher == exception.Publisher
	})
}

// alternates checks whom a grant names beside its provider (docs/protocol.md 9):
// others, each once, all on the ticket, that are there and may serve as well.
func (w *Witness) alternates(p int32, s *seat, m group.Placed, g *feedring.Grant, asked []wanted) {
	if len(g.Alternates) == 0 {
		return
	}
	for i, a := range g.Alternates {
		if i+1 >= len(g.Ticket.Peers) || g.Ticket.Peers[i+1] != a.ID || slices.Contains(g.Ticket.Peers[:i+1], a.ID) {
			w.Fail("ticket", "%s names the alternates %v on a ticket for %v", w.cfg.Name(p), g.Alternates, g.Ticket.Peers)
			return
		}
	}
	now := w.cfg.Membership(p, s.theme)
	if now == nil || len(asked) == 0 || !w.cfg.Steady(p, w.cfg.Now()-time.Second) { // one that is late does several things at once
		return
	}
	w.Judge("alternates")
	cached := g.Own || len(m.Missing) > 0 || len(m.Copies) > 0 // beside publishers they serve what they cache
	for _, a := range g.Alternates {
		why := ""
		for _, want := range asked {
			if cached {
				want.since, want.fresh = time.Time{}, w.fresh(p)
			}
			if why = w.unfitBeside(now, g, a.ID, want); why == "" {
				break
			}
		}
		if why != "" {
			w.Fail("S9", "%s names %s as alternate, which %s", w.cfg.Name(p), a.ID, why)
		}
	}
}

// unfitBeside says why a peer may not serve in the place of a provider; empty: it
// may. Its mark counts as it was when the lookup came, or as it is now.
func (w *Witness) unfitBeside(now *group.View, g *feedring.Grant, peer feedring.PeerID, want wanted) string {
	if want.view == nil {
		return ""
	}
	feeds := want.view.Feeds(want.provider)
	i := slices.IndexFunc(now.Members, func(m group.Member) bool { return m.Row.Peer == peer })
	if i < 0 || now.Members[i].Away {
		return "is not there"
	}
	row, mark := now.Members[i].Row, later(want.fresh, want.since)
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

// names checks that a lookup that only publishers may answer names those that are
// away, where nobody who is there publishes the same address.
func (w *Witness) names(p int32, m group.Placed, asked []wanted) {
	why := ""
	for _, want := range asked {
		if why = w.unnamed(m, want, w.cfg.Name(p)); why == "" {
			return
		}
	}
	if why != "" && m.Served {
		w.Fail("missing", "%s does not tell that %s is away", w.cfg.Name(p), why)
	}
}

// unnamed names a publisher that is away, and is neither named as missing nor as
// one of whom there are copies; empty: there is none.
func (w *Witness) unnamed(m group.Placed, want wanted, self feedring.PeerID) string {
	if want.view == nil || len(want.view.Away) == 0 || len(able(want, self)) > 0 {
		return ""
	}
	feeds := want.view.Feeds(want.provider)
	for len(feeds) > 0 {
		n := 1
		for n < len(feeds) && feeds[n].URL == feeds[0].URL {
			n++
		}
		there := slices.ContainsFunc(feeds[:n], func(ref feedring.FeedRef) bool { return !slices.Contains(want.view.Away, ref.Publisher) })
		if l := w.cfg.Log(feeds[0]); !there && l != nil {
			name := string(want.view.Theme) + "/" + string(l.Provider)
			w.Judge("missing")
			if !slices.Contains(m.Missing, name) && !slices.Contains(m.Copies, name) && !slices.Contains(m.Missing, string(want.view.Theme)) {
				return name
			}
		}
		feeds = feeds[n:]
	}
	return ""
}

// lookedUp names a lookup at its coordinator.
type lookedUp struct {
	at      int32
	id      feedring.QueryID
	attempt uint32
}

// answer is what a manager answered to a coordinator.
type answer struct {
	group   feedring.GroupID
	missing []string
}

// answers notes what a coordinator is told is missing.
func (w *Witness) answers(p int32, m group.Placed) {
	if len(w.rules.answers) > 4096 {
		clear(w.rules.answers)
	}
	key := lookedUp{p, m.ID, m.Attempt}
	w.rules.answers[key] = append(w.rules.answers[key], answer{m.Group, m.Missing})
}

// ofClient is the client's attempt that one inside the network is for.
func ofClient(attempt uint32) uint32 { return attempt >> 6 }

// tellsMissing checks that a final names what the managers of the groups that it
// grants named: the others, since what a coordinator looks up itself is no message,
// and goes before what it asked another for meanwhile.
func (w *Witness) tellsMissing(p int32, f feedring.Final) {
	answers := w.rules.answers[lookedUp{p, f.ID, ofClient(f.Attempt)}]
	for i := range f.Grants {
		g := f.Grants[i].Theme.Group()
		if s := w.of(p).find(g); s != nil && (s.role >= feedring.RoleSecondary || s.role == feedring.RolePeer && s.since > w.cfg.Now()-w.cfg.Refresh) {
			continue // it leads, or did when it looked
		}
		heard, told := false, false
		for _, a := range answers {
			if a.group != g {
				continue
			}
			heard = true
			told = told || !slices.ContainsFunc(a.missing, func(name string) bool { return !slices.Contains(f.Missing, name) })
		}
		if len(f.Missing) > 0 && heard {
			w.Judge("missing of a final")
		}
		if heard && (!told || len(f.Missing) > 0 && f.Status == feedring.Answered) {
			w.Fail("missing", "%s answers %v of %s and tells that %v is missing", w.cfg.Name(p), f.Status, f.Grants[i].Theme, f.Missing)
			return
		}
	}
}
