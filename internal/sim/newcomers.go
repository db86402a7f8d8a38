package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/sim/disk"
)

// mostNewcomers bounds what a seed costs: for each 25 peers.
const mostNewcomers = 8

// newcomer has a peer begin that nobody has ever seen: in a theme that is there
// or in a new one, through peers that may be down, cut off, or of other themes.
func (s *scenario) newcomer() {
	if len(s.nodes) >= s.settlers+s.times*mostNewcomers {
		return
	}
	n := s.addNode(s.anyClock(), s.anyBook()...)
	n.through = s.withSomebody(n, n.through)
	i, home := len(s.nodes), s.random.IntN(len(s.themes))
	if s.often(4) {
		home = len(s.themes)
	}
	theme, site := themeName(home), siteName(i)
	var mirrored []*origin
	for _, o := range s.origins {
		if o.theme == theme {
			mirrored = append(mirrored, o)
		}
	}
	mirrors := len(mirrored) > 0 && s.often(3)
	if mirrors {
		site = mirrored[s.random.IntN(len(mirrored))].name
	}
	s.nodes, s.homes, s.sites = append(s.nodes, n), append(s.homes, home), append(s.sites, site)
	f := s.publish(n, theme, site, s.between(15*time.Second, 2*time.Minute))
	if !mirrors && !s.often(4) {
		f.origin.names = n.id
	}
	s.tracef("--- %s is new, of %s, publishes %s, through %v", n.id, theme, site, n.through)
	s.trouble(n)
	s.begin(n)
}

// withSomebody makes peers to begin with such that one of them will be there.
// Nobody (nil) is a client.
func (s *scenario) withSomebody(self *node, book []int32) []int32 {
	if len(book) == 0 || slices.ContainsFunc(book, func(i int32) bool { return !s.World.nodes[i].gone }) {
		return book
	}
	i := slices.IndexFunc(s.nodes, func(n *node) bool { return !n.gone && n != self })
	if i < 0 {
		return book
	}
	return append(book, s.nodes[i].index)
}

// goForGood has a peer end and never come back: in good order, or not.
func (s *scenario) goForGood() {
	n := s.anyNode()
	if l := s.leader(); l != nil && s.often(3) {
		n = l
	}
	if n.gone || s.gone() >= len(s.nodes)/3 {
		return
	}
	n.gone = true
	for _, other := range s.nodes { // whoever knows nobody else hears of somebody
		if len(other.through) > 0 {
			other.through = s.withSomebody(other, other.through)
		}
	}
	s.tracef("--- %s goes for good", n.id)
	s.trouble(n)
	if !n.runs() || s.often(2) {
		s.crash(n)
		s.orphan()
		return
	}
	n.left = true
	s.step(n, peer.Depart{})
	s.mend(5*time.Second, 5*time.Second, func() {
		s.crash(n) // the process ends, whatever the machine waits for
		s.orphan()
	})
}

// gone counts the peers that went for good.
func (s *scenario) gone() (count int) {
	for _, n := range s.nodes {
		if n.gone {
			count++
		}
	}
	return count
}

// orphan marks as lost what was published by who went for good, and nobody holds.
func (s *scenario) orphan() {
	for _, f := range s.feeds {
		if f.node.gone && !f.node.up {
			for _, e := range f.log.Entries {
				e.Lost = e.Lost || !slices.ContainsFunc(s.nodes, func(n *node) bool { return !n.gone && has(n, f.log, e) })
			}
		}
	}
}

// has reports whether a node's disk holds an entry.
func has(n *node, l *disk.Log, e *disk.Entry) bool {
	c := n.disk.Copy(l)
	if c == nil {
		return false
	}
	_, found := slices.BinarySearchFunc(c.Held, e.Position, func(h *disk.Entry, p feedring.Position) int { return h.Position.Compare(p) })
	return found
}

// inhabited lists the themes of which somebody is left.
func (s *scenario) inhabited() []feedring.Theme {
	return slices.DeleteFunc(slices.Clone(s.themes), func(t feedring.Theme) bool { return len(s.members(t)) == 0 })
}

// hermit reports whether one peer is all that a theme ever had, and is there.
func (s *scenario) hermit(theme feedring.Theme) bool {
	var only *node
	for _, f := range s.feeds {
		if f.origin.theme == theme {
			if only != nil && only != f.node {
				return false
			}
			only = f.node
		}
	}
	return only != nil && only.role(theme.Group()) == feedring.RoleManager
}

// left lists the nodes that did not go for good.
func (s *scenario) left() []*node {
	return slices.DeleteFunc(slices.Clone(s.nodes), func(n *node) bool { return n.gone })
}

// acquainted lets time pass until everybody has met somebody to join through,
// which who could not is tried again each minute. Before, nothing is promised.
func (s *scenario) acquainted() {
	for end := s.now + time.Minute; s.now < end && s.Violation() == nil; {
		if !slices.ContainsFunc(s.left(), s.World.alone) {
			return
		}
		s.Run(s.now + time.Second)
	}
}

// alone reports whether a node joins through others and has met nobody.
func (w *World) alone(n *node) bool {
	return len(n.through) > 0 && !slices.Contains(n.met, true)
}

// buried checks that nobody shows who went for good: as manager or secondary, as
// a member that is there, or, of who left in good order and was heard, at all.
func (s *scenario) buried() string {
	for _, theme := range s.inhabited() {
		for _, n := range s.members(theme) {
			v := n.machine.Membership(theme)
			if v == nil {
				continue
			}
			for _, p := range []feedring.PeerID{v.Manager, v.Secondary} {
				if p != "" && s.World.nodes[s.indexOf(p)].gone {
					return fmt.Sprintf("%s: %s names %s, which is gone for good", theme, n.id, p)
				}
			}
			for i := range v.Members {
				if p := v.Members[i].Row.Peer; s.World.nodes[s.indexOf(p)].gone {
					return fmt.Sprintf("%s: %s counts on %s, which is gone for good", theme, n.id, p)
				}
			}
		}
	}
	return ""
}

// bereft checks that what one member holds of who went for good, and is fresh,
// all hold (L2), where digests cover it.
func (s *scenario) bereft() string {
	for _, f := range s.feeds {
		if !f.node.gone || !s.listed(f) {
			continue
		}
		members := s.members(f.origin.theme)
		var best *disk.Entry
		for _, n := range members {
			if c := n.disk.Copy(f.log); c != nil && c.Last != nil && (best == nil || c.Last.Position.Compare(best.Position) > 0) {
				best = c.Last
			}
		}
		for _, n := range members {
			if best != nil && n.disk.Head(f.log).Position.Compare(best.Position) < 0 && s.stays(best) {
				return fmt.Sprintf("%s is behind in %s of %s, which is gone for good", n.id, f.origin.url, f.node.id)
			}
		}
	}
	return ""
}

// listed reports whether all members of its group know a feed. Who left in good
// order is in no row any more, nor is who is gone when all others begin anew; and
// digests are over what rows list.
func (s *scenario) listed(f *feed) bool {
	return !slices.ContainsFunc(s.members(f.origin.theme), func(n *node) bool {
		v := n.machine.Membership(f.origin.theme)
		return v == nil || !slices.Contains(v.Feeds(""), f.log.Ref)
	})
}

// without has a reader go on without a feed of who went for good, of which
// everybody has lacked what comes after its cursor for a while
// (docs/protocol.md 11).
func (w *World) without(r *reader) {
	for i, since := range r.missingSince {
		if l := w.logs[i]; since > 0 && i < len(r.cursor) && w.now-since >= lackFor && w.feeds[i].node.gone {
			w.tracef("%s goes on without what is lacking of %s", r.client.id, l.Ref)
			r.missingSince[i], r.cursor[i] = 0, feedring.Position{}
			for _, e := range l.Entries {
				r.forgone.add(e.ID)
			}
		}
	}
}

// lackFor is how long a reader waits for what everybody lacks.
const lackFor = time.Minute

// lack notes that a reader is refused for what a provider lacks of a feed.
func (r *reader) lack(log int, now time.Duration) {
	for len(r.missingSince) <= log {
		r.missingSince = append(r.missingSince, 0)
	}
	if r.missingSince[log] == 0 {
		r.missingSince[log] = now
	}
}

// isExpected reports whether readers are to be shown all of a feed.
func (s *scenario) isExpected(f *feed) bool { return !f.node.gone && !f.dropped || s.listed(f) }

// stays reports whether an entry is fresh for some periods more.
func (s *scenario) stays(e *disk.Entry) bool {
	return e.Seen.After(began.Add(s.now + 3*s.cfg.Peer.Refresh - s.cfg.Peer.Freshness))
}

// hopeless reports whether nobody is left who could serve a reader.
func (s *scenario) hopeless(r *reader) bool {
	return !slices.ContainsFunc(s.feeds, func(f *feed) bool {
		return !f.node.gone && f.origin.theme == r.theme && f.origin.provider.Matches(r.provider)
	})
}

// forlorn says that all peers are gone for good that a client knows.
func (s *scenario) forlorn(c *client) bool {
	return !slices.ContainsFunc(c.peerBook, func(i int32) bool { return !s.World.nodes[i].gone })
}
