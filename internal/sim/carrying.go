package sim

import (
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// Feeds that volunteers carry, as node's driver has them.

// carries does group.Carry: the node publishes other feeds for others than before.
func (w *World) carries(n *node, o group.Carry) {
	w.tracef("%s carries %d feeds for others", n.id, len(o.Feeds))
	life := n.life
	w.after(w.syncs(n), func() {
		if !n.up || n.life != life {
			return
		}
		for _, f := range w.feeds {
			still := slices.ContainsFunc(o.Feeds, func(c feedring.Feed) bool { return c.URL == f.origin.url })
			if f.node == n && f.log.Group == o.Group && f.carried > 0 && !still {
				f.dropped, f.log.Ended, f.carried, f.turn = true, true, 0, group.FetchAssignment{}
			}
		}
		for i := range o.Feeds {
			w.carry1(n, &o.Feeds[i], w.themeOf(o.Group))
		}
		n.offer = w.offerOf(n)
		if n.paused { // it takes that when it goes on
			w.report(n, 0, n.offer)
		}
		w.step(n, n.offer)
	})
}

// carry1 has a node publish one feed for others. What it publishes of its own stays so.
func (w *World) carry1(n *node, c *feedring.Feed, theme feedring.Theme) {
	f := w.own(n, theme.Group(), c.URL)
	if f == nil {
		i := slices.IndexFunc(w.origins, func(o *origin) bool { return o.url == c.URL && o.theme == theme })
		f = w.publish(n, theme, w.origins[i].name, w.origins[i].every)
	} else if !f.dropped { // it is its own, or carried already
		return
	}
	f.carried, f.dropped, f.log.Ended, f.mirrored = c.Carried, false, false, true
}
