package check

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/ring"
)

// calmNews checks that it goes around the ring soon that a peer manages a group
// (docs/protocol.md 7). Exchanges alone would bring it to everybody later (L6).
type calmNews struct {
	*record
	news []news
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
func (c *calmNews) makesNews(p int32, group feedring.GroupID, term feedring.Term) {
	c.news = append(c.news, news{group: group, by: p, life: c.peer(p).life, term: term})
}

// newsOn follows pending news after each step.
func (c *calmNews) newsOn(p int32) {
	now := c.cfg.Now()
	c.news = slices.DeleteFunc(c.news, func(n news) bool {
		return c.peer(n.by).life != n.life || c.peer(n.by).membership(n.group).term != n.term || n.due > 0 && now > n.due && c.delivered(&n)
	})
	for i := range c.news {
		if n := &c.news[i]; n.due == 0 && n.by == p && c.cfg.Runs(p) && c.tells(p, n) {
			n.since, n.due = now-soundFor*c.cfg.Refresh, now+c.cfg.Refresh/10
			n.others = c.leaders(n)
		}
	}
}

// delivered checks that half of the leaders among whom nothing was wrong know the news. It
// returns true: the news is done with.
func (c *calmNews) delivered(n *news) bool {
	if len(n.others) < fewLeaders || !slices.Equal(n.others, c.leaders(n)) {
		return true // too few to say, or something went wrong meanwhile
	}
	know := 0
	for _, q := range n.others {
		if c.knowsOf(q, n) != nil {
			know++
		}
	}
	c.Judge("news of the ring")
	if 2*know < len(n.others) {
		c.Fail("calm", "%s manages %s under %v for %v, and %d of %d leaders know it", c.cfg.Name(n.by), c.peer(n.by).membership(n.group).theme, n.term,
			c.cfg.Refresh/10, know, len(n.others))
	}
	return true
}

// leaders lists the managers and secondaries of other groups on the map of the peer
// that has the news. It returns nobody if something is wrong with one of them: a map
// may show leaders that nobody reaches, as in each half of a cut network, and the news
// goes to those.
func (c *calmNews) leaders(n *news) (all []int32) {
	for _, r := range c.cfg.Ring(n.by) {
		for _, id := range []feedring.PeerID{r.Term.Claimant, r.Secondary} {
			q := c.cfg.Index(id)
			if r.Group == n.group || q < 0 || q == n.by || slices.Contains(all, q) {
				continue
			}
			if !c.hears(q, n) || slices.ContainsFunc(all, func(o int32) bool { return !c.reach(o, q, n.since) }) {
				return nil
			}
			all = append(all, q)
		}
	}
	return all
}

// hears reports whether a peer leads, as usual, and reaches who has news.
func (c *calmNews) hears(q int32, n *news) bool {
	return c.peer(q).leads() && c.cfg.Steady(q, n.since) && c.cfg.Steady(n.by, n.since) && c.reach(n.by, q, n.since)
}

// tells reports whether the map of who has news shows it, and that another follows: a
// claim that nobody acknowledged yet hides no older one, so it may be no news to others.
func (c *calmNews) tells(p int32, n *news) bool {
	r := c.knowsOf(p, n)
	return r != nil && r.Acknowledged
}

// knowsOf returns the row by which a peer's map shows the news, or a newer row; nil: it
// shows neither.
func (c *calmNews) knowsOf(q int32, n *news) *ring.Row {
	rows := c.cfg.Ring(q)
	i := slices.IndexFunc(rows, func(r *ring.Row) bool { return r.Group == n.group && r.Term.Compare(n.term) >= 0 })
	if i < 0 {
		return nil
	}
	return rows[i]
}
