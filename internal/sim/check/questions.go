package check

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/ring"
)

// questions is what was seen of questions that are not too old.
type questions struct {
	*record
	asked map[stream]*asked
	lost  map[feedring.GroupID]time.Duration // when it was last told that the ring lost a group that a map showed
	times [maxRecent]time.Duration           // of the last questions that peers were asked
	next  int
}

// What is for questions is gone a minute after they were asked.
const (
	maxRecent = 512
	forgets   = time.Minute
)

// noteAsked notes that a question was asked now.
func (c *questions) noteAsked(now time.Duration) {
	c.times[c.next%maxRecent] = now
	c.next++
}

// recent counts the questions that may still be open somewhere.
func (c *questions) recent(now time.Duration) (n int) { return c.asks(now, forgets) }

// asks counts the questions of the last while.
func (c *questions) asks(now, last time.Duration) (n int) {
	for i := range min(c.next, maxRecent) {
		if now-c.times[i] < last {
			n++
		}
	}
	return n
}

// stream names a question at the asked peer.
type stream struct {
	at     int32
	life   uint32
	stream uint64
}

// asked is a question that waits for its answer.
type asked struct {
	in    peer.Ask
	at    time.Duration
	known []feedring.Theme // of those asked for, what was served, and on every live manager's map, when it was asked
	noes  []no             // of coordinators, one after the other
}

// no is that a coordinator said so.
type no struct {
	attempt uint32           // inside the network
	sees    []feedring.Theme // of the known ones, those on its map when it said so
}

// ended names one attempt at one coordinator.
type ended struct {
	at     int32
	life   uint32
	id     feedring.QueryID
	number uint32
}

// Asked is called when a reader's question reaches a peer.
func (c *questions) Asked(p int32, in peer.Ask) {
	c.noteAsked(c.cfg.Now())
	a := &asked{in: in, at: c.cfg.Now()}
	for _, theme := range c.about(in.Query) {
		if c.everywhere(theme, in.Query.Provider) {
			a.known = append(a.known, theme)
		}
	}
	c.asked[stream{p, c.peer(p).life, in.Stream}] = a
}

// Overdue reports whether a peer, in its present life, has not answered a
// question (L4).
func (c *questions) Overdue(p int32, number uint64) bool {
	_, open := c.asked[stream{p, c.peer(p).life, number}]
	return open
}

// answered returns the question that an asked peer answers, and forgets it; nil:
// there is none.
func (c *questions) answered(p int32, out peer.Answer) *asked {
	key := stream{p, c.peer(p).life, out.Stream}
	a := c.asked[key]
	delete(c.asked, key)
	return a
}

// about returns the themes of a question: the one that it names, or all in which
// anybody ever published the provider that it names. A question that names neither is
// about all groups, and is checked at the final.
func (c *questions) about(q feedring.Query) []feedring.Theme {
	switch {
	case q.Theme != "":
		return []feedring.Theme{q.Theme}
	case q.Provider == "":
		return nil
	}
	var themes []feedring.Theme
	for _, l := range c.cfg.Logs() {
		if l.Provider.Matches(q.Provider) && !slices.Contains(themes, l.Theme) {
			themes = append(themes, l.Theme)
		}
	}
	return themes
}

// sees returns those themes that a peer's map shows.
func (c *questions) sees(p int32, themes []feedring.Theme) []feedring.Theme {
	var on []feedring.Theme
	for _, theme := range themes {
		if c.cfg.OnMap(p, theme.Group()) {
			on = append(on, theme)
		}
	}
	return on
}

// saysNo notes what is on the map of a coordinator that says no. The asked peer passes
// the no on later; by then a coordinator that had restarted out of everybody's reach
// may have heard of all groups.
func (c *questions) saysNo(p int32, f feedring.Final) {
	if f.Status != feedring.Unsatisfied {
		return
	}
	for _, a := range c.asked {
		if in := &a.in; in.ID == f.ID && in.Attempt == ofClient(f.Attempt) {
			a.noes = append(a.noes, no{f.Attempt, c.sees(p, a.known)})
		}
	}
}

// everywhere reports whether a theme's manager is alive and knows the provider, and
// every live manager's map shows the group. Stopped managers count: they answer when
// they go on.
func (c *questions) everywhere(theme feedring.Theme, provider string) bool {
	g, served := theme.Group(), false
	for p := range int32(len(c.peers)) {
		if !c.cfg.Up(p) || !c.peers[p].leads() {
			continue
		}
		if !c.cfg.OnMap(p, g) {
			return false
		}
		if s := c.peers[p].membership(g); s.role >= feedring.RoleSecondary {
			m := c.cfg.Membership(p, theme)
			if m == nil || !m.Serves(provider) {
				return false
			}
			served = served || s.role == feedring.RoleManager
		}
	}
	return served && !c.leftBy(theme, provider)
}

// leftBy reports whether all publishers of a provider in a theme have left in good
// order. A leader that is cut off may not have heard so, while the others rightly say
// no.
func (c *questions) leftBy(theme feedring.Theme, provider string) bool {
	if provider == "" {
		return false
	}
	left := false
	for _, l := range c.cfg.Logs() {
		if l.Theme == theme && l.Provider.Matches(provider) {
			if left = c.peer(c.cfg.Index(l.Ref.Publisher)).membership(l.Group).left; !left {
				return false
			}
		}
	}
	return left
}

// losing notes groups that a message marks as lost or gone.
func (c *questions) losing(m ring.Rows) {
	for _, l := range m.Lost {
		if c.shows(l.Group, func(r *ring.Row) bool { return r.Term == l.Term && r.Version == l.Version }) {
			c.lost[l.Group] = c.cfg.Now()
		}
	}
	for _, gone := range m.Rows {
		if gone.Gone && c.shows(gone.Group, func(r *ring.Row) bool { return r.Term.Compare(gone.Term) <= 0 }) {
			c.lost[gone.Group] = c.cfg.Now()
		}
	}
}

// shows reports whether a live manager's map has such a row of a group, which the
// message would remove. Older marks hide nothing.
func (c *questions) shows(g feedring.GroupID, such func(*ring.Row) bool) bool {
	for p := range int32(len(c.peers)) {
		if !c.cfg.Runs(p) || !c.peers[p].leads() || !c.cfg.OnMap(p, g) {
			continue
		}
		for _, r := range c.cfg.Ring(p) {
			if r.Group == g && such(r) {
				return true
			}
		}
	}
	return false
}
