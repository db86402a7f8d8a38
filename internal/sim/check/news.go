package check

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/ring"
)

// How news goes around the ring (docs/protocol.md 7): exchanges alone would bring it to
// everybody too, by and by (L6).

// lists checks that equal maps are not listed to who opened an exchange.
func (w *Witness) lists(p int32, o *observed, m ring.Versions) {
	if s, ok := o.given.Message.(ring.Swap); !ok || s.Hash != m.Hash {
		return
	}
	w.Judge("equal maps")
	if len(m.Have)+len(m.Parts)+len(m.Within) > 0 {
		w.Fail("calm", "%s lists %d groups and %d parts to %s, whose map is the same", w.cfg.Name(p), len(m.Have), len(m.Parts), w.cfg.Name(o.from))
	}
}

// opens checks that nobody leaves out an exchange, once all is settled: from one that a
// peer opens to the next it is r/3 where it leads a group all the time, else r. r/20 is
// for clocks that run apart.
func (w *Witness) opens(p int32, o *observed) {
	r, was := w.cfg.Refresh, o.opened
	o.opened = w.cfg.Now()
	if w.settled == 0 || was <= w.settled {
		return
	}
	most := r
	if o.leads() {
		most = r / 3
	}
	w.Judge("exchanges")
	if o.opened-was > most+r/20 {
		w.Fail("calm", "%s opens an exchange of maps %v after the last one, long after all faults", w.cfg.Name(p), o.opened-was)
	}
}

// fewLeaders is of how many others there is a half that is worth looking at.
const fewLeaders = 4

// news is that a peer manages a group, from when its own map shows it and that another
// follows.
type news struct {
	group  feedring.GroupID
	by     int32
	life   uint32
	term   feedring.Term
	since  time.Duration // nothing was wrong among those that are to hear it
	due    time.Duration // 0: its own map does not show it yet
	others []int32       // who lead on the ring
}

// makesNews remembers that a peer manages a group now.
func (w *Witness) makesNews(p int32, group feedring.GroupID, term feedring.Term) {
	w.rules.news = append(w.rules.news, news{group: group, by: p, life: w.of(p).life, term: term})
}

// newsOn follows what is news, after each step.
func (w *Witness) newsOn(p int32) {
	now := w.cfg.Now()
	w.rules.news = slices.DeleteFunc(w.rules.news, func(n news) bool {
		return w.of(n.by).life != n.life || w.of(n.by).seat(n.group).term != n.term || n.due > 0 && now > n.due && w.spread(&n)
	})
	for i := range w.rules.news {
		if n := &w.rules.news[i]; n.due == 0 && n.by == p && w.cfg.Runs(p) && w.tells(p, n) {
			n.since, n.due = now-soundFor*w.cfg.Refresh, now+w.cfg.Refresh/10
			n.others = w.leaders(n)
		}
	}
}

// spread checks that half of the leaders among whom nothing was wrong know what is
// news. It is true: the news needs no more looking at.
func (w *Witness) spread(n *news) bool {
	if len(n.others) < fewLeaders || !slices.Equal(n.others, w.leaders(n)) {
		return true // too few to say, or something went wrong meanwhile
	}
	know := 0
	for _, q := range n.others {
		if w.knowsOf(q, n) != nil {
			know++
		}
	}
	w.Judge("news of the ring")
	if 2*know < len(n.others) {
		w.Fail("calm", "%s manages %s under %v for %v, and %d of %d leaders know it", w.cfg.Name(n.by), w.of(n.by).seat(n.group).theme, n.term,
			w.cfg.Refresh/10, know, len(n.others))
	}
	return true
}

// leaders lists the managers and secondaries of other groups that the map of who has
// news shows, to whom it goes; nobody where something is wrong with one of them: where
// a map shows whom nobody reaches, as each half of a network does of the other, news
// goes to those.
func (w *Witness) leaders(n *news) (all []int32) {
	for _, r := range w.cfg.Ring(n.by) {
		for _, id := range []feedring.PeerID{r.Term.Claimant, r.Secondary} {
			q := w.cfg.Index(id)
			if r.Group == n.group || q < 0 || q == n.by || slices.Contains(all, q) {
				continue
			}
			if !w.hears(q, n) || slices.ContainsFunc(all, func(o int32) bool { return !w.reach(o, q, n.since) }) {
				return nil
			}
			all = append(all, q)
		}
	}
	return all
}

// hears reports whether a peer leads, as usual, and reaches who has news.
func (w *Witness) hears(q int32, n *news) bool {
	return w.of(q).leads() && w.cfg.Steady(q, n.since) && w.cfg.Steady(n.by, n.since) && w.reach(n.by, q, n.since)
}

// tells reports whether the map of who has news shows it, and that another follows: a
// claim that nobody acknowledged yet hides no older one, so it may be no news to others.
func (w *Witness) tells(p int32, n *news) bool {
	r := w.knowsOf(p, n)
	return r != nil && r.Acknowledged
}

// knowsOf returns the row by which a peer's map shows what is news, or something newer;
// nil: it does not.
func (w *Witness) knowsOf(q int32, n *news) *ring.Row {
	rows := w.cfg.Ring(q)
	i := slices.IndexFunc(rows, func(r *ring.Row) bool { return r.Group == n.group && r.Term.Compare(n.term) >= 0 })
	if i < 0 {
		return nil
	}
	return rows[i]
}
